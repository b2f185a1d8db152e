#pragma once
// The atlas's page of one rule.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/pages/atlas/prices.h"
#include "ir/rule/rule.h"
#include "verify/replay/book.h"

namespace regraft::cli {

/// What a tool does with a rule's left side, as bench/court found it.
struct Applies {
  std::string tool, version, result;
};
/// By name of the rule; of a reversible one its name with "~" is the direction from right to left.
using Court = std::map<std::string, std::vector<Applies>>;

/// A rule in the atlas: its texts, and its neighbours' addresses within their folder.
struct RulePage {
  const Rule& rule;
  std::string family;                 ///< its file's name, without .rules
  std::vector<Payoff> payoffs, back;  ///< from left to right, and back; empty: not priced
  std::string profile;                ///< what prices are of; empty: there is none
  const verify::DerivationBook* derivations = nullptr;  ///< nullptr: they are looked for
  std::string before, after;                            ///< addresses; empty: there is none
};
/// The whole document, for a folder two levels below the index.
std::string rule_page(const RulePage& page, const Court& court);
/// It pays in some direction under some assumption.
bool pays(const RulePage& page);

}  // namespace regraft::cli
