#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// The factor of a batch normalisation, and what it takes off: a / sqrt(v + e), m times that.
std::vector<Instance> norm_parts() {
  return {{"full", "shape=1 value=0.5", {}, Scope::Free, "", "e"},
          {"add", "", {"a@v", "1@e"}, Scope::Given, "", "shifted"},
          {"sqrt", "", {"a@shifted"}, Scope::Given, "", "root"},
          {"div", "", {"a@a", "a@root"}, Scope::Given, "", "gain"},
          {"mul", "", {"a@m", "a@gain"}, Scope::Given, "", "offset"}};
}

std::vector<Instance> with_norm_parts(std::vector<Instance> instances) {
  std::vector<Instance> r = norm_parts();
  r.insert(r.end(), instances.begin(), instances.end());
  return r;
}

/// Batch normalisation of images behind a convolution.
Grammar folded_norm_grammar() {
  return {"folded-norms",
          {{"x", {1, 2, 3, 4}},
           {"w", {3, 2, 2, 2}, 1, Role::Kernel},
           {"c", {3}},
           {"a", {3}},
           {"b", {3}},
           {"m", {3}},
           {"v", {3}}},
          with_norm_parts(
              {{"reshape", "shape~3,1,1,1", {"3@gain"}, Scope::Given, "", "column"},
               {"sub", "", {"3@c", "3@m"}, Scope::Given, "", "centred"},
               {"mul", "", {"3222@w", "3111@column"}},
               {"mul", "", {"3@centred", "3@gain"}},
               {"sub", "", {"3@b", "3@offset"}},
               {"add", "", {"3@b", "3"}},
               {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1234@x", "3222"}},
               {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1234@x", "3222", "3"}},
               {"batchnorm", "epsilon=0.5", {".3..", "3@a", "3@b", "3@m", "3@v"}}}),
          2};
}

/// The same of signals.
Grammar folded_signal_norm_grammar() {
  return {
      "folded-signal-norms",
      {{"x", {1, 2, 4}},
       {"w", {3, 2, 2}, 1, Role::Kernel},
       {"c", {3}},
       {"a", {3}},
       {"b", {3}},
       {"m", {3}},
       {"v", {3}}},
      with_norm_parts({{"reshape", "shape~3,1,1", {"3@gain"}, Scope::Given, "", "column"},
                       {"sub", "", {"3@c", "3@m"}, Scope::Given, "", "centred"},
                       {"mul", "", {"322@w", "311@column"}},
                       {"mul", "", {"3@centred", "3@gain"}},
                       {"sub", "", {"3@b", "3@offset"}},
                       {"add", "", {"3@b", "3"}},
                       {"conv", "strides=1 pads=0,0 dilations=1 group=1", {"124@x", "322"}},
                       {"conv", "strides=1 pads=0,0 dilations=1 group=1", {"124@x", "322", "3"}},
                       {"batchnorm", "epsilon=0.5", {".3.", "3@a", "3@b", "3@m", "3@v"}}}),
      2};
}

/// Batch normalisation as a convolution of each channel, as a scale and a shift, and of sums.
Grammar norm_form_grammar() {
  return {
      "norm-forms",
      {{"x", {2, 3, 2, 4}}, {"y", {2, 3, 2, 4}}, {"a", {3}}, {"b", {3}}, {"m", {3}}, {"v", {3}}},
      with_norm_parts({{"reshape", "shape~3,1,1,1", {"3@gain"}, Scope::Given, "", "kernel"},
                       {"reshape", "shape~3,1,1", {"3@gain"}, Scope::Given, "", "column"},
                       {"sub", "", {"3@b", "3@offset"}, Scope::Given, "", "shift"},
                       {"reshape", "shape~3,1,1", {"3@shift"}},
                       {"mul", "", {"2324@", "311@column"}},
                       {"add", "", {"2324", "2324"}},
                       {"add", "", {"2324", "311"}},
                       {"conv", "group~3", {"2324@", "3111@kernel", "3@shift"}},
                       {"batchnorm", "epsilon=0.5", {"2324", "3@a", "3@b", "3@m", "3@v"}}}),
      1};
}

/// Batch normalisation of a sum: of one summand, and a scale of the other.
Grammar norm_sum_grammar() {
  return {
      "norm-sums",
      {{"x", {2, 3, 2, 4}}, {"y", {2, 3, 2, 4}}, {"a", {3}}, {"b", {3}}, {"m", {3}}, {"v", {3}}},
      with_norm_parts({{"reshape", "shape~3,1,1", {"3@gain"}, Scope::Given, "", "column"},
                       {"mul", "", {"2324@", "311@column"}},
                       {"add", "", {"2324", "2324"}},
                       {"batchnorm", "epsilon=0.5", {"2324", "3@a", "3@b", "3@m", "3@v"}}}),
      1};
}

/// A batch normalisation beside a convolution of the same image, as a kernel that is added.
Grammar norm_branch_grammar(std::string_view name, std::vector<int64_t> kernel,
                            std::string_view identity, std::string_view conv, std::string_view axes,
                            std::string_view weights) {
  return {name,
          {{"x", {1, 2, 4, 3}},
           {"w", std::move(kernel), 1, Role::Kernel},
           {"c", {2}},
           {"a", {2}},
           {"b", {2}},
           {"m", {2}},
           {"v", {2}}},
          with_norm_parts({{"identity-kernel", identity, {}, Scope::Free, "", "same"},
                           {"reshape", "shape~2,1,1,1", {"2@gain"}, Scope::Given, "", "column"},
                           {"mul", "", {axes, "2111@column"}, Scope::Given, "", "branch"},
                           {"sub", "", {"2@b", "2@offset"}, Scope::Given, "", "shift"},
                           {"add", "", {weights, "2...@branch"}, Scope::Given, "", "sum"},
                           {"add", "", {"2@c", "2@shift"}, Scope::Given, "", "bias"},
                           {"add", "", {"1243", "1243"}},
                           {"conv", conv, {"1243@x", weights, "2@c"}},
                           {"conv", conv, {"1243@x", "2...@sum", "2@bias"}},
                           {"conv", conv, {"1243@x", weights}},
                           {"conv", conv, {"1243@x", "2...@sum", "2@shift"}},
                           {"batchnorm", "epsilon=0.5", {"1243@x", "2@a", "2@b", "2@m", "2@v"}}}),
          1};
}

/// Scales and shifts of channels around a convolution with a bias; sums of what shares an image.
Grammar scaled_conv_grammar() {
  return {"scaled-convs",
          {{"x", {2, 4, 3, 3}},
           {"y", {2, 2, 3, 3}},
           {"k", {5, 4, 2, 2}, 1, Role::Kernel},
           {"b", {5}},
           {"c", {5, 1, 1}},
           {"e", {1, 5, 1, 1}}},
          {{"reshape", "shape~5,1,1,1", {"511@c"}, Scope::Given, "", "c4"},
           {"reshape", "shape~5", {"511@c"}, Scope::Given, "", "c1"},
           {"reshape", "shape~5,1,1,1", {"1511@e"}, Scope::Given, "", "e4"},
           {"reshape", "shape~5", {"1511@e"}, Scope::Given, "", "e1"},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"2433@x", "5422", "5"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"2433@x", "5422"}},
           {"mul", "", {"2522", "511@c"}},
           {"mul", "", {"2522", "1511@e"}},
           {"mul", "", {"5422@k", "5111@"}},
           {"mul", "", {"5@b", "5@"}},
           {"maxpool", "kernel=1,1 strides=2,2", {"2522"}},
           {"conv", "strides=2,2 pads=0,0,0,0 dilations=1,1 group=1", {"2433@x", "5422", "5"}}},
          1};
}

/// Shifts through pointwise convolutions, parts of joined channels, strides that move up.
Grammar pointwise_form_grammar() {
  return {"pointwise-forms",
          {{"x", {2, 4, 3, 5}},
           {"y", {2, 3, 3, 5}},
           {"p", {5, 4, 1, 1}, 1, Role::Kernel},
           {"q", {5, 7, 1, 1}, 1, Role::Kernel},
           {"r", {5, 3, 1, 1}, 1, Role::Kernel},
           {"a", {5}},
           {"b", {5}},
           {"c", {4, 1, 1}},
           {"e", {1, 4, 1, 1}}},
          {{"reshape", "shape~5,4", {"5411@p"}, Scope::Given, "", "flat"},
           {"reshape", "shape~4,1", {"411@c"}, Scope::Given, "", "c1"},
           {"reshape", "shape~4,1", {"1411@e"}, Scope::Given, "", "e1"},
           {"matmul", "", {"54@flat", "41@"}},
           {"reshape", "shape~5", {"51"}},
           {"add", "", {"2435@x", "411@c"}},
           {"add", "", {"2435@x", "1411@e"}},
           {"concat", "axis=1", {"2435@x", "2335@y"}},
           {"concat", "axis=1", {"5411@p", "5311@r"}},
           {"split", "axis=1 sizes~4,3", {"5711@q"}},
           {"add", "", {"2535", "2535"}},
           {"add", "", {"5@a", "5@b"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a..", "5a11"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a..", "5a11", "5"}}},
          2};
}

/// Strides of pointwise convolutions with a bias move up.
Grammar pointwise_stride_grammar() {
  return {"pointwise-strides",
          {{"x", {2, 4, 5, 6}}, {"p", {3, 4, 1, 1}, 1, Role::Kernel}, {"b", {3}}},
          {{"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".4..", "3411@p", "3@b"}},
           {"conv", "strides=2,3 pads=0,0,0,0 dilations=1,1 group=1", {".4..", "3411@p", "3@b"}},
           {"conv", "strides=2,3 pads=0,0,0,0 dilations=1,1 group=1", {".4..", "3411@p"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".4..", "3411@p"}},
           {"maxpool", "kernel=1,1 strides=2,3", {"...."}},
           {"reduce-mean", "axes=2,3", {"...."}}}};
}

/// Pads into convolutions of signals, and pointwise convolutions of windows.
Grammar padded_signal_grammar() {
  return {"padded-signals",
          {{"x", {1, 2, 5}}, {"k", {3, 2, 2}, 1, Role::Kernel}, {"b", {3}}},
          {{"pad", "pads=0,0,1,0,0,2", {"125@x"}},
           {"conv", "strides=1 pads=0,0 dilations=1 group=1", {"12.", "322@k"}},
           {"conv", "strides=1 pads=0,0 dilations=1 group=1", {"12.", "322@k", "3@b"}},
           {"conv", "strides=1 pads=1,2 dilations=1 group=1", {"12.", "322@k"}},
           {"conv", "strides=1 pads=1,2 dilations=1 group=1", {"12.", "322@k", "3@b"}}}};
}

/// Pointwise kernels beside larger ones of the same image, padded. Sums of kernels are given, so
/// that no other way leads there: a search does not find it.
Grammar padded_kernel_grammar() {
  return {
      "padded-kernels",
      {{"x", {1, 2, 4, 5}},
       {"w", {3, 2, 3, 3}, 1, Role::Kernel},
       {"p", {3, 2, 1, 1}, 1, Role::Kernel},
       {"a", {3}},
       {"b", {3}}},
      {{"pad", "pads=0,0,1,1,0,0,1,1", {"3211@p"}, Scope::Given, "", "wide"},
       {"add", "", {"3233@w", "3233@wide"}, Scope::Given, "", "sum"},
       {"add", "", {"3@a", "3@b"}, Scope::Given, "", "bias"},
       {"add", "", {"1345", "1345"}},
       {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {"1245@x", "3233@w"}},
       {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {"1245@x", "3233@sum"}},
       {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1245@x", "3211@p"}},
       {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {"1245@x", "3233@w", "3@a"}},
       {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {"1245@x", "3233@sum", "3@bias"}},
       {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1245@x", "3211@p", "3@b"}}},
      1};
}

/// A pointwise convolution behind one of any kernel, with biases.
Grammar conv_chain_grammar() {
  return {"conv-chains",
          {{"x", {1, 2, 3, 4}},
           {"w", {3, 2, 2, 2}, 1, Role::Kernel},
           {"v", {5, 3, 1, 1}, 1, Role::Kernel},
           {"a", {3}},
           {"b", {5}}},
          {{"transpose", "perm=1,0,2,3", {"3222@w"}, Scope::Given, "", "turned"},
           {"conv", "", {"2322@turned", "5311@v"}, Scope::Given, "", "product"},
           {"reshape", "shape~5,3", {"5311@v"}, Scope::Given, "", "flat"},
           {"reshape", "shape~3,1", {"3@a"}, Scope::Given, "", "column"},
           {"matmul", "", {"53@flat", "31@column"}, Scope::Given, "", "moved"},
           {"reshape", "shape~5", {"51@moved"}},
           {"add", "", {"5", "5@b"}},
           {"transpose", "perm=1,0,2,3", {"2522@product"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1234@x", "..22", "."}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1234@x", "..22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1323", "5311@v", "5"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"1323", "5311@v"}}},
          2};
}

}  // namespace

std::vector<Grammar> conv_fusions() {
  return {folded_norm_grammar(),
          folded_signal_norm_grammar(),
          norm_sum_grammar(),
          norm_form_grammar(),
          norm_branch_grammar("norm-branches-1x1", {2, 2, 1, 1}, "channels~2 kernel=1,1 centre=0,0",
                              "", "2211@same", "2211@w"),
          norm_branch_grammar("norm-branches-3x3", {2, 2, 3, 3}, "channels~2 kernel=3,3 centre=1,1",
                              "pads=1,1,1,1", "2233@same", "2233@w"),
          norm_branch_grammar("norm-branches-depthwise", {2, 1, 3, 3},
                              "channels~2 kernel=3,3 centre=1,1 group~2", "pads=1,1,1,1 group~2",
                              "2133@same", "2133@w"),
          scaled_conv_grammar(),
          pointwise_form_grammar(),
          pointwise_stride_grammar(),
          padded_signal_grammar(),
          padded_kernel_grammar(),
          conv_chain_grammar()};
}

}  // namespace regraft::gen
