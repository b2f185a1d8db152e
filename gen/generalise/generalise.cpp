#include "gen/generalise/generalise.h"

#include <algorithm>

#include "gen/generalise/hypothesis_rule.h"
#include "gen/generalise/hypothesis_search.h"
#include "gen/generalise/reals.h"
#include "gen/generalise/term_template.h"

namespace regraft::gen {
namespace {

std::optional<Generalised> expressed(const Bank& bank, const HypothesisTester& tester, TermId lhs,
                                     TermId rhs, const Hypothesis& h, uint64_t seed, Where where) {
  TemplatePair pair;
  pair.lhs = lhs;
  pair.rhs = rhs;
  Expressed e = express(bank, tester, pair, h);
  Rule rule = to_rule(bank, e.pair);
  if (check(rule, e.signature, mix(seed), kManyShapes, where) != Evidence::Holds)
    return std::nullopt;
  if (where == Where::LeftSideIs) rule = open_reals(std::move(rule), e.signature, seed);
  return Generalised{std::move(e.pair), std::move(rule), std::move(e.signature), e.closed};
}

/// Every sample of `special` is one of `general`.
bool includes(HypothesisTester& tester, const Hypothesis& general, const Hypothesis& special) {
  Space wide = tester.space(general);
  std::vector<Sample> samples = tester.samples(tester.space(special), {}, kShapes);
  return std::all_of(samples.begin(), samples.end(),
                     [&](const Sample& s) { return wide.contains(s.point); });
}

bool is_composed(const HypothesisTester& tester, const Hypothesis& h) {
  return std::any_of(h.right.begin(), h.right.end(),
                     [&](const Poly& p) { return tester.is_composed(p); });
}

/// One or two hypotheses; none when the equality is a coincidence. Where the first has sums or
/// products of attributes, the second has none, if that costs only numbers at their fallbacks: then
/// lists may be of any length, and proofs are easier.
std::vector<Hypothesis> hypotheses(const Bank& bank, HypothesisTester& tester) {
  HypothesisSearch search(bank, tester, Numbers::Composed);
  auto first = search.run(Order::NumbersFirst);
  if (!first) return {};
  std::optional<Hypothesis> second;
  if (is_composed(tester, *first)) {
    HypothesisSearch plain(bank, tester, Numbers::Plain);
    second = plain.run(Order::NumbersFirst);
    if (second && !plain.closes_only_neutral(*first)) second.reset();
  } else if (!search.is_settled()) {
    second = search.run(Order::SizesFirst);
    if (second && includes(tester, *first, *second)) second.reset();
    if (second && includes(tester, *second, *first)) first = std::exchange(second, std::nullopt);
  }
  std::vector<Hypothesis> r = {*std::move(first)};
  if (second) r.push_back(*std::move(second));
  return r;
}

/// The right side asks for more of the sizes than the left side does, as a slice does that ends
/// within one of several operands.
bool asks_for_more(const Bank& bank, TermId lhs, TermId rhs) {
  TemplatePair ground;
  ground.lhs = lhs;
  ground.rhs = rhs;
  auto instance = instantiate(to_rule(bank, ground), leaf_signature(bank, lhs));
  return instance && std::ranges::any_of(instance->requires_rhs, [&](const Formula& f) {
           return f.kind == Formula::NonNegative && !f.poly.is_constant() &&
                  !plainly_implies(instance->requires_lhs, f);
         });
}

/// nullopt when a form that was found did not survive the last check. As the last resort, a form
/// with fewer variables will do.
enum class Resort : uint8_t { First, Last };
std::optional<std::vector<Generalised>> most_general(const Bank& bank, TermId lhs, TermId rhs,
                                                     uint64_t seed, Resort resort,
                                                     Where where = Where::LeftSideIs) {
  std::vector<Generalised> r;
  auto tester = HypothesisTester::make(bank, lhs, rhs, seed);
  if (!tester) return r;
  if (where == Where::RightSideIs) tester->leave_out_ill_formed();
  for (const Hypothesis& h : hypotheses(bank, *tester)) {
    auto g = expressed(bank, *tester, lhs, rhs, h, seed, where);
    if (!g && resort == Resort::Last)
      g = expressed(bank, *tester, lhs, rhs, tester->closed(h, Axes::Long), seed, where);
    if (!g) return std::nullopt;
    r.push_back(*std::move(g));
  }
  return r;
}

}  // namespace

std::vector<Generalised> generalise(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed) {
  try {
    auto r = most_general(bank, lhs, rhs, seed, Resort::First);
    if (!r) r = most_general(bank, lhs, rhs, mix(seed), Resort::Last);
    if (r && r->empty() && asks_for_more(bank, lhs, rhs))
      r = most_general(bank, lhs, rhs, seed, Resort::First, Where::RightSideIs);
    return r.value_or(std::vector<Generalised>{});
  } catch (const PolyOverflow&) {
    return {};
  }
}

}  // namespace regraft::gen
