#include "gen/enumerate/apply.h"

#include <algorithm>

#include "gen/enumerate/modular.h"

namespace regraft::gen {
namespace {

uint64_t subset_key(TokenSpan s, unsigned subset) {
  uint64_t h = 1;
  for (size_t k = 0; k < s.size(); ++k)
    if (subset >> k & 1) h = combine(h, s[k]);
  return h;
}

}  // namespace

void Store::add(size_t elements) {
  begin.push_back(v.size());
  v.resize(v.size() + elements);
  r.resize(r.size() + elements);
  if (channels == Channels::Exponents) w.resize(w.size() + elements);
}
View Store::view(ClassId c, size_t elements) const {
  View x{{v.data() + begin[c], elements}, {}, {r.data() + begin[c], elements}};
  if (channels == Channels::Exponents) x.w = {w.data() + begin[c], elements};
  return x;
}

ClassIndex::ClassIndex(const ValueGraph& graph, int limit) : limit_(limit) {
  by_level_.resize(static_cast<size_t>(limit) + 1);
  for (ClassId c = 0; c < graph.size(); ++c) {
    if (graph.level(c) > limit) break;
    by_level_[static_cast<size_t>(graph.level(c))][graph.shape(c)].push_back(c);
    for (TokenSpan s : graph.supports(c)) {
      if (s.size() < 2 || static_cast<int>(s.size()) >= limit) continue;
      for (unsigned subset = 1; subset + 1 < 1u << s.size(); ++subset)
        by_subset_[subset_key(s, subset)].emplace_back(c, static_cast<uint32_t>(s.size()));
    }
  }
}

std::vector<ClassId> ClassIndex::sharing(const ValueGraph& graph, ClassId c) const {
  std::vector<ClassId> r;
  for (TokenSpan s : graph.supports(c)) {
    for (Token t : s) {
      if (t < kCallToken)
        r.push_back(t);
      else
        for (ClassId d : graph.classes_of(t)) r.push_back(d);
    }
    if (s.size() < 2 || static_cast<int>(s.size()) >= limit_) continue;
    for (unsigned subset = 1; subset + 1 < 1u << s.size(); ++subset) {
      auto it = by_subset_.find(subset_key(s, subset));
      if (it == by_subset_.end()) continue;
      int shared = __builtin_popcount(subset);
      for (auto [d, size] : it->second)
        if (static_cast<int>(s.size() + size) - shared <= limit_) r.push_back(d);
    }
  }
  std::sort(r.begin(), r.end());
  r.erase(std::unique(r.begin(), r.end()), r.end());
  std::erase(r, c);
  return r;
}

Worker::Worker(const ValueGraph& graph, const Store& store, const ClassIndex& index, int level,
               uint64_t seed, Sink& out)
    : graph_(graph),
      store_(store),
      index_(index),
      level_(level),
      limit_(level - 1),
      algebra_(mix(seed)),
      out_(out) {
  for (const Instance& in : graph.plans().grammar().instances)
    max_arity_ = std::max(max_arity_, in.operands.size());
  auto more = static_cast<int>(std::max<size_t>(max_arity_, 2)) - 1;
  allowed_gaps_ = (graph.max_size() - level) * more;
  find_places();
}

void Worker::find_places() {
  const Grammar& grammar = graph_.plans().grammar();
  std::map<std::string_view, Place> kinds;
  ClassId next = 0;
  for (const LeafKind& kind : grammar.leaves) {
    auto count = static_cast<ClassId>(kind.count);
    kinds[kind.name] = {next, next + count};
    next += count;
  }
  while (next < graph_.size() && graph_.level(next) == 0) ++next;
  kinds[""] = {0, next};
  for (auto c = static_cast<ClassId>(graph_.leaf_count()); c < next; ++c) {
    auto made_by = static_cast<size_t>(graph_.first(c).instance());
    if (!grammar.instances[made_by].name.empty())
      kinds[grammar.instances[made_by].name] = {c, c + 1};
  }
  for (const Instance& in : grammar.instances) {
    places_.emplace_back();
    bool any = std::none_of(in.operands.begin(), in.operands.end(), kind_of);
    for (size_t k = 0; !any && k < in.operands.size(); ++k) {
      auto kind = kind_of(in.operands[k]);
      CHECK(!kind || kinds.count(*kind) > 0);
      places_.back().push_back(kind ? kinds.at(*kind) : Place{});
    }
  }
}

const ShapeInfo& Worker::info(ShapeId shape) {
  if (shape >= infos_.size()) infos_.resize(shape + 1, nullptr);
  if (!infos_[shape]) infos_[shape] = &graph_.plans().info(shape);
  return *infos_[shape];
}

const Worker::PlanList& Worker::plans(std::initializer_list<ShapeId> shapes) {
  uint64_t key = shapes.size();
  for (ShapeId s : shapes) key = key << 24 | s;
  auto [it, fresh] = plan_cache_.try_emplace(key, nullptr);
  if (fresh) it->second = &graph_.plans().complete({shapes.begin(), shapes.size()});
  return *it->second;
}

View Worker::view(ClassId c, Values& buffer) {
  size_t elements = static_cast<size_t>(count_of(info(graph_.shape(c)).dims)) *
                    static_cast<size_t>(graph_.plans().trials());
  if (store_.keeps(c)) return store_.view(c, elements);
  if (c == owner_) return owner_buffer_.view();
  CHECK(value(graph_.first(c), buffer));
  return buffer.view();
}

bool Worker::admissible(uint64_t leaves) const {
  return allowed_gaps_ == 0 ? graph_.without_gaps(leaves) : graph_.gaps(leaves) <= allowed_gaps_;
}

bool Worker::usable(const ShapedOp& plan) const {
  Scope scope = graph_.plans().grammar().instances[static_cast<size_t>(plan.instance)].scope;
  return scope == Scope::Values || scope == Scope::Once || (scope == Scope::Leaves && level_ == 1);
}

bool Worker::in_scope(const ShapedOp& plan, const Operands& operands) const {
  auto instance = static_cast<size_t>(plan.instance);
  for (size_t k = 0; k < operands.count; ++k)
    if (!may_be(instance, k, operands.ids[k])) return false;
  if (graph_.plans().grammar().instances[instance].scope != Scope::Once) return true;
  const OpDef* op = graph_.plans().label(instance).op;
  return std::none_of(operands.begin(), operands.end(), [&](ClassId c) {
    if (graph_.is_leaf(c)) return false;
    auto first = static_cast<size_t>(graph_.first(c).instance());
    return graph_.plans().label(first).op == op;
  });
}

bool Worker::is_mirrored(const ShapedOp& plan, ClassId a, ClassId b) {
  auto instance = static_cast<size_t>(plan.instance);
  if (a < b || !graph_.plans().label(instance).op->commutative) return false;
  if (!may_be(instance, 0, b) || !may_be(instance, 1, a)) return false;
  const Dims* mirrored[] = {&info(graph_.shape(b)).dims, &info(graph_.shape(a)).dims};
  return fits(graph_.plans().grammar().instances[instance], mirrored);
}

bool Worker::evaluate(const ShapedOp& plan, size_t output, std::span<const View> operands,
                      Values& out) {
  ++out_.evaluations;
  int trials = graph_.plans().trials();
  const Kernel& kernel = *plan.kernels[output];
  if (plan.then.empty())
    return kernel.evaluate(operands, trials, store_.channels, algebra_, scratch_, out);
  if (!kernel.evaluate(operands, trials, store_.channels, algebra_, scratch_, inner_)) return false;
  View x = inner_.view();
  return plan.then[output]->evaluate({&x, 1}, trials, store_.channels, algebra_, scratch_, out);
}

bool Worker::value(Application a, Values& out) {
  Operands operands = graph_.operands(a);
  std::vector<View> views;
  std::vector<ShapeId> shapes;
  for (ClassId c : operands) {
    views.push_back(view(c, buffers_[views.size()]));
    shapes.push_back(graph_.shape(c));
  }
  for (const ShapedOp* p : graph_.plans().complete(shapes))
    if (p->instance == a.instance())
      return evaluate(*p, static_cast<size_t>(a.output()), views, out);
  return false;
}

void Worker::apply(const ShapedOp& plan, const Operands& operands) {
  std::array<View, kMaxArity> views;
  for (size_t k = 0; k < operands.count; ++k) views[k] = view(operands.ids[k], buffers_[k]);
  for (size_t o = 0; o < plan.kernels.size(); ++o) {
    if (!evaluate(plan, o, {views.data(), operands.count}, result_)) continue;
    const ShapeInfo& shape = info(plan.outputs[o]);
    uint64_t key = shape.key(dot_p(shape.weights, result_.v));
    ClassId a = operands.count > 0 ? operands.ids[0] : kNoClass;
    ClassId b = operands.count > 1 ? operands.ids[1] : kNoClass;
    if (operands.count <= 2) {
      out_.put(key, Application::of(plan.instance, static_cast<int>(o), a, b));
      continue;
    }
    FoundWide wide{key, plan.instance, static_cast<int>(o), a, {}};
    wide.rest.fill(kNoClass);
    std::copy(operands.begin() + 1, operands.end(), wide.rest.begin());
    out_.wide.push_back(wide);
  }
}

void Worker::nullary() {
  for (const ShapedOp* p : plans({}))
    if (usable(*p)) apply(*p, {});
}

void Worker::from(ClassId c) {
  int level = graph_.level(c);
  owner_ = kNoClass;
  if (level == limit_) {
    if (!store_.keeps(c)) {
      CHECK(value(graph_.first(c), owner_buffer_));
      owner_ = c;
    }
    lone(c);
  }
  if (level >= 1 && 2 * level <= limit_) disjoint(c, limit_ - level);
  if (level >= 1) sharing(c);
  if (level == limit_ && graph_.plans().grammar().twice) twice(c);
  if (max_arity_ > 2) wide(c);
}

void Worker::add_moves(std::vector<Move>& list, const PlanList& plans, size_t slot,
                       ClassId partner) {
  for (const ShapedOp* p : plans) {
    if (!usable(*p)) continue;
    for (size_t o = 0; o < p->kernels.size(); ++o) {
      Move m{p, o, slot, partner, partner == kNoClass ? 0 : graph_.leaves(partner), {}};
      if (p->linear[o][slot]) {
        std::vector<View> views(2);
        if (partner != kNoClass) views[1 - slot] = view(partner, buffers_[0]);
        m.functional = p->kernels[o]->functional(slot, views, graph_.plans().trials(),
                                                 info(p->outputs[o]).weights);
      }
      list.push_back(std::move(m));
    }
  }
}

const std::vector<Worker::Move>& Worker::moves(ShapeId shape) {
  if (shape >= moves_.size()) moves_.resize(shape + 1);
  if (moves_[shape]) return *moves_[shape];
  auto list = std::make_unique<std::vector<Move>>();
  add_moves(*list, plans({shape}), 0, kNoClass);
  for (const auto& [other, classes] : index_.of_level(0)) {
    const PlanList &before = plans({other, shape}), &after = plans({shape, other});
    for (ClassId c : classes) {
      add_moves(*list, before, 1, c);
      add_moves(*list, after, 0, c);
    }
  }
  moves_[shape] = std::move(list);
  return *moves_[shape];
}

void Worker::lone(ClassId c) {
  View x = view(c, owner_buffer_);
  uint64_t leaves = graph_.leaves(c);
  for (const Move& m : moves(graph_.shape(c))) {
    if (!admissible(leaves | m.leaves) || m.partner == c) continue;
    bool first = m.slot == 0;
    ClassId a = first ? c : m.partner, b = first ? m.partner : c;
    if (m.partner != kNoClass && is_mirrored(*m.plan, a, b)) continue;
    Operands operands;
    operands.push_back(a);
    if (m.partner != kNoClass) operands.push_back(b);
    if (!in_scope(*m.plan, operands)) continue;
    if (m.functional.empty()) {
      if (m.output == 0) apply(*m.plan, operands);
      continue;
    }
    ++out_.evaluations;
    uint64_t sum = dot_p({m.functional.data(), x.v.size()}, x.v) + m.functional.back();
    if (sum >= Residue::kPrime) sum -= Residue::kPrime;
    out_.put(info(m.plan->outputs[m.output]).key(sum),
             Application::of(m.plan->instance, static_cast<int>(m.output), a, b));
  }
}

void Worker::disjoint(ClassId fixed, int level) {
  for (const auto& [shape, others] : index_.of_level(level)) disjoint_shape(fixed, shape, others);
}

void Worker::disjoint_shape(ClassId fixed, ShapeId shape, const std::vector<ClassId>& others) {
  const PlanList &before = plans({graph_.shape(fixed), shape}),
                 &after = plans({shape, graph_.shape(fixed)});
  if (before.empty() && after.empty()) return;
  std::vector<ClassId> fitting;
  for (auto it = std::upper_bound(others.begin(), others.end(), fixed); it != others.end(); ++it)
    if (admissible(graph_.leaves(fixed) | graph_.leaves(*it)) &&
        smallest_union(graph_.supports(fixed), graph_.supports(*it)) == limit_)
      fitting.push_back(*it);
  if (fitting.empty()) return;
  for (const ShapedOp* p : before) apply_fixed(*p, fixed, 0, fitting);
  for (const ShapedOp* p : after) apply_fixed(*p, fixed, 1, fitting);
}

void Worker::apply_fixed(const ShapedOp& plan, ClassId fixed, size_t slot,
                         const std::vector<ClassId>& others) {
  if (!usable(plan)) return;
  if (slot == 1 && is_mirrored(plan, others[0], fixed)) return;
  auto ordered = [&](ClassId other) {
    Operands o;
    o.push_back(slot == 0 ? fixed : other);
    o.push_back(slot == 0 ? other : fixed);
    return o;
  };
  for (size_t o = 0; o < plan.kernels.size(); ++o) {
    if (!plan.linear[o][1 - slot]) {
      if (o == 0)
        for (ClassId other : others)
          if (in_scope(plan, ordered(other))) apply(plan, ordered(other));
      continue;
    }
    std::vector<View> views(2);
    views[slot] = view(fixed, buffers_[0]);
    const ShapeInfo& shape = info(plan.outputs[o]);
    auto f = plan.kernels[o]->functional(1 - slot, views, graph_.plans().trials(), shape.weights);
    for (ClassId other : others) {
      if (!in_scope(plan, ordered(other))) continue;
      View x = view(other, buffers_[1]);
      ++out_.evaluations;
      uint64_t sum = dot_p({f.data(), x.v.size()}, x.v) + f.back();
      if (sum >= Residue::kPrime) sum -= Residue::kPrime;
      Operands ids = ordered(other);
      out_.put(shape.key(sum),
               Application::of(plan.instance, static_cast<int>(o), ids.ids[0], ids.ids[1]));
    }
  }
}

void Worker::sharing(ClassId c) {
  for (ClassId d : index_.sharing(graph_, c))
    if (admissible(graph_.leaves(c) | graph_.leaves(d)) &&
        smallest_union(graph_.supports(c), graph_.supports(d)) == limit_)
      pair(c, d);
}

void Worker::twice(ClassId c) {
  if (!admissible(graph_.leaves(c))) return;
  Operands operands;
  operands.push_back(c);
  operands.push_back(c);
  for (const ShapedOp* p : plans({graph_.shape(c), graph_.shape(c)}))
    if (usable(*p) && in_scope(*p, operands)) apply(*p, operands);
}

void Worker::pair(ClassId a, ClassId b) {
  for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}})
    for (const ShapedOp* p : plans({graph_.shape(x), graph_.shape(y)})) {
      if (!usable(*p) || is_mirrored(*p, x, y)) continue;
      Operands operands;
      operands.push_back(x);
      operands.push_back(y);
      if (in_scope(*p, operands)) apply(*p, operands);
    }
}

void Worker::wide(ClassId c) {
  ShapeId shape = graph_.shape(c);
  Operands operands;
  operands.push_back(c);
  const auto& instances = graph_.plans().grammar().instances;
  for (int k : graph_.plans().partial({&shape, 1})) {
    const Instance& in = instances[static_cast<size_t>(k)];
    if (in.operands.size() > 2 && (in.scope != Scope::Leaves || level_ == 1)) extend(k, operands);
  }
}

void Worker::extend(int instance, const Operands& operands) {
  std::vector<SupportList> lists;
  for (ClassId c : operands) lists.push_back(graph_.supports(c));
  int used = lists.size() == 1 ? graph_.level(operands.ids[0]) : smallest_union(lists);
  const Instance& in = graph_.plans().grammar().instances[static_cast<size_t>(instance)];
  std::vector<const Dims*> dims;
  for (ClassId c : operands) dims.push_back(&info(graph_.shape(c)).dims);
  dims.push_back(nullptr);
  for (int level = 0; level <= limit_ - used; ++level)
    for (const auto& [shape, classes] : index_.of_level(level)) {
      dims.back() = &info(shape).dims;
      if (!fits(in, dims)) continue;
      for (ClassId c : classes) extend_by(instance, operands, c);
    }
  std::vector<ClassId> shared;
  for (ClassId o : operands)
    for (ClassId c : index_.sharing(graph_, o)) shared.push_back(c);
  std::sort(shared.begin(), shared.end());
  shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
  for (ClassId c : shared) {
    if (graph_.level(c) <= limit_ - used) continue;
    dims.back() = &info(graph_.shape(c)).dims;
    if (fits(in, dims)) extend_by(instance, operands, c);
  }
}

/// The same operand twice: only matrices and more, in places that are described alike.
bool Worker::may_repeat(int instance, const Operands& operands, ClassId c) const {
  const auto& described =
      graph_.plans().grammar().instances[static_cast<size_t>(instance)].operands;
  std::string_view here = described[operands.count];
  for (size_t k = 0; k < operands.count; ++k)
    if (operands.ids[k] == c && (described[k] != here || axes_of(here).size() < 2)) return false;
  return true;
}

void Worker::extend_by(int instance, Operands operands, ClassId c) {
  if (!may_be(static_cast<size_t>(instance), operands.count, c)) return;
  if (!may_repeat(instance, operands, c)) return;
  operands.push_back(c);
  std::vector<SupportList> lists;
  std::vector<ShapeId> shapes;
  uint64_t leaves = 0;
  for (ClassId o : operands) {
    lists.push_back(graph_.supports(o));
    shapes.push_back(graph_.shape(o));
    leaves |= graph_.leaves(o);
  }
  int used = smallest_union(lists);
  if (used > limit_) return;
  const Instance& in = graph_.plans().grammar().instances[static_cast<size_t>(instance)];
  if (operands.count < in.operands.size()) return extend(instance, operands);
  if (used != limit_ || !admissible(leaves)) return;
  for (const ShapedOp* p : graph_.plans().complete(shapes))
    if (p->instance == instance && in_scope(*p, operands)) apply(*p, operands);
}

}  // namespace regraft::gen
