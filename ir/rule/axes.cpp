#include "ir/rule/axes.h"

#include <algorithm>

#include "ir/algebra/scan.h"

namespace regraft {
namespace {

constexpr int kMaxDepth = 20;
constexpr int64_t kMaxNumber = 100;

using List = std::vector<int64_t>;

bool is_permutation(const List& p) {
  std::vector<char> seen(p.size(), 0);
  for (int64_t i : p)
    if (i < 0 || i >= static_cast<int64_t>(p.size()) || seen[static_cast<size_t>(i)]++)
      return false;
  return true;
}

std::optional<List> inverse(const List& p) {
  if (!is_permutation(p)) return std::nullopt;
  List r(p.size());
  for (size_t i = 0; i < p.size(); ++i) r[static_cast<size_t>(p[i])] = static_cast<int64_t>(i);
  return r;
}

std::optional<List> at(const List& list, const List& places) {
  List r;
  for (int64_t i : places) {
    if (i < 0 || i >= static_cast<int64_t>(list.size())) return std::nullopt;
    r.push_back(list[static_cast<size_t>(i)]);
  }
  return r;
}

/// Permutation p of axes, some places of which go away together with the axes that stand there.
std::optional<List> without(const List& p, const List& places) {
  auto gone = at(p, places);
  if (!gone || !is_permutation(p)) return std::nullopt;
  List r;
  for (int64_t i : p)
    if (std::find(gone->begin(), gone->end(), i) == gone->end())
      r.push_back(i - std::count_if(gone->begin(), gone->end(), [&](int64_t g) { return g < i; }));
  return r;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_known(const AxisTerm& term, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  add_names(term, names);
  return std::all_of(names.begin(), names.end(), [&](auto& n) { return has(known, n); });
}

class Reader {
 public:
  explicit Reader(text::Scanner& in) : in_(in) {}

  Result<AxisTerm> list(int depth) {
    if (depth > kMaxDepth) return in_.error_here("nested too deep");
    ASSIGN_OR_RETURN(AxisTerm first, item(depth));
    if (in_.peek() != ',') return first;
    AxisTerm all{AxisTerm::List, 0, {}, {std::move(first)}};
    while (in_.eat(",")) {
      ASSIGN_OR_RETURN(AxisTerm next, item(depth));
      all.parts.push_back(std::move(next));
    }
    return all;
  }
  Result<AxisTerm> item(int depth) {
    ASSIGN_OR_RETURN(AxisTerm t, atom(depth));
    while (in_.eat("[")) {
      ASSIGN_OR_RETURN(AxisTerm places, list(depth + 1));
      if (!in_.eat("]")) return in_.error_here("expected ']'");
      t = {AxisTerm::At, 0, {}, {std::move(t), std::move(places)}};
    }
    if (in_.peek() != '+' && in_.peek() != '-') return t;
    in_.eat("+");
    ASSIGN_OR_RETURN(int64_t n, number(-kMaxNumber));
    return AxisTerm{AxisTerm::Plus, n, {}, {std::move(t)}};
  }

 private:
  Result<AxisTerm> atom(int depth) {
    if (in_.eat("?")) {
      std::string name(in_.identifier());
      if (name.empty()) return in_.error_here("expected the name of a variable");
      return AxisTerm{AxisTerm::Variable, 0, std::move(name), {}};
    }
    if (in_.eat("inverse(")) return call(AxisTerm::Inverse, 1, depth);
    if (in_.eat("without(")) return call(AxisTerm::Without, 2, depth);
    ASSIGN_OR_RETURN(int64_t n, number(0));
    return AxisTerm{AxisTerm::Number, n, {}, {}};
  }
  Result<int64_t> number(int64_t least) {
    size_t start = in_.position();
    ASSIGN_OR_RETURN(int64_t n, in_.integer());
    if (n < least || n > kMaxNumber) return in_.error_at(start, "no axis has that number");
    return n;
  }
  Result<AxisTerm> call(AxisTerm::Kind kind, size_t arguments, int depth) {
    AxisTerm t{kind, 0, {}, {}};
    if (depth > kMaxDepth) return in_.error_here("nested too deep");
    for (size_t k = 0; k < arguments; ++k) {
      if (k > 0 && !in_.eat(",")) return in_.error_here("expected ','");
      bool last = k + 1 == arguments;
      ASSIGN_OR_RETURN(AxisTerm part, last && k > 0 ? list(depth + 1) : item(depth + 1));
      t.parts.push_back(std::move(part));
    }
    if (!in_.eat(")")) return in_.error_here("expected ')'");
    return t;
  }

  text::Scanner& in_;
};

}  // namespace

std::optional<List> evaluate(const AxisTerm& term, const AxisValues& values) {
  if (term.kind == AxisTerm::Number) return List{term.number};
  if (term.kind == AxisTerm::Variable) {
    auto it = values.find(term.name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  }
  std::vector<List> parts;
  for (const AxisTerm& part : term.parts) {
    auto value = evaluate(part, values);
    if (!value) return std::nullopt;
    parts.push_back(*std::move(value));
  }
  List all;
  switch (term.kind) {
    case AxisTerm::At:
      return at(parts[0], parts[1]);
    case AxisTerm::Inverse:
      return inverse(parts[0]);
    case AxisTerm::Without:
      return without(parts[0], parts[1]);
    case AxisTerm::Plus:
      for (int64_t& n : parts[0]) n += term.number;
      return parts[0];
    default:
      for (const List& part : parts) all.insert(all.end(), part.begin(), part.end());
      return all;
  }
}

bool holds(const AxisCondition& condition, const AxisValues& values) {
  auto left = evaluate(condition.left, values), right = evaluate(condition.right, values);
  if (!left || !right) return false;
  if (condition.kind == AxisCondition::Equal) return *left == *right;
  return std::all_of(left->begin(), left->end(), [&](int64_t a) {
    return std::all_of(right->begin(), right->end(), [&](int64_t b) {
      return condition.kind == AxisCondition::Less ? a < b : a != b;
    });
  });
}

void add_names(const AxisTerm& term, std::vector<std::string>& names) {
  if (term.kind == AxisTerm::Variable && !has(names, term.name)) names.push_back(term.name);
  for (const AxisTerm& part : term.parts) add_names(part, names);
}

std::string solvable(const AxisTerm& term, const std::vector<std::string>& known) {
  switch (term.kind) {
    case AxisTerm::Variable:
      return has(known, term.name) ? "" : term.name;
    case AxisTerm::Inverse:
    case AxisTerm::Plus:
      return solvable(term.parts[0], known);
    case AxisTerm::At:
      if (is_known(term.parts[0], known)) return solvable(term.parts[1], known);
      if (is_known(term.parts[1], known)) return solvable(term.parts[0], known);
      return "";
    default:
      return "";
  }
}

bool solve(const AxisTerm& term, const List& value, AxisValues& values) {
  List inner = value;
  if (term.kind == AxisTerm::Variable) {
    values[term.name] = value;
    return true;
  }
  if (term.kind == AxisTerm::Plus) {
    for (int64_t& n : inner) n -= term.number;
    return solve(term.parts[0], inner, values);
  }
  if (term.kind == AxisTerm::Inverse) {
    auto p = inverse(value);
    return p && solve(term.parts[0], *p, values);
  }
  if (term.kind != AxisTerm::At) return false;
  if (auto list = evaluate(term.parts[0], values)) {  // places in a known list
    for (int64_t& n : inner) {
      auto it = std::find(list->begin(), list->end(), n);
      if (it == list->end()) return false;
      n = it - list->begin();
    }
    return solve(term.parts[1], inner, values);
  }
  auto places = evaluate(term.parts[1], values);  // a list of which known places are all
  if (!places || places->size() != value.size() || !is_permutation(*places)) return false;
  for (size_t i = 0; i < value.size(); ++i) inner[static_cast<size_t>((*places)[i])] = value[i];
  return solve(term.parts[0], inner, values);
}

std::string to_string(const AxisTerm& term, const std::map<std::string, std::string>& names) {
  std::vector<std::string> parts;
  for (const AxisTerm& part : term.parts) parts.push_back(to_string(part, names));
  std::string s;
  switch (term.kind) {
    case AxisTerm::Number:
      return std::to_string(term.number);
    case AxisTerm::Variable: {
      auto it = names.find(term.name);
      return "?" + (it == names.end() ? term.name : it->second);
    }
    case AxisTerm::At:
      return parts[0] + "[" + parts[1] + "]";
    case AxisTerm::Inverse:
      return "inverse(" + parts[0] + ")";
    case AxisTerm::Without:
      return "without(" + parts[0] + "," + parts[1] + ")";
    case AxisTerm::Plus:
      return parts[0] + (term.number < 0 ? "" : "+") + std::to_string(term.number);
    case AxisTerm::List:
      for (const std::string& part : parts) s += (s.empty() ? "" : ",") + part;
      return s;
  }
  return s;
}

std::string to_string(const AxisCondition& c, const std::map<std::string, std::string>& names) {
  constexpr std::string_view kSigns[] = {"<", "!=", "=="};
  return to_string(c.left, names) + std::string(kSigns[c.kind]) + to_string(c.right, names);
}

Result<AxisTerm> read_axis_term(text::Scanner& in) { return Reader(in).list(0); }

Result<std::optional<AxisCondition>> read_axis_condition(text::Scanner& in) {
  size_t start = in.position();
  auto left = Reader(in).item(0);
  for (auto [sign, kind] : {std::pair{"!=", AxisCondition::Different},
                            {"==", AxisCondition::Equal},
                            {"<", AxisCondition::Less}}) {
    if (!left || !in.eat(sign)) continue;
    if (in.peek() == '=') break;  // ?n<=?m is about numbers
    auto right = Reader(in).item(0);
    if (!right) break;  // nor is ?n<x.1
    return std::optional(AxisCondition{kind, *std::move(left), *std::move(right)});
  }
  in.rewind(start);
  return std::optional<AxisCondition>();
}

}  // namespace regraft
