// Which law makes a factor simpler.
#include <algorithm>
#include <cmath>

#include "verify/derivations/form.h"
#include "verify/derivations/keys.h"
#include "verify/derivations/search.h"
#include "verify/kernel/premises.h"

namespace regraft::verify {

namespace {

std::optional<int64_t> root(int64_t n) {
  auto r = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(n))));
  return n >= 0 && r < (int64_t{1} << 31) && r * r == n ? std::optional(r) : std::nullopt;
}

}  // namespace

namespace {

bool alike(const kernel::Atom& a, const kernel::Atom& b) {
  return a.kind == b.kind && a.head == b.head && a.real == b.real &&
         a.positions.size() == b.positions.size();
}

/// Where each product has the factor, so many times.
std::optional<std::string> places_of(const kernel::Symbols& symbols, const kernel::Sum& s,
                                     const kernel::Atom& y, size_t times) {
  std::string numbers;
  for (const kernel::Product& p : s.products) {
    std::string list;
    size_t left = times;
    for (size_t k = 0; k < p.atoms.size() && left > 0; ++k)
      if (same(p.atoms[k], y)) {
        list += (list.empty() ? " " : ",") + std::to_string(k);
        --left;
      }
    bool bound = std::ranges::any_of(
        p.bound, [&](kernel::Symbol b) { return mentions(symbols, kernel::sum_of(y), b); });
    if (left > 0 || bound) return std::nullopt;
    numbers += list;
  }
  return numbers;
}

/// A factor and itself that all products have, and more than that.
std::optional<std::string> common_square(const kernel::Symbols& symbols, const kernel::Sum& s) {
  if (s.products.empty() ||
      (s.products.size() == 1 && bare(s.products[0]) && s.products[0].atoms.size() < 3))
    return std::nullopt;
  for (const kernel::Atom& y : s.products[0].atoms)
    if (auto numbers = places_of(symbols, s, y, 2)) return numbers;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> common_factor(const kernel::Symbols& symbols, const kernel::Sum& s,
                                         const std::function<bool(const kernel::Atom&)>& admitted) {
  if (s.products.empty() ||
      (s.products.size() == 1 && bare(s.products[0]) && s.products[0].atoms.size() < 2))
    return std::nullopt;
  for (const kernel::Atom& y : s.products[0].atoms) {
    if (!admitted(y)) continue;
    if (auto numbers = places_of(symbols, s, y, 1)) return numbers;
  }
  return std::nullopt;
}

/// The law's name, N, the factor's place and words.
std::optional<std::string> StepSearch::law_of(const kernel::Context& here, const kernel::Atom& a,
                                              const std::string& at) {
  const kernel::Sum& x = *a.argument;
  const Fn f = static_cast<Fn>(a.head);
  const kernel::Product* p = single(x);
  auto has = [&](const kernel::Sum& s, kernel::Signs signs) {
    return kernel::within(sign_of(symbols_, here.known, s), signs);
  };
  auto of = [&](const kernel::Atom& y, kernel::Signs signs) {
    return has(kernel::sum_of(y), signs);
  };
  auto law = [&](const std::string& name, const std::string& words = "") {
    return std::optional("law " + name + " N " + at + words + "\n");
  };
  if (is_number(x)) {
    const kernel::Fraction c = x.products.empty() ? kernel::Fraction{0, 1} : p->coefficient;
    if (f == Fn::Sqrt && c.n > 1 && root(c.n) && root(c.d))
      return law("number", " " + std::to_string(*root(c.n)) + " " + std::to_string(*root(c.d)));
    bool known = (c.n == 0 && (facts(f).zero_at_zero || f == Fn::Exp || f == Fn::Cos)) ||
                 (is_one(c) && (facts(f).one_at_one || f == Fn::Log)) || f == Fn::Recip ||
                 f == Fn::Floor || f == Fn::Trunc;
    if (known) return law("number");
  }
  if (facts(f).idempotent && p && p->atoms.size() == 1 && is_one(p->coefficient) &&
      is(p->atoms[0], f))
    return law("again");
  switch (f) {
    case Fn::Relu:
    case Fn::Step: {
      if (has(x, kNotPositive)) return law("negative");
      if (has(x, f == Fn::Relu ? kernel::kNotNegative : kernel::kPositive)) return law("positive");
      auto signs = f == Fn::Relu ? kernel::kNotNegative : kernel::kPositive;
      if (auto k = common_factor(symbols_, x, [&](auto& y) { return of(y, signs); }))
        return law("common", *k);
      if (auto k = common_square(symbols_, x); k && f == Fn::Relu) return law("common", *k);
      break;
    }
    case Fn::Exp: {
      if (x.products.size() > 1) return law("exponents", " 0");
      if (!p || p->atoms.empty()) break;
      bool log = p->atoms.size() == 1 && is(p->atoms[0], Fn::Log);
      if (log && is_one(p->coefficient) && has(*p->atoms[0].argument, kernel::kPositive))
        return law("undo");
      if (p->coefficient.d == 1 && std::abs(p->coefficient.n) > 1 && std::abs(p->coefficient.n) < 7)
        return law("equal-parts", " " + std::to_string(std::abs(p->coefficient.n)));
      break;
    }
    case Fn::Recip: {
      bool compound = p && (p->atoms.size() != 1 || !is_one(p->coefficient));
      if (p && !compound) {
        const kernel::Atom& y = p->atoms[0];
        compound = y.kind == kernel::Atom::Number || y.kind == kernel::Atom::Recip ||
                   is(y, Fn::Recip) || is(y, Fn::Exp) ||
                   (is(y, Fn::Sqrt) && has(*y.argument, kernel::kNotNegative));
        if (is(y, Fn::Recip)) compound = single(*y.argument) || true;
      }
      if (compound) return law("inverse");
      if (auto k = common_factor(symbols_, x, [](auto&) { return true; })) return law("common", *k);
      break;
    }
    case Fn::Log:
    case Fn::Sqrt: {
      if (!p || p->atoms.empty()) break;
      if (f == Fn::Log && p->atoms.size() == 1 && is_one(p->coefficient) &&
          is(p->atoms[0], Fn::Exp))
        return law("undo");
      if (f == Fn::Sqrt && p->atoms.size() == 2 && is_one(p->coefficient) &&
          same(p->atoms[0], p->atoms[1]) && of(p->atoms[0], kernel::kNotNegative))
        return law("undo");
      if (p->atoms.size() == 1 && is_one(p->coefficient) && is(p->atoms[0], Fn::Recip) &&
          has(*p->atoms[0].argument, f == Fn::Log ? kernel::kPositive : kernel::kNotNegative))
        return law("over");
      for (size_t j = 0; j < p->atoms.size() && f == Fn::Sqrt && p->atoms.size() == 1; ++j)
        if (is(p->atoms[j], Fn::Exp))
          return "inside N " + at + "\nlaw equal-parts 0 " + std::to_string(j) + " 2\nend\n";
      if (p->atoms.size() == 1 && is_one(p->coefficient)) break;
      const kernel::Signs signs = f == Fn::Log ? kernel::kPositive : kernel::kNotNegative;
      for (size_t i = 0; i < p->atoms.size(); ++i) {
        kernel::Product rest = *p;
        std::string words = " " + std::to_string(i);
        bool twice = false;
        for (size_t j = i + 1; j < p->atoms.size() && !twice; ++j)
          if ((twice = same(p->atoms[i], p->atoms[j]))) {
            words += " " + std::to_string(j);
            rest.atoms.erase(j);
          }
        rest.atoms.erase(i);
        if (twice && rest.atoms.empty() && is_one(rest.coefficient)) continue;
        if ((twice || of(p->atoms[i], signs)) && has({{rest}}, signs)) return law("factors", words);
      }
      break;
    }
    default:
      break;
  }
  return std::nullopt;
}

/// What is rounded already, or has a whole part.
std::optional<std::string> StepSearch::rounded(const kernel::Context& here,
                                               const kernel::Product& p, const std::string& at) {
  const kernel::Atom& a = p.atoms[std::stoul(at)];
  if (is(a, Fn::Step)) return std::nullopt;
  const size_t parts =
      is(a, Fn::Floor) && a.argument->products.size() > 1 ? a.argument->products.size() : 0;
  for (size_t k = 0; k <= parts; ++k) {
    const std::string name = k == 0 ? "again" : "part";
    const std::string words = at + (k == 0 ? "" : " " + std::to_string(k - 1)) + "\n";
    kernel::Goal goal(symbols_, here, {{{p.coefficient, {}, {}, p.atoms}}});
    const std::string line = "law " + name + " 0 " + words;
    try {
      kernel::Lines lines(line);
      goal.step(lines);
      return name + " N " + words;
    } catch (const kernel::Refused&) {
    }
  }
  return std::nullopt;
}

std::optional<std::string> StepSearch::by_law(const kernel::Context& here,
                                              const kernel::Product& p) {
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    const kernel::Atom& a = p.atoms[k];
    const std::string at = std::to_string(k);
    for (size_t n = 0; n < here.known.size() && !a.argument; ++n) {
      const kernel::Product* only = single(here.known[n].sum);
      if (only && only->atoms.size() == 1 && same(only->atoms[0], a) &&
          sign_of(symbols_, here.known, here.known[n].sum) == kernel::kZero)
        return "law fact N " + at + " " + std::to_string(n) + " 0\n";
    }
    if (a.kind == kernel::Atom::Max)
      if (auto line = leaves_maximum(here, a, at)) return line;
    if (a.kind != kernel::Atom::Apply) continue;
    if (auto line = law_of(here, a, at)) return line;
    if (facts(static_cast<Fn>(a.head)).jumps || is(a, Fn::Single) || is(a, Fn::Half) ||
        is(a, Fn::Brain))
      if (auto words = rounded(here, p, at)) return "law " + *words;
  }
  return std::nullopt;
}

/// Factors without arguments that are the same at what holds.
bool StepSearch::read_alike(const kernel::Context& here, const kernel::Product& p,
                            const kernel::Product& q) {
  return bare(p) && bare(q) && std::ranges::equal(p.atoms, q.atoms, [&](auto& a, auto& b) {
           return alike(a, b) && !a.argument &&
                  std::ranges::equal(a.positions, b.positions, [&](auto& i, auto& j) {
                    return questions_.says_implied(here.facts, kernel::zero(i - j));
                  });
         });
}

/// What leaves a maximum: numbers, what does not depend on its indices, functions that increase.
std::optional<std::string> StepSearch::leaves_maximum(const kernel::Context& here,
                                                      const kernel::Atom& a,
                                                      const std::string& at) {
  const kernel::Sum& x = *a.argument;
  auto free = [&](const kernel::Sum& s) {
    return std::ranges::none_of(a.bound,
                                [&](kernel::Symbol b) { return mentions(symbols_, s, b); });
  };
  auto law = [&](const std::string& name, const std::string& words) -> Line {
    Draft draft;
    if (!reached(here, a, draft)) return std::nullopt;
    draft.words = at + words + draft.words;
    return draft.text("law " + name + " N ");
  };
  if (is_number(x)) return law("number", "");
  for (size_t k = 0; k < x.products.size(); ++k)
    if (free({{x.products[k]}})) return law("part", " " + std::to_string(k));
  if (auto k = common_factor(symbols_, x, [&](const kernel::Atom& y) {
        return free(kernel::sum_of(y)) &&
               kernel::within(sign_of(symbols_, here.known, kernel::sum_of(y)),
                              kernel::kNotNegative);
      }))
    return law("common", *k);
  const kernel::Fraction c = x.products[0].coefficient;
  if (std::abs(c.n) != 1 || c.d != 1)
    return law("times", " " + std::to_string(std::abs(c.n)) + " " + std::to_string(c.d));
  const kernel::Product* p = single(x);
  if (!p || !is_one(c) || p->atoms.size() != 1 || p->atoms[0].kind != kernel::Atom::Apply)
    return std::nullopt;
  const Fn f = static_cast<Fn>(p->atoms[0].head);
  try {
    const kernel::Context inner = within(symbols_, here, a.bound, a.guard);
    if (facts(f).increasing &&
        kernel::within(sign_of(symbols_, inner.known, *p->atoms[0].argument), kernel::domain_of(f)))
      return law("increasing", "");
  } catch (const kernel::Refused&) {
  }
  return std::nullopt;
}

/// Two values of exp or of the root, as one.
std::optional<std::string> StepSearch::together(const kernel::Context& here,
                                                const kernel::Product& p) {
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    const kernel::Atom& a = p.atoms[k];
    const std::string at = std::to_string(k);
    bool doubled = is(a, Fn::Exp) || is(a, Fn::Sqrt);
    for (size_t j = k + 1; j < p.atoms.size() && doubled; ++j) {
      const kernel::Atom& b = p.atoms[j];
      if (!is(b, static_cast<Fn>(a.head))) continue;
      bool fits = same(a, b) &&
                  kernel::within(sign_of(symbols_, here.known, *a.argument), kernel::kNotNegative);
      if (is(a, Fn::Exp)) {
        const auto &x = a.argument->products, &y = b.argument->products;
        fits = x.size() == 1 && y.size() == 1 && x[0].coefficient != y[0].coefficient &&
               (alike_.of(x[0]) == alike_.of(y[0]) || read_alike(here, x[0], y[0]));
      }
      if (fits) return "law both N " + at + "," + std::to_string(j) + "\n";
    }
  }
  return std::nullopt;
}

/// A quotient times the first product, in the order of keys, of what it is 1 over.
std::optional<std::string> StepSearch::cancel(const kernel::Context& here,
                                              const kernel::Product& p) {
  for (size_t r = 0; r < p.atoms.size(); ++r) {
    const kernel::Atom& over = p.atoms[r];
    kernel::Sum x;
    if (over.kind == kernel::Atom::Recip) {
      for (const auto& [m, c] : over.positions.at(0).terms()) {
        kernel::Product term{{c, 1}, {}, {}, {}};
        for (kernel::Symbol s : m)
          term.atoms.push_back(
              {.kind = kernel::Atom::Number, .positions = {kernel::Poly::symbol(s)}});
        x.products.push_back(std::move(term));
      }
    } else if (is(over, Fn::Recip)) {
      x = *over.argument;
    }
    if (x.products.empty()) continue;
    size_t t = 0;
    std::string best;
    for (size_t k = 0; k < x.products.size(); ++k) {
      std::string key = alike_.of(x.products[k]);
      if (!best.empty() && key <= best) continue;
      best = key;
      t = k;
    }
    if (auto line = cancel_term(here, p, r, x, t)) return line;
  }
  return std::nullopt;
}

namespace {

/// Indices, parts of the guard and factors of a product, by their numbers.
struct Parts {
  std::vector<size_t> bound, guard, atoms;
};

std::string list(const std::vector<size_t>& all) {
  std::string s;
  for (size_t k : all) s += (s.empty() ? " " : ",") + std::to_string(k);
  return s.empty() ? " -" : s;
}

/// All that stands with these indices.
Parts around(const kernel::Symbols& symbols, const kernel::Product& p, std::vector<size_t> bound) {
  Parts parts{std::move(bound), {}, {}};
  auto any = [&](auto says) {
    return std::ranges::any_of(parts.bound, [&](size_t b) { return says(p.bound[b]); });
  };
  for (size_t k = 0; k < p.guard.size(); ++k)
    if (any([&](kernel::Symbol s) { return mentions(symbols, p.guard[k], s); }))
      parts.guard.push_back(k);
  for (size_t k = 0; k < p.atoms.size(); ++k)
    if (any([&](kernel::Symbol s) { return mentions(symbols, kernel::sum_of(p.atoms[k]), s); }))
      parts.atoms.push_back(k);
  return parts;
}

/// The choices of n among these.
std::vector<std::vector<size_t>> choices(const std::vector<size_t>& all, size_t n) {
  std::vector<std::vector<size_t>> found;
  if (all.size() > 6) return found;
  for (size_t set = 0; set < size_t{1} << all.size(); ++set) {
    std::vector<size_t> chosen;
    for (size_t k = 0; k < all.size(); ++k)
      if (set >> k & 1) chosen.push_back(all[k]);
    if (chosen.size() == n) found.push_back(std::move(chosen));
  }
  return found;
}

}  // namespace

/// Factor r of p is 1 over x; the rest has product t of x among its factors.
std::optional<std::string> StepSearch::cancel_term(const kernel::Context& here,
                                                   const kernel::Product& p, size_t r,
                                                   const kernel::Sum& x, size_t t) {
  const kernel::Product& term = x.products[t];
  std::vector<Parts> candidates;
  if (term.bound.empty()) {
    Parts parts;
    for (const kernel::Atom& a : term.atoms) {
      const std::string key = alike_.of(kernel::sum_of(a));
      size_t k = 0;
      while (k < p.atoms.size() &&
             (k == r || !alike(a, p.atoms[k]) || std::ranges::count(parts.atoms, k) > 0 ||
              alike_.of(kernel::sum_of(p.atoms[k])) != key))
        ++k;
      if (k == p.atoms.size()) return std::nullopt;
      parts.atoms.push_back(k);
    }
    candidates.push_back(std::move(parts));
  } else {  // some indices that the quotient does not mention, and all that does
    std::vector<size_t> free;
    for (size_t k = 0; k < p.bound.size(); ++k)
      if (!mentions(symbols_, kernel::sum_of(p.atoms[r]), p.bound[k])) free.push_back(k);
    for (std::vector<size_t>& bound : choices(free, term.bound.size())) {
      Parts parts = around(symbols_, p, std::move(bound));
      if (parts.atoms.size() == term.atoms.size()) candidates.push_back(std::move(parts));
    }
  }
  kernel::Sum value = x;
  if (p.atoms[r].kind == kernel::Atom::Recip)
    value = kernel::sum_of({.kind = kernel::Atom::Number, .positions = p.atoms[r].positions});
  if (candidates.empty() || !kernel::within(sign_of(symbols_, here.known, value), kernel::kNotZero))
    return std::nullopt;
  for (const Parts& parts : candidates) {
    kernel::Product rest = p;
    const kernel::Product q{{1, 1},
                            kernel::extract(rest.bound, parts.bound),
                            kernel::extract(rest.guard, parts.guard),
                            kernel::extract(rest.atoms, parts.atoms)};
    kernel::Context outer = here;
    outer.facts.edit().resize(here.facts.size() - p.guard.size());
    outer.facts = joined(std::move(outer.facts), rest.guard);
    kernel::Product one = term;
    one.coefficient = {1, 1};
    if (auto lines = zero(outer, kernel::Sum{{q}} + kernel::scaled({{one}}, {-1, 1})))
      return "cancel N " + std::to_string(r) + " " + std::to_string(t) + list(parts.bound) +
             list(parts.guard) + list(parts.atoms) + "\n" + *lines;
  }
  return std::nullopt;
}

}  // namespace regraft::verify
