#include "rewrite/match/live_graph.h"

#include <algorithm>
#include <bit>
#include <map>
#include <queue>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::rewrite {

namespace {

uint64_t hash_of(Value v) {
  return mix((static_cast<uint64_t>(static_cast<uint32_t>(v.node)) << 32) |
             static_cast<uint32_t>(v.output));
}

bool runs(const LiveGraph::Slot& s) {
  return (s.kind == NodeKind::Call || s.kind == NodeKind::Opaque) && !s.constant;
}

bool commutes(const LiveGraph::Slot& s) {
  return s.op && s.op->commutative && s.inputs.size() >= 2;
}

}  // namespace

bool same_operands(const OpDef& op, std::span<const Value> a, std::span<const Value> b) {
  if (a.size() != b.size()) return false;
  if (std::equal(a.begin(), a.end(), b.begin())) return true;
  return op.commutative && a.size() >= 2 && a[0] == b[1] && a[1] == b[0] &&
         std::equal(a.begin() + 2, a.end(), b.begin() + 2);
}

LiveGraph::LiveGraph(const Graph& g, Interner& interner)
    : interner_(&interner), inputs_(g.inputs()), outputs_(g.outputs()) {
  bucket_count_ = std::bit_ceil(2 * static_cast<uint64_t>(g.id_bound()) + 64);
  for (uint64_t k = 0; k < bucket_count_; ++k) lists_.add();
  for (const OpDef* op : all_ops()) by_op_[op] = lists_.add();
  owners_.resize(static_cast<size_t>(lists_.size()));
  slots_.resize(static_cast<size_t>(g.id_bound()));
  bound_ = g.id_bound();
  auto order = topological_order(g);
  CHECK(order.has_value());
  for (int32_t id : *order) load(g, id);
  for (size_t k = 0; k < order->size(); ++k) at((*order)[k]).position = static_cast<double>(k + 1);
  for (Value v : outputs_) ++at(v.node).uses;
}

void LiveGraph::load(const Graph& g, int32_t id) {
  Slot& s = at(id);
  s.origin = g.node_ptr(id);
  s.kind = s.origin->kind;
  s.inputs = s.origin->inputs;
  for (const TensorType& t : s.origin->types) s.types.push_back(interner_->type(t));
  if (s.kind == NodeKind::Call) {
    int rank = s.inputs.empty() ? 0 : interner_->rank(type(s.inputs[0]));
    s.form = interner_->form(*s.origin->op, s.origin->attrs, rank);
    s.op = s.origin->op;
  }
  if (s.kind == NodeKind::Constant) s.data = interner_->data(s.origin->constant);
  bool sized = s.kind == NodeKind::Call && !s.inputs.empty() && !numeric(s.origin->attrs);
  s.constant =
      s.kind != NodeKind::Input && s.kind != NodeKind::Opaque && !sized &&
      std::all_of(s.inputs.begin(), s.inputs.end(), [&](Value v) { return slot(v.node).constant; });
  if (s.kind == NodeKind::Call) s.data = data_of(s);
  if (s.kind == NodeKind::Call || s.kind == NodeKind::Opaque)
    s.cost = interner_->model().cost(*s.origin, cost::operand_types(g, *s.origin)).microseconds;
  s.alive = true;
  add_links(id);
  count(id, 1);
  mark_dirty(id);
}

/// Of a call; -1: it is not known.
int32_t LiveGraph::data_of(const Slot& s) const {
  if (!s.constant || s.types.size() != 1) return -1;
  std::vector<int32_t> operands;
  for (Value v : s.inputs) {
    const Slot& from = slot(v.node);
    if (from.data < 0 || from.types.size() != 1) return -1;
    operands.push_back(from.data);
  }
  return interner_->computed(s.form, operands, s.types[0]);
}

int32_t LiveGraph::new_slot() {
  if (bound_ == static_cast<int32_t>(slots_.size())) slots_.emplace_back();
  return bound_++;
}

void LiveGraph::add_links(int32_t id) {
  Slot& s = at(id);
  s.links = lists_.size();
  int32_t n = Operands + static_cast<int32_t>(s.inputs.size());
  for (int32_t k = 0; k < n; ++k) {
    lists_.add();
    owners_.push_back({id, k - Operands});
  }
  if (s.kind == NodeKind::Call) {
    s.content = content_hash(s.form, s.inputs);
    lists_.append(bucket(s.content), s.links + Content);
    lists_.append(by_op_.at(s.op), s.links + Operator);
  }
  for (size_t k = 0; k < s.inputs.size(); ++k) {
    Slot& operand = at(s.inputs[k].node);
    ++operand.uses;
    lists_.append(operand.links, s.links + Operands + static_cast<int32_t>(k));
  }
}

void LiveGraph::count(int32_t id, int sign) {
  const Slot& s = slot(id);
  if (!runs(s)) return;
  cost_ += sign * s.cost;
  calls_ += sign;
}

void LiveGraph::unlink(int32_t id) {
  Slot& s = at(id);
  for (size_t k = s.inputs.size(); k-- > 0;) {
    --at(s.inputs[k].node).uses;
    lists_.remove(s.links + Operands + static_cast<int32_t>(k));
  }
  if (s.kind != NodeKind::Call) return;
  lists_.remove(s.links + Operator);
  lists_.remove(s.links + Content);
}

void LiveGraph::relink(int32_t id) {
  Slot& s = at(id);
  if (s.kind == NodeKind::Call) {
    lists_.restore(s.links + Content);
    lists_.restore(s.links + Operator);
  }
  for (size_t k = 0; k < s.inputs.size(); ++k) {
    lists_.restore(s.links + Operands + static_cast<int32_t>(k));
    ++at(s.inputs[k].node).uses;
  }
}

int32_t LiveGraph::uses_of(Value v) const {
  int32_t n = 0;
  for_uses(v.node, [&](int32_t user, int32_t operand) {
    n += slot(user).inputs[static_cast<size_t>(operand)] == v;
  });
  for (Value out : outputs_) n += out == v;
  return n;
}

uint64_t LiveGraph::operand_hash(FormId maker, int32_t output) const {
  return combine(interner_->form(maker).hash, static_cast<uint64_t>(output));
}

uint64_t LiveGraph::operand_hash(Value v) const {
  const Slot& s = slot(v.node);
  bool maker = s.kind == NodeKind::Call && s.inputs.empty();
  return maker ? operand_hash(s.form, v.output) : hash_of(v);
}

uint64_t LiveGraph::content_hash(FormId form, std::span<const uint64_t> operands) const {
  const Form& f = interner_->form(form);
  uint64_t h = f.hash;
  size_t k = 0;
  if (f.op->commutative && operands.size() >= 2) {
    h = combine(h, operands[0] + operands[1]);
    k = 2;
  }
  for (; k < operands.size(); ++k) h = combine(h, operands[k]);
  return h;
}

uint64_t LiveGraph::content_hash(FormId form, std::span<const Value> inputs) const {
  operands_.clear();
  for (Value v : inputs) operands_.push_back(operand_hash(v));
  return content_hash(form, operands_);
}

int32_t LiveGraph::find_call(uint64_t content, FormId form, std::span<const Value> inputs,
                             TypeId type) const {
  int32_t found = -1, head = bucket(content);
  for (int32_t l = lists_.next(head); l != head; l = lists_.next(l)) {
    int32_t id = owners_[static_cast<size_t>(l)].node;
    const Slot& s = slot(id);
    if (s.content != content || s.form != form || s.types[0] != type) continue;
    if (same_operands(*s.op, s.inputs, inputs) && (found < 0 || id < found)) found = id;
  }
  return found;
}

int32_t LiveGraph::add_call(FormId form, std::span<const Value> inputs,
                            const std::vector<TypeId>& types, double cost, bool constant) {
  int32_t id = new_slot();
  Slot& s = at(id);
  s.origin = nullptr;
  s.kind = NodeKind::Call;
  s.alive = true;
  s.constant = constant;
  s.form = form;
  s.op = interner_->form(form).op;
  s.inputs.assign(inputs.begin(), inputs.end());
  s.types = types;
  s.data = data_of(s);
  s.uses = 0;
  s.cost = cost;
  s.position = 0;
  add_links(id);
  count(id, 1);
  mark_dirty(id);
  log_.push_back(entry(Did::Add, id));
  return id;
}

void LiveGraph::redirect(int32_t user, int32_t operand, Value to) {
  Slot& s = at(user);
  int32_t link = s.links + Operands + operand;
  Value& input = s.inputs[static_cast<size_t>(operand)];
  log_.push_back({Did::Redirect, user, operand, lists_.previous(link), input});
  lists_.remove(link);
  --at(input.node).uses;
  input = to;
  ++at(to.node).uses;
  lists_.append(slot(to.node).links, link);
  mark_dirty(user);
  if (s.kind != NodeKind::Call) return;
  log_.push_back({Did::Rekey, user, 0, lists_.previous(s.links + Content), {}, s.content});
  lists_.remove(s.links + Content);
  s.content = content_hash(s.form, s.inputs);
  lists_.append(bucket(s.content), s.links + Content);
}

void LiveGraph::redirect_output(size_t k, Value to) {
  log_.push_back({Did::Output, static_cast<int32_t>(k), 0, 0, outputs_[k]});
  --at(outputs_[k].node).uses;
  outputs_[k] = to;
  ++at(to.node).uses;
}

void LiveGraph::set_constant(int32_t id) {
  log_.push_back(entry(Did::Constant, id));
  count(id, -1);
  at(id).constant = true;
}

void LiveGraph::remove(int32_t id) {
  log_.push_back(entry(Did::Remove, id));
  count(id, -1);
  unlink(id);
  Slot& s = at(id);
  s.alive = false;
  forget_view(id);
}

void LiveGraph::move_name(Value from, Value to) { names_.push_back({to, from}); }

void LiveGraph::set_position(int32_t id, double position) {
  Entry e = entry(Did::Position, id);
  e.real = slot(id).position;
  log_.push_back(e);
  at(id).position = position;
}

void LiveGraph::lift(std::span<const int32_t> ids) {
  constexpr double kGap = 1e-6;  // that of the start is 1
  using Positioned = std::pair<double, int32_t>;
  std::priority_queue<Positioned, std::vector<Positioned>, std::greater<>> waiting;
  for (int32_t id : ids) waiting.push({slot(id).position, id});
  while (!waiting.empty()) {
    int32_t id = waiting.top().second;
    waiting.pop();
    double below = 0;
    for (Value v : slot(id).inputs) below = std::max(below, slot(v.node).position);
    if (slot(id).position > below) continue;
    set_position(id, below + kGap);
    for_uses(id, [&](int32_t user, int32_t) { waiting.push({slot(user).position, user}); });
  }
}

LiveGraph::Mark LiveGraph::mark() const {
  return {log_.size(), bound_, lists_.size(), calls_, cost_, names_.size()};
}

void LiveGraph::undo(const Mark& m) {
  while (log_.size() > m.log) {
    Entry e = log_.back();
    log_.pop_back();
    take_back(e);
  }
  CHECK(bound_ == m.bound);
  lists_.truncate(m.links);
  owners_.resize(static_cast<size_t>(m.links));
  calls_ = m.calls;
  cost_ = m.cost;
  names_.resize(m.names);
}

void LiveGraph::take_back_redirection(const Entry& e) {
  Slot& s = at(e.node);
  int32_t link = s.links + Operands + e.operand;
  Value& input = s.inputs[static_cast<size_t>(e.operand)];
  lists_.remove(link);
  --at(input.node).uses;
  input = e.value;
  ++at(input.node).uses;
  lists_.insert_after(e.link, link);
  mark_dirty(e.node);
}

void LiveGraph::take_back(const Entry& e) {
  Slot& s = at(e.node);
  switch (e.did) {
    case Did::Add:
      unlink(e.node);
      s.alive = false;
      forget_view(e.node);
      --bound_;
      break;
    case Did::Redirect:
      take_back_redirection(e);
      break;
    case Did::Rekey:
      lists_.remove(s.links + Content);
      s.content = e.number;
      lists_.insert_after(e.link, s.links + Content);
      break;
    case Did::Output: {
      Value& out = outputs_[static_cast<size_t>(e.node)];
      --at(out.node).uses;
      out = e.value;
      ++at(out.node).uses;
      break;
    }
    case Did::Constant:
      s.constant = false;
      break;
    case Did::Remove:
      relink(e.node);
      s.alive = true;
      mark_dirty(e.node);
      break;
    case Did::Position:
      s.position = e.real;
      break;
  }
}

void LiveGraph::mark_dirty(int32_t id) {
  if (at(id).dirty) return;
  at(id).dirty = true;
  dirty_.push_back(id);
}

void LiveGraph::forget_view(int32_t id) {
  if (static_cast<size_t>(id) >= views_.size()) return;
  if (view(id, kViewDepth) != 0) view_sum_ -= term(view(id, kViewDepth));
  views_[static_cast<size_t>(id)] = {};
}

/// A node by itself.
uint64_t LiveGraph::view_alone(int32_t id) const {
  const Slot& s = slot(id);
  uint64_t h = mix(static_cast<uint64_t>(s.kind) + 1);
  if (s.kind == NodeKind::Input) {
    auto place = std::find(inputs_.begin(), inputs_.end(), Value{id, 0});
    return combine(combine(h, static_cast<uint64_t>(place - inputs_.begin())),
                   static_cast<uint64_t>(interner_->type(s.types[0]).dtype));
  }
  if (s.kind == NodeKind::Constant) return combine(h, interner_->data_hash(s.data));
  if (s.kind == NodeKind::Call)
    h = combine(combine(h, interner_->form(s.form).hash),
                static_cast<uint64_t>(interner_->type(s.types[0]).dtype));
  if (s.kind == NodeKind::Opaque) {
    h = combine(h, short_hash(s.origin->content));
    if (!s.origin->pure) h = combine(h, static_cast<uint64_t>(id));  // ids stay in a search
  }
  return combine(h, s.inputs.size());
}

/// A node with `depth` calls before it, from its operands with one less.
uint64_t LiveGraph::view_of(int32_t id, int depth) const {
  const Slot& s = slot(id);
  uint64_t h = views_[static_cast<size_t>(id)][0];
  auto operand = [&](size_t k) {
    const Views& views = views_[static_cast<size_t>(s.inputs[k].node)];
    return combine(views[static_cast<size_t>(depth - 1)],
                   static_cast<uint64_t>(s.inputs[k].output));
  };
  size_t k = 0;
  if (commutes(s)) {
    uint64_t x = operand(0), y = operand(1);
    h = combine(combine(h, std::min(x, y)), std::max(x, y));
    k = 2;
  }
  for (; k < s.inputs.size(); ++k) h = combine(h, operand(k));
  return std::max<uint64_t>(h, 1);
}

/// These and the users of the given ones, each once.
std::vector<int32_t> LiveGraph::with_users(std::vector<int32_t> ids) {
  seen_.resize(slots_.size(), 0);
  ++round_;
  std::vector<int32_t> all = dirty_;
  for (int32_t id : all) seen_[static_cast<size_t>(id)] = round_;
  for (int32_t id : ids)
    for_uses(id, [&](int32_t user, int32_t) {
      int32_t& seen = seen_[static_cast<size_t>(user)];
      if (seen == round_) return;
      seen = round_;
      all.push_back(user);
    });
  return all;
}

/// Depth by depth: what changed at one depth changes what reads it at the next.
void LiveGraph::refresh_views() {
  views_.resize(slots_.size(), Views{});
  for (int32_t id : dirty_) at(id).dirty = false;
  std::erase_if(dirty_, [&](int32_t id) { return id >= bound_ || !alive(id); });
  for (int32_t id : dirty_)
    if (view(id, 0) == 0) view(id, 0) = view_alone(id);
  std::vector<int32_t> changed = dirty_;
  for (int depth = 1; depth <= kViewDepth; ++depth) {
    std::vector<int32_t> stale = with_users(std::move(changed));
    changed.clear();
    for (int32_t id : stale) {
      uint64_t fresh = view_of(id, depth);
      uint64_t& known = view(id, depth);
      if (fresh == known) continue;
      if (depth == kViewDepth) view_sum_ += term(fresh) - (known != 0 ? term(known) : 0);
      known = fresh;
      changed.push_back(id);
    }
  }
  dirty_.clear();
}

Identity LiveGraph::identity() {
  if (!dirty_.empty()) refresh_views();
  Identity id{mix(inputs_.size()), view_sum_};
  for (Value v : outputs_)
    id.outputs =
        combine(combine(id.outputs, view(v.node, kViewDepth)), static_cast<uint64_t>(v.output));
  return id;
}

Node LiveGraph::node(int32_t id) const {
  const Slot& s = slot(id);
  Node n;
  if (s.origin) {
    n = *s.origin;
  } else {
    n.op = s.op;
    n.attrs = interner_->form(s.form).attrs;
    for (TypeId t : s.types) n.types.push_back(interner_->type(t));
  }
  n.inputs = s.inputs;
  return n;
}

Graph LiveGraph::to_graph() const {
  std::map<Value, std::string> names;
  auto name_of = [&](Value v) -> std::string {
    if (auto it = names.find(v); it != names.end()) return it->second;
    const auto& origin = slot(v.node).origin;
    auto k = static_cast<size_t>(v.output);
    return origin && k < origin->names.size() ? origin->names[k] : "";
  };
  for (const Name& n : names_)
    if (std::string name = name_of(n.from); !name.empty()) names.emplace(n.value, name);
  Graph g(interner_->shared_pool());
  for (int32_t id = 0; id < bound_; ++id) {
    Node n = alive(id) ? node(id) : Node();
    for (int32_t k = 0; alive(id) && !slot(id).origin && k < static_cast<int32_t>(n.types.size());
         ++k) {
      auto it = names.find({id, k});
      if (it == names.end()) continue;
      n.names.resize(static_cast<size_t>(k) + 1);
      n.names.back() = it->second;
    }
    g.add_node(std::move(n));
  }
  for (int32_t id = 0; id < bound_; ++id)
    if (!alive(id)) g.remove_node(id);
  g.set_outputs(outputs_);
  return g;
}

}  // namespace regraft::rewrite
