#include "ir/ops/layers/conv.h"

REGRAFT_DEFINE(conv, Conv)
