#include "ir/rule/real_number.h"

#include <cmath>
#include <limits>

#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft {

namespace {

bool is_real_number(const PatternNode& n, size_t k) {
  std::string text = real_variable(n, k);
  double x = n.attrs.reals[k].value;
  if (!text.empty()) {
    if (!is_expression(text)) return true;
    bool named = false;
    RealExpression e = expression_of(text);
    for_each_name(e, [&](const std::string&) { named = true; });
    if (named) return true;
    x = value_of(e, [](const std::string&) { return std::optional<double>(); }).value_or(NAN);
  }
  const double missing = n.op->reals[k].fallback;
  const bool bounds = std::abs(missing) >= std::numeric_limits<float>::max();
  return std::isfinite(x) || (bounds && std::isinf(x) && std::signbit(x) == std::signbit(missing));
}

}  // namespace

Status check_reals(const PatternNode& node) {
  const OpDef& op = *node.op;
  for (size_t k = 0; k < op.reals.size(); ++k)
    if (!is_real_number(node, k))
      return error(std::string(op.name) + ": " + std::string(op.reals[k].name) +
                   " is no real number");
  return {};
}

}  // namespace regraft
