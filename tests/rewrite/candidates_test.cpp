#include "rewrite/candidates.h"

#include "rewrite/search/greedy.h"
#include "rewrite/search/replay.h"
#include "rewrite/searchers.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const char* const kMerge =
    "merge  (add (matmul ?a ?b) (matmul ?a ?c)) => (matmul ?a (add ?b ?c))  for a:nn b:nn c:nn  "
    "proved:all-sizes";
const char* const kSwap =
    "swap  (relu (transpose ?a perm=1,0)) => (transpose (relu ?a) perm=1,0)  "
    "for a:nn  proved:all-sizes";

/// relu(transpose(x w + x v))
Graph two_products() {
  Graph g;
  Value x = input(g, {64, 32}), w = weight(g, {32, 32}, 1), v = weight(g, {32, 32}, 2);
  Value sum = call(g, "add", {call(g, "matmul", {x, w}), call(g, "matmul", {x, v})});
  g.set_outputs({call(g, "relu", {call(g, "transpose", {sum}, {{1, 0}})})});
  return g;
}

double calls_of(const Graph& g, std::string_view op) {
  double n = 0;
  auto order = topological_order(g);
  for (int32_t id : *order) n += g.node(id).kind == NodeKind::Call && g.node(id).op->name == op;
  return n;
}

/// A price that likes relu directly behind a product, which the cost of single calls cannot.
double price_of_order(const Graph& g) {
  double price = 10 + calls_of(g, "matmul");
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || n.op->name != "relu") continue;
    const Node& before = g.node(n.inputs[0].node);
    price -= before.kind == NodeKind::Call && before.op->name != "transpose";
  }
  return price;
}

SearchOptions plenty() {
  SearchOptions o;
  o.budget = 1000;
  o.max_growth = 4;
  return o;
}

TEST(Polish, TakesWhatOnlyTheWholeGraphShows) {
  Graph g = two_products();
  RuleIndex rules = index_of({kMerge, kSwap});
  cost::Roofline model;
  Stop stop;
  PartPrices prices;
  for (PartPrices* parts : {static_cast<PartPrices*>(nullptr), &prices}) {
    SearchReport report = Greedy().search(g, rules, model, plenty(), stop);
    EXPECT_EQ(report.applied.count("swap"), 0U);
    polish(report, rules, model, price_of_order, plenty(), {100, parts}, stop);
    EXPECT_EQ(report.applied.at("merge"), 1);
    EXPECT_EQ(report.applied.at("swap"), 1);
    EXPECT_TRUE(same_fingerprints(g, report.best));
    auto again = replay(g, rules, report.steps, model, {});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(structurally_equal(*again, report.best));
  }
}

/// Many blocks that are alike: what does not pay near one of them is priced nowhere else.
TEST(Polish, PricesWhatIsNearAMoveFirst) {
  constexpr int kBlocks = 20;
  Graph g;
  std::vector<Value> ends;
  for (int k = 0; k < kBlocks; ++k) {
    Value x = input(g, {64, 32});
    for (int j = 0; j < 4; ++j) x = call(g, "exp", {x});
    ends.push_back(call(g, "relu", {call(g, "transpose", {x}, {{1, 0}})}));
  }
  g.set_outputs(ends);
  RuleIndex rules = index_of({kSwap});
  cost::Roofline model;
  size_t whole = 0, priced = 0;
  auto price = [&](const Graph& h) {
    ++priced;
    whole += calls_of(h, "relu") == kBlocks;
    return cost::graph_cost(model, h).total.microseconds;
  };
  PartPrices parts;
  SearchReport report = Greedy().search(g, rules, model, plenty(), Stop());
  polish(report, rules, model, price, plenty(), {100, &parts}, Stop());
  EXPECT_TRUE(report.steps.empty());
  EXPECT_EQ(whole, 1U);
  const size_t before = priced;
  polish(report, rules, model, price, plenty(), {100, &parts}, Stop());  // all parts are known
  EXPECT_EQ(priced, before + 1);
}

TEST(Polish, LeavesWhatItCannotImprove) {
  Graph g = two_products();
  RuleIndex rules = index_of({kMerge, kSwap});
  cost::Roofline model;
  Stop stop;
  SearchReport report = Greedy().search(g, rules, model, plenty(), stop);
  size_t steps = report.steps.size();
  polish(
      report, rules, model, [](const Graph&) { return 1.0; }, plenty(), {100}, stop);
  EXPECT_EQ(report.steps.size(), steps);
  polish(report, rules, model, price_of_order, plenty(), {0}, stop);
  EXPECT_EQ(report.steps.size(), steps);
}

TEST(Candidates, AreDistinctSortedAndDifferFromTheModel) {
  Graph g = two_products();
  RuleIndex rules = index_of({kMerge, kSwap});
  cost::Roofline model;
  CandidateOptions wanted;
  wanted.count = 4;
  auto found =
      find_candidates(g, {}, rules, {&model}, Greedy(), price_of_order, plenty(), wanted, Stop());
  ASSERT_TRUE(found.has_value());
  ASSERT_GE(found->best.size(), 2U);  // with both rules, and without one
  std::set<uint64_t> seen{structural_hash(g)};
  double last = 0;
  for (const Candidate& c : found->best) {
    EXPECT_TRUE(seen.insert(structural_hash(c.graph)).second);
    EXPECT_GE(c.price, last);
    last = c.price;
    EXPECT_TRUE(same_fingerprints(g, c.graph) || calls_of(c.graph, "add") < 1);
  }
  EXPECT_EQ(found->best[0].search.applied.size(), 2U);
}

/// The clean-up keeps what it did before the price rose.
TEST(Candidates, TheCleanUpStopsWhereThePriceRises) {
  const char* const twice = "twice  (relu (relu ?a)) => (relu ?a)  for a:nn  proved:all-sizes";
  Graph g;
  Value v = input(g, {8, 8});
  for (int k = 0; k < 6; ++k) v = call(g, "relu", {v});
  g.set_outputs({v});
  auto price = [](const Graph& h) { return calls_of(h, "relu") < 4 ? 100.0 : 10.0; };
  RuleIndex rules = index_of({twice});
  cost::Roofline model;
  CandidateOptions wanted;
  wanted.cleaned = true;
  auto found = find_candidates(g, {}, rules, {&model}, Greedy(), price, plenty(), wanted, Stop());
  ASSERT_TRUE(found.has_value());
  ASSERT_FALSE(found->best.empty());
  const Candidate& best = found->best[0];
  EXPECT_EQ(calls_of(best.graph, "relu"), 4);
  EXPECT_EQ(best.search.steps.size(), 2U);
  EXPECT_EQ(best.search.applied.at("twice"), 2);
  auto again = replay(g, rules, best.search.steps, model, {});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(structurally_equal(*again, best.graph));
}

/// Finds nothing.
class Idle final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex&, const cost::CostModel& model,
                      const SearchOptions&, const Stop& stop) const override {
    SearchReport report;
    report.best = g;
    report.cost_before = report.cost_after = cost::graph_cost(model, g).total.microseconds;
    if (stop.out_of_time()) report.stop = StopReason::Time;
    return report;
  }
};

/// No search ends where greedy descent is better by the price.
TEST(Candidates, NoneIsWorseThanDownhill) {
  Graph g;
  Value wide = call(g, "matmul", {input(g, {64, 8}), input(g, {8, 64})});
  g.set_outputs({call(g, "matmul", {wide, input(g, {64, 4})})});
  RuleIndex rules = index_of({kAssociate});
  cost::Roofline model;
  auto price = [&](const Graph& h) { return cost::graph_cost(model, h).total.microseconds; };
  CandidateOptions wanted;
  wanted.polish.evaluations = 0;
  auto best = [&] {
    auto found = find_candidates(g, {}, rules, {&model}, Idle(), price, plenty(), wanted, Stop());
    return found->best.empty() ? price(g) : found->best[0].price;
  };
  EXPECT_EQ(best(), price(g));
  wanted.downhill = true;
  EXPECT_LT(best(), price(g));
}

TEST(Candidates, TheTimeOfASearchDoesNotCutGoingDownhillOff) {
  Graph g = two_products();
  RuleIndex rules = index_of({kMerge, kSwap});
  cost::Roofline model;
  CandidateOptions wanted;
  const Stop late(1e-9), whole;
  auto steps = [&] {
    auto found =
        find_candidates(g, {}, rules, {&model}, Greedy(), price_of_order, plenty(), wanted, late);
    return found->best.empty() ? 0 : found->best[0].search.steps.size();
  };
  EXPECT_EQ(steps(), 0U);
  wanted.descent = &whole;
  EXPECT_EQ(steps(), Greedy().search(g, rules, model, plenty(), whole).steps.size());
}

TEST(Candidates, ThereMayBeNone) {
  Graph g;
  g.set_outputs({call(g, "relu", {input(g, {3})})});
  RuleIndex rules = index_of({kMerge});
  cost::Roofline model;
  auto found =
      find_candidates(g, {}, rules, {&model}, Greedy(), price_of_order, plenty(), {}, Stop());
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->best.empty());
}

/// Searches at the same time share nothing, and what they make is kept in one order.
TEST(Candidates, AreTheSameOnTwoThreads) {
  Graph g = two_products();
  RuleIndex rules = index_of({kMerge, kSwap});
  cost::Roofline model, same_again;
  SearchReport swapped = Greedy().search(g, index_of({kSwap}), model, plenty(), Stop());
  swapped.steps.clear();
  polish(swapped, rules, model, price_of_order, plenty(), {1}, Stop());
  ASSERT_FALSE(swapped.steps.empty());
  auto other = [&] { return std::optional(Start{&swapped.best, &swapped}); };
  CandidateOptions wanted;
  wanted.count = 4;
  wanted.cleaned = wanted.downhill = wanted.by_parts = true;
  for (const MakeStart& start : {MakeStart(), MakeStart(other)}) {
    SearchOptions options = plenty();
    auto find = [&](int threads) {
      options.threads = threads;
      return find_candidates(g, start, rules, {&model, &same_again}, Greedy(), price_of_order,
                             options, wanted, Stop());
    };
    auto one = find(1), two = find(2);
    ASSERT_TRUE(one && two);
    ASSERT_EQ(one->best.size(), two->best.size());
    ASSERT_GE(one->best.size(), 2u);
    EXPECT_EQ(one->searches.candidates, two->searches.candidates);
    for (size_t k = 0; k < one->best.size(); ++k) {
      EXPECT_TRUE(structurally_equal(one->best[k].graph, two->best[k].graph));
      EXPECT_EQ(one->best[k].search.steps.size(), two->best[k].search.steps.size());
      EXPECT_EQ(one->best[k].cleaned, two->best[k].cleaned);
    }
  }
}

/// What was looked at is told, also when nothing came of it.
TEST(Candidates, AllSearchesAreCounted) {
  Graph g = two_products();
  RuleIndex rules = index_of({kSwap});
  cost::Roofline model;
  auto dear = [&](const Graph& h) { return structural_hash(h) == structural_hash(g) ? 1.0 : 2.0; };
  auto one = find_candidates(g, {}, rules, {&model}, Greedy(), dear, plenty(), {}, Stop());
  auto two = find_candidates(g, {}, rules, {&model, &model}, Greedy(), dear, plenty(), {}, Stop());
  ASSERT_TRUE(one && two);
  SearchReport alone = Greedy().search(g, rules, model, plenty(), Stop());
  EXPECT_GT(alone.candidates, 0u);
  EXPECT_GE(one->searches.candidates, alone.candidates);
  EXPECT_EQ(two->searches.candidates, 2 * one->searches.candidates);
  EXPECT_EQ(two->searches.expanded, 2 * one->searches.expanded);
}

}  // namespace
}  // namespace regraft::rewrite
