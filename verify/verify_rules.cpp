// All rules of a run, in parallel, and what is summed over them.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>

#include "base/resources.h"
#include "verify/distinct.h"
#include "verify/replay/book.h"
#include "verify/replay/proofs.h"
#include "verify/verify.h"

namespace regraft::verify {

void add_counters(VerifyCounters& total, const VerifyCounters& c) {
  total.instances += c.instances;
  total.proofs += c.proofs;
  total.kernel_proofs += c.kernel_proofs;
  total.kernel_checked += c.kernel_checked;
  total.deriving += c.deriving;
  total.replayed += c.replayed;
  total.disagreements += c.disagreements;
  total.solver += c.solver;
}

void count_verdict(VerifyCounters& c, VerdictKind kind) {
  switch (kind) {
    case VerdictKind::ProvedSolver:
      ++c.by_provers;
      [[fallthrough]];
    case VerdictKind::ProvedAllSizes:
      ++c.proved;
      return;
    case VerdictKind::ProvedBounded:
      ++c.bounded;
      return;
    case VerdictKind::Tested:
      ++c.tested;
      return;
    case VerdictKind::Refuted:
      ++c.refuted;
      return;
    case VerdictKind::Unknown:
      ++c.unknown;
      return;
  }
}

namespace {

/// From the store, or judged and kept there.
Finding find_or_examine(const Rule& rule, const VerifyOptions& options, const Stop& stop,
                        const VerdictStore& store) {
  if (store.find)
    if (auto known = store.find(rule)) return *std::move(known);
  Finding f = examine(rule, options, &stop);
  if (store.keep && !must_end(&stop)) store.keep(rule, f);
  return f;
}

/// In which order to judge rules, those first that take long: such as no derivations are known of,
/// then those with the most proofs.
std::vector<size_t> longest_first(std::span<const Rule> rules, const DerivationBook* book,
                                  int threads) {
  std::vector<size_t> order(rules.size()), proofs(rules.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!book) return order;
  parallel_for(rules.size(), threads, [&](size_t k) {
    const RuleDerivations* known = book->find(content_digest(rules[k]));
    proofs[k] = known && !known->by_name.empty() ? known->by_name.size() : SIZE_MAX;
  });
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t k) { return proofs[k]; });
  return order;
}

}  // namespace

VerifyReport verify_rules(std::span<const Rule> candidates, const VerifyOptions& options,
                          const Stop& stop, const VerdictStore& store) {
  auto start = std::chrono::steady_clock::now();
  double cpu = cpu_seconds();
  VerifyReport report;
  report.counters.candidates = candidates.size();
  Distinct distinct = distinct_rules(candidates);
  const std::vector<Rule>& rules = distinct.rules;
  report.counters.duplicates = distinct.duplicates;
  report.counters.trivial = distinct.trivial;
  report.places = std::move(distinct.places);
  report.findings.resize(rules.size());
  Progress progress("verify", "rules", rules.size(), options.verbosity);
  std::atomic<uint64_t> proved{0};
  int threads = options.threads > 0 ? options.threads : default_threads();
  const std::vector<size_t> order = longest_first(rules, options.derivations, threads);
  parallel_for(rules.size(), threads, [&](size_t place) {
    const size_t k = order[place];
    Finding& f = report.findings[k] = find_or_examine(rules[k], options, stop, store);
    proved += is_for_all_sizes(f.rule.verdict.kind);
    progress.note(fmt::format("{} proved", proved.load()));
    progress.add();
  });
  std::vector<Rule> judged;
  for (const Finding& f : report.findings) {
    add_counters(report.counters, f.counters);
    report.counters.conditional += !f.condition.empty();
    judged.push_back(f.rule);
  }
  Joined joined = join_proved(judged);
  report.rules = std::move(joined.rules);
  report.joined = std::move(joined.places);
  report.counters.joined = judged.size() - report.rules.size();
  for (const Rule& r : report.rules) {
    count_verdict(report.counters, r.verdict.kind);
    report.counters.reversible += r.both && is_proved(r.verdict.kind);
    if (is_proved(r.verdict.kind)) {
      ++report.counters.numerics[r.numerics.kind];
      if (r.both) ++report.counters.numerics[r.numerics_back.kind];
    }
  }
  report.interrupted = must_end(&stop);
  report.counters.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.counters.cpu_seconds = cpu_seconds() - cpu;
  return report;
}

}  // namespace regraft::verify
