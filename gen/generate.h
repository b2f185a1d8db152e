#pragma once
// Candidates for substitutions, from nothing but the operators' formulas: enumerate values, pair
// what is equal, generalise, and drop what follows from the rest.
#include <span>
#include <string>
#include <string_view>

#include "base/parallel.h"
#include "base/progress.h"
#include "gen/op_sets.h"
#include "ir/rule.h"

namespace regraft::gen {

struct GenerateOptions {
  std::string ops = "core";  ///< an op set of op_set_names()
  int max_size = 3;          ///< calls on each side
  uint64_t seed = 7;         ///< of the witness inputs; the candidates do not depend on it
  int threads = 0;           ///< 0: default_threads(); the candidates do not depend on it
  Verbosity verbosity = Verbosity::Normal;
};

/// Counters of one run. What a stage removed is counted there and nowhere else.
struct GenerateReport {
  std::vector<Rule> candidates;  ///< named, without verdict, in order of size
  uint64_t applications = 0;     ///< of operators to classes of equal values
  uint64_t evaluations = 0;      ///< of tensors while enumerating
  uint64_t classes = 0;
  uint64_t raw_pairs = 0;
  uint64_t removed_renaming = 0;      ///< pairs equal to another up to names
  uint64_t removed_trivial = 0;       ///< equal up to commuted operands; facts about constants
  uint64_t removed_common = 0;        ///< equal operands under the same operator
  uint64_t removed_instance = 0;      ///< instances of a kept rule
  uint64_t removed_derivable = 0;     ///< sides that kept rules make equal
  uint64_t removed_other_shapes = 0;  ///< false at other shapes
  uint64_t removed_direction =
      0;  ///< directions that bind too little, or put the left side in the right
  uint64_t removed_duplicate = 0;  ///< the same rule after generalisation
  uint64_t merges = 0;             ///< candidates with several outputs
  double cpu_seconds = 0, wall_seconds = 0;
  uint64_t peak_bytes = 0;  ///< of the process
  bool stopped = false;     ///< `stop` ended the run; candidates are those found so far
};

/// Deterministic in ops and max_size. An Error names the option.
Result<GenerateReport> generate(const GenerateOptions& options, const Stop& stop);

/// The same over a table of the caller's; options.ops is not used.
Result<GenerateReport> generate(const OpSet& set, const GenerateOptions& options, const Stop& stop);

}  // namespace regraft::gen
