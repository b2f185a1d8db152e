#pragma once
// How far `regraft generate` has come, in a file.
#include <string>
#include <string_view>

#include "gen/generate.h"

namespace regraft::cli {

/// What decides the candidates: a checkpoint of another run is none of this one.
struct GenerateRun {
  std::string ops;
  int max_size = 0;
  uint64_t seed = 0;
};

/// An Error names `name`, the file: it is no checkpoint, or one of another run.
Result<gen::Checkpoint> parse_checkpoint(std::string_view text, const GenerateRun& run,
                                         const std::string& name);
/// Inverse of parse_checkpoint: one line of JSON.
std::string to_text(const gen::Checkpoint& checkpoint, const GenerateRun& run);

}  // namespace regraft::cli
