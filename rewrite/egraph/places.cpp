#include "rewrite/egraph/places.h"

#include <algorithm>

#include "ir/egraph/ematch.h"

namespace regraft::rewrite {

namespace {

/// What the e-matcher asks of a left side.
class LeftSide {
 public:
  LeftSide(const ModelEGraph& g, const CompiledRule& rule, int32_t number, uint64_t tries,
           const PlaceFinder::Visit& visit)
      : g_(g),
        number_(number),
        tries_(tries),
        visit_(visit),
        pattern_(rule.rule.lhs),
        matcher_(g.classes(), pattern_, rule.rule.variables.size(), *this),
        nodes_(rule.rule.lhs.nodes.size(), -1),
        steps_(nodes_.size(), 0) {
    for (const EPattern::Step& s : pattern_.steps) {
      const uint64_t own = s.node ? ModelEGraph::trait_of(*s.node->op) : 0;
      traits_.push_back(s.operands.empty() ? own | ModelEGraph::kData : own);
    }
  }

  /// What is left of the tries.
  uint64_t run() {
    matcher_.run();
    return tries_;
  }

  const std::vector<EValue>& anything() const { return none_; }
  bool more() const { return tries_ > 0; }

  /// Values that are refused together count as tried.
  bool may_be(size_t step, EValue v) {
    if (g_.may_have(v, traits_[step])) return true;
    tries_ -= std::min<uint64_t>(tries_, g_.classes().members(v).size());
    return false;
  }

  /// Another output of a node that is placed must be that node's, any other node a new one.
  bool enter(size_t step, EValue v) {
    --tries_;
    const EPattern::Step& s = pattern_.steps[step];
    int32_t id = g_.classes().node_of(v);
    const LiveGraph::Slot& slot = g_.nodes().slot(id);
    bool made = slot.kind == NodeKind::Call && slot.inputs.empty();
    bool data = s.operands.empty() && slot.data >= 0 && !made;
    if (!data && !matcher_.is_call(step, v)) return false;
    int32_t& node = nodes_[static_cast<size_t>(s.ref.node)];
    bool taken = !s.operands.empty() && std::find(nodes_.begin(), nodes_.end(), id) != nodes_.end();
    bool fits = node >= 0 ? node == id : !taken;
    if (!fits) return false;
    ++steps_[static_cast<size_t>(s.ref.node)];
    node = id;
    return true;
  }
  void leave(size_t step) {
    auto k = static_cast<size_t>(pattern_.steps[step].ref.node);
    if (--steps_[k] == 0) nodes_[k] = -1;
  }

  bool found() {
    values_.clear();
    for (EValue v : matcher_.variables()) {
      if (v < 0) return true;  // a variable that no call reads
      values_.push_back(g_.value(g_.classes().find(v)));
    }
    return visit_({number_, nodes_, values_});
  }

 private:
  const ModelEGraph& g_;
  int32_t number_;
  uint64_t tries_;
  const PlaceFinder::Visit& visit_;
  EPattern pattern_;
  EMatcher<LeftSide> matcher_;
  std::vector<int32_t> nodes_;    // by pattern node; -1: not placed
  std::vector<int32_t> steps_;    // by pattern node: that have placed it
  std::vector<uint64_t> traits_;  // by step: of the classes where it may be
  std::vector<Value> values_;
  const std::vector<EValue> none_;
};

}  // namespace

void PlaceFinder::find(const CompiledRule& rule, int32_t number, const Visit& visit) {
  const auto& nodes = rule.rule.lhs.nodes;
  bool possible = std::all_of(nodes.begin(), nodes.end(), [&](const PatternNode& n) {
    return n.inputs.empty() || !g_.classes().calls_of(*n.op).empty();
  });
  if (possible) tried_ = max_tried_ - LeftSide(g_, rule, number, max_tried_ - tried_, visit).run();
}

}  // namespace regraft::rewrite
