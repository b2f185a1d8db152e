#pragma once
// What each value of a graph is on random inputs, in a few numbers.
#include <string>
#include <vector>

#include "base/parallel.h"
#include "ir/graph/graph.h"

namespace regraft::verify {

/// Two weighted sums of a tensor's elements; those that are not finite count as fixed numbers.
struct Fingerprint {
  bool known = false;
  std::vector<int64_t> shape;
  double sum = 0;        ///< weights in [-1, 1) that depend on the element's place
  double magnitude = 0;  ///< of the same terms, without their signs
  double largest = 0;    ///< element, without its sign
};
/// Values that evaluation in double precision cannot tell apart when constants were rounded with
/// relative error `roundoff`. Equal values of constants and inputs have close fingerprints; the
/// reverse is likely.
bool close(const Fingerprint& a, const Fingerprint& b, double roundoff);

/// `sizes` and a number for each other size symbol of the graph.
Valuation with_all_sizes(const Graph& g, Valuation sizes);

/// What is evaluated.
enum class Evaluated : uint8_t { All, Constants };

/// By node, by output. Inputs and results of opaque nodes are random numbers in [-1, 1) and
/// integers from 0 to 3, those of pure nodes of equal content the same for operands that look
/// equal; unknown is what an opaque node makes of unknown shape, what is evaluated outside of its
/// domain, and what depends on it. Needs the memory of the values alive at once. Where `stop` ends
/// it, what was not reached is unknown. An Error: a constant cannot be read.
Result<std::vector<std::vector<Fingerprint>>> fingerprints(const Graph& g, const Valuation& sizes,
                                                           uint64_t seed, Evaluated which,
                                                           const Stop& stop);

}  // namespace regraft::verify
