#pragma once
// Slots as strided arrays, for loops. Internal to cost/cpu.
#include <utility>

#include "cost/runtime/cpu/kernels/loops.h"
#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

/// The axes of a tensor in memory: row-major, or blocks of channels, places, channels of a block.
/// For Layout::Blocked there is one axis more than in the shape.
Strided strided(const Dims& shape, Layout layout);
/// A slot with v's elements, and where in it the elements of `shape` are that v is broadcast to;
/// axes merged.
std::pair<int, Strided> broadcast_place(Lowering& to, Value v, const Dims& shape, Layout layout);

}  // namespace regraft::cost::cpu
