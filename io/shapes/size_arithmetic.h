#pragma once
// Inside io/ only: arithmetic on elements of size tensors.
#include <optional>

#include "ir/algebra/size_tensor.h"

namespace regraft::io {

/// What arithmetic on sizes needs to know.
struct SizeContext {
  SymbolPool& pool;
  DType dtype;  ///< of the operands
  bool is_float() const { return dtype == DType::F32; }
};

using Element = SizeElement;
using MaybeElement = std::optional<SizeElement>;  ///< nullopt: not known

/// The sign of a - b where it is the same for all sizes: -1, 0 or 1.
std::optional<int> order(const Element& a, const Element& b);

MaybeElement sum(const SizeContext& c, const Element& a, const Element& b);
MaybeElement difference(const SizeContext& c, const Element& a, const Element& b);
MaybeElement product(const SizeContext& c, const Element& a, const Element& b);
MaybeElement quotient(const SizeContext& c, const Element& a, const Element& b);
/// Of integers only: with the sign of b, and with that of a.
MaybeElement floored_remainder(const SizeContext& c, const Element& a, const Element& b);
MaybeElement truncated_remainder(const SizeContext& c, const Element& a, const Element& b);
MaybeElement minimum(const SizeContext& c, const Element& a, const Element& b);
MaybeElement maximum(const SizeContext& c, const Element& a, const Element& b);
MaybeElement floor(const SizeContext& c, const Element& a);
MaybeElement ceil(const SizeContext& c, const Element& a);
/// The element of type c.dtype as one of type `to`.
MaybeElement cast(const SizeContext& c, const Element& a, DType to);

/// floor(size * scale); nullopt where that is no size, or is another one with the product rounded
/// to float32, as runtimes do.
std::optional<Poly> scaled(const Poly& size, double scale, SymbolPool& pool);
/// A number, or short enough for a size: what grows at each step of a model is none.
bool is_size(const Poly& p);
/// Of sizes, and with fewer elements than are ever held.
bool is_plausible(const Shape& shape);

}  // namespace regraft::io
