#include <array>
#include <utility>

#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Pointwise convolutions as products of matrices, with and without a bias.
Grammar pointwise_product_grammar() {
  return {"pointwise-products",
          {{"x", {2, 3, 5, 4}}, {"p", {6, 3, 1, 1}, 1, Role::Kernel}},
          {{"conv", "", {"2354@x", "6311@p"}},
           {"reshape", "shape~6,3", {"6311@p"}, Scope::Given, "", "matrix"},
           {"reshape", "shape~2,3,20", {"2354@x"}, Scope::Given, "", "pixels"},
           {"transpose", "perm=0,2,3,1", {"2354@x"}, Scope::Given, "", "last"},
           {"transpose", "perm=1,0", {"63@matrix"}, Scope::Given, "", "turned"},
           {"matmul", "", {"63@matrix", "2.."}},
           {"matmul", "", {"2543@last", "36@turned"}},
           {"reshape", "shape~2,6,5,4", {"26."}},
           {"transpose", "perm=0,3,1,2", {"2546"}}}};
}

/// Slices of slices, by numbers that differ and may move.
Grammar general_slice_grammar() {
  return {"general-slices",
          {{"x", {23, 19}}},
          {{"slice", "begins=1,2 sizes=9,7 steps=2,2", {"..@x"}},
           {"slice", "begins=1,1 sizes=2,2 steps=3,2", {"97"}},
           {"slice", "begins=3,4 sizes=2,2 steps=6,4", {"..@x"}}},
          0,
          false,
          512};
}

/// The same of vectors.
Grammar vector_slice_grammar() {
  return {"vector-slices",
          {{"x", {29}}},
          {{"slice", "begins=2 sizes=9 steps=2", {".@x"}},
           {"slice", "begins=1 sizes=2 steps=3", {"9"}},
           {"slice", "begins=4 sizes=2 steps=6", {".@x"}}}};
}

/// A part of one of two that are joined.
Grammar joined_slice_grammar() {
  return {"joined-slices",
          {{"x", {9, 13}}, {"y", {9, 7}}},
          {{"concat", "axis=1", {"9.@x", "9.@y"}},
           {"slice", "begins=0,4 sizes~9,6", {"9."}},
           {"slice", "begins=0,15 sizes~9,3", {"9."}},
           {"slice", "begins=0,2 sizes~9,3", {"9."}}}};
}

/// The same of three axes.
Grammar joined_block_grammar() {
  return {"joined-blocks",
          {{"x", {2, 13, 3}}, {"y", {2, 7, 3}}},
          {{"concat", "axis=1", {"2.3@x", "2.3@y"}},
           {"slice", "begins=0,4,0 sizes~2,6,3", {"2.3"}},
           {"slice", "begins=0,15,0 sizes~2,3,3", {"2.3"}},
           {"slice", "begins=0,2,0 sizes~2,3,3", {"2.3"}}}};
}

/// Two parts that make the whole.
Grammar adjacent_slice_grammar(std::string_view name, std::vector<int64_t> x, std::string_view axis,
                               std::string_view first, std::string_view second,
                               std::array<std::string_view, 3> axes) {
  return {name,
          {{"x", std::move(x)}},
          {{"slice", first, {axes[0]}, Scope::Given, "", "a"},
           {"slice", second, {axes[0]}, Scope::Given, "", "b"},
           {"concat", axis, {axes[1], axes[2]}}}};
}

/// Rows of two tables that are joined.
Grammar joined_gather_grammar() {
  return {"joined-gathers",
          {{"m", {6, 4}}, {"n", {5, 4}}},
          {{"concat", "axis=0", {"64@m", "54@n"}},
           {"gather", "axis=0 indices=3 shape=1", {".4"}},
           {"gather", "axis=0 indices=3 shape=", {".4"}},
           {"gather", "axis=0 indices=8 shape=1", {".4"}},
           {"gather", "axis=0 indices=8 shape=", {".4"}},
           {"gather", "axis=0 indices=2 shape=1", {".4"}},
           {"gather", "axis=0 indices=2 shape=", {".4"}}}};
}

/// What a pad added is taken off again; pads by numbers that all differ.
Grammar general_pad_grammar() {
  return {"general-pads",
          {{"x", {2, 7}}, {"y", {9}}},
          {{"pad", "pads=3,4,5,6", {"27@x"}},
           {"slice", "begins=3,4 sizes~2,7", {"..@"}},
           {"slice", "begins=3,4 sizes~2,7", {".."}},
           {"pad", "pads=3,4", {"9@y"}},
           {"slice", "begins=3 sizes~9", {"."}}}};
}

/// Pads in front of a convolution with pads, by numbers that all differ.
Grammar padded_image_grammar() {
  return {"padded-images",
          {{"x", {1, 2, 3, 4}}, {"k", {3, 2, 2, 2}, 1, Role::Kernel}, {"b", {3}}},
          {{"pad", "pads=0,0,1,2,0,0,3,1", {"1234@x"}},
           {"conv", "strides=1,1 pads=2,1,1,2 dilations=1,1 group=1", {"12..", "3222@k"}},
           {"conv", "strides=1,1 pads=3,3,4,3 dilations=1,1 group=1", {"12..", "3222@k"}},
           {"conv", "strides=1,1 pads=2,1,1,2 dilations=1,1 group=1", {"12..", "3222@k", "3@b"}},
           {"conv", "strides=1,1 pads=3,3,4,3 dilations=1,1 group=1", {"12..", "3222@k", "3@b"}}},
          0,
          false,
          2048};
}

/// Windows that reach over the edge, in turn.
Grammar padded_window_grammar() {
  return {"padded-windows",
          {{"x", {1, 2, 5, 6}}},
          {{"maxpool", "kernel=5,5 pads=2,2,2,2", {"1256@x"}, Scope::Given, "", "once"},
           {"maxpool", "kernel=5,5 pads=2,2,2,2", {"1256@once"}},
           {"maxpool", "kernel=9,9 pads=4,4,4,4", {"1256@x"}}}};
}

/// Windows over what is enlarged by as much.
Grammar enlarged_window_grammar() {
  return {"enlarged-windows",
          {{"x", {1, 4, 5, 6}}},
          {{"resize-nearest", "factors=2,3", {"1456@x"}},
           {"avgpool", "kernel=2,3 strides=2,3", {"14.."}},
           {"maxpool", "kernel=2,3 strides=2,3", {"14.."}}},
          0,
          false,
          1024};
}

/// What is added to each channel passes the maximum of windows that reach over the edge.
Grammar shifted_window_grammar() {
  return {"shifted-windows",
          {{"x", {2, 3, 5, 6}}, {"c", {3, 1, 1}}, {"d", {1, 3, 1, 1}}, {"s", {}}},
          {{"maxpool", "kernel=4,3 strides=2,1 pads=1,0,2,1", {"23.."}},
           {"add", "", {"23..", "311@c"}},
           {"add", "", {"23..", "1311@d"}},
           {"add", "", {"23..", "-@s"}}}};
}

/// Triangles of triangles.
Grammar triangle_grammar() {
  return {"triangles",
          {{"x", {4, 5}}},
          {{"trilu", "upper=0 k=1", {"45"}}, {"trilu", "upper=1 k=1", {"45"}}}};
}

/// Two rotations in turn are one, by the sums of angles.
Grammar double_rotation_grammar() {
  return {
      "double-rotations",
      {{"x", {2, 5, 3, 8}}, {"c", {2, 3, 4}}, {"s", {2, 3, 4}}, {"d", {2, 3, 4}}, {"t", {2, 3, 4}}},
      {{"mul", "", {"234@c", "234@d"}, Scope::Given, "", "cd"},
       {"mul", "", {"234@s", "234@t"}, Scope::Given, "", "st"},
       {"mul", "", {"234@c", "234@t"}, Scope::Given, "", "ct"},
       {"mul", "", {"234@s", "234@d"}, Scope::Given, "", "sd"},
       {"sub", "", {"234@cd", "234@st"}, Scope::Given, "", "cosine"},
       {"add", "", {"234@ct", "234@sd"}, Scope::Given, "", "sine"},
       {"rotary-embedding", "", {"2538@x", "234@c", "234@s"}},
       {"rotary-embedding", "", {"2538", "234@d", "234@t"}},
       {"rotary-embedding", "", {"2538@x", "234@cosine", "234@sine"}}}};
}

/// Heads joined by their projection.
Grammar head_projection_grammar() {
  return {"head-projections",
          {{"z", {2, 5, 3, 4}}, {"o", {3, 4, 7}}},
          {{"einsum", "x=0,1,2,3 y=2,3,4 out=0,1,4", {"2534@z", "347@o"}},
           {"reshape", "shape~2,5,12", {"2534@z"}},
           {"reshape", "shape~12,7", {"347@o"}},
           {"matmul", "", {"abc", "cd"}}},
          1};
}

/// Attention with a mask of every form, scaled before the mask is added.
Grammar masked_attention_grammar() {
  Grammar t = {"masked-attention",
               {{"q", {2, 3, 5, 4}},
                {"k", {2, 3, 6, 4}},
                {"v", {2, 3, 6, 7}},
                {"m", {2, 3, 5, 6}},
                {"n", {2, 1, 5, 6}},
                {"o", {2, 1, 1, 6}},
                {"p", {1, 1, 5, 6}},
                {"r", {5, 6}}},
               {{"full", "shape= value=0.5", {}, Scope::Free, "", "c"},
                {"transpose", "perm=0,1,3,2", {"2364@k"}, Scope::Given, "", "turned"},
                {"matmul", "", {"2354@q", "2346@turned"}, Scope::Given, "", "scores"},
                {"mul", "", {"2356@scores", "-@c"}, Scope::Given, "", "scaled"},
                {"softmax", "axis=-1", {"2356"}},
                {"matmul", "", {"2356", "2367@v"}}},
               1};
  static constexpr std::pair<std::string_view, std::string_view> kMasks[] = {{"2356@m", "masked-m"},
                                                                             {"2156@n", "masked-n"},
                                                                             {"2116@o", "masked-o"},
                                                                             {"1156@p", "masked-p"},
                                                                             {"56@r", "masked-r"}};
  for (const auto& [mask, name] : kMasks) {
    t.instances.push_back({"add", "", {"2356@scaled", mask}, Scope::Given, "", name});
    t.instances.push_back({"attention", "scale=0.5", {"2354@q", "2364@k", "2367@v", mask}});
  }
  return t;
}

}  // namespace

std::vector<Grammar> form_themes() {
  return {pointwise_product_grammar(),
          general_slice_grammar(),
          vector_slice_grammar(),
          joined_slice_grammar(),
          joined_block_grammar(),
          adjacent_slice_grammar("adjacent-columns", {9, 13}, "axis=1", "begins=0,0 sizes~9,4",
                                 "begins=0,4 sizes~9,9", {"..@x", "..@a", "..@b"}),
          adjacent_slice_grammar("adjacent-rows", {13, 9}, "axis=0", "begins=0,0 sizes~4,9",
                                 "begins=4,0 sizes~9,9", {"..@x", "..@a", "..@b"}),
          adjacent_slice_grammar("adjacent-parts", {2, 11, 3}, "axis=1", "begins=0,0,0 sizes~2,4,3",
                                 "begins=0,4,0 sizes~2,7,3", {"...@x", "...@a", "...@b"}),
          joined_gather_grammar(),
          general_pad_grammar(),
          padded_image_grammar(),
          padded_window_grammar(),
          enlarged_window_grammar(),
          shifted_window_grammar(),
          triangle_grammar(),
          double_rotation_grammar(),
          head_projection_grammar(),
          masked_attention_grammar()};
}

}  // namespace regraft::gen
