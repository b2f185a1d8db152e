// What the numeric check says of known identities, and of statements that look like them.
#include <gtest/gtest.h>

#include "gen/generalise/check.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

constexpr int kTrials = 40;

struct Statement {
  const char* sides;
  Signature signature;
};

Evidence evidence(const Statement& s, uint64_t seed) {
  auto rule = parse_rule(std::string("r  ") + s.sides);
  EXPECT_TRUE(rule) << (rule ? "" : rule.error().message) << "\n" << s.sides;
  return rule ? check(*rule, s.signature, seed, kTrials) : Evidence::Unusable;
}

const std::vector<Statement>& identities() {
  static const std::vector<Statement> list = {
      // exp and what is made of it
      {"(exp (add ?a ?b)) => (mul (exp ?a) (exp ?b))", {"nn", "nn"}},
      {"(exp (sub ?a ?b)) => (div (exp ?a) (exp ?b))", {"nn", "nn"}},
      {"(mul (exp ?a) (exp (neg ?a))) => (full shape=a.0 value=1)", {"n"}},
      {"(sigmoid ?a) => (div (exp ?a) (add (exp ?a) (full shape=1 value=1)))", {"n"}},
      {"(sigmoid (neg ?a)) => (sub (full shape=1 value=1) (sigmoid ?a))", {"nn"}},
      {"(tanh (neg ?a)) => (neg (tanh ?a))", {"nn"}},
      {"(tanh ?a) => (sub (mul (full shape=1 value=2) (sigmoid (add ?a ?a))) "
       "(full shape=1 value=1))",
       {"nn"}},
      {"(mul (sigmoid ?a) (exp (neg ?a))) => (sigmoid (neg ?a))", {"nn"}},
      // softmax
      {"(softmax (add ?a ?b)) => (softmax ?a)", {"nn", "n1"}},
      {"(softmax (add (exp ?c) (sub ?a (exp ?c)))) => (softmax ?a)", {"n1", "nn"}},
      {"(softmax (concat ?a ?b axis=0)) => (concat (softmax ?a) (softmax ?b) axis=0)",
       {"nn", "nn"}},
      {"(softmax (transpose ?a perm=1,0)) => (transpose (softmax ?a axis=0) perm=1,0)", {"nn"}},
      {"(softmax ?a) => (div (exp ?a) (reduce-sum (exp ?a) axes=-1))", {"nn"}},
      {"(matmul (softmax ?a) ?b) => (div (matmul (exp ?a) ?b) (reduce-sum (exp ?a) axes=-1))",
       {"nn", "nn"}},
      {"(reduce-sum (softmax ?a axis=0) axes=0 keepdims=0) => (full shape=a.1 value=1)", {"nn"}},
      // relu, clip
      {"(relu (relu ?a)) => (relu ?a)", {"n"}},
      {"(sub (relu ?a) (relu (neg ?a))) => ?a", {"nn"}},
      {"(relu (mul ?a ?a)) => (mul ?a ?a)", {"nn"}},
      {"(relu (exp ?a)) => (exp ?a)", {"nn"}},
      {"(relu (softmax ?a)) => (softmax ?a)", {"nn"}},
      {"(relu (mul (exp ?a) ?b)) => (mul (exp ?a) (relu ?b))", {"nn", "nn"}},
      {"(relu (matmul (exp ?a) (exp ?b))) => (matmul (exp ?a) (exp ?b))", {"nn", "nn"}},
      {"(clip (relu ?a) min=0 max=6) => (clip ?a min=0 max=6)", {"nn"}},
      {"(clip (clip ?a min=-3 max=3) min=0 max=6) => (clip ?a min=0 max=3)", {"nn"}},
      {"(hard-sigmoid ?a alpha=0.25) => (clip (add (mul (full shape=1 value=0.25) ?a) "
       "(full shape=1 value=0.5)) min=0 max=1)",
       {"nn"}},
      {"(sub ?a (relu (sub ?a ?b))) => (sub ?b (relu (sub ?b ?a)))", {"nn", "nn"}},
      // the largest of many
      {"(relu (maxpool ?a kernel=?k strides=?s)) => (maxpool (relu ?a) kernel=?k strides=?s)",
       {"nnnn"}},
      {"(clip (maxpool ?a kernel=?k) min=0 max=6) => (maxpool (clip ?a min=0 max=6) kernel=?k)",
       {"nnnn"}},
      {"(maxpool (maxpool ?a kernel=1,3) kernel=2,1) => (maxpool ?a kernel=2,3)", {"nnnn"}},
      {"(exp (reduce-max ?a axes=-1)) => (reduce-max (exp ?a) axes=-1)", {"nn"}},
      {"(reduce-max (add ?a ?b) axes=-1) => (add (reduce-max ?a axes=-1) ?b)", {"nn", "n1"}},
      {"(reduce-max (reduce-max ?a axes=0) axes=1) => (reduce-max ?a axes=0,1)", {"nn"}},
      {"(reduce-max (mul ?a (exp ?b)) axes=-1) => (mul (reduce-max ?a axes=-1) (exp ?b))",
       {"nn", "n1"}},
      {"(reduce-max (concat ?a ?b axis=1) axes=1) => "
       "(add ?b (relu (sub (reduce-max ?a axes=1) ?b)))",
       {"nn", "n1"}},
      // division, roots, means
      {"(div (add ?a ?b) ?c) => (add (div ?a ?c) (div ?b ?c))", {"nn", "nn", "nn"}},
      {"(div (div ?a ?b) ?c) => (div ?a (mul ?b ?c))", {"nn", "nn", "nn"}},
      {"(matmul (div ?a ?c) ?b) => (div (matmul ?a ?b) ?c)", {"nn", "n1", "nn"}},
      {"(div ?a (div ?b ?c)) => (div (mul ?a ?c) ?b)", {"nn", "nn", "nn"}},
      {"(sqrt (mul ?a ?b)) => (mul (sqrt ?a) (sqrt ?b))", {"nn", "nn"}},
      {"(div (full shape=1 value=1) (sqrt ?a)) => (sqrt (div (full shape=1 value=1) ?a))", {"nn"}},
      {"(reduce-mean (add ?a ?b) axes=-1) => (add (reduce-mean ?a axes=-1) ?b)", {"nn", "n1"}},
      {"(reduce-mean (reduce-mean ?a axes=0) axes=1) => (reduce-mean ?a axes=0,1)", {"nn"}},
      {"(avgpool (add ?a ?b) kernel=?k pads=?p) => "
       "(add (avgpool ?a kernel=?k pads=?p) (avgpool ?b kernel=?k pads=?p))",
       {"nnnn", "nnnn"}},  // windows that lie in the padding have no value
      {"(global-avgpool ?a) => (reduce-mean ?a axes=2,3)", {"nnnn"}},
      {"(layernorm (add ?a ?c) ?b) => (layernorm ?a ?b)", {"nn", "n1", "n"}},
      {"(erf (neg ?a)) => (neg (erf ?a))", {"nn"}},
  };
  return list;
}

const std::vector<Statement>& near_identities() {
  static const std::vector<Statement> list = {
      {"(relu (add ?a ?b)) => (add (relu ?a) (relu ?b))", {"n", "n"}},
      {"(relu (mul ?a ?b)) => (mul (relu ?a) (relu ?b))", {"n", "n"}},
      {"(relu (neg ?a)) => (neg (relu ?a))", {"n"}},
      {"(relu (relu ?a)) => (neg (neg ?a))", {"n"}},
      {"(relu (tanh ?a)) => (tanh ?a)", {"n"}},
      {"(relu (matmul ?a ?b)) => (matmul (relu ?a) (relu ?b))", {"nn", "nn"}},
      {"(relu ?a) => (clip ?a min=0 max=6)", {"nn"}},
      {"(clip (add ?a ?b) min=0 max=6) => (add (clip ?a min=0 max=6) (clip ?b min=0 max=6))",
       {"nn", "nn"}},
      {"(clip (clip ?a min=-3 max=3) min=0 max=6) => (clip ?a min=-3 max=6)", {"nn"}},
      {"(maxpool ?a kernel=2,2) => (avgpool ?a kernel=2,2)", {"nnnn"}},
      {"(maxpool (neg ?a) kernel=2,2) => (neg (maxpool ?a kernel=2,2))", {"nnnn"}},
      {"(maxpool (add ?a ?b) kernel=2,2) => (add (maxpool ?a kernel=2,2) (maxpool ?b kernel=2,2))",
       {"nnnn", "nnnn"}},
      {"(maxpool (maxpool ?a kernel=3,3) kernel=3,3) => (maxpool ?a kernel=4,4)", {"nnnn"}},
      {"(reduce-max (mul ?a ?b) axes=-1) => (mul (reduce-max ?a axes=-1) ?b)", {"nn", "n1"}},
      {"(reduce-max ?a axes=-1) => (reduce-mean ?a axes=-1)", {"nn"}},
      {"(reduce-mean ?a axes=-1) => (reduce-sum ?a axes=-1)", {"nn"}},
      {"(sigmoid (add ?a ?b)) => (add (sigmoid ?a) (sigmoid ?b))", {"nn", "nn"}},
      {"(sigmoid (add ?a ?b)) => (mul (sigmoid ?a) (sigmoid ?b))", {"nn", "nn"}},
      {"(sigmoid (neg ?a)) => (neg (sigmoid ?a))", {"nn"}},
      {"(tanh ?a) => (sub (sigmoid ?a) (sigmoid (neg ?a)))", {"nn"}},
      {"(exp (mul ?a ?b)) => (mul (exp ?a) (exp ?b))", {"nn", "nn"}},
      {"(exp (add ?a ?b)) => (add (exp ?a) (exp ?b))", {"nn", "nn"}},
      {"(exp (exp ?a)) => (mul (exp ?a) (exp ?a))", {"nn"}},
      {"(softmax (add ?a ?b)) => (softmax (sub ?a ?b))", {"nn", "1n"}},
      {"(softmax ?a axis=0) => (softmax ?a axis=1)", {"nn"}},
      {"(softmax (relu ?a)) => (relu (softmax ?a))", {"nn"}},
      {"(softmax (mul ?a ?b)) => (mul (softmax ?a) ?b)", {"nn", "n1"}},
      {"(div (add ?a ?b) ?c) => (add (div ?a ?c) ?b)", {"nn", "nn", "nn"}},
      {"(div ?c (add ?a ?b)) => (add (div ?c ?a) (div ?c ?b))", {"nn", "nn", "nn"}},
      {"(sqrt (add ?a ?b)) => (add (sqrt ?a) (sqrt ?b))", {"nn", "nn"}},
      {"(sqrt (mul ?a ?a)) => (relu (relu ?a))", {"nn"}},
      {"(erf (add ?a ?b)) => (add (erf ?a) (erf ?b))", {"nn", "nn"}},
      {"(layernorm (add ?a ?c) ?b) => (add (layernorm ?a ?b) ?c)", {"nn", "n1", "n"}},
  };
  return list;
}

TEST(Identities, KnownOnesHold) {
  EXPECT_GE(identities().size(), 25u);
  for (const Statement& s : identities())
    for (uint64_t seed : {1, 2, 3}) EXPECT_EQ(evidence(s, seed), Evidence::Holds) << s.sides;
}

TEST(Identities, NearOnesFail) {
  EXPECT_GE(near_identities().size(), 15u);
  for (const Statement& s : near_identities())
    for (uint64_t seed : {1, 2, 3}) EXPECT_EQ(evidence(s, seed), Evidence::Fails) << s.sides;
}

}  // namespace
}  // namespace regraft::gen
