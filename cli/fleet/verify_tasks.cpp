#include "cli/fleet/verify_tasks.h"

#include <algorithm>
#include <map>

#include "base/files/bytes.h"
#include "cli/support/verdict_cache.h"
#include "ir/rule/text.h"
#include "verify/distinct.h"

namespace regraft::cli {
namespace {

/// All options that verdicts depend on, and the rule.
std::string input_of(const Rule& rule, const verify::VerifyOptions& o) {
  return ByteWriter()
      .number(o.seed)
      .number(o.effort)
      .number<uint64_t>(o.signatures)
      .number(static_cast<uint8_t>(o.domains))
      .number(static_cast<uint8_t>(o.assume))
      .number(static_cast<uint8_t>(o.conditions))
      .number(static_cast<uint8_t>(o.kernel))
      .number(static_cast<uint8_t>(rule.verdict.kind))
      .text(to_string(rule))
      .finish();
}

}  // namespace

Result<std::string> perform_verify(std::string_view input, const Stop& stop) {
  ByteReader in(input);
  verify::VerifyOptions o;
  o.seed = in.number<uint64_t>();
  o.effort = in.number<uint64_t>();
  o.signatures = in.number<uint64_t>();
  o.domains = static_cast<verify::Domains>(in.number<uint8_t>());
  o.assume = static_cast<verify::Assume>(in.number<uint8_t>());
  o.conditions = static_cast<verify::Conditions>(in.number<uint8_t>());
  o.kernel = in.number<uint8_t>() != 0;
  auto claimed = static_cast<VerdictKind>(in.number<uint8_t>());
  std::string text(in.text());
  if (!in.at_end()) return error("a task to verify that is none");
  ASSIGN_OR_RETURN(Rule rule, parse_rule(text));
  rule.verdict.kind = claimed;
  verify::Finding found = verify::examine(rule, o, &stop);
  found.milliseconds = found.numerics.milliseconds = 0;  // all else follows from the input
  return to_line(rule, found);
}

Result<verify::VerdictStore> judge_by_fleet(FleetRun& run, std::span<const Rule> rules,
                                            const verify::VerifyOptions& options,
                                            const verify::VerdictStore& known, const Stop& stop) {
  constexpr size_t kMostTogether = 32, kBundles = 128;
  std::vector<Task> tasks;
  for (const Rule& r : verify::distinct_rules(rules).rules)
    if (!known.find || !known.find(r)) tasks.push_back({kVerifyTask, input_of(r, options)});
  size_t together = std::clamp<size_t>(tasks.size() / kBundles, 1, kMostTogether);
  ASSIGN_OR_RETURN(auto lines, run.fleet().run("verify", tasks, together, stop));
  auto found = std::make_shared<std::map<std::string, std::string>>();
  for (size_t k = 0; k < tasks.size(); ++k) (*found)[tasks[k].input] = std::move(lines[k]);
  return verify::VerdictStore{
      [found, options, known](const Rule& r) -> std::optional<verify::Finding> {
        auto at = found->find(input_of(r, options));
        if (at == found->end()) return known.find ? known.find(r) : std::nullopt;
        auto finding = parse_verdict(r, at->second);
        if (finding && known.keep) known.keep(r, *finding);
        return finding;
      },
      known.keep};
}

}  // namespace regraft::cli
