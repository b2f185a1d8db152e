#pragma once
// The graphs that measurements choose from, as files.
#include <span>
#include <string>

#include "cost/profile/profiled.h"
#include "io/model.h"
#include "rewrite/candidates.h"

namespace regraft::cli {

/// Writes the model's graph and the candidates into the folder, and pool.json: the shapes of the
/// inputs, and of each graph, the model's first, its file, predicted time and traits.
Status write_pool(const std::string& folder, const io::Imported& model,
                  std::span<const rewrite::Candidate> candidates, const cost::Profiled& prices);

}  // namespace regraft::cli
