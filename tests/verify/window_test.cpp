// Parts of two models as rules.
#include "verify/model/window.h"

#include "tests/verify/models.h"
#include "verify/model/numbers.h"
#include "verify/prove/prover.h"

namespace regraft::verify {
namespace {

/// relu(relu(x c)) against relu(x d), c and d being numbers.
Graph scaled(float c, int times) {
  Graph g;
  Value v = call(g, "mul", {rows(g), floats(g, {1}, {c})});
  for (int k = 0; k < times; ++k) v = call(g, "relu", {v});
  g.set_outputs({v});
  return g;
}

struct Whole {
  Pair pair;
  Operands operands;
  std::vector<std::optional<double>> number;
  explicit Whole(Pair p) : pair(std::move(p)), number(numbers_of(pair.graph)) {
    for (int32_t id = 0; id < pair.graph.id_bound(); ++id)
      operands.push_back(pair.graph.node(id).inputs);
  }
  Cut cut() const { return {pair.graph, operands, number}; }
  /// From the outputs to the inputs of the models.
  std::optional<Window> window(Numbers numbers = Numbers::AsTheyAre) const {
    auto leaf = [](Value) { return false; };
    auto left = cone(cut(), pair.a[0], leaf, 40), right = cone(cut(), pair.b[0], leaf, 40);
    if (!left || !right) return std::nullopt;
    return make_window(cut(), pair.a[0], pair.b[0], *left, *right, numbers);
  }
};
Whole whole(const Graph& a, const Graph& b) { return Whole(joined(a, b)); }

VerdictKind proved(const Window& w) { return SymbolicProver().prove(w.instance).kind; }

TEST(Window, SizesStayOpen) {
  auto w = whole(scaled(2, 2), scaled(2, 1)).window();
  ASSERT_TRUE(w);
  EXPECT_EQ(w->frontier.size(), 1u);
  EXPECT_EQ(w->left.size(), 3u);
  EXPECT_EQ(w->right.size(), 2u);
  EXPECT_TRUE(w->instance.sizes[0][0].has_value());
  EXPECT_FALSE(w->instance.sizes[0][1].has_value());
  EXPECT_EQ(proved(*w), VerdictKind::ProvedSolver);
}

TEST(Window, AnotherNumberIsNotProved) {
  auto w = whole(scaled(2, 2), scaled(3, 1)).window();
  ASSERT_TRUE(w);
  EXPECT_NE(proved(*w), VerdictKind::ProvedSolver);
}

/// The key must tell apart whatever the proof depends on: a verdict counts for all of one key.
TEST(Window, KeysTellWindowsApart) {
  auto key = [](const Graph& a, const Graph& b) { return whole(a, b).window()->key; };
  std::string one = key(scaled(2, 2), scaled(2, 1));
  EXPECT_EQ(one, key(scaled(2, 2), scaled(2, 1)));
  EXPECT_NE(one, key(scaled(2, 2), scaled(2.0000002F, 1)));
  EXPECT_NE(one, key(scaled(2, 3), scaled(2, 1)));
  auto sum = [](const char* first, const char* second, int64_t least) {
    Graph g;
    auto in = [&](const char* name) {
      return g.add_input({DType::F32, Shape{Poly::symbol(g.pool().named(name, least))}});
    };
    Value x = in(first), y = in(second);
    g.set_outputs({call(g, "relu", {x}), y});
    return g;
  };
  auto concat = [&](const char* first, const char* second, int64_t least, bool twice) {
    Graph g = sum(first, second, least);
    Value v = call(g, "concat", {g.inputs()[0], g.inputs()[1]}, {{Poly(0)}});
    if (twice) v = call(g, "relu", {v});
    g.set_outputs({call(g, "relu", {v})});
    return g;
  };
  std::string same = key(concat("N", "N", 1, true), concat("N", "N", 1, false));
  std::string other = key(concat("N", "M", 1, true), concat("N", "M", 1, false));
  std::string less = key(concat("N", "N", 0, true), concat("N", "N", 0, false));
  EXPECT_NE(same, other);
  EXPECT_NE(same, less);
}

TEST(Window, EndsAtCarriedNodes) {
  auto make = [](int times) {
    Graph g;
    Value v = carried(g, {rows(g)}, 1, true);
    for (int k = 0; k < times; ++k) v = call(g, "relu", {v});
    g.set_outputs({v});
    return g;
  };
  EXPECT_FALSE(whole(make(2), make(1)).window());
}

TEST(Window, TheRightSideReadsNoConstantOfItsOwn) {
  auto make = [](std::vector<float> c, int times) {
    Graph g;
    Value v = call(g, "mul", {rows(g), floats(g, {4}, c)});
    for (int k = 0; k < times; ++k) v = call(g, "relu", {v});
    g.set_outputs({v});
    return g;
  };
  EXPECT_TRUE(whole(make({1, 2, 3, 4}, 2), make({1, 2, 3, 4}, 1)).window());
  EXPECT_FALSE(whole(make({1, 2, 3, 4}, 2), make({1, 2, 3, 5}, 1)).window());
}

TEST(Numbers, OfConstantsThatAreOneNumber) {
  Graph g;
  std::vector<std::pair<std::shared_ptr<const Constant>, std::optional<double>>> cases = {
      {Constant::of_floats({2}, {3, 3}), 3},
      {Constant::of_floats({2}, {3, 4}), std::nullopt},
      {Constant::of_floats({1}, {HUGE_VALF}), std::nullopt},
      {Constant::of_floats({1}, {NAN}), std::nullopt},
      {Constant::of_floats({0}, {}), std::nullopt},
      {Constant::of_ints({1}, {5}), 5},
      {Constant::of_ints({1}, {(int64_t{1} << 53) + 1}), std::nullopt},  // no double has it
  };
  for (auto& [c, expected] : cases) g.add_constant(c);
  auto numbers = numbers_of(g);
  for (size_t k = 0; k < cases.size(); ++k) EXPECT_EQ(numbers[k], cases[k].second) << k;
}

TEST(Numbers, AreExpressionsOverThoseThatWereThere) {
  auto text = [](double x, std::set<double> known, DType type = DType::F32) {
    auto e = explain(x, known, type);
    return e ? e->text : "";
  };
  double root = std::sqrt(2.0);
  EXPECT_EQ(text(static_cast<float>(1 / root), {2}), "1 / sqrt(2)");
  EXPECT_EQ(text(static_cast<float>(1 / 3.0), {3}), "1 / 3");
  EXPECT_EQ(text(6, {2, 3}), "2 * 3");
  EXPECT_EQ(text(static_cast<float>(3 / root), {2, 3}), "3 / sqrt(2)");
  EXPECT_EQ(text(0.7071, {2}), "");
  EXPECT_EQ(text(0, {2}), "");
}

/// What is exact in the type leaves nothing to rounding.
TEST(Numbers, AreNotExplainedByRoundingThatDoesNotTakePlace) {
  EXPECT_FALSE(explain(1 + 0x1p-10, {1}, DType::F16));
  EXPECT_FALSE(explain(1 + 0x1p-7, {1}, DType::BF16));
  EXPECT_FALSE(explain(4 + 0x1p-21, {2}, DType::F32));
  EXPECT_FALSE(explain(std::nextafter(0.1F, 1.0F), {0.1F}, DType::F32));
  EXPECT_TRUE(explain(0.1F, {0.1}, DType::F32));  // 0.1 is no float: it was rounded
}

}  // namespace
}  // namespace regraft::verify
