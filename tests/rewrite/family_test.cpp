// Families of rules matched and applied at several ranks.
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

constexpr const char* kTwice =
    "twice  (transpose (transpose ?x perm=?p) perm=?q) => (transpose ?x perm=?p[?q])  for x:..  "
    "proved:all-sizes";
constexpr const char* kSum =
    "sum  (transpose (add ?x ?y) perm=?p) => (add (transpose ?x perm=?p) (transpose ?y perm=?p))  "
    "for x:.. y:**  proved:all-sizes";
constexpr const char* kConcat =
    "concat  (concat (transpose ?x perm=?p) (transpose ?y perm=?p) axis=?k) => (transpose (concat "
    "?x ?y axis=?p[?k]) perm=?p)  for x:..3 y:..3  proved:all-sizes";
constexpr const char* kSoftmax =
    "softmax  (gather (softmax ?x axis=?j) axis=?k indices=?m,?n shape=2) => (softmax (gather ?x "
    "axis=?k indices=?m,?n shape=2) axis=?j)  where ?j!=?k  for x:..  proved:all-sizes";
constexpr const char* kSplit =
    "split  (split (concat ?x ?y axis=?k) axis=?k sizes=x.?k,y.?k)#1 => ?y  for x:.. y:..  "
    "proved:all-sizes";

/// Applies the only match; the result computes the same.
Graph applied(const Graph& g, const char* rule) {
  RuleIndex rules = index_of({rule});
  cost::Roofline model;
  Engine engine(g, rules, model);
  Graph before = engine.to_graph();
  std::vector<int32_t> matches(engine.matches());
  EXPECT_EQ(matches.size(), 1u) << rule;
  if (matches.size() != 1) return g;
  EXPECT_EQ(sides_agree(*engine.match(matches[0]).fit), std::optional<bool>(true));
  engine.apply(matches[0]);
  Graph after = engine.to_graph();
  EXPECT_TRUE(validate(after).ok());
  EXPECT_TRUE(same_fingerprints(before, after)) << to_string(before) << to_string(after);
  return after;
}
bool matches(const Graph& g, const char* rule) {
  RuleIndex rules = index_of({rule});
  cost::Roofline model;
  return !Engine(g, rules, model).matches().empty();
}

Graph transposed_twice(const Shape& shape, std::vector<int64_t> p, std::vector<int64_t> q) {
  Graph g;
  Value x = call(g, "transpose", {input(g, shape)}, {std::move(p)});
  g.set_outputs({call(g, "transpose", {x}, {std::move(q)})});
  return g;
}

TEST(FamilyMatch, TransposesOfAnyRank) {
  Graph g = applied(transposed_twice({2, 3}, {1, 0}, {0, 1}), kTwice);
  EXPECT_EQ(g.node_count(), 2u);
  g = applied(transposed_twice({2, 3, 4}, {1, 2, 0}, {0, 2, 1}), kTwice);
  EXPECT_EQ(g.node_count(), 2u);
  g = applied(transposed_twice({2, 3, 4, 5, 2, 3}, {5, 1, 0, 3, 2, 4}, {2, 0, 5, 4, 1, 3}), kTwice);
  EXPECT_EQ(g.node_count(), 2u);
}

TEST(FamilyMatch, BroadcastAxes) {
  for (std::vector<int64_t> other : {std::vector<int64_t>{2, 3, 4}, {1, 3, 1}, {1, 1, 1}}) {
    Graph g;
    Value y = input(g, Shape(other.begin(), other.end()));
    Value sum = call(g, "add", {input(g, {2, 3, 4}), y});
    g.set_outputs({call(g, "transpose", {sum}, {{2, 0, 1}})});
    applied(g, kSum);
  }
  Graph g;  // another rank than the family says
  Value sum = call(g, "add", {input(g, {2, 3, 4}), input(g, {4})});
  g.set_outputs({call(g, "transpose", {sum}, {{2, 0, 1}})});
  EXPECT_FALSE(matches(g, kSum));
}

TEST(FamilyMatch, AxesFollowPermutationsUpToTheBound) {
  for (int rank : {2, 3, 4}) {
    Graph g;
    std::vector<int64_t> perm = {rank - 1};
    Shape shape;
    for (int64_t d = 0; d < rank; ++d) {
      shape.push_back(Poly(d + 2));
      if (d + 1 < rank) perm.push_back(d);
    }
    Value x = call(g, "transpose", {input(g, shape)}, {perm});
    Value y = call(g, "transpose", {input(g, shape)}, {perm});
    g.set_outputs({call(g, "concat", {x, y}, {{1}})});
    if (rank <= 3)
      applied(g, kConcat);
    else
      EXPECT_FALSE(matches(g, kConcat));
  }
}

TEST(FamilyMatch, ConditionsOnAxes) {
  for (int64_t axis : {0, 1, -1}) {
    Graph g;
    Value x = call(g, "softmax", {input(g, {2, 3, 4})}, {{-1}});
    g.set_outputs({call(g, "gather", {x}, {{axis}, {1, 0}, {2}})});
    if (axis < 0)
      EXPECT_FALSE(matches(g, kSoftmax));
    else
      applied(g, kSoftmax);
  }
}

TEST(FamilyMatch, SizesAtAnAxis) {
  Graph g;
  Value joined = call(g, "concat", {input(g, {2, 3, 4}), input(g, {2, 3, 5})}, {{-1}});
  Value part = call(g, "split", {joined}, {{2}, {4, 5}});
  g.set_outputs({call(g, "relu", {Value{part.node, 1}})});
  EXPECT_TRUE(matches(g, kSplit));
  Graph other;
  joined = call(other, "concat", {input(other, {2, 3, 4}), input(other, {2, 3, 5})}, {{-1}});
  part = call(other, "split", {joined}, {{2}, {5, 4}});
  other.set_outputs({call(other, "relu", {Value{part.node, 1}})});
  EXPECT_FALSE(matches(other, kSplit));
}

}  // namespace
}  // namespace regraft::rewrite
