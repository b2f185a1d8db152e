#include "verify/prove/prover.h"

#include "verify/normal/signs.h"
#include "verify/normal/sums.h"
#include "verify/prove/branches.h"
#include "verify/prove/equality.h"
#include "verify/prove/lowering.h"
#include "verify/prove/naming.h"
#include "verify/prove/reals.h"

namespace regraft::verify {
namespace {

/// A Size symbol that an equality expresses by others.
std::optional<std::pair<Var, Poly>> solvable(const Formula& f) {
  if (f.kind != Formula::Zero) return std::nullopt;
  Poly e;
  for (const auto& [m, c] : f.poly.terms())
    if (m.size() == 1 && m[0]->kind == SymbolKind::Size && solve_for(f.poly, m[0], e))
      return std::pair{m[0], e};
  return std::nullopt;
}

/// One that an equality of the domain expresses, or two that say the same of it: from s t = n and
/// s u = n follows t = u.
std::optional<std::pair<Var, Poly>> solvable(const Conjunction& domain) {
  for (const Formula& f : domain)
    if (auto found = solvable(f)) return found;
  for (size_t i = 0; i < domain.size(); ++i)
    for (size_t j = 0; j < i && domain[i].kind == Formula::Zero; ++j) {
      if (domain[j].kind != Formula::Zero) continue;
      for (int64_t sign : {-1, 1})
        if (auto found = solvable(is_zero(domain[i].poly + Poly(sign) * domain[j].poly)))
          return found;
    }
  return std::nullopt;
}

/// Two sizes of which one is the least it may be: (x - min x) (y - min y) <= 0 says so.
std::optional<std::pair<Var, Var>> one_of_two(const Formula& f) {
  if (f.kind != Formula::NonNegative) return std::nullopt;
  for (const auto& t : f.poly.terms()) {
    if (t.monomial.size() != 2 || t.coefficient != -1) continue;
    Var x = t.monomial[0], y = t.monomial[1];
    bool sizes = x != y && x->kind == SymbolKind::Size && y->kind == SymbolKind::Size;
    Poly product = (Poly::symbol(x) - Poly(x->min)) * (Poly::symbol(y) - Poly(y->min));
    if (sizes && (f.poly + product).is_zero()) return std::pair{x, y};
  }
  return std::nullopt;
}

/// The domain solved, with what forces one of two sizes distinguished.
std::vector<SolvedDomain> cases(const Conjunction& domain) {
  SolvedDomain solved = solve_sizes(domain);
  for (const Formula& f : solved.domain) {
    auto two = one_of_two(f);
    if (!two) continue;
    std::vector<SolvedDomain> all;
    for (Var v : {two->first, two->second}) {
      Conjunction one = domain;
      add(one, Poly::symbol(v) == Poly(v->min));
      for (SolvedDomain& c : cases(one)) all.push_back(std::move(c));
    }
    return all;
  }
  return {std::move(solved)};
}

Verdict unknown(std::string reason) { return {VerdictKind::Unknown, std::move(reason)}; }

std::string may_divide_by_zero(const std::string& expression) {
  return "an attribute may divide by zero: " + expression;
}

/// Numbers that stand for fractions become them.
Sum with_fractions(Sum sum, const Fractions& fractions) {
  for (Product& p : sum.products)
    for (auto a = p.atoms.begin(); a != p.atoms.end();) {
      if (a->argument) a->argument = std::make_shared<Sum>(with_fractions(*a->argument, fractions));
      bool number = a->kind == Atom::Opaque && !a->reals[0].symbol;
      auto found = number ? fractions.find(a->reals[0].value) : fractions.end();
      if (found == fractions.end()) {
        ++a;
        continue;
      }
      p.coefficient = p.coefficient * found->second;
      a = p.atoms.erase(a);
    }
  return sum;
}

/// The proof of one instance where its sizes are solved in one way.
class Case {
 public:
  Case(const RuleInstance& instance, const SolvedDomain& solved, const Fractions& fractions,
       Values values, ArithmeticSolver& solver, Budget& budget)
      : instance_(instance),
        values_(values),
        sizes_(solved.sizes),
        named_(solved.named),
        fractions_(fractions),
        context_(learn_conditions(Context(solver, budget, solved.domain), instance, sizes_)) {}
  Verdict run() const;

 private:
  /// A side at a position, and a requirement of its formula that the domain does not imply.
  struct Lowered {
    Side side;
    std::optional<Formula> unmet;
    bool unsure = false;      ///< what a choice leaves out is not defined everywhere
    std::optional<Sum> open;  ///< what the first choice that is open depends on
  };
  /// Choices are left open, or their branches are taken where the context decides.
  enum class Choices : uint8_t { Open, Taken };
  Lowered lower(const Graph& g, Value v, std::span<const Poly> position, const Context& context,
                Choices choices) const;
  /// With sizes as they are known.
  template <class T>
  T placed(const T& x) const {
    T once = substitute(x, sizes_);
    return named_ ? substitute(once, sizes_) : once;
  }
  /// With sizes and numbers as they are known.
  Sum known(const Sum& s) const {
    return with_fractions(placed(with_expressions(s, instance_)), fractions_);
  }
  Verdict prove_output(size_t k) const;
  Verdict prove_element(size_t k, std::span<const Poly> position, const Context& context,
                        int depth) const;
  Verdict prove_cases(const Sum& value, size_t k, std::span<const Poly> position,
                      const Context& context, int depth) const;
  /// Follows from what the left side requires; equal sizes are one symbol there.
  bool implied(const Formula& f) const { return context_.implies(placed(f)); }

  const RuleInstance& instance_;
  const Values values_;
  const Substitution& sizes_;
  const bool named_;
  const Fractions& fractions_;
  const Context context_;  ///< what the left side requires
};

/// The element of v at a position; equal sizes are one symbol.
Case::Lowered Case::lower(const Graph& g, Value v, std::span<const Poly> position,
                          const Context& context, Choices choices) const {
  Symbolic algebra(g.pool());
  Lowered r;
  bool first = true;
  algebra.on_choose = [&](const Sum& c) -> std::optional<bool> {
    if (choices == Choices::Open) return std::nullopt;
    const Sum condition = known(c);
    if (auto yes = truth_of(condition, context)) return yes;
    Scope scope = algebra.scope();
    bool always = scope.bound.empty() && context.implies(placed(scope.guard));
    if (std::exchange(first, false) && always) r.open = open_step(condition, context);
    return std::nullopt;
  };
  algebra.on_require = [&](const Formula& f) {
    if (!r.unmet && !implied(f)) r.unmet = f;
  };
  algebra.on_apply = [&](Fn f, const Sum& x) {
    if (facts(f).domain == Domain::Everywhere) return;
    Scope scope = algebra.scope();
    Sum argument = known(x);
    if (algebra.choosing() && !implies(sign_of(argument, context), domain_sign(f))) r.unsure = true;
    r.side.partial.push_back({f, std::move(argument), scope.bound, placed(scope.guard)});
  };
  algebra.on_maximum = [&](const Atom& m) {
    Scope scope = algebra.scope();
    Sum s = sum_of(m);
    s.products[0].bound = scope.bound;
    s.products[0].guard = scope.guard;
    r.side.maxima.push_back(known(s).products.at(0));
  };
  r.side.value = known(Lowering(g, algebra).element(v, position));
  return r;
}

Verdict Case::run() const {
  if (context_.refuted()) return {VerdictKind::ProvedSolver, {}};  // no sizes are like this
  for (const auto& f : instance_.requires_rhs)
    if (!implied(f)) return unknown("not implied: " + to_string(f));
  if (auto e = undefined_expression(instance_, sizes_, context_))
    return unknown(may_divide_by_zero(*e));
  for (size_t k = 0; k < instance_.lhs.outputs().size(); ++k)
    if (Verdict v = prove_output(k); v.kind != VerdictKind::ProvedSolver) return v;
  return {VerdictKind::ProvedSolver, {}};
}

Verdict Case::prove_output(size_t k) const {
  const Graph &left = instance_.lhs, &right = instance_.rhs;
  const Shape &a = left.shape(left.outputs()[k]), &b = right.shape(right.outputs()[k]);
  if (a.size() != b.size()) return unknown("ranks differ");
  Conjunction domain = context_.domain();
  std::vector<Poly> position;
  for (size_t d = 0; d < a.size(); ++d) {
    if (!implied(a[d] == b[d]))
      return unknown("shapes differ: " + to_string(a[d]) + " and " + to_string(b[d]));
    Var i = left.pool().fresh("i" + std::to_string(d), SymbolKind::Position);
    position.push_back(Poly::symbol(i));
    add(domain, Poly(0) <= position.back() && position.back() < placed(a[d]));
  }
  return prove_element(k, position, context_.only(std::move(domain)), 0);
}

/// Where the context holds; a choice that leaves out what may be undefined makes two cases.
Verdict Case::prove_element(size_t k, std::span<const Poly> position, const Context& context,
                            int depth) const {
  const Graph &left = instance_.lhs, &right = instance_.rhs;
  const Choices choices = depth == 0 ? Choices::Open : Choices::Taken;
  Lowered one = lower(left, left.outputs()[k], position, context, choices);
  Lowered other = lower(right, right.outputs()[k], position, context, choices);
  for (const auto& unmet : {one.unmet, other.unmet})
    if (unmet) return unknown("not implied: " + to_string(*unmet));
  constexpr int kDeepest = 12;
  if (depth == 0 && one.unsure) return prove_element(k, position, context, 1);
  if (depth > kDeepest) return unknown("too many cases of choices");
  if (one.open) return prove_cases(*one.open, k, position, context, depth);
  if (other.open && is_total(*other.open))
    return prove_cases(*other.open, k, position, context, depth);
  if (one.unsure) return unknown("a choice leaves out what is not defined everywhere");
  if (depth > 0 && is_void(one.side, context)) return {VerdictKind::ProvedSolver, {}};
  if (auto number = open_number(other.side.value, context))
    return prove_cases(*number, k, position, context, depth);
  // where values are undefined, or maxima of nothing, the sides are not alike
  bool total = one.side.partial.empty() && other.side.partial.empty() && one.side.maxima.empty() &&
               other.side.maxima.empty();
  if (values_ == Values::Equal && total) return {VerdictKind::ProvedSolver, {}};
  if (depth > 0)
    for (Side* s : {&one.side, &other.side}) s->value = by_laws(s->value, context);
  Verdict v = prove_equal(one.side, other.side, context);
  bool again = depth == 0 && other.unsure && v.kind == VerdictKind::Unknown;
  return again ? prove_element(k, position, context, 1) : v;
}

/// Once where the value is positive, once where it is not.
Verdict Case::prove_cases(const Sum& value, size_t k, std::span<const Poly> position,
                          const Context& context, int depth) const {
  for (Sign x : {sign::kPositive, sign::kNotPositive}) {
    Verdict v = prove_element(k, position, learn(context, {value, {}, {}, x}), depth + 1);
    if (v.kind != VerdictKind::ProvedSolver) return v;
  }
  return {VerdictKind::ProvedSolver, {}};
}

/// Sizes as they are, or with symbols for those that are sums.
enum class Names : uint8_t { None, OfSums };

/// False: there is nothing to name.
bool name_sizes(std::vector<SolvedDomain>& all, const RuleInstance& instance,
                ArithmeticSolver& solver) {
  bool any = false;
  for (SolvedDomain& sizes : all)
    if (auto named = with_named_sizes(instance, sizes, solver)) {
      sizes = *std::move(named);
      any = true;
    }
  return any;
}

Verdict prove_all_sizes(const RuleInstance& instance, const Fractions& fractions, Values values,
                        ArithmeticSolver& solver, Budget& budget, Names names) {
  const Graph &left = instance.lhs, &right = instance.rhs;
  Symbolic algebra(left.pool());
  if (!Lowering(left, algebra).supported() || !Lowering(right, algebra).supported())
    return unknown("a node has no formula");
  if (left.outputs().size() != right.outputs().size()) return unknown("number of outputs");
  if (solver.refuted(instance.requires_lhs)) return unknown("empty domain");
  std::vector<SolvedDomain> all = cases(instance.requires_lhs);
  if (names == Names::OfSums && !name_sizes(all, instance, solver)) return unknown("no such sizes");
  for (const SolvedDomain& sizes : all)
    if (Verdict v = Case(instance, sizes, fractions, values, solver, budget).run();
        v.kind != VerdictKind::ProvedSolver)
      return v;
  return {VerdictKind::ProvedSolver, {}};
}

}  // namespace

SolvedDomain solve_sizes(const Conjunction& domain) {
  SolvedDomain r{{}, domain};
  while (auto found = solvable(r.domain)) {
    const auto& [v, e] = *found;
    Substitution s{{v, e}};
    for (auto& [x, old] : r.sizes) old = substitute(old, s);
    r.sizes[v] = e;
    r.domain = substitute(r.domain, s);
    add(r.domain, Poly(v->min) <= e);
  }
  return r;
}

std::optional<std::string> SymbolicProver::undefined_attribute(const RuleInstance& instance) const {
  try {
    Budget budget(limits_, stop_);
    ArithmeticSolver solver(budget);
    for (const SolvedDomain& solved : cases(instance.requires_lhs)) {
      const Context context =
          learn_conditions(Context(solver, budget, solved.domain), instance, solved.sizes);
      auto e = undefined_expression(instance, solved.sizes, context);
      if (e && !context.refuted()) return may_divide_by_zero(*e);
    }
    return std::nullopt;
  } catch (const PolyOverflow&) {
    return "integers too large";
  } catch (const OutOfBudget& e) {
    return e.what;
  }
}

Verdict SymbolicProver::prove(const RuleInstance& instance, Values values) {
  Verdict first;
  for (Names names : {Names::None, Names::OfSums}) {
    if (must_end(stop_)) return unknown("interrupted");
    Budget budget(limits_, stop_);
    ArithmeticSolver solver(budget);
    solver.on_refuted = on_refuted;
    Verdict v;
    try {
      v = prove_all_sizes(instance, fractions_, values, solver, budget, names);
    } catch (const PolyOverflow&) {
      v = unknown("integers too large");
    } catch (const OutOfBudget& e) {
      v = unknown(e.what);
    }
    stats_ += solver.stats();
    if (v.kind == VerdictKind::ProvedSolver) return v;
    if (names == Names::None) first = std::move(v);
  }
  return first;
}

}  // namespace regraft::verify
