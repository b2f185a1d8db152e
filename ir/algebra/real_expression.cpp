#include "ir/algebra/real_expression.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace regraft {
namespace {

constexpr int kMaxDepth = 50;

class Reader {
 public:
  explicit Reader(text::Scanner& in) : in_(in) {}

  Result<RealExpression> sum(int depth) {
    using enum RealExpression::Kind;
    if (depth > kMaxDepth) return in_.error_here("nested too deep");
    ASSIGN_OR_RETURN(RealExpression a, product(depth));
    while (in_.peek() == '+' || in_.peek() == '-') {
      auto kind = in_.eat("+") ? Sum : (in_.eat("-"), RealExpression::Difference);
      ASSIGN_OR_RETURN(RealExpression b, product(depth));
      a = joined(kind, std::move(a), std::move(b));
    }
    return a;
  }

 private:
  static RealExpression joined(RealExpression::Kind kind, RealExpression a, RealExpression b) {
    RealExpression r;
    r.kind = kind;
    r.operands.push_back(std::move(a));
    r.operands.push_back(std::move(b));
    return r;
  }
  Result<RealExpression> product(int depth) {
    using enum RealExpression::Kind;
    ASSIGN_OR_RETURN(RealExpression a, factor(depth));
    while (in_.peek() == '*' || in_.peek() == '/') {
      auto kind = in_.eat("*") ? Product : (in_.eat("/"), RealExpression::Quotient);
      ASSIGN_OR_RETURN(RealExpression b, factor(depth));
      a = joined(kind, std::move(a), std::move(b));
    }
    return a;
  }
  Result<RealExpression> pair(RealExpression::Kind kind, int depth) {
    ASSIGN_OR_RETURN(RealExpression a, sum(depth + 1));
    if (!in_.eat(",")) return in_.error_here("expected ','");
    ASSIGN_OR_RETURN(RealExpression b, sum(depth + 1));
    if (!in_.eat(")")) return in_.error_here("expected ')'");
    return joined(kind, std::move(a), std::move(b));
  }
  Result<RealExpression> factor(int depth) {
    using enum RealExpression::Kind;
    if (in_.eat("(")) {
      ASSIGN_OR_RETURN(RealExpression a, sum(depth + 1));
      if (!in_.eat(")")) return in_.error_here("expected ')'");
      return a;
    }
    if (in_.eat("min(")) return pair(Least, depth);
    if (in_.eat("max(")) return pair(Greatest, depth);
    return leaf();
  }
  Result<RealExpression> leaf() {
    RealExpression r;
    size_t start = in_.position();
    bool variable = in_.eat("?");
    std::string name(in_.identifier());
    if (name.empty() && variable)
      return text::Scanner::error_at(start, "expected a name after '?'");
    bool infinite = !variable && (name == "inf" || name == "nan" || name == "infinity");
    if (name.empty() || infinite) {
      in_.rewind(start);
      ASSIGN_OR_RETURN(r.number, in_.real());
      return r;
    }
    r.kind = RealExpression::Name;
    r.name = variable ? "?" + name : name;
    if (variable) return r;
    if (!in_.eat("."))
      return text::Scanner::error_at(start, "expected a number, ?name or name.axis");
    ASSIGN_OR_RETURN(int64_t axis, in_.integer());
    r.name += "." + std::to_string(axis);
    return r;
  }

  text::Scanner& in_;
};

int priority(RealExpression::Kind kind) {
  using enum RealExpression::Kind;
  return kind == Sum || kind == Difference ? 0 : kind == Product || kind == Quotient ? 1 : 2;
}

std::string print(const RealExpression& e, const RealNames& names, int least) {
  using enum RealExpression::Kind;
  if (e.kind == Name) return names(e.name);
  if (e.kind == Number) {
    std::string s = text::print(e.number);
    return s[0] == '-' ? "(" + s + ")" : s;
  }
  if (e.kind == Least || e.kind == Greatest)
    return (e.kind == Least ? "min(" : "max(") + print(e.operands[0], names, 0) + "," +
           print(e.operands[1], names, 0) + ")";
  static constexpr std::string_view kSigns = "+-*/";
  int own = priority(e.kind);
  std::string s = print(e.operands[0], names, own) + kSigns[static_cast<size_t>(e.kind - Sum)] +
                  print(e.operands[1], names, own + 1);
  return own < least ? "(" + s + ")" : s;
}

}  // namespace

Result<RealExpression> read_real(text::Scanner& in) { return Reader(in).sum(0); }

std::string print(const RealExpression& e, const RealNames& names) { return print(e, names, 0); }

void for_each_name(const RealExpression& e, const std::function<void(const std::string&)>& visit) {
  if (e.kind == RealExpression::Name) visit(e.name);
  for (const RealExpression& x : e.operands) for_each_name(x, visit);
}

std::optional<double> value_of(
    const RealExpression& e,
    const std::function<std::optional<double>(const std::string&)>& value_of_name) {
  using enum RealExpression::Kind;
  if (e.kind == Number) return e.number;
  if (e.kind == Name) return value_of_name(e.name);
  auto a = value_of(e.operands[0], value_of_name), b = value_of(e.operands[1], value_of_name);
  if (!a || !b) return std::nullopt;
  switch (e.kind) {
    case Sum:
      return *a + *b;
    case Difference:
      return *a - *b;
    case Product:
      return *a * *b;
    case Quotient:
      return *a / *b;
    case Least:
      return std::min(*a, *b);
    default:
      return std::max(*a, *b);
  }
}

bool only_compares(const RealExpression& e) {
  return priority(e.kind) == 2 && std::all_of(e.operands.begin(), e.operands.end(), only_compares);
}

RealExpression expression_of(std::string_view name) {
  text::Scanner in(name.substr(1));
  auto e = read_real(in);
  CHECK(e.has_value() && in.at_end());
  return *std::move(e);
}

Var symbol_of_name(const std::string& name, SymbolPool& pool) {
  return pool.named(name[0] == '?' ? name.substr(1) : name, name[0] == '?' ? 0 : 1);
}

}  // namespace regraft
