#pragma once
// The numeric check of two models: of their graphs, and of bodies in which they differ.
#include "cli/support/float_check.h"
#include "io/model.h"

namespace regraft::cli {

struct ModelsCheck {
  rewrite::CheckReport report;  ///< of all graphs together
  int bodies = 0;               ///< of If, Loop and Scan that differ in form and were compared
};
/// Two nodes that differ in their bodies only stand for each other where each two bodies, compared
/// as models in the same way, do not differ; what was not compared in a body was not compared.
/// `where`, `runs` and Errors as for compare_on.
Result<ModelsCheck> compare_models(const std::string& where, const io::Imported& a,
                                   const io::Imported& b, int runs, const Common& common,
                                   const Stop& stop);

}  // namespace regraft::cli
