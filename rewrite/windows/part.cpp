#include "rewrite/windows/part.h"

#include <algorithm>

namespace regraft::rewrite {

namespace {

/// A call on constants whose sizes are numbers.
bool is_computed(const LiveGraph& g, Value v) {
  const LiveGraph::Slot& s = g.slot(v.node);
  const TensorType& t = g.interner().type(g.type(v));
  return s.constant && s.kind == NodeKind::Call && t.shape && numeric(*t.shape);
}

std::shared_ptr<const Constant> unread(const TensorType& t) {
  auto read = [](const Constant::Visit&) { return Status(error("not there")); };
  return std::make_shared<const Constant>(t.dtype, *numeric(*t.shape), read);
}

}  // namespace

Part::Part(const LiveGraph& whole, std::span<const int32_t> calls, Computed computed)
    : graph_(whole.interner().shared_pool()), calls_(calls.begin(), calls.end()) {
  std::sort(calls_.begin(), calls_.end());
  number(whole, computed);
  build(whole);
}

/// Lists the calls, the constants behind them and the values that come from elsewhere.
void Part::number(const LiveGraph& whole, Computed computed) {
  std::vector<char> listed(static_cast<size_t>(whole.id_bound()), 0);  // a value of the node is
  for (int32_t id : calls_) {
    whole_.push_back({id, kNode});
    listed[static_cast<size_t>(id)] = 1;
  }
  for (size_t k = 0; k < whole_.size(); ++k) {  // grows
    if (whole_[k].output != kNode) continue;
    for (Value v : whole.slot(whole_[k].node).inputs) {
      bool constant = whole.slot(v.node).constant;
      bool node = constant && (computed == Computed::Calls || !is_computed(whole, v));
      Value entry = node ? Value{v.node, kNode} : v;
      char& known = listed[static_cast<size_t>(v.node)];
      bool several = !node && whole.slot(v.node).types.size() > 1;
      bool call = std::binary_search(calls_.begin(), calls_.end(), v.node);
      if (known && (call || !several || std::ranges::find(whole_, entry) != whole_.end())) continue;
      known = 1;
      whole_.push_back(entry);
      if (!constant) sources_.push_back(v.node);
    }
  }
  std::sort(whole_.begin(), whole_.end());
}

Value Part::local(Value v) const {
  auto place = std::lower_bound(whole_.begin(), whole_.end(), Value{v.node, kNode});
  bool node = *place == Value{v.node, kNode};
  if (!node) place = std::lower_bound(place, whole_.end(), v);
  return {static_cast<int32_t>(place - whole_.begin()), node ? v.output : 0};
}

void Part::build(const LiveGraph& whole) {
  std::vector<Value> outputs;
  for (Value entry : whole_) {
    if (entry.output != kNode) {
      const TensorType& type = whole.interner().type(whole.type(entry));
      if (whole.slot(entry.node).constant)
        graph_.add_constant(unread(type));
      else
        graph_.add_input(type);
      continue;
    }
    Node n = whole.node(entry.node);
    for (Value& v : n.inputs) v = local(v);
    graph_.add_node(std::move(n));
    if (whole.slot(entry.node).constant) continue;
    for (int32_t k = 0; k < static_cast<int32_t>(whole.slot(entry.node).types.size()); ++k) {
      Value v{entry.node, k};
      int32_t inside = 0;
      whole.for_uses(entry.node, [&](int32_t user, int32_t operand) {
        inside += whole.slot(user).inputs[static_cast<size_t>(operand)] == v &&
                  std::binary_search(calls_.begin(), calls_.end(), user);
      });
      if (whole.uses_of(v) > inside) outputs.push_back(local(v));
    }
  }
  graph_.set_outputs(std::move(outputs));
}

Move Part::in_whole(const Move& m) const {
  Move moved = m;
  auto entry = [&](int32_t id) { return whole_[static_cast<size_t>(id)]; };
  for (int32_t& id : moved.nodes) id = entry(id).node;
  for (Value& v : moved.variables)
    v = entry(v.node).output == kNode ? Value{entry(v.node).node, v.output} : entry(v.node);
  return moved;
}

}  // namespace regraft::rewrite
