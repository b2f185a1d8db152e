#include "rewrite/windows/window.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_set>

#include "base/hash.h"
#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

void Region::add(int32_t id) {
  const LiveGraph::Slot& s = engine_.graph().slot(id);
  bool call = s.kind == NodeKind::Call || s.kind == NodeKind::Opaque;
  if (inside(id) || !call || s.constant || original_.size() >= kMaxNodes) return;
  stamps_[static_cast<size_t>(id)] = stamp_;
  original_.push_back(id);
}

void Region::clear() {
  first_new_ = engine_.graph().id_bound();
  stamps_.resize(static_cast<size_t>(first_new_), 0);
  ++stamp_;
  original_.clear();
}

void Region::take(std::span<const int32_t> ids) {
  clear();
  for (int32_t id : ids) add(id);
}

void Region::grow(int32_t centre, int radius) {
  const LiveGraph& g = engine_.graph();
  clear();
  add(centre);
  size_t begin = 0;
  for (int step = 0; step < radius; ++step) {
    size_t end = original_.size();
    for (; begin < end; ++begin) {
      int32_t id = original_[begin];
      for (Value v : g.slot(id).inputs) add(v.node);
      if (g.slot(id).uses > kMaxUses) continue;
      g.for_uses(id, [&](int32_t user, int32_t) { add(user); });
    }
  }
}

bool Region::contains(const Match& m) const {
  const LiveGraph& g = engine_.graph();
  return std::all_of(m.nodes.begin(), m.nodes.end(),
                     [&](int32_t id) { return inside(id) || g.slot(id).constant; });
}

const std::vector<int32_t>& Region::nodes() {
  const LiveGraph& g = engine_.graph();
  present_.clear();
  for (int32_t id : original_)
    if (g.alive(id)) present_.push_back(id);
  for (int32_t id = first_new_; id < g.id_bound(); ++id)
    if (g.alive(id)) present_.push_back(id);
  std::sort(present_.begin(), present_.end(),
            [&](int32_t a, int32_t b) { return g.comes_before(a, b); });
  return present_;
}

uint64_t Region::identity() {
  const LiveGraph& g = engine_.graph();
  hashes_.resize(static_cast<size_t>(g.id_bound()));
  uint64_t sum = 0;
  for (int32_t id : nodes()) {
    const LiveGraph::Slot& s = g.slot(id);
    auto operand = [&](Value v) {
      uint64_t h = inside(v.node) ? hashes_[static_cast<size_t>(v.node)]
                                  : mix(static_cast<uint64_t>(v.node));
      return combine(h, static_cast<uint64_t>(v.output));
    };
    uint64_t h = s.form >= 0 ? g.interner().form(s.form).hash : static_cast<uint64_t>(id);
    size_t k = 0;
    if (s.op && s.op->commutative && s.inputs.size() >= 2) {
      h = combine(h, operand(s.inputs[0]) + operand(s.inputs[1]));
      k = 2;
    }
    for (; k < s.inputs.size(); ++k) h = combine(h, operand(s.inputs[k]));
    hashes_[static_cast<size_t>(id)] = h;
    sum += mix(h + static_cast<uint64_t>(s.uses));
  }
  return sum;
}

namespace {

uint64_t hash_of(const TensorType& t) {
  uint64_t h = combine(static_cast<uint64_t>(t.dtype), t.shape.has_value());
  if (t.shape)
    for (const Poly& d : *t.shape) h = combine(h, hash(d));
  return h;
}

}  // namespace

/// A value from outside by its type and the order of appearance; numbers alone by their data.
uint64_t Region::outside(Value v) {
  auto place = std::find(outside_.begin(), outside_.end(), v);
  auto order = static_cast<uint64_t>(place - outside_.begin());
  if (place == outside_.end()) outside_.push_back(v);
  const LiveGraph& g = engine_.graph();
  const LiveGraph::Slot& s = g.slot(v.node);
  uint64_t h = combine(combine(order, hash_of(g.interner().type(g.type(v)))), s.constant);
  bool number = s.kind == NodeKind::Constant && s.origin->constant->count() == 1;
  return number ? combine(h, g.interner().data_hash(s.data)) : h;
}

uint64_t Region::likeness() {
  const LiveGraph& g = engine_.graph();
  hashes_.resize(static_cast<size_t>(g.id_bound()));
  outside_.clear();
  uint64_t all = 0;
  for (int32_t id : nodes()) {
    const LiveGraph::Slot& s = g.slot(id);
    uint64_t h = s.form >= 0 ? g.interner().form(s.form).hash : short_hash(s.origin->content);
    h = combine(h, static_cast<uint64_t>(s.uses));
    for (Value v : s.inputs) {
      uint64_t operand = inside(v.node) ? hashes_[static_cast<size_t>(v.node)] : outside(v);
      h = combine(combine(h, operand), static_cast<uint64_t>(v.output));
    }
    hashes_[static_cast<size_t>(id)] = h;
    all = combine(all, h);
  }
  return all;
}

uint64_t Region::likeness(const Match& m) {
  uint64_t name = combine(likeness(), static_cast<uint64_t>(m.rule));
  const std::vector<int32_t>& near = nodes();
  for (int32_t id : m.nodes)
    name = combine(name, static_cast<uint64_t>(std::ranges::find(near, id) - near.begin()));
  return name;
}

namespace {

class WindowSearch {
 public:
  WindowSearch(Engine& engine, Region& region, const WindowLimits& limits, const Stop& stop)
      : engine_(engine), region_(region), limits_(limits), stop_(stop), paths_(engine.cost()) {}

  WindowReport run() {
    int expansions = limits_.expansions;
    seen_.insert(region_.identity());
    expand();
    if (expansions > 1) repeat_rules();
    while (expansions > 1 && !queue_.empty() && !must_end()) {
      Entry e = std::move(const_cast<Entry&>(queue_.top()));
      queue_.pop();
      paths_.go(engine_, here_, e.parent);
      redo(engine_, e.move);
      here_ = paths_.add(e.parent, std::move(e.move));
      if (!seen_.insert(region_.identity()).second) continue;
      if (cheaper(paths_.cost(here_), paths_.cost(best_))) best_ = here_;
      expand();
      --expansions;
    }
    paths_.go(engine_, here_, best_);
    report_.pays = best_ != 0;
    return report_;
  }

 private:
  struct Entry {
    int32_t parent;
    uint64_t number;
    Move move;
    bool operator<(const Entry& other) const {
      return std::tie(move.cost, number) > std::tie(other.move.cost, other.number);
    }
  };

  bool must_end() const { return report_.looked >= limits_.candidates || stop_.must_end(); }

  /// visit(match, number) for all matches inside.
  template <class Visit>
  void for_matches(Visit visit) {
    auto admitted = [&](int32_t number) {
      const Match& m = engine_.match(number);
      if (region_.contains(m) && engine_.calls() + m.growth <= limits_.calls) visit(m, number);
    };
    for (int32_t id : region_.nodes()) engine_.for_matches_at(id, admitted);
  }

  /// A rule that costs at one place may pay at several: when each reader of a value has moved, the
  /// value is not needed any more. So the successors of all matches of one rule are looked at, too.
  void repeat_rules() {
    std::map<int32_t, int> uphill;
    for_matches([&](const Match& m, int32_t) { uphill[m.rule] += m.cost_change > 0; });
    for (const auto& [rule, count] : uphill) {
      if (count < 2 || must_end()) continue;
      for (int k = 0; k < count; ++k) {
        int32_t cheapest = -1;
        for_matches([&](const Match& m, int32_t number) {
          if (m.rule != rule) return;
          ++report_.looked;
          if (cheapest < 0 || comes_first(m, engine_.match(cheapest))) cheapest = number;
        });
        if (cheapest < 0) break;
        engine_.apply(cheapest);
        here_ = paths_.add(here_, engine_.moves().back());
        if (cheaper(paths_.cost(here_), paths_.cost(best_))) best_ = here_;
      }
      if (seen_.insert(region_.identity()).second) expand();
      paths_.go(engine_, here_, 0);
      here_ = 0;
    }
  }

  void expand() {
    ++report_.expanded;
    for_matches([&](const Match& m, int32_t) {
      ++report_.looked;
      double cost = engine_.cost() + m.cost_change;
      queue_.push({here_, pushed_++, {m.rule, m.nodes, m.variables, cost, m.cost_change}});
    });
    report_.peak_queue = std::max(report_.peak_queue, queue_.size());
  }

  Engine& engine_;
  Region& region_;
  const WindowLimits& limits_;
  const Stop& stop_;
  WindowReport report_;
  Paths paths_;
  std::priority_queue<Entry> queue_;
  std::unordered_set<uint64_t> seen_;  // a collision loses a region to search from, no more
  uint64_t pushed_ = 0;
  int32_t here_ = 0, best_ = 0;
};

}  // namespace

WindowReport search_window(Engine& engine, Region& region, const WindowLimits& limits,
                           const Stop& stop) {
  return WindowSearch(engine, region, limits, stop).run();
}

}  // namespace regraft::rewrite
