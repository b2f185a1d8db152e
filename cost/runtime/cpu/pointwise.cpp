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
    {"add"},
    {"sub"},
    {"mul"},
    {"div"},
    {"relu", plain<algorithm::eltwise_relu>},
    {"clip", clip},
    {"sigmoid", plain<algorithm::eltwise_logistic>},
    {"hard-sigmoid", hard_sigmoid},
    {"tanh", plain<algorithm::eltwise_tanh>},
    {"exp", plain<algorithm::eltwise_exp>},
    {"sqrt", plain<algorithm::eltwise_sqrt>},
    {"erf"},
    {"neg", neg},
};

}  // namespace

const Pointwise* pointwise(const OpDef& op) {
  auto at = std::find_if(std::begin(kRows), std::end(kRows),
                         [&](const Pointwise& row) { return row.op == op.name; });
  return at == std::end(kRows) ? nullptr : at;
}

algorithm binary_algorithm(Arithmetic form) {
  constexpr algorithm kAlgorithms[] = {algorithm::undef, algorithm::binary_add,
                                       algorithm::binary_sub, algorithm::binary_mul,
                                       algorithm::binary_div};
  return kAlgorithms[static_cast<size_t>(form)];
}

PostOp function(algorithm a, double alpha, double beta) {
  return {PostOp::Kind::Function, a, static_cast<float>(alpha), static_cast<float>(beta), {}, {}};
}

}  // namespace regraft::cost::cpu
