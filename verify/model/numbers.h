#pragma once
// A number that an optimiser computed, as an expression over the numbers that it had.
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "ir/algebra/concrete.h"
#include "ir/graph/graph.h"

namespace regraft::verify {

/// An expression over one number x, or over two.
struct NumberExpression {
  enum Form : uint8_t {
    Itself,
    Negated,
    Reciprocal,
    Root,
    ReciprocalRoot,
    Square,
    Product,
    Quotient,
    Sum,
    Difference,
    ProductWithRoot,   ///< x sqrt(y)
    QuotientWithRoot,  ///< x / sqrt(y)
  } form = Itself;
  double x = 0, y = 0;
  double value = 0;  ///< of the expression, in double precision
  std::string text;  ///< "1 / 1.41421354"
};

/// The plainest expression over `known` whose value is `number` but for a few roundings to `type`,
/// or for none where the expression is exact in it; nullopt: there is none.
std::optional<NumberExpression> explain(double number, const std::set<double>& known, DType type);

/// The fraction of small numbers, or 1 over one of `extents`, that `number` is but for a few
/// roundings to `type`, where no number of `type` is that fraction.
std::optional<Rational> fraction_near(double number, const std::set<int64_t>& extents, DType type);

/// x as an expression over the number that `e` gives and y: 1 / 0.707 of 0.707 = 1 / 1.414.
/// nullopt: there is no such form, or e is x.
std::optional<NumberExpression> solved_for_x(const NumberExpression& e, double number);

/// The expression as calls in a graph; `make` adds a constant of one number.
Value build(Graph& g, const NumberExpression& e, const std::function<Value(double)>& make);

}  // namespace regraft::verify
