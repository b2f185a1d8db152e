#include "cli/macros/prove_macros.h"

#include "base/digest.h"
#include "cli/support/report.h"
#include "rewrite/match/rule_index.h"
#include "verify/verify.h"

namespace regraft::cli {

std::string macro_name(const Rule& rule) {
  return "macro-" + hex(Sha256().text(canonical_key(rule)).finish()).substr(0, 10);
}

ProvedMacros prove_macros(std::span<const Rule> candidates, const Common& common,
                          const Stop& stop) {
  verify::VerifyOptions options;
  options.seed = common.seed;
  options.threads = thread_count(common);
  options.verbosity = Verbosity::Quiet;
  options.signatures = 12;
  auto report = verify::verify_rules(candidates, options, stop);
  ProvedMacros all;
  for (size_t k = 0; k < candidates.size(); ++k) {
    all.rules.emplace_back();
    if (!report.places[k]) continue;
    const Rule& rule = report.findings[*report.places[k]].rule;
    if (!is_for_all_sizes(rule.verdict.kind))
      ++all.unproved;
    else if (rule.numerics.kind < rewrite::usual_numerics())
      ++all.unsafe;
    else
      all.rules.back() = rule;
    all.proved += all.rules.back().has_value();
  }
  return all;
}

}  // namespace regraft::cli
