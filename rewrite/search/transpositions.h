#pragma once
// Which graphs were seen, in a fixed amount of memory.
#include <vector>

#include "rewrite/match/live_graph.h"

namespace regraft::rewrite {

/// Forgets what is oldest in a bucket of four when it is full. Both digests are compared.
class Transpositions {
 public:
  /// Room for at least `graphs` of them, 16 bytes each.
  explicit Transpositions(size_t graphs);
  /// False when it was there.
  bool insert(const Identity& id);

 private:
  static constexpr size_t kWays = 4;
  std::vector<Identity> entries_;  // a bucket is kWays in a row, the newest first
};

}  // namespace regraft::rewrite
