#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Pixels as blocks of channels.
Grammar pixel_block_grammar() {
  return {"pixel-blocks",
          {{"x", {2, 4, 3, 5}}, {"y", {1, 2, 4, 6}}, {"z", {2, 12, 1, 3}}},
          {{"depth-to-space", "blocksize=2", {"...."}},
           {"depth-to-space", "blocksize=2 crd=1", {"...."}},
           {"space-to-depth", "blocksize=2", {"...."}},
           {"reshape", "shape~2,2,2,3,1,3", {"2.13@z"}, Scope::Given, "", "blocks"},
           {"reshape", "shape~2,3,2,2,1,3", {"2.13@z"}, Scope::Given, "", "inner"},
           {"transpose", "perm=0,3,4,1,5,2", {"......@blocks"}},
           {"transpose", "perm=0,1,4,2,5,3", {"......@inner"}},
           {"reshape", "shape~2,3,2,6", {"231232"}}},
          1};
}

/// Pixels as blocks, by slices.
Grammar block_slice_grammar() {
  return {"pixel-slices",
          {{"y", {1, 2, 4, 6}}},
          {{"slice", "begins=0,0,0,0 sizes~1,2,2,3 steps=1,1,2,2", {"1246@y"}},
           {"slice", "begins=0,0,0,1 sizes~1,2,2,3 steps=1,1,2,2", {"1246@y"}},
           {"slice", "begins=0,0,1,0 sizes~1,2,2,3 steps=1,1,2,2", {"1246@y"}},
           {"slice", "begins=0,0,1,1 sizes~1,2,2,3 steps=1,1,2,2", {"1246@y"}},
           {"concat", "axis=1", {"1223", "1223", "1223", "1223"}},
           {"space-to-depth", "blocksize=2", {"1246@y"}}},
          3};
}

/// Pointwise convolutions and kernels as large as the image, as products.
Grammar conv_product_grammar() {
  return {"conv-products",
          {{"x", {2, 3, 2, 4}},
           {"p", {5, 3, 1, 1}, 1, Role::Kernel},
           {"k", {5, 3, 2, 4}, 1, Role::Kernel}},
          {{"conv", "", {"2324@x", "5311@p"}},
           {"conv", "", {"2324@x", "5324@k"}},
           {"reshape", "shape~5,3", {"5311@p"}, Scope::Given, "", "matrix"},
           {"reshape", "shape~2,3,8", {"2324@x"}},
           {"reshape", "shape~2,24", {"2324@x"}},
           {"reshape", "shape~5,24", {"5324@k"}},
           {"transpose", "perm=1,0", {".."}},
           {"matmul", "", {"53@matrix", "238"}},
           {"matmul", "", {"ab", "bc"}},
           {"reshape", "shape~2,5,2,4", {"258"}},
           {"reshape", "shape~2,5,1,1", {"25"}}},
          3};
}

/// Patches: kernels that do not overlap, as products.
Grammar patch_grammar() {
  return {"patches",
          {{"x", {1, 2, 6, 4}}, {"w", {5, 2, 3, 2}, 1, Role::Kernel}},
          {{"reshape", "shape~1,2,2,3,2,2", {"1264@x"}, Scope::Given, "", "tiles"},
           {"transpose", "perm=0,1,3,5,2,4", {"......@tiles"}, Scope::Given, "", "turned"},
           {"reshape", "shape~1,12,4", {"......@turned"}},
           {"reshape", "shape~5,12", {"5232@w"}},
           {"matmul", "", {"5.", "1.4"}},
           {"reshape", "shape~1,5,2,2", {"154"}},
           {"conv", "strides~3,2", {"1264@x", "5232@w"}}},
          2};
}

/// Two taps as a product of shifted slices.
Grammar tap_grammar() {
  return {"taps",
          {{"x", {3, 4, 6}}, {"w", {7, 4, 2}, 1, Role::Kernel}},
          {{"reshape", "shape~3,4,1,6", {"346@x"}, Scope::Given, "", "wide"},
           {"slice", "begins=0,0,0,0 sizes~3,4,1,5", {"3416@wide"}, Scope::Given, "", "first"},
           {"slice", "begins=0,0,0,1 sizes~3,4,1,5", {"3416@wide"}, Scope::Given, "", "second"},
           {"concat", "axis=2", {"3415@", "3415@"}},
           {"reshape", "shape~3,8,5", {"3425"}},
           {"reshape", "shape~7,8", {"742@w"}},
           {"matmul", "", {"78", "385"}},
           {"conv", "", {"346@x", "742@w"}}},
          2};
}

/// Signals as images of one row, and as images of interleaved parts.
Grammar signal_image_grammar() {
  return {"signal-images",
          {{"x", {2, 4, 9}},
           {"w", {6, 2, 3}, 1, Role::Kernel},
           {"b", {6}},
           {"v", {5, 4, 2}, 1, Role::Kernel}},
          {{"reshape", "shape~2,4,1,9", {"249@x"}},
           {"reshape", "shape~6,2,1,3", {"623@w"}},
           {"conv", "strides=2 pads=1,0 dilations=1 group=2", {"249@x", "623@w", "6@b"}},
           {"conv", "strides=1,2 pads=0,1,0,0 dilations=1,1 group=2", {"2419", "6213", "6@b"}},
           {"reshape", "shape~2,6,4", {"2614"}},
           {"reshape", "shape=2,4,3,3", {"249@x"}},
           {"reshape", "shape~5,4,2,1", {"542@v"}},
           {"conv", "", {"2433", "5421"}},
           {"conv", "dilations=3", {"249@x", "542@v"}},
           {"reshape", "shape=2,5,6", {"2523"}}},
          2};
}

/// Transposed convolutions without overlap.
Grammar transposed_block_grammar() {
  return {"transposed-blocks",
          {{"x", {1, 3, 2, 4}}, {"w", {3, 5, 2, 2}, 1, Role::Kernel}},
          {{"conv-transpose", "strides=2,2", {"1324@x", "3522@w"}},
           {"transpose", "perm=1,2,3,0", {"3522@w"}, Scope::Given, "", "turned"},
           {"reshape", "shape~20,3,1,1", {"5223@turned"}},
           {"conv", "", {"1324@x", "a311"}},
           {"depth-to-space", "blocksize=2 crd=1", {"1.24"}},
           {"depth-to-space", "blocksize=2", {"1.24"}}},
          1};
}

/// Windows over whole images, in turn, and of what is enlarged; pads into windows.
Grammar window_form_grammar() {
  return {"window-forms",
          {{"x", {1, 2, 6, 7}},
           {"y", {1, 2, 2, 3}},
           {"c", {2, 1, 1}},
           {"k", {3, 2, 2, 2}, 1, Role::Kernel}},
          {{"maxpool", "kernel~6,7", {"1267@x"}},
           {"avgpool", "kernel~6,7", {"1267@x"}},
           {"global-maxpool", "", {"1267@x"}},
           {"global-avgpool", "", {"1267@x"}},
           {"maxpool", "kernel=2,3", {"1267@x"}},
           {"maxpool", "kernel=3,2", {"1255"}},
           {"maxpool", "kernel=4,4", {"1267@x"}},
           {"maxpool", "kernel=3,3 pads=1,1,1,1", {"..67"}},
           {"maxpool", "kernel=5,5 pads=2,2,2,2", {"..67"}},
           {"maxpool", "kernel=3,3 strides=2,2 pads=1,1,1,1", {"..67"}},
           {"add", "", {"abcd", "b11@c"}},
           {"resize-nearest", "factors=2,3", {"1223@y"}},
           {"resize-nearest", "factors=2,1", {"1249"}},
           {"resize-nearest", "factors=4,3", {"1223@y"}},
           {"avgpool", "kernel=2,3 strides=2,3", {"1249"}},
           {"maxpool", "kernel=2,3 strides=2,3", {"1249"}},
           {"pad", "pads=0,0,1,0,0,0,1,1", {"1223@y"}},
           {"conv", "pads=1,1,0,0", {"1244", "3222@k"}},
           {"conv", "pads=2,1,1,1", {"1223@y", "3222@k"}}}};
}

/// Products of sequences as products of matrices.
Grammar flat_grammar() {
  return {"flat-products",
          {{"a", {2, 3, 4}}, {"b", {4, 5}}, {"c", {5}}, {"p", {2, 3, 4, 2}}, {"q", {2, 3, 2, 5}}},
          {{"reshape", "shape~6,4", {"234@a"}},
           {"matmul", "", {"ab", "bc@b"}},
           {"matmul", "", {"abc", "cd@b"}},
           {"gemm", "", {"ab", "bc@b", "c@c"}},
           {"add", "", {"abc", "c@c"}},
           {"reshape", "shape~2,3,5", {"65"}},
           {"reshape", "shape~6,4,2", {"2342@p"}},
           {"reshape", "shape~6,2,5", {"2325@q"}},
           {"matmul", "", {"642", "625"}},
           {"matmul", "", {"2342", "2325"}},
           {"reshape", "shape~2,3,4,5", {"645"}}},
          2};
}

/// Three linear layers of the same rows.
Grammar packed_grammar() {
  return {"packed-layers",
          {{"x", {2, 2, 3}},
           {"u", {3, 4}},
           {"v", {3, 5}},
           {"w", {3, 6}},
           {"a", {4}},
           {"b", {5}},
           {"c", {6}}},
          {{"concat", "axis=1", {"34@u", "35@v", "36@w"}},
           {"concat", "axis=0", {"4@a", "5@b", "6@c"}},
           {"matmul", "", {"223@x", "ab"}},
           {"add", "", {"abc", "c"}},
           {"split", "axis=-1 sizes~4,5,6", {"22."}}},
          2};
}

/// Transposes beside softmax, sums and slices; of axes of one element.
Grammar turned_grammar() {
  return {"turned",
          {{"x", {2, 3, 4}, 2},
           {"y", {2, 1, 3, 4}},
           {"i", {2, 3, 4, 2}, 2},
           {"v", {1, 2, 2, 3, 2}},
           {"t", {2, 3, 1, 1}}},
          {{"transpose", "perm=0,2,1", {"..."}},
           {"transpose", "perm=0,2,3,1", {"...."}},
           {"transpose", "perm=0,3,1,2", {"...."}},
           {"transpose", "perm=0,2,1,3", {"2134@y"}},
           {"transpose", "perm=0,2,3,4,1", {"....."}},
           {"transpose", "perm=0,4,1,2,3", {"....."}},
           {"reshape", "shape~2,3,1,4", {"2134@y"}},
           {"reshape", "shape~2,3", {"2311"}},
           {"softmax", "axis=1", {"..."}},
           {"softmax", "axis=2", {"..."}},
           {"concat", "axis=3", {"2423", "2423"}},
           {"concat", "axis=1", {"2342", "2342"}},
           {"split", "axis=1 sizes=1,2", {"23."}},
           {"split", "axis=2 sizes=1,2", {"2.3"}},
           {"slice", "begins=0,1,0 sizes=2,2,3", {"234@x"}},
           {"slice", "begins=0,0,1 sizes=2,3,2", {"243"}},
           {"reduce-mean", "axes=2,3", {"2342"}},
           {"reduce-mean", "axes=1,2", {"2423"}}}};
}

}  // namespace

std::vector<Grammar> image_themes() {
  return {pixel_block_grammar(),
          block_slice_grammar(),
          conv_product_grammar(),
          patch_grammar(),
          tap_grammar(),
          signal_image_grammar(),
          transposed_block_grammar(),
          window_form_grammar(),
          flat_grammar(),
          packed_grammar(),
          turned_grammar()};
}

}  // namespace regraft::gen
