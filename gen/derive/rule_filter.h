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
  std::unordered_map<uint64_t, uint32_t> numbers_;  // of features
  std::vector<uint32_t> features_;
  std::vector<Entry> entries_;
  std::vector<std::vector<uint32_t>> by_rarest_;  // entries
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
  static constexpr uint32_t kNone = ~0U;
  struct Waiting {
    uint32_t entry = 0, next = kNone;
  };
  std::vector<char> present_;     // by feature
  std::vector<uint32_t> lacked_;  // by feature: the last of waiting_ that lacks it
  std::vector<Waiting> waiting_;
  std::vector<RuleFilter::Directed> all_;
  size_t sorted_ = 0;            // of all_
  size_t nodes_ = 0;             // that were looked at
  std::vector<uint64_t> calls_;  // of each class, then, as a hash
};

}  // namespace regraft::gen
