#pragma once
// Inputs that show differences: simple ones, all regimes, and values so small that what is added to
// them counts.
#include <optional>
#include <string>

#include "rewrite/compare/regimes.h"
#include "rewrite/compare/sizes.h"

namespace regraft::rewrite {

/// How the elements of all inputs are chosen.
struct Probe {
  enum Kind : uint8_t {
    Zeros,
    Ones,
    Indices,  ///< reals as `regime` says, integers 0 and 1, which are indices of most axes
    Tiny,     ///< each row (last axis) uniform, of a magnitude from 1e-8 to 1e-1
    Drawn,    ///< as `regime` says; signed integers are -1 and -2 where that is Negative
  };
  Kind kind = Drawn;
  Regime regime = Regime::Unit;
  uint64_t seed = 1;
};
std::string to_string(const Probe& probe);

/// The inputs of the first graph at these sizes, by graph input; real elements are numbers of their
/// own type. An input of unknown shape is empty: nothing reads it. REQUIRES: sizes of that graph.
std::vector<Array<double>> inputs_of(const Graph& a, const SizeAssignment& sizes,
                                     const Probe& probe);

/// The values as their type has them.
void round_to(DType type, std::vector<double>& values);

}  // namespace regraft::rewrite
