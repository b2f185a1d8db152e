#include "cli/support/verdict_cache.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/file_digest.h"
#include "base/files/output_file.h"
#include "cli/support/evidence.h"
#include "cli/support/json_file.h"
#include "cli/support/report.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

constexpr std::string_view kMagic = "#regraft-verdicts ";

/// The rule as the verifier sees it: its name counts, since verdicts carry it; of claims only
/// whether it is said to be proved, since then it is tried at no other signatures.
std::string key_of(const Rule& candidate) {
  Rule r = candidate;
  bool claimed = is_for_all_sizes(r.verdict.kind);
  r.verdict = {claimed ? VerdictKind::ProvedAllSizes : VerdictKind::Unknown, {}};
  r.numerics = r.numerics_back = {};
  return to_string(r);
}

/// The program is part of it, since another build may judge otherwise; so are the derivations at
/// hand, since the search may not find them all.
std::string header_for(const verify::VerifyOptions& o) {
  Sha256 derivations;
  if (o.derivations) derivations.text(verify::to_text(o.derivations->rules()));
  return fmt::format(
      "{}2  {}  program={}  seed={} effort={} signatures={} domains={} conditions={} "
      "kernel={} derivations={}",
      kMagic, prover_name(), hex(file_digest("/proc/self/exe")), o.seed, o.effort, o.signatures,
      static_cast<int>(o.domains), static_cast<int>(o.conditions), o.kernel,
      hex(derivations.finish()));
}

std::string seal(const std::string& key, const Rule& verdict) {
  return hex(Sha256().text(key).text(substitutions::seal_of(verdict)).finish());
}

}  // namespace

Result<std::unique_ptr<VerdictCache>> VerdictCache::open(const std::string& path,
                                                         const verify::VerifyOptions& options) {
  std::unique_ptr<VerdictCache> cache(new VerdictCache);
  if (path.empty()) return cache;
  cache->used_ = true;
  RETURN_IF_ERROR(cache->read(path, header_for(options)));
  return cache;
}

Status VerdictCache::read(const std::string& path, const std::string& header) {
  std::string text = header + "\n";
  RETURN_IF_ERROR(require_regular(path));
  std::error_code none;  // what cannot be looked at cannot be written either
  if (std::filesystem::exists(path, none)) {
    std::ifstream in(path, std::ios::binary);
    std::string line;
    if (std::getline(in, line) && !line.starts_with(kMagic))
      return error(path + ":1: not a file of verdicts");
    bool current = line == header;
    while (current && std::getline(in, line)) {
      auto j = parse_json(line);
      if (!j.is_object() || !j.contains("candidate") || !j["candidate"].is_string()) continue;
      lines_[j["candidate"].get<std::string>()] = line;
      text += line + "\n";
    }
  }
  ASSIGN_OR_RETURN(journal_, Journal::open(path, text));
  return {};
}

std::optional<verify::Finding> VerdictCache::find(const Rule& candidate) {
  std::string line;
  {
    std::lock_guard lock(mutex_);
    auto it = lines_.find(key_of(candidate));
    if (it == lines_.end()) return std::nullopt;
    line = it->second;
  }
  return parse_verdict(candidate, line);
}

std::optional<verify::Finding> parse_verdict(const Rule& candidate, std::string_view line) {
  auto read = [&](const nlohmann::json& j) -> Result<verify::Finding> {
    verify::Finding f;
    ASSIGN_OR_RETURN(f.rule, parse_rule(j.at("rule").get<std::string>()));
    if (j.at("seal").get<std::string>() != seal(key_of(candidate), f.rule))
      return error("changed, or of another rule");
    f.condition = j.at("condition");
    f.refutation = j.at("refutation");
    if (j.contains("evidence")) {
      ASSIGN_OR_RETURN(f.counterexample, counterexample_from(j.at("evidence")));
      ASSIGN_OR_RETURN(f.refuted, parse_rule(j.at("refuted").get<std::string>()));
      ASSIGN_OR_RETURN(auto again, verify::replay(f.refuted, *f.counterexample));
      if (!again.difference) return error("the counterexample is none");
      f.counterexample->difference = *again.difference;
    }
    f.milliseconds = j.at("milliseconds");
    const auto& n = j.at("numerics");
    f.numerics = {f.rule.numerics,       f.rule.numerics_back,  n.at(0), n.at(1),
                  whole_number(n.at(2)), whole_number(n.at(3)), n.at(4)};
    f.counters.instances = whole_number(j.at("instances"));
    f.counters.proofs = whole_number(j.at("proofs"));
    f.counters.disagreements = whole_number(j.at("disagreements"));
    f.counters.replayed = whole_number(j.at("replayed"));
    for (const auto& open : j.at("prover_only"))
      f.prover_only.emplace_back(open.at(0).get<std::string>(), open.at(1).get<std::string>());
    f.counters.kernel_checked = whole_number(j.at("kernel_checked"));
    f.counters.kernel_proofs = f.counters.kernel_checked + f.prover_only.size();
    return f;
  };
  auto found = read_json(line, "a line", "a verdict", read);
  if (!found) return std::nullopt;  // judged again
  return *std::move(found);
}

std::string to_line(const Rule& candidate, const verify::Finding& f) {
  std::string key = key_of(candidate);
  nlohmann::json j = {
      {"candidate", key},
      {"rule", to_string(f.rule)},
      {"condition", f.condition},
      {"refutation", f.refutation},
      {"milliseconds", f.milliseconds},
      {"numerics",
       {f.numerics.forward_range_proved, f.numerics.backward_range_proved, f.numerics.samples,
        f.numerics.multiprecision_runs, f.numerics.milliseconds}},
      {"instances", f.counters.instances},
      {"proofs", f.counters.proofs},
      {"disagreements", f.counters.disagreements},
      {"replayed", f.counters.replayed},
      {"kernel_checked", f.counters.kernel_checked},
      {"prover_only", f.prover_only},
      {"seal", seal(key, f.rule)}};
  if (f.counterexample) {
    j["evidence"] = json_of(*f.counterexample);
    j["refuted"] = to_string(f.refuted);
  }
  std::string line = to_text(j, -1);
  line.pop_back();
  return line;
}

void VerdictCache::keep(const Rule& candidate, const verify::Finding& f) {
  std::string line = to_line(candidate, f);
  std::lock_guard lock(mutex_);
  Status kept = journal_.add(line);
  if (!kept && failure_) failure_ = kept;
}

Status VerdictCache::status() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

verify::VerdictStore VerdictCache::store() {
  if (!used_) return {};
  return {[this](const Rule& r) { return find(r); },
          [this](const Rule& r, const verify::Finding& f) { keep(r, f); }};
}

}  // namespace regraft::cli
