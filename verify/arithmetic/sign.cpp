#include "verify/arithmetic/sign.h"

#include <array>

namespace regraft::verify {
namespace {

constexpr std::array<Sign, 3> kEach{sign::kNegative, sign::kZero, sign::kPositive};

/// The join of f over the signs that a and b consist of.
template <class F>
Sign for_all_pairs(Sign a, Sign b, F&& f) {
  Sign r = sign::kNone;
  for (Sign x : kEach)
    for (Sign y : kEach)
      if (implies(x, a) && implies(y, b)) r = join(r, f(x, y));
  return r;
}

Sign of_number(double x) {
  return {!(x >= 0), !(x > 0 || x < 0), !(x <= 0)};  // of what is no number: unknown
}

}  // namespace

std::string_view to_string(Sign s) {
  static constexpr std::array<std::string_view, 8> kNames{"none", "<0",  "=0",  "<=0",
                                                          ">0",   "!=0", ">=0", "unknown"};
  return kNames[static_cast<size_t>(s.may_be_negative() | s.may_be_zero() << 1 |
                                    s.may_be_positive() << 2)];
}

Sign join(Sign a, Sign b) {
  return {a.may_be_negative() || b.may_be_negative(), a.may_be_zero() || b.may_be_zero(),
          a.may_be_positive() || b.may_be_positive()};
}

Sign meet(Sign a, Sign b) {
  return {a.may_be_negative() && b.may_be_negative(), a.may_be_zero() && b.may_be_zero(),
          a.may_be_positive() && b.may_be_positive()};
}

bool implies(Sign strong, Sign weak) { return meet(strong, weak) == strong; }

Sign negated(Sign a) { return {a.may_be_positive(), a.may_be_zero(), a.may_be_negative()}; }

Sign sum(Sign a, Sign b) {
  return for_all_pairs(a, b, [](Sign x, Sign y) {
    if (x == sign::kZero || x == y) return y;
    return y == sign::kZero ? x : sign::kUnknown;
  });
}

Sign product(Sign a, Sign b) {
  return for_all_pairs(a, b, [](Sign x, Sign y) {
    if (x == sign::kZero || y == sign::kZero) return sign::kZero;
    return x == y ? sign::kPositive : sign::kNegative;
  });
}

Sign reciprocal(Sign a) { return meet(a, sign::kNotZero); }

Sign total(Sign a) { return sum(a, a); }

Sign domain_sign(Fn f) {
  switch (facts(f).domain) {
    case Domain::Everywhere:
      return sign::kUnknown;
    case Domain::NotZero:
      return sign::kNotZero;
    case Domain::NotNegative:
      return sign::kNotNegative;
    case Domain::Positive:
      return sign::kPositive;
  }
  return sign::kUnknown;
}

Sign image(Fn f, Sign x) {
  if (meet(x, domain_sign(f)) == sign::kNone) return sign::kNone;  // nowhere defined
  switch (facts(f).sign) {
    case SignOf::Unknown:
      return sign::kUnknown;
    case SignOf::Argument:
      return meet(x, domain_sign(f));
    case SignOf::PositivePart:
      return join(meet(x, sign::kNotNegative), x.may_be_negative() ? sign::kZero : sign::kNone);
    case SignOf::Positive:
      return sign::kPositive;
    case SignOf::TowardsZero:
      return join(x, sign::kZero);
    case SignOf::FromBelow:
      return join(x, x.may_be_positive() ? sign::kZero : sign::kNone);
  }
  return sign::kUnknown;
}

/// x joined with the values of max at x, then of min.
Sign clipped(Sign x, const Real& low, const Real& high) {
  return clipped(x, low.symbol ? sign::kUnknown : of_number(low.value),
                 high.symbol ? sign::kUnknown : of_number(high.value));
}

Sign clipped(Sign x, Sign bottom, Sign top) {
  auto larger = [](Sign a, Sign b) {
    if (a == b || b == sign::kNegative) return a;
    return a == sign::kNegative || b == sign::kPositive ? b : a;
  };
  Sign raised = for_all_pairs(x, bottom, larger);
  return negated(for_all_pairs(negated(raised), negated(top), larger));
}

Sign between(const Bound& low, const Bound& high) {
  Sign r;
  if (low.value && low.value->not_negative())
    r = meet(r, low.open || low.value->not_zero() ? sign::kPositive : sign::kNotNegative);
  if (high.value && high.value->not_positive())
    r = meet(r, high.open || high.value->not_zero() ? sign::kNegative : sign::kNotPositive);
  return r;
}

}  // namespace regraft::verify
