// Rules: their text, what is refused, renaming and the canonical key.
#include <algorithm>

#include "ir/rule/pattern.h"
#include "tests/ir/graphs.h"

namespace regraft {
namespace {

const std::vector<std::string> kRules = {
    "assoc  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))",
    "assoc  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn | a:nnn "
    "b:nnn c:nnn  proved:all-sizes",
    "neutral  (matmul ?x (identity-matrix size=x.-1)) => ?x  for x:nn  proved:all-sizes  "
    "origin:hand",
    "scalar  (mul ?x ?s) => (mul ?s ?x)  for x:n1n s:-  tested",
    "split-concat  (concat (split ?x axis=1 sizes=?m,?k) (split ?x axis=1 sizes=?m,?k)#1 axis=1) "
    "=> ?x",
    "two  (split (concat ?x ?y axis=0) axis=0 sizes=x.0,y.0) ; (split (concat ?x ?y axis=0) axis=0 "
    "sizes=x.0,y.0)#1 => ?x ; ?y",
    "conv-merge  (concat (conv ?x ?w strides=?s pads=?p dilations=?d group=1) (conv ?x ?v "
    "strides=?s pads=?p dilations=?d group=1) axis=1) => (conv ?x (concat ?w ?v axis=0) strides=?s "
    "pads=?p dilations=?d group=1)",
    "relu  (relu (relu ?x)) => (relu ?x)  for x:nnnn  proved:bounded[x:2,2,2,2]",
    "relu  (relu (relu ?x)) => (relu ?x)  for x:nnnn  proved:solver",
    "clip  (clip (clip ?x min=?l max=?h) min=?l max=?h) => (clip ?x min=?l max=?h)  "
    "unknown[timeout]",
    "full  (add ?x (full shape=x.0,2*x.1-1)) => ?x  refuted[x=[1\\]; \\\\ and\\na line]",
    "six  (hard-sigmoid ?x alpha=0.16666667 beta=-1e-30) => (hard-sigmoid ?x alpha=0.16666667 "
    "beta=-1e-30)",
    "reshape  (reshape (reshape ?x shape=floor(x.0*x.1/2),2) shape=x.0,x.1) => ?x  for x:nn",
    "one  (reshape ?x shape=?e+0) => (reshape ?x shape=?e+0)",
    "both  (matmul (matmul ?a ?b) ?c) <=> (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn  "
    "proved:all-sizes",
    "both~  (maxpool (relu ?x) kernel=?k pads=?p,?q,0,0) <=> (relu (maxpool ?x kernel=?k "
    "pads=?p,?q,0,0))  where x.0=x.1  origin:hand",
    "judged  (softmax ?x) => (div (exp ?x) (reduce-sum (exp ?x) axes=-1))  for x:nn  "
    "proved:all-sizes  numerics:unsafe[float32 x=[1\\]: 1 before and nan after]  origin:hand",
    "halves  (add ?x ?y) <=> (add ?x (add ?y (full)))  for x:n y:n  proved:all-sizes  "
    "numerics:rounding-f32[float16]/exact",
    "all  (reduce-sum ?x axes=-1 keepdims=0) => (reduce-sum ?x axes=-1 keepdims=0)",
};

TEST(RuleText, RoundTrips) {
  for (const std::string& line : kRules) {
    auto r = parse_rule(line);
    if (!r) {
      // The list names an operator or attribute that the registry spells differently.
      ADD_FAILURE() << line << "\n" << r.error().message;
      continue;
    }
    EXPECT_EQ(to_string(*r), line);
    EXPECT_TRUE(validate(*r));
  }
}

TEST(RuleText, ReadsEveryPart) {
  Rule r = rule(
      "n1  (matmul ?x ?w) => (matmul ?x ?w)  for x:nn w:n1 | w:nn x:1n  refuted[x = 3]  "
      "origin:hand");
  EXPECT_EQ(r.name, "n1");
  EXPECT_EQ(r.variables, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(r.domain, (std::vector<Signature>{{"nn", "n1"}, {"1n", "nn"}}));
  EXPECT_EQ(r.verdict.kind, VerdictKind::Refuted);
  EXPECT_EQ(r.verdict.detail, "x = 3");
  EXPECT_EQ(r.origin, "hand");
}

TEST(RuleText, KeepsConditions) {
  const std::string line =
      "r  (add (conv ?x ?v strides=2,2) (conv ?x ?w strides=2,2)) => (conv ?x (add ?v ?w) "
      "strides=2,2)  where v.2=w.2,v.3=3  for "
      "x:nnnn v:nnnn w:nnnn";
  auto r = parse_rule(line);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(to_string(*r), line);
  EXPECT_EQ(to_string(renamed(*r)).find("v.2"), std::string::npos);
  auto without = *r;
  without.where.clear();
  EXPECT_NE(canonical_key(*r), canonical_key(without));
  auto instance = instantiate(*r, r->domain[0]);
  auto free = instantiate(without, r->domain[0]);
  ASSERT_TRUE(instance && free);
  for (const auto* i : {&*instance, &*free}) {
    SymbolPool& pool = i->lhs.pool();
    Poly v2 = Poly::symbol(pool.named("v.2")), w2 = Poly::symbol(pool.named("w.2")),
         v3 = Poly::symbol(pool.named("v.3"));
    bool conditional = i == &*instance;
    EXPECT_EQ(plainly_implies(i->requires_lhs, v2 == w2), conditional);
    EXPECT_EQ(plainly_implies(i->requires_lhs, v3 == Poly(3)), conditional);
    // a size that is said to be a number is that number
    EXPECT_EQ(i->lhs.shape(i->lhs.inputs()[1])[3].is_constant(), conditional);
  }
  EXPECT_FALSE(parse_rule("r  (relu ?x) => (relu ?x)  where y.0=x.0"));
  EXPECT_FALSE(parse_rule("r  (relu ?x) => (relu ?x)  where x.0"));
}

TEST(RuleText, KeepsInequalities) {
  const std::string line =
      "r  (slice (concat ?x ?y axis=1) begins=0,?b sizes=x.0,?n) => "
      "(slice ?x begins=0,?b sizes=x.0,?n)  where ?b+?n<=x.1,?b<y.1  for x:nn y:nn";
  auto r = parse_rule(line);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(to_string(*r), line);
  auto turned = parse_rule(
      "r  (slice (concat ?x ?y axis=1) begins=0,?b sizes=x.0,?n) => "
      "(slice ?x begins=0,?b sizes=x.0,?n)  where x.1>=?b+?n,y.1>?b  for x:nn y:nn");
  ASSERT_TRUE(turned) << turned.error().message;
  EXPECT_EQ(to_string(*turned), line);
  auto other = *r;
  other.where[0].relation = Relation::Equal;
  EXPECT_NE(canonical_key(*r), canonical_key(other));
  auto instance = instantiate(*r, r->domain[0]);
  ASSERT_TRUE(instance);
  SymbolPool& pool = instance->lhs.pool();
  Poly b = Poly::symbol(pool.named("b")), n = Poly::symbol(pool.named("n")),
       x1 = Poly::symbol(pool.named("x.1"));
  EXPECT_TRUE(plainly_implies(instance->requires_lhs, b + n <= x1));
}

TEST(RuleText, KeepsExpressionsAndConditionsOfReals) {
  const std::string line =
      "r  (layernorm (mul ?x (full value=?c)) ?s epsilon=?e) => (layernorm ?x ?s "
      "epsilon=?e/(?c*?c))  "
      "where 0<?c,?e<=max(?c,1)  for x:nn s:n";
  auto r = parse_rule(line);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(to_string(*r), line);
  EXPECT_FALSE(is_reversible(*r));
  auto again = parse_rule(
      "q  (layernorm (mul ?y (full value=?d)) ?t epsilon=?f) => (layernorm ?y ?t "
      "epsilon=?f/(?d*?d))  "
      "where 0<?d,?f<=max(?d,1)  for y:nn t:n");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(canonical_key(*r), canonical_key(*again));
  again->real_where[0].relation = Relation::AtMost;
  EXPECT_NE(canonical_key(*r), canonical_key(*again));
  auto instance = instantiate(*r, r->domain[0]);
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->real_conditions.size(), 2u);
  // A value is that of the expression at the values of its names.
  SymbolPool& pool = instance->lhs.pool();
  auto at = [&](const std::string& name) {
    return evaluate(Attrs<Poly>{{}, {{0, pool.named(name)}}}, {}).reals[0].value;
  };
  EXPECT_EQ(at("=?e/(?c*?c)"), at("e") / (at("c") * at("c")));
  auto sixth = parse_rule(
      "s  (hard-sigmoid ?x alpha=1/6 beta=0.5) => (hard-sigmoid ?x alpha=1/6 "
      "beta=0.5)");
  ASSERT_TRUE(sixth) << sixth.error().message;
  EXPECT_TRUE(to_string(*sixth).find("alpha=1/6") != std::string::npos);
  EXPECT_FALSE(parse_rule("r  (clip ?x min=?a max=?b) => (clip ?x min=?a-?c max=?b)"));
  EXPECT_FALSE(parse_rule("r  (clip ?x min=?a max=?a+1) => (clip ?x min=?a max=?a+1)"));
  EXPECT_FALSE(parse_rule("r  (clip ?x min=?a max=?b) => ?x  where ?a*?b<=1"));
  EXPECT_FALSE(parse_rule("r  (clip ?x min=?a max=?b) => ?x  where ?a<=?z"));
  EXPECT_FALSE(parse_rule("r  (clip ?x min=?a) => (clip ?x min=?a/)"));
}

TEST(RuleText, EqualExpressionsAreOneNode) {
  Rule r = rule("d  (add (relu ?x) (relu ?x)) => (relu (add ?x ?x))");
  EXPECT_EQ(r.lhs.nodes.size(), 2u);
  EXPECT_EQ(r.lhs.nodes[1].inputs[0], r.lhs.nodes[1].inputs[1]);
}

TEST(RuleText, RefusesBadLines) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "column 1: "},
      {"a", "column 2: "},
      {"a  (matmul ?x ?y)", "expected '=>'"},
      {"a  (matmull ?x ?y) => ?x", "column 4: unknown operator 'matmull'"},
      {"a  (matmul ?x) => ?x", "column 4: matmul"},
      {"a  (relu ?x ?y) => ?x", "column 4: relu"},
      {"a  (relu ?x) => ?y", "column 17: the variable ?y is not bound"},
      {"a  (relu ?x) => (relu ?x", "expected ')'"},
      {"a  (relu ?x)) => ?x", "expected '=>'"},
      {"a  (relu ?x size=3) => ?x", "column 13: relu has no attribute 'size'"},
      {"a  (softmax ?x axis=1 axis=1) => ?x", "given twice"},
      {"a  (softmax ?x axis=) => ?x", "expected a number"},
      {"a  (softmax ?x axis=1,2) => ?x", "one number"},
      {"a  (gemm ?x ?y transA=?k) => ?x", "must be a number"},
      {"a  (softmax ?x axis=99999999999999999999) => ?x", "too large"},
      {"a  (conv ?x ?w strides=?s) => (conv ?x ?w pads=?p)", "?p is not bound"},
      {"a  (conv ?x ?w strides=?x) => ?x", "two kinds"},
      {"a  (clip ?x min=?l) => (clip ?x min=?h)", "?h is not bound"},
      {"a  (clip ?x min=1e999) => ?x", "out of range"},
      {"a  (clip ?x min=nan) => ?x", "no real number"},
      {"a  (clip ?x min=inf) => ?x", "no real number"},
      {"a  (clip ?x max=-inf) => ?x", "no real number"},
      {"a  (mul ?x (full value=inf)) => ?x", "no real number"},
      {"a  (mul ?x (full value=1/0)) => ?x", "no real number"},
      {"a  (relu ?x) => (mul ?x (full value=1/(1-1)))", "no real number"},
      {"a  (reshape ?x shape=z.0) => ?x", "'z' is no tensor"},
      {"a  (relu ?x) => (reshape ?x shape=z.0)", "?z is not bound"},
      {"a  (reshape ?x shape=x.99) => ?x", "expected a number, ?name or name.axis"},
      {"a  (reshape ?x shape=floor(x.0/0)) => ?x", "must be positive"},
      {"a  (reshape ?x shape=9223372036854775807*2*x.0) => ?x", "too large"},
      {"a  (split ?x axis=0 sizes=1,2)#2 => ?x", "has no output 2"},
      {"a  ?x => ?x", "bare variable"},
      {"a  (relu ?x) ; (neg ?x) => ?x", "outputs"},
      {"a  (relu ?x) => ?x  for", "name:word"},
      {"a  (relu ?x) => ?x  for x:nz", "name:word"},
      {"a  (relu ?x) => ?x  for y:nn", "name:word"},
      {"a  (add ?x ?y) => ?x  for x:nn", "name:word"},
      {"a  (relu ?x) => ?x  for x:nnnnnnnnn", "name:word"},
      {"a  (relu ?x) => ?x  proved", "'proved' is no verdict"},
      {"a  (relu ?x) => ?x  proved:always", "'proved:always' is no verdict"},
      {"a  (relu ?x) => ?x  proved:all-sizes proved:all-sizes", "end of the line"},
      {"a  (relu ?x) => ?x  unknown[never closed", "expected ']'"},
      {"a  (relu ?x) => ?x  tested  numerics:fine", "'fine' is no word of numerics"},
      {"a  (relu ?x) => ?x  tested  numerics:exact/exact", "end of the line"},
      {"a  (neg ?x) <=> (sub (full) ?x)  tested  numerics:exact", "from right to left"},
      {"a  (relu ?x) => ?x  numerics:unsafe[never closed", "expected ']'"},
      {"a  (relu ?x) => ?x  origin:", "where the rule comes from"},
  };
  for (const auto& [line, message] : bad) {
    auto r = parse_rule(line);
    ASSERT_FALSE(r) << line;
    EXPECT_NE(r.error().message.find(message), std::string::npos) << line << "\n"
                                                                  << r.error().message;
    EXPECT_EQ(r.error().message.rfind("column ", 0), 0u) << r.error().message;
    EXPECT_EQ(r.error().message.find('\n'), std::string::npos);
  }
}

TEST(RuleText, RefusesDeepNesting) {
  auto nested = [](int depth) {
    std::string s = "deep  ";
    for (int k = 0; k < depth; ++k) s += k % 2 ? "(neg " : "(relu ";
    return s + "?x" + std::string(static_cast<size_t>(depth), ')') + " => ?x";
  };
  EXPECT_TRUE(parse_rule(nested(150)));
  ASSERT_FALSE(parse_rule(nested(100000)));
  EXPECT_NE(parse_rule(nested(100000)).error().message.find("too deep"), std::string::npos);
  std::string floors = "f  (reshape ?x shape=";
  for (int k = 0; k < 100000; ++k) floors += "floor(";
  EXPECT_FALSE(parse_rule(floors));
}

TEST(RuleText, SurvivesGarbage) {
  Rng rng(11);
  const std::string alphabet = "()?#=,;:.-+*/[]|\\ \t01nxsaw\"";
  int accepted = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string line = kRules[rng.below(kRules.size())];
    for (uint64_t edits = rng.between(1, 4); edits-- > 0;) {
      size_t at = rng.below(line.size());
      char c = alphabet[rng.below(alphabet.size())];
      switch (rng.below(4)) {
        case 0:
          line[at] = c;
          break;
        case 1:
          line.insert(at, 1, c);
          break;
        case 2:
          line.erase(at, rng.below(6) + 1);
          break;
        default:
          line.insert(at, line.substr(rng.below(line.size()), rng.below(20)));
          break;
      }
      if (line.empty()) line = "x";
    }
    auto r = parse_rule(line);
    if (!r) {
      ASSERT_FALSE(r.error().message.empty());
      continue;
    }
    ++accepted;
    auto again = parse_rule(to_string(*r));
    ASSERT_TRUE(again) << line << "\n" << to_string(*r) << "\n" << again.error().message;
    ASSERT_EQ(to_string(*again), to_string(*r));
    ASSERT_TRUE(validate(*r));
  }
  EXPECT_GT(accepted, 500);
}

TEST(RuleValidate, RefusesWhatTextCannotSay) {
  Rule good = rule("a  (add (relu ?x) ?y) => (add ?y (relu ?x))");
  Rule unreachable = good;
  PatternNode extra = good.rhs.nodes[0];
  extra.op = find_op("neg");
  unreachable.rhs.nodes.push_back(extra);
  EXPECT_FALSE(validate(unreachable));
  Rule forward = good;
  std::swap(forward.lhs.nodes[0], forward.lhs.nodes[1]);
  EXPECT_FALSE(validate(forward));
  Rule unused = good;
  unused.variables.push_back("z");
  EXPECT_FALSE(validate(unused));
  Rule short_signature = good;
  short_signature.domain = {{"nn"}};
  EXPECT_FALSE(validate(short_signature));
  Rule foreign = rule("a  (reshape ?x shape=x.0) => (reshape ?x shape=x.0)");
  foreign.rhs.nodes[0].attrs.ints[0][0] = Poly::symbol(foreign.pool->fresh("q", SymbolKind::Size));
  EXPECT_FALSE(validate(foreign));
}

TEST(RuleRenamed, UsesLettersInOrderOfUse) {
  Rule r = rule(
      "k  (add (matmul ?p ?q) (reshape ?z shape=p.0,?n)) => (add (reshape ?z shape=p.0,?n) (matmul "
      "?p ?q))  for p:nn q:nn z:n");
  EXPECT_EQ(to_string(renamed(r)),
            "k  (add (matmul ?a ?b) (reshape ?c shape=a.0,?n)) => (add (reshape ?c shape=a.0,?n) "
            "(matmul ?a ?b))  for a:nn b:nn c:n");
  Rule clash = rule("k  (conv ?p ?q strides=?a) => (conv ?p ?q strides=?a)");
  EXPECT_EQ(to_string(renamed(clash)), "k  (conv ?b ?c strides=?a) => (conv ?b ?c strides=?a)");
  for (const std::string& line : kRules) {
    Rule once = renamed(rule(line));
    EXPECT_TRUE(validate(once));
    EXPECT_EQ(to_string(renamed(once)), to_string(once));
    EXPECT_EQ(canonical_key(once), canonical_key(rule(line)));
  }
}

TEST(RuleKey, IgnoresNamesCommutationAndOutputOrder) {
  auto key = [](const std::string& text) { return canonical_key(rule("r  " + text)); };
  EXPECT_EQ(key("(add ?a (mul ?b ?c)) => (add (mul ?c ?b) ?a)"),
            key("(add (mul ?y ?z) ?x) => (add ?x (mul ?y ?z))"));
  EXPECT_EQ(key("(relu ?a) ; (neg ?b) => (exp ?a) ; (tanh ?b)"),
            key("(neg ?p) ; (relu ?q) => (tanh ?p) ; (exp ?q)"));
  EXPECT_EQ(key("(conv ?a ?b strides=?s pads=?t) => (conv ?a ?b strides=?s pads=?t)"),
            key("(conv ?x ?w pads=?q strides=?p) => (conv ?x ?w pads=?q strides=?p)"));
  EXPECT_EQ(key("(softmax ?x axis=-1) => ?x"), key("(softmax ?x) => ?x"));
  EXPECT_NE(key("(relu ?a) => (neg ?a)"), key("(neg ?a) => (relu ?a)"));
  EXPECT_NE(key("(sub ?a ?b) => (neg (sub ?b ?a))"), key("(sub ?a ?b) => (neg (sub ?a ?b))"));
  EXPECT_NE(key("(conv ?a ?b strides=?s pads=?t) => ?a"), key("(conv ?a ?b strides=?s) => ?a"));
  EXPECT_NE(key("(add ?a ?b) => ?a"), key("(add ?a ?a) => ?a"));
  EXPECT_NE(key("(split ?x axis=0 sizes=1,2) => ?x"), key("(split ?x axis=0 sizes=1,2)#1 => ?x"));
  EXPECT_NE(key("(relu ?a) ; (neg ?b) => (exp ?a) ; (tanh ?b)"),
            key("(relu ?a) ; (neg ?b) => (tanh ?b) ; (exp ?a)"));
}

TEST(RuleKey, IgnoresTheGroupingOfChains) {
  auto key = [](const std::string& text) { return canonical_key(rule("r  " + text)); };
  EXPECT_EQ(key("(relu (add (add ?a ?b) (neg ?c))) => (add ?a (mul ?b (mul ?c ?a)))"),
            key("(relu (add ?x (add (neg ?z) ?y))) => (add (mul (mul ?x ?y) ?z) ?x)"));
  EXPECT_NE(key("(relu (add (add ?a ?b) (neg ?c))) => (add ?a (mul ?b (mul ?c ?a)))"),
            key("(relu (add ?x (add (neg ?z) ?y))) => (add (mul (mul ?x ?y) ?y) ?z)"));
  EXPECT_NE(key("(add (mul ?a ?b) ?c) => ?c"), key("(mul (add ?a ?b) ?c) => ?c"));
  EXPECT_NE(key("(matmul (matmul ?a ?b) ?c) => ?a"), key("(matmul ?a (matmul ?b ?c)) => ?a"));
  EXPECT_NE(key("(add (add ?a ?a) ?b) => ?b"), key("(add (add ?a ?a) ?b) => ?a"));
  EXPECT_EQ(key("(add ?c (add ?a ?b)) ; (add ?a ?b) => ?a ; ?b"),
            key("(add ?a (add ?c ?b)) ; (add ?a ?b) => ?a ; ?b"));
}

TEST(RuleKey, OfAReversibleRuleDoesNotSeeTheDirection) {
  auto key = [](const std::string& text) { return canonical_key(rule("r  " + text)); };
  EXPECT_EQ(key("(neg (relu ?a)) <=> (relu (exp ?a))"), key("(relu (exp ?x)) <=> (neg (relu ?x))"));
  EXPECT_NE(key("(neg (relu ?a)) <=> (relu (exp ?a))"), key("(neg (relu ?a)) => (relu (exp ?a))"));
  for (const std::string& line : kRules) {
    Rule r = rule(line);
    r.both = is_reversible(r);
    if (r.both) {
      EXPECT_EQ(canonical_key(r), canonical_key(reversed(r))) << line;
    }
  }
}

TEST(RuleKey, RulesOfOneKeyShareAnOrderOfVariables) {
  auto variables = [](const std::string& text) { return canonical_variables(rule("r  " + text)); };
  auto a = variables("(sub (add ?a (neg ?b)) ?c) => (add ?c (sub ?a ?b))");
  auto b = variables("(sub (add (neg ?x) ?a) ?b) => (add (sub ?a ?x) ?b)");
  std::map<std::string, std::string> same = {{"a", "a"}, {"b", "x"}, {"c", "b"}};
  ASSERT_EQ(a.size(), 3u);
  ASSERT_EQ(b.size(), 3u);
  for (size_t k = 0; k < 3; ++k) EXPECT_EQ(same[a[k]], b[k]);
}

TEST(RuleReversed, SwapsTheSidesAndReordersTheVariables) {
  Rule r = rule(
      "k  (matmul (add ?a ?b) ?c) => (add (matmul ?b ?c) (matmul ?a ?c))  where a.0=b.0  for a:nn "
      "b:1n c:n1  proved:all-sizes  origin:hand");
  EXPECT_EQ(to_string(reversed(r)),
            "k~  (add (matmul ?b ?c) (matmul ?a ?c)) => (matmul (add ?a ?b) ?c)  where a.0=b.0  "
            "for b:1n c:n1 a:nn  proved:all-sizes  origin:hand");
  EXPECT_EQ(to_string(reversed(reversed(r))), to_string(r));
  EXPECT_EQ(directions(r).size(), 1u);
  r.both = true;
  ASSERT_EQ(directions(r).size(), 2u);
  EXPECT_FALSE(directions(r)[0].both || directions(r)[1].both);
  EXPECT_EQ(directions(r)[0].name, "k");
  EXPECT_EQ(directions(r)[1].name, "k~");
}

TEST(RuleReversed, EachDirectionHasItsNumerics) {
  Rule r = rule(
      "k  (neg ?a) <=> (mul ?a (full value=-1))  for a:n  proved:all-sizes  "
      "numerics:exact/unsafe[witness]");
  auto directed = directions(r);
  ASSERT_EQ(directed.size(), 2u);
  EXPECT_EQ(directed[0].numerics.kind, Numerics::Exact);
  EXPECT_EQ(directed[1].numerics.kind, Numerics::Unsafe);
  EXPECT_EQ(directed[1].numerics.witness, "witness");
  EXPECT_NE(to_string(directed[1]).find("numerics:unsafe[witness]"), std::string::npos);
  EXPECT_EQ(to_string(reversed(reversed(r))), to_string(r));
}

TEST(RuleReversed, EachSideMustBindTheVariables) {
  auto reversible = [](const std::string& text) { return is_reversible(rule("r  " + text)); };
  EXPECT_TRUE(reversible("(relu (neg ?a)) => (neg (relu ?a))"));
  EXPECT_TRUE(reversible("(reshape ?a shape=?m,a.0) => (relu (reshape ?a shape=?m,a.0*?m))"));
  EXPECT_FALSE(reversible("(relu (relu ?a)) => ?a"));                   // a bare variable
  EXPECT_FALSE(reversible("(add (relu ?a) ?b) => (relu ?a)"));          // ?b
  EXPECT_FALSE(reversible("(conv ?a ?b strides=?s) => (conv ?a ?b)"));  // ?s
  EXPECT_FALSE(reversible("(clip ?a min=?l) => (relu ?a)"));            // ?l
  EXPECT_FALSE(reversible("(reshape ?a shape=?m,2) => (reshape ?a shape=2*?m,1)"));  // ?m alone
  auto refused = parse_rule("r  (add (relu ?a) ?b) <=> (relu ?a)");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("from right to left: the variable ?b"), std::string::npos)
      << refused.error().message;
  auto expression = parse_rule("r  (reshape ?a shape=?m,2) <=> (reshape ?a shape=2*?m,1)");
  ASSERT_FALSE(expression);
  EXPECT_NE(expression.error().message.find("?m stands alone nowhere on the right side"),
            std::string::npos);
}

TEST(RuleTrivial, SeesCommutationOnly) {
  auto trivial = [](const std::string& text) { return is_trivial(rule("r  " + text)); };
  EXPECT_TRUE(trivial("(add ?a (mul ?b ?c)) => (add (mul ?c ?b) ?a)"));
  EXPECT_TRUE(trivial("(softmax ?a axis=-1) => (softmax ?a)"));
  EXPECT_FALSE(trivial("(add ?a (add ?b ?c)) => (add (add ?a ?b) ?c)"));
  EXPECT_FALSE(trivial("(sub ?a ?b) => (sub ?b ?a)"));
}

/// A random sum of products and one of its rewritings by commutation.
std::string random_tree(Rng& shape, Rng& flips, const std::vector<std::string>& names, int depth) {
  if (depth == 0 || shape.below(4) == 0) return "?" + names[shape.below(names.size())];
  bool commutes = shape.below(3) != 0;
  std::string op = commutes ? (shape.below(2) ? "add" : "mul") : "sub";
  std::string x = random_tree(shape, flips, names, depth - 1);
  std::string y = random_tree(shape, flips, names, depth - 1);
  if (commutes && flips.below(2)) std::swap(x, y);
  return "(" + op + " " + x + " " + y + ")";
}

TEST(RuleKey, IsInvariantOnRandomRules) {
  std::map<std::string, std::string> text_of_key;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::string key;
    for (uint64_t variant = 0; variant < 4; ++variant) {
      Rng shape(seed), flips(seed * 7 + variant);
      std::vector<std::string> names = {"a", "b", "c"};
      if (variant) names = {"z" + std::to_string(variant), "q", "a"};
      std::string l = random_tree(shape, flips, names, 3), r = random_tree(shape, flips, names, 3);
      auto parsed = parse_rule("r  " + l + " => " + r);
      if (!parsed) break;  // a bare or an unbound variable
      if (variant == 0) key = canonical_key(*parsed);
      ASSERT_EQ(canonical_key(*parsed), key) << l << " => " << r;
    }
  }
}

}  // namespace
}  // namespace regraft
