#pragma once
// What a rule asks of sizes and attributes beside its shapes.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/algebra/poly.h"

namespace regraft {

enum class Relation : uint8_t { Equal, AtMost, Below, Differs };  // rules ask for the first three
std::string_view text_of(Relation r);                             ///< "=", "<=", "<", "!="
bool holds(double a, Relation r, double b);

/// Of integers: polynomials as in attributes. Divisibility is an equation: 2*floor(x.1/2)=x.1.
struct Condition {
  Poly first, second;
  Relation relation = Relation::Equal;
  Condition(Poly a, Poly b, Relation r = Relation::Equal)
      : first(std::move(a)), second(std::move(b)), relation(r) {}
};

/// Of real numbers: the texts of expressions (ir/algebra/real_expression.h) that only compare, so
/// that doubles decide it exactly.
struct RealCondition {
  std::string first, second;
  Relation relation = Relation::Equal;
};

}  // namespace regraft
