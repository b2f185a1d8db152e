#include "ir/ops/layers/gemm.h"

REGRAFT_DEFINE(gemm, Gemm)
