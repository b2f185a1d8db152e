#include "rewrite/egraph/model_egraph.h"

#include <algorithm>

#include "base/hash.h"

namespace regraft::rewrite {

ModelEGraph::ModelEGraph(const Graph& g, Interner& interner) : nodes_(g, interner) {
  for (int32_t id = 0; id < nodes_.id_bound(); ++id) {
    const LiveGraph::Slot& s = nodes_.slot(id);
    bool call = nodes_.alive(id) && s.kind == NodeKind::Call;
    ESymbol none{nullptr, 0, 0, static_cast<int32_t>(s.types.size())};
    graph_.add_unconnected(call ? symbol(s.form, s.types[0], s.types.size()) : none);
    constant_.insert(constant_.end(), s.types.size(), s.constant);
    add_traits(id);
    alive_ += nodes_.alive(id);
  }
  for (int32_t id = 0; id < nodes_.id_bound(); ++id)
    if (nodes_.alive(id) && nodes_.slot(id).kind == NodeKind::Call)
      graph_.connect(id, numbers(nodes_.slot(id).inputs));
  for (int32_t id = 0; id < nodes_.id_bound(); ++id)
    if (nodes_.alive(id)) unite_equal_data(id);
  rebuild();
}

/// Calls of makers of constants differ in their types alone.
ESymbol ModelEGraph::symbol(FormId form, TypeId type, size_t outputs) const {
  uint64_t label = static_cast<uint64_t>(form) << 32 | static_cast<uint32_t>(type);
  return {nodes_.interner().form(form).op, label, 0, static_cast<int32_t>(outputs)};
}

std::vector<EValue> ModelEGraph::numbers(std::span<const Value> values) const {
  std::vector<EValue> r;
  for (Value v : values) r.push_back(number(v));
  return r;
}

std::vector<Value> ModelEGraph::members(Value name) const {
  std::vector<Value> r;
  for (EValue v : graph_.members(number(name))) r.push_back(value(v));
  return r;
}

int32_t ModelEGraph::find(FormId form, std::span<const Value> operands, TypeId type) const {
  return graph_.lookup(symbol(form, type, 1), numbers(operands)).value_or(-1);
}

int32_t ModelEGraph::add(const Fit::Call& call, std::span<const Value> operands) {
  const std::vector<TypeId>& types = call.facts->types;
  if (int32_t id = find(call.form, operands, types[0]); id >= 0) return id;
  bool all = std::all_of(operands.begin(), operands.end(), [&](Value v) { return constant(v); });
  nodes_.add_call(call.form, operands, types, call.facts->cost, all);
  nodes_.commit();
  constant_.insert(constant_.end(), types.size(), all);
  add_traits(nodes_.id_bound() - 1);
  ++alive_;
  int32_t id = graph_.add(symbol(call.form, types[0], types.size()), numbers(operands));
  unite_equal_data(id);
  return id;
}

/// What is known to have the same data is one class: else there is no end to numbers that are made
/// of numbers.
void ModelEGraph::unite_equal_data(int32_t id) {
  int32_t data = nodes_.slot(id).data;
  if (data < 0) return;
  auto [it, fresh] = by_data_.emplace(data, id);
  if (!fresh) unite(Value{id, 0}, Value{it->second, 0});
}

bool ModelEGraph::unite(EValue a, EValue b) {
  bool all = constant(a) || constant(b);
  auto traits = [&](EValue v) { return traits_[static_cast<size_t>(graph_.find(v))]; };
  const uint64_t both = traits(a) | traits(b);
  if (!graph_.unite(a, b)) return false;
  traits_[static_cast<size_t>(graph_.find(a))] = both;
  constant_[static_cast<size_t>(graph_.find(a))] = all;
  if (all) united_.push_back(a);
  return true;
}

uint64_t ModelEGraph::trait_of(const OpDef& op) {
  constexpr uint64_t kTraits = 63;
  return kData << (1 + hash_text(op.name) % kTraits);
}

void ModelEGraph::add_traits(int32_t id) {
  const LiveGraph::Slot& s = nodes_.slot(id);
  const bool call = s.op != nullptr;
  const uint64_t traits = (call ? trait_of(*s.op) : 0) | (s.data >= 0 ? kData : 0);
  traits_.insert(traits_.end(), s.types.size(), traits);
}

void ModelEGraph::rebuild() {
  graph_.rebuild([&](ENodeId newer, ENodeId older) {
    for (int32_t k = 0; k < graph_.symbol(newer).outputs; ++k)
      unite(graph_.value(newer, k), graph_.value(older, k));
  });
  for (EValue v : std::exchange(united_, {})) find_constants(v);
}

/// What follows a class that is constant may be so, too.
void ModelEGraph::find_constants(EValue v) {
  std::vector<EValue> stack{v};
  while (!stack.empty()) {
    EValue at = stack.back();
    stack.pop_back();
    for (ENodeId user : graph_.users(at)) {
      auto operands = graph_.operands(user);
      if (nodes_.slot(user).constant || graph_.is_duplicate(user)) continue;
      if (!std::all_of(operands.begin(), operands.end(), [&](EValue w) { return constant(w); }))
        continue;
      nodes_.set_constant(user);
      for (int32_t k = 0; k < graph_.symbol(user).outputs; ++k) {
        EValue own = graph_.find(graph_.value(user, k));
        if (!std::exchange(constant_[static_cast<size_t>(own)], 1)) stack.push_back(own);
      }
    }
  }
  nodes_.commit();
}

}  // namespace regraft::rewrite
