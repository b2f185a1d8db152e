#include "rewrite/candidates.h"

#include <algorithm>
#include <array>
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

/// What one search from one start made.
struct Made {
  std::optional<SearchReport> cleaned;  ///< by the clean-up alone
  std::optional<SearchReport> found, down;
};

/// What searches that run one after the other share.
struct Shared {
  Sizes* sizes = nullptr;  ///< of all rules
  Verbosity verbosity = Verbosity::Quiet;
  PartPrices parts;
};

class Collector {
 public:
  Collector(const Graph& model, const Searcher& searcher, const GraphPrice& price,
            const SearchOptions& options, const CandidateOptions& wanted, const Stop& stop)
      : searcher_(searcher),
        price_(price),
        options_(options),
        wanted_(wanted),
        stop_(stop),
        original_(identity_of(model)) {}

  /// What the clean-up alone makes. Thread-safe, as is `search`.
  Result<Made> clean(const Start& start, const RuleIndex& rules, const cost::CostModel& model,
                     Shared& shared) const {
    const Stop searching(stop_, wanted_.reserve);
    SearchOptions options = options_;
    options.sizes = shared.sizes;
    options.verbosity = shared.verbosity;
    ASSIGN_OR_RETURN(SearchReport report,
                     clean_up(*start.graph, rules, model, price_, options, searching));
    Made made;
    if (!searching.must_end()) made.cleaned = std::move(report);
    return made;
  }

  /// With `share` of the budgets.
  Result<Made> search(const Start& start, const RuleIndex& rules, const cost::CostModel& model,
                      double share, Shared& shared) const {
    SearchOptions options = options_;
    options.sizes = &shared.sizes->fitter.rules() == &rules ? shared.sizes : nullptr;
    options.verbosity = shared.verbosity;
    options.budget = std::max<uint64_t>(portion(options.budget, share), 1);
    PolishOptions last = wanted_.polish;
    if (wanted_.by_parts) last.parts = &shared.parts;
    const Stop searching(stop_, wanted_.reserve);
    Made made;
    ASSIGN_OR_RETURN(SearchReport report,
                     clean_up(*start.graph, rules, model, price_, options, searching));
    if (wanted_.cleaned && !start.before && !searching.must_end()) made.cleaned = report;
    if (wanted_.downhill && share == 1 && !descending().must_end()) {
      made.down = report;
      made.down->candidates = made.down->expanded = 0;  // counted already
      descend(*made.down, rules, model, options);
      if (!searching.must_end()) polish(*made.down, rules, model, price_, options, last, searching);
    }
    if (!searching.must_end()) {
      const double left = searching.seconds_left();
      const Stop part = Stop::within(searching, std::isinf(left) ? 0 : kSearching * left);
      go_on(report, searcher_, rules, model, options, part);
    }
    if (searching.out_of_time() && !made.down) descend(report, rules, model, options);
    last.evaluations = portion(last.evaluations, share);
    if (!searching.must_end()) polish(report, rules, model, price_, options, last, searching);
    made.found = std::move(report);
    return made;
  }

  /// Candidates of what was made. The clean-up's counts where there is no other yet.
  Status keep(const Start& start, Result<Made> made) {
    if (!made) return made.error();
    if (made->cleaned && found_.empty())
      RETURN_IF_ERROR(keep(start, *std::move(made->cleaned), Kind::Cleaned));
    for (std::optional<SearchReport>* report : {&made->found, &made->down}) {
      if (!*report) continue;
      count(**report);
      RETURN_IF_ERROR(keep(start, **std::move(report), Kind::Found));
    }
    return {};
  }

  /// Neighbours of the model and of what was found, each in turn, until there are as many graphs as
  /// asked for.
  Status add_neighbours(const Graph& original, const RuleIndex& rules, const cost::CostModel& model,
                        Sizes& sizes) {
    if (wanted_.neighbours <= 0) return {};
    SearchOptions options = options_;
    options.sizes = &sizes;
    SearchReport nothing;
    nothing.best = original;
    nothing.cost_before = nothing.cost_after =
        cost::graph_cost(model, nothing.best).total.microseconds;
    ends_.push_back(std::move(nothing));
    std::vector<std::unique_ptr<Neighbourhood>> around;
    for (SearchReport& end : ends_)
      around.push_back(
          std::make_unique<Neighbourhood>(std::move(end), rules, model, options, stop_));
    ends_.clear();
    const double most = wanted_.neighbours * price_(original);
    const Stop drawing(stop_, wanted_.reserve - wanted_.drawing);
    Rng rng(options_.seed);
    const size_t draws = kDrawsPerGraph * wanted_.count;
    for (size_t k = 0; k < draws && found_.size() < wanted_.count && !drawing.must_end(); ++k)
      if (auto drawn = around[k % around.size()]->draw(rng))
        RETURN_IF_ERROR(keep({&original}, *std::move(drawn), Kind::Found, most));
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

Result<Candidates> find_candidates(const Graph& model, const MakeStart& other,
                                   const RuleIndex& rules,
                                   const std::vector<const cost::CostModel*>& costs,
                                   const Searcher& searcher, const GraphPrice& price,
                                   const SearchOptions& options, const CandidateOptions& wanted,
                                   const Stop& stop) {
  const auto began = Reporter::Clock::now();
  const cost::CostModel& cost = *costs[0];
  Collector all(model, searcher, price, options, wanted, stop);
  // What runs at the same time shares nothing, and one of the two shows how far it is.
  const bool at_once = options.threads > 1 && (other || costs.size() > 1);
  std::array<std::optional<Sizes>, 2> sizes;
  std::array<Shared, 2> shared;
  for (size_t k = 0; k < (at_once ? 2 : 1); ++k)
    shared[k].sizes =
        &sizes[k].emplace(rules, model.shared_pool(), cost, for_model({options.opset}, model));
  shared[0].verbosity = options.verbosity;
  Shared &here = shared[0], &there = shared[at_once ? 1 : 0];
  const Start first{&model};
  Start last = first;
  auto choose_last = [&] { last = (other ? other() : std::nullopt).value_or(first); };
  Result<Made> cleaned = Made(), found = Made();
  std::vector<Result<Made>> others;
  auto clean = [&](bool differs) {
    if (wanted.cleaned && differs) cleaned = all.clean(first, rules, cost, there);
  };
  auto search = [&] { found = all.search(last, rules, cost, 1, here); };
  auto search_others = [&] {
    for (size_t k = 1; k < costs.size(); ++k)
      others.push_back(all.search(first, rules, *costs[k], 1, there));
  };
  if (at_once) {
    parallel_for(2, 2, [&](size_t k) {
      if (k == 0) {
        choose_last();
        search();
      } else {
        clean(other != nullptr);
        search_others();
      }
    });
  } else {
    choose_last();
    clean(last.before != nullptr);
    search();
    search_others();
  }
  RETURN_IF_ERROR(all.keep(first, std::move(cleaned)));
  RETURN_IF_ERROR(all.keep(last, std::move(found)));
  for (Result<Made>& made : others) RETURN_IF_ERROR(all.keep(first, std::move(made)));
  size_t tries = wanted.count > 1 ? std::min(wanted.count, kMostOmitted) : 0;
  for (const std::string& name : all.used_rules()) {
    if (tries-- == 0 || stop.must_end()) break;
    ASSIGN_OR_RETURN(RuleIndex fewer, without(rules, name));
    RETURN_IF_ERROR(all.keep(last, all.search(last, fewer, cost, kShare, here)));
  }
  RETURN_IF_ERROR(all.add_neighbours(model, rules, cost, *here.sizes));
  Candidates result = std::move(all).take();
  result.searches.seconds = std::chrono::duration<double>(Reporter::Clock::now() - began).count();
  return result;
}

}  // namespace regraft::rewrite
