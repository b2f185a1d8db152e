#pragma once
// Real attributes that are computed from others: ?e/(?c*?c), max(?a,?b), 1/x.1, 1/6.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/algebra/poly.h"
#include "ir/algebra/scan.h"

namespace regraft {

/// Over the reals: 1/6 is a sixth, where its value in a model is a float next to it.
struct RealExpression {
  enum Kind : uint8_t {
    Number,
    Name,  ///< "?e", a real attribute, or "x.1", a size
    Sum,
    Difference,
    Product,
    Quotient,
    Least,
    Greatest,
  } kind = Number;
  double number = 0;
  std::string name;
  std::vector<RealExpression> operands;  ///< two, or none
};

/// What stands for a name; numbers are in parentheses where they are negative.
using RealNames = std::function<std::string(const std::string&)>;

/// Reads numbers, names, + - * / with the usual priorities, parentheses, min(a,b) and max(a,b).
Result<RealExpression> read_real(text::Scanner& in);
/// Text that reads back as the same expression.
std::string print(const RealExpression& e, const RealNames& names);
/// Calls `visit` for each name.
void for_each_name(const RealExpression& e, const std::function<void(const std::string&)>& visit);
/// In doubles; nullopt: a name has no value.
std::optional<double> value_of(
    const RealExpression& e,
    const std::function<std::optional<double>(const std::string&)>& value_of_name);
/// Made of names, numbers, min and max alone: doubles compute it exactly.
bool only_compares(const RealExpression& e);

/// Rules and their instances keep an expression as "=" and its text where the name of a real
/// variable may stand. In an instance a symbol has that name; "?e" in it is the symbol "e" of its
/// pool, "x.1" the symbol "x.1".
inline bool is_expression(std::string_view name) { return name.starts_with('='); }
/// REQUIRES: is_expression(name), and it was made from an expression.
RealExpression expression_of(std::string_view name);
/// The symbol of a pool that a name in an expression is.
Var symbol_of_name(const std::string& name, SymbolPool& pool);

}  // namespace regraft
