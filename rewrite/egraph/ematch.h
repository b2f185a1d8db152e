#pragma once
// Finds the left sides of rules in an e-graph.
#include "rewrite/egraph/egraph.h"

namespace regraft::rewrite {

/// As DiscriminationTree does in a graph: commuted operands are tried both ways, a maker of
/// constants also matches data, distinct calls of the pattern are distinct nodes. Attributes are
/// not compared here but in Fitter. An operand of the pattern may be any value of the operand's
/// class, and a rule with several outputs is found where all of them are.
class EMatcher {
 public:
  /// Finds nothing more once it has tried so many nodes for pattern nodes.
  EMatcher(const EGraph& g, uint64_t max_tried) : g_(g), max_tried_(max_tried) {}
  /// False: no more places are wanted. Must not change the e-graph.
  using Visit = std::function<bool(const Place&)>;
  /// REQUIRES: the e-graph is rebuilt. The place is valid during the visit.
  void match(const CompiledRule& rule, int32_t number, const Visit& visit);
  bool tired() const { return tried_ >= max_tried_; }

 private:
  struct Goal {
    PatternRef pattern;
    Value name;
  };
  bool next(size_t k);
  bool enter(size_t pattern_node, int32_t id, size_t k);
  bool operands(const PatternNode& pattern, std::span<const Value> names, size_t k);
  bool fits(const PatternNode& pattern, int32_t id) const;
  bool next_output();
  std::vector<int32_t> candidates(const PatternNode& pattern) const;
  bool found();

  const EGraph& g_;
  const Pattern* lhs_ = nullptr;
  int32_t number_ = 0;
  uint64_t tried_ = 0, max_tried_;
  const Visit* visit_ = nullptr;
  std::vector<int32_t> nodes_;  // by pattern node; -1: not placed
  std::vector<Value> variables_;
  std::vector<Goal> goals_;
};

}  // namespace regraft::rewrite
