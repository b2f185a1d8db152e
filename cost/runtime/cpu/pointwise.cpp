#include "cost/runtime/cpu/pointwise.h"

#include <algorithm>

namespace regraft::cost::cpu {
namespace {

using dnnl::algorithm;

template <algorithm A>
std::vector<PostOp> plain(float, float) {
  return {function(A)};
}
std::vector<PostOp> clip(float low, float high) {
  return {function(algorithm::eltwise_clip, low, high)};
}
std::vector<PostOp> hard_sigmoid(float alpha, float beta) {
  return {function(algorithm::eltwise_linear, alpha, beta),
          function(algorithm::eltwise_clip, 0, 1)};
}
std::vector<PostOp> neg(float, float) { return {function(algorithm::eltwise_linear, -1, 0)}; }

constexpr Pointwise kRows[] = {
    {"add", algorithm::binary_add},
    {"sub", algorithm::binary_sub},
    {"mul", algorithm::binary_mul},
    {"div", algorithm::binary_div},
    {"relu", algorithm::undef, plain<algorithm::eltwise_relu>},
    {"clip", algorithm::undef, clip},
    {"sigmoid", algorithm::undef, plain<algorithm::eltwise_logistic>},
    {"hard-sigmoid", algorithm::undef, hard_sigmoid},
    {"tanh", algorithm::undef, plain<algorithm::eltwise_tanh>},
    {"exp", algorithm::undef, plain<algorithm::eltwise_exp>},
    {"sqrt", algorithm::undef, plain<algorithm::eltwise_sqrt>},
    {"erf"},
    {"neg", algorithm::undef, neg},
};

}  // namespace

const Pointwise* pointwise(const OpDef& op) {
  auto at = std::find_if(std::begin(kRows), std::end(kRows),
                         [&](const Pointwise& row) { return row.op == op.name; });
  return at == std::end(kRows) ? nullptr : at;
}

PostOp function(algorithm a, double alpha, double beta) {
  return {PostOp::Kind::Function, a, static_cast<float>(alpha), static_cast<float>(beta), {}, {}};
}

}  // namespace regraft::cost::cpu
