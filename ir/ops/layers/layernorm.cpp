#include "ir/ops/layers/layernorm.h"

REGRAFT_DEFINE(layernorm, LayerNorm)
