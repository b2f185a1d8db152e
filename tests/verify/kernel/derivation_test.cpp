#include "verify/kernel/derivation.h"

#include <gtest/gtest.h>

#include "tests/verify/kernel/support.h"

namespace regraft::kernel {
namespace {

/// Sums over the usual symbols and indices k, l, u from text.
class Derivation : public ::testing::Test {
 protected:
  void SetUp() override {
    make_usual(symbols_);
    for (const char* name : {"k", "l", "u"}) symbols_.make(Kind::Index, name, std::nullopt);
  }
  Poly poly(const std::string& text) { return symbols_.read(text); }
  Symbol symbol(const std::string& name) { return *symbols_.find(name); }
  Atom read(int head, const std::vector<std::string>& positions) {
    Atom a{.kind = Atom::Read, .head = head};
    for (const std::string& p : positions) a.positions.push_back(poly(p));
    return a;
  }
  static Atom function(Fn f, Sum argument) {
    return {.kind = Atom::Apply,
            .head = static_cast<int>(f),
            .argument = std::make_shared<Sum>(std::move(argument))};
  }
  Product product(int64_t c, const std::vector<std::string>& bound,
                  const std::vector<std::string>& guard, std::vector<Atom> atoms) {
    Product p{{c, 1}, {}, facts_of(symbols_, guard), std::move(atoms)};
    for (const std::string& b : bound) p.bound.push_back(symbol(b));
    return p;
  }
  /// Why the lines do not show the sum to be 0; empty: they do.
  std::string why_refused(const std::vector<std::string>& facts, const Sum& sum,
                          const std::string& text) {
    try {
      Lines lines(text);
      Goal(symbols_, facts_of(symbols_, facts), sum).run(lines);
      if (!lines.empty()) throw Refused{"more lines"};
      return "";
    } catch (const Refused& r) {
      return r.why;
    }
  }
  void accepts(const std::vector<std::string>& facts, const Sum& sum, const std::string& text) {
    EXPECT_EQ(why_refused(facts, sum, text), "") << text;
  }
  void refuses(const std::vector<std::string>& facts, const Sum& sum, const std::string& text) {
    EXPECT_NE(why_refused(facts, sum, text), "") << text;
  }

  Symbols symbols_;
};

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
  longer.products[1].guard[1] = fact_of(symbols_, "ge n-l");
  refuses({}, longer, "pair 0 1 0 n-1-k n-1-l|lin 1|lin 1\nend\n");
  other.products[1].atoms[0].head = 1;
  refuses({}, other, "pair 0 1 0 n-1-k n-1-l\nend\n");
  twice.products[1].coefficient = {-2, 1};
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
  sum.products[2].guard[0] = fact_of(symbols_, "ge -2-i");
  refuses({}, sum, "divide 0 ge i\npair 1 3 0\npair 2 4 0|lin 1|lin 1\nend\n");
}

TEST_F(Derivation, GuardsGainAndLoseWhatFollows) {
  Sum sum{{product(1, {}, {"ge i-2"}, {read(0, {"i"})}),
           product(-1, {}, {"ge i-2", "ge i"}, {read(0, {"i"})})}};
  accepts({}, sum, "imply 0 ge i|lin 1 2 0\npair 1 2 0\nend\n");
  accepts({}, sum, "omit 1 1|lin 1 2 0\npair 0 2 0\nend\n");
  refuses({}, sum, "imply 0 ge i-3|lin 1 2\npair 1 2 0\nend\n");
  refuses({}, sum, "omit 1 0|lin 1 2\npair 0 2 0\nend\n");
}

TEST_F(Derivation, PositionsThatAreEqual) {
  Sum sum{{product(1, {}, {"eq i-j"}, {read(0, {"i", "j"})}),
           product(-1, {}, {"eq i-j"}, {read(0, {"i", "i"})})}};
  accepts({}, sum, "at 0 0 1 i|cases 2;lin 1 3;lin -1:1 3\npair 1 2 0\nend\n");
  refuses({}, sum, "at 0 0 1 i+1|cases 2;lin 1 3;lin -1:1 3\npair 1 2 0\nend\n");
}

TEST_F(Derivation, CoefficientsAndNumbers) {
  Sum sum{{product(3, {}, {}, {read(0, {})}), product(-1, {}, {}, {read(0, {})}),
           product(-2, {}, {}, {read(0, {})})}};
  accepts({}, sum, "part 0 1 1\npair 3 1 0\npair 4 2 0\nend\n");
  refuses({}, sum, "part 0 2 1\npair 3 1 0\npair 4 2 0\nend\n");
  Atom n{.kind = Atom::Number, .positions = {poly("2*n+1")}};
  Atom one{.kind = Atom::Number, .positions = {poly("n")}};
  Sum spread{{product(1, {}, {}, {n}), product(-2, {}, {}, {one}), product(-1, {}, {}, {})}};
  accepts({}, spread, "value 0 0\npair 1 4 0\npair 2 3\nend\n");
  spread.products[1].coefficient = {-1, 1};
  refuses({}, spread, "value 0 0\npair 1 4 0\npair 2 3\nend\n");
}

TEST_F(Derivation, QuotientsOfWholeNumbers) {
  Atom n{.kind = Atom::Number, .positions = {poly("n")}};
  Atom over{.kind = Atom::Recip, .positions = {poly("n")}};
  Atom z{.kind = Atom::Number, .positions = {poly("z")}};
  Atom over_z{.kind = Atom::Recip, .positions = {poly("z")}};
  Sum sum{{product(1, {}, {}, {n, over}), product(-1, {}, {}, {})}};
  accepts({}, sum, "cancel 0 0 1|least n;lin 1 2\npair 1 2\nend\n");
  refuses({}, sum, "cancel 0 1 0|least n;lin 1 2\npair 1 2\nend\n");
  Sum perhaps{{product(1, {}, {}, {z, over_z}), product(-1, {}, {}, {})}};
  refuses({}, perhaps, "cancel 0 0 1|least z;lin 1 2\npair 1 2\nend\n");
  Sum mixed{{product(1, {}, {}, {n, over_z}), product(-1, {}, {}, {})}};
  refuses({}, mixed, "cancel 0 0 1|least n;lin 1 2\npair 1 2\nend\n");
}

TEST_F(Derivation, CountsWhatNothingReads) {
  Atom n{.kind = Atom::Number, .positions = {poly("n")}};
  Sum sum{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {read(0, {"i"})}),
           product(-1, {}, {}, {read(0, {"i"}), n})}};
  accepts({}, sum, "count 0 0 0 1|least n;lin 1 2\npair 2 1 0 1\nend\n");
  refuses({}, sum, "count 0 0 1 0|least n;lin 1 2\npair 2 1 0 1\nend\n");
  refuses({}, sum, "count 0 0 0 0|least n;lin 1 2\npair 2 1 0 1\nend\n");
  sum.products[0].atoms[0] = read(0, {"k"});
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
  sum.products[1].atoms[0].head = static_cast<int>(Fn::Tanh);
  refuses({}, sum, "pair 0 1 0\npair 0 3 0\npair 1 2 0\nend\nend\n");
}

TEST_F(Derivation, StepsWithinAnArgument) {
  Sum twice{
      {product(1, {}, {"ge i"}, {function(Fn::Relu, Sum{{product(1, {}, {}, {read(0, {})})}})})}};
  Sum once{{product(1, {}, {}, {read(0, {})})}};
  Sum sum{{product(1, {}, {"ge i"}, {function(Fn::Relu, twice)}),
           product(-1, {}, {"ge i"}, {function(Fn::Relu, once)})}};
  accepts({}, sum, "inside 0 0\nomit 0 0\nend\nagain 2 0\npair 1 3 0\nend\n");
  refuses({}, sum, "again 0 0\npair 1 2 0\nend\n");
  refuses({}, sum, "inside 0 0\nend\nagain 2 0\npair 1 3 0\nend\n");
  Sum doubled = twice;
  doubled.products[0].coefficient = {2, 1};
  sum.products[0].atoms[0] = function(Fn::Relu, doubled);
  refuses({}, sum, "inside 0 0\nomit 0 0\nend\nagain 2 0\npair 1 3 0\nend\n");
}

TEST_F(Derivation, QuotientsOfProducts) {
  Sum x{{product(1, {}, {}, {read(0, {})})}}, y{{product(1, {}, {}, {read(1, {})})}};
  Atom over_y = function(Fn::Recip, y);
  Sum quotient{{product(2, {}, {}, {read(0, {}), over_y})}};
  Product right = product(-1, {}, {}, {function(Fn::Recip, x), read(1, {})});
  right.coefficient = {-1, 2};
  Sum sum{{product(1, {}, {}, {function(Fn::Recip, quotient)}), right}};
  accepts({}, sum, "invert 0 0\npair 2 1 0 1\nend\n");
  sum.products[1].coefficient = {-2, 1};
  refuses({}, sum, "invert 0 0\npair 2 1 0 1\nend\n");
  Sum added{{product(1, {}, {}, {function(Fn::Recip, x + y)}),
             product(-1, {}, {}, {function(Fn::Recip, x), over_y})}};
  refuses({}, added, "invert 0 0\npair 2 1 0 1\nend\n");
  // x times 1/x needs a quotient of the claim: a goal by itself has none.
  Sum one{{product(1, {}, {}, {read(1, {}), over_y}), product(-1, {}, {}, {})}};
  refuses({}, one, "reduce 0 0 1 0 0\npair 2 1\nend\n");
  Lines lines("reduce 0 0 1 0 0\npair 2 1\nend\n");
  EXPECT_NO_THROW(Goal(symbols_, {}, one, 0, {{over_y, {}, {}}}).run(lines));
  Lines others("reduce 0 0 1 0 0\npair 2 1\nend\n");
  EXPECT_THROW(Goal(symbols_, {}, one, 0, {{function(Fn::Recip, x), {}, {}}}).run(others), Refused);
  Lines elsewhere("reduce 0 0 1 0 0|lin 1\npair 2 1\nend\n");
  EXPECT_THROW(
      Goal(symbols_, {}, one, 0, {{over_y, {}, facts_of(symbols_, {"ge i"})}}).run(elsewhere),
      Refused);
}

TEST_F(Derivation, NumbersLeaveFunctions) {
  Sum x{{product(1, {}, {}, {read(0, {})})}};
  auto sum = [&](Fn f, int64_t within, int64_t outside, int64_t over) {
    Product p = product(-outside, {}, {}, {function(f, x)});
    p.coefficient = Fraction::make(-outside, over);
    return Sum{{product(1, {}, {}, {function(f, scaled(x, {within, 1}))}), p}};
  };
  accepts({}, sum(Fn::Relu, 2, 2, 1), "outside 0 0 2 1\npair 1 2 0\nend\n");
  const std::string by_minus_two = "outside 0 0 -2 1\npair 1 2 0\nend\n";
  const std::string by_minus_one = "outside 0 0 -1 1\npair 1 2 0\nend\n";
  refuses({}, sum(Fn::Relu, -2, -2, 1), by_minus_two);
  accepts({}, sum(Fn::Recip, -2, -1, 2), by_minus_two);
  refuses({}, sum(Fn::Recip, -2, -2, 1), by_minus_two);
  accepts({}, sum(Fn::Tanh, -1, -1, 1), by_minus_one);
  refuses({}, sum(Fn::Tanh, -2, -2, 1), by_minus_two);
  refuses({}, sum(Fn::Exp, -1, -1, 1), by_minus_one);
  refuses({}, sum(Fn::Recip, -2, -1, 2), "outside 0 0 0 1\npair 1 2 0\nend\n");
}

TEST_F(Derivation, FunctionsThatAreZeroAtZero) {
  Sum nothing{{product(1, {}, {"ge -1-i"}, {read(0, {"i"})})}};
  Sum sum{{product(1, {}, {"ge i"}, {function(Fn::Relu, nothing)})}};
  accepts({}, sum, "vanish 0 0\ndrop 0|lin 1 2\nend\nend\n");
  refuses({}, sum, "vanish 0 0\nend\nend\n");
  sum.products[0].atoms[0].head = static_cast<int>(Fn::Exp);
  refuses({}, sum, "vanish 0 0\ndrop 0|lin 1 2\nend\nend\n");
}

TEST_F(Derivation, SizesAndCases) {
  Sum sum{{product(1, {}, {}, {read(0, {"n"})}), product(-1, {}, {}, {read(0, {"m"})})}};
  accepts({"eq n-m"}, sum, "size n m\npair 2 3 0\nend\n");
  refuses({"eq n-m-1"}, sum, "size n m|lin 1\npair 2 3 0\nend\n");
  std::string both = "size n m\npair 2 3 0\nend\n";
  accepts({"eq n-m"}, sum,
          "cases eq n-m\n" + both + "refuted|cases 2;lin -1:1 3;lin 1 3\nend\nend\n");
  refuses({}, sum, "cases eq n-m\n" + both + "end\n");
  refuses({}, sum, "cases eq n-m\n" + both);
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
    OutputClaim claim{facts_of(symbols_, given), {}, {{}, std::move(left)}, {{}, {std::move(x)}}};
    try {
      const std::string all = text + "\nend\n";
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
  EXPECT_EQ(why_not({}, {left}, zeroth, "as 0 0|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {}, zeroth, "as 0 0|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {left}, at_n, "as 0 n|least n;lin 1 2|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {left}, at_n, "as 0 0|least n;lin 1 2"), "");
  EXPECT_EQ(why_not({"ge -n"}, {}, at_n, "nowhere|least n;lin 1 2"), "");
  EXPECT_NE(why_not({"ge n"}, {}, at_n, "nowhere|least n;lin 1 2"), "");
}

TEST_F(Definedness, FactorsAndMultiplesOfDenominators) {
  Atom x = read(0, {}), y = read(1, {}), z = read(2, {});
  Partial both = over(single(3, {x, y}));
  EXPECT_EQ(why_not({}, {both}, over(single(1, {x})), "factors 0 0"), "");
  EXPECT_EQ(why_not({}, {both}, over(single(1, {x, x, y})), "factors 0 0 0 0 0 1"), "");
  EXPECT_EQ(why_not({}, {over(single(1, {x})), over(single(1, {y}))}, both, "factors 0 0 1 0"), "");
  EXPECT_NE(why_not({}, {both}, over(single(1, {z})), "factors 0 0"), "");
  EXPECT_NE(why_not({}, {over(single(1, {x}))}, both, "factors 0 0 0 0"), "");
  EXPECT_NE(why_not({}, {over(single(1, {x}))}, both, "factors 0 0"), "");
  Sum sum = single(1, {x}) + single(1, {y});
  EXPECT_NE(why_not({}, {both}, over(sum), "factors 0 0"), "");
  EXPECT_NE(why_not({}, {over(sum)}, over(single(1, {x})), "factors 0 0"), "");
  const std::string pairs = "\npair 0 2 0\npair 1 3 0\nend";
  EXPECT_EQ(why_not({}, {over(sum)}, over(scaled(sum, {-2, 1})), "multiple 0 -2 1" + pairs), "");
  EXPECT_NE(why_not({}, {over(sum)}, over(scaled(sum, {-2, 1})), "multiple 0 2 1" + pairs), "");
  EXPECT_NE(why_not({}, {over(sum)}, over({}), "multiple 0 0 1\nend"), "");
  Partial root{function(Fn::Sqrt, single(1, {x})), {}, {}};
  EXPECT_NE(why_not({}, {root}, over(single(1, {x})), "factors 0 0"), "");
}

TEST_F(Definedness, WholeNumbersAndMaxima) {
  Partial over_n{{.kind = Atom::Recip, .positions = {poly("n")}}, {}, {}};
  Partial over_z{{.kind = Atom::Recip, .positions = {poly("z")}}, {}, {}};
  EXPECT_EQ(why_not({}, {}, over_n, "positive|least n;lin 1 2"), "");
  EXPECT_NE(why_not({}, {}, over_z, "positive|least z;lin 1 2"), "");
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
