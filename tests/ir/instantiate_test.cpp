// Instances of rules: their symbols, and the values of both sides at random sizes.
#include "tests/ir/graphs.h"

namespace regraft {
namespace {

/// Values for every symbol of the instance that meet the left side's requirements; `numbers` are
/// the attribute variables that are single numbers.
std::optional<Valuation> random_sizes(const RuleInstance& instance, Rng& rng,
                                      const std::vector<std::string>& numbers) {
  for (int attempt = 0; attempt < 200000; ++attempt) {
    Valuation v;
    auto choose = [&](Var s) { v[s] = rng.between(s->min, s->min + 3); };
    for (const auto& tensor : instance.sizes)
      for (const auto& s : tensor)
        if (s) choose(*s);
    for (const auto& [name, symbols] : instance.list_symbols)
      for (Var s : symbols) choose(s);
    for (const std::string& name : numbers) choose(instance.lhs.pool().named(name));
    if (evaluate(instance.requires_lhs, v)) return v;
  }
  return std::nullopt;
}

struct Case {
  std::string text;
  Signature signature;
  std::vector<std::string> numbers = {};
};

const std::vector<Case> kTrueRules = {
    {"r  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))", {"nn", "nn", "nn"}},
    {"r  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))", {"nnn", "1nn", "nn"}},
    {"r  (matmul ?x (add ?y ?z)) => (add (matmul ?x ?y) (matmul ?x ?z))", {"nn", "nn", "nn"}},
    {"r  (mul ?x (full shape=x.-1 value=1)) => ?x", {"nnn"}},
    {"r  (add ?x ?s) => (add ?s ?x)", {"n1n", "-"}},
    {"r  (concat (matmul ?a ?b) (matmul ?a ?c) axis=-1) => (matmul ?a (concat ?b ?c axis=-1))",
     {"nn", "nn", "nn"}},
    {"r  (split (concat ?x ?y axis=1) axis=1 sizes=x.1,y.1) ; (split (concat ?x ?y axis=1) axis=1 "
     "sizes=x.1,y.1)#1 => ?x ; ?y",
     {"nnn", "nnn"}},
    {"r  (concat (split ?x axis=0 sizes=?m,?k) (split ?x axis=0 sizes=?m,?k)#1 axis=0) => ?x",
     {"nn"},
     {"m", "k"}},
    {"r  (concat (conv ?x ?w pads=?p dilations=?d) (conv ?x ?v pads=?p dilations=?d) axis=1) => "
     "(conv ?x (concat ?w ?v axis=0) pads=?p dilations=?d)",
     {"nnn", "nnn", "nnn"}},
    {"r  (conv ?x ?w strides=?s pads=?p group=?g) => (conv ?x ?w strides=?s pads=?p group=?g)",
     {"nnn", "nnn"},
     {"g"}},
    {"r  (reshape ?x shape=x.0*x.1) => (reshape ?x shape=x.0*x.-1)", {"nn"}},
    {"r  (clip (relu ?x) min=?l max=?h) => (clip (relu ?x) min=?l max=?h)", {"nn"}},
    {"r  (relu (transpose ?x perm=1,0)) => (transpose (relu ?x) perm=1,0)", {"n1"}},
};

TEST(Instantiate, SidesOfTrueRulesAgree) {
  for (const Case& c : kTrueRules) {
    Rule r = rule(c.text);
    auto instance = instantiate(r, c.signature);
    ASSERT_TRUE(instance) << c.text << "\n" << instance.error().message;
    EXPECT_EQ(instance->lhs.shared_pool(), instance->rhs.shared_pool());
    EXPECT_TRUE(validate(instance->lhs)) << c.text << validate(instance->lhs).error().message;
    EXPECT_TRUE(validate(instance->rhs)) << c.text << validate(instance->rhs).error().message;
    EXPECT_EQ(instance->lhs_ids.size(), r.lhs.nodes.size());
    EXPECT_EQ(instance->rhs_ids.size(), r.rhs.nodes.size());
    Rng rng(17);
    for (uint64_t trial = 0; trial < 5; ++trial) {
      auto sizes = random_sizes(*instance, rng, c.numbers);
      ASSERT_TRUE(sizes) << c.text;
      for (const Formula& f : instance->requires_rhs) EXPECT_TRUE(evaluate(f, *sizes)) << c.text;
      auto x = field_outputs(instance->lhs, *sizes, trial),
           y = field_outputs(instance->rhs, *sizes, trial);
      ASSERT_TRUE(x && y) << c.text;
      EXPECT_TRUE(equal(*x, *y)) << c.text;
    }
  }
}

TEST(Instantiate, SidesOfFalseRulesDiffer) {
  const std::vector<Case> wrong = {
      {"r  (sub ?x ?y) => (sub ?y ?x)", {"nn", "nn"}},
      {"r  (relu (neg ?x)) => (neg (relu ?x))", {"nn"}},
      {"r  (concat ?x ?y axis=0) => (concat ?y ?x axis=0)", {"nn", "nn"}},
      {"r  (clip ?x min=?l max=?h) => (clip ?x min=?h max=?l)", {"nn"}},
  };
  for (const Case& c : wrong) {
    auto instance = instantiate(rule(c.text), c.signature);
    ASSERT_TRUE(instance) << c.text;
    Rng rng(3);
    auto sizes = random_sizes(*instance, rng, c.numbers);
    ASSERT_TRUE(sizes);
    auto x = field_outputs(instance->lhs, *sizes, 1), y = field_outputs(instance->rhs, *sizes, 1);
    ASSERT_TRUE(x && y);
    EXPECT_FALSE(equal(*x, *y)) << c.text;
  }
}

TEST(Instantiate, NamesItsSymbols) {
  Rule r = rule("r  (conv ?x ?w strides=?s pads=?p) => (conv ?x ?w strides=?s pads=?p)");
  auto i = instantiate(r, {"1nnn", "nnnn"});
  ASSERT_TRUE(i) << i.error().message;
  EXPECT_EQ(i->list_symbols["s"].size(), 2u);
  EXPECT_EQ(i->list_symbols["p"].size(), 4u);
  EXPECT_EQ(i->list_symbols["s"][0]->min, 1);
  EXPECT_EQ(i->list_symbols["p"][3]->min, 0);
  EXPECT_EQ(i->list_symbols["p"][3]->name, "p.3");
  EXPECT_EQ(i->sizes[0][0], std::nullopt);
  EXPECT_EQ((*i->sizes[0][1])->name, "x.1");
  const Node& conv = i->lhs.node(i->lhs_ids[0]);
  EXPECT_TRUE(same(conv.attrs.ints[2][1], Poly(1)));  // dilations at their fallback
  EXPECT_EQ(conv.attrs.ints[2].size(), 2u);
  EXPECT_TRUE(same(i->lhs.shape(i->lhs.inputs()[0])[0], Poly(1)));
  auto clip = instantiate(rule("r  (clip ?x min=?l) => (clip ?x min=?l)"), {"-"});
  ASSERT_TRUE(clip);
  EXPECT_EQ(clip->lhs.node(clip->lhs_ids[0]).attrs.reals[0].symbol, clip->real_symbols["l"]);
  EXPECT_EQ(clip->lhs.type(clip->lhs.outputs()[0]).shape->size(), 0u);
}

TEST(Instantiate, PositionsAndPaddingsMayBeZeroAndCountsMayNot) {
  auto rule = parse_rule(
      "r  (gather (conv (slice ?x begins=?b sizes=?l steps=?s) ?w strides=?t pads=?p) axis=1 "
      "indices=?i,?j shape=2) => (gather (conv (slice ?x begins=?b sizes=?l steps=?s) ?w "
      "strides=?t pads=?p) axis=1 indices=?i,?j shape=2)");
  ASSERT_TRUE(rule);
  auto instance = instantiate(*rule, {"nnnn", "nnnn"});
  ASSERT_TRUE(instance);
  for (const char* list : {"b", "p"}) EXPECT_EQ(instance->list_symbols.at(list)[0]->min, 0) << list;
  for (const char* list : {"l", "s", "t"})
    EXPECT_EQ(instance->list_symbols.at(list)[0]->min, 1) << list;
  for (const char* number : {"i", "j"}) EXPECT_EQ(instance->lhs.pool().named(number, 7)->min, 0);
}

TEST(Instantiate, RefusesSignaturesThatDoNotFit) {
  auto refused = [](const std::string& text, const Signature& s) {
    auto i = instantiate(rule("r  " + text), s);
    return i ? std::string() : i.error().message;
  };
  EXPECT_NE(refused("(matmul ?a ?b) => (matmul ?a ?b)", {"nn"}), "");
  EXPECT_NE(refused("(matmul ?a ?b) => (matmul ?a ?b)", {"nn", "n"}), "");
  EXPECT_NE(refused("(matmul ?a ?b) => (matmul ?a ?b)", {"nn", "nx"}), "");
  EXPECT_NE(refused("(matmul ?a ?b) => (matmul ?a ?b)", {"nn", ""}), "");
  EXPECT_NE(refused("(add ?a ?b) => ?a", {"nn", "nnn"}), "");  // another rank
  EXPECT_NE(refused("(transpose ?x perm=1,0) => (transpose ?x perm=1,0)", {"nnn"}), "");
  EXPECT_NE(refused("(reshape ?x shape=x.2) => (reshape ?x shape=x.2)", {"nn"}), "");
  EXPECT_NE(refused("(reshape ?x shape=?s) => (reshape ?x shape=?s)", {"nn"}), "");  // how many?
  EXPECT_NE(refused("(softmax ?x axis=2) => (softmax ?x axis=2)", {"nn"}), "");
  EXPECT_NE(refused("(split ?x axis=0 sizes=2,3) => (split ?x axis=0 sizes=2,3)", {"1n"}), "");
  EXPECT_NE(refused("(relu ?x) => (concat ?x (relu ?x))", {"nn"}), "");  // no axis
  EXPECT_EQ(refused("(matmul ?a ?b) => (matmul ?a ?b)", {"nn", "nn"}), "");
}

TEST(Instantiate, DividesSizes) {
  auto i = instantiate(
      rule("r  (reshape ?x shape=floor(x.0/2),2,x.-1) => (reshape ?x shape=floor(x.0/2),2,x.1)"),
      {"nn"});
  ASSERT_TRUE(i) << i.error().message;
  auto x = field_outputs(i->lhs, {{*i->sizes[0][0], 6}, {*i->sizes[0][1], 5}}, 1);
  ASSERT_TRUE(x);
  EXPECT_EQ((*x)[0].shape, (std::vector<int64_t>{3, 2, 5}));
}

}  // namespace
}  // namespace regraft
