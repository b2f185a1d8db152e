#include "certify/prefix.h"

#include <algorithm>

#include "base/check.h"
#include "cost/model/roofline.h"
#include "ir/graph/fold.h"
#include "rewrite/search/replay.h"

namespace regraft::certify {
namespace {

/// Constants that rules make have no form of their own. What the last step folds of them is folded
/// here where that step is not reached.
Result<Graph> without_operators_of_rules(Graph g) {
  const std::vector<char> constant = constant_nodes(g);
  ASSIGN_OR_RETURN(auto order, topological_order(g));
  std::erase_if(order, [&](int32_t id) {
    const Node& n = g.node(id);
    bool written = n.origin >= 0 || (n.op && n.op->has_onnx_form() && !n.inputs.empty());
    return n.kind != NodeKind::Call || written || !constant[static_cast<size_t>(id)];
  });
  if (order.empty()) return g;
  return fold_calls(g, order);
}

}  // namespace

size_t steps_in(const Derivation& done) {
  size_t count = done.steps.size() + (done.folded.empty() ? 0 : 1);
  for (const BodyDerivation& body : done.bodies) count += steps_in(body.done);
  return count;
}

Derivation first_steps(const Derivation& done, size_t count) {
  Derivation first;
  for (const BodyDerivation& body : done.bodies) {
    size_t steps = std::min(count, steps_in(body.done));
    // A body to which nothing was done yet stays as it is in the file.
    if (steps > 0) first.bodies.push_back({body.place, first_steps(body.done, steps)});
    count -= steps;
  }
  size_t rules = std::min(count, done.steps.size());
  first.steps.assign(done.steps.begin(), done.steps.begin() + static_cast<std::ptrdiff_t>(rules));
  if (count > rules) first.folded = done.folded;
  return first;
}

StepPlace step_at(const Derivation& done, size_t k) {
  for (const BodyDerivation& body : done.bodies) {
    size_t steps = steps_in(body.done);
    if (k < steps) {
      StepPlace place = step_at(body.done, k);
      place.bodies.insert(place.bodies.begin(), body.place);
      return place;
    }
    k -= steps;
  }
  if (k < done.steps.size()) return {{}, &done.steps[k], nullptr};
  CHECK(k == done.steps.size());
  return {{}, nullptr, &done.folded};
}

Result<Derived> derive(const io::Imported& model, const Derivation& done,
                       const rewrite::RuleIndex& index, Opset opset) {
  Opset of_bodies = io::summarise(model, model.graph).opset;
  std::vector<io::NewBody> bodies;
  for (const BodyDerivation& b : done.bodies) {
    bool again = std::ranges::any_of(bodies, [&](auto& other) { return other.place == b.place; });
    if (again) return error("a body is made twice");
    ASSIGN_OR_RETURN(auto body, io::body_model(model, b.place));
    ASSIGN_OR_RETURN(Derived made, derive(body, b.done, index, of_bodies));
    bodies.push_back({b.place, std::move(made.base), std::move(made.graph)});
  }
  Derived result{model, {}};
  if (!bodies.empty()) {
    ASSIGN_OR_RETURN(result.base, io::with_bodies(model, bodies));
  }
  result.base.microsoft = opset.microsoft;
  ASSIGN_OR_RETURN(Graph replayed, rewrite::replay(result.base.graph, index, done.steps,
                                                   cost::Roofline(), {opset}));
  ASSIGN_OR_RETURN(Graph folded, fold_calls(replayed, done.folded));
  ASSIGN_OR_RETURN(result.graph, without_operators_of_rules(std::move(folded)));
  return result;
}

}  // namespace regraft::certify
