#pragma once
// Evaluation of graphs of calls over a concrete algebra.
#include <functional>
#include <span>

#include "base/parallel.h"
#include "ir/algebra/concrete.h"
#include "ir/graph/graph.h"

namespace regraft {

/// A dense row-major tensor.
template <class S>
struct Array {
  std::vector<int64_t> shape;
  std::vector<S> data;
};

/// All outputs of one call. `shapes` are the operands' arrays; std::nullopt when a requirement
/// fails, an output would be empty, or it would exceed `max_elements`.
template <class A>
std::optional<std::vector<Array<typename A::Scalar>>> evaluate_call(
    A& alg, const OpDef& op, const std::vector<const Array<typename A::Scalar>*>& operands,
    const Attrs<int64_t>& attrs, int64_t max_elements = int64_t{1} << 40);

/// One output of a call, first few elements and then more at a time: `go_on` gets those and the
/// position of the first of them, and says whether to evaluate the rest. False where evaluate_call
/// gives std::nullopt, if that shows in what was evaluated.
template <class A>
bool evaluate_pieces(A& alg, const OpDef& op,
                     const std::vector<const Array<typename A::Scalar>*>& operands,
                     const Attrs<int64_t>& attrs, int output, int64_t max_elements,
                     const std::function<bool(size_t, std::span<const typename A::Scalar>)>& go_on);

/// The outputs of a graph without opaque nodes whose size symbols have the given values.
/// `input(k, shape)` makes graph input k. std::nullopt as for evaluate_call.
template <class A>
std::optional<std::vector<Array<typename A::Scalar>>> evaluate_graph(
    A& alg, const Graph& g, const Valuation& sizes,
    const std::function<Array<typename A::Scalar>(int, const std::vector<int64_t>&)>& input,
    int64_t max_elements = 1 << 20);

/// What values at one random point say of two lists of tensors.
enum class Agreement : uint8_t {
  Equal,      ///< where the left side is defined, which is somewhere
  Different,  ///< in shape, or at an element
  Undefined,  ///< nothing
};
Agreement agreement(const std::vector<Array<Residue>>& left,
                    const std::vector<Array<Residue>>& right);
/// The same by the doubles alone, which may differ by rounding errors.
Agreement agreement_of_doubles(const std::vector<Array<Residue>>& left,
                               const std::vector<Array<Residue>>& right);

/// One call over doubles, on all cores. An Error when operands do not fit, the outputs do not fit
/// into the memory that `stop` leaves, or it ended the work.
Result<std::vector<Array<double>>> evaluate_reals(const OpDef& op,
                                                  const std::vector<const Array<double>*>& operands,
                                                  const Attrs<int64_t>& attrs, const Stop& stop);
/// The same to its end, whatever signals arrive: the answer says something of the call alone.
Result<std::vector<Array<double>>> evaluate_reals(const OpDef& op,
                                                  const std::vector<const Array<double>*>& operands,
                                                  const Attrs<int64_t>& attrs);

}  // namespace regraft
