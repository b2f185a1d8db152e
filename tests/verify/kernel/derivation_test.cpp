#include "verify/kernel/derivation.h"

#include <gtest/gtest.h>

#include "tests/verify/kernel/goals.h"

namespace regraft::kernel {
namespace {

TEST_F(Derivation, PinsWhatTheGuardSays) {
  Sum sum{{product(1, {"k"}, {"eq k-i"}, {read(0, {"k"})}), product(-1, {}, {}, {read(0, {"i"})})}};
  accepts({}, sum, "pin 0 0 i\npair 1 2 0\nend\n");
  refuses({}, sum, "pin 0 0 i+1|lin 1:1\npair 1 2 0\nend\n");
  refuses({}, sum, "pin 0 0 k\npair 1 2 0\nend\n");
  refuses({}, sum, "pin 0 0 i\nend\n");
  Sum open{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {read(0, {"k"})}),
            product(-1, {}, {}, {read(0, {"0"})})}};
  refuses({}, open, "pin 0 0 0\npair 1 2 0\nend\n");
}

TEST_F(Derivation, DropsWhatCannotBe) {
  Sum sum{{product(1, {"k"}, {"ge k-n", "ge n-1-k"}, {read(0, {"k"})})}};
  accepts({}, sum, "drop 0|lin 1 2\nend\n");
  Sum open{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {read(0, {"k"})})}};
  refuses({}, open, "drop 0|lin 1 2\nend\n");
  accepts({"ge -n"}, open, "drop 0|least n;lin 1 4\nend\n");
}

TEST_F(Derivation, PairsAlongBijectionsOfTheRanges) {
  std::vector<std::string> box{"ge k", "ge n-1-k"};
  Sum mirrored{{product(1, {"k"}, box, {read(0, {"k"})}),
                product(-1, {"l"}, {"ge l", "ge n-1-l"}, {read(0, {"n-1-l"})})}};
  accepts({}, mirrored, "pair 0 1 0 n-1-k n-1-l\nend\n");
  refuses({}, mirrored, "pair 0 1 0 k l\nend\n");
  refuses({}, mirrored, "pair 0 1 0 n-1-k n-l|lin 1|lin 1\nend\n");
  // One element more, a factor that is another, a coefficient, a range that is not reached.
  Sum longer = mirrored, other = mirrored, twice = mirrored;
  longer.products.edit()[1].guard.edit()[1] = fact_of(symbols_, "ge n-l");
  refuses({}, longer, "pair 0 1 0 n-1-k n-1-l|lin 1|lin 1\nend\n");
  other.products.edit()[1].atoms.edit()[0].head = 1;
  refuses({}, other, "pair 0 1 0 n-1-k n-1-l\nend\n");
  twice.products.edit()[1].coefficient = {-2, 1};
  refuses({}, twice, "pair 0 1 0 n-1-k n-1-l\nend\n");
  Sum same{{product(1, {"k"}, box, {read(0, {"i"})}),
            product(-1, {"l"}, {"ge l", "ge n-1-l"}, {read(0, {"i"})})}};
  accepts({}, same, "pair 0 1 0 k l\nend\n");
  refuses({}, same, "pair 0 1 0 0 0|lin 1\nend\n");
  refuses({}, same, "pair 0 1 0 l k\nend\n");
}

TEST_F(Derivation, NoIndexLeavesItsRange) {
  // x = sum over k = 0 of x says nothing of an index k that is free.
  Sum sum{{product(1, {}, {"eq k"}, {read(0, {})}), product(-1, {"k"}, {"eq k"}, {read(0, {})})}};
  refuses({}, sum, "pair 0 1 0 0\nend\n");
  Sum known{{product(1, {"k"}, {"ge k-1", "ge 1-k"}, {read(0, {"k"})})}};
  refuses({"eq k"}, known, "drop 0|lin 1 2\nend\n");
}

TEST_F(Derivation, DividesByAFactAndItsNegation) {
  Sum sum{{product(1, {}, {}, {read(0, {"i"})}), product(-1, {}, {"ge i"}, {read(0, {"i"})}),
           product(-1, {}, {"ge -1-i"}, {read(0, {"i"})})}};
  accepts({}, sum, "divide 0 ge i\npair 1 3 0\npair 2 4 0\nend\n");
  refuses({}, sum, "divide 0 ge i\npair 1 3 0\nend\n");
  sum.products.edit()[2].guard.edit()[0] = fact_of(symbols_, "ge -2-i");
  refuses({}, sum, "divide 0 ge i\npair 1 3 0\npair 2 4 0|lin 1|lin 1\nend\n");
}

TEST_F(Derivation, GuardsLoseWhatFollows) {
  Sum sum{{product(1, {}, {"ge i-2"}, {read(0, {"i"})}),
           product(-1, {}, {"ge i-2", "ge i"}, {read(0, {"i"})})}};
  accepts({}, sum, "omit 1 1|lin 1 2 0\npair 0 2 0\nend\n");
  refuses({}, sum, "omit 1 0|lin 1 2\npair 0 2 0\nend\n");
}

TEST_F(Derivation, CoefficientsAndNumbers) {
  Sum sum{{product(3, {}, {}, {read(0, {})}), product(-1, {}, {}, {read(0, {})}),
           product(-2, {}, {}, {read(0, {})})}};
  accepts({}, sum, "pair 0 1 0\npair 0 2 0\nend\n");
  refuses({}, sum, "pair 0 1 0\nend\n");
  refuses({}, sum, "pair 0 0 0\npair 0 2 0\nend\n");
  sum.products.edit()[2].coefficient = {-3, 1};
  refuses({}, sum, "pair 0 1 0\npair 0 2 0\nend\n");
  Atom n{.kind = Atom::Number, .positions = {poly("2*n+1")}};
  Atom one{.kind = Atom::Number, .positions = {poly("n")}};
  Sum spread{{product(1, {}, {}, {n}), product(-2, {}, {}, {one}), product(-1, {}, {}, {})}};
  accepts({}, spread, "value 0 0\npair 1 4 0\npair 2 3\nend\n");
  spread.products.edit()[1].coefficient = {-1, 1};
  refuses({}, spread, "value 0 0\npair 1 4 0\npair 2 3\nend\n");
}

TEST_F(Derivation, QuotientsOfWholeNumbers) {
  auto whole = [&](Atom::Kind kind, const char* p) {
    return Atom{.kind = kind, .positions = {poly(p)}};
  };
  auto minus_one = [&](Atom a, Atom b) {
    return Sum{{product(1, {}, {}, {std::move(a), std::move(b)}), product(-1, {}, {}, {})}};
  };
  const std::string lines = "cancel 0 1 0 - - 0\npair 0 1 0\nend\npair 2 1\nend\n";
  accepts({}, minus_one(whole(Atom::Number, "n"), whole(Atom::Recip, "n")), lines);
  refuses({}, minus_one(whole(Atom::Number, "z"), whole(Atom::Recip, "z")), lines);
  accepts({"ge z-1"}, minus_one(whole(Atom::Number, "z"), whole(Atom::Recip, "z")),
          "whole z >\n" + lines);
  refuses({"ge z"}, minus_one(whole(Atom::Number, "z"), whole(Atom::Recip, "z")),
          "whole z >|lin 1 2\n" + lines);
  refuses({}, minus_one(whole(Atom::Number, "n"), whole(Atom::Recip, "m")), lines);
  refuses({}, minus_one(whole(Atom::Number, "n"), whole(Atom::Number, "n")), lines);
  // Of 1/(n + 1): n/(n + 1) is 1 less 1/(n + 1).
  Sum sum{{product(1, {}, {}, {whole(Atom::Number, "n"), whole(Atom::Recip, "n+1")}),
           product(-1, {}, {}, {}), product(1, {}, {}, {whole(Atom::Recip, "n+1")})}};
  const std::string known = "whole n+1 >|least n;lin 1 2\n";
  accepts({}, sum, known + "cancel 0 1 1 - - 0\npair 0 1 0\nend\npair 3 1\npair 4 2 0\nend\n");
  refuses({}, sum, known + "cancel 0 1 0 - - 0\npair 0 1 0\nend\npair 3 1\npair 4 2 0\nend\n");
}

TEST_F(Derivation, CountsWhatNothingReads) {
  Atom n{.kind = Atom::Number, .positions = {poly("n")}};
  Sum sum{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {read(0, {"i"})}),
           product(-1, {}, {}, {read(0, {"i"}), n})}};
  accepts({}, sum, "count 0 0 0 1|least n;lin 1 2\npair 2 1 0 1\nend\n");
  refuses({}, sum, "count 0 0 1 0|least n;lin 1 2\npair 2 1 0 1\nend\n");
  refuses({}, sum, "count 0 0 0 0|least n;lin 1 2\npair 2 1 0 1\nend\n");
  sum.products.edit()[0].atoms.edit()[0] = read(0, {"k"});
  refuses({}, sum, "count 0 0 0 1|least n;lin 1 2\npair 2 1 0 1\nend\n");
  Sum empty{{product(1, {"k"}, {"ge k", "ge j-1-k"}, {read(0, {"i"})})}};
  refuses({}, empty, "count 0 0 0 1|least n;lin 1 2\nend\n");
}

TEST_F(Derivation, FunctionsOfWhatIsEqual) {
  Sum one{{product(1, {}, {}, {read(0, {"i"})}), product(1, {}, {}, {read(1, {"i"})})}};
  Sum two{{one.products[1], one.products[0]}};
  Sum sum{{product(1, {}, {}, {function(Fn::Exp, one)}),
           product(-1, {}, {}, {function(Fn::Exp, two)})}};
  accepts({}, sum, "pair 0 1 0\npair 0 3 0\npair 1 2 0\nend\nend\n");
  refuses({}, sum, "pair 0 1 0\npair 0 3 0\nend\nend\n");
  refuses({}, sum, "pair 0 1 0\nend\n");
  sum.products.edit()[1].atoms.edit()[0].head = static_cast<int>(Fn::Tanh);
  refuses({}, sum, "pair 0 1 0\npair 0 3 0\npair 1 2 0\nend\nend\n");
}

TEST_F(Derivation, StepsWithinAnArgument) {
  Sum twice{
      {product(1, {}, {"ge i"}, {function(Fn::Relu, Sum{{product(1, {}, {}, {read(0, {})})}})})}};
  Sum once{{product(1, {}, {}, {read(0, {})})}};
  Sum sum{{product(1, {}, {"ge i"}, {function(Fn::Relu, twice)}),
           product(-1, {}, {"ge i"}, {function(Fn::Relu, once)})}};
  accepts({}, sum, "inside 0 0\nomit 0 0\nend\nlaw again 2 0\npair 1 3 0\nend\n");
  refuses({}, sum, "law again 0 0\npair 1 2 0\nend\n");
  refuses({}, sum, "inside 0 0\nend\nlaw again 2 0\npair 1 3 0\nend\n");
  Sum doubled = twice;
  doubled.products.edit()[0].coefficient = {2, 1};
  sum.products.edit()[0].atoms.edit()[0] = function(Fn::Relu, doubled);
  refuses({}, sum, "inside 0 0\nomit 0 0\nend\nlaw again 2 0\npair 1 3 0\nend\n");
}

TEST_F(Derivation, QuotientsOfProducts) {
  Sum x = sum_of(read(0, {})), y = sum_of(read(1, {}));
  Atom over_y = function(Fn::Recip, y);
  Sum quotient{{product(2, {}, {}, {read(0, {}), over_y})}};
  Product right = product(-1, {}, {}, {function(Fn::Recip, x), read(1, {})});
  right.coefficient = {-1, 2};
  Sum sum{{product(1, {}, {}, {function(Fn::Recip, quotient)}), right}};
  accepts({}, sum, "law inverse 0 0\npair 2 1 0 1\nend\n");
  sum.products.edit()[1].coefficient = {-2, 1};
  refuses({}, sum, "law inverse 0 0\npair 2 1 0 1\nend\n");
  Sum added{{product(1, {}, {}, {function(Fn::Recip, x + y)}),
             product(-1, {}, {}, {function(Fn::Recip, x), over_y})}};
  refuses({}, added, "law inverse 0 0\npair 2 1 0 1\nend\n");
}

TEST_F(Derivation, NumbersLeaveFunctions) {
  Sum x = sum_of(read(0, {}));
  auto sum = [&](Fn f, int64_t within, int64_t outside, int64_t over) {
    Product p = product(-outside, {}, {}, {function(f, x)});
    p.coefficient = Fraction::make(-outside, over);
    return Sum{{product(1, {}, {}, {function(f, scaled(x, {within, 1}))}), p}};
  };
  accepts({}, sum(Fn::Relu, 2, 2, 1), "law times 0 0 2 1\npair 1 2 0\nend\n");
  const std::string by_minus_two = "law times 0 0 -2 1\npair 1 2 0\nend\n";
  const std::string by_minus_one = "law times 0 0 -1 1\npair 1 2 0\nend\n";
  refuses({}, sum(Fn::Relu, -2, -2, 1), by_minus_two);
  accepts({}, sum(Fn::Recip, -2, -1, 2), by_minus_two);
  refuses({}, sum(Fn::Recip, -2, -2, 1), by_minus_two);
  accepts({}, sum(Fn::Tanh, -1, -1, 1), by_minus_one);
  refuses({}, sum(Fn::Tanh, -2, -2, 1), by_minus_two);
  refuses({}, sum(Fn::Exp, -1, -1, 1), by_minus_one);
  accepts({}, sum(Fn::Cos, -1, 1, 1), by_minus_one);
  refuses({}, sum(Fn::Sin, -1, 1, 1), by_minus_one);
  accepts({}, sum(Fn::Step, 2, 1, 1), "law times 0 0 2 1\npair 1 2 0\nend\n");
  refuses({}, sum(Fn::Step, -2, 1, 1), by_minus_two);
  refuses({}, sum(Fn::Recip, -2, -1, 2), "law times 0 0 0 1\npair 1 2 0\nend\n");
}

TEST_F(Derivation, FunctionsOfNumbers) {
  Sum nothing{{product(1, {}, {"ge -1-i"}, {read(0, {"i"})})}};
  Sum sum{{product(1, {}, {"ge i"}, {function(Fn::Relu, nothing)})}};
  const std::string lines = "inside 0 0\ndrop 0|lin 1 2\nend\nlaw number 1 0\nend\n";
  accepts({}, sum, lines);
  refuses({}, sum, "law number 0 0\nend\n");
  sum.products.edit()[0].atoms.edit()[0].head = static_cast<int>(Fn::Exp);
  refuses({}, sum, lines);
  auto value = [&](Fn f, Fraction at, Fraction is) {
    Product p{Fraction{-1, 1} * is, {}, {}, {}};
    return Sum{{product(1, {}, {}, {function(f, number(at))}), p}};
  };
  const std::string alone = "law number 0 0\npair 2 1\nend\n";
  accepts({}, value(Fn::Exp, {0, 1}, {1, 1}), alone);
  accepts({}, value(Fn::Recip, {3, 2}, {2, 3}), alone);
  accepts({}, value(Fn::Floor, {-1, 2}, {-1, 1}), alone);
  accepts({}, value(Fn::Trunc, {3, 2}, {1, 1}), alone);
  refuses({}, value(Fn::Floor, {-1, 2}, {0, 1}), alone);
  refuses({}, value(Fn::Sigmoid, {1, 1}, {1, 1}), alone);
  accepts({}, value(Fn::Sqrt, {9, 4}, {3, 2}), "law number 0 0 3 2\npair 2 1\nend\n");
  refuses({}, value(Fn::Sqrt, {9, 4}, {-3, 2}), "law number 0 0 -3 2\npair 2 1\nend\n");
}

TEST_F(Derivation, IndicesHaveOtherNames) {
  Sum sum{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {read(0, {"k", "i"})}),
           product(-1, {"l"}, {"ge l", "ge n-1-l"}, {read(0, {"l", "i"})})}};
  accepts({}, sum, "alias 0 0 other\npair 2 1 0 other l\nend\n");
  accepts({}, sum, "alias 0 0 l\npair 2 1 0 l l\nend\n");
  refuses({}, sum, "alias 0 0 i\nend\n");
  refuses({}, sum, "alias 0 0 n\nend\n");
  refuses({}, sum, "alias 0 0 k\nend\n");
}

TEST_F(Derivation, Cases) {
  Sum sum{{product(1, {}, {"ge i", "ge -1-i"}, {read(0, {})})}};
  const std::string drop = "drop 0|lin 2 3\nend\n";
  accepts({}, sum, "cases ge i\n" + drop + "drop 0|lin 1 2\nend\nend\n");
  refuses({}, sum, "cases ge i\n" + drop + "end\n");
  refuses({}, sum, "cases ge i\n" + drop);
}

TEST_F(Derivation, MaximaOfTheSameValues) {
  auto largest = [&](const std::string& k, const std::string& at, const std::string& most) {
    Atom a{.kind = Atom::Max};
    a.bound = {symbol(k)};
    a.guard = facts_of(symbols_, {"ge " + k, "ge " + most + "-" + k});
    a.argument = std::make_shared<Sum>(Sum{{product(1, {}, {}, {read(0, {at})})}});
    return a;
  };
  auto sum = [&](Atom a, Atom b) {
    return Sum{{product(1, {}, {}, {std::move(a)}), product(-1, {}, {}, {std::move(b)})}};
  };
  Sum mirrored = sum(largest("k", "k", "n-1"), largest("l", "n-1-l", "n-1"));
  accepts({}, mirrored, "pair 0 1 0\nindices n-1-k n-1-l\npair 0 1 0\nend\nend\n");
  refuses({}, mirrored, "pair 0 1 0\nindices k l\npair 0 1 0\nend\nend\n");
  refuses({}, mirrored, "pair 0 1 0\npair 0 1 0\nend\nend\n");
  accepts({}, mirrored,
          "pair 0 1 0\nvalues\npair 0 1 0\nindices n-1-k n-1-l\npair 0 1 0\nend\nend\nend\n");
  refuses({}, mirrored, "pair 0 1 0\nvalues\nend\nend\n");
  refuses({}, sum(largest("k", "k", "n-1"), largest("l", "l", "n")),
          "pair 0 1 0\nindices k l|lin 1|lin 1\npair 0 1 0\nend\nend\n");
}

/// What is evaluated on the right is defined where the left side is.
class Definedness : public Derivation {
 protected:
  /// Why the lines do not show the claim 0 = 0, where `left` is evaluated on the left and x on the
  /// right.
  std::string why_not(const std::vector<std::string>& given, std::vector<Partial> left, Partial x,
                      const std::string& text) {
    const bool maximum = x.atom.kind == Atom::Max;
    OutputClaim claim{facts_of(symbols_, given), {}, {{}, std::move(left)}, {{}, {std::move(x)}}};
    try {
      const std::string all = text + "\nend\n" + (maximum ? "" : "end\n");
      Lines lines(all);
      check(symbols_, claim, lines);
      return lines.empty() ? "" : "more lines";
    } catch (const Refused& r) {
      return r.why;
    }
  }
  Sum single(int64_t c, std::vector<Atom> atoms) {
    return {{product(c, {}, {}, std::move(atoms))}};
  }
  Partial over(Sum s) { return {function(Fn::Recip, std::move(s)), {}, {}}; }
};

TEST_F(Definedness, WhatTheLeftSideEvaluates) {
  Partial left{function(Fn::Recip, single(1, {read(0, {"k"})})),
               {symbol("k")},
               facts_of(symbols_, {"ge k", "ge n-1-k"})};
  Partial zeroth = over(single(1, {read(0, {"0"})})), at_n = over(single(1, {read(0, {"n"})}));
  const std::string at_zero = "defined 0 0|least n;lin 1 2";
  EXPECT_EQ(why_not({}, {left}, zeroth, at_zero), "");
  EXPECT_NE(why_not({}, {}, zeroth, at_zero), "");
  EXPECT_NE(why_not({}, {left}, at_n, "defined 0 n|least n;lin 1 2|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {left}, at_n, at_zero), "");
  EXPECT_NE(why_not({}, {left}, zeroth, "defined 1 0"), "");
  EXPECT_EQ(why_not({"ge -n"}, {}, at_n, "refuted|least n;lin 1 2"), "");
  EXPECT_NE(why_not({"ge n"}, {}, at_n, "refuted|least n;lin 1 2"), "");
}

TEST_F(Definedness, FactorsAndMultiplesOfDenominators) {
  Atom x = read(0, {}), y = read(1, {}), z = read(2, {});
  Partial both = over(single(3, {x, y}));
  EXPECT_EQ(why_not({}, {both}, over(single(1, {x})), "defined 0\nfactor 0 0"), "");
  EXPECT_EQ(why_not({}, {both}, over(single(1, {x, x, y})), "defined 0\nfactor 0 0\nfactor 0 1"),
            "");
  EXPECT_EQ(why_not({}, {over(single(1, {x})), over(single(1, {y}))}, both, "defined 0\ndefined 1"),
            "");
  EXPECT_NE(why_not({}, {both}, over(single(1, {z})), "defined 0\nfactor 0 0"), "");
  EXPECT_NE(why_not({}, {over(single(1, {x}))}, both, "defined 0"), "");
  Sum sum = single(1, {x}) + single(1, {y});
  EXPECT_NE(why_not({}, {both}, over(sum), "defined 0\nfactor 0 0\nfactor 0 1"), "");
  EXPECT_NE(why_not({}, {over(sum)}, over(single(1, {x})), "defined 0\nfactor 0 0"), "");
  const std::string pairs = "\npair 0 2 0\npair 1 3 0\nend";
  Partial twice = over(scaled(sum, {-2, 1}));
  EXPECT_EQ(why_not({}, {over(sum)}, twice, "defined 0\ninfer target -2:0" + pairs), "");
  EXPECT_NE(why_not({}, {over(sum)}, twice, "defined 0\ninfer target 2:0" + pairs), "");
  EXPECT_NE(why_not({}, {over(sum)}, over({}), "defined 0\ninfer target 0:0\nend"), "");
  Partial root{function(Fn::Sqrt, single(1, {x})), {}, {}};
  EXPECT_NE(why_not({}, {root}, over(single(1, {x})), "defined 0"), "");
  EXPECT_EQ(why_not({}, {root}, over(single(1, {x}) + number({1, 2})), "defined 0"), "");
}

TEST_F(Definedness, WholeNumbersAndMaxima) {
  Partial over_n{{.kind = Atom::Recip, .positions = {poly("n")}}, {}, {}};
  Partial over_z{{.kind = Atom::Recip, .positions = {poly("z")}}, {}, {}};
  EXPECT_EQ(why_not({}, {}, over_n, "whole n >|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {}, over_z, "whole z >|least z;lin 1 2"), "");
  auto largest = [&](const std::string& k, const std::string& size) {
    Atom a{.kind = Atom::Max, .bound = {symbol(k)}};
    a.guard = facts_of(symbols_, {"ge " + k, "ge " + size + "-1-" + k});
    a.argument = std::make_shared<Sum>(single(1, {read(0, {k})}));
    return Partial{a, {}, {}};
  };
  EXPECT_EQ(why_not({}, {}, largest("k", "n"), "reached 0|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {}, largest("k", "n"), "reached n|least n;lin 1 2|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {}, largest("k", "z"), "reached 0|least z;lin 1 2"), "");
  EXPECT_EQ(why_not({}, {largest("l", "z")}, largest("k", "z"), "as 0 l"), "");
  EXPECT_EQ(why_not({"ge z-j"}, {largest("l", "j")}, largest("k", "z"), "as 0 l|lin 1 3 4"), "");
  EXPECT_NE(why_not({"ge j-z"}, {largest("l", "j")}, largest("k", "z"), "as 0 l|lin 1 3 4"), "");
}

/// Lines about equal sizes come before all others.
class Sizes : public Derivation {
 protected:
  std::string why_not(const std::vector<std::string>& given, Product left, Product right,
                      const std::string& text, std::vector<Partial> partial = {}) {
    OutputClaim claim{facts_of(symbols_, given), {}, {{{left}}, partial}, {{{right}}, partial}};
    try {
      Lines lines(text);
      check(symbols_, claim, lines);
      return lines.empty() ? "" : "more lines";
    } catch (const Refused& r) {
      return r.why;
    }
  }
};

TEST_F(Sizes, AreReplacedWhereTheyAreEqual) {
  const Product n = product(1, {}, {}, {read(0, {"n"})}), m = product(1, {}, {}, {read(0, {"m"})});
  const std::string pair = "pair 0 1 0\nend\n";
  EXPECT_EQ(why_not({"eq n-m"}, n, m, "size n m\n" + pair), "");
  EXPECT_EQ(why_not({"eq n-m"}, n, m, "size m n|cases 2;lin 1:1 3;lin -1:1 3\n" + pair), "");
  EXPECT_NE(why_not({"eq n-m-1"}, n, m, "size n m|lin 1\n" + pair), "");
  EXPECT_NE(why_not({"eq n-m"}, n, m, "size n m+1|lin 1\n" + pair), "");
  EXPECT_NE(why_not({"eq n-m"}, n, m, "size n+1 m+1\n" + pair), "");
  EXPECT_NE(why_not({"eq n-m"}, n, m, pair + "size n m\n"), "");
  EXPECT_NE(why_not({}, n, m, pair), "");
  // An index that is bound is no symbol of the claim, and what is bound takes none in.
  const Product k = product(1, {"k"}, {"eq k-n"}, {read(0, {"k"})});
  EXPECT_NE(why_not({"eq k"}, k, k, "size k 0\npair 0 1 0 k k\nend\n"), "");
  EXPECT_NE(why_not({"eq n-k"}, k, k, "size n k\npair 0 1 0 k k\nend\n"), "");
}

TEST_F(Sizes, AreReplacedInWhatIsDefined) {
  const Partial y{function(Fn::Recip, Sum{{product(1, {}, {}, {read(0, {"n"})})}}), {}, {}};
  const Product one = product(1, {}, {}, {});
  const std::string rest = "defined 0\nend\npair 0 1\nend\n";
  EXPECT_EQ(why_not({"eq n-m"}, one, one, "size n m\n" + rest, {y}), "");
  EXPECT_EQ(why_not({}, one, one, rest, {y}), "");
  EXPECT_NE(why_not({}, one, one, "size n m|lin 1\n" + rest, {y}), "");
  EXPECT_NE(why_not({"eq n-m"}, one, one, "size n m\nend\npair 0 1\nend\n", {y}), "");
}

TEST_F(Derivation, LinesThatAreWrong) {
  Sum sum{{product(1, {}, {"ge i", "ge -1-i"}, {read(0, {})})}};
  for (const char* text :
       {"", "end", "drop", "drop 1|lin 1 2\nend", "drop 0\nend", "drop 0|lin 1 2|lin 1 2\nend",
        "drop 0 0|lin 1 2\nend", "drop 0|lin 1 2", "drop 0|lin 1 2\nend 1", "lose 0\nend",
        "drop -1|lin 1 2\nend", "drop 0|lin 1 2\ndrop 0|lin 1 2\nend"})
    refuses({}, sum, text);
  accepts({}, sum, "drop 0|lin 1 2\nend");
}

}  // namespace
}  // namespace regraft::kernel
