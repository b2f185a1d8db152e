#pragma once
// The candidates of a run: no two the same rule, each with a name.
#include <map>

#include "gen/generalise.h"

namespace regraft::gen {

/// Collects rules that differ.
class Collector {
 public:
  /// False when the rule is there already, then perhaps at other shapes, or is not one.
  bool add(const Rule& rule, const Signature& signature);
  uint64_t duplicates() const { return duplicates_; }
  const std::vector<Rule>& rules() const { return rules_; }
  /// Where rule k was found.
  const std::vector<Signature>& signatures(size_t k) const { return signatures_[k]; }
  /// The rules that `keep` marks, named and with the shapes that nobody would guess. Names are made
  /// of operators and of as many digits of the rule's hash as tell it apart.
  std::vector<Rule> finished(const std::vector<char>& keep, int threads) const;

 private:
  bool known(const Rule& rule) const;
  std::vector<Signature> domain(size_t k) const;
  std::vector<Rule> rules_;
  std::vector<std::vector<Signature>> signatures_;
  std::map<std::string, size_t> keys_;  ///< of each direction; the number of the rule
  uint64_t duplicates_ = 0;
};

}  // namespace regraft::gen
