#pragma once
// Rules of which none follows from the others together, with what they say kept.
#include "gen/derive/derive.h"

namespace regraft::gen {

struct MinimalSet {
  std::vector<char> remains;
  struct Dropped {
    size_t rule = 0;
    std::vector<size_t> used;  ///< it followed from these when it was dropped
  };
  std::vector<Dropped> dropped;  ///< in the order of dropping
  /// Dropped rules whose proof from what remains exceeds the limits: it goes by way of others that
  /// were dropped. Few, since such rules come back where that keeps the set minimal.
  std::vector<size_t> far;
  size_t questions = 0;
  bool complete = false;  ///< false: `stop` left questions open, whose rules remain
};

/// None of the rules that remain follows from the other ones within the deriver's limits, but those
/// that `pinned` marks, which are never dropped. Rules written by hand are asked about first, then
/// the largest. Deterministic for any number of threads unless stopped.
MinimalSet minimal_set(const Deriver& deriver, const std::vector<char>& pinned, int threads,
                       const Stop& stop);

/// Some size is 1 in each signature of the rule's domain.
bool needs_an_extent_of_one(const Rule& rule);

}  // namespace regraft::gen
