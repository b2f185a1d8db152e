#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Sub-sampling by strides, by 1x1 pooling windows and by slices. Images are 8x10, 4x5 and 2x3.
Grammar stride_grammar() {
  return {"strides",
          {{"i", {1, 3, 8, 10}, 2},
           {"k", {3, 3, 3, 3}, 1, Role::Kernel},
           {"p", {3, 3, 1, 1}, 2, Role::Kernel}},
          {{"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a8.", ".a33"}},
           {"conv", "strides=2,2 pads=1,1,1,1 dilations=1,1 group=1", {".a8.", ".a33"}},
           {"conv", "strides=4,4 pads=1,1,1,1 dilations=1,1 group=1", {".a8.", ".a33"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a8.", ".a11"}},
           {"conv", "strides=2,2 pads=0,0,0,0 dilations=1,1 group=1", {".a8.", ".a11"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a45", ".a11"}},
           {"conv", "strides=2,2 pads=0,0,0,0 dilations=1,1 group=1", {".a45", ".a11"}},
           {"maxpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..8."}},
           {"maxpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..45"}},
           {"maxpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1", {"..8."}},
           {"maxpool", "kernel=3,3 strides=2,2 pads=1,1,1,1 dilations=1,1", {"..8."}},
           {"avgpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..8."}},
           {"slice", "begins=0,0,0,0 sizes~1,3,4,5 steps=1,1,2,2", {"138."}},
           {"relu", "", {"..8."}},
           {"relu", "", {"..45"}},
           {"add", "", {"ab8c", "ab8c"}},
           {"add", "", {"ab45", "ab45"}},
           {"mul", "", {"ab8c", "ab8c"}},
           {"mul", "", {"ab45", "ab45"}}}};
}

/// Every second pixel, by slices and by 1x1 pooling windows. Batches of 2 images of 4x6 in 5
/// channels.
Grammar subsample_grammar() {
  return {"subsamples",
          {{"i", {2, 5, 4, 6}}, {"p", {4, 5, 1, 1}, 1, Role::Kernel}},
          {{"slice", "begins=0,0,0,0 sizes~2,5,2,3 steps=1,1,2,2", {"2546"}},
           {"slice", "begins=0,0,1,0 sizes=2,5,2,3 steps=1,1,2,1", {"2546"}},
           {"slice", "begins=0,0,1,0 sizes=2,4,2,3 steps=1,1,2,1", {"2446"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {"....", ".511"}},
           {"maxpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..46"}},
           {"avgpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..46"}}}};
}

/// Chosen channels of what is scaled and shifted by channel.
Grammar channel_grammar() {
  return {"channels",
          {{"x", {2, 3, 4, 5}}, {"c", {3, 1, 1}}, {"b", {3}}},
          {{"gather", "axis=1 indices=2,0 shape=2", {".3.."}},
           {"gather", "axis=0 indices=2,0 shape=2", {"3.."}},
           {"gather", "axis=0 indices=2,0 shape=2", {"3"}},
           {"slice", "begins=0,1,0,0 sizes~2,2,4,5 steps=1,1,1,1", {"23.."}},
           {"slice", "begins=1,0,0 sizes~2,1,1 steps=1,1,1", {"3.."}},
           {"reshape", "shape~3,1,1", {"3"}},
           {"mul", "", {"abcd", "b11"}},
           {"add", "", {"abcd", "b11"}},
           {"div", "", {"abcd", "b11"}}}};
}

/// Pointwise convolutions beside pooling and resizing.
Grammar pooling_grammar() {
  return {"pooling",
          {{"i", {1, 2, 3, 4}, 2}, {"p", {3, 2, 1, 1}, 1, Role::Kernel}, {"b", {3}}},
          {{"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a..", ".a11"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a..", "ba11", "b"}},
           {"avgpool", "kernel=2,2 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..34"}},
           {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1", {"..34"}},
           {"avgpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1 include_pad=1", {"..34"}},
           {"maxpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1", {"..34"}},
           {"global-avgpool", "", {"..34"}},
           {"reduce-mean", "axes=2,3 keepdims=1", {"..34"}},
           {"resize-nearest", "factors=2,2", {"..34"}},
           {"resize-linear", "factors=2,2", {"..34"}},
           {"resize-linear", "factors=2,2 half_pixel=0", {"..34"}},
           {"relu", "", {"...."}},
           {"add", "", {"abcd", "abcd"}},
           {"mul", "", {"abcd", "abcd"}},
           {"concat", "axis=1", {"abcd", "aecd"}}}};
}

/// Weights composed: convolutions of convolutions.
Grammar kernel_grammar() {
  return {"kernels",
          {{"x", {1, 2, 3, 4}},
           {"p", {3, 2, 1, 1}, 1, Role::Kernel},
           {"q", {4, 3, 1, 1}, 1, Role::Kernel},
           {"k", {3, 2, 3, 3}, 1, Role::Kernel},
           {"l", {4, 3, 3, 3}, 1, Role::Kernel},
           {"t", {2, 3, 3, 3}, 1, Role::Kernel},
           {"c", {1, 2, 1, 1}},
           {"b", {3}}},
          {{"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", ".a33"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a34", "ba11", "b"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a..", ".a11"}},
           {"transpose", "perm=1,0,2,3", {"...."}},
           {"add", "", {"abcd", "abcd"}},
           {"add", "", {"abcd", "1b11"}}}};
}

/// Batch normalisation by its scale, bias, mean and variance, which are variables a, b, m, v where
/// a step leaves them alone. Images are 2x2 and have 3 channels.
Grammar norm_grammar(std::string_view name, std::vector<std::string_view> operands,
                     std::vector<Instance> instances) {
  operands.insert(operands.begin(), ".b22");
  Grammar t{name,
            {{"x", {4, 3, 2, 2}}, {"a", {3}}, {"b", {3}}, {"m", {3}}, {"v", {3}}},
            std::move(instances)};
  t.most = 3;
  t.instances.push_back({"batchnorm", "epsilon=0", std::move(operands), Scope::Once});
  return t;
}

/// With a convolution before it.
Grammar norm_of_conv_grammar(std::string_view name, std::vector<std::string_view> operands,
                             std::vector<Instance> instances) {
  Grammar t = norm_grammar(name, std::move(operands), std::move(instances));
  t.leaves.push_back({"p", {3, 3, 1, 1}, 1, Role::Kernel});
  t.leaves.push_back({"c", {3}});
  t.instances.push_back({"conv", "", {".a22", ".a11"}});
  return t;
}

std::vector<Grammar> norm_grammars() {
  const Instance zeros = {"full", "shape~3 value=0", {}, Scope::Free};
  const Instance ones = {"full", "shape~3 value=1", {}, Scope::Free};
  const Instance column = {"reshape", "shape~3,1,1,1", {"3"}};
  const Instance sub = {"sub", "", {"a", "a"}}, mul = {"mul", "", {"a", "a"}};
  const Instance biased = {"conv", "", {".a22", "ba11", "b"}};
  return {
      norm_grammar("norm-epsilon", {"b@a", "b@b", "b@m", "b"},
                   {{"batchnorm", "epsilon=0.5", {".b22", "b@a", "b@b", "b@m", "b@v"}, Scope::Once},
                    {"add", "", {"a", "-"}},
                    {"full", "shape= value=0.5", {}, Scope::Free}}),
      norm_grammar("norm-variance", {"b", "b@b", "b@m", "b@"},
                   {{"div", "", {"a", "a"}}, {"sqrt", "", {"."}}, ones}),
      norm_grammar("norm-mean", {"b@a", "b", "b@", "b@"}, {sub, mul, zeros, ones}),
      norm_grammar("norm-as-conv", {"b@", "b@", "b@", "b@"},
                   {{"conv", "group~3", {".322", "3111", "3"}},
                    {"reshape", "shape~3,1,1", {"3"}},
                    {"mul", "", {".b22", "b11"}},
                    {"add", "", {".b22", "b11"}},
                    column,
                    zeros,
                    ones}),
      norm_of_conv_grammar("norm-of-conv", {"b@a", "b@b", "b@", "b@"},
                           {{"mul", "", {"ab11", "a111"}}, column, biased, zeros, ones}),
      norm_of_conv_grammar("norm-of-bias", {"b@a", "b@b", "b", "b@v"}, {sub, biased}),
      norm_grammar("norm-elsewhere", {"b@a", "b@b", "b@m", "b@v"},
                   {{"relu", "", {"..22"}},
                    {"maxpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..22"}},
                    {"avgpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..22"}},
                    {"batchnorm", "epsilon=0", {".b11", "b@a", "b@b", "b@m", "b@v"}, Scope::Once},
                    {"concat", "axis=0", {"ab22", "eb22"}}})};
}

/// Scales and shifts of channels into convolutions: 4 channels of 3x3 become 5 of 2x2.
Grammar shift_grammar() {
  return {"shifts",
          {{"x", {2, 4, 3, 3}},
           {"k", {5, 4, 2, 2}, 2, Role::Kernel},
           {"b", {5}, 2},
           {"c", {5, 1, 1}},
           {"e", {1, 5, 1, 1}}},
          {{"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a33", ".a22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a33", "ba22", "b"}},
           {"add", "", {"abcd", "abcd"}},
           {"add", "", {"2522", "511"}},
           {"add", "", {"2522", "1511"}},
           {"mul", "", {"2522", "511"}},
           {"mul", "", {"2522", "1511"}},
           {"mul", "", {"5422", "5111"}},
           {"add", "", {"a", "a"}},
           {"mul", "", {"a", "a"}},
           {"reshape", "shape~5", {"511"}},
           {"reshape", "shape~5", {"1511"}},
           {"reshape", "shape~5,1,1", {"5"}},
           {"reshape", "shape~5,1,1,1", {"5"}},
           {"reshape", "shape~5,1,1,1", {"511"}},
           {"reshape", "shape~5,1,1,1", {"1511"}}}};
}

/// Shifts and scales of channels through pointwise convolutions, from 4 channels to 5.
Grammar pointwise_shift_grammar() {
  return {"pointwise-shifts",
          {{"x", {2, 4, 3, 3}},
           {"p", {5, 4, 1, 1}, 1, Role::Kernel},
           {"b", {5}},
           {"c", {1, 4, 1, 1}},
           {"d", {4, 1, 1}}},
          {{"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".4..", "5411"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".4..", "5411", "b"}},
           {"add", "", {"2433", "1411"}},
           {"add", "", {"2433", "411"}},
           {"add", "", {"2533", "1511"}},
           {"mul", "", {"2433", "1411"}},
           {"mul", "", {"2433", "411"}},
           {"mul", "", {"5411", "1411"}},
           {"mul", "", {"5411", "411"}},
           {"reshape", "shape~1,4,1,1", {"411"}}}};
}

/// Groups of channels, zeros in weights. Extents of 4 are two groups of 2.
Grammar group_grammar() {
  return {"groups",
          {{"x", {1, 2, 3, 3}, 2}, {"k", {3, 2, 2, 2}, 2, Role::Kernel}},
          {{"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a33", ".a22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=2", {".433", ".222"}},
           {"concat", "axis=1", {"abcd", "aecd"}},
           {"concat", "axis=0", {"abcd", "ebcd"}},
           {"split", "axis=1 sizes~2,2", {".4.."}},
           {"split", "axis=0 sizes~3,3", {"6..."}},
           {"add", "", {"abcd", "abcd"}},
           {"pad", "pads=0,0,0,0,0,2,0,0", {"..22"}, Scope::Leaves},
           {"pad", "pads=0,2,0,0,0,0,0,0", {"..22"}, Scope::Leaves}}};
}

/// Permuted and chosen channels in front of and behind convolutions.
Grammar permutation_grammar() {
  return {"permutations",
          {{"x", {1, 2, 2, 3}, 2},
           {"y", {1, 3, 2, 3}},
           {"k", {3, 2, 1, 2}, 1, Role::Kernel},
           {"b", {3}},
           {"c", {2, 1, 1}}},
          {{"gather", "axis=1 indices=1,0 shape=2", {".2.."}},
           {"gather", "axis=1 indices=2,0 shape=2", {".3.."}},
           {"gather", "axis=1 indices=0,2 shape=2", {".3.."}},
           {"gather", "axis=0 indices=2,0 shape=2", {"3..."}},
           {"gather", "axis=0 indices=2,0 shape=2", {"3"}},
           {"gather", "axis=0 indices=1,0 shape=2", {"2.."}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a23", ".a12"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a23", "ba12", "b"}},
           {"relu", "", {"...."}},
           {"add", "", {"abcd", "abcd"}},
           {"mul", "", {"abcd", "b11"}},
           {"add", "", {"abcd", "b11"}}}};
}

/// Slices of images in front of convolutions; pads and zeros in weights. Images are 6x8 and what
/// comes of them; kernels are 2x2, or 4x3 with zeros.
Grammar window_grammar() {
  return {"windows",
          {{"x", {1, 4, 6, 8}, 2}, {"k", {2, 4, 2, 2}, 1, Role::Kernel}, {"b", {2}}},
          {{"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a68", ".a22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a68", ".a43"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a47", ".a22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a34", ".a22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a33", ".a22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a79", ".a22"}},
           {"conv", "strides=1,1 pads=0,0,0,0 dilations=1,1 group=1", {".a79", "ba22", "b"}},
           {"conv", "strides=1,1 pads=1,0,0,1 dilations=1,1 group=1", {".a68", ".a22"}},
           {"conv", "strides=1,1 pads=1,0,0,1 dilations=1,1 group=1", {".a68", "ba22", "b"}},
           {"conv", "strides=2,2 pads=0,0,0,0 dilations=2,2 group=1", {".a68", ".a22"}},
           {"conv", "strides=2,2 pads=0,0,0,0 dilations=2,2 group=1", {".a66", ".a22"}},
           {"slice", "begins=0,0,0,0 sizes~1,4,3,4 steps=1,1,2,2", {"1468"}},
           {"slice", "begins=0,0,0,2 sizes=1,4,3,3 steps=1,1,2,2", {"1468"}},
           {"slice", "begins=0,0,0,2 sizes~1,4,6,6", {"1468"}},
           {"slice", "begins=0,0,0,0 sizes~1,4,4,7", {"1468"}},
           {"slice", "begins=0,0,2,1 sizes~1,4,4,7", {"1468"}},
           {"pad", "pads=0,0,1,0,0,0,0,1", {"..68"}},
           {"pad", "pads=0,0,0,0,0,0,2,1", {"..22"}},
           {"pad", "pads=0,0,2,1,0,0,0,0", {"..22"}},
           {"maxpool", "kernel=2,2 strides=1,1 pads=0,0,0,0 dilations=1,1", {"..68"}},
           {"maxpool", "kernel=2,2 strides=1,1 pads=0,0,0,0 dilations=1,1", {"..47"}},
           {"avgpool", "kernel=2,2 strides=1,1 pads=0,0,0,0 dilations=1,1", {"..68"}},
           {"avgpool", "kernel=2,2 strides=1,1 pads=0,0,0,0 dilations=1,1", {"..47"}},
           {"avgpool", "kernel=2,2 strides=1,1 pads=0,0,0,0 dilations=1,1", {"..79"}},
           {"avgpool", "kernel=2,2 strides=1,1 pads=1,0,0,1 dilations=1,1 include_pad=1", {"..68"}},
           {"relu", "", {"..68"}},
           {"relu", "", {"..47"}},
           {"add", "", {"ab68", "ab68"}},
           {"add", "", {"ab47", "ab47"}}}};
}

/// A dilated kernel of a signal as one with zeros between: 2 taps, 4 apart, are 8 taps.
Grammar signal_grammar() {
  return {"signals",
          {{"x", {1, 6, 9}}, {"w", {5, 6, 2, 1}}},
          {{"conv", "strides=1 pads=0,0 dilations=4 group=1", {".a9", ".a2"}},
           {"conv", "strides=1 pads=0,3 dilations=1 group=1", {".a9", ".a8"}},
           {"reshape", "shape~5,6,2", {"5621"}},
           {"reshape", "shape~5,6,8", {"5624"}},
           {"pad", "pads=0,0,0,0,0,0,0,3", {"5621"}}}};
}

}  // namespace

std::vector<Grammar> image_grammars() {
  std::vector<Grammar> r = {convolution_grammar(), shift_grammar(),       pointwise_shift_grammar(),
                            stride_grammar(),      pooling_grammar(),     kernel_grammar(),
                            group_grammar(),       permutation_grammar(), window_grammar(),
                            signal_grammar(),      subsample_grammar(),   channel_grammar()};
  for (Grammar& t : norm_grammars()) r.push_back(std::move(t));
  return r;
}

}  // namespace regraft::gen
