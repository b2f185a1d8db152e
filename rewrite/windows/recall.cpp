#include "rewrite/windows/recall.h"

#include <algorithm>

namespace regraft::rewrite {
namespace {

constexpr int32_t kUnnamed = -1;

/// Nodes of the window come first, then values from outside, then new nodes.
struct Numbers {
  const WindowNames& names;
  int32_t nodes = static_cast<int32_t>(names.nodes.size());
  int32_t named = nodes + static_cast<int32_t>(names.outside.size());

  template <class Range, class Test>
  static int32_t index(const Range& range, Test test) {
    auto at = std::find_if(range.begin(), range.end(), test);
    return at == range.end() ? kUnnamed : static_cast<int32_t>(at - range.begin());
  }
  int32_t from_outside(int32_t index) const { return index < 0 ? kUnnamed : nodes + index; }

  int32_t inside(int32_t id) const {
    if (id >= names.first_new) return named + id - names.first_new;
    return index(names.nodes, [&](int32_t node) { return node == id; });
  }
  /// A node that a pattern matched: of the window, new, or a constant from outside.
  int32_t place(int32_t id) const {
    int32_t own = inside(id);
    if (own >= 0) return own;
    return from_outside(index(names.outside, [&](Value v) { return v.node == id; }));
  }
  Value place(Value v) const {
    int32_t own = inside(v.node);
    if (own >= 0) return {own, v.output};
    return {from_outside(index(names.outside, [&](Value o) { return o == v; })), 0};
  }

  int32_t node(int32_t place) const {
    if (place >= named) return names.first_new + place - named;
    auto k = static_cast<size_t>(place);
    return place < nodes ? names.nodes[k] : names.outside[k - names.nodes.size()].node;
  }
  Value value(Value place) const {
    if (place.node < nodes || place.node >= named) return {node(place.node), place.output};
    return names.outside[static_cast<size_t>(place.node - nodes)];
  }
};

}  // namespace

std::optional<Recipe> Recipe::of(std::span<const Move> moves, const WindowNames& names) {
  Numbers numbers{names};
  Recipe recipe;
  bool complete = true;
  for (Move m : moves) {
    for (int32_t& id : m.nodes) complete &= (id = numbers.place(id)) != kUnnamed;
    for (Value& v : m.variables) complete &= (v = numbers.place(v)).node != kUnnamed;
    recipe.moves_.push_back(std::move(m));
  }
  return complete ? std::optional(std::move(recipe)) : std::nullopt;
}

Move Recipe::move(size_t k, const WindowNames& names) const {
  Numbers numbers{names};
  Move m = moves_[k];
  for (int32_t& id : m.nodes) id = numbers.node(id);
  for (Value& v : m.variables) v = numbers.value(v);
  return m;
}

}  // namespace regraft::rewrite
