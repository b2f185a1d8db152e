// What is proved by cases: choices, the order of numbers, remainders; and sizes that get names.
#include "tests/verify/laws/claims.h"

namespace regraft::verify {
namespace {

/// A power with a real exponent is a choice by the signs of both; each case has its law.
TEST(Cases, Powers) {
  expect_proved(
      {{"(pow ?a (full value=0.5)) => (sqrt ?a)", {"nn"}},
       {"(pow ?a (full value=-0.5)) => (reciprocal (sqrt ?a))", {"nn"}},
       {"(pow ?a (full value=1.5)) => (mul ?a (sqrt ?a))", {"nn"}},
       {"(pow ?a (full value=2)) => (mul ?a ?a)", {"nn"}},
       {"(pow ?a (full value=3)) => (mul ?a (mul ?a ?a))", {"nn"}},
       {"(pow ?a (full value=1)) => ?a", {"nn"}},
       {"(pow ?a (full value=0)) => (full shape=a.0,a.1 value=1)", {"nn"}},
       {"(pow ?a (full value=-1)) => (reciprocal ?a)", {"nn"}},
       {"(pow (exp ?a) ?b) => (exp (mul ?a ?b))", {"nn", "nn"}},
       {"(sqrt ?a) => (pow ?a (full value=0.5))", {"nn"}},
       {"(where (greater ?a (full value=0)) (sqrt ?a) (full value=0)) => (sqrt (relu ?a))",
        {"nn"}}});
  expect_refuted_and_not_proved(
      {{"(pow ?a (full value=0.5)) => (mul ?a (sqrt ?a))", {"nn"}},
       {"(pow ?a (full value=-0.5)) => (sqrt ?a)", {"nn"}},
       {"(pow ?a (full value=2)) => (mul ?a (relu ?a))", {"nn"}},
       {"(pow ?a (full value=3)) => (mul (abs ?a) (mul ?a ?a))", {"nn"}},
       {"(pow ?a (full value=2)) => ?a", {"nn"}},
       {"(pow ?a (full value=0)) => (full shape=a.0,a.1 value=0)", {"nn"}},
       {"(pow ?a (full value=-1)) => ?a", {"nn"}},
       {"(pow ?a ?b) => (exp (mul ?a ?b))", {"nn", "nn"}},
       {"(where (greater ?a (full value=-1)) (sqrt (relu ?a)) (full value=0)) => (sqrt ?a)",
        {"nn"}}});
  for (const char* undefined :  // on the right alone
       {"(mul ?a ?a) => (exp (mul (full value=2) (log ?a)))",
        "(pow ?a (full value=2)) => (exp (mul (full value=2) (log ?a)))",
        "(power ?a exponent=2) => (pow (sqrt ?a) (full value=4))",
        "(abs ?a) => (pow (pow ?a (full value=0.5)) (full value=2))",
        "(where (greater ?a (full value=-1)) ?a (sqrt (neg ?a))) => (add (where (greater ?a (full "
        "value=-1)) ?a (sqrt (neg ?a))) (sub (sqrt (neg ?a)) (sqrt (neg ?a))))"}) {
    auto instance = instance_of({undefined, {"nn"}});
    EXPECT_EQ(SymbolicProver().prove(instance).kind, VerdictKind::Unknown) << undefined;
  }
}

/// What a truth value chooses is all that a side evaluates.
TEST(Cases, ChoicesOfRoots) {
  expect_proved(
      {{"(where ?c (sqrt ?a) ?b) => (where ?c (mul (sqrt (sqrt ?a)) (sqrt (sqrt ?a))) ?b)",
        {"nn", "nn", "nn"}}});
  for (const char* sides :
       {"(where ?c (sqrt ?a) ?b) => (where ?c ?b (mul (sqrt (sqrt ?a)) (sqrt (sqrt ?a))))",
        "(where ?c (sqrt ?a) ?b) => (add (where ?c (sqrt ?a) ?b) (sub (sqrt ?a) (sqrt ?a)))"}) {
    auto instance = instance_of({sides, {"nn", "nn", "nn"}});
    EXPECT_EQ(SymbolicProver().prove(instance).kind, VerdictKind::Unknown) << sides;
  }
}

/// The order of a rule's numbers makes cases.
TEST(Cases, ClipsOfClips) {
  expect_proved(
      {{"(clip (clip ?x min=?a max=?b) min=?c max=?d) => (clip ?x "
        "min=min(max(?a,?c),?d) max=min(max(?b,?c),?d)) where ?a<=?b,?c<=?d",
        {"nn"}}});
  expect_refuted_and_not_proved(
      {{"(clip (clip ?x min=?a max=?b) min=?c max=?d) => (clip ?x min=max(?a,?c) max=min(?b,?d)) "
        "where ?a<=?b,?c<=?d",
        {"nn"}},
       {"(clip (clip ?x min=?a max=?b) min=?c max=?d) => (clip ?x "
        "min=min(max(?a,?d),?c) max=min(max(?b,?c),?d)) where ?a<=?b,?c<=?d",
        {"nn"}}});
}

/// What rounds to integers passes whole bounds, and no others.
TEST(Cases, RoundingsOfBounds) {
  expect_proved({{"(round (clip ?a min=-3 max=4)) => (clip (round ?a) min=-3 max=4)", {"nn"}},
                 {"(floor (clip ?a min=0 max=255)) => (clip (floor ?a) min=0 max=255)", {"nn"}},
                 {"(floor (relu ?a)) => (relu (floor ?a))", {"nn"}}});
  expect_refuted_and_not_proved(
      {{"(round (clip ?a min=-2.5 max=4)) => (clip (round ?a) min=-2.5 max=4)", {"nn"}},
       {"(floor (clip ?a min=0 max=2.5)) => (clip (floor ?a) min=0 max=2.5)", {"nn"}},
       {"(floor (relu ?a)) => (relu (ceil ?a))", {"nn"}}});
}

/// Each place of a block by itself.
TEST(Cases, Remainders) {
  const std::string blocks =
      "(conv-transpose ?a ?b strides=2,2) => (depth-to-space (conv ?a (reshape (transpose ?b "
      "perm=1,2,3,0) shape=b.1*4,b.0,1,1)) blocksize=2 crd=";
  const std::string kernels = ") where b.2=2,b.3=2", turned = "0) where b.2=2,b.3=2";
  const std::string right = blocks + "1" + kernels, wrong = blocks + turned;
  expect_proved({{right.c_str(), {"nnnn", "nnnn"}}});
  expect_refuted_and_not_proved({{wrong.c_str(), {"nnnn", "nnnn"}}});
}

/// Windows of windows: what the inner ones are over depends on where the border is.
TEST(Cases, PaddedWindows) {
  expect_proved(
      {{"(maxpool (maxpool ?x kernel=5,5 pads=2,2,2,2) kernel=5,5 pads=2,2,2,2) => "
        "(maxpool ?x kernel=9,9 pads=4,4,4,4)",
        {"nnnn"}}});
  expect_refuted_and_not_proved(
      {{"(maxpool (maxpool ?x kernel=3,3 pads=1,1,1,1) kernel=3,3 pads=1,1,1,1) => "
        "(maxpool ?x kernel=3,3 pads=1,1,1,1)",
        {"nnnn"}}});
}

/// A tensor is reshaped by a size that is a sum or a quotient.
TEST(Cases, NamesOfSizes) {
  const std::string tiles =
      "(conv ?x ?w strides=w.2,w.3) => (reshape (matmul (reshape ?w shape=w.0,w.1*w.2*w.3) "
      "(reshape (transpose (reshape ?x shape=x.0,x.1,floor(x.2/w.2),w.2,floor(x.3/w.3),w.3) perm=";
  const std::string rest =
      ") shape=x.0,x.1*w.2*w.3,floor(x.2/w.2)*floor(x.3/w.3))) "
      "shape=x.0,w.0,floor(x.2/w.2),floor(x.3/w.3)) "
      "where x.2=w.2*floor(x.2/w.2),x.3=w.3*floor(x.3/w.3)";
  const std::string right = tiles + "0,1,3,5,2,4" + rest, wrong = tiles + "0,1,5,3,2,4" + rest;
  expect_proved({{right.c_str(), {"nnnn", "nnnn"}}});
  auto instance = instance_of({wrong.c_str(), {"nnnn", "nnnn"}});
  EXPECT_EQ(SymbolicProver().prove(instance).kind, VerdictKind::Unknown);
}

}  // namespace
}  // namespace regraft::verify
