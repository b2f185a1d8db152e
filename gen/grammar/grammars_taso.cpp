#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// A convolution with and without relu in the same call.
std::vector<Instance> convolutions() {
  const std::vector<Instance> plain = {
      {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", ".a33"}},
      {"conv", "strides=1,1 pads=0,1,0,1 dilations=1,1 group=1", {".a34", ".a13"}},
      {"conv", "strides=1,1 pads=1,0,1,0 dilations=1,1 group=1", {".a34", ".a31"}},
      {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group~2", {".234", ".133"}},
      {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group~4", {".434", ".133"}},
      {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group~2", {".434", ".233"}},
      {"conv", "strides=1,1 pads=0,1,0,1 dilations=1,1 group~2", {".434", ".213"}},
      {"conv", "strides=1,1 pads=1,0,1,0 dilations=1,1 group~2", {".434", ".231"}}};
  std::vector<Instance> r = plain;
  for (Instance fused : plain) {
    fused.then = "relu";
    r.push_back(fused);
  }
  return r;
}

}  // namespace

// Sources of the table: the generator's inputs (extents are ours), its operators and what it leaves
// out: products whose inner extent is the batch, kernels as data, pads of anything but inputs.
// Convolutions take as many groups as the channels ask for. A split undoes a concatenation.
Grammar taso_grammar() {
  Grammar t{
      "taso",
      {{"x", {2, 3}, 3},
       {"w", {3, 3}, 3},
       {"i", {1, 2, 3, 4}, 3},
       {"k", {2, 2, 3, 3}, 3, Role::Kernel},
       {"h", {2, 2, 1, 3}, 3, Role::Kernel},
       {"v", {2, 2, 3, 1}, 3, Role::Kernel},
       {"d", {2, 1, 3, 3}, 1, Role::Kernel},
       {"s", {}}},
      {{"matmul", "", {".3", "3."}},
       {"matmul", "", {".4", "4."}},
       {"matmul", "", {".5", "5."}},
       {"matmul", "", {".6", "6."}},
       {"add", "", {"ab", "ab"}},
       {"add", "", {"abcd", "abcd"}},
       {"mul", "", {"ab", "ab"}},
       {"mul", "", {"abcd", "abcd"}},
       {"mul", "", {"ab", "-"}},
       {"mul", "", {"abcd", "-"}},
       {"relu", "", {".."}},
       {"relu", "", {"...."}},
       {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 include_pad=1", {"..34"}},
       {"maxpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1", {"..34"}},
       {"transpose", "perm=1,0", {".."}},
       {"pad", "pads=0,0,1,0,0,0,1,0", {"..13"}, Scope::Leaves},
       {"pad", "pads=0,0,0,1,0,0,0,1", {"..31"}, Scope::Leaves},
       {"concat", "axis=1", {"ab", "ac"}},
       {"concat", "axis=0", {"ba", "ca"}},
       {"concat", "axis=1", {"abcd", "aecd"}},
       {"concat", "axis=0", {"abcd", "ebcd"}},
       {"split", "axis=1 sizes~3,3", {".6"}},
       {"split", "axis=0 sizes~2,2", {"4."}},
       {"split", "axis=0 sizes~3,3", {"6."}},
       {"split", "axis=0 sizes~2,3", {"5."}},
       {"split", "axis=0 sizes~3,2", {"5."}},
       {"split", "axis=1 sizes~2,2", {".4.."}},
       {"split", "axis=0 sizes~2,2", {"4..."}},
       {"split", "axis=0 sizes~1,1", {"2.34"}},
       {"average-kernel", "channels~2 kernel=3,3", {}},
       {"identity-kernel", "channels~2 kernel=3,3 centre=1,1", {}},
       {"identity-matrix", "size~3", {}},
       {"full", "shape= value=1", {}}}};
  for (const Instance& in : convolutions()) t.instances.push_back(in);
  return t;
}

}  // namespace regraft::gen
