#include "verify/prove/prover.h"

#include <gtest/gtest.h>

#include "ir/rule/text.h"
#include "verify/normal/simplify.h"
#include "verify/refute/bounded.h"
#include "verify/refute/refute.h"
#include "verify/signatures.h"

namespace regraft::verify {
namespace {

RuleInstance instance_of(const std::string& text, const Signature& signature) {
  auto rule = parse_rule(text);
  EXPECT_TRUE(rule) << (rule ? "" : rule.error().message);
  auto instance = instantiate(*rule, signature);
  EXPECT_TRUE(instance) << (instance ? "" : instance.error().message);
  return *std::move(instance);
}

TEST(Prover, ProvesForAllSizesAndNotWhatIsFalse) {
  SymbolicProver prover;
  auto good =
      instance_of("r (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))", {"nn", "nn", "nn"});
  EXPECT_EQ(prover.prove(good).kind, VerdictKind::ProvedSolver);
  auto bad = instance_of("r (matmul ?a ?b) => (matmul ?b ?a)", {"nn", "nn"});
  EXPECT_EQ(prover.prove(bad).kind, VerdictKind::Unknown);
}

TEST(Prover, UnsatisfiableLeftSideIsNoProof) {
  auto rule = parse_rule("r  (add (concat ?x ?y axis=0) ?x) => (sub (concat ?x ?y axis=0) ?x)");
  ASSERT_TRUE(rule);
  auto empty = instantiate(*rule, {"n", "n"});
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("no well-formed shapes"), std::string::npos);
}

// 0 times 1/0 is not 0: a factor that is 0 does not excuse a quotient.
TEST(Prover, AFactorZeroDoesNotExcuseAQuotient) {
  auto masked = instance_of(
      "r (mul (identity-matrix size=?n) ?x) => (mul (identity-matrix size=?n) (mul ?x (div "
      "(identity-matrix size=?n) (identity-matrix size=?n))))",
      {"nn"});
  EXPECT_EQ(SymbolicProver().prove(masked).kind, VerdictKind::Unknown);
  auto nothing =
      instance_of("r (mul ?x (full value=0)) => (mul (full value=0) (div ?x ?x))", {"nn"});
  EXPECT_EQ(SymbolicProver().prove(nothing).kind, VerdictKind::Unknown);
  auto chosen = instance_of("r (concat (div ?a ?b) ?c axis=0) => (concat (div ?a ?b) ?c axis=0)",
                            {"nn", "nn", "nn"});
  EXPECT_EQ(SymbolicProver().prove(chosen).kind, VerdictKind::ProvedSolver);
}

TEST(Prover, RightSideMustBeWellFormedWhereverTheLeftIs) {
  auto partial = instance_of(
      "r (concat ?a ?b axis=0) => (concat (split (concat ?a ?b axis=0) axis=0 "
      "sizes=a.0,b.0)#0 (split (concat ?a ?b axis=0) axis=0 sizes=a.0,b.0)#1 axis=0)",
      {"nn", "nn"});
  EXPECT_EQ(SymbolicProver().prove(partial).kind, VerdictKind::ProvedSolver);
  auto demanding =
      instance_of("r (relu ?x) => (slice (pad (relu ?x) pads=1,0) begins=1+0 sizes=2+0)", {"n"});
  Verdict v = SymbolicProver().prove(demanding);
  EXPECT_EQ(v.kind, VerdictKind::Unknown);
  EXPECT_NE(v.detail.find("not implied"), std::string::npos) << v.detail;
}

TEST(Prover, SmallBudgetIsUnknownNeverWrong) {
  Limits limits;
  limits.steps = 1;
  auto good = instance_of("r (matmul ?a (add ?b ?c)) => (add (matmul ?a ?b) (matmul ?a ?c))",
                          {"nn", "nn", "nn"});
  EXPECT_EQ(SymbolicProver(limits).prove(good).kind, VerdictKind::Unknown);
}

/// Of 16 factors that look alike not every order is tried.
TEST(Prover, ManyFactorsTakeNoTime) {
  auto powers = instance_of(
      "r (matmul (power ?x exponent=15) ?x) => (matmul (power ?x exponent=14) (mul ?x ?x))",
      {"nn"});
  EXPECT_EQ(SymbolicProver().prove(powers).kind, VerdictKind::Unknown);
}

TEST(Prover, StoppedProofIsUnknown) {
  Stop stop;
  stop.request();
  auto good = instance_of("r (relu (relu ?x)) => (relu ?x)", {"nn"});
  EXPECT_EQ(SymbolicProver({}, &stop).prove(good).kind, VerdictKind::Unknown);
}

/// The guard that makes a quotient 0 must not vanish with it.
TEST(Simplifier, QuotientsKeepTheirReason) {
  SymbolPool pool;
  Budget budget{Limits{}};
  ArithmeticSolver solver(budget);
  Poly n = Poly::symbol(pool.named("n"));
  Symbolic algebra(pool);
  Poly d(5);
  auto one = [&] { return algebra.constant(1); };
  Sum counted = algebra.sum(n, [&](const Poly& k) {
    return algebra.select(pool.floordiv(k, d) == Poly(0), one, [] { return Sum{}; });
  });
  Sum few = normal_form(counted, Context(solver, budget, {Poly(9) <= n}));
  ASSERT_EQ(few.products.size(), 1u);
  EXPECT_TRUE(few.products[0].bound.empty() && few.products[0].guard.empty() &&
              few.products[0].atoms.empty())
      << to_string(few);
  EXPECT_EQ(few.products[0].coefficient, (Rational{5, 1})) << to_string(few);
}

/// An identity kernel multiplies its neighbours by 0, and 0 times a maximum of nothing is
/// undefined.
TEST(SymbolicProver, MaximaThatAFactorZeroTakesAwayMustBeOfSomething) {
  auto kind = [](const std::string& window) {
    auto rule = instance_of(
        "r (maxpool (conv ?a (identity-kernel channels=a.1 kernel=3,3 centre=1,1) pads=1,1,1,1) " +
            window + ") => (conv (maxpool ?a " + window +
            ") (identity-kernel channels=a.1 kernel=3,3 centre=1,1) pads=1,1,1,1)",
        {"nnnn"});
    return SymbolicProver().prove(rule).kind;
  };
  EXPECT_EQ(kind("kernel=2,2"), VerdictKind::ProvedSolver);
  EXPECT_EQ(kind("kernel=2,2 pads=2,2,2,2"), VerdictKind::Unknown);
}

TEST(TermsProver, ProvesAtShapesAndNamesThem) {
  auto good = instance_of("r (matmul ?a (add ?b ?c)) => (add (matmul ?a ?b) (matmul ?a ?c))",
                          {"nn", "nn", "nn"});
  Verdict v = TermsProver(3).prove(good);
  EXPECT_EQ(v.kind, VerdictKind::ProvedBounded);
  EXPECT_NE(v.detail.find("64 shapes: all sizes up to 4"), std::string::npos) << v.detail;
  auto bad = instance_of("r (matmul ?a ?b) => (matmul ?b ?a)", {"nn", "nn"});
  EXPECT_EQ(TermsProver(3).prove(bad).kind, VerdictKind::Unknown);
}

TEST(Numbers, RefuteWithSizesAndPosition) {
  auto bad = instance_of("r (relu (add ?a ?b)) => (add (relu ?a) (relu ?b))", {"nn", "nn"});
  auto sizes = sample_sizes(bad, 7, 6);
  ASSERT_EQ(sizes.size(), 6u);
  NumericCheck c = check_numbers(bad, sizes, 7);
  ASSERT_TRUE(c.counterexample);
  EXPECT_EQ(c.counterexample->inputs.at(0).shape, (std::vector<int64_t>{1, 1}));
  std::string text = describe(bad, *c.counterexample);
  EXPECT_NE(text.find("output 0 differs at [0,0]: "), std::string::npos) << text;
}

/// Each of these differs at the shapes and inputs named, which are the smallest.
TEST(Numbers, CounterexamplesAreSmallAndCanBeReplayed) {
  struct Case {
    const char* rule;
    Signature signature;
    const char* text;
  };
  const Case cases[] = {
      {"r (matmul ?a ?b) => (matmul ?b ?a)",
       {"nn", "nn"},
       "a=[1,1] b=[1,2]: the right side is ill formed"},
      {"r (relu ?x) => ?x", {"nn"}, "x=[1,1]: output 0 differs at [0,0]: 0 on the left, -"},
      {"r (add ?x ?y) => (add ?x ?x)", {"n", "n"}, "; x=(0); y=(1)"},
      {"r (relu ?x) => (slice ?x begins=0,1 sizes=1,1)", {"nn"}, "the right side is ill formed"},
      {"r (conv ?x ?w strides=?s) => (conv ?x ?w)", {"nnnn", "nnnn"}, "s.0=1 s.1=2"}};
  for (const Case& k : cases) {
    auto bad = instance_of(k.rule, k.signature);
    NumericCheck c = check_numbers(bad, sample_sizes(bad, 7, 8), 7);
    ASSERT_TRUE(c.counterexample) << k.rule;
    EXPECT_EQ(c.counterexample->signature, k.signature);
    std::string text = describe(bad, *c.counterexample);
    EXPECT_NE(text.find(k.text), std::string::npos) << text;
    auto again = replay(*parse_rule(k.rule), *c.counterexample);
    ASSERT_TRUE(again) << k.rule;
    ASSERT_TRUE(again->difference) << k.rule;
    EXPECT_EQ(again->difference->position, c.counterexample->difference.position);
    EXPECT_EQ(again->difference->left, c.counterexample->difference.left);
    Counterexample other = *c.counterexample;
    other.inputs[0].shape.push_back(1);
    EXPECT_FALSE(replay(*parse_rule(k.rule), other)) << k.rule;
    for (const auto& [name, size] : c.counterexample->sizes) {  // as an altered report may have it
      for (int64_t wrong : {int64_t{-1}, int64_t{1} << 40, INT64_MAX, INT64_MIN}) {
        other = *c.counterexample;
        other.sizes[name] = wrong;
        static_cast<void>(replay(*parse_rule(k.rule), other));  // refused, or evaluated in bounds
      }
      other.sizes.erase(name);
      EXPECT_FALSE(replay(*parse_rule(k.rule), other)) << k.rule << name;
    }
  }
}

TEST(Numbers, KnowWhatFunctionsAre) {
  auto clipped = instance_of("r (clip (relu ?x) min=-1 max=1) => (clip ?x min=-1 max=1)", {"nn"});
  EXPECT_TRUE(check_numbers(clipped, sample_sizes(clipped, 7, 6), 7).counterexample);
  auto same = instance_of("r (relu (clip ?x min=0 max=6)) => (clip ?x min=0 max=6)", {"nn"});
  NumericCheck c = check_numbers(same, sample_sizes(same, 7, 6), 7);
  EXPECT_FALSE(c.counterexample);
}

TEST(Sampling, SatisfiesTheLeftSide) {
  auto i = instance_of(
      "r (conv ?x ?w strides=?s pads=?p group=?g) => (conv ?x ?w strides=?s pads=?p group=?g)",
      {"nnnn", "nnnn"});
  auto sizes = sample_sizes(i, 5, 8);
  ASSERT_GE(sizes.size(), 4u);
  for (const auto& v : sizes) {
    EXPECT_TRUE(evaluate(i.requires_lhs, v));
    EXPECT_GT(total_elements(i, v), 0);
  }
}

TEST(Signatures, CoverWhatModelsContain) {
  auto linear = parse_rule("r (add (matmul ?x ?w) ?b) => (add ?b (matmul ?x ?w))");
  ASSERT_TRUE(linear);
  auto has = [](const std::vector<Candidate>& all, const Signature& s) {
    return std::any_of(all.begin(), all.end(), [&](auto& c) { return c.signature == s; });
  };
  auto all = candidate_signatures(*linear, 60);
  EXPECT_TRUE(has(all, {"nn", "nn", "n"}));
  EXPECT_TRUE(has(all, {"nnn", "nn", "n"}));
  EXPECT_TRUE(has(all, {"nnnn", "nnnn", "nnnn"}));
  auto conv = parse_rule("r (mul (conv ?x ?w ?b) ?s) => (mul ?s (conv ?x ?w ?b))");
  ASSERT_TRUE(conv);
  EXPECT_TRUE(has(candidate_signatures(*conv, 60), {"nnnn", "nnnn", "n", "1n11"}));
}

TEST(Signatures, SaySizesThatCanBeNothingBut1) {
  auto concat = parse_rule("r (concat ?x ?y axis=1) => (concat ?x ?y axis=1)");
  ASSERT_TRUE(concat);
  size_t rows = 0;
  for (const Candidate& c : candidate_signatures(*concat, 60)) {
    if (c.signature[0].size() == 1) continue;
    EXPECT_EQ(c.signature[0].substr(0, 1), c.signature[1].substr(0, 1));
    rows += c.signature == Signature{"1n", "1n"};
  }
  EXPECT_EQ(rows, 1u);
}

}  // namespace
}  // namespace regraft::verify
