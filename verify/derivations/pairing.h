#pragma once
// Maps between the indices of two products or maxima: guesses from positions, which are then shown
// to be bijections.
#include <functional>

#include "verify/derivations/search.h"

namespace regraft::verify {

/// Values of b's indices over a's, and of a's over b's.
struct Maps {
  kernel::Values to, back;
};

class Pairing {
 public:
  Pairing(StepSearch& search, IndexRange a, IndexRange b) : search_(search), a_(a), b_(b) {}

  /// Calls `accept` with maps that make the factors read the same, until it says yes.
  bool along(const std::vector<kernel::Atom>& of_a, const std::vector<kernel::Atom>& of_b,
             const std::vector<size_t>& order, const std::function<bool(const Maps&)>& accept);
  /// Words and certificates that the maps are inverse to each other between the ranges.
  bool bijection(const StepSearch::Facts& facts, const Maps& maps, Draft& draft);

 private:
  bool with_equations(const std::vector<Poly>& equations,
                      const std::function<bool(const Maps&)>& accept);
  StepSearch& search_;
  IndexRange a_, b_;
  Substitution fresh_, home_;  ///< indices of b, and their stand-ins
};

/// The orders in which the factors of q may stand for those of p, at most `most`.
std::vector<std::vector<size_t>> orders(const kernel::Product& p, const kernel::Product& q,
                                        size_t most);

}  // namespace regraft::verify
