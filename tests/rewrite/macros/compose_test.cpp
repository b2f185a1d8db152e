// Moves as one rule: its sizes and numbers are as open as the moves allow.
#include "rewrite/macros/compose.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::string kSliceAdd =
    "slice-add (slice (add ?a ?c) begins=?b sizes=?s steps=?ss) => (add (slice ?a begins=?b "
    "sizes=?s steps=?ss) (slice ?c begins=?b sizes=?s steps=?ss)) for a:nn c:nn proved:all-sizes";
const std::string kSliceMatmul =
    "slice-matmul (slice (matmul ?a ?c) begins=?b,0 sizes=?s,c.1 steps=?t,1) => (matmul (slice ?a "
    "begins=?b,0 sizes=?s,a.1 steps=?t,1) ?c) for a:nn c:nn proved:all-sizes";
const std::string kSplitRelu =
    "split-relu (relu (reshape ?a shape=?h,?w)) => (reshape (relu ?a) shape=?h,?w) "
    "for a:nnn proved:all-sizes";
const std::string kReshapeTwice =
    "reshape-twice (reshape (reshape ?a shape=?h,?w) shape=a.0,a.1,a.2) => ?a for a:nnn "
    "proved:all-sizes";
const std::string kSquare =
    "square (add (transpose ?a perm=1,0) ?c) => (transpose (add ?a (transpose ?c perm=1,0)) "
    "perm=1,0) where a.0=a.1 for a:nn c:nn proved:all-sizes";

/// The rule that these rules are, applied one after the other where they first match.
Result<Composed> composed(const Graph& g, const RuleIndex& index,
                          const std::vector<std::string>& names) {
  cost::Roofline model;
  Engine engine(g, index, model);
  for (const std::string& name : names) {
    auto called = [&](int32_t number) {
      return index.rules()[static_cast<size_t>(engine.match(number).rule)].rule.name == name;
    };
    auto match = std::ranges::find_if(engine.matches(), called);
    EXPECT_NE(match, engine.matches().end()) << name;
    if (match == engine.matches().end()) return error("no match");
    engine.apply(*match);
  }
  auto rule = compose(g, engine);
  EXPECT_EQ(engine.depth(), names.size());
  return rule;
}

std::string text_of(const Result<Composed>& made) {
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made ? to_string(made->open) : "";
}

/// Rows of a product and a sum.
Graph rows(const Poly& height, std::shared_ptr<SymbolPool> pool = std::make_shared<SymbolPool>()) {
  Graph g(std::move(pool));
  Value x = input(g, {height, Poly(32)}), w = weight(g, {32, 16});
  Value y = input(g, {height, Poly(16)});
  Value sum = call(g, "add", {call(g, "matmul", {x, w}), y});
  g.set_outputs({call(g, "slice", {sum}, {{7, 0}, {1, 16}, {1, 1}})});
  return g;
}

TEST(Macros, LeaveOpenWhatTheMovesDoNotAskFor) {
  auto rule =
      composed(rows(Poly(50)), index_of({kSliceAdd, kSliceMatmul}), {"slice-add", "slice-matmul"});
  EXPECT_EQ(
      text_of(rule),
      "  (slice (add (matmul ?a ?b) ?c) begins=?b1,0 sizes=?s1,b.1 steps=?s2,1) => (add (slice "
      "?c begins=?b1,0 sizes=?s1,b.1 steps=?s2,1) (matmul (slice ?a begins=?b1,0 "
      "sizes=?s1,a.1 steps=?s2,1) ?b))  for a:nn b:nn c:nn  origin:learnt");
  EXPECT_EQ(to_string(rule->closed),
            "  (slice (add (matmul ?a ?b) ?c) begins=7,0 sizes=1,b.1 steps=1,1) => (add (slice ?c "
            "begins=7,0 sizes=1,b.1 steps=1,1) (matmul (slice ?a begins=7,0 sizes=1,a.1 steps=1,1) "
            "?b))  for a:nn b:nn c:nn  origin:learnt");
}

TEST(Macros, AreTheSameWhereSizesOfTheModelAreOpen) {
  const RuleIndex index = index_of({kSliceAdd, kSliceMatmul});
  auto pool = std::make_shared<SymbolPool>();
  Var n = pool->named("n", 8);
  pool->assume_not_zero(n);
  const Graph open = rows(Poly::symbol(n), pool);
  auto text = [&](const Graph& g) {
    return text_of(composed(g, index, {"slice-add", "slice-matmul"}));
  };
  EXPECT_EQ(text(open), text(rows(Poly(50))));
}

TEST(Macros, AskForSizesThatTheMovesAskFor) {
  Graph g;
  Value x = input(g, {Poly(6), Poly(6)}), y = input(g, {Poly(6), Poly(6)});
  Value turned = call(g, "transpose", {x}, {{1, 0}});
  Value sum = call(g, "add", {turned, y});
  g.set_outputs({call(g, "transpose", {sum}, {{1, 0}})});
  auto rule = composed(g, index_of({kSquare, kTransposeTwice}), {"square", "transpose-twice"});
  EXPECT_EQ(text_of(rule),
            "  (transpose (add (transpose ?a perm=1,0) ?b) perm=1,0) => (add ?a (transpose ?b "
            "perm=1,0))  where a.1=a.0  for a:nn b:nn  origin:learnt");
}

TEST(Macros, AskForNothingThatTheLeftSideHas) {
  Graph g;
  Value x = input(g, {Poly(2), Poly(3), Poly(4)});
  Value flat = call(g, "relu", {call(g, "reshape", {x}, {{6, 4}})});
  g.set_outputs({call(g, "reshape", {flat}, {{2, 3, 4}})});
  auto rule = composed(g, index_of({kSplitRelu, kReshapeTwice}), {"split-relu", "reshape-twice"});
  EXPECT_EQ(text_of(rule),
            "  (reshape (relu (reshape ?a shape=?s1,?s2)) shape=a.0,a.1,a.2) => (relu ?a)  for "
            "a:nnn  origin:learnt");
}

TEST(Macros, AskThatWhatOneNodeComputesIsTheSame) {
  Graph g;
  Value x = input(g, {Poly(5), Poly(3)}), y = input(g, {Poly(5), Poly(3)});
  auto tail = [&](Value v) { return call(g, "slice", {v}, {{1, 0}, {2, 3}, {1, 1}}); };
  g.set_outputs({tail(call(g, "relu", {x})), call(g, "add", {tail(x), tail(y)})});
  const std::string sink =
      "sink (slice (relu ?a) begins=?b sizes=?s steps=?t) => (relu (slice ?a begins=?b sizes=?s "
      "steps=?t)) for a:nn proved:all-sizes";
  const std::string swap = "swap (add ?a ?c) => (sub ?a (neg ?c)) for a:nn c:nn proved:all-sizes";
  const std::string turn =
      "turn (neg (slice ?a begins=?b sizes=?s steps=?t)) => (slice (neg ?a) begins=?b sizes=?s "
      "steps=?t) for a:nn proved:all-sizes";
  auto rule = composed(g, index_of({sink, swap, turn}), {"sink", "swap", "turn"});
  EXPECT_EQ(text_of(rule),
            "  (slice (relu ?a) begins=?b1,?b2 sizes=b.0,b.1 steps=?s1,?s2) ; (add (slice ?a "
            "begins=?b1,?b2 sizes=b.0,b.1 steps=?s1,?s2) ?b) => (relu (slice ?a begins=?b1,?b2 "
            "sizes=b.0,b.1 steps=?s1,?s2)) ; (sub ?b (slice (neg ?a) begins=?b1,?b2 sizes=b.0,b.1 "
            "steps=?s1,?s2))  for a:nn b:nn  origin:learnt");
}

TEST(Macros, AreNoneWhereAConstantIsMatched) {
  Graph g;
  Value x = input(g, {Poly(2), Poly(2)});
  Value zero = g.add_constant(Constant::of_floats({}, {0}));
  g.set_outputs({call(g, "relu", {call(g, "relu", {call(g, "add", {x, zero})})})});
  const std::string add_zero = "add-zero (add ?x (full value=0)) => ?x for x:nn proved:all-sizes";
  auto rule = composed(g, index_of({kReluTwice, add_zero}), {"relu-twice", "add-zero"});
  ASSERT_FALSE(rule.has_value());
  EXPECT_EQ(rule.error().message, "a constant is matched by its value");
}

}  // namespace
}  // namespace regraft::rewrite
