#include "gen/generalise/check.h"

#include <algorithm>

#include "gen/generalise/sample.h"
#include "gen/generalise/side.h"
#include "ir/graph/eval.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

constexpr int kAlignedAttempts = 300;  // assignments tried for each trial
constexpr int kApartAttempts = 60;
constexpr int kRedraws = 4;                    // of the inputs, for values that are defined
constexpr int64_t kMaxElements = 1'000;        // of a tensor of the left side
constexpr int64_t kMaxRightElements = 16'000;  // makes no difference to well-formedness

/// Draws assignments that satisfy the left side.
class Sampler {
 public:
  explicit Sampler(const RuleInstance& instance)
      : symbols_(symbols_of(instance)), space_(symbols_, instance.requires_lhs) {}
  std::optional<Valuation> draw(Rng& rng, Extents extents) {
    int attempts = extents == Extents::Aligned ? kAlignedAttempts : kApartAttempts;
    auto p = space_.draw(rng, extents, attempts);
    if (!p) return std::nullopt;
    last_ = *std::move(p);
    return valuation(last_);
  }
  /// The assignments next to the last one: one extent larger by 1, or two changed that leave a sum
  /// or a product as it is, where the left side allows it.
  std::vector<Valuation> neighbours() const {
    std::vector<Valuation> r;
    for (int k : space_.free()) {
      auto at = static_cast<size_t>(k);
      if (symbols_[at].axis < 0) continue;
      if (auto p = space_.with(last_, k, last_[at] + 1)) r.push_back(valuation(*p));
    }
    auto add = [&](size_t k, int64_t x, size_t m, int64_t y) {
      Point p = last_;
      p[k] = x;
      p[m] = y;
      if (y >= symbols_[m].symbol->min && space_.contains(p)) r.push_back(valuation(p));
    };
    for (size_t k = 0; k < symbols_.size(); ++k)
      for (size_t m = 0; m < symbols_.size(); ++m) {
        if (symbols_[k].axis < 0 || symbols_[m].axis < 0 || m == k) continue;
        if (m < k && last_[k] != last_[m]) add(k, last_[m], m, last_[k]);
        if (symbols_[k].axis == symbols_[m].axis) add(k, last_[k] + 1, m, last_[m] - 1);
      }
    return r;
  }
  /// Every free symbol had two values.
  bool covered(const std::vector<Valuation>& drawn) const {
    return std::all_of(space_.free().begin(), space_.free().end(), [&](int k) {
      Var v = symbols_[static_cast<size_t>(k)].symbol;
      return std::any_of(drawn.begin(), drawn.end(),
                         [&](const Valuation& x) { return x.at(v) != drawn[0].at(v); });
    });
  }

 private:
  Valuation valuation(const Point& p) const {
    Valuation values;
    for (size_t k = 0; k < p.size(); ++k) values[symbols_[k].symbol] = p[k];
    return values;
  }
  std::vector<SpaceSymbol> symbols_;
  Space space_;
  Point last_;
};

/// An operator of the left side needs input k positive.
bool is_positive(const Graph& lhs, size_t k) {
  for (int32_t id = 0; id < lhs.id_bound(); ++id) {
    const Node& n = lhs.node(id);
    for (size_t i = 0; n.kind == NodeKind::Call && i < n.inputs.size(); ++i)
      if (n.inputs[i] == lhs.inputs()[k] && needs_positive(*n.op, i)) return true;
  }
  return false;
}

/// What the elements of each input are.
std::vector<Role> roles_of(const Graph& lhs) {
  std::vector<Role> r;
  for (size_t k = 0; k < lhs.inputs().size(); ++k)
    r.push_back(lhs.type(lhs.inputs()[k]).dtype == DType::Bool ? Role::Truths
                : is_positive(lhs, k)                          ? Role::Positive
                                                               : Role::Data);
  return r;
}

/// At a few points, until one at which both sides have values.
Evidence compare(const RuleInstance& instance, const std::vector<Role>& roles,
                 const Valuation& values, Rng& rng) {
  for (int point = 0; point < kRedraws; ++point) {
    uint64_t seed = rng.next();
    auto input = [&](int k, const std::vector<int64_t>& shape) {
      Rng of_input(combine(seed, static_cast<uint64_t>(k)));
      Role role = roles[static_cast<size_t>(k)];
      return role == Role::Truths     ? random_truths(of_input, shape)
             : role == Role::Positive ? random_positive(of_input, shape)
                                      : random_array(of_input, shape);
    };
    Field field(seed);
    auto a = evaluate_graph<Field>(field, instance.lhs, values, input, kMaxElements);
    if (!a) return Evidence::Unusable;
    std::ranges::for_each(*a, leave_out_infinite);
    auto b = evaluate_graph<Field>(field, instance.rhs, values, input, kMaxRightElements);
    Agreement found = b ? agreement(*a, *b) : Agreement::Different;
    if (b && found == Agreement::Different && field.guessed) found = agreement_of_doubles(*a, *b);
    if (found != Agreement::Undefined)
      return found == Agreement::Equal ? Evidence::Holds : Evidence::Fails;
  }
  return Evidence::Unusable;
}

}  // namespace

namespace {

bool right_is_well_formed(const RuleInstance& instance, const Valuation& values) {
  return std::ranges::all_of(instance.requires_rhs,
                             [&](const Formula& f) { return evaluate(f, values); });
}

/// The right side is well-formed and has the left side's shapes.
bool shapes_agree(const RuleInstance& instance, const Valuation& values) {
  if (!right_is_well_formed(instance, values)) return false;
  for (size_t k = 0; k < instance.lhs.outputs().size(); ++k) {
    const Shape& a = instance.lhs.shape(instance.lhs.outputs()[k]);
    const Shape& b = instance.rhs.shape(instance.rhs.outputs()[k]);
    for (size_t d = 0; d < a.size(); ++d)
      if (evaluate(a[d], values) != evaluate(b[d], values)) return false;
  }
  return true;
}

/// Trials on extents that are drawn apart, where that finds any, and aligned in turn.
Evidence run_trials(const RuleInstance& instance, Rng& rng, int trials, Where where) {
  Sampler sampler(instance);
  const std::vector<Role> roles = roles_of(instance.lhs);
  std::vector<Valuation> held;
  bool apart = true;
  auto left_out = [&](const Valuation& values) {
    return where == Where::RightSideIs && !right_is_well_formed(instance, values);
  };
  const int rounds = (where == Where::RightSideIs ? 16 : 4) * trials;
  for (int round = 0; round < rounds; ++round) {
    std::optional<Valuation> values;
    if (apart && round % 2 == 0) {
      values = sampler.draw(rng, Extents::Apart);
      apart = values.has_value();
    }
    if (!values) values = sampler.draw(rng, Extents::Aligned);
    if (!values || !draw_reals(instance, *values, rng)) return Evidence::Unusable;
    if (round % 2 == 1)
      for (const Valuation& near : sampler.neighbours())
        if (!left_out(near) && !shapes_agree(instance, near)) return Evidence::Fails;
    if (left_out(*values)) continue;
    Evidence e = compare(instance, roles, *values, rng);
    if (e == Evidence::Fails) return e;
    if (e == Evidence::Holds) held.push_back(*std::move(values));
    if (static_cast<int>(held.size()) >= trials && (trials == 1 || sampler.covered(held)))
      return Evidence::Holds;
  }
  return Evidence::Unusable;
}

/// A call of the right side wants truth values where a variable stands that is a number on the
/// left: no model has that call.
bool takes_numbers_for_truths(const RuleInstance& instance) {
  const Graph& rhs = instance.rhs;
  for (int32_t id = 0; id < rhs.id_bound(); ++id) {
    const Node& n = rhs.node(id);
    if (n.kind != NodeKind::Call) continue;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      if (n.op->wants_truth(k) && rhs.node(n.inputs[k].node).kind == NodeKind::Input &&
          rhs.type(n.inputs[k]).dtype != DType::Bool)
        return true;
    }
  }
  return false;
}

}  // namespace

Evidence check(const Rule& rule, const Signature& signature, uint64_t seed, int trials,
               Where where) {
  auto instance = instantiate(rule, signature);
  if (!instance) return Evidence::Unusable;
  if (takes_numbers_for_truths(*instance)) return Evidence::Fails;
  try {
    Rng rng(seed);
    return run_trials(*instance, rng, trials, where);
  } catch (const PolyOverflow&) {
    return Evidence::Unusable;
  }
}

}  // namespace regraft::gen
