#pragma once
// Whether a set of candidates is enough: do random pairs of equal terms follow from it?
#include <memory>

#include "base/parallel.h"
#include "gen/minimise/minimise.h"

namespace regraft::gen {

/// What became of the pairs that were drawn.
struct AuditCounts {
  uint64_t pairs = 0;             ///< drawn: those of which one side binds the other's variables
  uint64_t derived = 0;           ///< in their most general forms
  uint64_t derived_as_found = 0;  ///< only with the numbers and sizes of the enumeration
  uint64_t coincidences = 0;      ///< false at other sizes
  std::vector<Rule> open;         ///< the rest, as found
};

/// What an enumeration of a grammar leaves, for later questions.
struct Judged {
  std::unique_ptr<ShapedOps> ops;
  std::unique_ptr<Bank> bank;
  std::unique_ptr<ValueGraph> graph;
  std::unique_ptr<Minimiser> minimiser;
};

/// Draws up to `count` pairs from all grammars, each with the same chance, and derives them from
/// the candidates. Deterministic in the arguments for any number of threads.
AuditCounts audit(std::vector<Judged>& grammars, const std::vector<Rule>& candidates, size_t count,
                  uint64_t seed, int threads, const Stop& stop);

}  // namespace regraft::gen
