#pragma once
// What follows from rules that are kept already.
#include "gen/general.h"

namespace regraft::gen {

enum class Redundancy : uint8_t {
  None,
  Instance,   ///< one kept rule, applied at the top, makes the sides equal
  Derivable,  ///< up to three applications of kept rules make the sides equal
};

/// Kept rules, indexed for matching. Not thread-safe.
class KeptRules {
 public:
  explicit KeptRules(Bank& bank) : bank_(bank) {}
  /// Uses the rule from left to right.
  void add(const GeneralPair& pair);
  Redundancy judge(Pair p);
  size_t size() const { return rules_.size(); }

 private:
  std::vector<TermId> at_top(TermId t);
  std::vector<TermId> anywhere(TermId t);
  /// t and what one application makes of it.
  std::set<TermId> near(TermId t);
  /// One application more, for terms not much larger than p's.
  std::set<TermId> beyond(Pair p, const std::set<TermId>& terms);
  Bank& bank_;
  std::vector<GeneralPair> rules_;
  std::map<std::pair<std::string_view, int>, std::vector<size_t>> by_root_;  ///< operator, output
  std::map<TermId, std::vector<TermId>> memo_;
  size_t memo_rules_ = 0;
};

}  // namespace regraft::gen
