// Conditions of rules, where they are matched.
#include "base/host.h"
#include "base/interrupts.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

size_t matches(const Graph& g, const std::string& line) {
  RuleIndex rules = index_of({line});
  cost::Roofline model;
  Engine engine(g, rules, model);
  Graph before = engine.to_graph();
  size_t count = engine.matches().size();
  for (int32_t number : std::vector<int32_t>(engine.matches())) {
    engine.apply(number);
    EXPECT_TRUE(validate(engine.to_graph()).ok());
    engine.undo();
  }
  return count;
}

TEST(Conditions, ChecksInequalities) {
  const std::string kInside =
      "inside  (slice (concat ?x ?y axis=1) begins=0,?b sizes=x.0,?n) => "
      "(slice ?x begins=0,?b sizes=x.0,?n)  where ?b+?n<=x.1  for x:nn y:nn  proved:all-sizes";
  for (int64_t n : {3, 4}) {
    Graph g;
    Value joined = call(g, "concat", {input(g, {2, 5}), input(g, {2, 5})}, {{1}});
    g.set_outputs({call(g, "slice", {joined}, {{0, 2}, {2, n}})});
    EXPECT_EQ(matches(g, kInside) == 0, n == 4);
  }
  // Of a size that is not known 1 is the least: it is not known to be 5.
  Graph g;
  Value x = input(g, {2, Poly::symbol(g.pool().named("N"))});
  Value joined = call(g, "concat", {x, input(g, {2, 5})}, {{1}});
  g.set_outputs({call(g, "slice", {joined}, {{0, 0}, {2, 5}})});
  EXPECT_TRUE(matches(g, kInside) == 0);
}

TEST(Conditions, ChecksConditionsOnRealAttributes) {
  const std::string kScale =
      "scale  (relu (mul ?x (full value=?c))) => (mul (relu ?x) (full value=?c))  where ?c>=0  "
      "for x:nn  proved:all-sizes";
  const std::string kCount =
      "count  (relu (mul ?x (full value=?c))) => (mul (relu ?x) (full value=?c))  where ?c=x.1  "
      "for x:nn  proved:all-sizes";
  const std::string kThird =
      "third  (relu (mul ?x (full value=1/3))) => (mul (relu ?x) (full value=1/3))  "
      "for x:nn  proved:all-sizes";
  for (float value : {3.0f, 0.0f, -2.0f, 1.0f / 3, 0.333f}) {
    Graph g;
    Value c = g.add_constant(Constant::of_floats({}, {value}));
    g.set_outputs({call(g, "relu", {call(g, "mul", {input(g, {2, 3}), c})})});
    EXPECT_EQ(matches(g, kScale) == 0, value < 0) << value;
    EXPECT_EQ(matches(g, kCount) == 0, value != 3) << value;
    EXPECT_EQ(matches(g, kThird) == 0, value != 1.0f / 3) << value;
  }
}

// Scale 0 means 1 / sqrt(size): no rule takes it for a number, nor makes it from one.
TEST(Conditions, TakeNoDefaultForANumber) {
  const std::string kScores =
      "scores  (attention ?q ?k ?v q_heads=0 kv_heads=0 causal=0 scale=?s) <=> (matmul (softmax "
      "(mul (matmul ?q (transpose ?k perm=0,1,3,2)) (full value=?s)) axis=-1) ?v)  where q.1=k.1  "
      "for q:nnnn k:nnnn v:nnnn  proved:all-sizes";
  for (float scale : {0.5f, 0.0f}) {
    Graph fused;
    auto operand = [](Graph& g, int64_t places) { return input(g, {1, 2, places, 4}); };
    Value whole =
        call(fused, "attention", {operand(fused, 3), operand(fused, 5), operand(fused, 5)});
    Node scaled = fused.node(whole.node);
    scaled.attrs.reals[0].value = scale;
    fused.replace_node(whole.node, std::move(scaled));
    fused.set_outputs({whole});
    EXPECT_EQ(matches(fused, kScores), scale == 0 ? 0u : 1u);
    Graph parts;
    Value k = call(parts, "transpose", {operand(parts, 5)}, {{0, 1, 3, 2}});
    Value factor = parts.add_constant(Constant::of_floats({}, {scale}));
    Value scores = call(parts, "mul", {call(parts, "matmul", {operand(parts, 3), k}), factor});
    Value weights = call(parts, "softmax", {scores}, {{-1}});
    parts.set_outputs({call(parts, "matmul", {weights, operand(parts, 5)})});
    EXPECT_EQ(matches(parts, kScores), scale == 0 ? 0u : 1u);
  }
}

// What makes a match is of the graph: a search that was asked to end finds no other ones.
TEST(Conditions, HoldWhileTheSearchIsAskedToEnd) {
  const std::string kHalf =
      "half  (relu (mul ?x (full value=1/2))) => (mul (relu ?x) (full value=1/2))  "
      "for x:nn  proved:all-sizes";
  Graph g;
  Value quarter = g.add_constant(Constant::of_floats({}, {0.25f}));
  Value two = g.add_constant(Constant::of_floats({}, {2}));
  Value half = call(g, "mul", {quarter, two});
  g.set_outputs({call(g, "relu", {call(g, "mul", {input(g, {2, 3}), half})})});
  EXPECT_EQ(matches(g, kHalf), 1u);
  const Hosted host(stdout, stderr);
  request_interrupt();
  EXPECT_EQ(matches(g, kHalf), 1u);
}

// What the right side computes is a number there.
TEST(Conditions, ComputesRealAttributes) {
  const std::string kHalf =
      "half  (mul (mul ?x (full value=?c)) (full value=?d)) => (mul ?x (full value=?c*?d/x.1))  "
      "for x:nn  proved:all-sizes";
  Graph g;
  auto number = [&](float x) { return g.add_constant(Constant::of_floats({}, {x})); };
  Value product = call(g, "mul", {call(g, "mul", {input(g, {2, 4}), number(3)}), number(8)});
  g.set_outputs({call(g, "relu", {product})});
  RuleIndex rules = index_of({kHalf});
  cost::Roofline model;
  Engine engine(g, rules, model);
  ASSERT_EQ(engine.matches().size(), 1u);
  engine.apply(engine.matches()[0]);
  Graph result = engine.to_graph();
  bool found = false;
  for (int32_t id = 0; id < result.id_bound(); ++id) {
    if (!result.contains(id) || result.node(id).attrs.reals.empty()) continue;
    const Real& r = result.node(id).attrs.reals[0];
    EXPECT_EQ(r.symbol, nullptr);
    found = found || r.value == 6;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace regraft::rewrite
