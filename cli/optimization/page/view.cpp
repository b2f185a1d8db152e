#include "cli/optimization/page/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/printable.h"
#include "ir/algebra/scan.h"

namespace regraft::cli {
namespace {

constexpr size_t kMostOperands = 8;  // that are named

std::string name_of(const Graph& g, Value v) {
  const Node& n = g.node(v.node);
  auto k = static_cast<size_t>(v.output);
  if (k < n.names.size() && !n.names[k].empty()) return n.names[k];
  return fmt::format("{} {}", n.op ? n.op->name : "value", v.node);
}

/// "1×64×56×56"
std::string shape_text(const TensorType& t) {
  if (!t.shape) return "?";
  std::string s;
  for (const Poly& d : *t.shape) s += (s.empty() ? "" : "×") + to_string(d);
  return s.empty() ? "one number" : s;
}

std::string attributes_text(const Node& n) {
  std::string s;
  for (size_t k = 0; k < n.attrs.ints.size(); ++k)
    if (!n.attrs.ints[k].empty())
      s += fmt::format(" {}={}", n.op->ints[k].name, text::print(n.attrs.ints[k]));
  for (size_t k = 0; k < n.attrs.reals.size(); ++k)
    s += fmt::format(" {}={:.6g}", n.op->reals[k].name, n.attrs.reals[k].value);
  return s.empty() ? s : "\n" + s.substr(1);
}

bool is_drawn(const Node& n) {
  return n.kind == NodeKind::Call || n.kind == NodeKind::Opaque || n.kind == NodeKind::Input;
}

/// What one side is made of, and what of it the other has.
struct Side {
  const Viewed& of;
  const Graph& other;
  const std::vector<std::optional<size_t>>& regions;  // by id

  const Graph& graph() const { return of.graph; }
  std::optional<size_t> region(int32_t id) const {
    auto at = static_cast<size_t>(id);
    return at < regions.size() ? regions[at] : std::nullopt;
  }
  bool in_other(int32_t id) const {
    return id < other.id_bound() && other.contains(id) && is_drawn(other.node(id));
  }
  bool changed(int32_t id) const { return region(id).has_value() || !in_other(id); }
};

/// What the user may see of a node by pointing at it.
std::string described(const Viewed& of, int32_t id, const PlannedKernel* kernel) {
  const Graph& g = of.graph;
  const Node& n = g.node(id);
  std::string s = n.kind == NodeKind::Input ? "input"
                  : n.op                    ? std::string(n.op->name)
                                            : of.type_of(id) + " (carried)";
  s += " " + name_of(g, {id, 0});
  if (!n.types.empty()) s += "\n" + to_string(n.types[0]);
  if (n.op) s += attributes_text(n);
  std::string operands;
  size_t count = 0;
  for (Value v : n.inputs) {
    if (g.node(v.node).kind == NodeKind::Absent || count++ >= kMostOperands) continue;
    operands += (operands.empty() ? "" : ", ") + name_of(g, v);
    if (g.node(v.node).kind == NodeKind::Constant) operands += " " + to_string(g.type(v));
  }
  if (count > kMostOperands) operands += fmt::format(" and {} more", count - kMostOperands);
  if (!operands.empty()) s += "\nof " + operands;
  if (kernel)
    s += fmt::format("\nkernel {}: {:.1f} µs, {}", kernel->what, kernel->microseconds,
                     kernel->measured ? "timed" : "estimated");
  return s;
}

/// Makes the boxes of one side.
class Viewer {
 public:
  /// `shown`: regions that are drawn where there is not room for all, in order of importance.
  Viewer(const Side& side, const std::vector<size_t>& shown) : side_(side), shown_(shown) {
    auto order = topological_order(side.graph());
    if (order)
      for (int32_t id : *order)
        if (is_drawn(side.graph().node(id))) order_.push_back(id);
    for (const PlannedKernel& k : side.of.kernels)
      for (int32_t id : k.nodes) kernel_[id] = &k;
  }

  View run() {
    add_boxes();
    for (int32_t id : order_)
      for (Value v : side_.graph().node(id).inputs) add_edge(v.node, id);
    add_outputs();
    return std::move(view_);
  }

 private:
  /// The nodes that get a box of their own.
  std::set<int32_t> kept() const {
    if (order_.size() <= kMostBoxes) return {order_.begin(), order_.end()};
    std::map<size_t, std::vector<int32_t>> of_region;
    for (int32_t id : order_)
      if (auto r = side_.region(id)) of_region[*r].push_back(id);
    constexpr size_t kRoom = kMostBoxes / 2;  // between two kept nodes there may be a stretch
    std::set<int32_t> keep;
    for (size_t r : shown_)
      for (int32_t id : of_region[r])
        if (keep.size() < kRoom / 2) keep.insert(id);
    for (int32_t id : order_)  // where nothing changed, how it begins
      if (shown_.empty() && keep.size() < kRoom / 2) keep.insert(id);
    const auto readers = consumers(side_.graph());
    const std::vector<int32_t> inner(keep.begin(), keep.end());
    auto add = [&](int32_t id) {
      if (keep.size() < kRoom && is_drawn(side_.graph().node(id))) keep.insert(id);
    };
    for (int32_t id : inner) {
      for (Value v : side_.graph().node(id).inputs) add(v.node);
      for (const auto& [reader, operand] : readers[static_cast<size_t>(id)]) add(reader);
    }
    return keep;
  }

  void add_boxes() {
    const auto keep = kept();
    std::vector<int32_t> stretch;
    auto flush = [&] {
      if (stretch.size() == 1) add_node(stretch[0]);
      if (stretch.size() > 1) add_stretch(stretch);
      stretch.clear();
    };
    for (int32_t id : order_) {
      if (keep.count(id) == 0) {
        stretch.push_back(id);
        continue;
      }
      flush();
      add_node(id);
    }
    flush();
  }

  void add_node(int32_t id) {
    const Node& n = side_.graph().node(id);
    ViewBox box;
    box.kind = n.kind == NodeKind::Input  ? ViewBox::Input
               : n.kind == NodeKind::Call ? ViewBox::Operator
                                          : ViewBox::Carried;
    box.label = n.kind == NodeKind::Input ? name_of(side_.graph(), {id, 0})
                : n.op                    ? std::string(n.op->name)
                                          : side_.of.type_of(id);
    if (!n.types.empty()) box.detail = shape_text(n.types[0]);
    box.node = id;
    box.region = side_.region(id);
    box.changed = side_.changed(id);
    auto kernel = kernel_.find(id);
    box.full = described(side_.of, id, kernel == kernel_.end() ? nullptr : kernel->second);
    if (kernel != kernel_.end() && kernel->second->nodes.back() == id)
      box.microseconds = kernel->second->microseconds;
    view_.nodes += n.kind != NodeKind::Input;
    place_[id] = view_.boxes.size();
    view_.boxes.push_back(std::move(box));
  }

  void add_stretch(const std::vector<int32_t>& nodes) {
    ViewBox box;
    box.kind = ViewBox::Stretch;
    std::map<std::string, size_t> counts;
    size_t changed = 0;
    for (int32_t id : nodes) {
      const Node& n = side_.graph().node(id);
      place_[id] = view_.boxes.size();
      changed += side_.changed(id);
      view_.nodes += n.kind != NodeKind::Input;
      ++counts[n.kind == NodeKind::Input ? "input"
               : n.op                    ? std::string(n.op->name)
                                         : side_.of.type_of(id)];
      if (auto k = kernel_.find(id); k != kernel_.end() && k->second->nodes.back() == id)
        box.microseconds += k->second->microseconds;
    }
    box.changed = changed > 0;
    box.label = fmt::format("{} {}nodes", nodes.size(), changed > 0 ? "" : "unchanged ");
    if (changed > 0) box.detail = fmt::format("{} of them changed", changed);
    for (const auto& [type, n] : counts)
      box.full += fmt::format("{}{} × {}", box.full.empty() ? "" : "\n", n, type);
    box.full += fmt::format("\nkernels: {:.1f} µs", box.microseconds);
    view_.boxes.push_back(std::move(box));
  }

  void add_edge(int32_t from, int32_t to) {
    auto it = place_.find(from);
    if (it == place_.end()) return;  // a constant
    size_t a = it->second, b = place_.at(to);
    if (a == b) return;
    bool plain = view_.boxes[a].kind != ViewBox::Stretch && view_.boxes[b].kind != ViewBox::Stretch;
    if (!plain && !joined_.emplace(a, b).second) return;
    view_.edges.push_back({a, b});
  }

  void add_outputs() {
    const auto& outputs = side_.graph().outputs();
    for (size_t k = 0; k < outputs.size(); ++k) {
      auto it = place_.find(outputs[k].node);
      if (it == place_.end() || view_.boxes[it->second].kind == ViewBox::Stretch) continue;
      ViewBox box;
      box.kind = ViewBox::Output;
      box.label = "output";
      box.detail = name_of(side_.graph(), outputs[k]);
      box.full = "output " + box.detail + "\n" + to_string(side_.graph().type(outputs[k]));
      view_.edges.push_back({it->second, view_.boxes.size()});
      view_.boxes.push_back(std::move(box));
    }
  }

  const Side& side_;
  const std::vector<size_t>& shown_;
  std::vector<int32_t> order_;
  std::map<int32_t, const PlannedKernel*> kernel_;  // that a node is part of
  std::map<int32_t, size_t> place_;                 // of a node, in the view
  std::set<std::pair<size_t, size_t>> joined_;
  View view_;
};

/// By id: what is next to a node that the other side has not, beyond others like it.
class Surroundings {
 public:
  explicit Surroundings(const Side& side) : side_(side), readers_(consumers(side.graph())) {}

  /// What reads a region; where nothing does, what it reads.
  std::set<int32_t> of(const std::vector<int32_t>& nodes) const {
    auto found = walk(nodes, [&](int32_t id, auto&& see) {
      for (const auto& [reader, operand] : readers_[static_cast<size_t>(id)]) see(reader);
    });
    if (!found.empty()) return found;
    return walk(nodes, [&](int32_t id, auto&& see) {
      for (Value v : side_.graph().node(id).inputs) see(v.node);
    });
  }

 private:
  template <class Next>
  std::set<int32_t> walk(std::vector<int32_t> open, const Next& next) const {
    std::set<int32_t> seen(open.begin(), open.end()), found;
    while (!open.empty()) {
      int32_t at = open.back();
      open.pop_back();
      next(at, [&](int32_t id) {
        if (!is_drawn(side_.graph().node(id)) || !seen.insert(id).second) return;
        if (side_.changed(id))
          open.push_back(id);
        else
          found.insert(id);
      });
    }
    return found;
  }

  const Side& side_;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> readers_;
};

std::map<size_t, std::vector<int32_t>> nodes_by_region(const Side& side) {
  std::map<size_t, std::vector<int32_t>> all;
  for (int32_t id = 0; id < side.graph().id_bound(); ++id)
    if (auto r = side.region(id); r && side.graph().contains(id) && is_drawn(side.graph().node(id)))
      all[*r].push_back(id);
  return all;
}

/// Marks where on `view` the regions were of which only `from` has nodes.
void mark_places(View& view, const Side& from) {
  std::set<size_t> here;
  for (const ViewBox& b : view.boxes)
    if (b.region) here.insert(*b.region);
  std::map<int32_t, std::vector<size_t>> near;
  Surroundings around(from);
  for (const auto& [region, nodes] : nodes_by_region(from))
    if (here.count(region) == 0)
      for (int32_t id : around.of(nodes)) near[id].push_back(region);
  for (ViewBox& b : view.boxes)
    if (auto it = near.find(b.node); it != near.end() && b.node >= 0) b.near = it->second;
}

}  // namespace

std::vector<double> gains_of(const Trace& trace) {
  std::vector<double> gains(trace.regions, 0);
  for (const TracedStep& s : trace.steps) gains[s.region] += s.before - s.after;
  return gains;
}

Views views_of(const Viewed& before, const Viewed& after, const Trace& trace) {
  const auto gains = gains_of(trace);
  std::vector<size_t> shown(trace.regions);
  std::iota(shown.begin(), shown.end(), size_t{0});
  std::ranges::stable_sort(shown, [&](size_t a, size_t b) { return gains[a] > gains[b]; });
  Side old{before, after.graph, trace.removed}, now{after, before.graph, trace.added};
  Views views{Viewer(old, shown).run(), Viewer(now, shown).run()};
  mark_places(views.after, old);
  mark_places(views.before, now);
  return views;
}

}  // namespace regraft::cli
