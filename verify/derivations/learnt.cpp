// What is learnt of real numbers: what partial functions are of, sums, values of functions.
#include <algorithm>

#include "verify/derivations/form.h"
#include "verify/derivations/keys.h"
#include "verify/derivations/pairing.h"
#include "verify/derivations/search.h"
#include "verify/normal/unify.h"

namespace regraft::verify {

using kernel::Goal;
using kernel::Signs;

bool StepSearch::tried(Goal& goal, const std::string& line, std::string& text) {
  left_ -= 5;
  if (left_ < 0) return false;
  Goal copy = goal;
  try {
    kernel::Lines lines(line);
    copy.step(lines);
  } catch (const kernel::Refused&) {
    return false;
  }
  goal.become(std::move(copy));
  text += line;
  return true;
}

// ---- What is learnt ----

kernel::Values StepSearch::values(const kernel::Partial& x, const kernel::Partial& y) {
  Atom a = questions_.atom(x.atom), b = questions_.atom(y.atom);
  Substitution fresh;
  std::vector<Var> unknown;
  for (kernel::Symbol s : y.bound) {
    Var v = questions_.symbol(s);
    unknown.push_back(v->pool->fresh(v->name, SymbolKind::Bound));
    fresh[v] = Poly::symbol(unknown.back());
  }
  Substitution found = solve(equations(a, substitute(b, fresh), 0), unknown);
  kernel::Values all;
  for (size_t k = 0; k < unknown.size(); ++k) {
    Poly e = found.count(unknown[k])            ? found.at(unknown[k])
             : x.bound.size() == y.bound.size() ? Poly::symbol(questions_.symbol(x.bound[k]))
                                                : Poly(0);
    if (mentions_one_of({{unknown[k], e}}, unknown)) e = Poly(0);
    all[y.bound[k]] = questions_.kernel_poly(e);
  }
  return all;
}

/// What is under the roots, and what is divided by, of partial functions that are defined.
bool StepSearch::learn_defined(Goal& goal, std::string& text) {
  if (!goal.context().defined) return false;
  const std::vector<kernel::Partial>& all = *goal.context().defined;
  std::vector<kernel::Atom> asked;
  for (const Found& f : factors_within(symbols_, goal))
    if (f.closed) asked.push_back(f.atom);
  const size_t of_goal = asked.size();
  for (const Found& f : factors_known(symbols_, goal))
    if (f.closed && f.atom.kind == kernel::Atom::Read) asked.push_back(f.atom);
  if (goal.target())
    asked.push_back({.kind = kernel::Atom::Apply,
                     .head = static_cast<int>(Fn::Recip),
                     .argument = std::make_shared<kernel::Sum>(goal.target()->sum)});
  bool changed = false;
  for (size_t n = 0; n < all.size(); ++n) {
    const kernel::Partial& y = all[n];
    if (y.atom.kind != kernel::Atom::Apply) continue;
    std::vector<kernel::Values> places;
    auto consider = [&](const kernel::Atom& a, const kernel::Atom& b) {
      kernel::Values v = values({a, {}, {}}, {b, y.bound, y.guard});
      if (std::find(places.begin(), places.end(), v) == places.end()) places.push_back(v);
    };
    if (y.bound.empty()) places.emplace_back();
    for (size_t at = 0; at < asked.size() && !y.bound.empty(); ++at) {
      const kernel::Atom& a = asked[at];
      if (a.kind == y.atom.kind && (a.head == y.atom.head || goal.target())) consider(a, y.atom);
      auto part = [&](const kernel::Atom& b) {
        if (a.kind == b.kind && a.head == b.head && a.positions.size() == b.positions.size())
          consider(a, b);
        return false;
      };
      if (y.atom.argument->products.size() == 1)
        for (const kernel::Atom& b : y.atom.argument->products[0].atoms) part(b);
      if (at >= of_goal) any_factor(*y.atom.argument, part);
    }
    for (const kernel::Values& v : places) {
      constexpr size_t kMostKnown = 30;
      if (goal.context().known.size() > kMostKnown) return changed;
      kernel::Known k = kernel::domain_of(substitute(symbols_, y.atom, v));
      if (kernel::within(sign_of(symbols_, goal.context().known, k.sum), k.signs)) continue;
      Draft draft;
      draft.word(n);
      for (kernel::Symbol s : y.bound) draft.word(symbols_.text(v.at(s)));
      bool there = std::all_of(y.guard.begin(), y.guard.end(), [&](const kernel::Fact& g) {
        return need(goal.facts(), substitute(symbols_, g, v), draft);
      });
      if (!there || !tried(goal, draft.text("defined"), text)) continue;
      changed = true;
      const size_t last = goal.context().known.size() - 1;
      const kernel::Sum sum = goal.context().known[last].sum;
      if (k.signs == kernel::kNotNegative) continue;
      if (auto numbers = common_factor(symbols_, sum, [](auto&) { return true; }))
        tried(goal, "factor " + std::to_string(last) + *numbers + "\n", text);
      if (sum.products.size() != 1 || sum.products[0].atoms.size() < 2 ||
          !sum.products[0].bound.empty() || !sum.products[0].guard.empty())
        continue;
      for (size_t f = 0; f < sum.products[0].atoms.size(); ++f)
        tried(goal, "factor " + std::to_string(last) + " " + std::to_string(f) + "\n", text);
    }
  }
  return changed;
}

/// What is divided by, where it is a multiple of what is known.
bool StepSearch::learn_quotients(Goal& goal, std::string& text) {
  bool changed = false;
  for (const Found& f : factors_within(symbols_, goal)) {
    if (!f.closed || !is(f.atom, Fn::Recip)) continue;
    const kernel::Sum& x = *f.atom.argument;
    if (kernel::within(sign_of(symbols_, goal.context().known, x), kernel::kNotZero)) continue;
    if (auto words = multiple(goal, x, kernel::kNotZero))
      changed = tried(goal, "infer " + f.path + "*" + *words, text) || changed;
  }
  return changed;
}

/// The factors of the target's products that are the same in all and not 0.
bool StepSearch::learn_common(Goal& goal, std::string& text) {
  if (!goal.target()) return false;
  const kernel::Sum& s = goal.target()->sum;
  bool changed = false;
  auto not_zero = [&](const kernel::Atom& y) {
    const auto& known = goal.context().known;
    return kernel::within(sign_of(symbols_, known, kernel::sum_of(y)), kernel::kNotZero) &&
           std::ranges::none_of(
               known, [&](const kernel::Known& k) { return same(k.sum, kernel::sum_of(y)); });
  };
  while (auto numbers = common_factor(symbols_, s, not_zero)) {
    const std::string first = numbers->substr(1, numbers->find(' ', 1) - 1);
    if (!tried(goal, "infer target.0." + first + "\nend\n", text)) break;
    changed = true;
  }
  return changed;
}

/// Sums of positive numbers, and whole numbers.
bool StepSearch::learn_totals(Goal& goal, std::string& text) {
  std::vector<std::pair<std::string, kernel::Sum>> asked;
  auto consider = [&](const std::string& path, const kernel::Sum& s) {
    for (size_t k = 0; k < s.products.size(); ++k)
      if (!s.products[k].bound.empty())
        asked.emplace_back(path + "." + std::to_string(k), kernel::Sum{{s.products[k]}});
  };
  if (goal.target()) consider("target", goal.target()->sum);
  for (const Found& f : factors_within(symbols_, goal))
    if (f.closed && f.atom.argument && f.atom.kind == kernel::Atom::Apply)
      consider(f.path, *f.atom.argument);
  bool changed = false;
  for (const auto& [path, s] : asked) {
    Signs now = sign_of(symbols_, goal.context().known, s);
    const kernel::Product& p = s.products[0];
    if (!(now & kernel::kZero) || now == kernel::kZero) continue;
    for (const char* word : {">", "<", ">=", "<="}) {
      const Signs signs = kernel::read_signs(word);
      if (kernel::within(now, signs)) break;
      Draft draft;
      draft.word(path);
      draft.word(std::string(word));
      kernel::Values at;
      bool strict = !(signs & kernel::kZero);
      for (kernel::Symbol b : p.bound) {
        at[b] = kernel::Poly(0);
        if (strict) draft.word(size_t{0});
      }
      bool reached = !strict || std::all_of(p.guard.begin(), p.guard.end(), [&](auto& g) {
        return need(goal.facts(), substitute(symbols_, g, at), draft);
      });
      if (!reached) continue;
      ++quiet_;
      std::optional<std::string> lines;
      try {
        lines = has_sign(within(symbols_, goal.context(), p.bound, p.guard),
                         {{{{p.coefficient, {}, {}, p.atoms}}}, signs});
      } catch (const kernel::Refused&) {
      }
      --quiet_;
      if (lines && tried(goal, draft.text("total") + *lines, text)) {
        changed = true;
        break;
      }
    }
  }
  return changed;
}

/// Functions that are bounded, and exp.
bool StepSearch::learn_bounds(Goal& goal, std::string& text) {
  bool changed = false;
  std::set<std::string> seen;
  for (const Found& f : factors_within(symbols_, goal)) {
    bool fits = is(f.atom, Fn::Sigmoid) || is(f.atom, Fn::Tanh) || is(f.atom, Fn::Erf) ||
                is(f.atom, Fn::Exp);
    if (!f.closed || !fits || !seen.insert(alike_.of(kernel::sum_of(f.atom))).second) continue;
    bool known = std::any_of(
        goal.context().known.begin(), goal.context().known.end(), [&](const kernel::Known& k) {
          return k.signs != kernel::kNotZero && !k.sum.products.empty() &&
                 k.sum.products[0].atoms.size() == 1 && same(k.sum.products[0].atoms[0], f.atom);
        });
    if (!known) changed = tried(goal, "bounds " + f.path + "\n", text) || changed;
  }
  return changed;
}

/// Values of one increasing function, whose arguments can be compared.
bool StepSearch::learn_orders(Goal& goal, std::string& text) {
  constexpr size_t kMostKnown = 30;
  std::vector<std::pair<std::string, kernel::Atom>> all;
  std::set<std::string> seen;
  auto consider = [&](const std::string& path, const kernel::Atom& a) {
    bool fits =
        a.kind == kernel::Atom::Apply && facts(static_cast<Fn>(a.head)).increasing && !jumps(a);
    if (fits && seen.insert(alike_.of(kernel::sum_of(a))).second) all.emplace_back(path, a);
  };
  for (const Found& f : factors_within(symbols_, goal))
    if (f.closed) consider(f.path, f.atom);
  const std::vector<kernel::Known> known = goal.context().known;
  for_known_factors(known, consider);
  bool changed = false;
  for (const auto& [path, a] : all)
    for (const auto& [other, b] : all) {
      if (path == other || a.head != b.head || goal.context().known.size() > kMostKnown) continue;
      kernel::Sum d = *a.argument + kernel::scaled(*b.argument, {-1, 1});
      kernel::Sum values = kernel::sum_of(a) + kernel::scaled(kernel::sum_of(b), {-1, 1});
      if (sign_of(symbols_, goal.context().known, values) != kernel::kAnySign) continue;
      auto words = terms(goal, d, kernel::kNotNegative, false);
      if (words) changed = tried(goal, "order " + path + " " + other + *words, text) || changed;
    }
  return changed;
}

/// Squares that stand in products, where there are maxima.
bool StepSearch::learn_squares(Goal& goal, std::string& text) {
  bool changed = false;
  std::set<std::string> seen;
  for (const kernel::Known& k : goal.context().known) seen.insert(alike_.of(k.sum));
  const std::map<size_t, kernel::Product> all = goal.products();
  for (const auto& [n, p] : all) {
    bool maximum = any_factor({{p}}, [](auto& a) { return a.kind == kernel::Atom::Max; });
    if (!maximum || !p.bound.empty()) continue;
    for (size_t i = 0; i < p.atoms.size(); ++i) {
      const std::string path = std::to_string(n) + "." + std::to_string(i);
      auto consider = [&](const std::string& at, const kernel::Sum& s) {
        Signs signs = sign_of(symbols_, goal.context().known, s);
        if (signs == kernel::kAnySign || !seen.insert(alike_.of(s)).second) return;
        changed = tried(goal, "infer " + at + "\nend\n", text) || changed;
      };
      consider(path, kernel::sum_of(p.atoms[i]));
      for (size_t j = i + 1; j < p.atoms.size(); ++j)
        if (same(p.atoms[i], p.atoms[j]))
          consider(path + "," + std::to_string(j),
                   times(symbols_, kernel::sum_of(p.atoms[i]), kernel::sum_of(p.atoms[j])));
    }
  }
  return changed;
}

}  // namespace regraft::verify
