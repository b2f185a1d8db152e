#include "ir/rule/family.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/rng.h"
#include "ir/rule/pattern.h"
#include "ir/rule/text.h"

namespace regraft {
namespace {

bool is_letters(std::string_view s) { return s.find_first_not_of("n1") == std::string_view::npos; }

/// Axes between the letters of a word.
int open_in(const Word& word, int rank) {
  return rank - static_cast<int>(word.front.size() + word.back.size());
}

bool is_open(const Signature& s) {
  return std::any_of(s.begin(), s.end(), [](const std::string& text) {
    auto word = word_of(text);
    return word && word->open != Word::None;
  });
}

std::vector<int64_t> counted(int n) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return all;
}

/// The values that a variable may have that alone is attribute `attr` of a call at that rank.
std::vector<std::vector<int64_t>> values_of(const IntAttr& attr, int rank) {
  std::vector<std::vector<int64_t>> all;
  if (attr.length == Length::One) {
    for (int64_t k = 0; k < rank; ++k) all.push_back({k});
    return all;
  }
  if (!is_axis_set(attr)) {
    std::vector<int64_t> p = counted(rank);
    do all.push_back(p);
    while (std::next_permutation(p.begin(), p.end()));
    return all;
  }
  for (uint32_t set = 1; set < 1u << rank; ++set) {
    all.emplace_back();
    for (int64_t k = 0; k < rank; ++k)
      if (set >> k & 1) all.back().push_back(k);
  }
  return all;
}

/// A rule that is the first `count` calls of the family's left side.
Rule beginning(const Rule& family, size_t count) {
  Rule r = family;
  r.lhs.nodes.resize(count);
  r.lhs.outputs.clear();
  r.rhs = {};
  r.where.clear();
  r.real_where.clear();
  r.axis_where.clear();
  return r;
}

/// All members at one plain signature.
class Members {
 public:
  Members(const Rule& family, Signature signature, const std::function<bool(Member)>& visit)
      : family_(family),
        begun_(beginning(family, family.lhs.nodes.size())),
        signature_(std::move(signature)),
        visit_(visit) {
    for (size_t n = 0; n < family.lhs.nodes.size(); ++n)
      for (size_t k = 0; k < family.lhs.nodes[n].op->ints.size(); ++k)
        if (axis_term(family.lhs.nodes[n], k)) slots_.push_back({n, k});
  }

  bool run() { return from(0, {}); }

 private:
  /// A call of the left side, and its attribute that is an expression.
  struct Slot {
    size_t node, attr;
  };
  const AxisTerm& term(Slot s) const { return *axis_term(family_.lhs.nodes[s.node], s.attr); }
  const IntAttr& attr(Slot s) const { return family_.lhs.nodes[s.node].op->ints[s.attr]; }

  /// Gives each slot from `next` on each of its values. False: the visitor ended it.
  bool from(size_t next, const AxisValues& values) {
    if (next == slots_.size()) return complete(values);
    Slot slot = slots_[next];
    if (auto value = axes_at(attr(slot), term(slot), values)) {
      set(slot, *value);
      return from(next + 1, values);
    }
    auto rank = rank_before(slot.node);
    if (!rank) return true;
    std::vector<std::string> known;
    for (const auto& [name, value] : values) known.push_back(name);
    bool tells = !solvable(term(slot), known).empty();
    for (const auto& value : values_of(attr(slot), *rank)) {
      AxisValues more = values;
      if (tells && !bind_axes(attr(slot), term(slot), value, more)) continue;
      set(slot, value);
      if (!from(next + 1, more)) return false;
    }
    return true;
  }
  void set(Slot slot, const std::vector<int64_t>& value) {
    auto& list = begun_.lhs.nodes[slot.node].attrs.ints[slot.attr];
    list.clear();
    for (int64_t n : value) list.emplace_back(n);
    begun_.lhs.nodes[slot.node].axes[slot.attr].reset();
  }
  bool complete(AxisValues values) {
    auto given = [&](size_t node, size_t k) {
      std::vector<int64_t> list;
      for (const Poly& p : begun_.lhs.nodes[node].attrs.ints[k]) list.push_back(p.constant());
      return std::optional(list);
    };
    if (!bind_side(family_.lhs, given, values)) return true;
    auto left = member(begun_, values);
    if (!left || !instantiate(*left, signature_)) return true;
    auto rule = member(family_, values);
    if (!rule) return true;
    rule->domain = {signature_};
    return visit_({*std::move(rule), std::move(values)});
  }
  /// The rank of the first operand of a call; nullopt: the calls before it have no form.
  std::optional<int> rank_before(size_t node) const {
    PatternRef r = family_.lhs.nodes[node].inputs[0];
    if (is_variable(r)) {
      const std::string& word = signature_[static_cast<size_t>(variable_of(r))];
      return word == "-" ? 0 : static_cast<int>(word.size());
    }
    auto rule = member(beginning(begun_, static_cast<size_t>(r.node) + 1), {});
    auto instance = rule ? instantiate(*rule, signature_) : Result<RuleInstance>(rule.error());
    if (!instance) return std::nullopt;
    Value v{instance->lhs_ids[static_cast<size_t>(r.node)], r.output};
    return static_cast<int>(instance->lhs.shape(v).size());
  }

  const Rule& family_;
  Rule begun_;  // its left side, with numbers in the slots so far
  Signature signature_;
  const std::function<bool(Member)>& visit_;
  std::vector<Slot> slots_;
};

}  // namespace

std::optional<Word> word_of(std::string_view text) {
  Word w;
  if (text == "-") return w;
  size_t open = text.find_first_of(".*");
  w.front = text.substr(0, open);
  if (open != std::string_view::npos) {
    std::string_view kind = text.substr(open, 2);
    if (kind != ".." && kind != "**") return std::nullopt;
    w.open = kind == ".." ? Word::Any : Word::AnyOrOne;
    text.remove_prefix(open + 2);
    // "..2" is a bound; a 1 behind the dots is one as well, a letter 1 cannot stand there first.
    if (!text.empty() && text[0] >= '0' && text[0] <= '0' + kMaxRank) {
      w.most = text[0] - '0';
      text.remove_prefix(1);
    }
    w.back = text;
  }
  bool fits = is_letters(w.front) && is_letters(w.back) &&
              w.front.size() + w.back.size() <= kMaxRank &&
              (w.open != Word::None || !w.front.empty());
  return fits ? std::optional(w) : std::nullopt;
}

std::string to_string(const Word& w) {
  if (w.open == Word::None) return w.front.empty() ? "-" : w.front;
  std::string bound =
      w.most < kMaxRank || (!w.back.empty() && w.back[0] == '1') ? std::to_string(w.most) : "";
  return w.front + (w.open == Word::Any ? ".." : "**") + bound + w.back;
}

bool takes_axes(const IntAttr& attr) {
  return attr.structural && (attr.kind == IntKind::Axis || attr.length == Length::Rank);
}

bool is_axis_set(const IntAttr& attr) {
  return attr.kind == IntKind::Axis && attr.length == Length::Any;
}

std::optional<std::vector<int64_t>> axes_at(const IntAttr& attr, const AxisTerm& term,
                                            const AxisValues& values) {
  auto value = evaluate(term, values);
  if (!value || std::any_of(value->begin(), value->end(), [](int64_t n) { return n < 0; }))
    return std::nullopt;
  if (is_axis_set(attr)) std::sort(value->begin(), value->end());
  return value;
}

bool bind_axes(const IntAttr& attr, const AxisTerm& term, const std::vector<int64_t>& given,
               AxisValues& values) {
  std::vector<std::string> known;
  for (const auto& [name, value] : values) known.push_back(name);
  if (std::string open = solvable(term, known); !open.empty()) {
    if (!solve(term, given, values)) return false;
    if (is_axis_set(attr)) std::sort(values[open].begin(), values[open].end());
  }
  return axes_at(attr, term, values) == given;
}

std::vector<std::string> axis_variables(const Rule& rule) {
  std::vector<std::string> names;
  for (const PatternNode& n : rule.lhs.nodes)
    for (size_t k = 0; k < n.op->ints.size(); ++k)
      if (const AxisTerm* term = axis_term(n, k)) add_names(*term, names);
  return names;
}

bool is_family(const Rule& rule) {
  return !axis_variables(rule).empty() ||
         std::any_of(rule.domain.begin(), rule.domain.end(), is_open);
}

std::optional<AxisGap> gap_in(const Pattern& side, const GivenAxes& given, AxisValues& values) {
  std::optional<AxisGap> open;
  for (size_t round = 0; round <= side.nodes.size(); ++round) {
    open.reset();
    for (size_t n = 0; n < side.nodes.size(); ++n)
      for (size_t k = 0; k < side.nodes[n].op->ints.size(); ++k) {
        const AxisTerm* term = axis_term(side.nodes[n], k);
        if (!term) continue;
        const IntAttr& attr = side.nodes[n].op->ints[k];
        std::vector<std::string> known;
        for (const auto& [name, value] : values) known.push_back(name);
        auto numbers = given(n, k);
        bool tells = evaluate(*term, values) || !solvable(*term, known).empty();
        if (!numbers || (tells && !bind_axes(attr, *term, *numbers, values))) return AxisGap{n, k};
        if (!tells) open = AxisGap{n, k};
      }
    if (!open) break;
  }
  return open;
}

bool bind_side(const Pattern& side, const GivenAxes& given, AxisValues& values) {
  return !gap_in(side, given, values);
}

std::optional<int> open_axes(const Signature& signature, std::span<const int> ranks) {
  if (signature.size() != ranks.size()) return std::nullopt;
  std::optional<int> open;
  for (size_t v = 0; v < ranks.size(); ++v) {
    auto word = word_of(signature[v]);
    if (!word) return std::nullopt;
    int n = open_in(*word, ranks[v]);
    if (n < 0 || n > word->most || (word->open == Word::None && n != 0)) return std::nullopt;
    if (word->open == Word::None) continue;
    if (open && *open != n) return std::nullopt;
    open = n;
  }
  return open.value_or(0);
}

Signature plain_signature(const Signature& signature, int open) {
  Signature s;
  for (const std::string& text : signature) {
    Word w = word_of(text).value_or(Word{});
    size_t n = w.open == Word::None ? 0 : static_cast<size_t>(open);
    s.push_back(w.front + std::string(n, 'n') + w.back);
    if (s.back().empty()) s.back() = "-";
  }
  return s;
}

bool includes(const Signature& open, const Signature& plain) {
  std::vector<int> ranks;
  for (const std::string& word : plain)
    ranks.push_back(word == "-" ? 0 : static_cast<int>(word.size()));
  auto axes = open_axes(open, ranks);
  if (!axes) return false;
  Signature full = plain_signature(open, *axes);
  for (size_t v = 0; v < plain.size(); ++v) {
    Word word = *word_of(open[v]);
    for (size_t d = 0; d < full[v].size(); ++d) {
      bool between = d >= word.front.size() && d + word.back.size() < full[v].size();
      bool free = between && word.open == Word::AnyOrOne;
      if (!free && full[v][d] != plain[v][d]) return false;
    }
  }
  return true;
}

int most_open(const Signature& signature) {
  int most = 0;
  bool any = false;
  for (const std::string& text : signature) {
    auto word = word_of(text);
    if (!word || word->open == Word::None) continue;
    int n = std::min(word->most, open_in(*word, kMaxRank));
    most = any ? std::min(most, n) : n;
    any = true;
  }
  return most;
}

Signature with_most_open(const Signature& signature, int most) {
  Signature s = signature;
  for (std::string& text : s) {
    auto word = word_of(text);
    if (!word || word->open == Word::None) continue;
    word->most = most >= most_open(signature) && word->most == kMaxRank ? kMaxRank : most;
    text = to_string(*word);
  }
  return s;
}

Result<Rule> member(const Rule& family, const AxisValues& values) {
  for (const AxisCondition& c : family.axis_where)
    if (!holds(c, values)) return error("the axes do not satisfy " + to_string(c));
  Rule r = family;
  r.axis_where.clear();
  r.domain.clear();
  std::string problem;
  auto placed = [&](Poly& p) {
    auto q = moved(p, *r.pool, [&](Var v) {
      auto size = size_at_axis(*v);
      if (!size) return Poly::symbol(r.pool->named(v->name, v->min));
      auto it = values.find(size->axis);
      if (it == values.end() || it->second.size() != 1) {
        problem = v->name + ": the axis has no value";
        return Poly(1);
      }
      return Poly::symbol(
          r.pool->named(size->variable + "." + std::to_string(it->second[0]), v->min));
    });
    if (q) p = *std::move(q);
  };
  r.pool = std::make_shared<SymbolPool>();
  for (Pattern* side : {&r.lhs, &r.rhs})
    for (PatternNode& n : side->nodes) {
      for (auto& list : n.attrs.ints)
        for (Poly& p : list) placed(p);
      for (size_t k = 0; k < n.op->ints.size(); ++k) {
        const AxisTerm* term = axis_term(n, k);
        if (!term) continue;
        auto value = axes_at(n.op->ints[k], *term, values);
        if (!value) return error(to_string(*term) + " has no value");
        n.attrs.ints[k].clear();
        for (int64_t i : *value) n.attrs.ints[k].emplace_back(i);
      }
      n.axes.clear();
    }
  for (auto& [a, b, relation] : r.where) {
    placed(a);
    placed(b);
  }
  if (!problem.empty()) return error(problem);
  return r;
}

std::string to_string(const Member& m) {
  std::string s;
  for (const auto& [name, value] : m.values) {
    s += (s.empty() ? "?" : " ?") + name + "=";
    for (size_t i = 0; i < value.size(); ++i) s += (i ? "," : "") + std::to_string(value[i]);
  }
  for (size_t v = 0; v < m.rule.variables.size(); ++v)
    s += (s.empty() ? "" : " ") + m.rule.variables[v] + ":" + m.rule.domain[0][v];
  return s;
}

bool for_each_member(const Rule& family, const Signature& signature, int open,
                     const std::function<bool(Member)>& visit) {
  std::vector<Signature> all = {plain_signature(signature, open)};
  for (size_t v = 0; v < signature.size(); ++v) {
    auto word = word_of(signature[v]);
    if (!word || word->open != Word::AnyOrOne) continue;
    for (int d = 0; d < open; ++d)
      for (size_t s = all.size(); s-- > 0;) {
        all.push_back(all[s]);
        all.back()[v][word->front.size() + static_cast<size_t>(d)] = '1';
      }
  }
  for (Signature& s : all)
    if (!Members(family, std::move(s), visit).run()) return false;
  return true;
}

const MemberLists::List& MemberLists::list_of(const Rule& family, const Signature& signature,
                                              int open, size_t limit) {
  Rule said = family;
  said.name = "family";
  said.domain = {signature};
  said.verdict = {};
  said.numerics = said.numerics_back = {};
  List& list = lists_[to_string(said) + " " + std::to_string(open)];
  if (list.complete || list.places.size() >= limit) return list;
  list.places.clear();
  list.complete = regraft::for_each_member(family, signature, open, [&](const Member& m) {
    if (list.places.size() >= limit) return false;
    list.places.push_back({m.values, m.rule.domain[0]});
    return true;
  });
  return list;
}

size_t MemberLists::count(const Rule& family, const Signature& signature, int open, size_t limit) {
  return std::min(limit, list_of(family, signature, open, limit).places.size());
}

bool MemberLists::for_each_member(const Rule& family, const Signature& signature, int open,
                                  const std::function<bool(Member)>& visit) {
  constexpr size_t kAll = ~size_t{0};
  for (const Place& p : list_of(family, signature, open, kAll).places) {
    auto rule = member(family, p.values);
    CHECK(rule.has_value());
    rule->domain = {p.signature};
    if (!visit({*std::move(rule), p.values})) return false;
  }
  return true;
}

std::vector<Member> some_members(const Rule& family, size_t each) {
  constexpr size_t kLookedAt = 400;
  std::vector<Member> found;
  for (int open : {2, 3, 1, 4, 0})
    for (const Signature& s : family.domain) {
      if (open > most_open(s)) continue;
      std::vector<Member> all;
      for_each_member(family, s, open, [&](Member m) {
        if (instantiate(m.rule, m.rule.domain[0])) all.push_back(std::move(m));
        return all.size() < kLookedAt;
      });
      Rng rng(all.size());
      for (size_t k = 0; k < std::min(all.size(), each); ++k) {
        std::swap(all[k], all[k + rng.below(all.size() - k)]);
        found.push_back(std::move(all[k]));
      }
    }
  return found;
}

std::optional<Rule> example_of(const Rule& rule) {
  if (!is_family(rule)) return rule;
  std::vector<Member> some = some_members(rule, 1);
  if (some.empty()) return std::nullopt;
  some[0].rule.both = rule.both && is_reversible(some[0].rule);
  return some[0].rule;
}

}  // namespace regraft
