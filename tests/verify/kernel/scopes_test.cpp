// Names that leave the range in which they mean something, and steps where a sum must stay what it
// is: each derivation here shows something false, and nothing but its scopes is wrong.
#include <gtest/gtest.h>

#include "tests/verify/kernel/goals.h"
#include "verify/kernel/premises.h"

namespace regraft::kernel {
namespace {

class Scopes : public Derivation {
 protected:
  Atom maximum(const std::string& index, const std::vector<std::string>& guard, Atom of) {
    return {.kind = Atom::Max,
            .argument = std::make_shared<Sum>(sum_of(std::move(of))),
            .bound = {symbol(index)},
            .guard = facts_of(symbols_, guard)};
  }
  Sum times(int64_t c, std::vector<Atom> atoms) { return {{product(c, {}, {}, std::move(atoms))}}; }
  Atom exp() { return function(Fn::Exp, sum_of(read(0, {}))); }
};

TEST_F(Scopes, ALawBindsNoIndexOfTheGuard) {
  const Sum all{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {read(0, {"k"})})}};
  const Atom same = function(Fn::Log, sum_of(function(Fn::Exp, all)));
  // Somewhere below 0 the sum over all k from 0 is 0, it would say.
  refuses({}, {{product(1, {}, {"ge -1-k"}, {same})}}, "law undo 0 0\ndrop 1|lin 1 2\nend\n");
  Sum plain = all;
  Product& p = plain.products.edit()[0];
  p.guard = joined({fact_of(symbols_, "ge -1-j")}, p.guard);
  p.coefficient = {-1, 1};
  accepts({}, {{product(1, {}, {"ge -1-j"}, {same}), plain.products[0]}},
          "law undo 0 0\npair 1 2 0 k k\nend\n");
}

TEST_F(Scopes, WhereAMaximumIsReachedStaysInItsGoal) {
  const std::string there = "\nattain 0.0 u reached 0";
  const Atom all = maximum("k", {"ge k", "ge n-1-k"}, read(0, {"k"}));
  const Atom one = maximum("l", {"ge l", "ge -l"}, read(0, {"l"}));
  const Sum sum{{product(1, {}, {}, {function(Fn::Relu, sum_of(all))}),
                 product(-1, {}, {}, {function(Fn::Relu, sum_of(one))})}};
  refuses({}, sum,
          "inside 0 0" + there + "|least n;lin 1 2\nlaw fact 0 0 0 0\nend\ninside 1 0" + there +
              "\nlaw fact 0 0 0 0\nend\npair 2 3 0\nend\n");
}

TEST_F(Scopes, OnlyWhatMustBeZeroIsMultiplied) {
  const Sum square{{product(1, {}, {}, {exp(), exp()})}};
  refuses({},
          {{product(1, {}, {}, {function(Fn::Relu, sum_of(exp()))}),
            product(-1, {}, {}, {function(Fn::Relu, square)})}},
          "inside 0 0\nmultiply 0.0\nend\npair 1 2 0\nend\n");
  refuses({}, times(-1, {exp()}), "infer 0\nmultiply 0\nend\nend\n");
  refuses({}, difference(sum_of(exp()), square),
          "body 0 -\nmultiply 0.0\nend\npair 1 2 0 1\nend\n");
}

TEST_F(Scopes, WhatMultipliesIsFreeOfTheIndices) {
  const Sum sum{
      {product(2, {"k"}, {"eq k"}, {read(0, {})}), product(-1, {"k"}, {"eq k-1"}, {read(0, {})})}};
  const std::string square = "|either SYMBOL;lin 1 2*2;lin 1 2*2 2:2\n";
  auto lines = [&](const std::string& s) {
    std::string cert = square;
    cert.replace(cert.find("SYMBOL"), 6, s);
    return "whole " + s + "*" + s + "+1 >" + cert + "multiply #0\npin 2 0 0\npin 3 0 1\n";
  };
  refuses({}, sum, lines("k") + "value 4 1\nvalue 5 1\npair 6 7 0\nend\n");
  const Sum even{
      {product(1, {"k"}, {"eq k"}, {read(0, {})}), product(-1, {"k"}, {"eq k-1"}, {read(0, {})})}};
  accepts({}, even, lines("j") + "pair 4 5 0 1\nend\n");
}

TEST_F(Scopes, MaximaThatAreComparedDoNotShareTheirIndices) {
  symbols_.make(Kind::Index, "v", std::nullopt);
  const Atom window = maximum("k", {"ge k", "ge m-1-k"}, read(0, {"u+k"}));
  const Atom one = maximum("v", {"ge v", "ge m-1-v"}, read(0, {"l"}));
  const Sum sum{{product(1, {"u"}, {"ge u", "ge n-1-u"}, {window}),
                 product(-1, {"l"}, {"ge l-k", "ge n-1-l+k"}, {one})}};
  refuses({}, sum, "pair 0 1 0 u+k l-k\nindices k v\npair 0 1 0\nend\nend\n");
}

TEST_F(Scopes, AMaximumElsewhereIsNoReasonForAFreeIndex) {
  const Atom below = maximum("l", {"ge l", "ge k-l"}, read(0, {"l"}));
  const std::vector<Partial> defined{{maximum("k", {"ge k", "ge n-1-k"}, read(0, {"k"})), {}, {}}};
  auto why = [&](const std::string& guard, const std::string& text) {
    try {
      Lines lines(text);
      Goal(symbols_, {{}, {}, &defined, 0}, {{product(1, {}, {guard}, {below})}}).run(lines);
      return std::string();
    } catch (const Refused& r) {
      return r.why;
    }
  };
  EXPECT_NE(why("ge -1-k", "attain 0.0 u as 0 k\ndrop 0|lin 1 2 3\nend\n"), "");
}

TEST_F(Scopes, WhatAClaimIsAboutIsNoNameOfAnIndex) {
  const Sum sum{{product(1, {"k"}, {"eq k"}, {read(0, {"k"})})}};
  refuses({}, sum, "alias 0 0 i\nend\n");
  EXPECT_NE(why_refused({}, sum, "alias 0 0 i\nend\n").find("names no index"), std::string::npos);
}

TEST_F(Scopes, NothingIsLearntFromANumberTimesZero) {
  Goal goal(symbols_, {}, sum_of(read(0, {})));
  goal.learn(times(0, {read(0, {})}), kZero);
  EXPECT_FALSE(goal.shown());
}

TEST(List, ACopyIsNotEditedWithTheOther) {
  List<Symbol> a{1, 2, 3};
  List<Symbol> b = a;
  EXPECT_TRUE(a.shares_with(b));
  b.edit()[0] = 7;
  b.erase(2);
  List<Symbol> c = joined(a, b);
  a.push_back(4);
  EXPECT_EQ(a.all(), (std::vector<Symbol>{1, 2, 3, 4}));
  EXPECT_EQ(b.all(), (std::vector<Symbol>{7, 2}));
  EXPECT_EQ(c.all(), (std::vector<Symbol>{1, 2, 3, 7, 2}));
}

}  // namespace
}  // namespace regraft::kernel
