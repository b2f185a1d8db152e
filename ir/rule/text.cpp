// The text form of rules.
#include "ir/rule/text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/algebra/real_expression.h"
#include "ir/algebra/scan.h"
#include "ir/rule/family.h"
#include "ir/rule/pattern.h"

namespace regraft {
namespace {

using text::Scanner;

constexpr int kMaxDepth = 200;
constexpr size_t kMaxNodes = 1000;

class RuleParser {
 public:
  explicit RuleParser(std::string_view line) : in_(line) {}

  Result<Rule> run() {
    in_.skip_space();
    rule_.name = in_.word("-.:/+=~");
    if (rule_.name.empty()) return in_.error_here("expected the name of the rule");
    in_.skip_space();
    size_t start = in_.position();
    RETURN_IF_ERROR(side(rule_.lhs));
    RETURN_IF_ERROR(check_left_sizes());
    rule_.both = in_.eat("<=>");
    if (!rule_.both && !in_.eat("=>")) return in_.error_here("expected '=>' or '<=>'");
    right_ = true;
    RETURN_IF_ERROR(side(rule_.rhs));
    RETURN_IF_ERROR(where());
    RETURN_IF_ERROR(domain());
    RETURN_IF_ERROR(verdict());
    RETURN_IF_ERROR(numerics());
    RETURN_IF_ERROR(origin());
    if (!in_.at_end()) return in_.error_here("expected the end of the line");
    if (auto valid = validate(rule_); !valid)
      return Scanner::error_at(start, valid.error().message);
    return std::move(rule_);
  }

 private:
  enum class Role : uint8_t { Tensor, List, Number, Real };

  Status side(Pattern& p) {
    do {
      in_.skip_space();
      ASSIGN_OR_RETURN(PatternRef r, value(p, 0));
      p.outputs.push_back(r);
      in_.skip_space();
    } while (in_.eat(";"));
    return {};
  }

  Result<PatternRef> value(Pattern& p, int depth) {
    if (depth > kMaxDepth) return in_.error_here("nested too deep");
    if (in_.peek() == '?') return tensor();
    if (in_.peek() != '(') return in_.error_here("expected '(' or a variable");
    size_t start = in_.position();
    ASSIGN_OR_RETURN(int32_t node, call(p, depth));
    if (!in_.eat("#")) return PatternRef{node, 0};
    ASSIGN_OR_RETURN(int64_t output, in_.integer());
    auto known = known_outputs(p.nodes[static_cast<size_t>(node)]);
    if (output < 0 || output >= known.value_or(kMaxNodes))
      return Scanner::error_at(start, "has no output " + std::to_string(output));
    return PatternRef{node, static_cast<int32_t>(output)};
  }

  /// Notes that a name is used; on the right only names of the left may be.
  Status use(const std::string& name, Role role, size_t position) {
    auto it = roles_.find(name);
    if (it == roles_.end() && right_)
      return Scanner::error_at(position,
                               "the variable ?" + name + " is not bound on the left side");
    if (it == roles_.end()) it = roles_.emplace(name, role).first;
    if (it->second != role)
      return Scanner::error_at(position,
                               "the variable ?" + name + " stands for two kinds of things");
    return {};
  }

  /// "?name".
  Result<std::string> variable(size_t start) {
    if (!in_.eat("?")) return in_.error_here("expected '?'");
    std::string name(in_.identifier());
    if (name.empty()) return Scanner::error_at(start, "expected the name of a variable");
    return name;
  }

  Result<PatternRef> tensor() {
    size_t start = in_.position();
    ASSIGN_OR_RETURN(std::string name, variable(start));
    RETURN_IF_ERROR(use(name, Role::Tensor, start));
    auto it = std::find(rule_.variables.begin(), rule_.variables.end(), name);
    auto k = static_cast<int>(it - rule_.variables.begin());
    if (it == rule_.variables.end()) rule_.variables.push_back(name);
    return variable_ref(k);
  }

  Result<int32_t> call(Pattern& p, int depth) {
    size_t start = in_.position();
    in_.eat("(");
    std::string_view name = in_.word("-");
    PatternNode n;
    n.op = find_op(name);
    if (!n.op)
      return Scanner::error_at(start, "unknown operator '" + std::string(name.substr(0, 40)) + "'");
    for (in_.skip_space(); in_.peek() == '(' || in_.peek() == '?'; in_.skip_space()) {
      ASSIGN_OR_RETURN(PatternRef r, value(p, depth + 1));
      n.inputs.push_back(r);
    }
    RETURN_IF_ERROR(attributes(n));
    if (!in_.eat(")")) return in_.error_here("expected ')', an operand or an attribute");
    for (size_t k = 0; k < p.nodes.size(); ++k)
      if (same(p.nodes[k], n)) return static_cast<int32_t>(k);
    if (p.nodes.size() == kMaxNodes) return Scanner::error_at(start, "too many operators");
    p.nodes.push_back(std::move(n));
    if (auto fits = check_pattern_node(rule_, p, p.nodes.size() - 1); !fits)
      return Scanner::error_at(start, fits.error().message);
    return static_cast<int32_t>(p.nodes.size() - 1);
  }

  Status attributes(PatternNode& n) {
    n.attrs.ints.resize(n.op->ints.size());
    n.list_vars.resize(n.op->ints.size());
    n.real_vars.resize(n.op->reals.size());
    for (const RealAttr& a : n.op->reals) n.attrs.reals.push_back({a.fallback, nullptr});
    std::vector<std::string> seen;
    for (;; in_.skip_space()) {
      size_t start = in_.position();
      std::string name(in_.identifier());
      if (name.empty()) return {};
      int as_int = n.op->int_attr(name), as_real = n.op->real_attr(name);
      if (as_int < 0 && as_real < 0)
        return Scanner::error_at(
            start, std::string(n.op->name) + " has no attribute '" + name.substr(0, 40) + "'");
      if (std::find(seen.begin(), seen.end(), name) != seen.end())
        return Scanner::error_at(start, "the attribute '" + name + "' is given twice");
      seen.push_back(name);
      if (!in_.eat("=")) return in_.error_here("expected '='");
      if (as_int >= 0)
        RETURN_IF_ERROR(integers(n, static_cast<size_t>(as_int)));
      else
        RETURN_IF_ERROR(real(n, static_cast<size_t>(as_real)));
    }
  }

  Status integers(PatternNode& n, size_t k) {
    size_t start = in_.position();
    const IntAttr& a = n.op->ints[k];
    if (takes_axes(a) && !std::isdigit(in_.peek()) && in_.peek() != '-') {
      n.axes.resize(n.op->ints.size());
      ASSIGN_OR_RETURN(n.axes[k], read_axis_term(in_));
      return {};
    }
    if (in_.peek() == '?' && a.length != Length::One) {
      ASSIGN_OR_RETURN(std::string name, variable(start));
      if (std::string_view("+-*,").find(in_.peek()) == std::string_view::npos ||
          in_.peek() == '\0') {
        n.list_vars[k] = name;
        return use(name, Role::List, start);
      }
      in_.rewind(start);
    }
    ASSIGN_OR_RETURN(
        n.attrs.ints[k],
        text::read_polys(in_, *rule_.pool, [&](const std::string& name, size_t position) {
          return symbol(name, a.least(), position);
        }));
    if (a.length == Length::One && n.attrs.ints[k].size() != 1)
      return Scanner::error_at(start, std::string(a.name) + " is one number");
    return {};
  }

  Result<Var> symbol(const std::string& name, int64_t least, size_t position) {
    Symbol probe{0, SymbolKind::Size, name, 0, nullptr, nullptr, 0, nullptr};
    if (auto number = number_name(probe)) {
      RETURN_IF_ERROR(use(*number, Role::Number, position));
      return rule_.pool->named(name, least);
    }
    auto size = size_name(probe);
    auto at = size_at_axis(probe);
    if (!size && !at) return Scanner::error_at(position, "expected a number, ?name or name.axis");
    const std::string& variable = size ? size->variable : at->variable;
    if (right_)
      RETURN_IF_ERROR(use(variable, Role::Tensor, position));
    else
      left_sizes_.push_back({variable, position});
    return rule_.pool->named(name, 1);
  }

  /// Sizes on the left may stand before the variable itself.
  Status check_left_sizes() {
    for (const auto& [name, position] : left_sizes_)
      if (auto it = roles_.find(name); it == roles_.end() || it->second != Role::Tensor)
        return Scanner::error_at(position, "'" + name + "' is no tensor of the left side");
    return {};
  }

  Status real(PatternNode& n, size_t k) {
    size_t start = in_.position();
    ASSIGN_OR_RETURN(RealExpression e, read_real(in_));
    if (e.kind == RealExpression::Number) {
      n.attrs.reals[k].value = e.number;
      return {};
    }
    RETURN_IF_ERROR(use_names(e, start));
    bool variable = e.kind == RealExpression::Name && e.name[0] == '?';
    n.real_vars[k] = variable ? e.name.substr(1) : "=" + printed(e);
    auto no_name = [](const std::string&) { return std::optional<double>(); };
    if (!variable) n.attrs.reals[k].value = value_of(e, no_name).value_or(std::nan(""));
    return {};
  }
  static std::string printed(const RealExpression& e) {
    return print(e, [](const std::string& name) { return name; });
  }
  /// Notes the names of an expression.
  Status use_names(const RealExpression& e, size_t start) {
    Status status;
    for_each_name(e, [&](const std::string& name) {
      if (!status) return;
      std::string tensor = name.substr(0, name.find('.'));
      if (name[0] == '?')
        status = use(name.substr(1), Role::Real, start);
      else if (right_)
        status = use(tensor, Role::Tensor, start);
      else
        left_sizes_.push_back({tensor, start});
    });
    return status;
  }

  Status where() {
    in_.skip_space();
    size_t start = in_.position();
    if (in_.word() != "where") {
      in_.rewind(start);
      return {};
    }
    auto size = [&](const std::string& name, size_t position) { return symbol(name, 1, position); };
    do {
      in_.skip_space();
      ASSIGN_OR_RETURN(bool about_axes, axis_condition());
      if (about_axes) continue;
      ASSIGN_OR_RETURN(bool about_reals, real_condition());
      if (about_reals) continue;
      ASSIGN_OR_RETURN(Poly a, text::read_poly(in_, *rule_.pool, size));
      ASSIGN_OR_RETURN(auto how, relation());
      ASSIGN_OR_RETURN(Poly b, text::read_poly(in_, *rule_.pool, size));
      if (how.second) std::swap(a, b);
      rule_.where.emplace_back(std::move(a), std::move(b), how.first);
    } while (in_.eat(","));
    return {};
  }
  /// The relation, and whether the sides change places.
  Result<std::pair<Relation, bool>> relation() {
    if (in_.eat("<=")) return std::pair(Relation::AtMost, false);
    if (in_.eat("<")) return std::pair(Relation::Below, false);
    if (in_.eat(">=")) return std::pair(Relation::AtMost, true);
    if (in_.eat(">")) return std::pair(Relation::Below, true);
    if (in_.eat("=")) return std::pair(Relation::Equal, false);
    return in_.error_here("expected '=', '<', '<=', '>' or '>='");
  }
  /// Reads a condition that a real attribute stands in, when one comes next.
  Result<bool> real_condition() {
    size_t start = in_.position();
    auto a = read_real(in_);
    auto how = a ? relation() : a.error();
    auto b = how ? read_real(in_) : how.error();
    bool real = false;
    for (const auto* side : {&a, &b})
      if (*side)
        for_each_name(**side, [&](const std::string& name) {
          auto role = name[0] == '?' ? roles_.find(name.substr(1)) : roles_.end();
          real = real || (role != roles_.end() && role->second == Role::Real);
        });
    if (!real || !b) {
      in_.rewind(start);
      return false;
    }
    for (const auto* side : {&a, &b}) {
      RETURN_IF_ERROR(use_names(**side, start));
      if (!only_compares(**side))
        return Scanner::error_at(start,
                                 "a condition of real numbers compares, it computes nothing");
    }
    if (how->second) std::swap(a, b);
    rule_.real_where.push_back({printed(*a), printed(*b), how->first});
    return true;
  }

  /// Reads a condition on axis variables when one comes next.
  Result<bool> axis_condition() {
    size_t start = in_.position();
    ASSIGN_OR_RETURN(std::optional<AxisCondition> c, read_axis_condition(in_));
    if (!c) return false;
    std::vector<std::string> used, known = axis_variables(rule_);
    add_names(c->left, used);
    add_names(c->right, used);
    bool axes = std::all_of(used.begin(), used.end(), [&](const std::string& name) {
      return std::find(known.begin(), known.end(), name) != known.end();
    });
    if (axes)
      rule_.axis_where.push_back(*std::move(c));
    else
      in_.rewind(start);
    return axes;
  }

  Status domain() {
    in_.skip_space();
    size_t start = in_.position();
    if (in_.word() != "for") {
      in_.rewind(start);
      return {};
    }
    do {
      Signature s(rule_.variables.size());
      while (signature_word(s)) {
      }
      if (std::find(s.begin(), s.end(), "") != s.end())
        return in_.error_here("expected name:word for each variable, a word of 'n' and '1' or '-'");
      rule_.domain.push_back(std::move(s));
      in_.skip_space();
    } while (in_.eat("|"));
    return {};
  }

  /// Reads "x:nn1" when that comes next and x has no word yet.
  bool signature_word(Signature& s) {
    in_.skip_space();
    size_t start = in_.position();
    std::string name(in_.identifier());
    auto it = std::find(rule_.variables.begin(), rule_.variables.end(), name);
    bool fits = it != rule_.variables.end() && in_.eat(":");
    std::string word = fits && in_.eat("-") ? "-" : std::string(in_.word(".*"));
    if (fits && word_of(word)) {
      std::string& slot = s[static_cast<size_t>(it - rule_.variables.begin())];
      if (slot.empty()) {
        slot = word;
        return true;
      }
    }
    in_.rewind(start);
    return false;
  }

  Status verdict() {
    in_.skip_space();
    size_t start = in_.position();
    std::string_view word = in_.word(":-");
    if (word.empty() || word.starts_with("origin:") || word.starts_with("numerics:")) {
      in_.rewind(start);
      return {};
    }
    auto kind = verdict_kind_of(word);
    if (!kind)
      return Scanner::error_at(start, "'" + std::string(word.substr(0, 40)) + "' is no verdict");
    rule_.verdict.kind = *kind;
    ASSIGN_OR_RETURN(rule_.verdict.detail, bracketed_text());
    return {};
  }

  /// "[...]" without its brackets and escapes; empty when there is none.
  Result<std::string> bracketed_text() {
    std::string text;
    if (!in_.eat("[")) return text;
    while (!in_.eat("]")) {
      bool escaped = in_.eat("\\");
      char c = in_.peek();
      if (c == '\0') return in_.error_here("expected ']'");
      in_.rewind(in_.position() + 1);
      text += escaped && c == 'n' ? '\n' : c;
    }
    return text;
  }

  /// "numerics:V", or "numerics:V/W" of a reversible rule.
  Status numerics() {
    in_.skip_space();
    if (!in_.eat("numerics:")) return {};
    ASSIGN_OR_RETURN(rule_.numerics, numeric_verdict());
    if (!rule_.both) return {};
    if (!in_.eat("/")) return in_.error_here("expected '/' and the numerics from right to left");
    ASSIGN_OR_RETURN(rule_.numerics_back, numeric_verdict());
    return {};
  }
  Result<NumericVerdict> numeric_verdict() {
    size_t start = in_.position();
    std::string_view word = in_.word("-");
    auto kind = numerics_of(word);
    if (!kind)
      return Scanner::error_at(start,
                               "'" + std::string(word.substr(0, 40)) + "' is no word of numerics");
    ASSIGN_OR_RETURN(std::string witness, bracketed_text());
    return NumericVerdict{*kind, std::move(witness)};
  }

  Status origin() {
    in_.skip_space();
    if (!in_.eat("origin:")) return {};
    rule_.origin = in_.word("-.");
    if (rule_.origin.empty()) return in_.error_here("expected where the rule comes from");
    return {};
  }

  Scanner in_;
  Rule rule_;
  bool right_ = false;
  std::map<std::string, Role> roles_;
  std::vector<std::pair<std::string, size_t>> left_sizes_;
};

std::string bracketed(const std::string& detail) {
  std::string s = "[";
  for (char c : detail) {
    if (c == ']' || c == '\\') s += '\\';
    if (c == '\n')
      s += "\\n";
    else
      s += c;
  }
  return s + "]";
}

std::string numerics_text(const NumericVerdict& n) {
  return to_string(n.kind) + (n.witness.empty() ? "" : bracketed(n.witness));
}

std::string side_text(const Rule& rule, const Pattern& side) {
  std::string s;
  for (PatternRef r : side.outputs) s += (s.empty() ? "" : " ; ") + pattern_text(rule, side, r, {});
  return s;
}

}  // namespace

std::string content_text(const Rule& rule, std::span<const Signature> domain) {
  std::string s =
      side_text(rule, rule.lhs) + (rule.both ? " <=> " : " => ") + side_text(rule, rule.rhs);
  if (std::string where = where_text(rule, {}); !where.empty()) s += "  where " + where;
  for (size_t k = 0; k < domain.size(); ++k) {
    s += k == 0 ? "  for" : " |";
    for (size_t v = 0; v < rule.variables.size(); ++v)
      s += " " + rule.variables[v] + ":" + domain[k][v];
  }
  return s;
}

std::string to_string(const Rule& rule) {
  std::string s = rule.name + "  " + content_text(rule, rule.domain);
  bool candidate = rule.verdict.kind == VerdictKind::Unknown && rule.verdict.detail.empty();
  if (!candidate) s += "  " + to_string(rule.verdict.kind);
  if (!rule.verdict.detail.empty()) s += bracketed(rule.verdict.detail);
  if (rule.numerics.kind != Numerics::Unknown ||
      (rule.both && rule.numerics_back.kind != Numerics::Unknown)) {
    s += "  numerics:" + numerics_text(rule.numerics);
    if (rule.both) s += "/" + numerics_text(rule.numerics_back);
  }
  if (rule.origin != "generated") s += "  origin:" + rule.origin;
  return s;
}

Result<Rule> parse_rule(std::string_view line) { return RuleParser(line).run(); }

}  // namespace regraft
