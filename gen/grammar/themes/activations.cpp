#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Sigmoids, by exponentials and by hyperbolic tangents.
Grammar sigmoid_grammar() {
  return {"sigmoids",
          {{"x", {2, 3}}},
          {{"full", "shape= value=1", {}, Scope::Free, "", "one"},
           {"full", "shape= value=2", {}, Scope::Free, "", "two"},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "half"},
           {"neg", "", {"ab@x"}, Scope::Given, "", "turned"},
           {"neg", "", {"ab"}},
           {"exp", "", {"ab"}},
           {"add", "", {"ab", "-@one"}},
           {"add", "", {"ab", "-@half"}},
           {"sub", "", {"ab", "-@one"}},
           {"sub", "", {"-@one", "ab"}},
           {"mul", "", {"ab", "-@two"}},
           {"mul", "", {"ab", "-@half"}},
           {"div", "", {"-@one", "ab"}},
           {"div", "", {"ab@x", "ab"}},
           {"mul", "", {"ab@x", "ab"}},
           {"reciprocal", "", {"ab"}},
           {"sigmoid", "", {"ab"}},
           {"tanh", "", {"ab"}},
           {"swish", "alpha=1", {"ab@x"}}},
          1};
}

/// Soft forms of ramps and signs.
Grammar soft_grammar() {
  return {"soft-functions",
          {{"x", {2, 3}}},
          {{"full", "shape= value=1", {}, Scope::Free, "", "one"},
           {"neg", "", {"ab"}},
           {"exp", "", {"ab"}},
           {"log", "", {"ab"}},
           {"abs", "", {"ab"}},
           {"add", "", {"ab", "-@one"}},
           {"div", "", {"ab@x", "ab"}},
           {"mul", "", {"ab@x", "ab"}},
           {"tanh", "", {"ab"}},
           {"sigmoid", "", {"ab"}},
           {"softplus", "", {"ab"}},
           {"softsign", "", {"ab"}},
           {"mish", "", {"ab"}}},
          1};
}

/// The Gaussian error unit by the error function.
Grammar gelu_grammar() {
  return {"gelu",
          {{"x", {2, 3}}},
          {{"full", "shape= value=1.4142135381698608", {}, Scope::Free, "", "root"},
           {"full", "shape= value=1", {}, Scope::Free, "", "one"},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "half"},
           {"full", "shape= value=2", {}, Scope::Free, "", "two"},
           {"div", "", {"ab@x", "-@root"}, Scope::Given, "", "scaled"},
           {"erf", "", {"ab@scaled"}},
           {"add", "", {"ab", "-@one"}},
           {"add", "", {"ab", "-@half"}},
           {"mul", "", {"ab", "-@half"}},
           {"mul", "", {"ab@x", "ab"}},
           {"add", "", {"ab", "ab"}},
           {"gelu", "", {"ab@x"}}},
          2};
}

/// The same with a hyperbolic tangent of a cubic.
Grammar tanh_gelu_grammar(std::string_view name, std::vector<Instance> cube) {
  std::vector<Instance> rest = {
      {"full", "shape= value=0.044714998453855515", {}, Scope::Free, "", "a"},
      {"full", "shape= value=0.7978845834732056", {}, Scope::Free, "", "b"},
      {"full", "shape= value=1", {}, Scope::Free, "", "one"},
      {"full", "shape= value=0.5", {}, Scope::Free, "", "half"},
      {"mul", "", {"ab@cube", "-@a"}, Scope::Given, "", "third"},
      {"add", "", {"ab@x", "ab@third"}, Scope::Given, "", "cubic"},
      {"mul", "", {"ab@cubic", "-@b"}},
      {"tanh", "", {"ab"}},
      {"add", "", {"ab", "-@one"}},
      {"add", "", {"ab", "-@half"}},
      {"mul", "", {"ab", "-@half"}},
      {"mul", "", {"ab@x", "ab"}},
      {"gelu-tanh", "", {"ab@x"}}};
  cube.insert(cube.end(), rest.begin(), rest.end());
  return {name, {{"x", {2, 3}}}, std::move(cube), 3};
}

/// Hard forms by clips; numbers that are exact.
Grammar hard_form_grammar() {
  return {"hard-forms",
          {{"x", {2, 3}}},
          {{"full", "shape= value=3", {}, Scope::Free, "", "three"},
           {"full", "shape= value=6", {}, Scope::Free, "", "six"},
           {"full", "shape= value=0", {}, Scope::Free, "", "zero"},
           {"full", "shape= value=0.1666666716337204", {}, Scope::Free, "", "sixth"},
           {"add", "", {"ab", "-@three"}},
           {"clip", "min=0 max=6", {"ab"}},
           {"relu", "", {"ab"}},
           {"min", "", {"ab", "-@six"}},
           {"max", "", {"ab", "-@zero"}},
           {"div", "", {"ab", "-@six"}},
           {"mul", "", {"ab", "-@sixth"}},
           {"mul", "", {"ab@x", "ab"}},
           {"hard-sigmoid", "alpha=0.1666666716337204 beta=0.5", {"ab@x"}},
           {"hard-swish", "", {"ab@x"}}},
          2};
}

/// Exponential units and what scales them.
Grammar unit_grammar() {
  return {"units",
          {{"x", {2, 3}}},
          {{"full", "shape= value=0.625", {}, Scope::Free, "", "gamma"},
           {"mul", "", {"ab", "-@gamma"}},
           {"elu", "alpha=0.375", {"ab@x"}},
           {"selu", "alpha=0.375 gamma=0.625", {"ab@x"}},
           {"relu", "", {"ab"}}}};
}

/// Powers, roots and several summands.
Grammar power_grammar() {
  return {"powers",
          {{"x", {2, 3}, 2}},
          {{"power", "exponent=0", {"ab@"}},
           {"power", "exponent=1", {"ab@"}},
           {"power", "exponent=-1", {"ab@"}},
           {"power", "exponent=2", {"ab@"}},
           {"power", "exponent=3", {"ab@"}},
           {"reciprocal", "", {"ab"}},
           {"sqrt", "", {"ab"}},
           {"mul", "", {"ab", "ab"}},
           {"sum-of", "", {"ab", "ab"}},
           {"mean-of", "", {"ab", "ab"}},
           {"max-of", "", {"ab", "ab"}},
           {"min-of", "", {"ab", "ab"}},
           {"add", "", {"ab", "ab"}},
           {"max", "", {"ab", "ab"}},
           {"min", "", {"ab", "ab"}},
           {"full", "shape~2,3 value=1", {}, Scope::Free}}};
}

/// Numbers of one rounding are rounded once.
Grammar jump_grammar() {
  return {
      "jumps",
      {{"x", {2, 3}}},
      {{"floor", "", {"ab"}}, {"ceil", "", {"ab"}}, {"round", "", {"ab"}}, {"neg", "", {"ab"}}}};
}

/// Quantised numbers: rounded and clipped.
Grammar quantised_grammar() {
  return {"quantised",
          {{"y", {2, 3}}, {"s", {}}, {"z", {}}},
          {{"full", "shape= value=128", {}, Scope::Free, "", "middle"},
           {"add", "", {"ab@y", "-@z"}},
           {"round", "", {"ab"}},
           {"add", "", {"ab", "-@middle"}},
           {"sub", "", {"ab", "-@middle"}},
           {"mul", "", {"ab", "-@s"}},
           {"div", "", {"ab", "-@s"}},
           {"clip", "min=-128 max=127", {"ab"}},
           {"clip", "min=0 max=255", {"ab"}}},
          2};
}

/// Scales and zero points of quantised factors.
Grammar quantised_factor_grammar() {
  return {"quantised-factors",
          {{"q", {2, 3}}, {"w", {3, 4}}, {"s", {}}, {"t", {4}}, {"z", {}}},
          {{"mul", "", {"ab", "-@"}},
           {"mul", "", {"ab", "b@t"}},
           {"mul", "", {"-@s", "a@t"}},
           {"mul", "", {"-@", "-@"}},
           {"mul", "", {"1a", "-@"}},
           {"sub", "", {"ab@q", "-@z"}},
           {"sub", "", {"ab", "1b"}},
           {"reduce-sum", "axes=0", {"34@w"}},
           {"matmul", "", {"ab", "bc"}}},
          2};
}

}  // namespace

std::vector<Grammar> activation_themes() {
  return {
      sigmoid_grammar(),
      soft_grammar(),
      gelu_grammar(),
      tanh_gelu_grammar("gelu-tanh", {{"power", "exponent=3", {"ab@x"}, Scope::Given, "", "cube"}}),
      tanh_gelu_grammar("gelu-tanh-products",
                        {{"mul", "", {"ab@x", "ab@x"}, Scope::Given, "", "square"},
                         {"mul", "", {"ab@x", "ab@square"}, Scope::Given, "", "cube"}}),
      hard_form_grammar(),
      unit_grammar(),
      power_grammar(),
      jump_grammar(),
      quantised_grammar(),
      quantised_factor_grammar()};
}

}  // namespace regraft::gen
