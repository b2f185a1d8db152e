#pragma once
// Derivations around `regraft verify`: those at hand before it, those written after it, and what
// the kernel says of each rule in its reports.
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "base/files/output_file.h"
#include "verify/verify.h"

namespace regraft::cli {

/// Where derivations of a file's rules are looked for: "core.derivations.gz" beside "core.rules" or
/// "core.rules.gz".
std::string derivations_beside(const std::string& rules);
/// Those beside files of rules; nullptr where there are none. What cannot be read is told on
/// stderr, and counts as none: proofs are looked for then. Again: proofs of which a file says
/// that there is no derivation count as not mentioned.
enum class Missing : uint8_t { AsSaid, Again };
std::shared_ptr<const verify::DerivationBook> book_beside(std::span<const std::string> rules,
                                                          Missing missing = Missing::AsSaid);

/// Writes what the kernel accepts of the rules that are proved for all sizes; `known` is used, and
/// what it lacks is looked for until `stop`, and left out then. The caller commits. A name that
/// ends with ".gz" is compressed.
Status write_derivations(OutputFile& out, std::span<const Rule> rules, const verify::Answers& known,
                         const verify::VerifyOptions& options, const Stop& stop);

/// Of one rule: how many proofs there are, how many the kernel checked, and which not, with the
/// step that is missing.
nlohmann::json kernel_record(const verify::Finding& finding);
/// Of all rules together.
nlohmann::json kernel_totals(const verify::VerifyCounters& counters);
/// A line for readers; empty where nothing is proved for all sizes.
std::string kernel_summary(const verify::VerifyCounters& counters);

}  // namespace regraft::cli
