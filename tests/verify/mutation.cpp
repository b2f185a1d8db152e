#include "mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "base/rng.h"
#include "enclosure.h"
#include "ir/rule/family.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

template <class T>
const T& one_of(const std::vector<T>& all, Rng& rng) {
  return all[rng.below(all.size())];
}

/// Changes to the patterns of a rule.
class PatternMutation {
 public:
  PatternMutation(Rule& rule, Rng& rng)
      : rule_(rule), rng_(rng), side_(rng.below(3) ? rule.rhs : rule.lhs) {}

  /// False when there is nothing of the kind to change.
  bool make(Change change) {
    if (change == Change::Outputs) return outputs();
    if (side_.nodes.empty()) return false;
    PatternNode& n = side_.nodes[rng_.below(side_.nodes.size())];
    if (change == Change::Operator) return another_operator(n);
    return change == Change::Operand ? operand(n) : attribute(n);
  }

 private:
  bool another_operator(PatternNode& n) {
    auto ops = all_ops();
    for (int tries = 0; tries < 40; ++tries) {
      const OpDef* other = ops[rng_.below(ops.size())];
      bool alike = other != n.op && other->ints.size() == n.op->ints.size() &&
                   other->reals.size() == n.op->reals.size() && other->outputs == n.op->outputs &&
                   static_cast<int>(n.inputs.size()) >= other->min_arity &&
                   static_cast<int>(n.inputs.size()) <= other->max_arity;
      if (!alike) continue;
      n.op = other;
      return true;
    }
    return false;
  }
  bool operand(PatternNode& n) {
    if (n.inputs.empty()) return false;
    if (n.inputs.size() > 1 && rng_.below(2)) {
      std::swap(n.inputs[0], n.inputs[1]);
      return true;
    }
    PatternRef& r = n.inputs[rng_.below(n.inputs.size())];
    PatternRef other = variable_ref(static_cast<int>(rng_.below(rule_.variables.size())));
    if (other == r) return false;
    r = other;
    return true;
  }
  bool attribute(PatternNode& n) {
    if (!n.attrs.reals.empty() && (n.attrs.ints.empty() || rng_.below(2))) {
      size_t k = rng_.below(n.attrs.reals.size());
      if (k < n.real_vars.size() && !n.real_vars[k].empty()) return false;
      n.attrs.reals[k].value += rng_.below(2) ? 0.5 : -n.attrs.reals[k].value;
      return true;
    }
    if (n.attrs.ints.empty()) return false;
    size_t k = rng_.below(n.attrs.ints.size());
    auto& list = n.attrs.ints[k];
    if (list.empty() || (k < n.list_vars.size() && !n.list_vars[k].empty())) return false;
    if (rng_.below(4) == 0) {  // all of them: a padded border, say
      for (Poly& p : list) p = p + Poly(1);
      return true;
    }
    Poly& p = list[rng_.below(list.size())];
    p = p + Poly(rng_.below(2) ? 1 : -1);
    return true;
  }
  bool outputs() {
    if (side_.outputs.size() > 1 && rng_.below(2)) {
      std::swap(side_.outputs[0], side_.outputs[1]);
      return true;
    }
    PatternRef& out = side_.outputs[rng_.below(side_.outputs.size())];
    if (is_variable(out)) return false;
    const PatternNode& n = side_.nodes[static_cast<size_t>(out.node)];
    if (n.op->outputs_attr < 0 && !n.inputs.empty() && &side_ == &rule_.rhs) {
      out = n.inputs[rng_.below(n.inputs.size())];  // the last call is left out
      return true;
    }
    out.output = out.output == 0 ? 1 : 0;
    return true;
  }

  Rule& rule_;
  Rng& rng_;
  Pattern& side_;
};

bool change_condition(Rule& rule, Rng& rng) {
  if (rule.where.empty()) return false;
  size_t k = rng.below(rule.where.size());
  if (rng.below(4))
    rule.where.erase(rule.where.begin() + static_cast<std::ptrdiff_t>(k));
  else
    rule.where[k].second = rule.where[k].second + Poly(1);
  return true;
}

bool change_signature(Signature& s, Rng& rng) {
  std::string& word = s[rng.below(s.size())];
  std::string letters = word == "-" ? "" : word;
  size_t at = rng.below(letters.size() + 1);
  if (rng.below(2) && at < letters.size())
    letters[at] = letters[at] == 'n' ? '1' : 'n';
  else if (rng.below(2) && at < letters.size())
    letters.erase(at, 1);
  else if (letters.size() < 5)
    letters.insert(at, rng.below(2) ? "n" : "1");
  word = letters.empty() ? "-" : letters;
  return true;
}

/// The text of both sides of a rule of one output, and what follows them.
struct Sides {
  std::string left, right, rest;
};
std::optional<Sides> sides_of(const Rule& rule) {
  if (rule.both || rule.lhs.outputs.size() != 1) return std::nullopt;
  Rule plain = rule;
  plain.verdict = {};
  plain.domain.clear();
  std::string text = to_string(plain);
  size_t start = text.find("  ") + 2, arrow = text.find(" => ");
  if (arrow == std::string::npos) return std::nullopt;
  size_t end = text.find("  ", arrow);
  std::string rest = end == std::string::npos ? "" : text.substr(end);
  return Sides{text.substr(start, arrow - start),
               text.substr(arrow + 4, end == std::string::npos ? end : end - arrow - 4), rest};
}

/// A value that has all axes of a variable, each of size 1: it broadcasts wherever the variable
/// does.
std::string reduced(const std::string& x, const std::string& word, const char* how) {
  std::string axes;
  for (size_t d = 0; d < word.size(); ++d) axes += (d ? "," : "") + std::to_string(d);
  return fmt::format("(reduce-{} {} axes={} keepdims=1)", how, x, axes);
}

std::string full(double value) { return fmt::format("(full shape=1 value={})", value); }

/// Something made of u (axes of size 1) and of x, with `word`'s axes: sometimes never 0, sometimes
/// 0 on a set of measure zero, sometimes 0 on a large one; of known sign or not.
std::string factor(const std::string& u, const std::string& x, const std::string& word, Rng& rng) {
  static constexpr double kNumbers[] = {0, 1, -1, 0.5, 1.375, 2, 0.25};
  const std::string c = full(kNumbers[rng.below(std::size(kNumbers))]);
  const char* f[] = {"exp", "relu", "sigmoid", "tanh", "erf"};
  auto of = [&](const std::string& y) { return fmt::format("({} {})", f[rng.below(5)], y); };
  std::string last = std::to_string(word.size() - 1);
  std::string joined = fmt::format("(concat {0} {0} axis={1})", of(x), last);
  std::string inner[] = {x, of(x), joined, fmt::format("(mul {0} {0})", x),
                         fmt::format("(add {} {})", of(x), c)};
  const std::string& e = inner[rng.below(std::size(inner))];
  std::string most = reduced(e, word, "max"), mean = reduced(e, word, "mean");
  switch (rng.below(14)) {
    case 0:
      return of(u);
    case 1:
      return fmt::format("(sub {} {})", most, mean);
    case 2:
      return fmt::format("(add {} {})", of(u), of(u));
    case 3:
      return fmt::format("(sub {} {})", of(u), of(u));
    case 4:
      return fmt::format("(add {} {})", of(u), c);
    case 5:
      return fmt::format("(sub {} {})", of(u), c);
    case 6:
      return fmt::format("(mul {0} {0})", u);
    case 7:
      return fmt::format("(add (mul {0} {0}) {1})", u, of(u));
    case 8:
      return fmt::format("(clip {} min={} max=6)", u, kNumbers[rng.below(std::size(kNumbers))]);
    case 9:
      return fmt::format("(sub (exp {0}) {0})", u);
    case 10:
      return fmt::format("(sub {} {})", of(most), of(mean));
    case 11:
      return fmt::format("(add (sub {} {}) {})", most, mean, of(u));
    case 12:
      return fmt::format("(mul {} {})", of(u), of(most));
    default:
      return fmt::format("(sqrt (add {} {}))", of(u), c);
  }
}

/// A claim about a factor: that it is not 0, or not negative. The sides are those of a true rule.
std::optional<Rule> claim(const Rule& rule, const Signature& s, Change change, Rng& rng) {
  auto sides = sides_of(rule);
  size_t v = rng.below(rule.variables.size());
  if (!sides || s[v] == "-") return std::nullopt;
  std::string x = "?" + rule.variables[v];
  static constexpr const char* kHow[] = {"max", "mean", "sum"};
  std::string f = factor(reduced(x, s[v], kHow[rng.below(3)]), x, s[v], rng);
  auto call = [](const char* op, const std::string& a, const std::string& b) {
    return fmt::format("({} {} {})", op, a, b);
  };
  std::string l = sides->left, r = sides->right;
  if (change == Change::Sign) {
    std::string forms[] = {fmt::format("(relu {})", f), fmt::format("(sqrt (mul {0} {0}))", f),
                           fmt::format("(mul (sqrt {0}) (sqrt {0}))", f)};
    bool left = rng.below(2);
    std::string other = one_of(std::vector<std::string>(forms, forms + 3), rng);
    l = call("mul", l, left ? other : f);
    r = call("mul", r, left ? f : other);
  } else {
    std::string g = rng.below(3) ? f : fmt::format("(sqrt {})", f);
    std::string divided[] = {call("div", call("mul", r, g), g), call("mul", g, call("div", r, g)),
                             call("div", r, call("div", g, g))};
    std::string squared = call("div", call("mul", r, call("mul", f, f)), f);
    size_t which = rng.below(5);
    if (which < 3) r = divided[which];
    if (which >= 3) l = call("mul", l, f);
    if (which == 3) r = squared;
    if (which == 4) r = call("div", r, fmt::format("(div {} {})", full(1), f));
  }
  auto made = parse_rule("m  " + l + " => " + r + sides->rest);
  return made ? std::optional(*std::move(made)) : std::nullopt;
}

/// The rule as its text reads it, without calls that nothing needs; nullopt when it is no rule.
std::optional<Rule> tidied(const Rule& r) {
  try {
    if (!validate(r)) return std::nullopt;
    auto again = parse_rule(to_string(r));
    if (!again) return std::nullopt;
    return *std::move(again);
  } catch (const PolyOverflow&) {
    return std::nullopt;
  }
}

/// The change made; nullopt when the rule has nothing of the kind, or what comes out is none.
std::optional<Rule> changed(const Rule& original, Change change, Rng& rng) {
  if (original.both && change == Change::Direction) return std::nullopt;  // true as well
  Rule rule = one_of(directions(original), rng);
  Signature s(rule.variables.size(), rng.below(2) ? "nn" : "nnnn");
  if (!rule.domain.empty()) s = one_of(rule.domain, rng);
  rule.verdict = {};
  rule.domain = {s};
  bool by_claim = change == Change::Definedness || change == Change::Sign;
  if (by_claim) {
    auto made = claim(rule, s, change, rng);
    if (!made || made->variables != rule.variables) return std::nullopt;
    rule = *std::move(made);
  } else if (change == Change::Condition) {
    if (!change_condition(rule, rng)) return std::nullopt;
  } else if (change == Change::Direction) {
    if (!is_reversible(rule)) return std::nullopt;
    rule = reversed(rule);
    s = rule.domain[0];
  } else if (change == Change::Signature) {
    change_signature(s, rng);
  } else if (!PatternMutation(rule, rng).make(change)) {
    return std::nullopt;
  }
  std::vector<std::string> variables = rule.variables;
  rule.domain = {s};
  auto made = tidied(rule);
  if (!made || made->variables != variables || is_trivial(*made)) return std::nullopt;
  auto instance = instantiate(*made, s);
  if (!instance || plainly_false(instance->requires_lhs)) return std::nullopt;
  return made;
}

/// A draw of inputs.
enum class Draw : uint8_t {
  Plain,
  Positive,
  Negative,
  SomeZeros,
  Large,
  Tiny,
  Mixed,  // of these none is special
  AllEqual,
  OwnNumbers,
  EachEqual,
  Tied
};
constexpr Draw kFirstSpecial = Draw::AllEqual;
constexpr Draw kDraws[] = {Draw::Plain,      Draw::Positive,  Draw::AllEqual, Draw::SomeZeros,
                           Draw::OwnNumbers, Draw::EachEqual, Draw::Tied,     Draw::Negative,
                           Draw::Large,      Draw::Tiny,      Draw::Mixed};

/// 0, 1, -1 and the real attributes of both sides.
std::vector<double> own_numbers(const RuleInstance& instance, const Valuation& sizes) {
  std::vector<double> all{0, 1, -1};
  for (const Graph* g : {&instance.lhs, &instance.rhs})
    for (int32_t id = 0; id < g->id_bound(); ++id)
      if (g->contains(id) && g->node(id).kind == NodeKind::Call)
        for (const Real& r : evaluate(Attrs<Poly>{{}, g->node(id).attrs.reals}, sizes).reals)
          if (std::abs(r.value) < 1e6) all.push_back(r.value);
  return all;
}

double drawn(Draw kind, Rng& rng, const std::vector<double>& numbers, double equal, double own) {
  double plain = 0.125 * static_cast<double>(rng.between(-24, 24));
  switch (kind) {
    case Draw::Plain:
      return plain;
    case Draw::Positive:
      return std::abs(plain) + 0.125;
    case Draw::Negative:
      return -std::abs(plain) - 0.125;
    case Draw::SomeZeros:
      return rng.below(3) ? plain : 0;
    case Draw::Large:
      return 64 * plain;
    case Draw::Tiny:
      return plain * 0x1p-20;
    case Draw::Mixed:
      return plain * std::ldexp(1.0, static_cast<int>(rng.between(-12, 12)));
    case Draw::AllEqual:
      return equal;
    case Draw::OwnNumbers:
      return one_of(numbers, rng);
    case Draw::EachEqual:
      return own;
    case Draw::Tied:
      return rng.below(2) ? equal : own;
  }
  return plain;
}

Inputs inputs_of(const RuleInstance& instance, const Valuation& sizes, Draw kind, Rng& rng) {
  std::vector<double> numbers = own_numbers(instance, sizes), own;
  double equal = one_of(numbers, rng);
  for (size_t k = 0; k < instance.lhs.inputs().size(); ++k)
    own.push_back(rng.below(2) ? one_of(numbers, rng)
                               : 0.125 * static_cast<double>(rng.between(-24, 24)));
  return random_inputs(instance, sizes, [&](int k, int64_t) {
    return drawn(kind, rng, numbers, equal, own[static_cast<size_t>(k)]);
  });
}

}  // namespace

std::string_view to_string(Change c) {
  static constexpr std::string_view kNames[kChanges] = {"operator",  "operand",     "attribute",
                                                        "output",    "condition",   "signature",
                                                        "direction", "definedness", "sign"};
  return kNames[static_cast<size_t>(c)];
}

std::vector<Rule> rules_to_mutate(const std::string& sources) {
  std::vector<Rule> rules;
  for (const char* folder : {"substitutions", "tests/data/rules/valid", "tests/data/families"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(sources) / folder)) {
      if (entry.path().extension() != ".rules") continue;
      auto file = substitutions::read_candidates(entry.path().string());
      CHECK(file.has_value());
      for (const Rule& r : file->rules)
        if (auto one = example_of(r); one && r.verdict.kind != VerdictKind::ProvedBounded)
          rules.push_back(*std::move(one));
    }
  std::stable_sort(rules.begin(), rules.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return rules;
}

std::vector<Mutant> mutants(std::span<const Rule> rules, size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<Mutant> made;
  std::set<std::string> seen;
  std::vector<size_t> order(rules.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng.below(k)]);
  std::vector<size_t> next(kChanges), in_vain(kChanges);  // of each kind
  auto make = [&](size_t kind) {
    for (; in_vain[kind] < order.size(); ++in_vain[kind]) {
      const Rule& original = rules[order[next[kind]++ % order.size()]];
      auto rule = changed(original, static_cast<Change>(kind), rng);
      if (!rule || !seen.insert(to_string(*rule)).second) continue;
      made.push_back({*std::move(rule), original.name, static_cast<Change>(kind)});
      in_vain[kind] = 0;
      return true;
    }
    return false;
  };
  for (bool more = true; more && made.size() < count;) {
    more = false;
    for (size_t kind = 0; kind < kChanges && made.size() < count; ++kind) more |= make(kind);
  }
  return made;
}

std::optional<std::string> shown_false(const RuleInstance& instance, uint64_t seed, Search search) {
  bool heavy = search == Search::Heavy;
  Rng rng(mix(seed));
  for (const Valuation& v : sample_sizes(instance, rng.next(), heavy ? 16 : 6, heavy ? 4 : 2)) {
    int64_t n = total_elements(instance, v);
    if (n < 0 || n > (heavy ? 1500 : 600)) continue;
    for (Draw kind : kDraws) {
      Inputs inputs = inputs_of(instance, v, kind, rng);
      // Doubles decide what is worth a closer look, but not where values are equal.
      bool close = kind >= kFirstSpecial || compare_sides(instance, v, inputs).difference;
      if (!close) continue;
      if (auto d = certain_difference(instance, v, inputs))
        return describe(instance, v) + ": " + *d;
    }
  }
  return std::nullopt;
}

Trial tried(const Mutant& m, const Limits& limits, uint64_t seed) {
  auto instance = instantiate(m.rule, m.rule.domain.at(0));
  CHECK(instance.has_value());
  Trial t;
  t.difference = shown_false(*instance, seed, Search::Usual);
  t.proof = SymbolicProver(limits).prove(*instance).kind;
  t.refuted =
      check_numbers(*instance, sample_sizes(*instance, seed, 10), seed, Counterexamples::Any)
          .counterexample.has_value();
  if (is_for_all_sizes(t.proof) && !t.difference)
    t.difference = shown_false(*instance, mix(seed), Search::Heavy);
  return t;
}

}  // namespace regraft::verify
