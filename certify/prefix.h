#pragma once
// The first steps of a certificate.
#include "certify/certificate.h"
#include "io/model.h"
#include "rewrite/match/rule_index.h"

namespace regraft::certify {

/// How many steps a derivation has. Those of bodies come first, inner bodies before the one that
/// they are in; then those of the graph. A last step of each folds all that is folded there.
size_t steps_in(const Derivation& done);
/// The same with no more than the first so many steps.
Derivation first_steps(const Derivation& done, size_t count);

/// Step number k.
struct StepPlace {
  std::vector<io::BodyPlace> bodies;           ///< the one it is in, from outside; empty: none
  const rewrite::AppliedRule* rule = nullptr;  ///< nullptr: it folds
  const std::vector<int32_t>* folded = nullptr;
};
/// REQUIRES: k < steps_in(done), which outlives the place.
StepPlace step_at(const Derivation& done, size_t k);

/// A graph that was made from the base's, which has the new bodies.
struct Derived {
  io::Imported base;
  Graph graph;
};
/// Does again what was done to a model: to its bodies, then to itself. An Error: a step cannot be
/// done.
Result<Derived> derive(const io::Imported& model, const Derivation& done,
                       const rewrite::RuleIndex& index, Opset opset);

}  // namespace regraft::certify
