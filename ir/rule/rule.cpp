#include "ir/rule/rule.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "ir/algebra/real_expression.h"
#include "ir/rule/family.h"
#include "ir/rule/pattern.h"
#include "ir/rule/real_number.h"

namespace regraft {
namespace {

constexpr std::array<std::string_view, 6> kVerdicts = {
    "unknown", "refuted", "tested", "proved:bounded", "proved:solver", "proved:all-sizes"};
constexpr std::array<std::string_view, 5> kNumerics = {"unknown", "unsafe", "rounding-f32",
                                                       "rounding", "exact"};

/// Few names, in the order in which they came.
class NameSet {
 public:
  void insert(std::string name) {
    if (!contains(name)) names_.push_back(std::move(name));
  }
  bool contains(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }
  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }

 private:
  std::vector<std::string> names_;
};

/// The variables that a side uses, by role.
struct Names {
  NameSet tensors, lists, numbers, reals, sizes;  ///< sizes: tensors whose sizes occur
  NameSet axes;                                   ///< used in expressions and sizes
};

void add_symbols(Names& names, const Poly& p, std::string& unknown) {
  for_each_symbol(p, [&](Var v) {
    if (auto number = number_name(*v))
      names.numbers.insert(*number);
    else if (auto size = size_name(*v))
      names.sizes.insert(size->variable);
    else if (auto at = size_at_axis(*v)) {
      names.sizes.insert(at->variable);
      names.axes.insert(at->axis);
    } else
      unknown = v->name;
  });
}

void add_axes(Names& names, const AxisTerm& term) {
  std::vector<std::string> used;
  add_names(term, used);
  for (std::string& name : used) names.axes.insert(std::move(name));
}

/// Those of an expression of real numbers.
void add_names(Names& names, const std::string& expression) {
  for_each_name(expression_of("=" + expression), [&](const std::string& name) {
    if (name[0] == '?')
      names.reals.insert(name.substr(1));
    else
      names.sizes.insert(name.substr(0, name.find('.')));
  });
}

/// Matching finds numbers; it solves no expressions.
Status check_no_expressions(const Pattern& side) {
  for (const PatternNode& n : side.nodes)
    for (size_t k = 0; k < n.attrs.reals.size(); ++k) {
      bool open = false;
      if (const std::string& text = real_variable(n, k); is_expression(text))
        for_each_name(expression_of(text), [&](const std::string&) { open = true; });
      if (open)
        return error(std::string(n.op->name) + ": " + std::string(n.op->reals[k].name) +
                     " is computed from others, on the left side");
    }
  return {};
}

Result<Names> names_of(const Rule& rule, const Pattern& side) {
  Names names;
  std::string unknown;
  auto add_ref = [&](PatternRef r) {
    if (is_variable(r)) names.tensors.insert(rule.variables[static_cast<size_t>(variable_of(r))]);
  };
  for (const PatternNode& n : side.nodes) {
    for (PatternRef r : n.inputs) add_ref(r);
    for (size_t k = 0; k < n.attrs.ints.size(); ++k) {
      if (!list_variable(n, k).empty()) names.lists.insert(list_variable(n, k));
      if (const AxisTerm* term = axis_term(n, k)) add_axes(names, *term);
      for (const Poly& p : n.attrs.ints[k]) add_symbols(names, p, unknown);
    }
    for (size_t k = 0; k < n.attrs.reals.size(); ++k) {
      const std::string& open = real_variable(n, k);
      if (is_expression(open))
        add_names(names, open.substr(1));
      else if (!open.empty())
        names.reals.insert(open);
    }
  }
  for (PatternRef r : side.outputs) add_ref(r);
  if (!unknown.empty()) return error("the symbol '" + unknown + "' is no variable of the rule");
  return names;
}

/// Error when `used` has a name that `bound` lacks.
template <class Used>
Status check_bound(const Used& used, const NameSet& bound) {
  for (const std::string& name : used)
    if (!bound.contains(name))
      return error("the variable ?" + name + " is not bound on the left side");
  return {};
}

/// A name has one role: ?a is not both a tensor and an attribute.
Status check_roles(const Names& left) {
  NameSet seen;
  for (const auto* role : {&left.tensors, &left.lists, &left.numbers, &left.reals, &left.axes})
    for (const std::string& name : *role) {
      if (seen.contains(name))
        return error("the variable ?" + name + " stands for two different kinds of things");
      seen.insert(name);
    }
  return {};
}

bool ref_fits(const Rule& rule, const Pattern& side, PatternRef r, size_t before) {
  if (is_variable(r))
    return r.output == 0 && static_cast<size_t>(variable_of(r)) < rule.variables.size();
  if (static_cast<size_t>(r.node) >= before || r.output < 0) return false;
  auto outputs = known_outputs(side.nodes[static_cast<size_t>(r.node)]);
  return !outputs || r.output < *outputs;
}

Status check_reachable(const Pattern& side) {
  std::vector<char> reached(side.nodes.size(), 0);
  auto reach = [&](PatternRef r) {
    if (!is_variable(r)) reached[static_cast<size_t>(r.node)] = 1;
  };
  for (PatternRef r : side.outputs) reach(r);
  for (size_t k = side.nodes.size(); k-- > 0;) {
    if (!reached[k])
      return error(std::string(side.nodes[k].op->name) + ": no output of its side needs it");
    for (PatternRef r : side.nodes[k].inputs) reach(r);
  }
  return {};
}

Status check_side(const Rule& rule, const Pattern& side) {
  if (side.outputs.empty()) return error("a side has no output");
  for (size_t k = 0; k < side.nodes.size(); ++k) RETURN_IF_ERROR(check_pattern_node(rule, side, k));
  for (PatternRef r : side.outputs)
    if (!ref_fits(rule, side, r, side.nodes.size())) return error("an output does not exist");
  return check_reachable(side);
}

Status check_signature(const Rule& rule, const Signature& signature) {
  if (signature.size() != rule.variables.size())
    return error("a signature has " + std::to_string(signature.size()) + " words, the rule " +
                 std::to_string(rule.variables.size()) + " variables");
  for (const std::string& word : signature)
    if (!word_of(word)) return error("'" + word + "' is no word of a signature");
  return {};
}

std::string letter_name(size_t k) {
  std::string s(1, static_cast<char>('a' + k % 26));
  return k < 26 ? s : s + std::to_string(k / 26);
}

}  // namespace

std::optional<SizeName> size_name(const Symbol& s) {
  size_t dot = s.name.rfind('.');
  if (s.kind != SymbolKind::Size || dot == std::string::npos || dot == 0) return std::nullopt;
  SizeName r{s.name.substr(0, dot), 0};
  const char* end = s.name.data() + s.name.size();
  auto [stop, failure] = std::from_chars(s.name.data() + dot + 1, end, r.axis);
  if (failure != std::errc{} || stop != end || r.axis < -kMaxRank || r.axis >= kMaxRank)
    return std::nullopt;
  return r;
}

std::optional<SizeAtAxis> size_at_axis(const Symbol& s) {
  size_t dot = s.name.rfind(".?");
  if (s.kind != SymbolKind::Size || dot == std::string::npos || dot == 0 ||
      dot + 2 == s.name.size())
    return std::nullopt;
  return SizeAtAxis{s.name.substr(0, dot), s.name.substr(dot + 2)};
}

std::optional<std::string> number_name(const Symbol& s) {
  if (s.kind != SymbolKind::Size || s.name.size() < 2 || s.name[0] != '?') return std::nullopt;
  return s.name.substr(1);
}

std::string to_string(VerdictKind k) { return std::string(kVerdicts[static_cast<size_t>(k)]); }

std::optional<VerdictKind> verdict_kind_of(std::string_view text) {
  for (size_t k = 0; k < kVerdicts.size(); ++k)
    if (kVerdicts[k] == text) return static_cast<VerdictKind>(k);
  return std::nullopt;
}

std::string to_string(Numerics n) { return std::string(kNumerics[static_cast<size_t>(n)]); }

std::optional<Numerics> numerics_of(std::string_view text) {
  for (size_t k = 0; k < kNumerics.size(); ++k)
    if (kNumerics[k] == text) return static_cast<Numerics>(k);
  return std::nullopt;
}

const std::string& list_variable(const PatternNode& n, size_t k) {
  static const std::string kNone;
  return k < n.list_vars.size() ? n.list_vars[k] : kNone;
}

const std::string& real_variable(const PatternNode& n, size_t k) {
  static const std::string kNone;
  return k < n.real_vars.size() ? n.real_vars[k] : kNone;
}

const AxisTerm* axis_term(const PatternNode& n, size_t k) {
  return k < n.axes.size() && n.axes[k] ? &*n.axes[k] : nullptr;
}

void for_each_symbol(const Poly& p, const std::function<void(Var)>& visit) {
  for (const auto& term : p.terms())
    for (Var v : term.monomial) {
      if (!v->numerator) {
        visit(v);
        continue;
      }
      for_each_symbol(*v->numerator, visit);
      for_each_symbol(*v->denominator, visit);
    }
}

std::optional<Poly> moved(const Poly& p, SymbolPool& pool, const std::function<Poly(Var)>& symbol) {
  Poly r(p.constant());
  for (const auto& [monomial, coefficient] : p.terms()) {
    Poly x(coefficient);
    for (Var v : monomial) {
      if (!v->numerator) {
        x = x * symbol(v);
        continue;
      }
      if (v->kind == SymbolKind::Lookup) return std::nullopt;  // its table is its own pool's
      auto n = moved(*v->numerator, pool, symbol), d = moved(*v->denominator, pool, symbol);
      if (!n || !d || (d->is_constant() && d->constant() < 1)) return std::nullopt;
      x = x * pool.floordiv(*n, *d);
    }
    r = r + x;
  }
  return r;
}

std::optional<int> known_outputs(const PatternNode& n) {
  if (n.op->outputs_attr < 0) return n.op->outputs;
  auto k = static_cast<size_t>(n.op->outputs_attr);
  if (!list_variable(n, k).empty() || n.attrs.ints[k].empty()) return std::nullopt;
  return static_cast<int>(n.attrs.ints[k].size());
}

namespace {
bool same_axes(const AxisTerm* a, const AxisTerm* b) { return a && b ? *a == *b : a == b; }
}  // namespace

bool same(const PatternNode& a, const PatternNode& b) {
  if (a.op != b.op || a.inputs != b.inputs || !same(a.attrs, b.attrs)) return false;
  for (size_t k = 0; k < a.attrs.ints.size(); ++k)
    if (list_variable(a, k) != list_variable(b, k) || !same_axes(axis_term(a, k), axis_term(b, k)))
      return false;
  for (size_t k = 0; k < a.attrs.reals.size(); ++k)
    if (real_variable(a, k) != real_variable(b, k)) return false;
  return true;
}

Status check_pattern_node(const Rule& rule, const Pattern& side, size_t position) {
  const PatternNode& n = side.nodes[position];
  if (!n.op) return error("a pattern node has no operator");
  std::string name(n.op->name);
  auto arity = static_cast<int>(n.inputs.size());
  if (arity < n.op->min_arity || arity > n.op->max_arity)
    return error(name + ": takes " + std::to_string(n.op->min_arity) + " to " +
                 std::to_string(n.op->max_arity) + " operands, has " + std::to_string(arity));
  if (n.attrs.ints.size() != n.op->ints.size() || n.attrs.reals.size() != n.op->reals.size())
    return error(name + ": has the attributes of another operator");
  for (size_t k = 0; k < n.op->ints.size(); ++k) {
    bool open =
        !list_variable(n, k).empty() || std::any_of(n.attrs.ints[k].begin(), n.attrs.ints[k].end(),
                                                    [](const Poly& p) { return !p.is_constant(); });
    bool axes = axis_term(n, k) != nullptr;
    if ((open && n.op->ints[k].structural) || (axes && !takes_axes(n.op->ints[k])))
      return error(name + ": " + std::string(n.op->ints[k].name) + " must be a number");
    if (axes && (n.inputs.empty() || open || !n.attrs.ints[k].empty()))
      return error(name + ": " + std::string(n.op->ints[k].name) + " is given twice");
  }
  RETURN_IF_ERROR(check_reals(n));
  for (PatternRef r : n.inputs)
    if (!ref_fits(rule, side, r, position)) return error(name + ": an operand does not exist");
  for (size_t k = 0; k < position; ++k)
    if (same(side.nodes[k], n)) return error(name + ": two equal nodes on one side");
  return {};
}

namespace {

/// The axis variables that matching a side finds.
NameSet found_axes(const Pattern& side) {
  std::vector<std::string> found;
  for (size_t round = 0; round <= side.nodes.size(); ++round)
    for (const PatternNode& n : side.nodes)
      for (size_t k = 0; k < n.op->ints.size(); ++k)
        if (const AxisTerm* term = axis_term(n, k))
          if (std::string name = solvable(*term, found); !name.empty()) found.push_back(name);
  NameSet names;
  for (std::string& name : found) names.insert(std::move(name));
  return names;
}

/// Of the rule read from `lhs` to `rhs`, which are its sides.
Status check_direction(const Rule& rule, const Pattern& lhs, const Pattern& rhs) {
  RETURN_IF_ERROR(check_side(rule, lhs));
  RETURN_IF_ERROR(check_side(rule, rhs));
  if (lhs.outputs.size() != rhs.outputs.size())
    return error("the left side has " + std::to_string(lhs.outputs.size()) +
                 " outputs, the right side " + std::to_string(rhs.outputs.size()));
  for (PatternRef r : lhs.outputs)
    if (is_variable(r)) return error("the left side must not be a bare variable");
  ASSIGN_OR_RETURN(Names left, names_of(rule, lhs));
  ASSIGN_OR_RETURN(Names right, names_of(rule, rhs));
  RETURN_IF_ERROR(check_roles(left));
  RETURN_IF_ERROR(check_bound(rule.variables, left.tensors));
  RETURN_IF_ERROR(check_bound(left.sizes, left.tensors));
  RETURN_IF_ERROR(check_bound(right.tensors, left.tensors));
  RETURN_IF_ERROR(check_bound(right.lists, left.lists));
  RETURN_IF_ERROR(check_bound(right.numbers, left.numbers));
  RETURN_IF_ERROR(check_bound(right.reals, left.reals));
  RETURN_IF_ERROR(check_bound(right.sizes, left.tensors));
  Names conditions;
  std::string unknown;
  for (const Condition& c : rule.where) {
    add_symbols(conditions, c.first, unknown);
    add_symbols(conditions, c.second, unknown);
  }
  for (const RealCondition& c : rule.real_where)
    for (const std::string* text : {&c.first, &c.second}) add_names(conditions, *text);
  if (!unknown.empty()) return error("the symbol '" + unknown + "' is no variable of the rule");
  for (const AxisCondition& c : rule.axis_where) {
    add_axes(conditions, c.left);
    add_axes(conditions, c.right);
  }
  NameSet axes = found_axes(lhs);
  for (const Names* names : std::initializer_list<const Names*>{&left, &right, &conditions})
    RETURN_IF_ERROR(check_bound(names->axes, axes));
  RETURN_IF_ERROR(check_bound(conditions.numbers, left.numbers));
  RETURN_IF_ERROR(check_bound(conditions.reals, left.reals));
  RETURN_IF_ERROR(check_no_expressions(lhs));
  RETURN_IF_ERROR(check_bound(conditions.sizes, left.tensors));
  for (const Signature& s : rule.domain) RETURN_IF_ERROR(check_signature(rule, s));
  return {};
}

/// Numbers that matching a side finds: those that are an attribute by themselves.
NameSet plain_numbers(const Pattern& side) {
  NameSet names;
  for (const PatternNode& n : side.nodes)
    for (const auto& list : n.attrs.ints)
      for (const Poly& p : list)
        for_each_symbol(p, [&](Var v) {
          if (auto number = number_name(*v); number && same(p, Poly::symbol(v)))
            names.insert(*number);
        });
  return names;
}

/// Error unless a rule is also valid from right to left.
Status check_reverse(const Rule& rule) {
  if (Status s = check_direction(rule, rule.rhs, rule.lhs); !s)
    return error("from right to left: " + s.error().message);
  ASSIGN_OR_RETURN(Names names, names_of(rule, rule.lhs));
  for (const Pattern* side : {&rule.lhs, &rule.rhs}) {
    NameSet plain = plain_numbers(*side);
    for (const std::string& name : names.numbers)
      if (!plain.contains(name))
        return error("the variable ?" + name + " stands alone nowhere on the " +
                     (side == &rule.lhs ? "left" : "right") + " side");
  }
  return {};
}

}  // namespace

Status validate(const Rule& rule) {
  RETURN_IF_ERROR(check_direction(rule, rule.lhs, rule.rhs));
  return rule.both ? check_reverse(rule) : Status();
}

std::vector<int> first_uses(const Pattern& side) {
  std::vector<int> order;
  std::vector<char> visited(side.nodes.size(), 0);
  auto walk = [&](auto& self, PatternRef r) -> void {
    if (is_variable(r)) {
      if (std::find(order.begin(), order.end(), variable_of(r)) == order.end())
        order.push_back(variable_of(r));
      return;
    }
    char& seen = visited[static_cast<size_t>(r.node)];
    if (seen) return;
    seen = 1;
    for (PatternRef operand : side.nodes[static_cast<size_t>(r.node)].inputs) self(self, operand);
  };
  for (PatternRef r : side.outputs) walk(walk, r);
  return order;
}

namespace {

using NewNames = std::map<std::string, std::string>;

void rename(Poly& p, SymbolPool& pool, const NewNames& new_names) {
  auto q = moved(p, pool, [&](Var v) {
    auto size = size_name(*v);
    auto at = size_at_axis(*v);
    std::string name = size ? new_names.at(size->variable) + "." + std::to_string(size->axis)
                       : at ? new_names.at(at->variable) + ".?" + at->axis
                            : v->name;
    return Poly::symbol(pool.named(name, v->min));
  });
  CHECK(q.has_value());
  p = *std::move(q);
}

/// The sizes in an expression; its real variables keep their names.
std::string& rename(std::string& expression, const NewNames& new_names) {
  return expression = print(expression_of("=" + expression), [&](const std::string& old) {
           size_t dot = old.find('.');
           return old[0] == '?' ? old : new_names.at(old.substr(0, dot)) + old.substr(dot);
         });
}

void rename_side(Pattern& side, const std::vector<int>& new_index, SymbolPool& pool,
                 const NewNames& new_names) {
  auto rename_ref = [&](PatternRef& r) {
    if (is_variable(r)) r = variable_ref(new_index[static_cast<size_t>(variable_of(r))]);
  };
  for (PatternNode& n : side.nodes) {
    for (PatternRef& r : n.inputs) rename_ref(r);
    for (auto& list : n.attrs.ints)
      for (Poly& p : list) rename(p, pool, new_names);
    for (std::string& open : n.real_vars)
      if (is_expression(open)) rename(open.erase(0, 1), new_names).insert(0, 1, '=');
  }
  for (PatternRef& r : side.outputs) rename_ref(r);
}

}  // namespace

Rule renamed(const Rule& rule) {
  std::vector<int> order = first_uses(rule.lhs);
  CHECK(order.size() == rule.variables.size());
  auto left = names_of(rule, rule.lhs);
  CHECK(left);
  NameSet taken = left->lists;
  for (const NameSet* role : {&left->numbers, &left->reals, &left->axes})
    for (const std::string& name : *role) taken.insert(name);
  Rule r = rule;
  r.pool = std::make_shared<SymbolPool>();
  std::vector<int> new_index(order.size());
  NewNames new_names;
  size_t letter = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    auto old = static_cast<size_t>(order[k]);
    while (taken.contains(letter_name(letter))) ++letter;
    new_index[old] = static_cast<int>(k);
    r.variables[k] = letter_name(letter++);
    new_names[rule.variables[old]] = r.variables[k];
  }
  rename_side(r.lhs, new_index, *r.pool, new_names);
  rename_side(r.rhs, new_index, *r.pool, new_names);
  for (Condition& c : r.where)
    for (Poly* side : {&c.first, &c.second}) rename(*side, *r.pool, new_names);
  for (RealCondition& c : r.real_where)
    for (std::string* side : {&c.first, &c.second}) rename(*side, new_names);
  for (size_t s = 0; s < rule.domain.size(); ++s)
    for (size_t k = 0; k < order.size(); ++k)
      r.domain[s][k] = rule.domain[s][static_cast<size_t>(order[k])];
  return r;
}

}  // namespace regraft
