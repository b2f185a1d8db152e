#include "rewrite/egraph/egraph.h"

#include <algorithm>

namespace regraft::rewrite {

EGraph::EGraph(const Graph& g, Interner& interner) : nodes_(g, interner) {
  std::vector<int32_t> calls;
  for (int32_t id = 0; id < nodes_.id_bound(); ++id) {
    add_classes(id);
    if (!nodes_.alive(id)) continue;
    ++size_;
    if (nodes_.slot(id).kind == NodeKind::Call) calls.push_back(id);
  }
  for (int32_t id : calls) index(id);
  for (int32_t id : calls)
    if (int32_t other = twin(id); counts(id) && other >= 0) merge_nodes(id, other);
  rebuild();
}

void EGraph::add_classes(int32_t id) {
  first_.push_back(static_cast<int32_t>(classes_.size()));
  twins_.push_back(id);
  const LiveGraph::Slot& s = nodes_.slot(id);
  for (int32_t k = 0; k < static_cast<int32_t>(s.types.size()); ++k)
    classes_.push_back({{id, k}, {{id, k}}, s.constant});
}

Value EGraph::name(Value v) const {
  for (Value parent = classes_[number(v)].parent; parent != v; parent = classes_[number(v)].parent)
    v = parent;
  return v;
}

int32_t EGraph::node(int32_t id) const {
  while (twins_[static_cast<size_t>(id)] != id) id = twins_[static_cast<size_t>(id)];
  return id;
}

int32_t EGraph::find(FormId form, std::vector<Value> operands, TypeId type) const {
  for (Value& v : operands) v = name(v);
  auto it = by_content_.find(nodes_.content_hash(form, operands));
  if (it == by_content_.end()) return -1;
  for (int32_t id : it->second) {
    const LiveGraph::Slot& s = nodes_.slot(id);
    if (s.form == form && s.types[0] == type && same_operands(*s.op, s.inputs, operands)) return id;
  }
  return -1;
}

int32_t EGraph::add(const Fit::Call& call, std::vector<Value> operands) {
  for (Value& v : operands) v = name(v);
  if (int32_t id = find(call.form, operands, call.facts->types[0]); id >= 0) return id;
  bool constant = std::all_of(operands.begin(), operands.end(),
                              [&](Value v) { return classes_[number(v)].constant; });
  int32_t id = nodes_.add_call(call.form, operands, call.facts->types, call.facts->cost, constant);
  nodes_.commit();
  add_classes(id);
  index(id);
  ++size_;
  return id;
}

void EGraph::index(int32_t id) { by_content_[nodes_.slot(id).content].push_back(id); }

void EGraph::unindex(int32_t id) { std::erase(by_content_[nodes_.slot(id).content], id); }

/// Another node that counts and is the same call, or -1.
int32_t EGraph::twin(int32_t id) const {
  const LiveGraph::Slot& s = nodes_.slot(id);
  for (int32_t other : by_content_.at(s.content)) {
    const LiveGraph::Slot& o = nodes_.slot(other);
    if (other != id && o.form == s.form && o.types[0] == s.types[0] &&
        same_operands(*s.op, s.inputs, o.inputs))
      return other;
  }
  return -1;
}

bool EGraph::unite(Value a, Value b) {
  a = name(a);
  b = name(b);
  if (a == b) return false;
  if (b < a) std::swap(a, b);
  Class &to = classes_[number(a)], &from = classes_[number(b)];
  from.parent = a;
  to.members.insert(to.members.end(), from.members.begin(), from.members.end());
  from.members.clear();
  to.constant = to.constant || from.constant;
  renamed_.push_back(b);
  return true;
}

/// The older one stays.
void EGraph::merge_nodes(int32_t a, int32_t b) {
  int32_t stays = std::min(a, b), goes = std::max(a, b);
  unindex(goes);
  twins_[static_cast<size_t>(goes)] = stays;
  --size_;
  for (int32_t k = 0; k < static_cast<int32_t>(nodes_.slot(goes).types.size()); ++k) {
    std::erase(classes_[number(name({goes, k}))].members, Value{goes, k});
    unite({stays, k}, {goes, k});
  }
}

void EGraph::rename_operand(int32_t user, Value from) {
  bool call = nodes_.slot(user).kind == NodeKind::Call;
  if (call) unindex(user);
  for (size_t k = 0; k < nodes_.slot(user).inputs.size(); ++k)
    if (nodes_.slot(user).inputs[k] == from)
      nodes_.redirect(user, static_cast<int32_t>(k), name(from));
  if (!call) return;
  index(user);
  if (int32_t other = twin(user); other >= 0) merge_nodes(user, other);
}

void EGraph::rebuild() {
  while (!renamed_.empty()) {
    Value from = renamed_.back();
    renamed_.pop_back();
    std::vector<int32_t> users;
    nodes_.for_uses(from.node, [&](int32_t user, int32_t operand) {
      if (nodes_.slot(user).inputs[static_cast<size_t>(operand)] == from) users.push_back(user);
    });
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (int32_t user : users)
      if (counts(user)) rename_operand(user, from);
    find_constants(name(from));
  }
  nodes_.commit();
}

/// What follows a class that is constant may be so, too.
void EGraph::find_constants(Value name_of_class) {
  std::vector<Value> stack{name_of_class};
  while (!stack.empty()) {
    Value v = stack.back();
    stack.pop_back();
    if (!constant(v)) continue;
    std::vector<int32_t> found;
    nodes_.for_uses(v.node, [&](int32_t user, int32_t) {
      const LiveGraph::Slot& s = nodes_.slot(user);
      if (s.kind == NodeKind::Call && !s.constant && counts(user) &&
          std::all_of(s.inputs.begin(), s.inputs.end(), [&](Value w) { return constant(name(w)); }))
        found.push_back(user);
    });
    for (int32_t id : found) {
      if (nodes_.slot(id).constant) continue;
      nodes_.set_constant(id);
      for (int32_t k = 0; k < static_cast<int32_t>(nodes_.slot(id).types.size()); ++k) {
        Class& c = classes_[number(name({id, k}))];
        if (!c.constant) stack.push_back(name({id, k}));
        c.constant = true;
      }
    }
  }
}

}  // namespace regraft::rewrite
