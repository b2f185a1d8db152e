#pragma once
// Which of several ways to run a call is the fastest here. Internal to cost/cpu.
#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

/// The index of the way whose steps take the least time, by a few runs of each; `emit(k)` adds the
/// steps of the way of the k-th name to the lowering, which is rewound after each trial. The name
/// is remembered for the process under `key`. Thread-safe, though timings disturb each other.
size_t fastest(Lowering& to, const std::string& key, const std::vector<std::string>& ways,
               const std::function<void(size_t)>& emit);

}  // namespace regraft::cost::cpu
