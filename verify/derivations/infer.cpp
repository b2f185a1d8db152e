// What the sign of a number follows from, by linear combinations of what is known.
#include <algorithm>
#include <functional>

#include "verify/derivations/combination.h"
#include "verify/derivations/form.h"
#include "verify/derivations/keys.h"
#include "verify/derivations/search.h"

namespace regraft::verify {

using kernel::Fraction;

namespace {

std::string text_of(Fraction c) {
  return std::to_string(c.n) + (c.d == 1 ? "" : "/" + std::to_string(c.d));
}

bool is_place(kernel::Kind k) { return k == kernel::Kind::Index || k == kernel::Kind::Attribute; }

/// Numbers of known signs as columns over the products that occur.
class Columns {
 public:
  struct Column {
    std::string term;  ///< what stands after the coefficient; empty: a product's own sign
    kernel::Sum sum;
    Fraction turn;
    bool strict;
  };
  using Form = std::function<kernel::Sum(const kernel::Sum&)>;
  Columns(AlikeKeys& alike, Form form) : alike_(alike), form_(std::move(form)) {}
  void add(const std::string& term, const kernel::Sum& s, kernel::Signs signs) {
    const bool strict = !(signs & kernel::kZero);
    if (kernel::within(signs, kernel::kNotNegative)) all.push_back({term, s, {1, 1}, strict});
    if (kernel::within(signs, kNotPositive)) all.push_back({term, s, {-1, 1}, strict});
  }
  size_t row(const kernel::Product& p) {
    return rows_.emplace(alike_.of(p), rows_.size()).first->second;
  }
  size_t rows() const { return rows_.size(); }
  std::vector<Fraction> column(const kernel::Sum& s, Fraction turn) {
    std::vector<Fraction> c(rows_.size());
    for (const kernel::Product& p : form_(s).products) {
      Fraction& x = c[row(p)];
      x = x + turn * p.coefficient;
    }
    return c;
  }
  std::vector<Column> all;

 private:
  AlikeKeys& alike_;
  Form form_;
  std::map<std::string, size_t> rows_;
};

/// a has a factor 1 over b.
bool divides(AlikeKeys& keys, const kernel::Sum& b, const kernel::Sum& a) {
  const std::string key = keys.of(b);
  return std::ranges::any_of(a.products, [&](const kernel::Product& p) {
    return std::ranges::any_of(p.atoms, [&](const kernel::Atom& x) {
      return is(x, Fn::Recip) && keys.of(*x.argument) == key;
    });
  });
}

}  // namespace

/// s is a multiple of one thing that is known, or of two.
std::optional<std::string> StepSearch::multiple(const kernel::Goal& goal, const kernel::Sum& s,
                                                kernel::Signs wanted) {
  if (s.products.empty()) return std::nullopt;
  const kernel::List<kernel::Known>& known = goal.context().known;
  std::map<std::string, Fraction> of;
  auto collect = [&](const kernel::Sum& sum) {
    std::map<std::string, Fraction> all;
    for (const kernel::Product& p : sum.products) {
      Fraction& c = all[alike_.of(p)];
      c = c + p.coefficient;
    }
    std::erase_if(all, [](auto& x) { return x.second.n == 0; });
    return all;
  };
  of = collect(s);
  if (of.empty()) return std::nullopt;
  // `sum` reads like `whole`, and is the same number.
  auto try_term = [&](const std::string& term, const kernel::Sum& whole, const kernel::Sum& sum,
                      kernel::Signs signs, bool alike) -> std::optional<std::string> {
    const auto other = collect(sum);
    if (other.size() != of.size()) return std::nullopt;
    if (alike && other.begin()->first != of.begin()->first) return std::nullopt;
    const Fraction b = other.begin()->second, c = of.begin()->second * Fraction::make(b.d, b.n);
    bool same = std::equal(of.begin(), of.end(), other.begin(), [&](auto& x, auto& y) {
      return (x.first == y.first || !alike) && x.second == c * y.second;
    });
    if (!same || !kernel::within(kernel::product_of(kernel::sign_of(c), signs), wanted))
      return std::nullopt;
    std::string text;
    kernel::Goal open(symbols_, goal.context(), s + kernel::scaled(whole, Fraction{-1, 1} * c));
    reduce(open, text);
    if (!open.products().empty()) return std::nullopt;
    return " " + text_of(c) + ":" + term + "\n" + text + "end\n";
  };
  for (bool alike : {true, false})
    for (size_t k = 0; k < known.size(); ++k)
      if (known[k].signs != kernel::kAnySign)
        if (auto words =
                try_term(std::to_string(k), known[k].sum, known[k].sum, known[k].signs, alike))
          return words;
  constexpr size_t kMostKnown = 12;
  for (size_t i = 0; i < known.size() && known.size() <= kMostKnown; ++i)
    for (size_t j = i; j < known.size(); ++j) {
      const kernel::Signs signs = kernel::product_of(known[i].signs, known[j].signs);
      if (!kernel::within(signs, wanted) && !kernel::within(kernel::opposite(signs), wanted))
        continue;
      try {
        const kernel::Sum whole = times(symbols_, known[i].sum, known[j].sum);
        kernel::Sum both = whole;
        if (divides(alike_, known[i].sum, known[j].sum) ||
            divides(alike_, known[j].sum, known[i].sum)) {
          kernel::Goal open(symbols_, goal.context(), whole);
          std::string unused;
          reduce(open, unused);
          both = open.left();
        }
        if (auto words =
                try_term(std::to_string(i) + "*" + std::to_string(j), whole, both, signs, true))
          return words;
      } catch (const kernel::Refused&) {
      }
    }
  return std::nullopt;
}

/// Indices that the facts say the values of.
kernel::Values StepSearch::pinned_by(const Facts& facts) {
  kernel::Values pinned;
  auto solve = [&](const kernel::Poly& zero) {
    for (const auto& [m, c] : zero.terms()) {
      if (m.size() != 1 || std::abs(c) != 1 || !is_place(symbols_[m[0]].kind)) continue;
      const kernel::Poly e =
          kernel::Poly(-c) * (zero - kernel::Poly(c) * kernel::Poly::symbol(m[0]));
      if (!symbols_.mentions(e, m[0])) pinned.try_emplace(m[0], e);
      return;
    }
  };
  for (const kernel::Poly& zero : zeros_of(facts)) solve(zero);
  return pinned;
}

/// With indices that have values replaced, and without guards that are decided.
kernel::Sum StepSearch::plain_form(const Facts& facts, const kernel::Values& pinned,
                                   const kernel::Sum& s) {
  kernel::Sum r;
  for (kernel::Product p : (pinned.empty() ? s : substitute(symbols_, s, pinned)).products) {
    if (p.bound.empty() && !p.guard.empty()) {
      bool none = false;
      std::erase_if(p.guard.edit(), [&](const kernel::Fact& g) {
        none = none || questions_.says_implied(facts, negated(g));
        return questions_.says_implied(facts, g);
      });
      if (none) continue;
    }
    r.products.push_back(std::move(p));
  }
  return r;
}

/// The terms of `infer` for s, or of `absurd` (s is 0 then), with the lines that follow.
std::optional<std::string> StepSearch::terms(const kernel::Goal& goal, const kernel::Sum& s,
                                             kernel::Signs wanted, bool absurd) {
  constexpr size_t kMostKnown = 60, kMostProducts = 8;
  const kernel::List<kernel::Known>& known = goal.context().known;
  if (known.size() > kMostKnown) return std::nullopt;
  if (!absurd)
    if (auto words = multiple(goal, s, wanted)) return words;
  const kernel::Values pinned = pinned_by(goal.facts());
  auto plain = [&](const kernel::Sum& sum) { return plain_form(goal.facts(), pinned, sum); };
  Columns columns(alike_, plain);
  for (size_t k = 0; k < known.size(); ++k)
    columns.add(std::to_string(k), known[k].sum, known[k].signs);
  const size_t single = columns.all.size();
  if (known.size() <= kMostProducts)
    for (size_t i = 0; i < known.size(); ++i)
      for (size_t j = i; j < known.size(); ++j) {
        if (known[i].sum.products.size() * known[j].sum.products.size() > 16) continue;
        kernel::Sum both;
        try {
          both = times(symbols_, known[i].sum, known[j].sum);
        } catch (const kernel::Refused&) {
          continue;
        }
        columns.add(std::to_string(i) + "*" + std::to_string(j), both,
                    kernel::product_of(known[i].signs, known[j].signs));
      }
  for (bool products : {false, true}) {
    Columns some = columns;
    if (!products) some.all.resize(single);
    if (products && some.all.size() == single) break;
    std::vector<kernel::Product> seen;
    std::set<std::string> keys;
    auto occurs = [&](const kernel::Sum& sum) {
      for (kernel::Product p : plain(sum).products) {
        some.row(p);
        if (!keys.insert(alike_.of(p)).second) continue;
        p.coefficient = {1, 1};
        seen.push_back(std::move(p));
      }
    };
    occurs(s);
    for (const auto& c : some.all) occurs(c.sum);
    for (const kernel::Product& p : seen) some.add("", {{p}}, sign_of(symbols_, known, {{p}}));
    // The combination is `scale` times s; its strict part adds up to 1, if that is asked for.
    const bool strict = absurd || !(wanted & kernel::kZero);
    std::vector<kernel::Signs> directions;
    if (absurd || kernel::within(wanted, kernel::kNotNegative) || wanted == kernel::kNotZero)
      directions.push_back(kernel::kPositive);
    if (!absurd && (kernel::within(wanted, kNotPositive) || wanted == kernel::kNotZero))
      directions.push_back(kernel::kNegative);
    for (kernel::Signs direction : directions) {
      const Fraction turn{direction == kernel::kPositive ? 1 : -1, 1};
      std::vector<std::vector<Fraction>> matrix;
      for (const auto& c : some.all) {
        matrix.push_back(some.column(c.sum, c.turn));
        matrix.back().push_back({strict && c.strict ? 1 : 0, 1});
      }
      std::vector<Fraction> target(some.rows() + 1);
      if (strict) target.back() = {1, 1};
      std::vector<Fraction> of = some.column(s, turn);
      if (strict && !absurd) {
        for (Fraction& x : of) x.n = -x.n;
        of.push_back({0, 1});
        matrix.push_back(of);
      } else if (!absurd) {
        std::copy(of.begin(), of.end(), target.begin());
      }
      auto x = combination(matrix, target);
      if (!x) continue;
      Fraction scale{1, 1};
      if (strict && !absurd) scale = x->back();
      if (scale.n == 0) continue;
      std::string words;
      kernel::Sum rest = s;
      for (size_t k = 0; k < some.all.size(); ++k) {
        if ((*x)[k].n == 0 || some.all[k].term.empty()) continue;
        Fraction c = (*x)[k] * Fraction::make(scale.d, scale.n) * some.all[k].turn * turn;
        words += " " + text_of(c) + ":" + some.all[k].term;
        rest = rest + kernel::scaled(some.all[k].sum, Fraction{-1, 1} * c);
      }
      std::string text;
      kernel::Goal open(symbols_, goal.context(), rest);
      reduce(open, text);
      return words + "\n" + text + "end\n";
    }
  }
  return std::nullopt;
}

std::optional<std::string> StepSearch::inferred(const kernel::Goal& goal, const std::string& path,
                                                kernel::Signs wanted) {
  const kernel::Sum s = goal.at_path(path);
  auto words = terms(goal, s, wanted, false);
  if (!words) return std::nullopt;
  std::string line = "infer " + path + *words;
  kernel::Goal copy = goal;
  try {
    kernel::Lines lines(line);
    copy.step(lines);
  } catch (const kernel::Refused&) {
    return std::nullopt;
  }
  if (!kernel::within(sign_of(symbols_, copy.context().known, s), wanted)) return std::nullopt;
  return line;
}

bool StepSearch::as_known(kernel::Goal& goal, std::string& text) {
  if (!goal.target() || goal.context().known.empty()) return false;
  const kernel::Known target = *goal.target();
  if (auto words = multiple(goal, target.sum, target.signs))
    return tried(goal, "infer target" + *words, text);
  constexpr size_t kLarge = 3;  // of larger sums the difference may vanish
  const kernel::List<kernel::Known>& known = goal.context().known;
  for (size_t k = 0; k < known.size() && target.sum.products.size() > kLarge; ++k) {
    if (!kernel::within(known[k].signs, target.signs) || known[k].sum.products.size() <= kLarge)
      continue;
    kernel::Goal open(symbols_, goal.context(), target.sum + kernel::scaled(known[k].sum, {-1, 1}));
    std::string lines;
    reduce(open, lines);
    if (open.products().empty())
      return tried(goal, "infer target 1:" + std::to_string(k) + "\n" + lines + "end\n", text);
  }
  return false;
}

bool StepSearch::conclude(kernel::Goal& goal, std::string& text) {
  if (!goal.context().known.empty())
    if (auto words = terms(goal, {}, 0, true))
      if (tried(goal, "absurd" + *words, text)) return true;
  if (goal.target()) {
    auto line = inferred(goal, "target", goal.target()->signs);
    return line && tried(goal, *line, text);
  }
  if (goal.context().known.empty() || goal.products().empty()) return false;
  kernel::Goal both = goal;
  std::string lines;
  for (kernel::Signs signs : {kernel::kNotNegative, kNotPositive}) {
    auto line = inferred(both, "all", signs);
    if (!line || !tried(both, *line, lines)) return false;
  }
  if (!both.shown()) return false;
  goal.become(std::move(both));
  text += lines;
  return true;
}

}  // namespace regraft::verify
