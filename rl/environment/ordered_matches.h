#pragma once
// The matches in an engine's graph in the order of actions.
#include "rewrite/engine/engine.h"
#include "rl/environment/number_set.h"

namespace regraft::rl {

/// The matches that apply: by rule, of a rule those first that save most, then by place. After one
/// move only what it changed is put in anew. Not thread-safe.
class OrderedMatches {
 public:
  struct Entry {
    double cost_change = 0;
    int32_t growth = 0, rule = 0, number = 0;  ///< as in rewrite::Match; the engine's number
  };
  /// The engine outlives this.
  explicit OrderedMatches(const rewrite::Engine& engine) : engine_(engine) {}
  /// In the present state of the engine. Lives until the next call.
  const std::vector<Entry>& now();

 private:
  void add(const std::vector<int32_t>& numbers);
  bool comes_first(const Entry& a, const Entry& b) const;

  const rewrite::Engine& engine_;
  uint64_t turn_ = 0;  // of the engine
  NumberSet changed_;
  std::vector<Entry> entries_, fresh_, merged_;
};

}  // namespace regraft::rl
