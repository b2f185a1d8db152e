#pragma once
// Do two models compute the same? Proved window by window, from the inputs to the outputs.
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "verify/model/constants.h"
#include "verify/model/fingerprint.h"
#include "verify/model/judgements.h"
#include "verify/model/pair.h"

namespace regraft::verify {

/// How far a window reaches.
enum class Reach : uint8_t {
  Shared,    ///< to values that both models are known to have
  Frontier,  ///< on the left to the inputs of the right side only
  Wider,     ///< one call further than Frontier, on both sides
  Widest,    ///< three calls further
};
constexpr int kReaches = 4;

/// A value of the second model that equals one of the first, and how that is shown. What is shown
/// by equal calls of equal operands is not listed.
struct Merge {
  enum Kind : uint8_t { Proof, Constant } kind = Proof;
  Value b, a;
  Reach reach = Reach::Shared;           ///< Proof
  Numbers numbers = Numbers::AsTheyAre;  ///< Proof
  std::string key;                       ///< Proof: of the window
  std::string text;                      ///< Proof: the window as a rule
  Deviation deviation;                   ///< Constant
};

/// A value of the second model for which no window was proved.
struct Open {
  Value b, a;
  std::vector<int32_t> left, right;  ///< the calls of the smallest window that was tried
  std::string text, reason;
};

struct SweepOptions {
  int threads = 0;
  uint64_t effort = 1;     ///< multiplies the limits of each proof
  bool constants = true;   ///< constants may differ by rounding
  size_t most_calls = 40;  ///< on each side of a window
  /// After so many merges that no window proved, no others are tried; 0: all are.
  size_t most_failures = 0;
};

struct SweepReport {
  /// Of each pair of outputs, what it rests on.
  enum Output : uint8_t { Unproved, Structure, Windows, Rounded };
  std::vector<Output> outputs;            ///< Windows: exactly; Rounded: up to constants
  std::vector<Merge> merges;              ///< in the order in which they follow from each other
  std::map<std::string, Judged> windows;  ///< by key: all that were judged
  /// Nodes of the second model that equal nothing, though all that they read does.
  std::vector<int32_t> apart;
  std::vector<Open> open;  ///< nearest to the inputs first
};

/// Proves that the outputs of the pair are equal, for all inputs and for all values of the sizes.
/// Values with close fingerprints are tried; each merge is proved from those before it. `prints`:
/// of the pair's graph. `judged`: windows of earlier sweeps, which need not be proved again.
/// Deterministic unless `stop` ends it.
Result<SweepReport> sweep(const Pair& pair, const std::vector<std::vector<Fingerprint>>& prints,
                          std::map<std::string, Judged> judged, const SweepOptions& options,
                          const Stop& stop);

/// Proves these merges anew, one after the other, and composes them: nothing of them is believed.
/// An Error names a merge that is not proved.
Result<SweepReport> check_merges(const Pair& pair, const std::vector<Merge>& merges,
                                 const SweepOptions& options, const Stop& stop);

}  // namespace regraft::verify
