#include "gen/minimise/fold.h"

#include <algorithm>
#include <map>
#include <set>

#include "gen/generalise/check.h"
#include "gen/generalise/generalise.h"
#include "ir/rule/family.h"
#include "ir/rule/pattern.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

constexpr size_t kHypotheses = 400;  // tried for one group of rules
constexpr size_t kMembersChecked = 6;
constexpr int kTrials = 12;

/// A rule at one signature, axes counted from the front.
struct Atom {
  size_t rule = 0;
  Rule plain;  ///< its domain is the signature
};
/// The place of an attribute that is axes: side, node, attribute.
struct Slot {
  bool right = false;
  size_t node = 0, attr = 0;
};

const Pattern& side_of(const Rule& r, bool right) { return right ? r.rhs : r.lhs; }
PatternNode& node_at(Rule& r, const Slot& s) { return (s.right ? r.rhs : r.lhs).nodes[s.node]; }
const IntAttr& attr_at(const Rule& r, const Slot& s) {
  return side_of(r, s.right).nodes[s.node].op->ints[s.attr];
}

std::vector<Slot> slots_of(const Rule& r) {
  std::vector<Slot> slots;
  for (bool right : {false, true})
    for (size_t n = 0; n < side_of(r, right).nodes.size(); ++n) {
      const PatternNode& node = side_of(r, right).nodes[n];
      for (size_t k = 0; k < node.op->ints.size(); ++k)
        if (takes_axes(node.op->ints[k]) && !node.attrs.ints[k].empty() && !node.inputs.empty())
          slots.push_back({right, n, k});
    }
  return slots;
}

std::vector<int64_t> numbers_at(const Rule& r, const Slot& s) {
  std::vector<int64_t> list;
  for (const Poly& p : side_of(r, s.right).nodes[s.node].attrs.ints[s.attr])
    list.push_back(p.constant());
  if (is_axis_set(attr_at(r, s))) std::sort(list.begin(), list.end());
  return list;
}

/// Every polynomial of the rule over the same pool with other symbols.
void rename_sizes(Rule& r, const std::function<std::string(Var)>& name) {
  auto change = [&](Poly& p) {
    auto q = moved(p, *r.pool, [&](Var v) {
      std::string changed = name(v);
      return Poly::symbol(changed.empty() ? v : r.pool->named(changed, v->min));
    });
    if (q) p = *std::move(q);
  };
  for (Pattern* side : {&r.lhs, &r.rhs})
    for (PatternNode& n : side->nodes)
      for (auto& list : n.attrs.ints)
        for (Poly& p : list) change(p);
  for (auto& [a, b, relation] : r.where) {
    change(a);
    change(b);
  }
}

/// The rule at one signature with a pool of its own, all axes counted from the front.
std::optional<Rule> from_the_front(const Rule& rule, const Signature& signature) {
  auto instance = instantiate(rule, signature);
  if (!instance) return std::nullopt;
  auto fresh = member(rule, {});  // the same rule over a new pool
  if (!fresh) return std::nullopt;
  Rule r = *std::move(fresh);
  r.domain = {signature};
  for (const Slot& s : slots_of(r)) {
    const Graph& g = s.right ? instance->rhs : instance->lhs;
    int32_t id = (s.right ? instance->rhs_ids : instance->lhs_ids)[s.node];
    auto rank = static_cast<int64_t>(g.shape(g.node(id).inputs[0]).size());
    for (Poly& p : node_at(r, s).attrs.ints[s.attr])
      if (p.is_constant() && p.constant() < 0) p = p + Poly(rank);
  }
  rename_sizes(r, [&](Var v) -> std::string {
    auto size = size_name(*v);
    if (!size || size->axis >= 0) return {};
    auto at = std::find(r.variables.begin(), r.variables.end(), size->variable);
    const std::string& word = signature[static_cast<size_t>(at - r.variables.begin())];
    return size->variable + "." + std::to_string(size->axis + static_cast<int>(word.size()));
  });
  return r;
}

std::string text_of(Rule r) {
  r.name = "r";
  r.domain.clear();
  r.verdict = {};
  r.numerics = r.numerics_back = {};
  r.origin = "generated";
  return to_string(r);
}

/// The rule without what may differ between members: equal for rules that may be of one family.
std::string outline_of(const Atom& atom) {
  Rule r = atom.plain;
  for (const Slot& s : slots_of(r)) {
    PatternNode& n = node_at(r, s);
    n.axes.resize(n.op->ints.size());
    n.attrs.ints[s.attr].clear();
    n.axes[s.attr] = AxisTerm{AxisTerm::Variable, 0, "axes", {}};
  }
  rename_sizes(r, [](Var v) {
    auto size = size_name(*v);
    return size ? size->variable + ".?axes" : std::string();
  });
  return text_of(std::move(r));
}

AxisTerm variable(const std::string& name) { return {AxisTerm::Variable, 0, name, {}}; }
AxisTerm at(AxisTerm list, AxisTerm places) {
  return {AxisTerm::At, 0, {}, {std::move(list), std::move(places)}};
}
AxisTerm inverse(AxisTerm p) { return {AxisTerm::Inverse, 0, {}, {std::move(p)}}; }

/// A variable of a hypothesis.
struct AxisVariable {
  enum Kind : uint8_t { Axis, Set, Permutation } kind;
  std::string name;
};
AxisVariable::Kind kind_of(const IntAttr& attr) {
  return is_axis_set(attr)            ? AxisVariable::Set
         : attr.length == Length::One ? AxisVariable::Axis
                                      : AxisVariable::Permutation;
}

/// A family in the making: what the slots are, and what the variables are in each atom.
struct Hypothesis {
  std::vector<AxisTerm> terms;
  std::vector<AxisVariable> variables;
  std::vector<AxisValues> values;
};

/// All expressions of the variables that may stand in a slot of that kind, simple ones first.
std::vector<AxisTerm> expressions(const std::vector<AxisVariable>& variables,
                                  AxisVariable::Kind kind) {
  std::vector<AxisTerm> all;
  auto each = [&](AxisVariable::Kind wanted, auto&& visit) {
    for (const AxisVariable& v : variables)
      if (v.kind == wanted) visit(variable(v.name));
  };
  auto permutation = AxisVariable::Permutation;
  each(kind, [&](const AxisTerm& v) { all.push_back(v); });
  if (kind == permutation) each(permutation, [&](const AxisTerm& p) { all.push_back(inverse(p)); });
  each(permutation, [&](const AxisTerm& p) {
    for (const AxisTerm& list : {p, inverse(p)})
      each(kind, [&](const AxisTerm& v) { all.push_back(at(list, v)); });
    for (auto gone : {AxisVariable::Set, AxisVariable::Axis})
      if (kind == permutation)
        each(gone, [&](const AxisTerm& s) { all.push_back({AxisTerm::Without, 0, {}, {p, s}}); });
  });
  if (kind == AxisVariable::Set)
    each(kind, [&](const AxisTerm& s) {
      each(kind, [&](const AxisTerm& t) {
        if (!(s == t)) all.push_back({AxisTerm::List, 0, {}, {s, t}});
      });
    });
  return all;
}

/// All hypotheses for a group of atoms, more general ones first.
class Hypotheses {
 public:
  explicit Hypotheses(const std::vector<const Atom*>& atoms)
      : atoms_(atoms), slots_(slots_of(atoms[0]->plain)) {}

  std::vector<Rule> run() {
    Hypothesis h;
    h.values.resize(atoms_.size());
    extend(h);
    return std::move(found_);
  }

 private:
  void extend(Hypothesis& h) {
    if (found_.size() >= kHypotheses) return;
    if (h.terms.size() == slots_.size()) return complete(h);
    const Slot& slot = slots_[h.terms.size()];
    const IntAttr& attr = attr_at(atoms_[0]->plain, slot);
    AxisVariable::Kind kind = kind_of(attr);
    std::vector<AxisTerm> terms;
    if (!slot.right) {  // a variable of its own
      Hypothesis next = h;
      constexpr const char* kNames[] = {"axis", "axes", "perm"};
      std::string name = kNames[kind];
      auto like = [&](const AxisVariable& v) { return v.kind == kind; };
      auto number = 1 + std::count_if(h.variables.begin(), h.variables.end(), like);
      if (number > 1) name += std::to_string(number);
      next.terms.push_back(variable(name));
      next.variables.push_back({kind, name});
      for (size_t a = 0; a < atoms_.size(); ++a)
        next.values[a][name] = numbers_at(atoms_[a]->plain, slot);
      extend(next);
    }
    for (const AxisTerm& term : expressions(h.variables, kind)) {
      bool fits = true;
      for (size_t a = 0; fits && a < atoms_.size(); ++a)
        fits = axes_at(attr, term, h.values[a]) == numbers_at(atoms_[a]->plain, slot);
      if (!fits) continue;
      h.terms.push_back(term);
      extend(h);
      h.terms.pop_back();
    }
    constant(h, slot);
  }
  /// The numbers themselves, where all atoms have the same.
  void constant(Hypothesis& h, const Slot& slot) {
    std::vector<int64_t> first = numbers_at(atoms_[0]->plain, slot);
    for (const Atom* atom : atoms_)
      if (numbers_at(atom->plain, slot) != first) return;
    AxisTerm list{AxisTerm::List, 0, {}, {}};
    for (int64_t n : first) list.parts.push_back({AxisTerm::Number, n, {}, {}});
    h.terms.push_back(list.parts.size() == 1 ? list.parts[0] : list);
    extend(h);
    h.terms.pop_back();
  }

  /// The sizes at axes: of each polynomial, at variables if that makes all atoms equal.
  void complete(const Hypothesis& h) {
    if (h.variables.empty()) return;
    std::vector<std::string> names = {""};
    for (const AxisVariable& v : h.variables)
      if (v.kind == AxisVariable::Axis) names.push_back(v.name);
    for (size_t n = names.size(); n-- > 0;) {
      std::set<std::string> texts;
      Rule family;
      for (size_t a = 0; a < atoms_.size() && texts.size() < 2; ++a) {
        Rule r = structured(*atoms_[a], h, names[n], a);
        texts.insert(text_of(r));
        if (a == 0) family = std::move(r);
      }
      if (texts.size() != 1) continue;
      if (!validate(family)) family.both = false;
      if (validate(family)) found_.push_back(std::move(family));
      return;
    }
  }
  Rule structured(const Atom& atom, const Hypothesis& h, const std::string& axis, size_t a) const {
    Rule r = *member(atom.plain, {});
    for (size_t k = 0; k < slots_.size(); ++k) {
      std::vector<std::string> names;
      add_names(h.terms[k], names);
      if (names.empty()) continue;  // the numbers that all atoms have
      PatternNode& n = node_at(r, slots_[k]);
      n.axes.resize(n.op->ints.size());
      n.attrs.ints[slots_[k].attr].clear();
      n.axes[slots_[k].attr] = h.terms[k];
    }
    if (!axis.empty())
      rename_sizes(r, [&](Var v) -> std::string {
        auto size = size_name(*v);
        bool there = size && size->axis == h.values[a].at(axis)[0];
        return there ? size->variable + ".?" + axis : "";
      });
    return r;
  }

  const std::vector<const Atom*>& atoms_;
  std::vector<Slot> slots_;
  std::vector<Rule> found_;
};

/// The signature with its full ranks open: "nnn" and "n1n" beside each other are ".." and "**".
Signature opened(const Signature& s) {
  size_t rank = 0;
  for (const std::string& word : s) rank = std::max(rank, word == "-" ? 0 : word.size());
  Signature r = s;
  for (std::string& word : r)
    if (word != "-" && word.size() == rank)
      word = word.find('1') == std::string::npos ? ".." : "**";
  return r;
}

/// Scalars among the members left out: beside a word of fixed rank they are another case.
Signature of_one_axis_more(Signature s) {
  for (std::string& word : s)
    if (word == "..") word = "n..";
  return s;
}

bool has_open(const Signature& s) {
  return std::any_of(s.begin(), s.end(), [](const std::string& word) {
    return word_of(word).value_or(Word{}).open != Word::None;
  });
}

/// Signatures for a family of these atoms; those that another one includes are left out.
std::vector<Signature> signatures_for(const std::vector<const Atom*>& atoms) {
  std::vector<Signature> all;
  for (const Atom* atom : atoms) {
    Signature s = opened(atom->plain.domain[0]);
    if (has_open(s) && std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
  }
  auto includes = [](const Signature& wide, const Signature& narrow) {
    if (wide == narrow) return false;
    for (size_t v = 0; v < wide.size(); ++v)
      if (wide[v] != narrow[v] && !(wide[v] == "**" && narrow[v] == "..")) return false;
    return true;
  };
  std::vector<Signature> kept;
  for (const Signature& s : all)
    if (std::none_of(all.begin(), all.end(), [&](auto& wide) { return includes(wide, s); }))
      kept.push_back(s);
  return kept;
}

/// Most of the members tried hold, and none fails; at others no sizes were found.
bool holds_at_random(const Rule& family, const Signature& s) {
  Rule one = family;
  one.domain = {s};
  size_t held = 0, tried = 0;
  for (const Member& m : some_members(one, kMembersChecked)) {
    ++tried;
    Rule directed = m.rule;
    directed.both = false;
    Evidence e = check(directed, m.rule.domain[0], kShapeSeed, kTrials);
    if (e == Evidence::Fails) return false;
    held += e == Evidence::Holds;
  }
  return held > 0 && 3 * held >= 2 * tried;
}

/// The conditions worth trying: none, then each pair of axes or sets apart.
std::vector<std::vector<AxisCondition>> conditions_for(const Rule& family) {
  std::vector<std::vector<AxisCondition>> all = {{}};
  std::vector<std::string> names = axis_variables(family);
  std::erase_if(names, [](const std::string& n) { return n.starts_with("perm"); });
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = i + 1; j < names.size(); ++j) {
      AxisTerm a = variable(names[i]), b = variable(names[j]);
      all.push_back({{AxisCondition::Different, a, b}});
      all.push_back({{AxisCondition::Less, a, b}});
      all.push_back({{AxisCondition::Less, b, a}});
    }
  return all;
}

/// The values of the family's variables in a rule of its outline; nullopt: it is no member.
std::optional<AxisValues> values_in(const Rule& family, const Rule& plain) {
  AxisValues values;
  auto given = [&](size_t n, size_t k) { return std::optional(numbers_at(plain, {false, n, k})); };
  return bind_side(family.lhs, given, values) ? std::optional(values) : std::nullopt;
}

/// A family says what an atom of its outline says.
bool says(const Rule& family, const Rule& plain) {
  bool fitting = std::any_of(family.domain.begin(), family.domain.end(),
                             [&](const Signature& s) { return includes(s, plain.domain[0]); });
  if (!fitting) return false;
  auto values = values_in(family, plain);
  auto one = values ? member(family, *values) : Result<Rule>(error("none"));
  if (!one) return false;
  one->both = plain.both;
  return text_of(*one) == text_of(plain);
}

using Groups = std::map<std::string, std::vector<Atom>>;

/// The rule as all of its family are written: of its two readings the one with more axes on the
/// left, which tell what those on the right are; then the one with the lesser text.
Rule oriented(const Rule& rule) {
  Rule forward = renamed(rule);
  if (!rule.both) return forward;
  Rule back = renamed(reversed(rule));
  auto order = [](const Rule& r) {
    auto slots = slots_of(r);
    auto right = std::count_if(slots.begin(), slots.end(), [](const Slot& s) { return s.right; });
    return std::pair(right, outline_of({0, *member(r, {})}));
  };
  return order(back) < order(forward) ? back : forward;
}

std::vector<Atom> atoms_of(const Rule& rule, size_t number) {
  std::vector<Atom> atoms;
  if (is_family(rule)) return atoms;
  Rule r = oriented(rule);
  if (slots_of(r).empty()) return atoms;
  for (const Signature& s : r.domain)
    if (auto plain = from_the_front(r, s)) atoms.push_back({number, *std::move(plain)});
  return atoms;
}

size_t rules_among(const std::vector<const Atom*>& atoms) {
  std::set<size_t> numbers;
  for (const Atom* a : atoms) numbers.insert(a->rule);
  return numbers.size();
}

/// The first family of the atoms that holds; nullopt: none does.
std::optional<Rule> family_of(const std::vector<const Atom*>& atoms) {
  std::vector<Signature> signatures = signatures_for(atoms);
  for (const Rule& hypothesis : Hypotheses(atoms).run())
    for (auto& conditions : conditions_for(hypothesis)) {
      Rule family = hypothesis;
      family.axis_where = std::move(conditions);
      family.domain.clear();
      for (const Signature& s : signatures)
        for (const Signature& t : {s, of_one_axis_more(s)})
          if (holds_at_random(family, t)) {
            family.domain.push_back(t);
            break;
          }
      if (family.domain.empty()) continue;
      bool covers = std::count_if(atoms.begin(), atoms.end(),
                                  [&](const Atom* a) { return says(family, a->plain); }) > 0;
      if (covers) return family;
    }
  return std::nullopt;
}

}  // namespace

std::vector<Rule> families_of(const std::vector<Rule>& rules) {
  Groups groups;
  for (size_t k = 0; k < rules.size(); ++k)
    for (Atom& atom : atoms_of(rules[k], k)) groups[outline_of(atom)].push_back(std::move(atom));
  std::vector<Rule> families;
  for (const auto& [outline, atoms] : groups) {
    std::vector<const Atom*> left;
    for (const Atom& atom : atoms) left.push_back(&atom);
    while (rules_among(left) > 1) {
      auto family = family_of(left);
      if (!family) break;
      family->name = rules[left[0]->rule].name + ".axes";
      family->verdict = {};
      std::vector<const Atom*> said;
      for (const Atom* a : left)
        if (says(*family, a->plain)) said.push_back(a);
      std::erase_if(left, [&](const Atom* a) {
        return std::find(said.begin(), said.end(), a) != said.end();
      });
      if (rules_among(said) > 1) families.push_back(*std::move(family));
    }
  }
  return families;
}

std::vector<Rule> beyond(const std::vector<Rule>& rules, const std::vector<Rule>& families) {
  std::multimap<std::string, Rule> known;  // directed, by outline
  for (const Rule& family : families)
    for (Rule& way : directions(family))
      if (auto some = some_members(way, 1); !some.empty()) {
        std::string outline = outline_of({0, renamed(some[0].rule)});
        known.emplace(std::move(outline), renamed(way));
      }
  auto said = [&](const Rule& directed) {
    if (is_family(directed)) return false;
    auto plain = from_the_front(renamed(directed), renamed(directed).domain[0]);
    if (!plain) return false;
    auto [first, last] = known.equal_range(outline_of({0, *plain}));
    return std::any_of(first, last, [&](const auto& at) {
      return at.second.numerics.kind >= directed.numerics.kind && says(at.second, *plain);
    });
  };
  std::vector<Rule> left;
  for (const Rule& rule : rules) {
    Rule rest = rule, forth = directions(rule)[0], back = rule.both ? reversed(forth) : forth;
    std::vector<Signature> forth_left, back_left, one_way;
    rest.domain.clear();
    for (const Signature& s : rule.domain) {
      Rule one = rule;
      one.domain = {s};
      std::vector<Rule> ways = directions(one);
      bool first = said(ways[0]), second = said(ways.back());
      if (!first && !second) rest.domain.push_back(s);
      if (rule.both && first != second) one_way.push_back(s);
      if (rule.both && !first && second) forth_left.push_back(s);
      if (rule.both && first && !second) back_left.push_back(ways[1].domain[0]);
    }
    if (!rest.domain.empty() ||
        (!forth_left.empty() && !back_left.empty())) {  // one name, one rule
      rest.domain.insert(rest.domain.end(), one_way.begin(), one_way.end());
      forth_left = back_left = {};
    }
    forth.domain = std::move(forth_left);
    back.domain = std::move(back_left);
    for (Rule* r : {&rest, &forth, &back})
      if (!r->domain.empty()) left.push_back(std::move(*r));
  }
  return left;
}

}  // namespace regraft::gen
