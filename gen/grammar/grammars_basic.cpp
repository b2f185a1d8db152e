#include "gen/grammar/grammars.h"

namespace regraft::gen {

Grammar matrix_grammar() {
  return {"matrices",
          {{"x", {2, 3}, 3}, {"w", {3, 3}, 3}, {"s", {}, 2}},
          {{"matmul", "", {"ab", "bc"}},
           {"add", "", {"ab", "ab"}},
           {"mul", "", {"ab", "ab"}},
           {"mul", "", {"ab", "-"}},
           {"mul", "", {"-", "-"}},
           {"relu", "", {".."}},
           {"transpose", "perm=1,0", {".."}},
           {"concat", "axis=-1", {"ab", "ac"}},
           {"concat", "axis=-2", {"ba", "ca"}},
           {"split", "axis=-1 sizes~3,3", {".6"}},
           {"split", "axis=-2 sizes~2,2", {"4."}},
           {"split", "axis=-2 sizes~3,3", {"6."}},
           {"split", "axis=-2 sizes~2,3", {"5."}},
           {"identity-matrix", "size~3", {}, Scope::Free},
           {"full", "shape= value=1", {}, Scope::Free}}};
}

// Images are the tensors whose last axes are 3x4; kernels end in 3x3, 1x3, 3x1 or 1x1.
// Extents 4 and 6 along a split axis come from concatenations only: 2+2 and 3+3.
Grammar convolution_grammar() {
  return {"convolutions",
          {{"i", {1, 2, 3, 4}, 3},
           {"k", {2, 2, 3, 3}, 3, Role::Kernel},
           {"p", {2, 2, 1, 1}, 2, Role::Kernel},
           {"h", {2, 2, 1, 3}, 2, Role::Kernel},
           {"v", {2, 2, 3, 1}, 2, Role::Kernel},
           {"d", {2, 1, 3, 3}, 2, Role::Kernel},
           {"b", {2}, 2},
           {"r", {3}, 2},
           {"s", {}}},
          {{"add", "", {"abcd", "abcd"}},
           {"add", "", {"ab", "b"}},
           {"add", "", {"a", "a"}},
           {"mul", "", {"abcd", "abcd"}},
           {"mul", "", {"abcd", "-"}},
           {"mul", "", {"a", "-"}},
           {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", ".a33"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a34", ".a11"}},
           {"conv", "strides=1,1 pads=0,1,0,1 dilations=1,1 group=1", {".a34", ".a13"}},
           {"conv", "strides=1,1 pads=1,0,1,0 dilations=1,1 group=1", {".a34", ".a31"}},
           {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group~2", {".234", ".133"}},
           {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", "ba33", "b"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a34", "ba11", "b"}},
           {"relu", "", {"..34"}},
           {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 include_pad=1", {"..34"}},
           {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 include_pad=0", {"..34"}},
           {"maxpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1", {"..34"}},
           {"concat", "axis=1", {"abcd", "aecd"}},
           {"concat", "axis=0", {"abcd", "ebcd"}},
           {"concat", "axis=0", {"a", "b"}},
           {"split", "axis=1 sizes~2,2", {".4.."}},
           {"split", "axis=0 sizes~1,1", {"2.34"}},
           {"split", "axis=0 sizes~2,2", {"4..."}},
           {"pad", "pads=0,0,1,1,0,0,1,1", {"..11"}, Scope::Leaves},
           {"pad", "pads=0,0,1,0,0,0,1,0", {"..13"}, Scope::Leaves},
           {"pad", "pads=0,0,0,1,0,0,0,1", {"..31"}, Scope::Leaves},
           {"identity-kernel", "channels~2 kernel=3,3 centre=1,1", {}, Scope::Free},
           {"identity-kernel", "channels~2 kernel=1,1 centre=0,0", {}, Scope::Free},
           {"identity-kernel", "channels~2 kernel=3,3 centre=1,1 group~2", {}, Scope::Free},
           {"average-kernel", "channels~2 kernel=3,3", {}, Scope::Free}}};
}

}  // namespace regraft::gen
