#include "ir/graph/eval.h"
#include "ir/graph/fold.h"

#include "tests/ir/graphs.h"

namespace regraft {
namespace {

TEST(Evaluate, GraphOverTwoAlgebras) {
  Graph g = graph(
      "%0 = input \"x\" : float32[N,3]\n"
      "%1 = input \"w\" : float32[3,M]\n"
      "%2 = matmul %0 %1\n"
      "%3 = split %2 axis=1 sizes=1,M-1\n"
      "%4 = concat %3#1 %3 axis=1\n"
      "outputs %4 %3#1\n");
  Valuation sizes{{g.pool().named("N"), 2}, {g.pool().named("M"), 4}};
  Reals reals;
  Field field;
  auto number = [](int k, size_t i) { return static_cast<int64_t>(i) * (k + 2) - 5; };
  auto x = evaluate_graph<Reals>(reals, g, sizes, [&](int k, const std::vector<int64_t>& shape) {
    Array<double> a{shape, std::vector<double>(static_cast<size_t>(shape[0] * shape[1]))};
    for (size_t i = 0; i < a.data.size(); ++i) a.data[i] = static_cast<double>(number(k, i));
    return a;
  });
  auto y = evaluate_graph<Field>(field, g, sizes, [&](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, std::vector<Residue>(static_cast<size_t>(shape[0] * shape[1]))};
    for (size_t i = 0; i < a.data.size(); ++i) a.data[i] = residue_of(number(k, i));
    return a;
  });
  ASSERT_TRUE(x && y);
  ASSERT_EQ(x->size(), 2u);
  EXPECT_EQ((*x)[0].shape, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ((*x)[1].shape, (std::vector<int64_t>{2, 3}));
  for (size_t k = 0; k < 2; ++k)
    for (size_t i = 0; i < (*x)[k].data.size(); ++i)
      EXPECT_EQ(residue_of((*x)[k].data[i]), (*y)[k].data[i]);
  sizes[g.pool().named("M")] = 1;  // the second part would be empty
  EXPECT_FALSE(field_outputs(g, sizes, 1));
}

TEST(Evaluate, StopsAtTheLimitAndAtMisfits) {
  Graph g = graph("%0 = input : float32[N,N]\n%1 = matmul %0 %0\noutputs %1\n");
  Field field;
  auto input = [](int k, const std::vector<int64_t>& shape) {
    return random_residues(k, shape, 1);
  };
  EXPECT_TRUE(evaluate_graph<Field>(field, g, {{g.pool().named("N"), 4}}, input, 16));
  EXPECT_FALSE(evaluate_graph<Field>(field, g, {{g.pool().named("N"), 5}}, input, 16));
  Array<Residue> a = random_residues(0, {2, 3}, 1);
  EXPECT_FALSE(evaluate_call(field, *find_op("matmul"), {&a, &a}, {}));
  Array<Residue> b = random_residues(0, {3, 2}, 1);
  EXPECT_TRUE(evaluate_call(field, *find_op("matmul"), {&a, &b}, {}));  // a failure leaves no trace
}

TEST(Evaluate, PiecesAreTheWholeUntilOneIsEnough) {
  Array<Residue> x = random_residues(0, {1, 2, 9, 9}, 1), w = random_residues(1, {3, 2, 3, 3}, 1);
  Attrs<int64_t> at{{{1, 1}, {1, 1, 1, 1}, {1, 1}, {1}}, {}};
  Field field;
  auto whole = evaluate_call(field, *find_op("conv"), {&x, &w}, at);
  ASSERT_TRUE(whole);
  std::vector<Residue> found;
  auto all = [&](size_t first, std::span<const Residue> piece) {
    EXPECT_EQ(first, found.size());
    found.insert(found.end(), piece.begin(), piece.end());
    return true;
  };
  EXPECT_TRUE(evaluate_pieces<Field>(field, *find_op("conv"), {&x, &w}, at, 0, 1000, all));
  EXPECT_TRUE(found == (*whole)[0].data);
  found.clear();
  auto one = [&](size_t first, std::span<const Residue> piece) {
    return all(first, piece) && false;
  };
  EXPECT_TRUE(evaluate_pieces<Field>(field, *find_op("conv"), {&x, &w}, at, 0, 1000, one));
  EXPECT_GT(found.size(), 0u);
  EXPECT_LT(found.size(), (*whole)[0].data.size());
  EXPECT_FALSE(evaluate_pieces<Field>(field, *find_op("conv"), {&x, &w}, at, 0, 242, all));
  EXPECT_FALSE(evaluate_pieces<Field>(field, *find_op("matmul"), {&x, &w}, {}, 0, 1000, all));
}

TEST(Evaluate, ParallelRealsAreTheSerialOnes) {
  Rng rng(5);
  Array<double> x{{2, 3, 9, 9}, {}}, w{{4, 3, 3, 3}, {}};
  for (int k = 0; k < 2 * 3 * 81; ++k) x.data.push_back(rng.unit());
  for (int k = 0; k < 4 * 27; ++k) w.data.push_back(rng.unit());
  Attrs<int64_t> at{{{1, 1}, {1, 1, 1, 1}, {1, 1}, {1}}, {}};
  Reals reals;
  auto serial = evaluate_call(reals, *find_op("conv"), {&x, &w}, at);
  auto parallel = evaluate_reals(*find_op("conv"), {&x, &w}, at);
  ASSERT_TRUE(serial && parallel);
  EXPECT_EQ((*serial)[0].shape, (*parallel)[0].shape);
  for (size_t k = 0; k < (*serial)[0].data.size(); ++k)
    EXPECT_NEAR((*serial)[0].data[k], (*parallel)[0].data[k], 1e-12);
  EXPECT_FALSE(evaluate_reals(*find_op("matmul"), {&x, &w}, {}));
}

TEST(EvaluateReals, SumsOverNothingAndEmptyResultsAreOrdinary) {
  Array<double> tall{{2, 0}, {}}, wide{{0, 3}, {}}, full{{2, 3}, {1, 2, 3, 4, 5, 6}};
  auto product = evaluate_reals(*find_op("matmul"), {&tall, &wide}, {});
  ASSERT_TRUE(product);
  EXPECT_EQ((*product)[0].data, std::vector<double>(6, 0));
  auto nothing = evaluate_reals(*find_op("matmul"), {&wide, &tall}, {});
  EXPECT_FALSE(nothing);  // 3 is not 2
  nothing = evaluate_reals(*find_op("relu"), {&wide}, {});
  ASSERT_TRUE(nothing);
  EXPECT_EQ((*nothing)[0].shape, (std::vector<int64_t>{0, 3}));
  auto joined = evaluate_reals(*find_op("concat"), {&wide, &full}, {{{0}}, {}});
  ASSERT_TRUE(joined);
  EXPECT_EQ((*joined)[0].data, full.data);
  EXPECT_FALSE(evaluate_reals(*find_op("reduce-max"), {&wide}, {{{0}, {0}}, {}}));
}

struct Folding : ::testing::Test {
  Graph g;
  Value x = g.add_input({DType::F32, Shape{2, 2}}, "x");
  Value c = g.add_constant(Constant::of_floats({2, 2}, {1, 2, 3, 4}), "c");
  Value d = g.add_constant(Constant::of_floats({2, 2}, {5, 6, 7, 8}), "d");
  Value call(const char* op, std::vector<Value> operands, Attrs<Poly> at = {}) {
    auto id = g.add_call(*find_op(op), std::move(operands), std::move(at));
    EXPECT_TRUE(id) << (id ? "" : id.error().message);
    return {*id, 0};
  }
  static std::vector<double> data(const Graph& f, Value v) {
    EXPECT_EQ(f.node(v.node).kind, NodeKind::Constant);
    return f.node(v.node).constant ? *f.node(v.node).constant->reals() : std::vector<double>{};
  }
};

TEST_F(Folding, KeepsOnlyWhatIsNeeded) {
  Value inner = call("add", {c, d}), outer = call("mul", {inner, c}), y = call("sub", {x, outer});
  g.set_outputs({y});
  auto f = fold_constants(g);
  ASSERT_TRUE(f) << f.error().message;
  EXPECT_TRUE(validate(*f));
  EXPECT_EQ(data(*f, outer), (std::vector<double>{6, 16, 30, 48}));
  EXPECT_FALSE(f->contains(inner.node));
  EXPECT_FALSE(f->contains(c.node));
  EXPECT_EQ(f->node_ptr(y.node), g.node_ptr(y.node));  // untouched
  EXPECT_EQ(f->node_count(), 3);
}

TEST_F(Folding, LeavesIntegersThatOverflow) {
  auto number = [&](double n) { return g.add_constant(make_constant(DType::I32, {1}, {n}), "n"); };
  Value most = number(INT32_MAX), one = number(1);
  Value over = call("add", {most, one}), under = call("sub", {most, one});
  g.set_outputs({over, under});
  auto f = fold_constants(g);
  ASSERT_TRUE(f) << f.error().message;
  EXPECT_EQ(f->node(over.node).kind, NodeKind::Call);
  EXPECT_EQ(data(*f, under), (std::vector<double>{INT32_MAX - 1}));
}

TEST_F(Folding, RoundsOnceAtTheEnd) {
  Value third = call("div", {c, d}), back = call("mul", {third, d});
  g.set_outputs({call("add", {x, back})});
  auto f = fold_constants(g);
  ASSERT_TRUE(f);
  auto v = data(*f, back);
  for (size_t k = 0; k < 4; ++k)
    EXPECT_EQ(v[k], static_cast<double>(k + 1));  // 1/5 was not rounded
}

TEST_F(Folding, GivesEachUsedOutputAConstant) {
  Value parts = call("split", {c}, {{{Poly(1)}, {Poly(1), Poly(1)}}, {}});
  Value y = call("add", {x, {parts.node, 1}}), z = call("add", {x, {parts.node, 0}});
  g.set_outputs({y, z, {parts.node, 1}});
  auto f = fold_constants(g);
  ASSERT_TRUE(f);
  EXPECT_TRUE(validate(*f)) << validate(*f).error().message;
  EXPECT_EQ(data(*f, f->node(y.node).inputs[1]), (std::vector<double>{2, 4}));
  EXPECT_EQ(data(*f, f->node(z.node).inputs[1]), (std::vector<double>{1, 3}));
  EXPECT_EQ(data(*f, f->outputs()[2]), (std::vector<double>{2, 4}));
  EXPECT_FALSE(f->contains(parts.node));
}

TEST_F(Folding, ReportsDataThatCannotBeRead) {
  auto fail = [](const Constant::Visit&) -> Status { return error("weights.bin is missing"); };
  Value lazy =
      g.add_constant(std::make_shared<Constant>(DType::F32, std::vector<int64_t>{2, 2}, fail));
  g.set_outputs({call("add", {lazy, c})});
  auto f = fold_constants(g);
  ASSERT_FALSE(f);
  EXPECT_EQ(f.error().message, "weights.bin is missing");
}

TEST(Agreement, ClaimsNothingWhereTheLeftSideIsUndefined) {
  Residue a = residue_of(int64_t{3}), b = residue_of(int64_t{4});
  Residue nothing = Field().recip(0);
  auto one = [](std::vector<Residue> data) {
    auto n = static_cast<int64_t>(data.size());
    return std::vector<Array<Residue>>{{{n}, std::move(data)}};
  };
  EXPECT_EQ(agreement(one({a, b}), one({a, b})), Agreement::Equal);
  EXPECT_EQ(agreement(one({a, b}), one({a, a})), Agreement::Different);
  EXPECT_EQ(agreement(one({a, b}), one({a})), Agreement::Different);
  EXPECT_EQ(agreement(one({a}), {}), Agreement::Different);
  EXPECT_EQ(agreement(one({a, nothing}), one({a, b})), Agreement::Equal);
  EXPECT_EQ(agreement(one({a, b}), one({a, nothing})), Agreement::Undefined);
  EXPECT_EQ(agreement(one({a, b}), one({b, nothing})), Agreement::Different);
  EXPECT_EQ(agreement(one({nothing}), one({a})), Agreement::Undefined);
}

TEST(Eval, AnAxisThatIsTakenWholeMayBeEmpty) {
  Array<double> x{{0, 6}, {}};
  auto cut = [&](int64_t rows) {
    return evaluate_reals(*find_op("slice"), {&x}, {{{0, 1}, {rows, 5}, {1, 1}}, {}});
  };
  auto y = cut(0);
  ASSERT_TRUE(y);
  EXPECT_EQ((*y)[0].shape, (std::vector<int64_t>{0, 5}));
  EXPECT_FALSE(cut(1));
}

}  // namespace
}  // namespace regraft
