// Numeric checks of rules at shapes that they were not found at.
#include "gen/generalise/check.h"

#include <gtest/gtest.h>

#include "gen/generalise/generalise.h"
#include "gen/generalise/term_template.h"
#include "gen/minimise/pair.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

Evidence evidence(std::string_view text, const Signature& signature, int trials = 40) {
  auto rule = parse_rule(text);
  EXPECT_TRUE(rule) << (rule ? "" : rule.error().message);
  return check(*rule, signature, 3, trials);
}

/// One factorisation of a size does not give another.
TEST(Check, FactorsOfAProductMayBeOthers) {
  const char* rule =
      "r  (add (reshape ?a shape=?s1,?s2,?s3) (reshape ?b shape=?t1,?t2,?t3)) => "
      "(reshape (add ?a ?b) shape=?s1,?s2,?s3)  where a.0=b.0,a.1=b.1";
  EXPECT_EQ(evidence(rule, {"nnn", "nnn"}), Evidence::Holds);
  EXPECT_EQ(evidence(rule, {"nnnn", "nnnn"}), Evidence::Fails);
  const char* sums =
      "r  (add (concat ?a ?b axis=0) (concat ?c ?d axis=0)) => "
      "(concat (add ?a ?c) (add ?b ?d) axis=0)  where a.-1=c.-1";
  EXPECT_EQ(evidence(sums, {"n", "n", "n", "n"}, 8), Evidence::Holds);
  EXPECT_EQ(evidence(sums, {"nnnn", "nnnn", "nnnn", "nnnn"}, 2), Evidence::Fails);
}

TEST(Check, TrueRulesHold) {
  EXPECT_EQ(
      evidence("r  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))", {"nn", "nn", "nn"}),
      Evidence::Holds);
  EXPECT_EQ(evidence("r  (concat (conv ?a ?b strides=1,1 pads=?p dilations=?d group=1) "
                     "(conv ?a ?c strides=1,1 pads=?p dilations=?d group=1) axis=1) => "
                     "(conv ?a (concat ?b ?c axis=0) strides=1,1 pads=?p dilations=?d group=1)",
                     {"nnnn", "nnnn", "nnnn"}),
            Evidence::Holds);
}

TEST(Check, FalseRulesFail) {
  EXPECT_EQ(evidence("r  (matmul ?a ?b) => (matmul ?b ?a)", {"nn", "nn"}), Evidence::Fails);
  EXPECT_EQ(evidence("r  (matmul ?a ?b) => (add ?a ?b)", {"nn", "nn"}), Evidence::Fails);
  EXPECT_EQ(evidence("r  (relu (add ?a ?b)) => (add (relu ?a) (relu ?b))", {"nn", "nn"}),
            Evidence::Fails);
}

/// Functions and fractions of which residues know too little.
TEST(Check, DoublesDecideWhereResiduesAreGuessed) {
  for (const char* rule :
       {"r  (log (softmax ?a axis=-1)) => (log-softmax ?a axis=-1)",
        "r  (log (sigmoid ?a)) => (neg (softplus (neg ?a)))", "r  (cos (neg ?a)) => (cos ?a)",
        "r  (cast (cast ?a to=10) to=10) => (cast ?a to=10)",
        "r  (pow ?a (full value=0.5)) => (sqrt ?a)",
        "r  (mul ?a (hard-sigmoid ?a alpha=1/6 beta=0.5)) => (hard-swish ?a)"})
    EXPECT_EQ(evidence(rule, {"nn"}), Evidence::Holds) << rule;
  for (const char* rule :
       {"r  (log (softmax ?a axis=-1)) => (log-softmax ?a axis=0)",
        "r  (log (sigmoid ?a)) => (neg (softplus ?a))", "r  (cos (neg ?a)) => (neg (cos ?a))",
        "r  (cast (cast ?a to=10) to=16) => (cast ?a to=16)",
        "r  (pow ?a (full value=-0.5)) => (sqrt ?a)",
        "r  (mul ?a (hard-sigmoid ?a alpha=1/5 beta=0.5)) => (hard-swish ?a)"})
    EXPECT_EQ(evidence(rule, {"nn"}), Evidence::Fails) << rule;
}

/// What a window of nothing but pads has is not compared.
TEST(Check, MaximaOfNothingSayNothing) {
  EXPECT_EQ(evidence("r  (maxpool (add ?a ?b) kernel=?k strides=?s pads=?p) => "
                     "(add (maxpool ?a kernel=?k strides=?s pads=?p) ?b)",
                     {"nnnn", "n11"}),
            Evidence::Holds);
  EXPECT_EQ(evidence("r  (maxpool (add ?a ?b) kernel=?k strides=?s pads=?p) => "
                     "(maxpool ?a kernel=?k strides=?s pads=?p)",
                     {"nnnn", "n11"}),
            Evidence::Fails);
}

TEST(Check, SeesKernelsThatDifferUnderStrides) {
  // Rounding hides that one kernel is larger by one; then the kernels cannot be concatenated.
  EXPECT_EQ(evidence("r  (concat (conv ?a ?b strides=?s pads=?p dilations=?d group=1) "
                     "(conv ?a ?c strides=?s pads=?p dilations=?d group=1) axis=1) => "
                     "(conv ?a (concat ?b ?c axis=0) strides=?s pads=?p dilations=?d group=1)",
                     {"nnnn", "nnnn", "nnnn"}),
            Evidence::Fails);
}

TEST(Check, ASignatureWithoutShapesIsUnusable) {
  EXPECT_EQ(evidence("r  (matmul ?a ?b) => (matmul ?a ?b)", {"nn", "n"}), Evidence::Unusable);
}

/// A bank with labels for small terms.
struct Terms {
  Bank bank{17};
  TermId x = bank.leaf({2, 3}, 0), w = bank.leaf({3, 3}, 0), v = bank.leaf({3, 3}, 1);
  TermId call(const char* op, const char* attrs, std::vector<std::string_view> shapes,
              std::vector<TermId> operands, int output = 0) {
    return bank.call(bank.add_label(*label_of({op, attrs, std::move(shapes)})), std::move(operands),
                     output);
  }
  TermId matmul(TermId a, TermId b) { return call("matmul", "", {"ab", "bc"}, {a, b}); }
  TermId relu(TermId a) { return call("relu", "", {".."}, {a}); }
};

TEST(Pairs, SharedPartsBecomeVariables) {
  Terms t;
  TermId part = t.relu(t.w);
  Pair p{t.matmul(t.matmul(t.x, part), t.v), t.matmul(t.x, t.matmul(part, t.v))};
  Pair q = without_common_subterms(t.bank, p);
  EXPECT_NE(q, p);
  EXPECT_EQ(t.bank.size(q.lhs), 2u);
  EXPECT_TRUE(t.bank.same_value(q.lhs, q.rhs));
  EXPECT_EQ(renaming_key(t.bank, q), renaming_key(t.bank, {t.matmul(t.x, t.matmul(t.w, t.v)),
                                                           t.matmul(t.matmul(t.x, t.w), t.v)}));
}

TEST(Pairs, KeysSeeThroughNamesAndOrder) {
  Terms t;
  auto add = [&](TermId a, TermId b) { return t.call("add", "", {"ab", "ab"}, {a, b}); };
  EXPECT_EQ(renaming_key(t.bank, {add(t.w, t.relu(t.v)), t.w}),
            renaming_key(t.bank, {t.v, add(t.relu(t.w), t.v)}));
  EXPECT_NE(renaming_key(t.bank, {add(t.w, t.relu(t.v)), t.w}),
            renaming_key(t.bank, {add(t.w, t.relu(t.v)), t.v}));
}

TEST(Generalise, AttributesThatMayBeAnythingAreVariables) {
  Bank bank(1);
  auto label = [&](Instance in) { return bank.add_label(*label_of(in)); };
  int conv = label({"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {"....", "...."}});
  int add = label({"add", "", {"abcd", "abcd"}});
  TermId i = bank.leaf({1, 2, 3, 4}, 0), k = bank.leaf({2, 2, 3, 3}, 0),
         l = bank.leaf({2, 2, 3, 3}, 1);
  auto forms = generalise(bank, bank.call(conv, {i, bank.call(add, {k, l})}),
                          bank.call(add, {bank.call(conv, {i, k}), bank.call(conv, {i, l})}), 9);
  ASSERT_EQ(forms.size(), 1u);
  EXPECT_EQ(forms[0].closed, 0);
  auto expected = parse_rule(
      "r  (conv ?a (add ?b ?c) strides=?s pads=?p dilations=?d group=?g) => (add "
      "(conv ?a ?b strides=?s pads=?p dilations=?d group=?g) (conv ?a ?c strides=?s pads=?p "
      "dilations=?d group=?g))");
  ASSERT_TRUE(expected);
  EXPECT_EQ(canonical_key(forms[0].rule), canonical_key(*expected));
}

TEST(Generalise, WitnessNumbersBecomeSizes) {
  Terms t;
  TermId one = t.bank.call(t.bank.add_label(*label_of({"identity-matrix", "size~3", {}})), {});
  TermId sum = t.call("add", "", {"ab", "ab"}, {t.w, one});
  auto forms = generalise(t.bank, t.call("add", "", {"ab", "ab"}, {t.x, t.matmul(t.x, t.w)}),
                          t.matmul(t.x, sum), 9);
  ASSERT_EQ(forms.size(), 1u);
  auto expected =
      parse_rule("r  (add ?a (matmul ?a ?b)) => (matmul ?a (add ?b (identity-matrix size=a.-1)))");
  ASSERT_TRUE(expected);
  EXPECT_EQ(canonical_key(forms[0].rule), canonical_key(*expected));
}

}  // namespace
}  // namespace regraft::gen
