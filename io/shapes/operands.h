#pragma once
// Inside io/ only: what is known of the operands of a node, and whether that is enough.
#include <optional>
#include <vector>

#include "ir/algebra/formula.h"
#include "ir/algebra/size_tensor.h"
#include "ir/ops/op.h"

namespace regraft::io {

/// May its results be sizes?
bool asks_sizes(const OnnxNode& node);
/// A few constants, of which integers may be computed.
bool reads_few_numbers(const OnnxNode& node);
/// Is it written as a computation of its own?
bool is_computable(const SizeTensor& t);
/// The only input of a concatenation that is not known to add nothing; nullopt: there are several,
/// or it is none.
std::optional<size_t> only_part(const OnnxNode& node);
/// The input of a computation with integers that its other one, a neutral number, leaves as it is;
/// nullopt: there is none.
std::optional<size_t> unchanged_operand(const OnnxNode& node);
/// Operands are of known, non-empty shapes; the elements of every other input are known.
bool fits(const OnnxNode& node, const std::vector<int>& operands);
/// Is an equality of sizes left open? A model may broadcast there, which formulas do not express.
bool asks_equality(const Formula& f);

}  // namespace regraft::io
