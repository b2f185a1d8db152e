#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Matrices and vectors.
Grammar matrix_einsum_grammar() {
  return {"einsum-matrices",
          {{"a", {2, 3}}, {"b", {3, 4}}, {"c", {2, 3}}, {"d", {5, 5}}, {"u", {2}}, {"v", {3}}},
          {{"einsum", "x=0,1 y=1,2 out=0,2", {"ab", "bc"}},
           {"einsum", "x=0,1 y=2,1 out=0,2", {"ab", "cb"}},
           {"einsum", "x=0,1 y=0,1 out=0", {"ab@a", "ab@c"}},
           {"einsum", "x=0 y=1 out=0,1", {"a@u", "b@v"}},
           {"einsum", "x=0,1 y= out=1,0", {"ab"}},
           {"einsum", "x=0,1 y= out=0", {"ab"}},
           {"einsum", "x=0,0 y= out=", {"55@d"}},
           {"matmul", "", {"ab", "bc"}},
           {"mul", "", {"ab@", "ab@"}},
           {"mul", "", {"a1", "b"}},
           {"identity-matrix", "size~5", {}, Scope::Free},
           {"reshape", "shape~2,1", {"2"}},
           {"transpose", "perm=1,0", {".."}},
           {"reduce-sum", "axes=1 keepdims=0", {"23"}},
           {"reduce-sum", "axes=0,1 keepdims=0", {"55"}}}};
}

/// Batches of rows, and heads.
Grammar batch_einsum_grammar() {
  return {
      "einsum-batches",
      {{"x", {2, 3, 4}}, {"y", {2, 4, 5}}, {"w", {4, 2, 3}}, {"o", {3, 4, 2}}, {"z", {2, 2, 3, 4}}},
      {{"einsum", "x=0,1,2 y=0,2,3 out=0,1,3", {"abc@x", "acd@y"}},
       {"einsum", "x=0,1,2 y=2,3,4 out=0,1,3,4", {"abc@x", "cde@w"}},
       {"einsum", "x=0,1,2,3 y=2,3,4 out=0,1,4", {"abcd@z", "cde@o"}},
       {"einsum", "x=0,1,2 y= out=2,0,1", {"234@x"}},
       {"einsum", "x=0,1,2 y= out=0,2,1", {"234@x"}},
       {"einsum", "x=0,1,2 y= out=0,2", {"234@x"}},
       {"einsum", "x=0,1,2 y= out=0,1", {"234@x"}},
       {"transpose", "perm=2,0,1", {"234@x"}},
       {"transpose", "perm=0,2,1", {"234@x"}},
       {"reduce-sum", "axes=1 keepdims=0", {"234@x"}},
       {"reduce-sum", "axes=2 keepdims=0", {"234@x"}},
       {"matmul", "", {"234", "245"}},
       {"matmul", "", {"abc", "cd"}},
       {"reshape", "shape~4,6", {"423@w"}},
       {"reshape", "shape~2,3,2,3", {"236"}},
       {"reshape", "shape~2,2,12", {"2234@z"}},
       {"reshape", "shape~12,2", {"342@o"}}},
      1};
}

/// Scores of attention.
Grammar score_einsum_grammar() {
  return {"einsum-scores",
          {{"q", {2, 3, 4, 5}}, {"k", {2, 3, 2, 5}}, {"p", {2, 2, 3, 5}}, {"v", {2, 3, 5, 2}}},
          {{"einsum", "x=0,1,2,3 y=0,1,3,4 out=0,1,2,4", {"abcd@q", "abde@v"}},
           {"einsum", "x=0,1,2,3 y=0,1,4,3 out=0,1,2,4", {"abcd@q", "abed@k"}},
           {"einsum", "x=0,1,2,3 y=0,4,2,3 out=0,2,1,4", {"2345@q", "2.45"}},
           {"transpose", "perm=0,1,3,2", {"2325"}},
           {"matmul", "", {"abcd@q", "abde"}}},
          1};
}

/// Scores of heads that stand behind places.
Grammar place_einsum_grammar() {
  return {"einsum-places",
          {{"q", {2, 3, 4, 5}}, {"k", {2, 6, 4, 5}}},
          {{"einsum", "x=0,1,2,3 y=0,4,2,3 out=0,2,1,4", {"abcd@q", "aecd@k"}},
           {"transpose", "perm=0,2,1,3", {"...."}},
           {"transpose", "perm=0,2,3,1", {"...."}},
           {"matmul", "", {"2435", "2456"}}},
          1};
}

}  // namespace

std::vector<Grammar> einsum_themes() {
  return {matrix_einsum_grammar(), batch_einsum_grammar(), score_einsum_grammar(),
          place_einsum_grammar()};
}

}  // namespace regraft::gen
