#include "rewrite/candidates.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "ir/graph/fold.h"
#include "rewrite/neighbours.h"
#include "rewrite/priced_clean_up.h"
#include "rewrite/search/greedy.h"
#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

namespace {

constexpr double kShare = 0.25;        // of the budgets, for a search without one rule
constexpr double kSearching = 0.7;     // of the time, for a search; the rest is for polishing
constexpr size_t kMostOmitted = 8;     // rules that one search is done without
constexpr size_t kDrawsPerGraph = 10;  // walks for each neighbour that is asked for

/// Equal for graphs that do the same with the same constants, which are not read: graphs that were
/// made from one graph share them.
uint64_t identity_of(const Graph& g) {
  auto order = topological_order(g);
  CHECK(order.has_value());
  std::vector<uint64_t> hashes(static_cast<size_t>(g.id_bound()), 0);
  auto of = [&](Value v) {
    return combine(hashes[static_cast<size_t>(v.node)], static_cast<uint64_t>(v.output));
  };
  for (int32_t id : *order) {
    const Node& n = g.node(id);
    uint64_t h = combine(static_cast<uint64_t>(n.kind), reinterpret_cast<uintptr_t>(n.op));
    bool is_call = n.kind == NodeKind::Call;
    h = combine(h, is_call ? hash(n.attrs) : reinterpret_cast<uintptr_t>(n.constant.get()));
    if (n.kind != NodeKind::Call && n.kind != NodeKind::Constant)
      h = combine(h, static_cast<uint64_t>(id));
    size_t k = 0;
    if (is_call && n.op->commutative && n.inputs.size() >= 2) {
      h = combine(h, of(n.inputs[0]) + of(n.inputs[1]));
      k = 2;
    }
    for (; k < n.inputs.size(); ++k) h = combine(h, of(n.inputs[k]));
    hashes[static_cast<size_t>(id)] = h;
  }
  uint64_t all = g.outputs().size();
  for (Value v : g.outputs()) all = combine(all, of(v));
  return all;
}

Result<RuleIndex> without(const RuleIndex& rules, const std::string& name) {
  std::vector<Rule> rest;
  for (const CompiledRule& r : rules.rules())
    if (r.rule.name != name) rest.push_back(r.rule);
  return RuleIndex::build(std::move(rest), Scope::Proved, rules.least());
}

class Collector {
 public:
  /// `options`: with the sizes that searches with all rules share.
  Collector(const Graph& model, const Searcher& searcher, const GraphPrice& price,
            const SearchOptions& options, const CandidateOptions& wanted, const Stop& stop)
      : searcher_(searcher),
        price_(price),
        options_(options),
        wanted_(wanted),
        stop_(stop),
        original_(identity_of(model)) {}

  void add_seconds(double seconds) { searches_.seconds += seconds; }

  /// What the clean-up alone makes.
  Status add_cleaned(const Start& start, const RuleIndex& rules, const cost::CostModel& model) {
    const Stop searching(stop_, wanted_.reserve);
    ASSIGN_OR_RETURN(SearchReport report,
                     clean_up(*start.graph, rules, model, price_, options_, searching));
    return searching.must_end() ? Status() : keep(start, std::move(report), Kind::Cleaned);
  }

  /// With `share` of the budgets.
  Status add(const Start& start, const RuleIndex& rules, const cost::CostModel& model,
             double share) {
    SearchOptions options = options_;
    if (&options.sizes->fitter.rules() != &rules) options.sizes = nullptr;  // those of fewer rules
    options.budget = std::max<uint64_t>(portion(options.budget, share), 1);
    const Stop searching(stop_, wanted_.reserve);
    ASSIGN_OR_RETURN(SearchReport report,
                     clean_up(*start.graph, rules, model, price_, options, searching));
    if (wanted_.cleaned && !start.before && found_.empty() && !searching.must_end())
      RETURN_IF_ERROR(keep(start, report, Kind::Cleaned));
    std::optional<SearchReport> down;
    if (wanted_.downhill && share == 1 && !descending().must_end()) {
      down = report;
      down->candidates = down->expanded = 0;  // counted already
      descend(*down, rules, model, options);
      if (!searching.must_end())
        polish(*down, rules, model, price_, options, wanted_.polish, searching);
    }
    if (!searching.must_end()) {
      const double left = searching.seconds_left();
      const Stop part = Stop::within(searching, std::isinf(left) ? 0 : kSearching * left);
      go_on(report, searcher_, rules, model, options, part);
    }
    if (searching.out_of_time() && !down) descend(report, rules, model, options);
    PolishOptions last = wanted_.polish;
    last.evaluations = portion(last.evaluations, share);
    if (!searching.must_end()) polish(report, rules, model, price_, options, last, searching);
    count(report);
    RETURN_IF_ERROR(keep(start, std::move(report), Kind::Found));
    if (!down) return {};
    count(*down);
    return keep(start, *std::move(down), Kind::Found);
  }

  /// Neighbours of the model and of what was found, each in turn, until there are as many graphs as
  /// asked for.
  Status add_neighbours(const Start& model_start, const RuleIndex& rules,
                        const cost::CostModel& model) {
    if (wanted_.neighbours <= 0) return {};
    SearchReport nothing;
    nothing.best = *model_start.graph;
    nothing.cost_before = nothing.cost_after =
        cost::graph_cost(model, nothing.best).total.microseconds;
    ends_.push_back(std::move(nothing));
    std::vector<std::unique_ptr<Neighbourhood>> around;
    for (SearchReport& end : ends_)
      around.push_back(
          std::make_unique<Neighbourhood>(std::move(end), rules, model, options_, stop_));
    ends_.clear();
    const double most = wanted_.neighbours * price_(*model_start.graph);
    const Stop drawing(stop_, wanted_.reserve - wanted_.drawing);
    Rng rng(options_.seed);
    const size_t draws = kDrawsPerGraph * wanted_.count;
    for (size_t k = 0; k < draws && found_.size() < wanted_.count && !drawing.must_end(); ++k)
      if (auto drawn = around[k % around.size()]->draw(rng))
        RETURN_IF_ERROR(keep({model_start.graph}, *std::move(drawn), Kind::Found, most));
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
    size_t others = 0;  // but for the clean-up's, which is one more
    std::erase_if(found_,
                  [&](const Candidate& c) { return !c.cleaned && ++others > wanted_.count; });
    return {std::move(found_), std::move(searches_)};
  }

 private:
  enum class Kind : uint8_t { Found, Cleaned };

  /// Searches on from where the report ended.
  static void go_on(SearchReport& report, const Searcher& searcher, const RuleIndex& rules,
                    const cost::CostModel& model, SearchOptions options, const Stop& stop) {
    options.budget =
        std::max<uint64_t>(options.budget - std::min(options.budget, report.candidates), 1);
    SearchReport more = searcher.search(report.best, rules, model, options, stop);
    add_counts(report, more);
    append(report, std::move(more), report.seconds - more.seconds);
  }

  const Stop& descending() const { return wanted_.descent ? *wanted_.descent : stop_; }

  /// Downhill from where the report ended, whatever time a search has.
  void descend(SearchReport& report, const RuleIndex& rules, const cost::CostModel& model,
               const SearchOptions& options) const {
    if (descending().must_end()) return;
    const StopReason reason = stop_.out_of_time() ? StopReason::Time : StopReason::Exhausted;
    go_on(report, Greedy(), rules, model, options, descending());
    if (report.stop == StopReason::Exhausted) report.stop = reason;
  }

  /// Another candidate, unless it is known, the original, or its price is above `most`.
  Status keep(const Start& start, SearchReport report, Kind kind, double most = INFINITY) {
    if (start.before) {
      SearchReport whole = *start.before;
      add_counts(whole, report);
      append(whole, std::move(report), start.before->seconds);
      report = std::move(whole);
    }
    uint64_t identity = identity_of(report.best);
    if (!seen_.insert(identity).second) return {};  // a collision loses a candidate, no more
    ASSIGN_OR_RETURN(FoldReport folded, fold(report.best, wanted_.growth, stop_));
    if (wanted_.neighbours > 0 && most == INFINITY) ends_.push_back(report);
    report.best = Graph();
    bool unchanged = identity == original_ && folded.folded.empty();
    if (unchanged && !(kind == Kind::Cleaned && wanted_.unchanged)) return {};
    double price = price_(folded.graph);
    if (price > most) return {};
    found_.push_back({std::move(folded.graph), std::move(report), price, std::move(folded.folded),
                      kind == Kind::Cleaned, unchanged});
    return {};
  }
  void count(const SearchReport& r) {
    searches_.expanded += r.expanded;
    searches_.candidates += r.candidates;
    searches_.duplicates += r.duplicates;
    searches_.rejected += r.rejected;
    searches_.seconds += r.seconds;
    searches_.polishing += r.polishing;
    searches_.left_out = std::max(searches_.left_out, r.left_out);
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

  const Searcher& searcher_;
  const GraphPrice& price_;
  const SearchOptions& options_;
  const CandidateOptions& wanted_;
  const Stop& stop_;
  std::vector<Candidate> found_;
  std::vector<SearchReport> ends_;  // of searches, before folding, where neighbours are wanted
  SearchReport searches_;
  uint64_t original_;
  std::set<uint64_t> seen_;  // before folding
};

}  // namespace

Result<Candidates> find_candidates(std::span<const Start> starts, const RuleIndex& rules,
                                   const std::vector<const cost::CostModel*>& models,
                                   const Searcher& searcher, const GraphPrice& price,
                                   const SearchOptions& options, const CandidateOptions& wanted,
                                   const Stop& stop) {
  const Start &first = starts.front(), &last = starts.back();
  Sizes sizes(rules, first.graph->shared_pool(), *models[0],
              for_model({options.opset}, *first.graph));
  SearchOptions shared = options;
  shared.sizes = &sizes;
  Collector all(*first.graph, searcher, price, shared, wanted, stop);
  if (last.before) all.add_seconds(last.before->seconds);
  if (wanted.cleaned && last.before) RETURN_IF_ERROR(all.add_cleaned(first, rules, *models[0]));
  for (const cost::CostModel* model : models)
    RETURN_IF_ERROR(all.add(model == models[0] ? last : first, rules, *model, 1));
  size_t tries = wanted.count > 1 ? std::min(wanted.count, kMostOmitted) : 0;
  for (const std::string& name : all.used_rules()) {
    if (tries-- == 0 || stop.must_end()) break;
    ASSIGN_OR_RETURN(RuleIndex fewer, without(rules, name));
    RETURN_IF_ERROR(all.add(last, fewer, *models[0], kShare));
  }
  RETURN_IF_ERROR(all.add_neighbours(first, rules, *models[0]));
  return std::move(all).take();
}

}  // namespace regraft::rewrite
