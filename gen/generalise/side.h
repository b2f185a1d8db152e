#pragma once
// One side of a pair as a program whose attribute numbers and leaf shapes may change.
#include "base/rng.h"
#include "gen/grammar/terms.h"

namespace regraft::gen {

/// A number of an attribute that may become a variable.
struct NumberPlace {
  int call = 0;  ///< position in Side::calls
  size_t attr = 0, index = 0;
  int64_t witness = 0;
};

/// Calls in order, operands first. Does not own labels.
struct Side {
  struct Ref {
    int call = 0;  ///< below 0: leaf number ~call
    int output = 0;
  };
  struct Call {
    int id = 0;  ///< TermNode::call
    const Label* label = nullptr;
    std::vector<Ref> operands;
    std::vector<int> first;  ///< for each integer attribute: its first number; -1: structural
  };
  std::vector<Call> calls;
  std::vector<NumberPlace> numbers;
  Ref root;
};
using ShapeList = std::vector<std::vector<int64_t>>;

/// Term t over these leaves. REQUIRES: its leaves are among them.
Side side_of(const Bank& bank, TermId t, const std::vector<TermId>& leaves);
/// The shape of the result; nullopt when it is not well-formed.
std::optional<std::vector<int64_t>> shape_of(const Side& side, const ShapeList& leaves,
                                             const std::vector<int64_t>& numbers);
/// The result; nullopt when it is not well-formed or a tensor has more than `max_elements`.
std::optional<Array<Residue>> value_of(const Side& side, const std::vector<Array<Residue>>& leaves,
                                       const std::vector<int64_t>& numbers, uint64_t key,
                                       int64_t max_elements);
/// Maxima of nothing, and what is made of them, become values that are not defined.
void leave_out_infinite(Array<Residue>& a);
/// The side has that leaf where its operators want truth values.
bool is_truth(const Side& side, size_t leaf);
/// The operator has no value where operand k is negative, as a root or a logarithm.
bool needs_positive(const OpDef& op, size_t k);
/// The side has that leaf where an operator needs what is positive.
bool is_positive(const Side& side, size_t leaf);
/// A random tensor of positive numbers.
Array<Residue> random_positive(Rng& rng, const std::vector<int64_t>& shape);
/// A random tensor of truth values.
Array<Residue> random_truths(Rng& rng, const std::vector<int64_t>& shape);
/// A random tensor of that shape; half of them have elements of one sign.
Array<Residue> random_array(Rng& rng, const std::vector<int64_t>& shape);

}  // namespace regraft::gen
