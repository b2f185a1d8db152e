#pragma once
// The derivations of many rules, to look them up in.
#include <map>

#include "verify/replay/derivation_file.h"

namespace regraft::verify {

/// Immutable; may be read from several threads.
class DerivationBook {
 public:
  explicit DerivationBook(std::vector<RuleDerivations> rules) : rules_(std::move(rules)) {
    for (const RuleDerivations& r : rules_) by_digest_.emplace(r.digest, &r);
  }
  DerivationBook(const DerivationBook&) = delete;
  DerivationBook& operator=(const DerivationBook&) = delete;
  /// By the rule's content digest; nullptr: there are none.
  const RuleDerivations* find(const std::string& digest) const {
    auto it = by_digest_.find(digest);
    return it == by_digest_.end() ? nullptr : it->second;
  }
  const std::vector<RuleDerivations>& rules() const { return rules_; }

 private:
  std::vector<RuleDerivations> rules_;
  std::map<std::string, const RuleDerivations*> by_digest_;
};

}  // namespace regraft::verify
