#include "ir/egraph/ematch.h"

#include <algorithm>

namespace regraft {

EPattern::EPattern(const Pattern& side) {
  for (PatternRef r : side.outputs) add(side, r, true);
  for (Step& s : steps)
    if (s.node)
      for (PatternRef r : s.node->inputs) s.operands.push_back(slot(r));
  for (PatternRef r : side.outputs) outputs.push_back(slot(r));
}

/// Depth first.
void EPattern::add(const Pattern& side, PatternRef r, bool is_root) {
  if (is_variable(r)) {
    if (is_root) steps.push_back({r, nullptr, true, {}});
    return;
  }
  if (std::any_of(steps.begin(), steps.end(), [&](const Step& s) { return s.ref == r; })) return;
  const PatternNode& node = side.nodes[static_cast<size_t>(r.node)];
  steps.push_back({r, &node, is_root, {}});
  for (PatternRef x : node.inputs) add(side, x, false);
}

int32_t EPattern::slot(PatternRef r) const {
  if (is_variable(r)) return variable_of(r);
  auto it = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return s.ref == r; });
  return ~static_cast<int32_t>(it - steps.begin());
}

}  // namespace regraft
