#pragma once
// Inside minimise: which applications of a group are connected.
#include <unordered_map>

#include "gen/minimise/minimise.h"

namespace regraft::gen {

struct Minimiser::Links {
  std::vector<size_t> parent;
  size_t parts = 1;
  size_t followers = 0, renaming = 0, common = 0, derivable = 0;  ///< what connected two parts
  size_t rules = 0;                                               ///< that were tried
  std::unordered_map<uint64_t, size_t> nodes;  ///< of applications, when they are many

  Links() = default;
  /// `equal`: see Followers::equal.
  Links(const Item& item, const std::vector<uint32_t>& equal)
      : parent(item.applications.size() + 1), parts(item.applications.size() + 1) {
    constexpr size_t kMany = 64;
    for (size_t k = 0; k < parent.size(); ++k) parent[k] = k;
    for (size_t k = 0; item.applications.size() > kMany && k < item.applications.size(); ++k)
      nodes.emplace(item.applications[k].bits, k + 1);
    if (item.known == kNoClass) join(0, 1);  // the most general is what others join
    for (size_t k = 0; k < equal.size(); ++k) followers += join(k + 1, equal[k]);
  }
  size_t root(size_t k) const {
    while (parent[k] != k) k = parent[k];
    return k;
  }
  bool join(size_t a, size_t b) {
    size_t x = root(a), y = root(b), first = std::min(x, y);
    for (size_t k : {a, b, x, y}) parent[k] = first;
    parts -= x != y;
    return x != y;
  }
  void join_by(size_t a, size_t b, MatchKind match) {
    bool to_known = root(a) == 0 || root(b) == 0;
    if (!join(a, b)) return;
    ++(!to_known ? derivable : match == MatchKind::Renaming ? renaming : common);
  }
  bool connected() const { return parts == 1; }
  /// The first application that is not connected with what is known; REQUIRES: there is one.
  size_t first_loose() const {
    size_t k = 0;
    while (root(k + 1) == 0) ++k;
    return k;
  }
};

}  // namespace regraft::gen
