#pragma once
// Which rules can match somewhere in an e-graph: those whose features it has. A rule is filed under
// its rarest feature, so a query costs what its e-graph can hold, not what the index holds.
#include <unordered_set>

#include "gen/derive/ematch.h"

namespace regraft::gen {

/// Const use is thread-safe.
class RuleFilter {
 public:
  /// REQUIRES: the rules outlive this.
  explicit RuleFilter(const std::vector<std::unique_ptr<const Matchable>>& rules);

  /// A direction of a rule.
  struct Directed {
    uint32_t rule = 0;
    Matchable::Direction direction = Matchable::Forward;
    auto operator<=>(const Directed&) const = default;
  };

 private:
  struct Entry {
    Directed directed;
    uint32_t first = 0, last = 0;  ///< of features_, the rarest first
  };
  std::vector<uint64_t> features_;
  std::unordered_set<uint64_t> known_;  // each of them
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_rarest_;  // entries
  std::vector<uint32_t> unconditional_;
  friend class CandidateRules;
};

/// The rules that can match in an e-graph while it grows. Not thread-safe.
class CandidateRules {
 public:
  explicit CandidateRules(const RuleFilter& filter);
  /// Looks at what the e-graph has now. Candidates stay candidates.
  void update(const SizedEGraph& graph, const TermSizes& sizes);
  /// Sorted.
  const std::vector<RuleFilter::Directed>& all() const { return all_; }

 private:
  void note(uint64_t feature);
  void wait_or_join(uint32_t entry);

  const RuleFilter& filter_;
  std::unordered_set<uint64_t> present_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> waiting_;  // by a feature that they lack
  std::unordered_map<uint32_t, uint32_t> checked_;  // by entry: features known to be present
  std::vector<RuleFilter::Directed> all_;
  size_t nodes_ = 0;             // that were looked at
  std::vector<uint64_t> calls_;  // of each class, then, as a hash
};

}  // namespace regraft::gen
