#pragma once
// One side of a pair as a program whose attribute numbers and leaf shapes may change.
#include <map>
#include <memory>

#include "base/rng.h"
#include "gen/grammar/op_sets.h"
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
/// Values of sides over the same leaves. What calls within them compute is kept, since what is
/// asked for next mostly differs in few numbers. Not thread-safe.
class SideValues {
 public:
  /// `key` is the field's.
  SideValues(std::vector<Array<Residue>> leaves, uint64_t key)
      : leaves_(std::move(leaves)), key_(key) {}
  /// The result; nullopt when it is not well-formed or a tensor has more than `max_elements`.
  std::optional<Array<Residue>> value(const Side& side, const std::vector<int64_t>& numbers,
                                      int64_t max_elements);
  /// An element of the result is another one than in `expected`, of those that are defined in both;
  /// nullopt as for value(), if that shows before such an element.
  std::optional<bool> differs(const Array<Residue>& expected, const Side& side,
                              const std::vector<int64_t>& numbers, int64_t max_elements,
                              Compare compare);

 private:
  using Results = std::shared_ptr<const std::vector<Array<Residue>>>;
  /// Of one side: of each call its results, and a number that tells what it computes.
  struct Computed {
    std::vector<Results> results;
    std::vector<int64_t> numbers;
  };
  bool compute(const Side& side, const std::vector<int64_t>& numbers, int64_t max_elements,
               size_t calls, Computed& to);
  std::vector<const Array<Residue>*> operands(const Side::Call& call, const Computed& of) const;
  const Array<Residue>& at(Side::Ref r, const Computed& of) const;

  std::vector<Array<Residue>> leaves_;
  uint64_t key_;
  int64_t next_ = 0;  ///< number of a call
  /// By operator, numbers of operands, and attributes.
  std::map<std::vector<int64_t>, std::pair<int64_t, Results>> known_;
};
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
