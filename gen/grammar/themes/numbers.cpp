// Themes whose values are compared as doubles: logarithms, real powers, roundings to other formats,
// numbers that are met exactly, fractions.
#include <array>
#include <utility>

#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

Grammar by_doubles(Grammar g, int more = 0, bool twice = false) {
  g.more = more;
  g.twice = twice;
  g.compare = Compare::Doubles;
  return g;
}

/// Logarithms of exponentials and of what is made of them.
Grammar logarithm_grammar() {
  return by_doubles({"logarithms",
                     {{"x", {2, 3}}},
                     {{"neg", "", {"ab"}},
                      {"exp", "", {"ab"}},
                      {"log", "", {"ab"}},
                      {"sigmoid", "", {"ab"}},
                      {"softplus", "", {"ab"}}}},
                    1);
}

/// Functions that do not see a sign, or turn with it.
Grammar even_grammar() {
  return by_doubles({"even",
                     {{"x", {2, 3}}},
                     {{"neg", "", {"ab"}},
                      {"abs", "", {"ab"}},
                      {"cos", "", {"ab"}},
                      {"sin", "", {"ab"}},
                      {"mul", "", {"ab", "ab"}}}},
                    0, true);
}

/// A softmax and the logarithm of its sum.
Grammar softmax_logarithm_grammar(std::string_view name, std::vector<int64_t> x,
                                  std::string_view rows, std::string_view sums) {
  return by_doubles({name,
                     {{"x", std::move(x)}},
                     {{"exp", "", {rows}},
                      {"log", "", {rows}},
                      {"log", "", {sums}},
                      {"sub", "", {rows, sums}},
                      {"reduce-log-sum-exp", "axes=-1", {rows}},
                      {"softmax", "axis=-1", {rows}},
                      {"log-softmax", "axis=-1", {rows}}}});
}

/// The logarithm of a sum of exponentials, taken relative to the largest.
Grammar shifted_sum_grammar(std::string_view name, std::vector<int64_t> x, std::string_view leaf,
                            std::string_view sums, std::string_view shifted,
                            std::string_view powers) {
  return by_doubles({name,
                     {{"x", std::move(x)}},
                     {{"reduce-max", "axes=-1", {leaf}, Scope::Given, "", "most"},
                      {"sub", "", {leaf, sums}, Scope::Given, "", "shifted"},
                      {"exp", "", {shifted}, Scope::Given, "", "powers"},
                      {"reduce-sum", "axes=-1", {powers}},
                      {"log", "", {".1"}},
                      {"log", "", {"..1"}},
                      {"add", "", {"ab", sums}},
                      {"add", "", {"abc", sums}},
                      {"reduce-log-sum-exp", "axes=-1", {leaf}}}},
                    1);
}

/// Powers with real exponents, of what is positive and of powers of e.
Grammar real_power_grammar() {
  return by_doubles({"real-powers",
                     {{"x", {2, 3}, 1, Role::Positive}, {"y", {2, 3}, 2}},
                     {{"full", "shape= value=0.5", {}, Scope::Free, "", "half"},
                      {"full", "shape= value=-0.5", {}, Scope::Free, "", "below"},
                      {"pow", "", {"ab", "-@half"}},
                      {"pow", "", {"ab", "-@below"}},
                      {"pow", "", {"ab", "ab"}},
                      {"sqrt", "", {"ab"}},
                      {"reciprocal", "", {"ab"}},
                      {"exp", "", {"ab@"}},
                      {"mul", "", {"ab", "ab"}}}});
}

/// Powers of powers of e.
Grammar exponential_power_grammar() {
  return by_doubles({"exponential-powers",
                     {{"y", {2, 3}}, {"z", {2, 3}}},
                     {{"exp", "", {"ab@y"}, Scope::Given, "", "e"},
                      {"pow", "", {"ab@e", "ab@z"}},
                      {"mul", "", {"ab@y", "ab@z"}},
                      {"exp", "", {"ab"}}}});
}

/// Powers with whole exponents, written as real ones.
Grammar whole_power_grammar() {
  return by_doubles({"whole-powers",
                     {{"x", {2, 3}}},
                     {{"full", "shape= value=2", {}, Scope::Free, "", "two"},
                      {"full", "shape= value=3", {}, Scope::Free, "", "three"},
                      {"full", "shape= value=-1", {}, Scope::Free, "", "below"},
                      {"full", "shape= value=1", {}, Scope::Free, "", "one"},
                      {"pow", "", {"ab@x", "-@"}},
                      {"power", "exponent=2", {"ab"}},
                      {"power", "exponent=3", {"ab"}},
                      {"reciprocal", "", {"ab"}}}});
}

/// Numbers of other types, more than once.
Grammar repeated_cast_grammar() {
  Grammar g = {"repeated-casts", {{"x", {2, 3}}}, {}};
  for (std::string_view to : {"to=1", "to=10", "to=16"})
    g.instances.push_back({"cast", to, {"ab"}});
  return by_doubles(std::move(g));
}

/// Truth values as numbers of other types, and back.
Grammar truth_cast_grammar() {
  Grammar g = {"truth-casts", {{"x", {2, 3}}, {"y", {2, 3}}}, {}};
  g.instances.push_back({"greater", "", {"ab@x", "ab@y"}, Scope::Given, "", "above"});
  static constexpr std::array<std::array<std::string_view, 3>, 4> kTypes = {
      {{"to=1", "float", "ab@float"},
       {"to=7", "integer", "ab@integer"},
       {"to=10", "half", "ab@half"},
       {"to=16", "brain", "ab@brain"}}};
  for (const auto& [to, name, operand] : kTypes)
    g.instances.push_back({"cast", to, {"ab@above"}, Scope::Given, "", name});
  for (const auto& [to, name, operand] : kTypes) g.instances.push_back({"cast", "to=9", {operand}});
  return by_doubles(std::move(g));
}

/// Clips of clips, for each order of four bounds.
Grammar ordered_clip_grammar() {
  Grammar g = {"ordered-clips", {{"x", {2, 3}}}, {}};
  for (std::string_view bounds : {"min=-2 max=-1", "min=-2 max=3", "min=-2 max=5", "min=-1 max=3",
                                  "min=-1 max=5", "min=3 max=5", "min=-1 max=-1", "min=3 max=3"})
    g.instances.push_back({"clip", bounds, {"ab"}});
  return by_doubles(std::move(g));
}

/// Comparisons with numbers, at these numbers too.
Grammar met_threshold_grammar() {
  return by_doubles({"met-thresholds",
                     {{"x", {2, 3}}},
                     {{"full", "shape= value=0.625", {}, Scope::Free, "", "bound"},
                      {"full", "shape= value=0", {}, Scope::Free, "", "zero"},
                      {"greater", "", {"ab@x", "-@bound"}},
                      {"less", "", {"ab@x", "-@bound"}},
                      {"greater-or-equal", "", {"ab@x", "-@bound"}},
                      {"less-or-equal", "", {"ab@x", "-@bound"}},
                      {"where", "", {"ab", "ab@x", "-@zero"}},
                      {"where", "", {"ab", "-@zero", "ab@x"}},
                      {"thresholded-relu", "alpha=0.625", {"ab@x"}}}});
}

/// Truth values as numbers, which choose or are factors.
Grammar truth_factor_grammar() {
  return by_doubles({"truth-factors",
                     {{"c", {2, 3}}, {"d", {2, 3}}, {"x", {2, 3}}},
                     {{"full", "shape= value=0", {}, Scope::Free, "", "zero"},
                      {"full", "shape= value=1", {}, Scope::Free, "", "one"},
                      {"greater", "", {"ab@c", "ab@d"}, Scope::Given, "", "above"},
                      {"cast", "to=1", {"ab@above"}},
                      {"where", "", {"ab@above", "-@", "-@"}},
                      {"where", "", {"ab@above", "ab@x", "-@zero"}},
                      {"where", "", {"ab@above", "-@zero", "ab@x"}},
                      {"mul", "", {"ab@x", "ab"}}}});
}

/// Hard activations by clips, in sixths.
Grammar sixth_grammar() {
  return by_doubles({"sixths",
                     {{"x", {2, 3}}},
                     {{"full", "shape= value=3", {}, Scope::Free, "", "three"},
                      {"full", "shape= value=6", {}, Scope::Free, "", "six"},
                      {"full", "shape= value=1/6", {}, Scope::Free, "", "sixth"},
                      {"add", "", {"ab@x", "-@three"}, Scope::Given, "", "raised"},
                      {"clip", "min=0 max=6", {"ab@raised"}},
                      {"div", "", {"ab", "-@six"}},
                      {"mul", "", {"ab", "-@sixth"}},
                      {"mul", "", {"ab@x", "ab"}},
                      {"hard-sigmoid", "alpha=1/6 beta=0.5", {"ab@x"}},
                      {"hard-swish", "", {"ab@x"}}}},
                    1);
}

/// Images over their deviation, which is a billionth more than it is.
Grammar deviation_grammar() {
  return by_doubles({"deviations",
                     {{"x", {2, 3, 4, 5}}},
                     {{"full", "shape= value=1/1000000000", {}, Scope::Free, "", "least"},
                      {"reduce-mean", "axes=2,3", {"2345@x"}, Scope::Given, "", "mean"},
                      {"sub", "", {"2345@x", "2311@mean"}, Scope::Given, "", "centred"},
                      {"mul", "", {"2345@centred", "2345@centred"}, Scope::Given, "", "squares"},
                      {"reduce-mean", "axes=2,3", {"2345@squares"}, Scope::Given, "", "variance"},
                      {"sqrt", "", {"2311@variance"}, Scope::Given, "", "deviation"},
                      {"add", "", {"2311@deviation", "-@least"}, Scope::Given, "", "divisor"},
                      {"div", "", {"2345@centred", "2311@divisor"}},
                      {"mean-variance-norm", "axes=2,3", {"2345@x"}}}});
}

/// A scale in front of a normalisation of rows is one of its epsilon.
Grammar scaled_row_grammar() {
  return by_doubles({"scaled-norms",
                     {{"x", {3, 4}}, {"s", {4}}, {"b", {4}}},
                     {{"full", "shape= value=0.5", {}, Scope::Free, "", "c"},
                      {"mul", "", {"34@x", "-@c"}, Scope::Given, "", "scaled"},
                      {"layernorm", "axis=-1 epsilon=0.375", {"34@scaled", "4@s", "4@b"}},
                      {"layernorm", "axis=-1 epsilon=1.5", {"34@x", "4@s", "4@b"}},
                      {"layernorm", "axis=-1 epsilon=0.375", {"34@scaled", "4@s"}},
                      {"layernorm", "axis=-1 epsilon=1.5", {"34@x", "4@s"}},
                      {"rmsnorm", "axis=-1 epsilon=0.375", {"34@scaled", "4@s"}},
                      {"rmsnorm", "axis=-1 epsilon=1.5", {"34@x", "4@s"}}}});
}

/// A softmax over two blocks, by results for each of them and the logarithms of their sums.
Grammar partial_result_grammar() {
  return by_doubles({"partial-results",
                     {{"x", {2, 3}}, {"y", {2, 5}}, {"v", {3, 4}}, {"w", {5, 4}}},
                     {{"concat", "axis=1", {"23@x", "25@y"}, Scope::Given, "", "scores"},
                      {"concat", "axis=0", {"34@v", "54@w"}, Scope::Given, "", "values"},
                      {"softmax", "axis=1", {"28@scores"}, Scope::Given, "", "p"},
                      {"softmax", "axis=1", {"23@x"}, Scope::Given, "", "px"},
                      {"softmax", "axis=1", {"25@y"}, Scope::Given, "", "py"},
                      {"matmul", "", {"23@px", "34@v"}, Scope::Given, "", "first"},
                      {"matmul", "", {"25@py", "54@w"}, Scope::Given, "", "second"},
                      {"reduce-log-sum-exp", "axes=1", {"23@x"}, Scope::Given, "", "lx"},
                      {"reduce-log-sum-exp", "axes=1", {"25@y"}, Scope::Given, "", "ly"},
                      {"sub", "", {"21@lx", "21@ly"}, Scope::Given, "", "there"},
                      {"sub", "", {"21@ly", "21@lx"}, Scope::Given, "", "back"},
                      {"sigmoid", "", {"21@there"}, Scope::Given, "", "sx"},
                      {"sigmoid", "", {"21@back"}, Scope::Given, "", "sy"},
                      {"matmul", "", {"28@p", "84@values"}},
                      {"mul", "", {"24@first", "21@sx"}},
                      {"mul", "", {"24@second", "21@sy"}},
                      {"add", "", {"24", "24"}}}},
                    1);
}

/// A slope by half of what is below zero.
Grammar half_slope_grammar() {
  return {"half-slopes",
          {{"x", {2, 3}}, {"s", {3}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "half"},
           {"relu", "", {"ab@x"}, Scope::Given, "", "above"},
           {"abs", "", {"ab@x"}, Scope::Given, "", "size"},
           {"sub", "", {"ab@x", "ab@size"}, Scope::Given, "", "twice"},
           {"mul", "", {"ab@twice", "b@s"}},
           {"mul", "", {"ab", "-@half"}},
           {"add", "", {"ab@above", "ab"}},
           {"prelu", "", {"ab@x", "b@s"}}},
          1};
}

/// Quantised again, by the same scale.
Grammar requantised_grammar() {
  return by_doubles({"requantised",
                     {{"y", {2, 3}}, {"s", {}}},
                     {{"round", "", {"ab"}},
                      {"clip", "min=-128 max=127", {"ab"}},
                      {"mul", "", {"ab", "-@s"}},
                      {"div", "", {"ab", "-@s"}}}},
                    1);
}

}  // namespace

std::vector<Grammar> number_themes() {
  return {logarithm_grammar(),
          even_grammar(),
          softmax_logarithm_grammar("softmax-logarithms", {3, 4}, "34", "31"),
          softmax_logarithm_grammar("sequence-logarithms", {2, 3, 4}, "234", "231"),
          shifted_sum_grammar("shifted-sums", {3, 4}, "34@x", "31@most", "34@shifted", "34@powers"),
          shifted_sum_grammar("shifted-sequences", {2, 3, 4}, "234@x", "231@most", "234@shifted",
                              "234@powers"),
          real_power_grammar(),
          whole_power_grammar(),
          exponential_power_grammar(),
          truth_cast_grammar(),
          repeated_cast_grammar(),
          ordered_clip_grammar(),
          met_threshold_grammar(),
          truth_factor_grammar(),
          sixth_grammar(),
          deviation_grammar(),
          scaled_row_grammar(),
          partial_result_grammar(),
          half_slope_grammar(),
          requantised_grammar()};
}

}  // namespace regraft::gen
