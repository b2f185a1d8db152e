#include <array>

#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Sums of rows and biases, in any order.
Grammar bias_sum_grammar() {
  return {"bias-sums",
          {{"x", {2, 6}}, {"y", {5, 2, 6}}, {"r", {1, 6}}, {"b", {6}}},
          {{"add", "", {".6", "16"}},
           {"add", "", {".6", "6@b"}},
           {"add", "", {"..6", "16"}},
           {"add", "", {"..6", "6@b"}}}};
}

/// Two linear layers in turn.
Grammar linear_chain_grammar() {
  return {"linear-chains",
          {{"x", {2, 3}}, {"y", {2, 5, 3}}, {"v", {3, 4}}, {"w", {4, 6}}, {"a", {4}}, {"b", {6}}},
          {{"matmul", "", {"34@v", "46@w"}, Scope::Given, "", "vw"},
           {"reshape", "shape~1,4", {"4@a"}, Scope::Given, "", "row"},
           {"matmul", "", {"14@row", "46@w"}, Scope::Given, "", "moved"},
           {"matmul", "", {"2.", "ab@"}},
           {"matmul", "", {"25.", "ab@"}},
           {"add", "", {"2.", "1.@"}},
           {"add", "", {"2a", "a@"}},
           {"add", "", {"16@moved", "6@b"}},
           {"add", "", {"26", "16"}},
           {"add", "", {"25a", "a@"}},
           {"add", "", {"256", "16"}}},
          2};
}

/// The same as gemm, with factors as they are or transposed.
Grammar gemm_chain_grammar() {
  return {"gemm-chains",
          {{"x", {2, 3}},
           {"v", {3, 4}},
           {"w", {4, 6}},
           {"s", {4, 3}},
           {"t", {6, 4}},
           {"a", {4}},
           {"b", {6}}},
          {{"reshape", "shape~1,4", {"4@a"}, Scope::Given, "", "row"},
           {"matmul", "", {"14@row", "46@w"}, Scope::Given, "", "moved"},
           {"gemm", "", {"34@v", "46@w"}, Scope::Given, "", "vw"},
           {"transpose", "perm=1,0", {"64@t"}, Scope::Given, "", "turned"},
           {"matmul", "", {"14@row", "46@turned"}, Scope::Given, "", "carried"},
           {"matmul", "", {"64@t", "43@s"}, Scope::Given, "", "ts"},
           {"add", "", {"16@", "6@b"}},
           {"gemm", "", {"23@x", "34@v", "4@a"}},
           {"gemm", "", {"24", "46@w", "6@b"}},
           {"gemm", "", {"23@x", "36@vw", "16"}},
           {"gemm", "transB=1", {"23@x", "43@s", "4@a"}},
           {"gemm", "transB=1", {"24", "64@t", "6@b"}},
           {"gemm", "transB=1", {"23@x", "63@ts", "16"}}},
          0};
}

/// Linear layers of the same rows, side by side.
Grammar side_by_side_grammar(std::string_view name, std::vector<int64_t> x, std::string_view rows,
                             std::string_view sum, std::string_view any) {
  return {name,
          {{"x", std::move(x)}, {"v", {3, 4}}, {"w", {3, 5}}, {"a", {4}}, {"b", {5}}},
          {{"concat", "axis=1", {"34@v", "35@w"}, Scope::Given, "", "vw"},
           {"concat", "axis=0", {"4@a", "5@b"}, Scope::Given, "", "ab"},
           {"matmul", "", {rows, "3.@"}},
           {"add", "", {sum, "c@"}},
           {"concat", "axis=-1", {any, any}, Scope::Once}},
          3};
}

/// Three of them.
Grammar three_grammar(std::string_view name, std::vector<int64_t> x, std::string_view rows,
                      std::string_view any) {
  return {name,
          {{"x", std::move(x)}, {"u", {3, 4}}, {"v", {3, 5}}, {"w", {3, 6}}},
          {{"concat", "axis=1", {"34@u", "35@v", "36@w"}},
           {"matmul", "", {rows, "3."}},
           {"concat", "axis=-1", {any, any, any}, Scope::Once}},
          2};
}

/// Three linear layers with biases, as queries, keys and values are.
Grammar three_layer_grammar(std::string_view name, std::vector<int64_t> x, std::string_view rows,
                            std::array<std::string_view, 3> products,
                            std::array<std::string_view, 3> layers, std::string_view all) {
  return {name,
          {{"x", std::move(x)},
           {"u", {3, 4}},
           {"v", {3, 5}},
           {"w", {3, 6}},
           {"a", {4}},
           {"b", {5}},
           {"c", {6}}},
          {{"matmul", "", {rows, "34@u"}, Scope::Given, "", "xu"},
           {"matmul", "", {rows, "35@v"}, Scope::Given, "", "xv"},
           {"matmul", "", {rows, "36@w"}, Scope::Given, "", "xw"},
           {"add", "", {products[0], "4@a"}, Scope::Given, "", "first"},
           {"add", "", {products[1], "5@b"}, Scope::Given, "", "second"},
           {"add", "", {products[2], "6@c"}, Scope::Given, "", "third"},
           {"concat", "axis=-1", {layers[0], layers[1], layers[2]}},
           {"concat", "axis=1", {"34@u", "35@v", "36@w"}},
           {"concat", "axis=0", {"4@a", "5@b", "6@c"}},
           {"matmul", "", {rows, "3."}},
           {"add", "", {all, "."}}},
          2};
}

/// The gain and the shift of a layer normalisation, in the linear layer behind.
Grammar gain_layer_grammar() {
  return {"gain-layers",
          {{"x", {2, 3, 4}}, {"y", {3, 4}}, {"s", {4}}, {"c", {4}}, {"w", {4, 5}}, {"b", {5}}},
          {{"full", "shape~4 value=1", {}, Scope::Free, "", "one"},
           {"reshape", "shape~4,1", {"4@s"}, Scope::Given, "", "column"},
           {"mul", "", {"45@w", "41@column"}, Scope::Given, "", "scaled"},
           {"reshape", "shape~1,4", {"4@c"}, Scope::Given, "", "row"},
           {"matmul", "", {"14@row", "45@w"}, Scope::Given, "", "moved"},
           {"layernorm", "axis=-1 epsilon=0.5", {"234@x", "4@s", "4@c"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"234@x", "4@one"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"34@y", "4@s", "4@c"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"34@y", "4@one"}},
           {"matmul", "", {"..4", "45@"}},
           {"matmul", "", {".4", "45@"}},
           {"reshape", "shape~5", {"15@moved"}, Scope::Given, "", "flat"},
           {"add", "", {"15@moved", "5@b"}},
           {"add", "", {"5@flat", "5@b"}},
           {"add", "", {"..5", "5"}},
           {"add", "", {"..5", "15"}},
           {"add", "", {"35", "5"}},
           {"add", "", {"35", "15"}}},
          2};
}

/// One factor of a product or of a linear layer, at each rank.
Grammar product_factor_grammar() {
  return {"product-factors",
          {{"q", {2, 3}},
           {"k", {3, 4}},
           {"r", {5, 2, 3}},
           {"l", {5, 3, 4}},
           {"t", {6, 5, 2, 3}},
           {"m", {6, 5, 3, 4}},
           {"c", {}},
           {"d", {1}}},
          {{"matmul", "", {"23", "34"}},
           {"matmul", "", {"523", "534"}},
           {"matmul", "", {"6523", "6534"}},
           {"mul", "", {"2.", "-@c"}},
           {"mul", "", {"52.", "-@c"}},
           {"mul", "", {"652.", "-@c"}},
           {"mul", "", {"652.", "1@d"}},
           {"div", "", {"2.", "-@c"}},
           {"div", "", {"52.", "-@c"}},
           {"div", "", {"652.", "-@c"}},
           {"div", "", {"652.", "1@d"}}}};
}

/// Transposed products as products of transposed factors.
Grammar transposed_product_grammar() {
  return {"transposed-products",
          {{"a", {2, 3}},
           {"b", {3, 4}},
           {"r", {5, 2, 3}},
           {"l", {5, 3, 4}},
           {"t", {3, 2, 2, 3}},
           {"m", {3, 2, 3, 4}}},
          {{"transpose", "perm=1,0", {".."}},
           {"transpose", "perm=0,2,1", {"5.."}},
           {"transpose", "perm=0,1,3,2", {"32.."}},
           {"matmul", "", {"ab", "bc"}},
           {"matmul", "", {"5ab", "5bc"}},
           {"matmul", "", {"32ab", "32bc"}}},
          1};
}

/// A factor of a linear layer goes into its weights and its bias.
Grammar layer_factor_grammar() {
  return {"layer-factors",
          {{"x", {2, 3}}, {"y", {5, 2, 3}}, {"w", {3, 4}}, {"b", {4}}, {"c", {}}, {"d", {4}}},
          {{"mul", "", {"34@w", "-@c"}, Scope::Given, "", "wc"},
           {"mul", "", {"4@b", "-@c"}, Scope::Given, "", "bc"},
           {"mul", "", {"34@w", "4@d"}, Scope::Given, "", "wd"},
           {"mul", "", {"4@b", "4@d"}, Scope::Given, "", "bd"},
           {"matmul", "", {".3@", "34@"}},
           {"matmul", "", {"..3@", "34@"}},
           {"add", "", {".4", "4@"}},
           {"add", "", {"..4", "4@"}},
           {"mul", "", {".4", "-@c"}},
           {"mul", "", {"..4", "-@c"}},
           {"mul", "", {".4", "4@d"}},
           {"mul", "", {"..4", "4@d"}}},
          1};
}

/// Keys and values that are repeated for the queries of a group.
Grammar repeated_head_grammar() {
  return {"repeated-heads",
          {{"q", {2, 6, 4, 5}}, {"k", {2, 2, 3, 5}}, {"p", {2, 6, 4, 3}}, {"v", {2, 2, 3, 7}}},
          {{"reshape", "shape~2,2,1,3,5", {"2235@k"}, Scope::Given, "", "k1"},
           {"expand", "shape=2,2,3,3,5", {"22135@k1"}, Scope::Given, "", "k2"},
           {"reshape", "shape=2,6,3,5", {"22335@k2"}, Scope::Given, "", "k3"},
           {"transpose", "perm=0,1,3,2", {"2635@k3"}},
           {"transpose", "perm=0,1,3,2", {"2235@k"}},
           {"reshape", "shape=2,2,12,5", {"2645@q"}},
           {"matmul", "", {"2...", "2..."}},
           {"reshape", "shape~2,6,4,3", {"2..3"}},
           {"reshape", "shape~2,2,1,3,7", {"2237@v"}, Scope::Given, "", "v1"},
           {"expand", "shape=2,2,3,3,7", {"22137@v1"}, Scope::Given, "", "v2"},
           {"reshape", "shape=2,6,3,7", {"22337@v2"}},
           {"reshape", "shape=2,2,12,3", {"2643@p"}},
           {"reshape", "shape~2,6,4,7", {"2..7"}}},
          2};
}

/// Quotients of products and by roots; one slope for all channels.
Grammar quotient_grammar() {
  return {"quotients",
          {{"x", {2, 3, 4}},
           {"y", {2, 3, 4}},
           {"v", {2, 3, 1}},
           {"c", {1}},
           {"s", {3, 5}},
           {"t", {3, 5}}},
          {{"sqrt", "", {"231@v"}},
           {"reciprocal", "", {"231"}},
           {"mul", "", {"234@x", "231"}},
           {"div", "", {"234@x", "231"}},
           {"mul", "", {"234", "234"}},
           {"div", "", {"234", "1@c"}},
           {"mul", "", {"35", "35"}},
           {"div", "", {"35", "1@c"}},
           {"full", "shape=1 value=0.25", {}, Scope::Free, "", "slope"},
           {"prelu", "", {"234@x", "1@slope"}},
           {"leaky-relu", "alpha=0.25", {"234@x"}}}};
}

/// Means and normalisations over the channels of an image, as those over the last axis.
Grammar channel_norm_grammar() {
  return {"channel-norms",
          {{"x", {2, 3, 4, 5}}, {"w", {3, 1, 1}}, {"b", {3, 1, 1}}},
          {{"reduce-mean", "axes=1", {"2345@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"2345@x", "2145@mean"}, Scope::Given, "", "centred"},
           {"power", "exponent=2", {"2345@centred"}, Scope::Given, "", "squares"},
           {"reduce-mean", "axes=1", {"2345@squares"}, Scope::Given, "", "v"},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"add", "", {"2145@v", "-@e"}, Scope::Given, "", "shifted"},
           {"sqrt", "", {"2145@shifted"}, Scope::Given, "", "root"},
           {"transpose", "perm=0,2,3,1", {"2345@x"}, Scope::Given, "", "turned"},
           {"reshape", "shape~3", {"311@w"}, Scope::Given, "", "w1"},
           {"reshape", "shape~3", {"311@b"}, Scope::Given, "", "b1"},
           {"div", "", {"2345@centred", "2145@root"}},
           {"mul", "", {"2345", "311@w"}},
           {"add", "", {"2345", "311@b"}},
           {"reduce-mean", "axes=1", {"2345@x"}},
           {"reduce-mean", "axes=-1", {"2453@turned"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"2453@turned", "3@w1", "3@b1"}},
           {"transpose", "perm=0,3,1,2", {"245."}}},
          1};
}

/// Normalisations as exporters write them: the square is a power. Of rows.
Grammar written_row_norm_grammar() {
  return {"written-row-norms",
          {{"x", {3, 4}}, {"g", {4}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"full", "shape~4 value=1", {}, Scope::Free, "", "one"},
           {"reduce-mean", "axes=-1", {"34@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"34@x", "31@mean"}, Scope::Given, "", "centred"},
           {"power", "exponent=2", {"34@centred"}, Scope::Given, "", "squares"},
           {"reduce-mean", "axes=-1", {"34@squares"}, Scope::Given, "", "v"},
           {"add", "", {"31@v", "-@e"}, Scope::Given, "", "shifted"},
           {"power", "exponent=2", {"34@x"}, Scope::Given, "", "raw"},
           {"reduce-mean", "axes=-1", {"34@raw"}, Scope::Given, "", "moment"},
           {"add", "", {"31@moment", "-@e"}, Scope::Given, "", "lifted"},
           {"sqrt", "", {"31@"}},
           {"div", "", {"34@", "31"}},
           {"mul", "", {"34", "4@g"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"34@x", "4@one"}},
           {"rmsnorm", "axis=-1 epsilon=0.5", {"34@x", "4@g"}}},
          1};
}

/// The same of sequences.
Grammar written_norm_grammar() {
  return {"written-norms",
          {{"x", {2, 3, 4}}, {"g", {4}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"full", "shape~4 value=1", {}, Scope::Free, "", "one"},
           {"reduce-mean", "axes=-1", {"234@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"234@x", "231@mean"}, Scope::Given, "", "centred"},
           {"power", "exponent=2", {"234@centred"}, Scope::Given, "", "squares"},
           {"reduce-mean", "axes=-1", {"234@squares"}, Scope::Given, "", "v"},
           {"add", "", {"231@v", "-@e"}, Scope::Given, "", "shifted"},
           {"power", "exponent=2", {"234@x"}, Scope::Given, "", "raw"},
           {"reduce-mean", "axes=-1", {"234@raw"}, Scope::Given, "", "moment"},
           {"add", "", {"231@moment", "-@e"}, Scope::Given, "", "lifted"},
           {"sqrt", "", {"231@"}},
           {"div", "", {"234@", "231"}},
           {"mul", "", {"234", "4@g"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"234@x", "4@one"}},
           {"rmsnorm", "axis=-1 epsilon=0.5", {"234@x", "4@g"}}},
          1};
}

/// The same of images.
Grammar written_image_norm_grammar() {
  return {"written-image-norms",
          {{"x", {2, 3, 2, 4}}, {"s", {3}}, {"b", {3}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"reduce-mean", "axes=2,3", {"2324@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"2324@x", "2311@mean"}, Scope::Given, "", "centred"},
           {"power", "exponent=2", {"2324@centred"}, Scope::Given, "", "squares"},
           {"reduce-mean", "axes=2,3", {"2324@squares"}, Scope::Given, "", "v"},
           {"add", "", {"2311@v", "-@e"}, Scope::Given, "", "shifted"},
           {"sqrt", "", {"2311@shifted"}, Scope::Given, "", "root"},
           {"reshape", "shape~3,1,1", {"3@s"}, Scope::Given, "", "s3"},
           {"reshape", "shape~3,1,1", {"3@b"}, Scope::Given, "", "b3"},
           {"div", "", {"2324@centred", "2311@root"}},
           {"mul", "", {"2324", "311@s3"}},
           {"add", "", {"2324", "311@b3"}},
           {"instancenorm", "epsilon=0.5", {"2324@x", "3@s", "3@b"}}},
          1};
}

/// A gelu as exporters write it: x by 1 + f, halved in one of four places. What leads from one to
/// another is not there, so each is a rule of its own: searches then need one step.
struct WrittenForm {
  std::string_view name;
  std::vector<Instance> instances;
};

std::vector<WrittenForm> written_forms() {
  const Instance sum = {"add", "", {"ab@bent", "-@one"}, Scope::Given, "", "sum"};
  const Instance halved = {"mul", "", {"ab@x", "-@half"}, Scope::Given, "", "halved"};
  return {{"whole", {sum, {"mul", "", {"ab@x", "ab@sum"}}, {"mul", "", {"ab", "-@two"}}}},
          {"half-last",
           {sum,
            {"mul", "", {"ab@x", "ab@sum"}, Scope::Given, "", "double"},
            {"mul", "", {"ab@double", "-@half"}}}},
          {"half-first", {sum, halved, {"mul", "", {"ab@halved", "ab@sum"}}}},
          {"half-inside",
           {{"mul", "", {"ab@bent", "-@half"}, Scope::Given, "", "part"},
            {"add", "", {"ab@part", "-@half"}, Scope::Given, "", "sum"},
            {"mul", "", {"ab@x", "ab@sum"}}}},
          {"half-twice",
           {halved,
            {"mul", "", {"ab@halved", "ab@bent"}, Scope::Given, "", "part"},
            {"add", "", {"ab@halved", "ab@part"}}}}};
}

/// All forms around the function that `inner` gives as "bent".
void add_written_gelus(std::string_view gelu, const std::vector<Instance>& inner,
                       std::vector<Grammar>& all) {
  for (const WrittenForm& form : written_forms()) {
    std::vector<Instance> instances = {{"full", "shape= value=1", {}, Scope::Free, "", "one"},
                                       {"full", "shape= value=0.5", {}, Scope::Free, "", "half"},
                                       {"full", "shape= value=2", {}, Scope::Free, "", "two"}};
    instances.insert(instances.end(), inner.begin(), inner.end());
    instances.insert(instances.end(), form.instances.begin(), form.instances.end());
    instances.push_back({gelu, "", {"ab@x"}});
    all.push_back({form.name, {{"x", {2, 3}}}, std::move(instances)});
  }
}

/// A hyperbolic tangent of x + a x^3, as `cubic` gives it.
std::vector<Instance> tangent_of(std::vector<Instance> cubic) {
  cubic.insert(cubic.begin(),
               {{"full", "shape= value=0.044714998453855515", {}, Scope::Free, "", "a"},
                {"full", "shape= value=0.7978845834732056", {}, Scope::Free, "", "b"}});
  cubic.push_back({"mul", "", {"ab@cubic", "-@b"}, Scope::Given, "", "inner"});
  cubic.push_back({"tanh", "", {"ab@inner"}, Scope::Given, "", "bent"});
  return cubic;
}

std::vector<Grammar> written_gelus() {
  const Instance power = {"power", "exponent=3", {"ab@x"}, Scope::Given, "", "cube"};
  const Instance square = {"mul", "", {"ab@x", "ab@x"}, Scope::Given, "", "square"};
  const Instance product = {"mul", "", {"ab@x", "ab@square"}, Scope::Given, "", "cube"};
  const Instance third = {"mul", "", {"ab@cube", "-@a"}, Scope::Given, "", "third"};
  const Instance sum = {"add", "", {"ab@x", "ab@third"}, Scope::Given, "", "cubic"};
  std::vector<Grammar> all;
  add_written_gelus("gelu",
                    {{"full", "shape= value=1.4142135381698608", {}, Scope::Free, "", "root"},
                     {"div", "", {"ab@x", "-@root"}, Scope::Given, "", "scaled"},
                     {"erf", "", {"ab@scaled"}, Scope::Given, "", "bent"}},
                    all);
  add_written_gelus("gelu-tanh", tangent_of({power, third, sum}), all);
  add_written_gelus("gelu-tanh", tangent_of({square, product, third, sum}), all);
  add_written_gelus("gelu-tanh",
                    tangent_of({square,
                                {"mul", "", {"ab@square", "-@a"}, Scope::Given, "", "part1"},
                                {"add", "", {"ab@part1", "-@one"}, Scope::Given, "", "factor"},
                                {"mul", "", {"ab@x", "ab@factor"}, Scope::Given, "", "cubic"}}),
                    all);
  return all;
}

}  // namespace

std::vector<Grammar> layer_fusions() {
  std::vector<Grammar> r = {
      bias_sum_grammar(),
      linear_chain_grammar(),
      gemm_chain_grammar(),
      side_by_side_grammar("side-by-side", {2, 3}, "23@x", "bc", "2."),
      side_by_side_grammar("side-by-side-3d", {2, 6, 3}, "263@x", "bac", "26."),
      three_grammar("three-side-by-side", {2, 3}, "23@x", "2."),
      three_grammar("three-side-by-side-3d", {2, 7, 3}, "273@x", "27."),
      three_layer_grammar("three-layers", {2, 3}, "23@x", {"24@xu", "25@xv", "26@xw"},
                          {"24@first", "25@second", "26@third"}, "2."),
      three_layer_grammar("three-layers-3d", {2, 7, 3}, "273@x", {"274@xu", "275@xv", "276@xw"},
                          {"274@first", "275@second", "276@third"}, "27."),
      gain_layer_grammar(),
      product_factor_grammar(),
      transposed_product_grammar(),
      layer_factor_grammar(),
      repeated_head_grammar(),
      quotient_grammar(),
      channel_norm_grammar(),
      written_row_norm_grammar(),
      written_norm_grammar(),
      written_image_norm_grammar()};
  for (Grammar& t : written_gelus()) r.push_back(std::move(t));
  return r;
}

}  // namespace regraft::gen
