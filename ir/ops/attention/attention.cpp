#include "ir/ops/attention/attention.h"

REGRAFT_DEFINE(attention, Attention)
