#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Fused products.
Grammar fused_product_grammar() {
  return {
      "fused-products",
      {{"a", {2, 3}}, {"b", {3, 4}}, {"t", {4, 3}}, {"x", {2, 2, 3}}, {"y", {2, 3, 4}}, {"c", {4}}},
      {{"full", "shape= value=0.375", {}, Scope::Free, "", "f"},
       {"mul", "", {"ab", "-@f"}},
       {"mul", "", {"abc", "-@f"}},
       {"add", "", {"ab", "b@c"}},
       {"mul", "", {"a@c", "-@f"}},
       {"transpose", "perm=1,0", {".."}},
       {"transpose", "perm=0,2,1", {"..."}},
       {"relu", "", {".."}},
       {"matmul", "", {"ab", "bc"}},
       {"matmul", "", {"abc", "acd"}},
       {"gemm", "", {"ab@a", "bc@b", "c"}},
       {"gemm", "", {"ab@a", "bc@b"}},
       {"gemm", "transA=1 transB=1", {"ba", "cb"}},
       {"gemm", "transB=1", {"ab@a", "cb@t", "c@c"}},
       {"gemm", "alpha=0.375 beta=0.625", {"ab@a", "bc@b", "c@c"}},
       {"fused-gemm", "transB=1 activation=1", {"ab@a", "cb@t", "c@c"}},
       {"fused-gemm", "activation=1", {"ab@a", "bc@b", "c@c"}},
       {"fused-matmul", "alpha=0.375", {"ab", "bc"}},
       {"fused-matmul", "alpha=0.375", {"abc", "acd"}},
       {"fused-matmul", "transB=1", {"ab", "cb"}}},
      0};
}

/// The same of heads.
Grammar fused_head_grammar() {
  return {"fused-heads",
          {{"q", {1, 2, 3, 4}}, {"k", {1, 2, 5, 4}}, {"v", {1, 2, 4, 5}}},
          {{"full", "shape= value=0.375", {}, Scope::Free, "", "f"},
           {"mul", "", {"abcd", "-@f"}},
           {"transpose", "perm=0,1,3,2", {"abcd"}},
           {"matmul", "", {"1234", "1245"}},
           {"fused-matmul", "alpha=0.375", {"1234", "1245"}},
           {"fused-matmul", "alpha=0.375 transB=1", {"1234", "1254"}},
           {"fused-matmul", "transB=1", {"1234", "1254"}}},
          0};
}

/// Factors of general products.
Grammar gemm_factor_grammar() {
  return {"gemm-factors",
          {{"a", {2, 3}}, {"b", {3, 4}}, {"c", {4}}},
          {{"full", "shape= value=0.375", {}, Scope::Free, "", "e"},
           {"full", "shape= value=0.625", {}, Scope::Free, "", "f"},
           {"matmul", "", {"ab@a", "bc@b"}},
           {"mul", "", {"ab", "-@e"}},
           {"mul", "", {"a@c", "-@f"}},
           {"add", "", {"ab", "b"}},
           {"gemm", "alpha=0.375 beta=0.625", {"ab@a", "bc@b", "c@c"}},
           {"gemm", "alpha=0.375", {"ab@a", "bc@b", "c"}}},
          2};
}

/// Fused convolutions.
Grammar fused_conv_grammar() {
  return {
      "fused-convs",
      {{"x", {1, 2, 4, 5}}, {"k", {3, 2, 2, 2}, 1, Role::Kernel}, {"b", {3}}, {"z", {1, 3, 2, 3}}},
      {{"conv", "strides=2,2 pads=0,1,0,0", {"1245", "ba22", "b@b"}},
       {"fused-conv", "strides=2,2 pads=0,1,0,0 activation=1", {"1245", "ba22", "b@b"}},
       {"fused-conv", "strides=2,2 pads=0,1,0,0 activation=1", {"1245", "ba22", "b@b", "1b23@z"}},
       {"add", "", {"1323", "1323@z"}},
       {"relu", "", {"1323"}}},
      1};
}

/// Biases joined with activations and softmax.
Grammar bias_grammar() {
  return {"biases",
          {{"x", {2, 3, 4}},
           {"b", {4}},
           {"y", {2, 3}},
           {"c", {3}},
           {"i", {2, 3, 2, 4}},
           {"m", {2, 1, 1, 4}}},
          {{"add", "", {"abc", "c@"}},
           {"add", "", {"ab", "b@"}},
           {"add", "", {"abcd", "a11d@"}},
           {"gelu", "", {"..."}},
           {"gelu", "", {".."}},
           {"gelu-tanh", "", {"..."}},
           {"gelu-tanh", "", {".."}},
           {"bias-gelu", "", {"abc", "c@"}},
           {"bias-gelu", "", {"ab", "b@"}},
           {"bias-gelu-tanh", "", {"abc", "c@"}},
           {"bias-gelu-tanh", "", {"ab", "b@"}},
           {"softmax", "axis=-1", {"...."}},
           {"softmax", "axis=3", {"...."}},
           {"bias-softmax", "axis=3", {"abcd", "a11d@"}}}};
}

/// Tables that are read where a tensor says.
Grammar table_grammar() {
  return {"tables",
          {{"x", {4, 3}}, {"t", {2, 2}, 1, Role::Places}, {"w", {3, 5}}, {"y", {2, 3}}},
          {{"gather-at", "axis=0", {"..", "ab@t"}},
           {"matmul", "", {"ab", "bc@w"}},
           {"matmul", "", {"abc", "cd@w"}},
           {"relu", "", {".."}},
           {"relu", "", {"..."}}}};
}

/// Tables of rotations.
Grammar rotation_table_grammar() {
  return {"rotation-tables",
          {{"x", {2, 2, 3, 4}}, {"p", {2, 3}, 1, Role::Places}, {"c", {5, 2}}, {"s", {5, 2}}},
          {{"gather-at", "axis=0", {"ab@", "23@p"}},
           {"rotary-embedding", "", {"2234@x", "232", "232"}},
           {"rotary-embedding-at", "", {"2234@x", "23@p", "ab@", "ab@"}}},
          1};
}

}  // namespace

std::vector<Grammar> runtime_themes() {
  return {fused_product_grammar(), fused_head_grammar(), gemm_factor_grammar(),
          fused_conv_grammar(),    bias_grammar(),       table_grammar(),
          rotation_table_grammar()};
}

}  // namespace regraft::gen
