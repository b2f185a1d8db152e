// Signs of real numbers, and laws that ask for them.
#include "tests/verify/kernel/goals.h"

namespace regraft::kernel {
namespace {

/// What is known of signs, and what follows.
class Signed : public Derivation {
 protected:
  Sum x() { return sum_of(read(0, {})); }
  Sum y() { return sum_of(read(1, {})); }
  Sum of(Fn f, Sum s) { return sum_of(function(f, std::move(s))); }
  static Sum minus(Sum a, const Sum& b) { return std::move(a) + scaled(b, {-1, 1}); }
  Sum times(const Sum& a, const Sum& b) { return kernel::times(symbols_, a, b); }
  std::string why(std::vector<Known> known, const Sum& sum, const std::string& text,
                  std::optional<Known> target = {}) {
    try {
      Lines lines(text);
      Goal(symbols_, {{}, std::move(known), nullptr, 0}, sum, std::move(target)).run(lines);
      return lines.empty() ? "" : "more lines";
    } catch (const Refused& r) {
      return r.why;
    }
  }
  void shows(const std::vector<Known>& known, const Sum& sum, const std::string& text) {
    EXPECT_EQ(why(known, sum, text), "") << text;
  }
  void fails(const std::vector<Known>& known, const Sum& sum, const std::string& text) {
    EXPECT_NE(why(known, sum, text), "") << text;
  }
};

TEST_F(Signed, AreReadOffForms) {
  auto sign = [&](const Sum& s, std::vector<Known> known = {}) {
    return sign_of(symbols_, known, s);
  };
  EXPECT_EQ(sign(x()), kAnySign);
  EXPECT_EQ(sign(times(x(), x())), kNotNegative);
  EXPECT_EQ(sign(number({1, 2}) + times(x(), x())), kPositive);
  EXPECT_EQ(sign(of(Fn::Exp, x())), kPositive);
  EXPECT_EQ(sign(of(Fn::Relu, x())), kNotNegative);
  EXPECT_EQ(sign(of(Fn::Sqrt, x())), kAnySign);
  EXPECT_EQ(sign(of(Fn::Sqrt, of(Fn::Relu, x()))), kNotNegative);
  EXPECT_EQ(sign(of(Fn::Recip, of(Fn::Relu, x()))), kNotNegative);
  EXPECT_EQ(sign(x(), {{scaled(x(), {-1, 1}), kNegative}}), kPositive);
  EXPECT_EQ(sign(scaled(x(), {-2, 1}), {{x(), kNotNegative}}), kNegative | kZero);
  EXPECT_EQ(sign(x(), {{x(), kNotNegative}, {x(), kNegative | kZero}}), kZero);
  Sum total{{product(1, {"k"}, {"ge k"}, {function(Fn::Exp, sum_of(read(0, {"k"})))})}};
  EXPECT_EQ(sign(total), kNotNegative);
  // What is known of a free k says nothing of one that is bound.
  Sum bound{{product(1, {"k"}, {"ge k"}, {read(0, {"k"})})}};
  EXPECT_EQ(sign(bound, {{sum_of(read(0, {"k"})), kPositive}}), kAnySign);
  EXPECT_EQ(sign({{product(1, {}, {"ge i"}, {read(0, {})})}}, {{x(), kPositive}}), kNotNegative);
}

TEST_F(Signed, MakeCases) {
  Sum sum = minus(minus(of(Fn::Relu, x()), of(Fn::Relu, scaled(x(), {-1, 1}))), x());
  const std::string yes = "law positive 0 0\nlaw negative 1 0\npair 2 3 0\nend\n";
  const std::string no = "law negative 0 0\nlaw positive 1 0\npair 2 3 0\nend\n";
  shows({}, sum, "by-sign 0.0* >\n" + yes + no + "end\n");
  shows({}, sum, "by-sign 0.0* >=\n" + yes + no + "end\n");
  fails({}, sum, "by-sign 0.0* >\n" + yes + yes + "end\n");
  fails({}, sum, "by-sign 0.0* >\n" + yes + "end\n");
  fails({}, sum, "by-sign 0.0* >\n" + yes);
  fails({}, sum, "by-sign 0.0* <>\n" + yes + no + "end\n");
  fails({}, sum, yes);
  shows({{x(), kPositive}}, sum, yes);
  fails({{x(), kNotZero}}, sum, yes);
  Sum step = minus(of(Fn::Step, x()), number({1, 1}));
  shows({{x(), kPositive}}, step, "law positive 0 0\npair 2 1\nend\n");
  fails({{x(), kNotNegative}}, step, "law positive 0 0\npair 2 1\nend\n");
}

TEST_F(Signed, AddUp) {
  // x > y and y >= 2 make x - 2 positive.
  std::vector<Known> known{{minus(x(), y()), kPositive},
                           {minus(y(), number({2, 1})), kNotNegative}};
  Sum sum = minus(of(Fn::Relu, minus(x(), number({2, 1}))), minus(x(), number({2, 1})));
  const std::string rest = "law positive 0 0\npair 3 1 0\npair 4 2\nend\n";
  const std::string lines = "pair 0 2 0\npair 1 5\npair 3 4 0\nend\n";
  shows(known, sum, "infer 0.0* 1:0 1:1\n" + lines + rest);
  fails(known, sum, "infer 0.0* 1:0\npair 0 2 0\nend\n" + rest);
  fails(known, sum, "infer 0.0* -1:0 1:1\nend\n" + rest);
  fails(known, sum, "infer 0.0* 2:0 1:1\n" + lines + rest);
  known.push_back({minus(number({2, 1}), x()), kNotNegative});
  shows(known, x(), "absurd 1:0 1:1 1:2\npair 0 5 0\npair 1 2 0\npair 3 4\nend\nend\n");
  fails(known, x(), "absurd 1:1 1:2\npair 1 2\nend\nend\n");
  known[0].signs = kNotNegative;
  fails(known, x(), "absurd 1:0 1:1 1:2\npair 0 5 0\npair 1 2 0\npair 3 4\nend\nend\n");
}

TEST_F(Signed, OfProductsOfWhatIsKnown) {
  std::vector<Known> known{{x(), kNotNegative}, {y(), kNotNegative}};
  Sum sum = minus(of(Fn::Relu, times(x(), y())), times(x(), y()));
  shows(known, sum, "infer 0.0* 1:0*1\npair 0 1 0 1\nend\nlaw positive 0 0\npair 2 1 0 1\nend\n");
  known[1].signs = kAnySign;
  fails(known, sum, "infer 0.0* 1:0*1\npair 0 1 0 1\nend\nlaw positive 0 0\npair 2 1 0 1\nend\n");
}

TEST_F(Signed, OfTargets) {
  const Known target{times(x(), y()), kNotZero};
  EXPECT_NE(why({}, {}, "end\n", target), "");
  EXPECT_NE(why({{x(), kNotZero}}, {}, "end\n", target), "");
  EXPECT_EQ(why({{x(), kNotZero}, {y(), kPositive}}, {}, "end\n", target), "");
  EXPECT_EQ(why({{times(x(), y()), kNotZero}}, {}, "factor 0 1\nend\n", {{y(), kNotZero}}), "");
  EXPECT_NE(why({{times(x(), y()), kAnySign}}, {}, "factor 0 1\nend\n", {{y(), kNotZero}}), "");
  EXPECT_NE(why({{x() + y(), kNotZero}}, {}, "factor 0 0\nend\n", {{y(), kNotZero}}), "");
  const Sum common = times(x(), y()) + scaled(x(), {3, 1});
  const Known rest{y() + number({3, 1}), kNotZero};
  EXPECT_EQ(why({{common, kNotZero}}, {}, "factor 0 0 0\nend\n", rest), "");
  EXPECT_NE(why({{common, kNotZero}}, {}, "factor 0 1 0\nend\n", rest), "");
  EXPECT_NE(why({{common, kNotNegative}}, {}, "factor 0 0 0\nend\n", rest), "");
  const Known square{times(x(), x()), kNotNegative};
  EXPECT_EQ(why({}, {}, "infer target.0.0,1\npair 0 0\nend\nend\n", square).empty(), false);
  EXPECT_EQ(why({}, {}, "infer target.0.0,1\nend\nend\n", square), "");
}

TEST_F(Signed, OfBoundedFunctions) {
  const Sum s = of(Fn::Sigmoid, x()), e = of(Fn::Exp, x());
  EXPECT_EQ(why({}, {}, "bounds target.1.0\nend\n", {{minus(number({1, 1}), s), kPositive}}), "");
  EXPECT_NE(why({}, {}, "bounds target.1.0\nend\n", {{minus(s, number({1, 1})), kPositive}}), "");
  const std::string less =
      "bounds target.0.0\ninfer target 1:0\npair 0 2 0\npair 1 3 0\nend\nend\n";
  EXPECT_EQ(why({}, {}, less, {{minus(e, x()), kPositive}}), "");
  EXPECT_NE(why({}, {}, "bounds target.0.0\nend\n", {{minus(of(Fn::Sin, x()), x()), kPositive}}),
            "");
}

TEST_F(Signed, OfIncreasingFunctions) {
  Sum a = of(Fn::Tanh, x()), b = of(Fn::Tanh, y());
  const Known target{minus(a, b), kNotNegative};
  const std::string lines = "order target.0.0 target.1.0 1:0\npair 0 2 0\npair 1 3 0\nend\nend\n";
  EXPECT_EQ(why({{minus(x(), y()), kPositive}}, {}, lines, target), "");
  EXPECT_NE(why({{minus(x(), y()), kNegative}}, {}, lines, target), "");
  Sum c = of(Fn::Sqrt, x()), d = of(Fn::Sqrt, y());
  const Known roots{minus(c, d), kNotNegative};
  EXPECT_NE(why({{minus(x(), y()), kPositive}}, {}, lines, roots), "");
  std::vector<Known> known{{minus(x(), y()), kPositive}, {x(), kPositive}, {y(), kNotNegative}};
  EXPECT_EQ(why(known, {}, lines, roots), "");
  Sum e = of(Fn::Sin, x()), f = of(Fn::Sin, y());
  EXPECT_NE(why({{minus(x(), y()), kPositive}}, {}, lines, {{minus(e, f), kNotNegative}}), "");
}

TEST_F(Signed, OfSumsOverRanges) {
  auto total = [&](Fn f) {
    return Sum{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {function(f, sum_of(read(0, {"k"})))})}};
  };
  const Known exps{total(Fn::Exp), kPositive}, relus{total(Fn::Relu), kPositive};
  EXPECT_EQ(why({}, {}, "total target.0 > 0|least n;lin 1 2\nend\nend\n", exps), "");
  EXPECT_NE(why({}, {}, "total target.0 >\nend\nend\n", exps), "");
  EXPECT_NE(why({}, {}, "total target.0 > n|least n;lin 1 2|lin 1\nend\nend\n", exps), "");
  EXPECT_NE(why({}, {}, "total target.0 > 0|least n;lin 1 2\nend\nend\n", relus), "");
  EXPECT_NE(why({}, {}, "total target.0 <> 0|least n;lin 1 2\nend\nend\n", exps), "");
}

TEST_F(Signed, OfMaxima) {
  Atom m{.kind = Atom::Max, .bound = {symbol("k")}};
  m.guard = facts_of(symbols_, {"ge k", "ge n-1-k"});
  m.argument = std::make_shared<Sum>(sum_of(read(0, {"k"})));
  const Sum max = sum_of(m), zeroth = sum_of(read(0, {"0"}));
  const Known above{minus(max, zeroth), kNotNegative}, below{minus(zeroth, max), kNotNegative};
  EXPECT_EQ(why({}, {}, "above target.0.0 0|least n;lin 1 2\nend\n", above), "");
  EXPECT_NE(why({}, {}, "above target.1.0 0|least n;lin 1 2\nend\n", below), "");
  EXPECT_NE(why({}, {}, "above target.0.0 n|least n;lin 1 2|lin 1\nend\n", above), "");
  // The maximum of exp is exp of the maximum: exp(f(a)) for a where that is attained, and so on.
  Atom e = m;
  e.argument = std::make_shared<Sum>(of(Fn::Exp, *m.argument));
  const Known target{minus(sum_of(e), of(Fn::Exp, max)), kNotNegative};
  const std::string attained = "attain target.1.0.0.0 a reached 0|least n;lin 1 2\n";
  EXPECT_EQ(why({}, {},
                attained + "above target.0.0 a\norder #1.1.0 target.1.0 -1:0\npair 0 3 0\n"
                           "pair 1 2 0\nend\ninfer target 1:1 1:2\npair 0 2 0\npair 1 5 0\npair 3 "
                           "4 0\nend\nend\n",
                target),
            "");
  EXPECT_NE(why({}, {}, "attain target.1.0.0.0 n reached 0|least n;lin 1 2\nend\n", target), "");
  EXPECT_NE(why({}, {}, "attain target.1.0.0.0 b reached n|least n;lin 1 2|lin 1\nend\n", target),
            "");
}

TEST_F(Signed, OfMaximaOverOnePlace) {
  auto sum = [&](const std::vector<std::string>& guard, const char* at) {
    Atom m{.kind = Atom::Max, .bound = {symbol("k")}, .guard = facts_of(symbols_, guard)};
    m.argument = std::make_shared<Sum>(sum_of(read(0, {"k"})));
    return minus(sum_of(m), sum_of(read(0, {at})));
  };
  const std::vector<std::string> pinned{"ge k-i", "ge i-k"};
  const std::string found = "|cases 3;lin 2 4;lin 1 4";
  const std::string rest = "\npair 2 1 0\nend\n";
  shows({}, sum(pinned, "i"), "law only 0 0 i reached i" + found + rest);
  fails({}, sum(pinned, "i"), "law only 0 0 i reached i" + rest);
  fails({}, sum(pinned, "i+1"), "law only 0 0 i+1 reached i" + found + rest);
  fails({}, sum(pinned, "i"), "law only 0 0 i reached i+1" + found + "|lin 1" + rest);
  // Two places, a place that may not be there, an index by itself.
  fails({}, sum({"ge k-i", "ge i+1-k"}, "i"), "law only 0 0 i reached i" + found + "|lin 1" + rest);
  fails({}, sum({"ge k-i", "ge i-k", "ge k"}, "i"), "law only 0 0 i reached i" + found + rest);
  fails({}, sum(pinned, "k"), "law only 0 0 k reached i" + rest);
  fails({}, minus(of(Fn::Exp, x()), x()), "law only 0 0 reached" + rest);
}

TEST_F(Signed, LawsOfMaxima) {
  auto max_of = [&](Sum x) {
    Atom m{.kind = Atom::Max, .bound = {symbol("k")}};
    m.guard = facts_of(symbols_, {"ge k", "ge n-1-k"});
    m.argument = std::make_shared<Sum>(std::move(x));
    return sum_of(m);
  };
  const Sum f = sum_of(read(0, {"k"})), c = sum_of(read(1, {"i"}));
  const std::string there = " reached 0|least n;lin 1 2\n", end = "pair 2 1 0\nend\n";
  const std::string other = " reached n|least n;lin 1 2\n", apart = "pair 3 1 0\npair 4 2 0\nend\n";
  // max (f + c) = max f + c
  const Sum part = minus(minus(max_of(f + c), max_of(f)), c);
  shows({}, part, "law part 0 0 1" + there + apart);
  fails({}, part, "law part 0 0 0" + there + apart);
  fails({}, part, "law part 0 0 1" + other + apart);
  fails({}, part, "law part 0 0 1\n" + apart);
  // max (c f) = c max f for c >= 0
  const Sum common = minus(max_of(times(f, c)), times(c, max_of(f)));
  const std::string both = "pair 2 1 0 1\nend\n";
  shows({{c, kNotNegative}}, common, "law common 0 0 1" + there + both);
  fails({}, common, "law common 0 0 1" + there + both);
  fails({{c, kNotNegative}}, common, "law common 0 0 0" + there + both);
  fails({{c, kNotNegative}}, common, "law common 0 0 1" + other + both);
  // max (2 f) = 2 max f
  auto multiple = [&](int64_t n) {
    return minus(max_of(scaled(f, {n, 1})), scaled(max_of(f), {n, 1}));
  };
  shows({}, multiple(2), "law times 0 0 2 1" + there + end);
  fails({}, multiple(-2), "law times 0 0 -2 1" + there + end);
  fails({}, multiple(2), "law times 0 0 2 1" + other + end);
  // max 2 = 2
  const Sum number_two = minus(max_of(number({2, 1})), number({2, 1}));
  shows({}, number_two, "law number 0 0" + there + "pair 2 1\nend\n");
  fails({}, number_two, "law number 0 0" + other + "pair 2 1\nend\n");
  // max exp(f) = exp(max f)
  auto outside = [&](Fn g) { return minus(max_of(of(g, f)), of(g, max_of(f))); };
  shows({}, outside(Fn::Exp), "law increasing 0 0" + there + end);
  fails({}, outside(Fn::Exp), "law increasing 0 0" + other + end);
  fails({}, outside(Fn::Cos), "law increasing 0 0" + there + end);
  fails({}, outside(Fn::Sqrt), "law increasing 0 0" + there + end);
  const Sum e = of(Fn::Exp, f);
  shows({}, minus(max_of(of(Fn::Sqrt, e)), of(Fn::Sqrt, max_of(e))),
        "law increasing 0 0" + there + "pair 2 1 0\nend\n");
  fails({}, minus(max_of(scaled(e, {-1, 1})), of(Fn::Exp, max_of(scaled(f, {-1, 1})))),
        "law increasing 0 0" + there + end);
  fails({}, minus(of(Fn::Exp, f), f), "law increasing 0 0" + there + end);
}

TEST_F(Signed, LeadNowhereOutOfRanges) {
  Sum sum{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {function(Fn::Relu, sum_of(read(0, {"k"})))})}};
  fails({}, sum, "by-sign 0.0* >\nend\nend\nend\n");
  EXPECT_THROW(Goal(symbols_, {}, sum).at_path("0.0*"), Refused);
  EXPECT_THROW(Goal(symbols_, {}, sum).at_path("0.1"), Refused);
  EXPECT_THROW(Goal(symbols_, {}, sum).at_path("target"), Refused);
  EXPECT_NO_THROW(Goal(symbols_, {}, sum).at_path("0"));
  // What is known of k here says nothing of the k that is bound there.
  fails({{sum_of(read(0, {"k"})), kPositive}}, sum, "law positive 0 0\nend\n");
}

TEST_F(Signed, LawsOfWhatIsOver) {
  const Sum over = of(Fn::Recip, x());
  const Sum root = minus(of(Fn::Sqrt, over), times(of(Fn::Sqrt, x()), over));
  const Sum log = of(Fn::Log, over) + of(Fn::Log, x());
  const std::string roots = "law over 0 0\npair 2 1 0 1\nend\n";
  const std::string logs = "law over 0 0\npair 2 1 0\nend\n";
  shows({{x(), kNotNegative}}, root, roots);
  fails({{x(), kNotZero}}, root, roots);
  shows({{x(), kPositive}}, log, logs);
  fails({{x(), kNotNegative}}, log, logs);
  fails({{x(), kPositive}}, minus(of(Fn::Tanh, over), scaled(of(Fn::Tanh, x()), {-1, 1})), logs);
  fails({{x(), kPositive}}, minus(of(Fn::Log, scaled(over, {2, 1})), of(Fn::Log, x())), logs);
}

TEST_F(Signed, AlongRanges) {
  auto total = [&](int64_t c, const std::string& k, Fn f, int64_t within) {
    return product(c, {k}, {"ge " + k, "ge n-1-" + k},
                   {function(f, scaled(sum_of(read(0, {k})), {within, 1}))});
  };
  Product last = product(-1, {"u"}, {"ge u", "ge n-1-u"}, {read(0, {"u"})});
  Sum sum{{total(1, "k", Fn::Relu, 1), total(-1, "l", Fn::Relu, -1), last}};
  const std::string inner =
      "by-sign 0.0* >\nlaw positive 0 0\nlaw negative 1 0\npair 3 2 0\nend\n"
      "law negative 0 0\nlaw positive 1 0\npair 2 3 0\nend\nend\n";
  shows({}, sum, "under 0 1 k l 2 k u\n" + inner + "end\n");
  fails({}, sum, "under 0 1 k l\n" + inner + "end\n");
  fails({}, sum, "under 0 1 n-1-k n-1-l 2 k u\n" + inner + "end\n");
  sum.products.edit()[2].guard.edit()[1] = fact_of(symbols_, "ge n-2-u");
  fails({}, sum, "under 0 1 k l 2 k u|lin 1|lin 1\n" + inner + "end\n");
}

TEST_F(Signed, Laws) {
  auto law = [&](const Sum& before, const Sum& after, const std::string& words,
                 std::vector<Known> known = {}) {
    // Pairs of the right side's products with what the law made, in order.
    std::string text = "law " + words + "\n";
    size_t n = after.products.size();
    for (size_t k = 0; k < n; ++k) {
      text += "pair " + std::to_string(1 + n + k) + " " + std::to_string(1 + k);
      for (size_t a = 0; a < after.products[k].atoms.size(); ++a) text += " " + std::to_string(a);
      text += "\n";
    }
    return why(std::move(known), minus(before, after), text + "end\n");
  };
  const Sum one = number({1, 1}), two = number({2, 1});
  const Sum ex = of(Fn::Exp, x()), ey = of(Fn::Exp, y());
  EXPECT_EQ(law(of(Fn::Exp, x() + y()), times(ex, ey), "exponents 0 0 0"), "");
  EXPECT_NE(law(of(Fn::Tanh, x() + y()), times(ex, ey), "exponents 0 0 0"), "");
  EXPECT_EQ(law(of(Fn::Exp, scaled(x(), {2, 1})), times(ex, ex), "equal-parts 0 0 2"), "");
  EXPECT_NE(law(of(Fn::Exp, scaled(x(), {3, 1})), times(ex, ex), "equal-parts 0 0 2"), "");
  EXPECT_EQ(law(times(ex, ey), of(Fn::Exp, x() + y()), "both 0 0,1"), "");
  EXPECT_NE(law(times(ex, ey), of(Fn::Exp, x() + y()), "both 0 0"), "");
  const Sum root = of(Fn::Sqrt, x());
  EXPECT_EQ(law(times(root, root), x(), "both 0 0,1", {{x(), kNotNegative}}), "");
  EXPECT_NE(law(times(root, root), x(), "both 0 0,1"), "");
  EXPECT_EQ(law(of(Fn::Sqrt, times(x(), x())), x(), "undo 0 0", {{x(), kNotNegative}}), "");
  EXPECT_NE(law(of(Fn::Sqrt, times(x(), x())), x(), "undo 0 0"), "");
  EXPECT_EQ(law(of(Fn::Log, ex), x(), "undo 0 0"), "");
  EXPECT_EQ(law(of(Fn::Exp, of(Fn::Log, x())), x(), "undo 0 0", {{x(), kPositive}}), "");
  EXPECT_NE(law(of(Fn::Exp, of(Fn::Log, x())), x(), "undo 0 0", {{x(), kNotNegative}}), "");
  std::vector<Known> positive{{x(), kPositive}, {y(), kPositive}};
  const Sum xy = times(x(), y());
  EXPECT_EQ(law(of(Fn::Log, xy), of(Fn::Log, x()) + of(Fn::Log, y()), "factors 0 0 0", positive),
            "");
  EXPECT_NE(
      law(of(Fn::Log, xy), of(Fn::Log, x()) + of(Fn::Log, y()), "factors 0 0 0", {{xy, kPositive}}),
      "");
  const Sum roots = times(root, of(Fn::Sqrt, y()));
  EXPECT_EQ(law(of(Fn::Sqrt, xy), roots, "factors 0 0 0", positive), "");
  EXPECT_NE(law(of(Fn::Sqrt, xy), roots, "factors 0 0 0", {{x(), kNotNegative}}), "");
  const Sum sum = times(x(), y()) + x(), rest = y() + one;
  EXPECT_EQ(
      law(of(Fn::Recip, sum), times(of(Fn::Recip, x()), of(Fn::Recip, rest)), "common 0 0 0 0"),
      "");
  EXPECT_NE(law(of(Fn::Relu, sum), times(x(), of(Fn::Relu, rest)), "common 0 0 0 0"), "");
  EXPECT_EQ(law(of(Fn::Relu, sum), times(x(), of(Fn::Relu, rest)), "common 0 0 0 0",
                {{x(), kNotNegative}}),
            "");
  // A square: the factors 0 and 1 of x x y.
  const Sum square = times(times(x(), x()), y());
  const Sum by_square = times(times(x(), x()), of(Fn::Relu, y()));
  EXPECT_EQ(law(of(Fn::Relu, square), by_square, "common 0 0 0,1"), "");
  EXPECT_NE(law(of(Fn::Relu, square), by_square, "common 0 0 0,2"), "");
  EXPECT_NE(law(of(Fn::Relu, square), by_square, "common 0 0 0,0"), "");
  EXPECT_EQ(law(of(Fn::Step, sum), of(Fn::Step, rest), "common 0 0 0 0", positive), "");
  EXPECT_NE(law(of(Fn::Step, sum), of(Fn::Step, rest), "common 0 0 0 0", {{x(), kNotNegative}}),
            "");
  EXPECT_NE(
      law(of(Fn::Recip, sum), times(of(Fn::Recip, y()), of(Fn::Recip, rest)), "common 0 0 1 0"),
      "");
  EXPECT_EQ(law(of(Fn::Sigmoid, x()), of(Fn::Recip, one + of(Fn::Exp, scaled(x(), {-1, 1}))),
                "by-exp 0 0"),
            "");
  EXPECT_EQ(law(of(Fn::Floor, x() + two), of(Fn::Floor, x()) + two, "part 0 0 1"), "");
  EXPECT_NE(
      law(of(Fn::Floor, x() + number({1, 2})), of(Fn::Floor, x()) + number({1, 2}), "part 0 0 1"),
      "");
  EXPECT_EQ(law(of(Fn::Round, of(Fn::Floor, x()) + two), of(Fn::Floor, x()) + two, "again 0 0"),
            "");
  EXPECT_NE(law(of(Fn::Round, x()), x(), "again 0 0"), "");
  EXPECT_EQ(law(of(Fn::Single, of(Fn::Half, x())), of(Fn::Half, x()), "again 0 0"), "");
  EXPECT_NE(law(of(Fn::Half, of(Fn::Single, x())), of(Fn::Single, x()), "again 0 0"), "");
  // x = 2 y, as a known sum that is 0.
  const Known equal{minus(x(), scaled(y(), {2, 1})), kZero};
  EXPECT_EQ(law(x(), scaled(y(), {2, 1}), "fact 0 0 0 0", {equal}), "");
  EXPECT_NE(law(x(), scaled(y(), {2, 1}), "fact 0 0 0 1", {equal}), "");
  EXPECT_NE(law(x(), scaled(y(), {2, 1}), "fact 0 0 0 0", {{equal.sum, kNotNegative}}), "");
  EXPECT_EQ(law(of(Fn::Recip, root), times(root, of(Fn::Recip, x())), "inverse 0 0",
                {{x(), kNotNegative}}),
            "");
  EXPECT_NE(law(of(Fn::Recip, root), times(root, of(Fn::Recip, x())), "inverse 0 0"), "");
}

TEST_F(Signed, WithinRanges) {
  // Sum over k of relu(exp(a(k))): within the range, exp(a(k)) is no sum of others.
  auto total = [&](int64_t c, const std::string& k, Fn f) {
    return product(c, {k}, {"ge " + k, "ge n-1-" + k}, {function(f, sum_of(read(0, {k})))});
  };
  Product outer = total(1, "k", Fn::Exp);
  outer.atoms = {function(Fn::Relu, sum_of(outer.atoms[0]))};
  Sum sum{{outer, total(-1, "l", Fn::Exp)}};
  shows({}, sum, "body 0 0\nlaw positive 0 0\nend\npair 2 1 0 k l\nend\n");
  fails({}, sum, "body 0 -\nend\npair 2 1 0 k l\nend\n");
  fails({}, sum, "body 0 1\nlaw positive 0 0\nend\npair 2 1 0 k l\nend\n");
  // Both indices; then the outer one alone, whose guard does not mention the other.
  Sum square{{product(1, {"k", "l"}, {"ge k", "ge n-1-k", "ge l", "ge m-1-l"},
                      {read(0, {"k"}), function(Fn::Step, number({1, 1})), read(1, {"l"})}),
              product(-1, {"k", "l"}, {"ge k", "ge n-1-k", "ge l", "ge m-1-l"},
                      {read(0, {"k"}), read(1, {"l"})})}};
  const std::string rest = "pair 2 1 0 1 k l k l\nend\n";
  shows({}, square, "body 0 0,1\nlaw number 0 1\nend\n" + rest);
  shows({}, square, "body 0 0\nlaw number 0 1\nend\n" + rest);
}

TEST_F(Signed, MultipliedByWhatIsNotZero) {
  Sum sum{{product(1, {}, {}, {read(1, {}), function(Fn::Recip, x()), read(0, {})}),
           product(-1, {}, {}, {read(1, {})})}};
  const std::string lines =
      "multiply 0.1*\ncancel 2 1 0 - - 2\npair 0 1 0\nend\npair 4 3 0 1\nend\n";
  shows({{x(), kNotZero}}, sum, lines);
  fails({{x(), kNotNegative}}, sum, lines);
  fails({{x(), kNotZero}}, sum, "multiply 0.0\n" + lines);
}

TEST_F(Signed, SumsOverTheirTotal) {
  // Sum over k of a(k) / (sum over l of a(l)) is 1, where that is not 0.
  Sum total{{product(1, {"l"}, {"ge l", "ge n-1-l"}, {read(0, {"l"})})}};
  Sum sum{{product(1, {"k"}, {"ge k", "ge n-1-k"}, {read(0, {"k"}), function(Fn::Recip, total)}),
           product(-1, {}, {}, {})}};
  const std::string lines = "cancel 0 1 0 0 0,1 0\npair 0 1 0 k l\nend\npair 1 2\nend\n";
  shows({{total, kNotZero}}, sum, lines);
  fails({}, sum, lines);
  fails({{total, kNotZero}}, sum, "cancel 0 1 0 0 0 0\npair 0 1 0 k l\nend\npair 1 2\nend\n");
  fails({{total, kNotZero}}, sum, "cancel 0 1 0 - - 0\npair 0 1 0 k l\nend\npair 1 2\nend\n");
  sum.products.edit()[0].atoms.push_back(read(1, {"k"}));
  fails({{total, kNotZero}}, sum, lines);
}

}  // namespace
}  // namespace regraft::kernel
