#pragma once
// The atlas: a static site of rules, which needs nothing from elsewhere.
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "cli/pages/atlas/rule_page.h"
#include "substitutions/rule_db.h"
#include "verify/replay/book.h"

namespace regraft::cli {

struct Family {
  std::string name;  ///< the file's, without .rules
  substitutions::RuleFile file;
  /// Of its rules; nullptr: they are looked for.
  std::shared_ptr<const verify::DerivationBook> derivations;
};
struct Atlas {
  std::vector<Family> families;
  Court court;
  const cost::Profiled* prices = nullptr;  ///< nullptr: nothing is priced
  std::string profile;                     ///< what they are of, in one line
};

/// What bench/court writes: an object of lists of {tool, version, result} by the rules' names. An
/// Error names the file.
Result<Court> read_court(const std::string& path);

/// Writes index.html, reading.html, style.css, search.js and rules/FAMILY/RULE.html into a folder
/// that is made where it is not there. Files with other names stay. The same input gives the same
/// bytes. An Error names the file that cannot be written. The index comes last, and not at all when
/// the work was interrupted.
Status write_atlas(const Atlas& atlas, const std::string& folder, int threads, Verbosity verbosity);

/// What it writes beside the pages of rules.
std::vector<std::string> fixed_files(const std::string& folder);

}  // namespace regraft::cli
