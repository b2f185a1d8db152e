#include "verify/conditions.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "base/rng.h"
#include "ir/algebra/symbolic.h"
#include "ir/rule/pattern.h"
#include "verify/prove/prover.h"
#include "verify/refute/counterexample.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

constexpr size_t kSamples = 24;      // sizes at which a condition is tried
constexpr int kMaxCost = 5;          // of a conjunction
constexpr size_t kMaxEquations = 3;  // of a conjunction
constexpr size_t kMaxTried = 100;    // conjunctions tried with numbers
constexpr size_t kMaxProofs = 8;     // conjunctions tried with proofs
constexpr size_t kMaxSymbols = 24;   // of which equations are made
constexpr size_t kMaxEquationsMade = 250;

/// An equation p == 0 or an inequality p >= 0 over an instance's symbols; or one of real
/// attributes.
struct Atom {
  Poly poly;
  Formula formula;
  int cost = 1;
  std::optional<RealCondition> real = {};
};

/// p without the factor that all its coefficients share, the first one positive.
Poly primitive(const Poly& p) {
  int64_t factor = std::abs(p.constant());
  for (const auto& term : p.terms()) factor = std::gcd(factor, term.coefficient);
  if (p.terms().empty() || factor == 0) return p;
  if (p.terms()[0].coefficient < 0) factor = -factor;
  Poly r(p.constant() / factor);
  for (const auto& [monomial, coefficient] : p.terms())
    r = r + Poly::product(monomial, coefficient / factor);
  return r;
}

/// How the symbols of an instance are called in its rule. Elements of list variables and real
/// numbers have no name there.
class Names {
 public:
  Names(const Rule& rule, const RuleInstance& instance) : pool_(*rule.pool) {
    for (size_t v = 0; v < instance.sizes.size(); ++v)
      for (size_t d = 0; d < instance.sizes[v].size(); ++d)
        if (auto s = instance.sizes[v][d]) {
          sizes_.push_back(*s);
          names_[*s] = rule.variables[v] + "." + std::to_string(d);
        }
    for (const Pattern* side : {&rule.lhs, &rule.rhs})
      for (const PatternNode& n : side->nodes)
        for (const auto& list : n.attrs.ints)
          for (const Poly& p : list) for_each_symbol(p, [&](Var v) { add_number(v, instance); });
  }
  const std::vector<Var>& sizes() const { return sizes_; }
  const std::vector<Var>& numbers() const { return numbers_; }
  /// p over the symbols of the rule; nullopt when it cannot be said there.
  std::optional<Poly> in_rule(const Poly& p) const {
    bool known = true;
    for_each_symbol(p, [&](Var v) { known = known && names_.count(v) > 0; });
    if (!known) return std::nullopt;
    return moved(p, pool_, [&](Var v) { return Poly::symbol(pool_.named(names_.at(v), v->min)); });
  }

 private:
  void add_number(Var v, const RuleInstance& instance) {
    auto name = number_name(*v);
    if (!name) return;
    Var number = instance.lhs.pool().named(*name, v->min);
    if (names_.emplace(number, v->name).second) numbers_.push_back(number);
  }

  SymbolPool& pool_;
  std::vector<Var> sizes_, numbers_;
  std::map<Var, std::string, SymbolLess> names_;
};

/// The equations that conditions are made of, plain ones first, without two that say the same in
/// the rule's domain.
class Vocabulary {
 public:
  Vocabulary(const RuleInstance& instance, const Names& names)
      : names_(names), known_(solve_sizes(instance.requires_lhs).sizes) {
    for (const Formula& f : instance.requires_rhs) add_required(f);
    for (size_t k = 0; k < instance.lhs.outputs().size(); ++k) {
      const Shape &a = instance.lhs.shape(instance.lhs.outputs()[k]),
                  &b = instance.rhs.shape(instance.rhs.outputs()[k]);
      for (size_t d = 0; d < a.size(); ++d) add(a[d] - b[d], 1);
    }
    std::vector<Var> numbers = names.numbers(), sizes = names.sizes();
    for (Var v : numbers)
      for (int64_t c = v->min; c <= 2; ++c) add(Poly::symbol(v) - Poly(c), c == v->min ? 1 : 2);
    pairs(numbers, numbers, 1);
    for (Var x : numbers)
      for (Var y : numbers)
        if (x != y) add_inequality(Poly::symbol(x) - Poly::symbol(y), 2);
    add_real_conditions(instance);
    if (sizes.size() > kMaxSymbols) sizes.resize(kMaxSymbols);
    pairs(sizes, sizes, 1);
    pairs(numbers, sizes, 2);
    std::stable_sort(atoms_.begin(), atoms_.end(), [](const Atom& a, const Atom& b) {
      return std::pair(a.cost, !plain(a)) < std::pair(b.cost, !plain(b));
    });
  }
  const std::vector<Atom>& atoms() const { return atoms_; }

 private:
  /// Between two symbols, or a symbol and a number.
  static bool plain(const Atom& a) {
    auto terms = a.poly.terms();
    return terms.size() <= 2 && std::all_of(terms.begin(), terms.end(), [](const auto& t) {
             return t.monomial.size() == 1 && !t.monomial[0]->numerator;
           });
  }
  void pairs(const std::vector<Var>& a, const std::vector<Var>& b, int cost) {
    for (Var x : a)
      for (Var y : b)
        if (x->id < y->id || &a != &b) add(Poly::symbol(x) - Poly::symbol(y), cost);
  }
  /// Signs of real attributes, their order, and that they are at most 1.
  void add_real_conditions(const RuleInstance& instance) {
    auto add_real = [&](const std::string& a, const std::string& b, Relation r, int cost) {
      atoms_.push_back({Poly(), Formula(), cost, RealCondition{a, b, r}});
    };
    for (const auto& [name, v] : instance.real_symbols) {
      const std::string x = "?" + name;
      add_real("0", x, Relation::AtMost, 1);
      add_real("0", x, Relation::Below, 1);
      add_real(x, "0", Relation::AtMost, 2);
      add_real(x, "1", Relation::AtMost, 2);
      for (const auto& [other, w] : instance.real_symbols)
        if (other != name) add_real(x, "?" + other, Relation::AtMost, 1);
    }
  }
  void add_required(const Formula& f) {
    if (f.kind == Formula::Zero) add(f.poly, 1);
    if (f.kind == Formula::NonNegative) add_inequality(f.poly, 1);
    if (f.kind == Formula::And)
      for (const Formula& part : f.parts) add_required(part);
  }
  void add_inequality(const Poly& p, int cost) {
    Poly q = substitute(p, known_);
    if (q.is_constant() || never_negative(q) || atoms_.size() >= kMaxEquationsMade ||
        !names_.in_rule(q))
      return;
    if (seen_.insert(">=" + to_string(q)).second) atoms_.push_back({q, non_negative(q), cost});
  }
  void add(const Poly& p, int cost) {
    Poly q = primitive(substitute(p, known_));
    if (q.is_constant() || atoms_.size() >= kMaxEquationsMade || !names_.in_rule(q)) return;
    if (seen_.insert(to_string(q)).second) atoms_.push_back({q, is_zero(q), cost});
  }

  const Names& names_;
  Substitution known_;
  std::set<std::string> seen_;
  std::vector<Atom> atoms_;
};

using Choice = std::vector<size_t>;  // of atoms, ascending

class Finder {
 public:
  Finder(const RuleInstance& instance, const std::vector<Atom>& atoms, const VerifyOptions& options,
         const Stop* stop)
      : instance_(instance),
        atoms_(atoms),
        options_(options),
        stop_(stop),
        prover_(limits(options), stop) {}

  /// The weakest of the cheapest that are proved, and of those that cost one more and are weaker
  /// than one of these; nullopt: none is, or none is needed.
  std::optional<Choice> run() {
    numbers_agree({});
    if (negatives_.empty()) return std::nullopt;
    int cost = 1;
    for (; cost <= kMaxCost && found_.empty(); ++cost) extend({}, cost);
    if (found_.empty()) return std::nullopt;
    stronger_ = found_;
    extend({}, cost);
    return *std::min_element(found_.begin(), found_.end(),
                             [&](auto& a, auto& b) { return weaker(a, b) && !weaker(b, a); });
  }

 private:
  /// Many proofs are tried, most of which fail: each has less than a proof that counts.
  static Limits limits(const VerifyOptions& options) {
    Limits l = limits_for(options.effort);
    l.solver_work /= 2;
    return l;
  }
  bool over() const {
    return tried_.size() >= kMaxTried || proofs_ >= kMaxProofs || must_end(stop_);
  }
  /// Adds equations worth exactly `cost` that exclude a counterexample that is still in.
  void extend(const Choice& chosen, int cost) {
    if (over()) return;
    auto in = std::find_if(negatives_.begin(), negatives_.end(),
                           [&](const Valuation& v) { return holds(chosen, v); });
    if (in == negatives_.end()) {
      if (cost == 0 && try_out(chosen)) return;
      in = std::find_if(negatives_.begin(), negatives_.end(),
                        [&](const Valuation& v) { return holds(chosen, v); });
      if (in == negatives_.end()) return;
    }
    if (chosen.size() == kMaxEquations) return;
    Valuation counterexample = *in;
    for (size_t k = 0; k < atoms_.size() && !over(); ++k) {
      if (atoms_[k].cost > cost || holds({k}, counterexample)) continue;
      Choice more = chosen;
      more.insert(std::upper_bound(more.begin(), more.end(), k), k);
      extend(more, cost - atoms_[k].cost);
    }
  }
  bool holds(const Choice& chosen, const Valuation& v) const {
    return std::all_of(chosen.begin(), chosen.end(), [&](size_t k) {
      const Atom& a = atoms_[k];
      return a.real ? holds_at(*a.real, instance_.lhs.pool(), v) : evaluate(a.formula, v);
    });
  }
  RuleInstance narrowed(const Choice& chosen) const {
    RuleInstance r = instance_;
    for (size_t k : chosen)
      if (const Atom& a = atoms_[k]; a.real)
        r.real_conditions.push_back(*a.real);
      else
        add(r.requires_lhs, a.formula);
    return r;
  }
  /// True: at some sizes both sides agree, and at none they differ. Keeps the counterexamples.
  bool numbers_agree(const Choice& chosen) {
    RuleInstance r = narrowed(chosen);
    Rng rng(combine(options_.seed, tried_.size()));
    Rng signed_rng(combine(options_.seed, tried_.size() + kMaxTried));
    bool agreed = false;
    // Unknown reals of either sign, small, large and 0.
    int64_t spread = r.real_symbols.empty() ? 2 : 8;
    for (const Valuation& v : sample_sizes(r, rng.next(), kSamples, spread)) {
      // Where all is defined, and where signs matter.
      auto positive = [&](int, int64_t) { return 0.1 + 2 * rng.unit(); };
      auto either = [&](int, int64_t) { return 4 * signed_rng.unit() - 2; };
      for (const Inputs& inputs : {random_inputs(r, v, positive), random_inputs(r, v, either)}) {
        Comparison c = compare_sides(r, v, inputs);
        if (c.difference) {
          negatives_.push_back(v);
          return false;
        }
        agreed = agreed || c.compared;
      }
    }
    return agreed;
  }
  /// True when the conjunction has been dealt with.
  bool try_out(const Choice& chosen) {
    if (!tried_.insert(chosen).second) return true;
    auto is_stronger = [&](const Choice& c) { return weaker(chosen, c); };
    if (!stronger_.empty() && std::ranges::none_of(stronger_, is_stronger)) return true;
    if (!numbers_agree(chosen)) return false;
    RuleInstance r = narrowed(chosen);
    ++proofs_;
    if (is_for_all_sizes(prover_.prove(r).kind)) found_.push_back(chosen);
    return true;
  }
  /// Wherever b is sampled, a holds.
  bool weaker(const Choice& a, const Choice& b) const {
    auto samples = sample_sizes(narrowed(b), options_.seed, kSamples);
    return std::all_of(samples.begin(), samples.end(),
                       [&](const Valuation& v) { return holds(a, v); });
  }

  const RuleInstance& instance_;
  const std::vector<Atom>& atoms_;
  const VerifyOptions& options_;
  const Stop* stop_;
  SymbolicProver prover_;
  std::vector<Valuation> negatives_;  // sizes at which the sides differ
  std::set<Choice> tried_;
  std::vector<Choice> found_;
  std::vector<Choice> stronger_;  // only what is weaker than one of these is looked at; empty: all
  size_t proofs_ = 0;
};

/// p == 0 or p >= 0 as a condition between what has a negative and what has a positive sign.
Condition condition_of(const Poly& p, Formula::Kind kind) {
  Poly left(std::max<int64_t>(p.constant(), 0)), right(std::max<int64_t>(-p.constant(), 0));
  for (const auto& [monomial, coefficient] : p.terms()) {
    Poly& side = coefficient > 0 ? left : right;
    side = side + Poly::product(monomial, std::abs(coefficient));
  }
  if (kind == Formula::Zero) return {left, right};
  return {right, left, Relation::AtMost};
}

}  // namespace

std::optional<Rule> with_condition(const Rule& rule, const Signature& signature,
                                   const VerifyOptions& options, const Stop* stop) {
  auto instance = instance_at(rule, signature, options.assume);
  if (!instance) return std::nullopt;
  try {
    Names names(rule, *instance);
    Vocabulary vocabulary(*instance, names);
    auto chosen = Finder(*instance, vocabulary.atoms(), options, stop).run();
    if (!chosen) return std::nullopt;
    Rule r = rule;
    for (size_t k : *chosen) {
      const Atom& a = vocabulary.atoms()[k];
      if (a.real)
        r.real_where.push_back(*a.real);
      else
        r.where.push_back(condition_of(*names.in_rule(a.poly), a.formula.kind));
    }
    // A size that a condition makes 1 may be broadcast: the rule as it is read must hold.
    auto read = instance_at(r, signature, options.assume);
    if (!read) return std::nullopt;
    SymbolicProver prover(limits_for(options.effort), stop);
    if (!is_for_all_sizes(prover.prove(*read).kind)) return std::nullopt;
    return r;
  } catch (const PolyOverflow&) {
    return std::nullopt;
  }
}

}  // namespace regraft::verify
