#include "verify/model/constant_merges.h"

#include <algorithm>
#include <set>

namespace regraft::verify {
namespace {

Merge merge_of(Value b, Value a, const Deviation& d) {
  return {Merge::Constant, b, a, Reach::Shared, Numbers::AsTheyAre, {}, {}, d};
}

}  // namespace

Result<std::vector<Merge>> constant_merges(const Pair& pair,
                                           const std::vector<std::vector<Fingerprint>>& prints,
                                           const Stop& stop) {
  const Graph& g = pair.graph;
  const std::vector<char> constant = constant_nodes(g);
  ASSIGN_OR_RETURN(auto order, topological_order(g));
  auto print = [&](Value v) -> const Fingerprint& {
    static const Fingerprint none;
    const auto& all = prints[static_cast<size_t>(v.node)];
    return static_cast<size_t>(v.output) < all.size() ? all[static_cast<size_t>(v.output)] : none;
  };
  std::vector<std::pair<double, Value>> of_a;
  std::vector<Value> of_b;
  for (int32_t id : order) {
    if (constant[static_cast<size_t>(id)] == 0) continue;
    for (int32_t k = 0; k < static_cast<int32_t>(g.node(id).types.size()); ++k) {
      Value v{id, k};
      if (!print(v).known) continue;
      if (id < pair.first_b)
        of_a.emplace_back(print(v).sum, v);
      else
        of_b.push_back(v);
    }
  }
  std::ranges::sort(of_a);
  std::vector<Merge> merges;
  std::set<Value> done;
  for (const Derived& d : pair.derived)
    if (done.insert(d.b).second) merges.push_back(merge_of(d.b, d.a, d.deviation));
  for (Value b : of_b) {
    if (done.count(b) > 0) continue;
    const Fingerprint& p = print(b);
    double u = roundoff(g.type(b).dtype), near = 2 * 64 * u * p.magnitude + 1e-12;
    auto it = std::ranges::lower_bound(of_a, std::pair(p.sum - near, Value{}));
    for (; it != of_a.end() && it->first <= p.sum + near; ++it) {
      Value a = it->second;
      if (g.type(a).dtype != g.type(b).dtype || !close(print(a), p, u)) continue;
      ASSIGN_OR_RETURN(auto d, deviation(g, a, b, stop));
      if (!d || !d->explained()) continue;
      merges.push_back(merge_of(b, a, *d));
      break;
    }
  }
  return merges;
}

}  // namespace regraft::verify
