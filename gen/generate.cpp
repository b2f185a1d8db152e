#include "gen/generate.h"

#include <algorithm>

#include "base/resources.h"
#include "gen/domain.h"
#include "gen/enumerate.h"
#include "gen/merge.h"
#include "gen/pair.h"
#include "gen/prune.h"

namespace regraft::gen {
namespace {

constexpr uint64_t kShapeSeed = 20;  // of the other shapes: one stream for all runs

std::string joined_ops(const Pattern& p) {
  std::string s;
  for (const PatternNode& n : p.nodes) s += (s.empty() ? "" : "-") + std::string(n.op->name);
  return s.empty() ? "id" : s;
}

std::string hex_digits(uint64_t h, int digits) {
  std::string s;
  for (int k = 0; k < digits; ++k) s += "0123456789abcdef"[h >> (60 - 4 * k) & 15];
  return s;
}

/// Collects rules that differ, with names that differ.
class Collector {
 public:
  explicit Collector(GenerateReport& report) : report_(report) {}
  bool add(const Rule& rule, const Signature& signature) {
    if (!validate(rule)) return false;
    std::string key = canonical_key(rule);
    if (!keys_.insert(key).second) {
      ++report_.removed_duplicate;
      return false;
    }
    Rule r = rule;
    r.domain = domain_of(rule, signature, kShapeSeed);
    r = renamed(r);
    std::string base = joined_ops(r.lhs) + "=" + joined_ops(r.rhs) + ".";
    for (int digits = 4; digits <= 16; ++digits) {
      r.name = base + hex_digits(hash_text(key), digits);
      if (names_.insert(r.name).second) break;
    }
    report_.candidates.push_back(std::move(r));
    return true;
  }

 private:
  GenerateReport& report_;
  std::set<std::string> keys_, names_;
};

/// A rule may be read from left to right when the left side binds everything.
bool is_directed(const Bank& bank, TermId lhs, TermId rhs) {
  if (bank.node(lhs).is_leaf()) return false;
  std::set<TermId> l = bank.leaves(lhs), r = bank.leaves(rhs);
  return std::includes(l.begin(), l.end(), r.begin(), r.end());
}

/// Generalises pairs one after the other, smallest first, against the rules kept so far.
class Distiller {
 public:
  Distiller(Bank& bank, uint64_t seed, GenerateReport& report, Collector& collector)
      : bank_(bank), seed_(seed), report_(report), kept_(bank), collector_(collector) {}
  /// Judges a pair and collects the rules that it gives.
  void take(Pair p) {
    switch (kept_.judge(p)) {
      case Redundancy::Instance:
        ++report_.removed_instance;
        return;
      case Redundancy::Derivable:
        ++report_.removed_derivable;
        return;
      case Redundancy::None:
        break;
    }
    bool constant = bank_.leaves(p.lhs).empty() && bank_.leaves(p.rhs).empty();
    if (constant) ++report_.removed_trivial;
    bool holds = direct(p.lhs, p.rhs, constant);
    holds = direct(p.rhs, p.lhs, constant) || holds;
    if (!holds && !constant) ++report_.removed_other_shapes;
  }

 private:
  /// Facts about constants only help to prune; constants are folded anyway.
  bool direct(TermId lhs, TermId rhs, bool constant) {
    if (!is_directed(bank_, lhs, rhs)) return false;
    bool holds = false;
    for (const Generalised& g : generalise(bank_, lhs, rhs, seed_)) {
      if (!holds) kept_.add(g.pair);
      holds = true;
      if (!constant) collect(lhs, rhs, g);
    }
    return holds;
  }
  void collect(TermId lhs, TermId rhs, const Generalised& g) {
    if (bank_.subterms(rhs).count(lhs) > 0) {
      ++report_.removed_direction;
      return;
    }
    if (!collector_.add(g.rule, g.signature)) return;
    if (auto merge = merge_of(g, seed_); merge && collector_.add(*merge, g.signature))
      ++report_.merges;
  }
  Bank& bank_;
  uint64_t seed_;
  GenerateReport& report_;
  KeptRules kept_;
  Collector& collector_;
};

void distill(Bank& bank, const std::vector<Pair>& pairs, const GenerateOptions& options,
             GenerateReport& report, Collector& collector, const Stop& stop) {
  Progress progress("generalise", "pairs", pairs.size(), options.verbosity);
  Distiller distiller(bank, kShapeSeed, report, collector);
  for (const Pair& p : pairs) {
    if (stop.requested()) {
      report.stopped = true;
      return;
    }
    distiller.take(p);
    progress.add();
  }
}

Status add_theme(const Theme& theme, const GenerateOptions& options, GenerateReport& report,
                 Collector& collector, const Stop& stop) {
  Bank bank(options.seed);
  int threads = options.threads > 0 ? options.threads : default_threads();
  EnumerateOptions how{options.max_size + theme.more, options.seed, threads, options.verbosity};
  ASSIGN_OR_RETURN(Enumeration found, enumerate(theme, how, bank, stop));
  PairCounts counts;
  std::vector<Pair> pairs = reduce_pairs(bank, found.pairs, counts);
  report.applications += found.counts.applications;
  report.evaluations += found.counts.evaluations;
  report.classes += found.counts.classes;
  report.raw_pairs += counts.raw;
  report.removed_renaming += counts.renaming;
  report.removed_trivial += counts.trivial;
  report.removed_common += counts.common_subgraph;
  report.stopped = report.stopped || found.stopped;
  distill(bank, pairs, options, report, collector, stop);
  return {};
}

}  // namespace

Result<GenerateReport> generate(const GenerateOptions& options, const Stop& stop) {
  if (auto set = find_op_set(options.ops)) return generate(*set, options, stop);
  std::string known;
  for (std::string_view name : op_set_names()) known += " " + std::string(name);
  return error("--ops " + options.ops + ": no such op set; there are:" + known);
}

Result<GenerateReport> generate(const OpSet& set, const GenerateOptions& options,
                                const Stop& stop) {
  double cpu = cpu_seconds();
  auto start = std::chrono::steady_clock::now();
  GenerateReport report;
  Collector collector(report);
  for (const Theme& theme : set.themes)
    RETURN_IF_ERROR(add_theme(theme, options, report, collector, stop));
  report.cpu_seconds = cpu_seconds() - cpu;
  report.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.peak_bytes = static_cast<uint64_t>(peak_bytes());
  return report;
}

}  // namespace regraft::gen
