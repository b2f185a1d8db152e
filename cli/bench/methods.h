#pragma once
// The ways of searching that `bench learn` compares.
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "rewrite/search/searcher.h"

namespace regraft::cli {

enum class MethodKind : uint8_t {
  Classical,
  Control,  ///< a policy that learned nothing, in the same search as those that did
  Learned
};
std::string to_string(MethodKind kind);

/// One searcher of a method.
struct Training {
  std::string label;  ///< tells it from the others of the method, in all runs of the command
  std::shared_ptr<const rewrite::Searcher> searcher;
};

struct Method {
  std::string name;  ///< of those that follow a policy: "policy/mode"
  MethodKind kind = MethodKind::Classical;
  double alpha = 1.05;
  bool draws = false;               ///< its searches differ by their seed
  std::vector<Training> trainings;  ///< one for each seed of training; one when nothing is trained
};

/// What the others are measured against: 50,000 graphs of it are usual for this search.
constexpr const char* kBaseline = "backtracking-1.05";

struct MethodFlags {
  std::vector<std::string> policies;  ///< "NAME=FILE"; several files of a name: seeds of training
  std::vector<std::string> wanted;    ///< "NAME", "POLICY" or "/MODE"; empty: all
};
/// Those wanted. An Error names a policy that cannot be read, or what is not a method. `rules`
/// outlive them.
Result<std::vector<Method>> bench_methods(const MethodFlags& flags,
                                          const rewrite::RuleIndex& rules);

}  // namespace regraft::cli
