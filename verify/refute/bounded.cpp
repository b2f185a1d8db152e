#include "verify/refute/bounded.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ir/graph/eval.h"
#include "verify/refute/counterexample.h"
#include "verify/refute/exercise.h"

namespace regraft::verify {
namespace {

constexpr int64_t kTermElements = 600;  // of both graphs together
constexpr size_t kSamples = 24;
constexpr size_t kAssignments = 512;  // of sizes, that are looked at together
constexpr int64_t kLargestSize = 4;
constexpr size_t kMoreSamples = 400;  // among which an attribute that had no room may act

/// Atoms of a store are numbered as they are made, elements of inputs first.
bool of_elements_only(Term t, int32_t elements) {
  for (const auto& [atoms, coefficient] : t.store->body(t))
    if (!atoms.empty() && atoms.back() >= elements) return false;
  return true;
}

/// Which elements of the left side's outputs are numbers, for positive inputs.
std::vector<std::vector<bool>> defined_elements(const RuleInstance& instance,
                                                const Valuation& sizes) {
  Inputs inputs = random_inputs(instance, sizes, [](int k, int64_t e) {
    return 0.1 + 0.01 * static_cast<double>(mix(static_cast<uint64_t>(k * 1000 + e)) % 200);
  });
  Reals reals;
  auto left = evaluate_graph<Reals>(
      reals, instance.lhs, sizes,
      [&](int k, const std::vector<int64_t>&) { return inputs[static_cast<size_t>(k)]; },
      kTermElements);
  std::vector<std::vector<bool>> defined;
  if (!left) return defined;
  for (const auto& a : *left) {
    defined.emplace_back();
    for (double x : a.data) defined.back().push_back(std::isfinite(x));
  }
  return defined;
}

TermsAnswer compare_outputs(Terms& terms, const std::vector<Array<Term>>& a,
                            const std::vector<Array<Term>>& b, int32_t elements,
                            const std::function<bool(size_t, size_t)>& defined) {
  TermsAnswer answer = TermsAnswer::Equal;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].shape != b[k].shape) return TermsAnswer::Different;
    for (size_t e = 0; e < a[k].data.size(); ++e) {
      if (a[k].data[e] == b[k].data[e]) continue;
      Term difference = a[k].data[e] + terms.constant(-1) * b[k].data[e];
      if (!defined(k, e)) continue;  // 0 * 1/0 is 0 as a polynomial
      if (of_elements_only(difference, elements)) return TermsAnswer::Different;
      answer = TermsAnswer::Unclear;
    }
  }
  return answer;
}

/// All sizes with every free symbol at most `limit`; nullopt when there are too many, or they have
/// too many elements together.
std::optional<std::vector<Valuation>> all_sizes(const RuleInstance& instance, int64_t limit,
                                                int64_t elements) {
  SizeSpace space(instance);
  if (!space.usable()) return std::nullopt;
  double assignments = 1;
  for (Var v : space.free()) assignments *= static_cast<double>(limit - v->min + 1);
  bool many = assignments > kAssignments || assignments > static_cast<double>(elements);
  if (many) return std::nullopt;  // most have several elements
  std::vector<Valuation> all;
  Valuation free;
  bool few = true;
  auto from = [&](auto& self, size_t k) -> void {
    if (k == space.free().size()) {
      Valuation sizes = free;
      if (!space.complete(sizes)) return;
      int64_t n = total_elements(instance, sizes);
      few = few && n >= 0 && (elements -= n) >= 0;
      if (few) all.push_back(std::move(sizes));
      return;
    }
    for (int64_t x = space.free()[k]->min; x <= limit && few; ++x) {
      free[space.free()[k]] = x;
      self(self, k + 1);
    }
  };
  from(from, 0);
  return few && all.size() > 1 ? std::optional(std::move(all)) : std::nullopt;
}

/// The shapes by name.
std::string names_of(const RuleInstance& instance, const BoundedReport& r) {
  std::string text = std::to_string(r.shapes.size()) + " shapes: ";
  if (r.limit > 0) return text + "all sizes up to " + std::to_string(r.limit);
  for (size_t k = 0; k < r.shapes.size(); ++k)
    text += (k ? "; " : "") + describe(instance, r.shapes[k]);
  return text;
}

/// Equal at all sizes but those too large, where at most `largest` are compared.
BoundedReport compare_all(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                          int64_t elements) {
  BoundedReport r;
  for (const Valuation& v : sizes) {
    int64_t n = total_elements(instance, v);
    if (n > 0 && r.shapes.size() > 1 && n > elements) break;
    TermsAnswer answer = compare_terms(instance, v);
    if (answer == TermsAnswer::TooLarge) continue;
    if (answer != TermsAnswer::Equal) return {answer, describe(instance, v), {}, 0};
    elements -= n;
    r.shapes.push_back(v);
  }
  if (r.shapes.size() < 2) return {};
  r.answer = TermsAnswer::Equal;
  return r;
}

/// More samples that exercise what the shapes of `r` did not; the first at which the sides are not
/// equal ends it.
void exercise(BoundedReport& r, Exercise& left, const RuleInstance& instance, uint64_t seed) {
  constexpr int64_t kSpread = 4;
  if (left.complete()) return;
  auto samples = sample_sizes(instance, seed + 1, kMoreSamples, kSpread);
  std::ranges::move(sample_products(instance, seed + 1, kMoreSamples), std::back_inserter(samples));
  for (const Valuation& v : samples) {
    if (left.complete()) return;
    int64_t n = total_elements(instance, v);
    if (n < 0 || n > kTermElements || !left.add(v)) continue;
    TermsAnswer answer = compare_terms(instance, v);
    if (answer != TermsAnswer::Equal) {
      r = {answer, describe(instance, v), {}, 0};
      return;
    }
    r.shapes.push_back(v);
    r.limit = 0;
  }
}

}  // namespace

TermsAnswer compare_terms(const RuleInstance& instance, const Valuation& sizes) {
  TermStore store;
  Terms terms(store);
  terms.constant(0);
  int32_t elements = 0;
  auto input = [&](int k, const std::vector<int64_t>& shape) {
    Array<Term> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    for (int64_t e = 0; e < n; ++e) a.data.push_back(terms.element(k, e));
    elements += static_cast<int32_t>(n);
    return a;
  };
  try {
    if (int64_t n = total_elements(instance, sizes); n < 0 || n > kTermElements)
      return TermsAnswer::TooLarge;
    auto a = evaluate_graph(terms, instance.lhs, sizes, input, kTermElements);
    if (!a) return TermsAnswer::TooLarge;
    const Graph& left = instance.lhs;
    bool truths = std::ranges::any_of(left.inputs(),
                                      [&](Value v) { return left.type(v).dtype == DType::Bool; });
    int32_t of_inputs = truths ? 0 : elements;  // polynomials do not know that x x = x
    auto b = evaluate_graph(terms, instance.rhs, sizes, input, kTermElements);
    if (!b || a->size() != b->size()) return TermsAnswer::Different;
    std::optional<std::vector<std::vector<bool>>> known;
    auto defined = [&](size_t k, size_t e) {
      if (!known) known = defined_elements(instance, sizes);
      return k >= known->size() || (*known)[k][e];
    };
    return compare_outputs(terms, *a, *b, of_inputs, defined);
  } catch (const PolyOverflow&) {
    return TermsAnswer::TooLarge;
  }
}

BoundedReport compare_bounded(const RuleInstance& instance, uint64_t seed, int64_t elements) {
  try {
    for (int64_t limit = kLargestSize; limit >= 2; --limit) {
      auto sizes = all_sizes(instance, limit, elements);
      if (!sizes) continue;
      BoundedReport r = compare_all(instance, *sizes, elements);
      if (r.shapes.size() == sizes->size()) r.limit = limit;
      return r;
    }
    return compare_all(instance, sample_sizes(instance, seed, kSamples), elements);
  } catch (const PolyOverflow&) {
    return {};
  }
}

Verdict TermsProver::prove(const RuleInstance& instance) try {
  auto unknown = [](std::string why) { return Verdict{VerdictKind::Unknown, std::move(why)}; };
  BoundedReport r = compare_bounded(instance, seed_, elements_);
  Exercise left(instance);
  for (size_t k = 0; k < r.shapes.size() && !left.complete(); ++k) left.add(r.shapes[k]);
  if (r.answer == TermsAnswer::Equal) exercise(r, left, instance, seed_);
  if (r.answer == TermsAnswer::Equal && !left.complete()) left.leave_out_impossible();
  if (r.answer == TermsAnswer::TooLarge) return unknown("too few small shapes");
  if (r.answer != TermsAnswer::Equal) return unknown("polynomials differ at " + r.detail);
  if (!left.complete()) return unknown("no shape tried gives room to act to " + left.missing());
  return {VerdictKind::ProvedBounded, names_of(instance, r)};
} catch (const PolyOverflow&) {
  return {VerdictKind::Unknown, "integers too large"};
} catch (const OutOfBudget& e) {
  return {VerdictKind::Unknown, e.what};
}

}  // namespace regraft::verify
