#include "cli/derivations/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/gzip.h"
#include "base/parallel.h"
#include "cli/support/report.h"
#include "verify/derivations/derive_rules.h"
#include "verify/replay/proofs.h"

namespace regraft::cli {

std::string derivations_beside(const std::string& rules) {
  std::filesystem::path path = rules;
  if (path.extension() == ".gz") path.replace_extension();  // a compressed rule file
  return path.replace_extension(".derivations.gz").string();
}

std::shared_ptr<const verify::DerivationBook> book_beside(std::span<const std::string> rules,
                                                          Missing missing) {
  std::vector<verify::RuleDerivations> all;
  for (const std::string& file : rules) {
    std::string path = derivations_beside(file);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    auto read = verify::read_derivations(path);
    if (read)
      std::ranges::move(*read, std::back_inserter(all));
    else
      tell(read.error().message);
  }
  if (all.empty()) return nullptr;
  if (missing == Missing::Again)
    for (verify::RuleDerivations& r : all) r.none.clear();
  return std::make_shared<const verify::DerivationBook>(std::move(all));
}

namespace {

/// What is known of a rule, without any search; of one that is proved at sample shapes alone, that
/// none of its proofs was found.
verify::RuleDerivations known_of(const Rule& rule, const verify::Answers& known) {
  const bool bounded = rule.verdict.kind == VerdictKind::ProvedBounded;
  verify::RuleDerivations r{rule, verify::content_digest(rule), {}, {}, 0};
  verify::for_each_proof(rule, [&](const verify::ProofPlace& place) {
    auto answer =
        bounded ? known.end() : known.find(verify::proof_key(place.rule, place.signature));
    const bool reached = answer != known.end();
    if (reached && answer->second)
      r.by_name.emplace(place.name, *answer->second);
    else if (reached || bounded)
      r.none.insert(place.name);
    return true;
  });
  return r;
}

}  // namespace

Status write_derivations(OutputFile& out, std::span<const Rule> rules, const verify::Answers& known,
                         const verify::VerifyOptions& options, const Stop& stop) {
  if (out.path().empty()) return {};
  std::vector<Rule> proved;
  std::ranges::copy_if(rules, std::back_inserter(proved),
                       [](const Rule& r) { return is_for_all_sizes(r.verdict.kind); });
  auto derived = verify::derive_rules(proved, known, options.threads, options.verbosity, stop);
  parallel_for(proved.size(), options.threads, [&](size_t k) {
    if (derived[k].answers.empty())  // not reached
      derived[k].derivations = known_of(proved[k], known);
  });
  std::vector<verify::RuleDerivations> all;
  for (verify::DerivedRule& r : derived)
    if (!r.derivations.by_name.empty() || !r.derivations.none.empty())
      all.push_back(std::move(r.derivations));
  for (const Rule& r : rules)
    if (r.verdict.kind == VerdictKind::ProvedBounded) all.push_back(known_of(r, known));
  std::ranges::sort(all, {}, [](const verify::RuleDerivations& r) { return r.rule.name; });
  std::string text = verify::to_text(all);
  return out.write(out.path().ends_with(".gz") ? to_gzip(text) : text);
}

nlohmann::json kernel_record(const verify::Finding& f) {
  nlohmann::json missing = nlohmann::json::array();
  for (const auto& [proof, why] : f.prover_only)
    missing.push_back({{"proof", proof}, {"missing", why}});
  return {{"proofs", f.counters.kernel_proofs},
          {"kernel_checked", f.counters.kernel_checked},
          {"prover_only", missing}};
}

nlohmann::json kernel_totals(const verify::VerifyCounters& c) {
  return {{"proofs", c.kernel_proofs},
          {"kernel_checked", c.kernel_checked},
          {"prover_only", c.kernel_proofs - c.kernel_checked},
          {"replayed", c.replayed},
          {"rules", c.proved},
          {"kernel_checked_rules", c.proved - c.by_provers}};
}

std::string kernel_summary(const verify::VerifyCounters& c) {
  if (c.proved == 0) return "";
  return fmt::format(
      "{} proofs of {} rules: {} kernel-checked ({} by derivations at hand), {} by provers alone; "
      "{} rules are proved:all-sizes, {} proved:solver; {:.1f} s of CPU for derivations\n",
      c.kernel_proofs, c.proved, c.kernel_checked, c.replayed, c.kernel_proofs - c.kernel_checked,
      c.proved - c.by_provers, c.by_provers, c.deriving);
}

}  // namespace regraft::cli
