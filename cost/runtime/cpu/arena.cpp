#include "cost/runtime/cpu/arena.h"

#include <algorithm>
#include <numeric>

namespace regraft::cost::cpu {

Placement place(const std::vector<Lifetime>& tensors) {
  constexpr size_t kLine = 16;  // floats
  auto rounded = [](size_t n) { return (n + kLine - 1) / kLine * kLine; };
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return tensors[a].floats > tensors[b].floats; });
  Placement p{std::vector<size_t>(tensors.size(), 0), 0};
  std::vector<size_t> placed;  // by offset
  for (size_t k : order) {
    const Lifetime& t = tensors[k];
    size_t at = 0;
    for (size_t other : placed) {
      const Lifetime& o = tensors[other];
      if (o.last < t.first || t.last < o.first) continue;
      if (at + rounded(t.floats) <= p.offsets[other]) break;
      at = std::max(at, p.offsets[other] + rounded(o.floats));
    }
    p.offsets[k] = at;
    p.floats = std::max(p.floats, at + rounded(t.floats));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), k,
                                   [&](size_t a, size_t b) { return p.offsets[a] < p.offsets[b]; }),
                  k);
  }
  return p;
}

}  // namespace regraft::cost::cpu
