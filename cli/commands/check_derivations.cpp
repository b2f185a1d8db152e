// Replays files of derivations: the kernel alone, no prover.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "base/progress.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "substitutions/rule_db.h"
#include "verify/replay/claim_text.h"
#include "verify/replay/derivation_file.h"
#include "verify/replay/proofs.h"

namespace regraft::cli {
namespace {

using verify::ProofPlace;
using verify::RuleDerivations;

/// What is to be replayed of a rule, and what came of it.
struct RuleReplay {
  Rule rule;
  const RuleDerivations* given = nullptr;  ///< nullptr: the files do not have the rule
  size_t proofs = 0, accepted = 0;
  std::vector<std::string> without;                          ///< proofs that have no derivation
  std::vector<std::pair<std::string, std::string>> refused;  ///< proofs, and why
  std::vector<double> milliseconds;                          ///< of each that was replayed
  std::string claims;                                        ///< where they are asked for
  bool reached = false;
};

enum class Claims : uint8_t { LeftOut, Written };

void replay_one(RuleReplay& r, const ProofPlace& place, Claims claims) {
  ++r.proofs;
  auto found = r.given ? r.given->by_name.find(place.name) : decltype(r.given->by_name.end())();
  if (!r.given || found == r.given->by_name.end()) {
    r.without.push_back(place.name);
    return;
  }
  auto start = std::chrono::steady_clock::now();
  auto instance = verify::instance_at(place.rule, place.signature, verify::Assume::LeftSide);
  std::string why = instance ? verify::refusal(*instance, found->second) : instance.error().message;
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  r.milliseconds.push_back(took.count());
  if (claims == Claims::Written && instance)
    r.claims += verify::claim_text(*instance, r.rule.name + " " + place.name) +
                verify::derivation_text(found->second, why.empty());
  if (why.empty())
    ++r.accepted;
  else
    r.refused.emplace_back(place.name, why);
}

void replay(RuleReplay& r, Claims claims, const Stop& stop) {
  std::map<std::string_view, bool> known;
  bool whole = verify::for_each_proof(r.rule, [&](const ProofPlace& place) {
    if (stop.must_end()) return false;
    if (r.given)
      if (auto it = r.given->by_name.find(place.name); it != r.given->by_name.end())
        known[it->first] = true;
    replay_one(r, place, claims);
    return true;
  });
  r.reached = whole;
  if (!whole || !r.given) return;
  for (const auto& [name, derivation] : r.given->by_name)
    if (!known.count(name)) r.refused.emplace_back(name, "the rule has no such proof");
}

Result<std::vector<RuleDerivations>> read_all(const std::vector<std::string>& files) {
  std::vector<RuleDerivations> all;
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(auto some, verify::read_derivations(path));
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

/// It says that no proof for all sizes is known.
bool is_bounded(const RuleDerivations& d) {
  return d.by_name.empty() && d.rule.verdict.kind == VerdictKind::ProvedBounded;
}

/// Of a rule that no file says is proved for all sizes: each of its proofs has a derivation that is
/// replayed, or it is known to be bounded in both places.
bool is_covered(const Rule& rule, const RuleDerivations* given) {
  if (!given || rule.domain.empty()) return false;
  if (is_bounded(*given)) return rule.verdict.kind == VerdictKind::ProvedBounded;
  return verify::for_each_proof(
      rule, [&](const ProofPlace& place) { return given->by_name.contains(place.name); });
}

/// What there is to replay.
struct Replays {
  std::vector<RuleReplay> rules;
  std::vector<std::string> left_out;  ///< names of the rules of which nothing is
};

/// The rules of the files, then those that the other derivations are of.
Result<Replays> replays(const std::vector<std::string>& files,
                        const std::vector<RuleDerivations>& given) {
  Replays all;
  std::map<std::string_view, const RuleDerivations*> by_digest;
  for (const RuleDerivations& d : given) by_digest[d.digest] = &d;
  auto of = [&](const Rule& rule) {
    auto it = by_digest.find(verify::content_digest(rule));
    return it == by_digest.end() ? nullptr : it->second;
  };
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(auto file, substitutions::read_rules(path, substitutions::Admit::AllSizes));
    for (Rule& rule : file.rules) {
      const RuleDerivations* its = of(rule);
      all.rules.push_back({std::move(rule), its});
    }
    if (file.left_out == 0) continue;
    ASSIGN_OR_RETURN(auto whole, substitutions::read_candidates(path));
    for (const Rule& rule : whole.rules)
      if (!is_for_all_sizes(rule.verdict.kind) && !is_covered(rule, of(rule)))
        all.left_out.push_back(rule.name);
  }
  std::set<const RuleDerivations*> taken;
  for (const RuleReplay& r : all.rules) taken.insert(r.given);
  for (const RuleDerivations& d : given)
    if (!taken.contains(&d) && !is_bounded(d)) all.rules.push_back({d.rule, &d});
  return all;
}

struct Totals {
  size_t rules = 0, proofs = 0, accepted = 0, without = 0, refused = 0, whole = 0, unreached = 0;
  double median = 0, seconds = 0;
};

Totals add_up(const std::vector<RuleReplay>& all) {
  Totals t;
  std::vector<double> milliseconds;
  for (const RuleReplay& r : all) {
    ++t.rules;
    t.proofs += r.proofs;
    t.accepted += r.accepted;
    t.without += r.without.size();
    t.refused += r.refused.size();
    t.unreached += !r.reached;
    t.whole += r.reached && r.accepted == r.proofs && r.refused.empty();
    milliseconds.insert(milliseconds.end(), r.milliseconds.begin(), r.milliseconds.end());
  }
  if (milliseconds.empty()) return t;
  auto middle = milliseconds.begin() + static_cast<std::ptrdiff_t>(milliseconds.size() / 2);
  std::nth_element(milliseconds.begin(), middle, milliseconds.end());
  t.median = *middle;
  return t;
}

nlohmann::json json_of(const Replays& all, const Totals& t) {
  nlohmann::json rules = nlohmann::json::array();
  for (const RuleReplay& r : all.rules) {
    nlohmann::json refused = nlohmann::json::array();
    for (const auto& [proof, why] : r.refused) refused.push_back({{"proof", proof}, {"why", why}});
    rules.push_back({{"name", r.rule.name},
                     {"proofs", r.proofs},
                     {"accepted", r.accepted},
                     {"without", r.without},
                     {"refused", refused}});
  }
  return {{"rules_count", t.rules},   {"proofs", t.proofs},
          {"accepted", t.accepted},   {"without", t.without},
          {"refused", t.refused},     {"whole_rules", t.whole},
          {"left_out", all.left_out}, {"median_milliseconds", t.median},
          {"seconds", t.seconds},     {"rules", rules}};
}

void print(const Replays& all, const Totals& t) {
  constexpr size_t kShown = 3;
  for (const RuleReplay& r : all.rules) {
    for (const auto& [proof, why] : r.refused)
      fmt::print(results(), "refused: {}: {}: {}\n", r.rule.name, proof, printable(why));
    if (r.without.empty()) continue;
    std::string some;
    for (size_t k = 0; k < std::min(kShown, r.without.size()); ++k)
      some += (k ? "; " : "") + r.without[k];
    if (r.without.size() > kShown) some += fmt::format("; {} more", r.without.size() - kShown);
    fmt::print(results(), "none: {}: {} of {}: {}\n", r.rule.name, r.without.size(), r.proofs,
               some);
  }
  for (const std::string& name : all.left_out)
    fmt::print(results(),
               "left out: {}: it is not said to be proved for all sizes, and some proof of it has "
               "no derivation\n",
               name);
  fmt::print(results(),
             "{} rules, {} proofs: {} derivations accepted, {} refused, {} proofs without one; {} "
             "rules are kernel-checked whole{}; {:.1f} s, median {:.2f} ms\n",
             t.rules, t.proofs, t.accepted, t.refused, t.without, t.whole,
             all.left_out.empty() ? "" : fmt::format(", {} left out", all.left_out.size()),
             t.seconds, t.median);
}

std::vector<std::string> rule_files_of(const CheckFlags& flags) {
  std::vector<std::string> files;
  for (const std::string& path : {flags.a, flags.b})
    if (!path.empty()) files.push_back(path);
  files.insert(files.end(), flags.more.begin(), flags.more.end());
  return files;
}

}  // namespace

int run_check_derivations(const CheckFlags& flags) {
  Stop stop(flags.common.seconds, memory_limit(flags.common));
  auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> files = rule_files_of(flags);
  std::vector<NamedFile> inputs = named("a rule file", files);
  for (NamedFile& f : named("derivations", flags.derivations)) inputs.push_back(std::move(f));
  if (auto s = require_distinct(inputs,
                                {{"the report", flags.common.json}, {"the claims", flags.claims}});
      !s)
    return bad_input(s.error());
  auto given = read_all(flags.derivations);
  if (!given) return bad_input(given.error());
  auto all = replays(files, *given);
  if (!all) return bad_input(all.error());
  auto output = OutputFile::open(flags.common.json);
  if (!output) return bad_input(output.error());
  auto claims = OutputFile::open(flags.claims);
  if (!claims) return bad_input(claims.error());
  {
    Progress progress("replay", "rules", all->rules.size(), flags.common.verbosity);
    parallel_for(all->rules.size(), thread_count(flags.common), [&](size_t k) {
      replay(all->rules[k], flags.claims.empty() ? Claims::LeftOut : Claims::Written, stop);
      progress.add();
    });
  }
  Totals totals = add_up(all->rules);
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Status written = output->write(to_text(json_of(*all, totals), 2));
  if (written) written = claims->write(verify::kClaimsHeader);
  for (const RuleReplay& r : all->rules)
    if (written) written = claims->write(r.claims);
  if (written) written = commit_all({&*output, &*claims});
  if (!written) return bad_input(written.error());
  if (flags.common.verbosity == Verbosity::Normal) print(*all, totals);
  if (totals.unreached > 0) tell(std::string("stopped early: ") + stop.reason());
  if (Stop::was_interrupted()) return kInterrupted;
  const bool whole = totals.accepted == totals.proofs && totals.refused == 0 &&
                     totals.unreached == 0 && all->left_out.empty();
  return whole ? kDone : kFailed;
}

}  // namespace regraft::cli
