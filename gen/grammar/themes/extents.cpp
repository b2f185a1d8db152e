// Themes whose witness extents all differ, numbers of blocks, heads and groups among them: what is
// said of such a number is not said of an extent that happens to be the same.
#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

constexpr int64_t kMostApart = 4096;

Grammar apart(Grammar g, int more = 0) {
  g.more = more;
  g.most_elements = kMostApart;
  return g;
}

/// Blocks of channels that become pixels, before their axes are joined.
Grammar channel_block_grammar(std::string_view name, std::string_view attrs,
                              std::string_view blocks, std::string_view perm) {
  return apart({name,
                {{"x", {3, 20, 7, 9}}},
                {{"depth-to-space", attrs, {"....@x"}, Scope::Given, "", "pixels"},
                 {"reshape", "shape~3,5,7,2,9,2", {"....@pixels"}},
                 {"reshape", blocks, {"....@x"}, Scope::Given, "", "blocks"},
                 {"transpose", perm, {"......@blocks"}}}});
}

/// The same, with axes joined.
Grammar joined_block_grammar(std::string_view name, std::string_view attrs, std::string_view blocks,
                             std::string_view perm) {
  return apart({name,
                {{"x", {3, 20, 7, 9}}},
                {{"depth-to-space", attrs, {"....@x"}},
                 {"reshape", blocks, {"....@x"}, Scope::Given, "", "blocks"},
                 {"transpose", perm, {"......@blocks"}},
                 {"reshape", "shape~3,5,14,18", {"......"}}}});
}

/// Transposed convolutions without overlap, as blocks of pixels: 4 x 5 channels.
Grammar separate_block_grammar() {
  return apart({"separate-blocks",
                {{"x", {1, 3, 2, 4}}, {"w", {3, 5, 2, 2}, 1, Role::Kernel}},
                {{"conv-transpose", "strides=2,2", {"1324@x", "3522@w"}},
                 {"transpose", "perm=1,2,3,0", {"3522@w"}, Scope::Given, "", "turned"},
                 {"reshape", "shape~20,3,1,1", {"5223@turned"}, Scope::Given, "", "kernel"},
                 {"conv", "", {"1324@x", ".311@kernel"}, Scope::Given, "", "channels"},
                 {"depth-to-space", "blocksize=2 crd=1", {"1.24@channels"}},
                 {"depth-to-space", "blocksize=2", {"1.24@channels"}}}});
}

/// Parts of an axis: gathered, sliced and split.
Grammar row_by_row_grammar() {
  return apart({"parts",
                {{"u", {3, 5, 7}}, {"v", {5, 7}}},
                {{"gather", "axis=2 indices=3 shape=1", {"357@u"}},
                 {"slice", "begins=0,0,3 sizes~3,5,1", {"357@u"}},
                 {"gather", "axis=1 indices=3 shape=1", {"57@v"}},
                 {"slice", "begins=0,3 sizes~5,1", {"57@v"}},
                 {"gather", "axis=0 indices=3 shape=1", {"57@v"}},
                 {"slice", "begins=3,0 sizes~1,7", {"57@v"}},
                 {"split", "axis=2 sizes=3,4", {"357@u"}},
                 {"slice", "begins=0,0,0 sizes~3,5,3", {"357@u"}},
                 {"slice", "begins=0,0,3 sizes~3,5,4", {"357@u"}},
                 {"split", "axis=1 sizes=2,3", {"357@u"}},
                 {"slice", "begins=0,0,0 sizes~3,2,7", {"357@u"}},
                 {"slice", "begins=0,2,0 sizes~3,3,7", {"357@u"}},
                 {"split", "axis=0 sizes=2,3", {"57@v"}},
                 {"slice", "begins=0,0 sizes~2,7", {"57@v"}},
                 {"slice", "begins=2,0 sizes~3,7", {"57@v"}}}});
}

/// Biases of queries, keys and values.
Grammar packed_bias_grammar() {
  return apart(
      {"biases",
       {{"q", {3, 2, 8}}, {"k", {3, 5, 8}}, {"v", {3, 5, 6}}, {"a", {8}}, {"b", {8}}, {"c", {6}}},
       {{"add", "", {"328@q", "8@a"}, Scope::Given, "", "qa"},
        {"add", "", {"358@k", "8@b"}, Scope::Given, "", "kb"},
        {"add", "", {"356@v", "6@c"}, Scope::Given, "", "vc"},
        {"concat", "axis=0", {"8@a", "8@b", "6@c"}},
        {"attention", "q_heads=2 kv_heads=2 scale=0.5", {"328@qa", "358@kb", "356@vc"}},
        {"biased-attention", "q_heads=2 kv_heads=2 scale=0.5", {"328@q", "358@k", "356@v", "."}}}});
}

/// Keys and values that are repeated for each query head of a group.
Grammar group_of_heads_grammar() {
  return apart({"repeated-heads",
                {{"q", {2, 15, 4, 6}}, {"k", {2, 3, 7, 6}}, {"v", {2, 3, 7, 8}}},
                {{"reshape", "shape~2,3,1,7,6", {"2376@k"}, Scope::Given, "", "k1"},
                 {"expand", "shape=2,3,5,7,6", {"23176@k1"}, Scope::Given, "", "k5"},
                 {"reshape", "shape~2,15,7,6", {"23576@k5"}, Scope::Given, "", "keys"},
                 {"reshape", "shape~2,3,1,7,8", {"2378@v"}, Scope::Given, "", "v1"},
                 {"expand", "shape=2,3,5,7,8", {"23178@v1"}, Scope::Given, "", "v5"},
                 {"reshape", "shape~2,15,7,8", {"23578@v5"}, Scope::Given, "", "values"},
                 {"attention", "scale=0.5", {"....@q", "2.76@keys", "2.78@values"}},
                 {"attention", "scale=0.5", {"....@q", "2376@k", "2378@v"}}}});
}

/// Rotations of pairs of neighbours by their parts.
Grammar written_rotation_grammar() {
  return apart({"pair-rotations",
                {{"x", {3, 5, 4, 12}}, {"c", {3, 4, 6}}, {"s", {3, 4, 6}}},
                {{"reshape", "shape~3,1,4,6", {"346@c"}, Scope::Given, "", "cosine"},
                 {"reshape", "shape~3,1,4,6", {"346@s"}, Scope::Given, "", "sine"},
                 {"slice",
                  "begins=0,0,0,0 sizes~3,5,4,6 steps=1,1,1,2",
                  {"....@x"},
                  Scope::Given,
                  "",
                  "even"},
                 {"slice",
                  "begins=0,0,0,1 sizes~3,5,4,6 steps=1,1,1,2",
                  {"....@x"},
                  Scope::Given,
                  "",
                  "odd"},
                 {"mul", "", {"3546@even", "3146@cosine"}, Scope::Given, "", "ec"},
                 {"mul", "", {"3546@even", "3146@sine"}, Scope::Given, "", "es"},
                 {"mul", "", {"3546@odd", "3146@cosine"}, Scope::Given, "", "oc"},
                 {"mul", "", {"3546@odd", "3146@sine"}, Scope::Given, "", "os"},
                 {"sub", "", {"3546@ec", "3546@os"}, Scope::Given, "", "first"},
                 {"add", "", {"3546@es", "3546@oc"}, Scope::Given, "", "second"},
                 {"concat", "axis=3", {"3546@first", "3546@second"}},
                 {"reshape", "shape~3,5,4,2,6", {"354."}},
                 {"rotary-embedding", "interleaved=1", {"354.@x", "346@c", "346@s"}},
                 {"reshape", "shape~3,5,4,6,2", {"354."}},
                 {"transpose", "perm=0,1,2,4,3", {"....."}}}},
               1);
}

/// Scales and biases of groups, repeated for each channel of a group.
Grammar group_scale_grammar() {
  return apart({"group-scales",
                {{"x", {3, 14, 4, 5}}, {"s", {2}}, {"c", {2}}},
                {{"reshape", "shape~2,1", {"2@s"}, Scope::Given, "", "s1"},
                 {"expand", "shape=2,7", {"21@s1"}, Scope::Given, "", "s7"},
                 {"reshape", "shape~14", {"27@s7"}, Scope::Given, "", "scales"},
                 {"reshape", "shape~2,1", {"2@c"}, Scope::Given, "", "c1"},
                 {"expand", "shape=2,7", {"21@c1"}, Scope::Given, "", "c7"},
                 {"reshape", "shape~14", {"27@c7"}, Scope::Given, "", "biases"},
                 {"groupnorm", "num_groups~2 epsilon=0.5", {"3.45@x", ".@scales", ".@biases"}},
                 {"groupnorm", "num_groups~2 by_group=1 epsilon=0.5", {"3.45@x", "2@s", "2@c"}}}});
}

/// Every second pixel, four times, as channels.
Grammar sliced_block_grammar() {
  return apart(
      {"sliced-blocks",
       {{"x", {2, 3, 8, 10}}},
       {{"slice", "begins=0,0,0,0 sizes~2,3,4,5 steps=1,1,2,2", {"238.@x"}, Scope::Given, "", "a"},
        {"slice", "begins=0,0,0,1 sizes~2,3,4,5 steps=1,1,2,2", {"238.@x"}, Scope::Given, "", "b"},
        {"slice", "begins=0,0,1,0 sizes~2,3,4,5 steps=1,1,2,2", {"238.@x"}, Scope::Given, "", "c"},
        {"slice", "begins=0,0,1,1 sizes~2,3,4,5 steps=1,1,2,2", {"238.@x"}, Scope::Given, "", "d"},
        {"concat", "axis=1", {"2345@a", "2345@b", "2345@c", "2345@d"}},
        {"space-to-depth", "blocksize=2", {"238.@x"}}}});
}

/// What is added to each channel passes a maximum of windows that reach over the edge.
Grammar raised_window_grammar() {
  return apart({"shifted-windows",
                {{"x", {2, 3, 7, 8}}, {"c", {3, 1, 1}}},
                {{"maxpool", "kernel=5,4 strides=2,1 pads=1,2,2,1", {"23.."}},
                 {"add", "", {"23..", "311@c"}}}});
}

}  // namespace

std::vector<Grammar> extent_themes() {
  return {
      channel_block_grammar("blocks", "blocksize~2", "shape~3,2,2,5,7,9", "perm=0,3,4,1,5,2"),
      channel_block_grammar("inner-blocks", "blocksize~2 crd=1", "shape~3,5,2,2,7,9",
                            "perm=0,1,4,2,5,3"),
      joined_block_grammar("joined-blocks", "blocksize~2", "shape~3,2,2,5,7,9", "perm=0,3,4,1,5,2"),
      joined_block_grammar("joined-inner-blocks", "blocksize~2 crd=1", "shape~3,5,2,2,7,9",
                           "perm=0,1,4,2,5,3"),
      separate_block_grammar(),
      row_by_row_grammar(),
      packed_bias_grammar(),
      group_of_heads_grammar(),
      group_scale_grammar(),
      sliced_block_grammar(),
      written_rotation_grammar(),
      raised_window_grammar()};
}

}  // namespace regraft::gen
