#pragma once
// Finds the left sides of rules in an e-graph.
#include "rewrite/egraph/model_egraph.h"

namespace regraft::rewrite {

/// As DiscriminationTree does in a graph: a maker of constants also matches data, distinct calls of
/// the pattern are distinct nodes. Attributes are not compared here but in Fitter.
class PlaceFinder {
 public:
  /// Finds nothing more once it has tried so many nodes for pattern nodes.
  PlaceFinder(const ModelEGraph& g, uint64_t max_tried) : g_(g), max_tried_(max_tried) {}
  /// False: no more places are wanted. Must not change the e-graph.
  using Visit = std::function<bool(const Place&)>;
  /// REQUIRES: the e-graph is rebuilt. The place is valid during the visit.
  void find(const CompiledRule& rule, int32_t number, const Visit& visit);
  bool tired() const { return tried_ >= max_tried_; }

 private:
  const ModelEGraph& g_;
  uint64_t tried_ = 0, max_tried_;
};

}  // namespace regraft::rewrite
