#include "rewrite/candidates.h"

#include <algorithm>
#include <set>

#include "rewrite/fold.h"

namespace regraft::rewrite {

namespace {

constexpr double kShare = 0.25;  // of the budgets, for a search without one rule

class Collector {
 public:
  Collector(const Graph& g, const Searcher& searcher, const GraphPrice& price,
            const SearchOptions& options, const CandidateOptions& wanted, const Stop& stop)
      : g_(g), searcher_(searcher), price_(price), options_(options), wanted_(wanted), stop_(stop) {
    seen_.insert(structural_hash(g));
  }

  /// With `share` of the budgets.
  Status add(const RuleIndex& rules, const cost::CostModel& model, double share) {
    SearchOptions options = options_;
    options.budget = std::max<uint64_t>(portion(options.budget, share), 1);
    SearchReport report = searcher_.search(g_, rules, model, options, stop_);
    polish(report, rules, model, price_, options, stop_, portion(wanted_.evaluations, share));
    count(report);
    // A collision of hashes would lose a candidate, no more.
    if (!unfolded_.insert(structural_hash(report.best)).second) return {};
    ASSIGN_OR_RETURN(FoldReport folded, fold(report.best, wanted_.growth, stop_));
    report.best = Graph();
    if (!seen_.insert(structural_hash(folded.graph)).second) return {};
    double price = price_(folded.graph);
    found_.push_back({std::move(folded.graph), std::move(report), price, std::move(folded.folded)});
    return {};
  }

  /// The rules on the way to the best graph, the most used first.
  std::vector<std::string> used_rules() const {
    std::vector<std::pair<int64_t, std::string>> used;
    if (!found_.empty())
      for (const auto& [rule, n] : best().search.applied) used.push_back({-n, rule});
    std::sort(used.begin(), used.end());
    std::vector<std::string> names;
    for (auto& [n, rule] : used) names.push_back(std::move(rule));
    return names;
  }

  Candidates take() && {
    std::stable_sort(found_.begin(), found_.end(),
                     [](auto& a, auto& b) { return a.price < b.price; });
    if (found_.size() > wanted_.count) found_.resize(wanted_.count);
    return {std::move(found_), std::move(searches_)};
  }

 private:
  void count(const SearchReport& r) {
    searches_.expanded += r.expanded;
    searches_.candidates += r.candidates;
    searches_.duplicates += r.duplicates;
    searches_.rejected += r.rejected;
    searches_.seconds += r.seconds;
    searches_.peak_queue = std::max(searches_.peak_queue, r.peak_queue);
    if (searches_.stop == StopReason::Exhausted) searches_.stop = r.stop;
  }
  static uint64_t portion(uint64_t whole, double share) {
    return static_cast<uint64_t>(share * static_cast<double>(whole));
  }
  const Candidate& best() const {
    return *std::min_element(found_.begin(), found_.end(),
                             [](auto& a, auto& b) { return a.price < b.price; });
  }

  const Graph& g_;
  const Searcher& searcher_;
  const GraphPrice& price_;
  const SearchOptions& options_;
  const CandidateOptions& wanted_;
  const Stop& stop_;
  std::vector<Candidate> found_;
  SearchReport searches_;
  std::set<uint64_t> unfolded_, seen_;
};

Result<RuleIndex> without(const RuleIndex& rules, const std::string& name) {
  std::vector<Rule> rest;
  for (const CompiledRule& r : rules.rules())
    if (r.rule.name != name) rest.push_back(r.rule);
  return RuleIndex::build(std::move(rest), Scope::Proved, rules.least());
}

}  // namespace

Result<Candidates> find_candidates(const Graph& g, const RuleIndex& rules,
                                   const std::vector<const cost::CostModel*>& models,
                                   const Searcher& searcher, const GraphPrice& price,
                                   const SearchOptions& options, const CandidateOptions& wanted,
                                   const Stop& stop) {
  Collector all(g, searcher, price, options, wanted, stop);
  for (const cost::CostModel* model : models) RETURN_IF_ERROR(all.add(rules, *model, 1));
  size_t tries = wanted.count > 1 ? wanted.count : 0;
  for (const std::string& name : all.used_rules()) {
    if (tries-- == 0 || stop.must_end()) break;
    ASSIGN_OR_RETURN(RuleIndex fewer, without(rules, name));
    RETURN_IF_ERROR(all.add(fewer, *models[0], kShare));
  }
  return std::move(all).take();
}

}  // namespace regraft::rewrite
