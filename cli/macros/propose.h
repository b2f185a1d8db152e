#pragma once
// Macros that a network proposes for one model, composed and proved on the fly.
#include <nlohmann/json_fwd.hpp>

#include "base/files/output_file.h"
#include "cli/support/commands.h"
#include "io/model.h"
#include "rewrite/match/rule_index.h"

namespace regraft::cli {

/// What became of them; `kept`: macros that were there before.
struct ProposalCounts {
  size_t kept = 0, parts = 0;  ///< parts of the search that pay
  size_t special = 0;          ///< of these no rule, or at the sizes of their place only
  size_t unproved = 0, unsafe = 0, proved = 0;
  double gain = 0;          ///< percent that the search saves of what greedy descent leaves
  uint64_t candidates = 0;  ///< of the search
  double searching = 0, proving = 0;  ///< seconds
};
struct Proposed {
  rewrite::RuleIndex rules;  ///< those given, and what was proved
  std::vector<Rule> macros;  ///< those kept, and then what was proved
  ProposalCounts counts;
};

/// The macros that are kept in a file, whatever proofs are wanted; none when it does not exist.
Result<std::vector<Rule>> kept_macros(const std::string& file);

/// From where greedy descent ends, what the network of `flags.propose` proposes is tried; each part
/// that pays becomes a rule, is proved and judged in floating point. `rules` have the kept ones. An
/// Error names the network's file. What stopping cut off is left out.
Result<Proposed> propose_macros(const OptimizeFlags& flags, const io::Imported& imported,
                                const rewrite::RuleIndex& rules, std::vector<Rule> kept,
                                const Stop& stop);

/// The file of macros, to be committed.
Status write_macros(OutputFile& out, const std::vector<Rule>& macros);

nlohmann::json to_json(const ProposalCounts& c);

}  // namespace regraft::cli
