#pragma once
// The calls on single elements that this runtime has, as oneDNN applies them to a result; their
// loops are in kernels/elementwise.cpp. Internal to cost/cpu.
#include "cost/runtime/cpu/chain.h"

namespace regraft::cost::cpu {

struct Pointwise {
  std::string_view op;
  /// The call as functions of one operand, by its real attributes; nullptr: oneDNN has none.
  std::vector<PostOp> (*functions)(float a, float b) = nullptr;
};

/// nullptr: this runtime does not have it.
const Pointwise* pointwise(const OpDef& op);

/// oneDNN's name of it; undef of none.
dnnl::algorithm binary_algorithm(Arithmetic form);
PostOp function(dnnl::algorithm a, double alpha = 0, double beta = 0);

}  // namespace regraft::cost::cpu
