#include "verify/arithmetic/solver.h"

#include <z3++.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "verify/arithmetic/equalities.h"
#include "verify/arithmetic/linear.h"
#include "verify/arithmetic/models.h"
#include "verify/arithmetic/walk.h"

namespace regraft::verify {
namespace {

struct MonomialLess {
  bool operator()(const Monomial& a, const Monomial& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), SymbolLess{});
  }
};

void append(std::string& key, int64_t n) {
  char bytes[sizeof n];
  std::memcpy(bytes, &n, sizeof n);
  key.append(bytes, sizeof n);
}
void append(std::string& key, const Formula& f) {  // injective: symbols by id, not by name
  key += static_cast<char>('a' + f.kind);
  append(key, f.poly.constant());
  append(key, static_cast<int64_t>(f.poly.terms().size()));
  for (const auto& [m, c] : f.poly.terms()) {
    append(key, c);
    append(key, static_cast<int64_t>(m.size()));
    for (Var v : m) append(key, v->id);
  }
  append(key, static_cast<int64_t>(f.parts.size()));
  for (const auto& p : f.parts) append(key, p);
}

void collect(const Poly& p, Symbols& symbols, bool& products) {
  for (const auto& [m, c] : p.terms()) {
    products = products || m.size() > 1;
    symbols.insert(m.begin(), m.end());
  }
}
void collect(const Formula& f, Symbols& symbols, bool& products) {
  for_each_poly(f, [&](const Poly& p) { collect(p, symbols, products); });
}

bool plainly_positive(const Poly& p) {
  if (p.constant() < 0 || p.is_zero()) return false;
  for (const auto& [m, c] : p.terms()) {
    if (c < 0) return false;
    for (Var v : m)
      if (v->kind != SymbolKind::Size || v->min < 1) return false;
  }
  return true;
}

/// What is always true of a symbol.
void add_facts(Conjunction& out, Var v) {
  Poly x = Poly::symbol(v);
  if (v->kind == SymbolKind::Size) add(out, Poly(v->min) <= x);
  if (v->kind == SymbolKind::Lookup) {  // an empty table has no elements to look up
    Formula range = Poly(0) <= x && x < *v->denominator;
    add(out, plainly_positive(*v->denominator) ? range : *v->denominator <= Poly(0) || range);
  }
  if (v->kind == SymbolKind::Quotient) {  // stated for denominators below 1 it would be absurd
    Poly rest = *v->numerator - *v->denominator * x;
    Formula exact = Poly(0) <= rest && rest < *v->denominator;
    add(out, plainly_positive(*v->denominator) ? exact : *v->denominator <= Poly(0) || exact);
    bool positive = plainly_positive(*v->numerator) && plainly_positive(*v->denominator);
    if (positive) add(out, Poly(0) <= x);
  }
}

/// `facts` and everything known of the symbols in them, those of quotients included.
Conjunction with_facts(const Conjunction& facts, bool& products, Symbols& done) {
  Conjunction all = facts;
  for (;;) {
    Symbols found;
    for (const auto& f : all) collect(f, found, products);
    bool more = false;
    for (Var v : found)
      if (done.insert(v).second) {
        add_facts(all, v);
        more = true;
      }
    if (!more) return all;
  }
}

/// Without quotients where that says the same: floor(n / d) >= e is n >= d e, and
/// floor(n / d) <= e is n < d (e + 1).
Formula without_quotients(const Formula& f) {
  if (f.kind == Formula::And || f.kind == Formula::Or) {
    std::vector<Formula> parts;
    for (const auto& p : f.parts) parts.push_back(without_quotients(p));
    return junction(f.kind, std::move(parts));
  }
  if (f.kind != Formula::NonNegative) return f;
  for (const auto& [m, c] : f.poly.terms()) {
    Var q = m[0];
    bool lone = m.size() == 1 && q->kind == SymbolKind::Quotient && (c == 1 || c == -1) &&
                plainly_positive(*q->denominator);
    if (!lone) continue;
    Poly rest = f.poly - Poly::product({q}, c);
    if (mentions(rest, q)) continue;
    const Poly &n = *q->numerator, &d = *q->denominator;
    return without_quotients(
        non_negative(c == 1 ? n + d * rest : d * (rest + Poly(1)) - n - Poly(1)));
  }
  return f;
}
Conjunction without_quotients(const Conjunction& facts) {
  Conjunction all;
  for (const auto& f : facts) add(all, without_quotients(f));
  return all;
}

}  // namespace

struct ArithmeticSolver::Solver {
  std::optional<z3::context> made;  // on first use: making one takes longer than many proofs
  std::map<Monomial, z3::expr, MonomialLess> opaque;
  std::unordered_map<std::string, Known> memo;
  Models models;
  uint64_t work_before = 0;

  z3::context& context() { return made ? *made : made.emplace(); }
  z3::expr integer(const Monomial& m) {
    auto it = opaque.find(m);
    if (it != opaque.end()) return it->second;
    std::string name = "v";
    for (Var v : m) name += "_" + std::to_string(v->id);
    return opaque.emplace(m, context().int_const(name.c_str())).first->second;
  }
  z3::expr monomial(const Monomial& m, bool products) {
    if (!products || m.size() == 1) return integer(m);
    z3::expr e = integer({m[0]});
    for (size_t i = 1; i < m.size(); ++i) e = e * integer({m[i]});
    return e;
  }
  z3::expr poly(const Poly& p, bool products) {
    z3::expr_vector terms(context());
    if (p.constant() != 0) terms.push_back(context().int_val(p.constant()));
    for (const auto& [m, c] : p.terms()) {
      z3::expr e = monomial(m, products);
      terms.push_back(c == 1 ? e : context().int_val(c) * e);
    }
    return terms.empty() ? context().int_val(0) : z3::sum(terms);
  }
  z3::expr formula(const Formula& f, bool products) {
    switch (f.kind) {
      case Formula::True:
        return context().bool_val(true);
      case Formula::False:
        return context().bool_val(false);
      case Formula::NonNegative:
        return poly(f.poly, products) >= 0;
      case Formula::Zero:
        return poly(f.poly, products) == 0;
      case Formula::And:
      case Formula::Or:
        break;
    }
    z3::expr_vector parts(context());
    for (const auto& p : f.parts) parts.push_back(formula(p, products));
    return f.kind == Formula::And ? z3::mk_and(parts) : z3::mk_or(parts);
  }
  /// Remembers the integers that the solver found; products and quotients may take other values.
  void remember(const z3::solver& s, const Symbols& symbols) {
    z3::model m = s.get_model();
    Valuation values;
    for (Var v : symbols) {
      int64_t x = 0;
      if (v->kind == SymbolKind::Quotient) continue;
      if (!m.eval(integer({v}), true).is_numeral_i64(x) || std::abs(x) > kLargest) return;
      values[v] = x;
    }
    models.keep(std::move(values));
  }
  static constexpr int64_t kLargest = 1'000'000;
  uint64_t work_done(const z3::solver& s) const {
    z3::stats st = s.statistics();
    for (unsigned i = 0; i < st.size(); ++i)
      if (st.key(i) == "rlimit count" && st.is_uint(i)) return st.uint_value(i);
    return 0;
  }
  /// For products NLSAT by itself (Jovanovic and de Moura, IJCAR 2012): within the solver of linear
  /// arithmetic its work is not counted, and bounds of bounds grow until one multiplication takes
  /// minutes and cannot be interrupted.
  z3::solver solver_for(bool products) {
    return products ? z3::tactic(context(), "qfnra-nlsat").mk_solver()
                    : z3::solver(context(), z3::solver::simple());
  }
  /// One run; z3::unknown for anything that goes wrong.
  z3::check_result run(const Conjunction& facts, const Symbols& symbols, bool products,
                       int64_t limit, int64_t cut_off) {
    try {
      z3::solver s = solver_for(products);
      z3::params p(context());
      p.set("rlimit", static_cast<unsigned>(limit));
      p.set("timeout", static_cast<unsigned>(cut_off));
      p.set("ctrl_c", false);  // its handler is for one thread, and would hide the signal from ours
      s.set(p);
      for (const auto& f : facts) s.add(formula(f, products));
      z3::check_result r = s.check();
      uint64_t total = work_done(s);
      spent = total > work_before ? total - work_before : 0;
      work_before = total;
      if (r == z3::sat) remember(s, symbols);
      return r;
    } catch (const z3::exception&) {
      spent = static_cast<uint64_t>(limit);
      return z3::unknown;
    }
  }
  uint64_t spent = 0;
};

OracleStats& OracleStats::operator+=(const OracleStats& o) {
  asked += o.asked;
  plain += o.plain;
  eliminations += o.eliminations;
  remembered += o.remembered;
  linear += o.linear;
  nonlinear += o.nonlinear;
  undecided += o.undecided;
  work += o.work;
  return *this;
}

ArithmeticSolver::ArithmeticSolver(Budget& budget)
    : budget_(budget), solver_(std::make_unique<Solver>()) {}
ArithmeticSolver::~ArithmeticSolver() = default;

ArithmeticSolver::Known ArithmeticSolver::ask(const Conjunction& all, const Symbols& symbols,
                                              Products products) {
  const bool exact = products != Products::Opaque;
  budget_.run();
  ++(exact ? stats_.nonlinear : stats_.linear);
  const Limits& limits = budget_.left();
  const auto limit = products == Products::Opaque  ? limits.run_linear
                     : products == Products::Brief ? limits.run_brief
                                                   : limits.run_nonlinear;
  z3::check_result r = solver_->run(all, symbols, exact, limit, limits.cut_off);
  budget_.work(static_cast<int64_t>(solver_->spent));
  stats_.work += solver_->spent;
  if (r != z3::unknown) return r == z3::unsat ? Known::Refuted : Known::NotShown;
  ++stats_.undecided;
  if (exact) budget_.open_end();
  return products == Products::Brief ? Known::UndecidedBrief : Known::Undecided;
}

ArithmeticSolver::Outcome ArithmeticSolver::said(Known known) {
  if (known == Known::Refuted) return Outcome::Refuted;
  const bool undecided = known == Known::Undecided || known == Known::UndecidedBrief;
  return undecided ? Outcome::Undecided : Outcome::NotShown;
}

bool ArithmeticSolver::answers(Known known, Products products) {
  switch (known) {
    case Known::Nothing:
      return false;
    case Known::NotShownLinear:
      return products == Products::Opaque;
    case Known::UndecidedBrief:
      return products != Products::Exact;
    default:
      return true;
  }
}

ArithmeticSolver::Outcome ArithmeticSolver::outcome(const Conjunction& facts, Products products) {
  Outcome outcome = said(decide(facts, products));
  if (outcome == Outcome::Refuted && on_refuted) on_refuted(facts);
  return outcome;
}

ArithmeticSolver::Known ArithmeticSolver::decide(const Conjunction& given, Products products) {
  budget_.step();
  ++stats_.asked;
  Conjunction facts = without_quotients(given);
  if (plainly_false(facts)) {
    ++stats_.plain;
    return Known::Refuted;
  }
  std::string key;
  for (const auto& f : facts) append(key, f);
  auto [memo, fresh] = solver_->memo.try_emplace(std::move(key), Known::Nothing);
  if (answers(memo->second, products)) {
    ++stats_.remembered;
    return memo->second;
  }
  bool has_products = false;
  Symbols symbols;
  Conjunction all =
      with_facts(without_quotients(without_equalities(std::move(facts))), has_products, symbols);
  if (plainly_false(all)) memo->second = Known::Refuted;
  if (memo->second == Known::Nothing) memo->second = without_products(all, symbols, has_products);
  if (!answers(memo->second, products)) memo->second = with_true_products(all, symbols, products);
  return memo->second;
}

bool ArithmeticSolver::satisfied(const Conjunction& facts) {
  bool has_products = false;
  Symbols symbols;
  const Conjunction all = with_facts(facts, has_products, symbols);
  return !plainly_false(all) && solver_->models.satisfied(all, symbols);
}

/// Products of symbols as integers of their own.
ArithmeticSolver::Known ArithmeticSolver::without_products(const Conjunction& all,
                                                           const Symbols& symbols,
                                                           bool has_products) {
  if (solver_->models.known(all, symbols)) return Known::NotShown;
  ++stats_.eliminations;
  Decision d = decide_linear(all);
  if (d == Decision::Open && solver_->models.satisfied(all, symbols)) return Known::NotShown;
  if (d == Decision::Refuted ||
      (d == Decision::Open && ask(all, symbols, Products::Opaque) == Known::Refuted))
    return Known::Refuted;
  return has_products ? Known::NotShownLinear : Known::NotShown;
}

/// What is cheap comes first: integers that satisfy all of it, then linear arithmetic, and the
/// solver last, whose runs with products may take seconds.
ArithmeticSolver::Known ArithmeticSolver::with_true_products(const Conjunction& all,
                                                             const Symbols& symbols,
                                                             Products products) {
  constexpr int kAttempts = 20;
  if (solver_->models.satisfied(all, symbols)) return Known::NotShown;
  Conjunction more = with_products(all);
  Decision d = decide_linear(more);
  if (d == Decision::Refuted ||
      (d == Decision::Open && ask(more, symbols, Products::Opaque) == Known::Refuted))
    return Known::Refuted;
  if (budget_.left().open_ends <= 0 || solver_->models.satisfied(all, symbols, kAttempts))
    return Known::NotShown;
  return ask(all, symbols, products);
}

bool ArithmeticSolver::implies(const Conjunction& facts, const Formula& f, Products products) {
  if (plainly_implies(facts, f)) {
    ++stats_.asked;
    ++stats_.plain;
    if (!on_refuted) return true;
    Conjunction both = facts;
    add(both, negate(f));
    on_refuted(both);
    return true;
  }
  if (f.kind == Formula::And) return implies(facts, f.parts, products);
  Conjunction both = facts;
  add(both, negate(f));
  return refuted(both, products);
}

bool ArithmeticSolver::implies(const Conjunction& facts, const Conjunction& all,
                               Products products) {
  for (const auto& f : all)
    if (!implies(facts, f, products)) return false;
  return true;
}

bool ArithmeticSolver::decides(const Conjunction& facts, const Formula& f, Products products) {
  products = std::min(products, Products::Brief);
  return implies(facts, f, products) || implies(facts, negate(f), products);
}

bool ArithmeticSolver::balanced_from(const Conjunction& facts, std::span<const Weighted> terms,
                                     int64_t sum) {
  if (terms.empty() && sum == 0) return true;
  if (refuted(facts)) return true;
  if (terms.empty()) return false;
  Conjunction holds = facts, fails = facts;
  add(holds, terms[0].second);
  add(fails, negate(terms[0].second));
  return balanced_from(holds, terms.subspan(1), sum + terms[0].first) &&
         balanced_from(fails, terms.subspan(1), sum);
}

bool ArithmeticSolver::balanced(const Conjunction& facts, std::span<const Weighted> terms) {
  if (terms.size() > 12) return false;
  return balanced_from(facts, terms, 0);
}

std::string solver_version() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return "z3 " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

}  // namespace regraft::verify
