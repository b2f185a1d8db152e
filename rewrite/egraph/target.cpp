#include "rewrite/egraph/target.h"

#include <algorithm>
#include <map>
#include <set>

#include "rewrite/egraph/extract.h"

namespace regraft::rewrite {

namespace {

constexpr uint64_t kSteps = 2000;  ///< of branch and bound: what it finds, it finds early

/// The part of an e-graph that its outputs need, as a choice.
class Question {
 public:
  explicit Question(const ModelEGraph& g) : g_(g) {
    for (Value v : g.nodes().outputs()) choices.roots.push_back(class_of(v));
    for (size_t k = 0; k < names_.size(); ++k) add_class(k);
    for (size_t n = 0; n < nodes.size(); ++n) add_outputs(n);
  }

  Choices choices;
  std::vector<int32_t> nodes;  ///< by node of the choice: that of the e-graph; -1: a constant

  /// The original graph: the first of its nodes in each class.
  std::vector<int32_t> original() const {
    const LiveGraph& g = g_.nodes();
    auto comes_first = [&](int32_t a, int32_t b) {
      if (b < 0) return true;
      int32_t x = nodes[static_cast<size_t>(a)], y = nodes[static_cast<size_t>(b)];
      return g.slot(x).position < g.slot(y).position;
    };
    std::vector<int32_t> chosen;
    for (const auto& candidates : choices.classes) {
      int32_t first = -1;
      for (int32_t n : candidates) {
        int32_t id = nodes[static_cast<size_t>(n)];
        bool given = id < 0 || g.slot(id).origin;
        if (given && comes_first(n, first)) first = n;
      }
      chosen.push_back(first);
    }
    return chosen;
  }

 private:
  int32_t class_of(Value v) {
    Value name = g_.name(v);
    auto [it, fresh] = numbers_.emplace(name, static_cast<int32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return it->second;
  }

  /// What depends on constants only costs nothing, however it is computed.
  void add_class(size_t k) {
    auto& ways = choices.classes.emplace_back();
    if (g_.constant(names_[k])) {
      ways.push_back(static_cast<int32_t>(nodes.size()));
      nodes.push_back(-1);
      choices.nodes.push_back({0, {}, {static_cast<int32_t>(k)}});
      return;
    }
    for (Value v : g_.members(names_[k])) ways.push_back(node_of(v.node));
    std::sort(ways.begin(), ways.end());
    ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
  }

  int32_t node_of(int32_t id) {
    auto [it, fresh] = by_id_.emplace(id, static_cast<int32_t>(nodes.size()));
    if (!fresh) return it->second;
    nodes.push_back(id);
    const LiveGraph::Slot& s = g_.nodes().slot(id);
    Choices::Node node;
    if (s.kind == NodeKind::Call || s.kind == NodeKind::Opaque) node.cost = s.cost;
    for (Value v : s.inputs) node.operands.push_back(class_of(v));
    choices.nodes.push_back(std::move(node));
    return it->second;
  }

  void add_outputs(size_t n) {
    if (nodes[n] < 0) return;
    auto& outputs = choices.nodes[n].outputs;
    auto count = static_cast<int32_t>(g_.nodes().slot(nodes[n]).types.size());
    for (int32_t k = 0; k < count; ++k) {
      auto it = numbers_.find(g_.name({nodes[n], k}));
      if (it != numbers_.end() && !g_.constant(it->first)) outputs.push_back(it->second);
    }
    std::sort(outputs.begin(), outputs.end());
    outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  }

  const ModelEGraph& g_;
  std::map<Value, int32_t> numbers_;
  std::vector<Value> names_;
  std::map<int32_t, int32_t> by_id_;
};

}  // namespace

Target::Target(const Growth& growth)
    : growth_(growth),
      graph_(growth.graph()),
      has_(static_cast<size_t>(graph_.nodes().id_bound())),
      present_(has_.size()),
      visited_(present_.size()),
      happened_(growth.events().size()) {
  choose();
  find_concerned();
}

void Target::choose() {
  Question question(graph_);
  Extraction best = extract(question.choices, question.original(), kSteps);
  cost_ = best.cost;
  optimal_ = best.optimal;
  for (int32_t n : best.chosen)
    if (n >= 0 && question.nodes[static_cast<size_t>(n)] >= 0)
      nodes_.push_back(question.nodes[static_cast<size_t>(n)]);
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  for (int32_t id : nodes_) has_[static_cast<size_t>(id)] = 1;
}

/// All events at values that are equal to one that the target, or an event that makes a part of it,
/// has to do with.
void Target::find_concerned() {
  const LiveGraph& g = graph_.nodes();
  std::set<Value> near;
  std::set<int32_t> seen;
  std::vector<int32_t> stack = nodes_;
  while (!stack.empty()) {
    int32_t id = graph_.node(stack.back());
    stack.pop_back();
    if (!seen.insert(id).second) continue;
    for (Value v : g.slot(id).inputs) near.insert(graph_.name(v));
    for (int32_t k = 0; k < static_cast<int32_t>(g.slot(id).types.size()); ++k)
      near.insert(graph_.name({id, k}));
    if (int32_t event = growth_.maker(id); event >= 0) {
      const auto& nodes = growth_.events()[static_cast<size_t>(event)].nodes;
      stack.insert(stack.end(), nodes.begin(), nodes.end());
    }
  }
  for (const Event& e : growth_.events()) {
    const auto& outputs = e.fit->rule->rule.lhs.outputs;
    concerns_.push_back(std::any_of(outputs.begin(), outputs.end(), [&](PatternRef out) {
      return near.count(graph_.name({e.nodes[static_cast<size_t>(out.node)], out.output})) > 0;
    }));
  }
}

Target::Distance Target::distance(const std::vector<int32_t>& present) {
  ++round_;
  Distance d;
  for (int32_t id : present) {
    bool again = present_[static_cast<size_t>(id)] == round_;
    present_[static_cast<size_t>(id)] = round_;
    const LiveGraph::Slot& s = graph_.nodes().slot(id);
    d.superfluous += s.kind == NodeKind::Call && !s.constant && (again || !has(id));
  }
  std::vector<int32_t> stack = nodes_;
  while (!stack.empty()) {
    auto id = static_cast<size_t>(graph_.node(stack.back()));
    stack.pop_back();
    if (present_[id] == round_ || visited_[id] == round_) continue;
    visited_[id] = round_;
    int32_t event = growth_.maker(static_cast<int32_t>(id));
    if (event < 0) {
      d.missing += kLost;
      continue;
    }
    if (happened_[static_cast<size_t>(event)] == round_) continue;
    happened_[static_cast<size_t>(event)] = round_;
    ++d.missing;
    const auto& nodes = growth_.events()[static_cast<size_t>(event)].nodes;
    stack.insert(stack.end(), nodes.begin(), nodes.end());
  }
  return d;
}

}  // namespace regraft::rewrite
