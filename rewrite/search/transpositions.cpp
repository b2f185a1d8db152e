#include "rewrite/search/transpositions.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace regraft::rewrite {

Transpositions::Transpositions(size_t graphs)
    : entries_(std::bit_ceil(std::max(graphs, kWays)), Identity{}) {}

bool Transpositions::insert(const Identity& id) {
  size_t buckets = entries_.size() / kWays;
  auto first = entries_.begin() +
               static_cast<std::ptrdiff_t>(kWays * (combine(id.outputs, id.nodes) & (buckets - 1)));
  auto last = first + kWays;
  auto place = std::find(first, last, id);
  if (place != last) return false;
  std::move_backward(first, last - 1, last);
  *first = id;
  return true;
}

}  // namespace regraft::rewrite
