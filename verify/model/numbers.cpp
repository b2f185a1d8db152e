#include "verify/model/numbers.h"

#include <cmath>
#include <vector>

#include "base/check.h"
#include "ir/algebra/scan.h"
#include "verify/model/constants.h"

namespace regraft::verify {
namespace {

using E = NumberExpression;

constexpr double kFewRoundings = 4, kLessThanOne = 0.99;

/// How many binary digits numbers of the type have.
int digits(DType type) { return 1 - std::ilogb(2 * roundoff(type)); }

bool has_form(double number, DType type) {
  int exponent = 0;
  double mantissa = std::ldexp(std::frexp(number, &exponent), digits(type));
  return mantissa == std::trunc(mantissa);
}

/// No rounding takes place: none is to be allowed for. Of doubles this cannot be told.
bool is_exact(const E& e, DType type) {
  if (e.form == E::Itself || e.form == E::Negated) return true;
  if (type == DType::F64 || !has_form(e.value, type)) return false;
  if (e.form == E::ReciprocalRoot) return has_form(std::sqrt(e.x), type);
  return e.form < E::ProductWithRoot || has_form(std::sqrt(e.y), type);
}

std::vector<NumberExpression> of_one(double x) {
  std::string t = text::print(x);
  return {{E::Itself, x, 0, x, t},
          {E::Negated, x, 0, -x, "-" + t},
          {E::Reciprocal, x, 0, 1 / x, "1 / " + t},
          {E::Root, x, 0, std::sqrt(x), "sqrt(" + t + ")"},
          {E::ReciprocalRoot, x, 0, 1 / std::sqrt(x), "1 / sqrt(" + t + ")"},
          {E::Square, x, 0, x * x, t + " * " + t}};
}

std::vector<NumberExpression> of_two(double x, double y) {
  std::string s = text::print(x), t = text::print(y);
  return {{E::Product, x, y, x * y, s + " * " + t},
          {E::Quotient, x, y, x / y, s + " / " + t},
          {E::Sum, x, y, x + y, s + " + " + t},
          {E::Difference, x, y, x - y, s + " - " + t},
          {E::ProductWithRoot, x, y, x * std::sqrt(y), s + " * sqrt(" + t + ")"},
          {E::QuotientWithRoot, x, y, x / std::sqrt(y), s + " / sqrt(" + t + ")"}};
}

}  // namespace

std::optional<NumberExpression> explain(double number, const std::set<double>& known, DType type) {
  constexpr size_t kMost = 24;
  if (number == 0 || !std::isfinite(number) || known.size() > kMost) return std::nullopt;
  double rounding = roundoff(type) * std::abs(number);
  auto fits = [&](const NumberExpression& e) {
    double most = is_exact(e, type) ? kLessThanOne : kFewRoundings;
    return std::abs(e.value - number) <= most * rounding;
  };
  for (double x : known)
    for (NumberExpression& e : of_one(x))
      if (fits(e)) return std::move(e);
  for (double x : known)
    for (double y : known)
      for (NumberExpression& e : of_two(x, y))
        if (fits(e)) return std::move(e);
  return std::nullopt;
}

std::optional<Rational> fraction_near(double number, const std::set<int64_t>& extents, DType type) {
  constexpr int64_t kSmall = 64;
  const double size = std::abs(number), allowed = kFewRoundings * roundoff(type) * size;
  if (!std::isfinite(number) || size == 0 || size > kSmall) return std::nullopt;
  auto fits = [&](int64_t p, int64_t q) {
    bool dyadic = (q & (q - 1)) == 0;
    return !dyadic && std::abs(static_cast<double>(p) / static_cast<double>(q) - size) <= allowed;
  };
  auto signed_fraction = [&](int64_t p, int64_t q) {
    return Rational::make(number < 0 ? -p : p, q);
  };
  for (int64_t q = 3; q <= kSmall; ++q)
    if (int64_t p = std::llround(size * static_cast<double>(q)); p <= kSmall && fits(p, q))
      return signed_fraction(p, q);
  for (int64_t q : extents)
    if (fits(1, q)) return signed_fraction(1, q);
  return std::nullopt;
}

std::optional<NumberExpression> solved_for_x(const NumberExpression& e, double number) {
  auto of = [&](E::Form form) -> std::optional<E> { return E{form, number, e.y, 0, {}}; };
  switch (e.form) {
    case E::Itself:
    case E::ReciprocalRoot:
      return std::nullopt;
    case E::Negated:
    case E::Reciprocal:
      return of(e.form);
    case E::Root:
      return of(E::Square);
    case E::Square:
      return e.x > 0 ? of(E::Root) : std::nullopt;
    case E::Product:
      return of(E::Quotient);
    case E::Quotient:
      return of(E::Product);
    case E::Sum:
      return of(E::Difference);
    case E::Difference:
      return of(E::Sum);
    case E::ProductWithRoot:
      return of(E::QuotientWithRoot);
    case E::QuotientWithRoot:
      return of(E::ProductWithRoot);
  }
  return std::nullopt;
}

Value build(Graph& g, const NumberExpression& e, const std::function<Value(double)>& make) {
  auto call = [&](const char* op, std::vector<Value> operands) {
    auto id = g.add_call(*find_op(op), std::move(operands), {});
    CHECK(id);
    return Value{*id, 0};
  };
  auto root = [&](Value v) { return call("sqrt", {v}); };
  Value x = make(e.x);
  switch (e.form) {
    case E::Itself:
      return x;
    case E::Negated:
      return call("neg", {x});
    case E::Reciprocal:
      return call("div", {make(1), x});
    case E::Root:
      return root(x);
    case E::ReciprocalRoot:
      return call("div", {make(1), root(x)});
    case E::Square:
      return call("mul", {x, x});
    case E::Product:
      return call("mul", {x, make(e.y)});
    case E::Quotient:
      return call("div", {x, make(e.y)});
    case E::Sum:
      return call("add", {x, make(e.y)});
    case E::Difference:
      return call("sub", {x, make(e.y)});
    case E::ProductWithRoot:
      return call("mul", {x, root(make(e.y))});
    case E::QuotientWithRoot:
      return call("div", {x, root(make(e.y))});
  }
  return x;
}

}  // namespace regraft::verify
