#pragma once
// Candidates for substitutions, from nothing but the operators' formulas: enumerate values, pair
// what is equal, keep what known rules do not connect, generalise it, and drop what follows.
#include <functional>
#include <map>
#include <string>

#include "base/parallel.h"
#include "base/progress.h"
#include "gen/enumerate/enumerate.h"
#include "gen/grammar/op_sets.h"
#include "gen/minimise/audit.h"
#include "gen/derive/minimal_set.h"
#include "gen/minimise/minimise.h"
#include "ir/rule/rule.h"

namespace regraft::gen {

/// How far a run has come: enough to go on with the same result. Enumerations are made again.
struct Checkpoint {
  struct GrammarState {
    size_t groups = 0;                ///< of the grammar
    size_t position = 0;              ///< groups judged so far
    std::vector<JudgedGroup> judged;  ///< those that known rules did not connect
  };
  std::vector<GrammarState> grammars;  ///< of the op set, in order; the last may be unfinished
  /// Once all grammars are finished: which rules follow from the others, in two passes.
  std::map<size_t, Answer> near, far;
  std::map<size_t, std::vector<Signature>> domains;  ///< of the rules that remain
};

struct GenerateOptions {
  std::string ops = "core";  ///< an op set of op_set_names()
  int max_size = 3;          ///< calls on each side
  uint64_t seed = 7;         ///< of the witness inputs
  int trials = 4;            ///< independent witness inputs
  int threads = 0;           ///< 0: default_threads(); the candidates do not depend on it
  uint64_t max_bytes = 0;    ///< the enumeration stops cleanly above it; 0: no limit
  size_t audit = 0;          ///< how many random pairs must follow from the candidates
  Verbosity verbosity = Verbosity::Normal;
  Helpers helpers;                              ///< who do parts of it, see gen/parts.h
  Checkpoint resume;                            ///< where to go on
  std::function<void(const Checkpoint&)> save;  ///< called every few seconds; may be empty
};

/// Counters of one run. What a stage removed is counted there and nowhere else.
struct GenerateReport {
  std::vector<Rule> candidates;  ///< named, without verdict, in order of size
  uint64_t applications = 0;     ///< of operators to classes of equal values
  uint64_t evaluations = 0;      ///< of tensors or their keys while enumerating
  uint64_t classes = 0;
  DistilCounts distilled;
  uint64_t removed_duplicate = 0;  ///< the same rule after generalisation
  uint64_t removed_derivable = 0;  ///< rules that follow from smaller ones
  uint64_t merges = 0;             ///< candidates with several outputs
  AuditCounts audit;
  double error_bound = 0;  ///< that enumeration took two different polynomials for one
  double cpu_seconds = 0, wall_seconds = 0;
  double enumerate_cpu_seconds = 0, enumerate_wall_seconds = 0;
  uint64_t peak_bytes = 0;            ///< of the process
  uint64_t enumerate_peak_bytes = 0;  ///< of the process when the last enumeration ended
  Ended ended = Ended::Complete;      ///< otherwise candidates are those found so far
};

/// Deterministic in ops, max_size, seed and trials. An Error names the option.
Result<GenerateReport> generate(const GenerateOptions& options, const Stop& stop);

/// The same over a table of the caller's; options.ops is not used.
Result<GenerateReport> generate(const OpSet& set, const GenerateOptions& options, const Stop& stop);

}  // namespace regraft::gen
