#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Attention by its parts: scores, scale, mask, softmax.
Grammar attention_grammar() {
  return {"attention-parts",
          {{"q", {2, 2, 3, 4}}, {"k", {2, 2, 5, 4}}, {"v", {2, 2, 5, 6}}, {"m", {2, 2, 3, 5}, 2}},
          {{"transpose", "perm=0,1,3,2", {"abcd@k"}, Scope::Given, "", "turned"},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "c"},
           {"full", "shape= value=2", {}, Scope::Free, "", "d"},
           {"matmul", "", {"abcd", "abde@turned"}},
           {"mul", "", {"abcd", "-@c"}},
           {"div", "", {"abcd", "-@d"}},
           {"add", "", {"abcd", "abcd@m"}},
           {"softmax", "axis=-1", {"2235"}},
           {"matmul", "", {"2235", "abde@v"}},
           {"attention", "scale=0.5", {"2234", "abcd@k", "abce@v"}},
           {"attention", "scale=1", {"2234", "abcd@k", "abce@v"}},
           {"attention", "scale=0.5", {"2234", "abcd@k", "abce@v", "abfc"}}},
          3};
}

/// Scales of both factors of scores.
Grammar score_scale_grammar() {
  return {"score-scales",
          {{"q", {1, 2, 3, 4}}, {"k", {1, 2, 5, 4}}, {"v", {1, 2, 5, 6}}},
          {{"full", "shape= value=0.375", {}, Scope::Free, "", "c"},
           {"mul", "", {"-@c", "-@c"}, Scope::Given, "", "square"},
           {"transpose", "perm=0,1,3,2", {"abcd"}},
           {"mul", "", {"abcd", "-@"}},
           {"matmul", "", {"1234", "1245"}},
           {"attention", "scale=1", {"1234", "1254", "1256@v"}}},
          3};
}

/// Heads beside each other, before and within the last axis.
Grammar head_grammar() {
  return {"heads",
          {{"q", {3, 5, 4}}, {"k", {3, 7, 4}}, {"v", {3, 7, 4}}},
          {{"reshape", "shape~3,5,2,2", {"354@q"}, Scope::Given, "", "q2"},
           {"reshape", "shape~3,7,2,2", {"374@k"}, Scope::Given, "", "k2"},
           {"reshape", "shape~3,7,2,2", {"374@v"}, Scope::Given, "", "v2"},
           {"transpose", "perm=0,2,1,3", {"3522@q2"}, Scope::Given, "", "q3"},
           {"transpose", "perm=0,2,1,3", {"3722@k2"}, Scope::Given, "", "k3"},
           {"transpose", "perm=0,2,1,3", {"3722@v2"}, Scope::Given, "", "v3"},
           {"attention", "scale=0.5", {"3252@q3", "3272@k3", "3272@v3"}},
           {"transpose", "perm=0,2,1,3", {"3252"}},
           {"reshape", "shape~3,5,4", {"3522"}},
           {"attention", "q_heads=2 kv_heads=2 scale=0.5", {"354@q", "374@k", "374@v"}}},
          1};
}

/// Biases of heads.
Grammar head_bias_grammar() {
  return {
      "head-biases",
      {{"q", {1, 2, 4}}, {"k", {1, 3, 4}}, {"v", {1, 3, 4}}, {"a", {4}}, {"b", {4}}, {"c", {4}}},
      {{"add", "", {"abc@q", "c@a"}},
       {"add", "", {"abc@k", "c@b"}},
       {"add", "", {"abc@v", "c@c"}},
       {"concat", "axis=0", {"4@a", "4@b", "4@c"}},
       {"attention", "q_heads=2 kv_heads=2 scale=0.5", {"124", "134", "134"}},
       {"biased-attention", "q_heads=2 kv_heads=2 scale=0.5", {"124@q", "134@k", "134@v", "."}}},
      2};
}

/// Grouped queries: keys and values are repeated for each query head of a group.
Grammar group_query_grammar() {
  return {"grouped-queries",
          {{"q", {2, 6, 2, 4}}, {"k", {2, 3, 5, 4}}, {"v", {2, 3, 5, 4}}, {"p", {2, 6, 4, 5}}},
          {{"reshape", "shape~2,3,1,5,4", {"2354@k"}, Scope::Given, "", "k1"},
           {"expand", "shape~2,3,2,5,4", {"23154@k1"}, Scope::Given, "", "k3"},
           {"reshape", "shape~2,6,5,4", {"23254@k3"}, Scope::Given, "", "keys"},
           {"reshape", "shape~2,3,1,5,4", {"2354@v"}, Scope::Given, "", "v1"},
           {"expand", "shape~2,3,2,5,4", {"23154@v1"}, Scope::Given, "", "v3"},
           {"reshape", "shape~2,6,5,4", {"23254@v3"}, Scope::Given, "", "values"},
           {"transpose", "perm=0,1,3,2", {"2654@keys"}},
           {"transpose", "perm=0,1,3,2", {"2354@k"}},
           {"reshape", "shape~2,3,4,4", {"2624@q"}},
           {"reshape", "shape~2,3,8,5", {"2645@p"}},
           {"matmul", "", {"2624@q", "2645"}},
           {"matmul", "", {"2344", "2345"}},
           {"matmul", "", {"2645@p", "2654@values"}},
           {"matmul", "", {"2385", "2354@v"}},
           {"reshape", "shape~2,6,2,5", {"2345"}},
           {"reshape", "shape~2,6,4,4", {"2384"}},
           {"attention", "scale=0.5", {"2624@q", "2.54@", "2.54@"}}},
          2};
}

/// Old and new keys and values, side by side.
Grammar cache_grammar() {
  return {"caches",
          {{"q", {1, 2, 3, 4}},
           {"k", {1, 2, 5, 4}, 2},
           {"p", {1, 2, 3, 5}, 2},
           {"v", {1, 2, 5, 2}, 2},
           {"s", {2, 3, 4}, 2}},
          {{"transpose", "perm=0,1,3,2", {"...."}},
           {"transpose", "perm=0,2,1", {"..."}},
           {"concat", "axis=2", {"1254", "1254"}},
           {"concat", "axis=2", {"1252", "1252"}},
           {"concat", "axis=3", {"abcd", "abce"}},
           {"concat", "axis=2", {"2345", "2345"}},
           {"concat", "axis=1", {"234", "234"}},
           {"concat", "axis=2", {"243", "243"}},
           {"add", "", {"abcd", "abcd"}},
           {"matmul", "", {"abcd", "abde"}}},
          1};
}

/// Rows of queries, and the tables and numbers of rotations.
Grammar query_row_grammar() {
  return {"query-rows",
          {{"q", {1, 2, 5, 2}}, {"k", {1, 2, 4, 2}}, {"v", {1, 2, 4, 3}}, {"m", {1, 2, 5, 4}, 2}},
          {{"slice", "begins=0,0,1,0 sizes~1,2,3,2", {"1252"}},
           {"slice", "begins=0,0,1,0 sizes~1,2,3,3", {"1253"}},
           {"attention", "scale=0.5", {"abcd", "abed@k", "abef@v"}},
           {"attention", "scale=0.5", {"abcd", "abed@k", "abef@v", "abce"}},
           {"add", "", {"abcd", "abcd@m"}}}};
}

/// Softmax by its parts, its logarithm, and what it does not see.
Grammar softmax_grammar() {
  return {"softmax-parts",
          {{"x", {3, 4}}, {"c", {3, 1}}, {"v", {4, 2}}},
          {{"reduce-max", "axes=-1", {"ab@x"}},
           {"sub", "", {"ab@x", "a1"}},
           {"sub", "", {"ab", "a1"}},
           {"exp", "", {"ab"}},
           {"log", "", {"ab"}},
           {"reduce-sum", "axes=-1", {"ab"}},
           {"reduce-log-sum-exp", "axes=-1", {"ab"}},
           {"add", "", {"a1", "a1"}},
           {"div", "", {"ab", "a1"}},
           {"matmul", "", {"ab", "bc@v"}},
           {"softmax", "axis=-1", {"34"}},
           {"log-softmax", "axis=-1", {"34"}},
           {"full", "shape~3,1 value=1", {}, Scope::Free}},
          1};
}

/// The same of vectors, images and other axes; softmax of one element and of two.
Grammar softmax_axis_grammar() {
  return {"softmax-axes",
          {{"x", {2, 3, 4}}, {"c", {2, 3, 1}}, {"s", {}}, {"y", {5, 1, 3}}, {"u", {5, 1}, 2}},
          {{"sub", "", {"abc@x", "ab1"}},
           {"add", "", {"abc@x", "ab1"}},
           {"sub", "", {"abc@x", "-"}},
           {"transpose", "perm=0,2,1", {"234"}},
           {"softmax", "axis=2", {"..."}},
           {"softmax", "axis=1", {"..."}},
           {"softmax", "axis=-1", {"..."}},
           {"full", "shape~5,1,3 value=1", {}, Scope::Free},
           {"softmax", "axis=1", {"52"}},
           {"concat", "axis=1", {"51", "51"}},
           {"sub", "", {"51@u", "51@u"}},
           {"sigmoid", "", {"51"}},
           {"neg", "", {"51"}}},
          1};
}

/// Softmax over blocks that are merged.
Grammar block_grammar() {
  return {"softmax-blocks",
          {{"x", {3, 2}}, {"y", {3, 2}}, {"v", {2, 4}}, {"w", {2, 4}}},
          {{"concat", "axis=1", {"ab@x", "ab@y"}},
           {"concat", "axis=0", {"ab@v", "ab@w"}},
           {"softmax", "axis=1", {".."}},
           {"matmul", "", {"ab", "bc@v"}},
           {"matmul", "", {"ab", "bc@w"}},
           {"matmul", "", {"ab", "bc"}},
           {"exp", "", {"ab@x"}},
           {"exp", "", {"ab@y"}},
           {"reduce-sum", "axes=1", {"ab"}},
           {"add", "", {"31", "31"}},
           {"add", "", {"34", "34"}},
           {"div", "", {"34", "31"}}},
          2};
}

/// Rotations of pairs.
Grammar rotation_grammar() {
  return {"rotations",
          {{"x", {2, 5, 3, 4}}, {"c", {2, 3, 2}}, {"s", {2, 3, 2}}},
          {{"concat", "axis=2", {"232@c", "232@c"}, Scope::Given, "", "cc"},
           {"concat", "axis=2", {"232@s", "232@s"}, Scope::Given, "", "ss"},
           {"reshape", "shape~2,1,3,4", {"234@cc"}, Scope::Given, "", "cosine"},
           {"reshape", "shape~2,1,3,4", {"234@ss"}, Scope::Given, "", "sine"},
           {"slice", "begins=0,0,0,0 sizes~2,5,3,2", {"2534@x"}, Scope::Given, "", "low"},
           {"slice", "begins~0,0,0,2 sizes~2,5,3,2", {"2534@x"}, Scope::Given, "", "high"},
           {"neg", "", {"2532@high"}},
           {"concat", "axis=3", {"2532", "2532@low"}},
           {"mul", "", {"2534@x", "2134@cosine"}},
           {"mul", "", {"2534", "2134@sine"}},
           {"add", "", {"2534", "2534"}},
           {"rotary-embedding", "", {"2534@x", "232@c", "232@s"}}},
          3};
}

/// Rotations of halves, each turned.
Grammar half_rotation_grammar() {
  return {"half-rotations",
          {{"x", {2, 5, 3, 4}}, {"c", {2, 3, 2}}, {"s", {2, 3, 2}}},
          {{"reshape", "shape~2,1,3,2", {"232@c"}, Scope::Given, "", "cosine"},
           {"reshape", "shape~2,1,3,2", {"232@s"}, Scope::Given, "", "sine"},
           {"slice", "begins=0,0,0,0 sizes~2,5,3,2", {"2534@x"}, Scope::Given, "", "low"},
           {"slice", "begins~0,0,0,2 sizes~2,5,3,2", {"2534@x"}, Scope::Given, "", "high"},
           {"split", "axis=3 sizes~2,2", {"2534@x"}},
           {"mul", "", {"2532@low", "2132@cosine"}, Scope::Given, "", "lc"},
           {"mul", "", {"2532@low", "2132@sine"}, Scope::Given, "", "ls"},
           {"mul", "", {"2532@high", "2132@cosine"}, Scope::Given, "", "hc"},
           {"mul", "", {"2532@high", "2132@sine"}, Scope::Given, "", "hs"},
           {"sub", "", {"2532@lc", "2532@hs"}},
           {"add", "", {"2532@ls", "2532@hc"}},
           {"concat", "axis=3", {"2532", "2532"}},
           {"rotary-embedding", "", {"2534@x", "232@c", "232@s"}}},
          1};
}

/// Rotations of pairs of neighbours.
Grammar pair_rotation_grammar() {
  return {
      "pair-rotations",
      {{"x", {2, 4, 2, 6}}, {"c", {2, 2, 3}}, {"s", {2, 2, 3}}},
      {{"reshape", "shape~2,1,2,3", {"223@c"}, Scope::Given, "", "cosine"},
       {"reshape", "shape~2,1,2,3", {"223@s"}, Scope::Given, "", "sine"},
       {"slice",
        "begins=0,0,0,0 sizes~2,4,2,3 steps=1,1,1,2",
        {"2426@x"},
        Scope::Given,
        "",
        "even"},
       {"slice", "begins=0,0,0,1 sizes~2,4,2,3 steps=1,1,1,2", {"2426@x"}, Scope::Given, "", "odd"},
       {"mul", "", {"2423@even", "2123@cosine"}, Scope::Given, "", "ec"},
       {"mul", "", {"2423@even", "2123@sine"}, Scope::Given, "", "es"},
       {"mul", "", {"2423@odd", "2123@cosine"}, Scope::Given, "", "oc"},
       {"mul", "", {"2423@odd", "2123@sine"}, Scope::Given, "", "os"},
       {"sub", "", {"2423@ec", "2423@os"}},
       {"add", "", {"2423@es", "2423@oc"}},
       {"concat", "axis=3", {"2423", "2423"}},
       {"reshape", "shape~2,4,2,2,3", {"2426"}},
       {"reshape", "shape~2,4,2,3,2", {"2426"}},
       {"transpose", "perm=0,1,2,4,3", {"....."}},
       {"rotary-embedding", "interleaved=1", {"2426@x", "223@c", "223@s"}}},
      2};
}

/// Rotations one after another, of heads side by side, of what is scaled, by tables.
Grammar rotated_grammar() {
  return {"rotated",
          {{"x", {1, 2, 3, 4}, 2},
           {"c", {1, 3, 2}},
           {"s", {1, 3, 2}},
           {"d", {1, 3, 2}},
           {"t", {1, 3, 2}},
           {"a", {}}},
          {{"rotary-embedding", "", {"1.34", "132@c", "132@s"}},
           {"rotary-embedding", "", {"1.34", "132@d", "132@t"}},
           {"rotary-embedding", "", {"1234@x", "132", "132"}},
           {"concat", "axis=1", {"1234", "1234"}},
           {"mul", "", {"1234", "-@"}},
           {"mul", "", {"132@", "132@"}},
           {"sub", "", {"132", "132"}},
           {"add", "", {"132", "132"}},
           {"full", "shape= value=0.375", {}, Scope::Free}},
          1};
}

}  // namespace

std::vector<Grammar> attention_themes() {
  return {attention_grammar(),     score_scale_grammar(), head_grammar(),
          head_bias_grammar(),     group_query_grammar(), cache_grammar(),
          query_row_grammar(),     softmax_grammar(),     softmax_axis_grammar(),
          block_grammar(),         rotation_grammar(),    half_rotation_grammar(),
          pair_rotation_grammar(), rotated_grammar()};
}

}  // namespace regraft::gen
