#include "verify/bounded.h"

#include "ir/eval.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxElements = 600;  // of both graphs together
constexpr size_t kCandidates = 24;

}  // namespace

TermsAnswer compare_terms(const RuleInstance& instance, const Valuation& sizes) {
  TermStore store;
  Terms terms(store);
  terms.constant(0);
  auto input = [&](int k, const std::vector<int64_t>& shape) {
    Array<Term> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    for (int64_t e = 0; e < n; ++e) a.data.push_back(terms.element(k, e));
    return a;
  };
  try {
    if (int64_t n = total_elements(instance, sizes); n < 0 || n > kMaxElements)
      return TermsAnswer::TooLarge;
    auto a = evaluate_graph(terms, instance.lhs, sizes, input, kMaxElements);
    auto b = evaluate_graph(terms, instance.rhs, sizes, input, kMaxElements);
    if (!a) return TermsAnswer::TooLarge;
    if (!b || a->size() != b->size()) return TermsAnswer::Different;
    for (size_t k = 0; k < a->size(); ++k)
      if ((*a)[k].shape != (*b)[k].shape || (*a)[k].data != (*b)[k].data)
        return TermsAnswer::Different;
  } catch (const PolyOverflow&) {
    return TermsAnswer::TooLarge;
  }
  return TermsAnswer::Equal;
}

Verdict TermsProver::prove(const RuleInstance& instance) {
  std::string shapes;
  size_t proved = 0;
  for (const Valuation& sizes : sample_sizes(instance, seed_, kCandidates)) {
    TermsAnswer answer = compare_terms(instance, sizes);
    if (answer == TermsAnswer::Different)
      return {VerdictKind::Unknown, "polynomials differ at " + describe(instance, sizes)};
    if (answer == TermsAnswer::TooLarge) continue;
    shapes += (shapes.empty() ? "" : "; ") + describe(instance, sizes);
    if (++proved == shapes_) break;
  }
  if (proved < shapes_) return {VerdictKind::Unknown, "too few small shapes"};
  return {VerdictKind::ProvedBounded, shapes};
}

}  // namespace regraft::verify
