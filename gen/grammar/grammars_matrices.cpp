#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Batches of rows through weights: products, biases, scales, transposes.
Grammar linear_grammar() {
  return {"linear",
          {{"x", {2, 3, 4}, 2},
           {"y", {2, 4, 5}},
           {"w", {4, 4}, 2},
           {"r", {1, 4}},
           {"b", {4}, 2},
           {"s", {}}},
          {{"matmul", "", {"abc", "cd"}},
           {"matmul", "", {"ab", "bc"}},
           {"matmul", "", {"abc", "acd"}},
           {"matmul", "", {"ab", "cbd"}},
           {"add", "", {"abc", "abc"}},
           {"add", "", {"abc", "c"}},
           {"add", "", {"ab", "ab"}},
           {"add", "", {"ab", "b"}},
           {"add", "", {"abc", "1c"}},
           {"add", "", {"a", "a"}},
           {"mul", "", {"abc", "-"}},
           {"mul", "", {"ab", "-"}},
           {"mul", "", {"a", "-"}},
           {"mul", "", {"abc", "c"}},
           {"mul", "", {"ab", "b"}},
           {"mul", "", {"a", "a"}},
           {"div", "", {"abc", "-"}},
           {"transpose", "perm=0,2,1", {"..."}},
           {"transpose", "perm=1,0", {".."}},
           {"reshape", "shape~1,4", {"4"}},
           {"reduce-mean", "axes=1 keepdims=1", {"..."}}}};
}

/// Rows and biases: general matrix products.
Grammar gemm_grammar() {
  return {
      "gemm",
      {{"x", {2, 3}, 2}, {"w", {3, 4}, 2}, {"u", {4, 3}}, {"r", {1, 3}}, {"b", {4}, 2}, {"s", {}}},
      {{"gemm", "", {"ab", "bc", "c"}},
       {"gemm", "", {"ab", "bc"}},
       {"gemm", "transB=1", {"ab", "cb", "c"}},
       {"gemm", "transA=1", {"ba", "bc", "c"}},
       {"matmul", "", {"ab", "bc"}},
       {"add", "", {"ab", "ab"}},
       {"add", "", {"ab", "b"}},
       {"add", "", {"ab", "1b"}},
       {"add", "", {"a", "a"}},
       {"mul", "", {"ab", "-"}},
       {"mul", "", {"a", "-"}},
       {"transpose", "perm=1,0", {".."}},
       {"reshape", "shape~1,4", {"4"}},
       {"full", "shape~4 value=0", {}, Scope::Free}}};
}

/// Some rows of what acts on each row alone. What a slice is free to choose is no extent here.
Grammar row_grammar() {
  return {"rows",
          {{"x", {9, 3}, 2}, {"w", {3, 5}, 1}, {"b", {3}, 2}, {"c", {5}}},
          {{"slice", "begins=1,0 sizes~4,3 steps=2,1", {"93"}},
           {"slice", "begins=1,0 sizes~4,5 steps=2,1", {"95"}},
           {"slice", "begins=0,1 sizes~3,2 steps=1,3", {"35"}},
           {"slice", "begins=0,1 sizes~9,2 steps=1,3", {"95"}},
           {"slice", "begins=0,1 sizes~3,4 steps=1,2", {"39"}},
           {"slice", "begins=1,0 sizes~2,3", {"43"}},
           {"slice", "begins=3,0 sizes~2,3 steps=2,1", {"93"}},
           {"gather", "axis=0 indices=2,0 shape=2", {"9."}},
           {"gather", "axis=0 indices=1,2 shape=2", {"9."}},
           {"matmul", "", {"ab", "bc"}},
           {"gemm", "", {"ab", "bc", "c"}},
           {"add", "", {"ab", "ab"}},
           {"mul", "", {"ab", "ab"}},
           {"add", "", {"ab", "b"}},
           {"relu", "", {".."}},
           {"softmax", "axis=-1", {".."}},
           {"layernorm", "axis=-1", {"ab", "b", "b"}},
           {"transpose", "perm=1,0", {".."}}}};
}

/// One token of a batch of sequences.
Grammar token_grammar() {
  return {"tokens",
          {{"x", {3, 9, 6}, 2}, {"w", {6, 5}}, {"b", {6}, 2}, {"c", {5}}},
          {{"gather", "axis=1 indices=1 shape=", {"..."}},
           {"gather", "axis=1 indices=0 shape=", {"..."}},
           {"slice", "begins=0,1,0 sizes~3,4,6 steps=1,2,1", {"396"}},
           {"slice", "begins=0,1,0 sizes~3,4,5 steps=1,2,1", {"395"}},
           {"matmul", "", {"abc", "cd"}},
           {"matmul", "", {"ab", "bc"}},
           {"add", "", {"abc", "abc"}},
           {"add", "", {"ab", "ab"}},
           {"mul", "", {"abc", "abc"}},
           {"mul", "", {"ab", "ab"}},
           {"add", "", {"abc", "c"}},
           {"add", "", {"ab", "b"}},
           {"relu", "", {"..."}},
           {"relu", "", {".."}},
           {"softmax", "axis=-1", {"..."}},
           {"softmax", "axis=-1", {".."}},
           {"layernorm", "axis=-1", {"abc", "c", "c"}},
           {"layernorm", "axis=-1", {"ab", "b", "b"}}}};
}

/// Reshapes and transposes around what acts on elements alone. Images are 2x3x4x5; what is 4x6x9
/// takes shapes that share no extent with it.
Grammar layout_grammar() {
  return {"layout",
          {{"x", {2, 3, 4, 5}, 2}, {"q", {2, 20, 3}}, {"r", {4, 6, 9}, 2}},
          {{"transpose", "perm=0,2,3,1", {"...."}},
           {"transpose", "perm=0,3,1,2", {"...."}},
           {"transpose", "perm=0,2,1", {"2.."}},
           {"reshape", "shape~2,3,20", {"2345"}},
           {"reshape", "shape~2,20,3", {"2453"}},
           {"reshape", "shape~2,3,4,5", {"23."}},
           {"reshape", "shape~2,4,5,3", {"2.3"}},
           {"reshape", "shape~2,3,4,5", {"2345"}},
           {"reshape", "shape=8,27", {"..."}},
           {"reshape", "shape=3,2,36", {"469"}},
           {"reshape", "shape=2,3,12,3", {".."}},
           {"reshape", "shape=2,3,12,3", {"469"}},
           {"relu", "", {"...."}},
           {"relu", "", {"..."}},
           {"relu", "", {".."}},
           {"add", "", {"abcd", "abcd"}},
           {"add", "", {"abc", "abc"}},
           {"mul", "", {"abcd", "abcd"}},
           {"mul", "", {"abc", "abc"}}}};
}

/// Arithmetic of tensors and scalars.
Grammar number_grammar() {
  return {"numbers",
          {{"x", {2, 3}, 3}, {"s", {}, 2}},
          {{"add", "", {"ab", "ab"}},
           {"sub", "", {"ab", "ab"}},
           {"mul", "", {"ab", "ab"}},
           {"div", "", {"ab", "ab"}},
           {"mul", "", {"ab", "-"}},
           {"div", "", {"ab", "-"}},
           {"mul", "", {"-", "-"}},
           {"div", "", {"-", "-"}},
           {"neg", "", {".."}},
           {"full", "shape= value=0", {}, Scope::Free},
           {"full", "shape= value=1", {}, Scope::Free},
           {"full", "shape~2,3 value=0", {}, Scope::Free}}};
}

/// Functions of single elements.
Grammar function_grammar() {
  return {"functions",
          {{"x", {2, 3}, 2}},
          {{"add", "", {"ab", "ab"}},
           {"mul", "", {"ab", "ab"}},
           {"div", "", {"ab", "ab"}},
           {"neg", "", {".."}},
           {"relu", "", {".."}},
           {"sigmoid", "", {".."}},
           {"tanh", "", {".."}},
           {"exp", "", {".."}},
           {"sqrt", "", {".."}},
           {"clip", "min=0 max=8", {".."}}}};
}

/// Forms of the hard sigmoid; numbers that are exact in binary.
Grammar hard_grammar() {
  return {"hard",
          {{"x", {2, 3}, 2}},
          {{"add", "", {"ab", "-"}},
           {"mul", "", {"ab", "ab"}},
           {"mul", "", {"ab", "-"}},
           {"div", "", {"ab", "-"}},
           {"clip", "min=0 max=8", {".."}},
           {"hard-sigmoid", "alpha=0.125 beta=0.5", {".."}},
           {"full", "shape= value=4", {}, Scope::Free},
           {"full", "shape= value=8", {}, Scope::Free},
           {"full", "shape= value=0.125", {}, Scope::Free}}};
}

/// A hard sigmoid is clipped to 0 and 1; its numbers stand in no relation.
Grammar hard_sigmoid_grammar() {
  return {"hard-sigmoid",
          {{"x", {2, 3}}, {"s", {}}},
          {{"add", "", {"ab", "-"}},
           {"mul", "", {"ab", "-"}},
           {"relu", "", {".."}},
           {"neg", "", {".."}},
           {"clip", "min=0 max=1", {".."}},
           {"hard-sigmoid", "alpha=0.375 beta=0.625", {".."}},
           {"full", "shape= value=0.375", {}, Scope::Free},
           {"full", "shape= value=0.625", {}, Scope::Free}}};
}

/// Clips scaled by their bound.
Grammar clip_grammar(std::string_view name, std::string_view clip, std::string_view bound) {
  return {name,
          {{"x", {2, 3}, 2}},
          {{"mul", "", {"ab", "ab"}},
           {"mul", "", {"ab", "-"}},
           {"div", "", {"ab", "-"}},
           {"relu", "", {".."}},
           {"clip", "min=0 max=1", {".."}},
           {"clip", clip, {".."}},
           {"full", bound, {}, Scope::Free}}};
}

/// Sums, means and softmax over rows.
Grammar reduction_grammar() {
  return {"reductions",
          {{"x", {2, 3}, 2}, {"c", {2, 1}}, {"w", {3, 3}}, {"s", {}}},
          {{"matmul", "", {"ab", "bc"}},
           {"add", "", {"ab", "ab"}},
           {"sub", "", {"ab", "ab"}},
           {"sub", "", {"ab", "a1"}},
           {"mul", "", {"ab", "ab"}},
           {"mul", "", {"ab", "a1"}},
           {"mul", "", {"ab", "-"}},
           {"div", "", {"ab", "a1"}},
           {"div", "", {"ab", "-"}},
           {"relu", "", {".."}},
           {"exp", "", {".."}},
           {"softmax", "axis=-1", {".."}},
           {"transpose", "perm=1,0", {".."}},
           {"concat", "axis=-1", {"ab", "ac"}},
           {"concat", "axis=-2", {"ba", "ca"}},
           {"reduce-sum", "axes=-1 keepdims=1", {".."}},
           {"reduce-mean", "axes=-1 keepdims=1", {".."}},
           {"reduce-max", "axes=-1 keepdims=1", {".."}}}};
}

/// Parts of what was put together, also as slices.
Grammar split_grammar() {
  return {"splits",
          {{"x", {4, 5}, 2}, {"y", {2, 5}}, {"z", {4, 3}}},
          {{"split", "axis=1 sizes=2,3", {".5"}},
           {"split", "axis=1 sizes~5,3", {".8"}},
           {"split", "axis=1 sizes~5,5", {"4."}},
           {"split", "axis=0 sizes=1,3", {"4."}},
           {"split", "axis=0 sizes~4,2", {"6."}},
           {"slice", "begins=0,2 sizes~4,3", {"45"}},
           {"slice", "begins=0,5 sizes~4,3", {"48"}},
           {"slice", "begins=0,0 sizes~4,5", {"48"}},
           {"concat", "axis=1", {"ab", "ac"}},
           {"concat", "axis=0", {"ab", "cb"}},
           {"add", "", {"ab", "ab"}},
           {"mul", "", {"ab", "ab"}},
           {"relu", "", {".."}}}};
}

/// A shuffle of channels before a convolution: reshape, transpose, reshape.
Grammar shuffle_before_grammar() {
  return {"shuffle-before",
          {{"x", {2, 3, 4, 5, 2}}, {"w", {7, 12, 1, 1}}},
          {{"transpose", "perm=0,2,1,3,4", {"....."}},
           {"reshape", "shape~2,12,5,2", {"2..52"}},
           {"reshape", "shape~7,12,1,1", {"7..11"}},
           {"reshape", "shape~7,4,3,1,1", {"7.11"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"2.52", "7.11"}},
           {"relu", "", {"...."}},
           {"relu", "", {"....."}}},
          2};
}

/// A shuffle of channels after a convolution.
Grammar shuffle_after_grammar() {
  return {"shuffle-after",
          {{"x", {2, 7, 5, 2}}, {"w", {3, 4, 7, 1, 1}}},
          {{"transpose", "perm=0,2,1,3,4", {"2...."}},
           {"transpose", "perm=1,0,2,3,4", {"..711"}},
           {"reshape", "shape~12,7,1,1", {"..711"}},
           {"reshape", "shape~2,3,4,5,2", {"2.52"}},
           {"reshape", "shape~2,12,5,2", {"2..52"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"2752", ".711"}}},
          2};
}

}  // namespace

std::vector<Grammar> matrix_grammars() {
  return {matrix_grammar(),
          split_grammar(),
          linear_grammar(),
          gemm_grammar(),
          row_grammar(),
          token_grammar(),
          layout_grammar(),
          number_grammar(),
          hard_grammar(),
          hard_sigmoid_grammar(),
          clip_grammar("clips-6", "min=0 max=6", "shape= value=6"),
          clip_grammar("clips-8", "min=0 max=8", "shape= value=8")};
}

std::vector<Grammar> rarer_grammars() {
  return {function_grammar(), reduction_grammar(), shuffle_before_grammar(),
          shuffle_after_grammar()};
}

}  // namespace regraft::gen
