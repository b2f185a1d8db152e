#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// A clip of a clip, for each order of the four bounds.
Grammar nested_clip_grammar() {
  return {"nested-clips",
          {{"x", {2, 3}}},
          {{"clip", "min=-2 max=3", {"ab"}},
           {"clip", "min=-1 max=5", {"ab"}},
           {"clip", "min=-1 max=3", {"ab"}},
           {"clip", "min=-2 max=5", {"ab"}},
           {"clip", "min=-2 max=-1", {"ab"}},
           {"clip", "min=3 max=5", {"ab"}},
           {"clip", "min=3 max=3", {"ab"}},
           {"clip", "min=-1 max=-1", {"ab"}}}};
}

/// Clips from zero, and of one bound.
Grammar ramp_clip_grammar() {
  return {"ramp-clips",
          {{"x", {2, 3}}},
          {{"clip", "min=-2 max=3", {"ab"}},
           {"clip", "min=0 max=3", {"ab"}},
           {"clip", "min=2 max=3", {"ab"}},
           {"clip", "min=0 max=5", {"ab"}},
           {"clip", "min=2", {"ab"}},
           {"clip", "min=-2", {"ab"}},
           {"clip", "max=3", {"ab"}},
           {"clip", "min=0", {"ab"}},
           {"relu", "", {"ab"}}}};
}

/// Minima and maxima with numbers, as clips and ramps.
Grammar number_bound_grammar() {
  return {"number-bounds",
          {{"x", {2, 3}}},
          {{"full", "shape= value=-2", {}, Scope::Free, "", "low"},
           {"full", "shape= value=3", {}, Scope::Free, "", "high"},
           {"full", "shape= value=0", {}, Scope::Free, "", "zero"},
           {"max", "", {"ab", "-@low"}},
           {"max", "", {"ab", "-@zero"}},
           {"min", "", {"ab", "-@high"}},
           {"clip", "min=-2 max=3", {"ab"}},
           {"clip", "min=0 max=3", {"ab"}},
           {"clip", "min=-2", {"ab"}},
           {"clip", "max=3", {"ab"}},
           {"relu", "", {"ab"}}}};
}

/// Factors around what bends at zero.
Grammar factor_bend_grammar() {
  return {"factor-bends",
          {{"x", {2, 3}}},
          {{"full", "shape= value=0.375", {}, Scope::Free, "", "c"},
           {"full", "shape= value=-0.625", {}, Scope::Free, "", "d"},
           {"mul", "", {"ab", "-@c"}},
           {"mul", "", {"ab", "-@d"}},
           {"div", "", {"ab", "-@c"}},
           {"relu", "", {"ab"}},
           {"abs", "", {"ab"}},
           {"neg", "", {"ab"}},
           {"leaky-relu", "alpha=0.375", {"ab@x"}},
           {"max", "", {"ab@x", "ab"}},
           {"min", "", {"ab@x", "ab"}}}};
}

/// Roundings, ramps and clips commute.
Grammar rounded_bound_grammar() {
  return {"rounded-bounds",
          {{"x", {2, 3}}},
          {{"round", "", {"ab"}},
           {"floor", "", {"ab"}},
           {"ceil", "", {"ab"}},
           {"relu", "", {"ab"}},
           {"clip", "min=0 max=6", {"ab"}},
           {"clip", "min=-3 max=4", {"ab"}}},
          1};
}

/// Rising functions pass a maximum of windows, of rows, and of pairs.
Grammar rising_grammar() {
  Grammar t = {"rising",
               {{"x", {1, 2, 4, 5}}, {"y", {2, 3}}, {"z", {2, 3}}},
               {{"full", "shape= value=0.375", {}, Scope::Free, "", "c"},
                {"maxpool", "kernel=2,3 strides=2,1", {"1245"}},
                {"reduce-max", "axes=1", {"23"}},
                {"reduce-min", "axes=1", {"23"}},
                {"max", "", {"23", "23"}},
                {"min", "", {"23", "23"}}}};
  for (std::string_view axes : {"12..", "2."}) {
    for (std::string_view op : {"relu", "sigmoid", "tanh", "exp", "round", "floor"})
      t.instances.push_back({op, "", {axes}});
    t.instances.push_back({"clip", "min=-3 max=4", {axes}});
    t.instances.push_back({"mul", "", {axes, "-@c"}});
    t.instances.push_back({"div", "", {axes, "-@c"}});
    t.instances.push_back({"add", "", {axes, "-@c"}});
  }
  return t;
}

/// Even and odd functions.
Grammar parity_grammar() {
  return {"parities",
          {{"x", {2, 3}}},
          {{"neg", "", {"ab"}},
           {"abs", "", {"ab"}},
           {"cos", "", {"ab"}},
           {"sin", "", {"ab"}},
           {"tanh", "", {"ab"}},
           {"erf", "", {"ab"}},
           {"sign", "", {"ab"}},
           {"mul", "", {"ab", "ab"}}},
          0,
          true};
}

/// Roots of what is positive, with powers.
Grammar positive_root_grammar() {
  return {"positive-roots",
          {{"x", {2, 3}, 2, Role::Positive}},
          {{"sqrt", "", {"ab"}},
           {"mul", "", {"ab", "ab"}},
           {"div", "", {"ab", "ab"}},
           {"reciprocal", "", {"ab"}},
           {"power", "exponent=2", {"ab"}},
           {"power", "exponent=-1", {"ab"}}},
          0,
          true};
}

/// A scale in front of a layer normalisation, in its epsilon.
Grammar scaled_layer_norm_grammar(std::string_view name, std::vector<int64_t> x,
                                  std::string_view rows) {
  return {name,
          {{"x", std::move(x)}, {"s", {4}}, {"b", {4}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "c"},
           {"mul", "", {rows, "-@c"}},
           {"layernorm", "axis=-1 epsilon=0.375", {rows, "4@s", "4@b"}},
           {"layernorm", "axis=-1 epsilon=1.5", {rows, "4@s", "4@b"}},
           {"layernorm", "axis=-1 epsilon=0.375", {rows, "4@s"}},
           {"layernorm", "axis=-1 epsilon=1.5", {rows, "4@s"}},
           {"rmsnorm", "axis=-1 epsilon=0.375", {rows, "4@s"}},
           {"rmsnorm", "axis=-1 epsilon=1.5", {rows, "4@s"}}}};
}

/// A number in the steps of a quantisation.
Grammar quantising_grammar() {
  return {"quantising",
          {{"y", {2, 3}}, {"s", {}}},
          {{"round", "", {"ab"}},
           {"clip", "min=-128 max=127", {"ab"}},
           {"mul", "", {"ab", "-@s"}},
           {"div", "", {"ab", "-@s"}}},
          1};
}

/// A quotient by 1 + |x|.
Grammar written_softsign_grammar() {
  return {"written-softsign",
          {{"x", {2, 3}}},
          {{"full", "shape= value=1", {}, Scope::Free, "", "one"},
           {"abs", "", {"ab@x"}, Scope::Given, "", "size"},
           {"add", "", {"ab@size", "-@one"}, Scope::Given, "", "sum"},
           {"div", "", {"ab@x", "ab@sum"}},
           {"softsign", "", {"ab@x"}}}};
}

/// Exponential sums under a softmax, the division delayed.
Grammar delayed_division_grammar(std::string_view name, std::vector<int64_t> x,
                                 std::vector<int64_t> v, std::string_view rows,
                                 std::string_view sums, std::string_view factors,
                                 std::string_view result) {
  return {name,
          {{"x", std::move(x)}, {"v", std::move(v)}},
          {{"exp", "", {rows}, Scope::Given, "", "e"},
           {"reduce-sum", "axes=-1", {sums}, Scope::Given, "", "total"},
           {"softmax", "axis=-1", {rows}},
           {"matmul", "", {factors, result}},
           {"div", "", {"..", ".1@total"}},
           {"div", "", {"...", "..1@total"}}}};
}

}  // namespace

std::vector<Grammar> bound_themes() {
  return {
      nested_clip_grammar(),
      ramp_clip_grammar(),
      number_bound_grammar(),
      factor_bend_grammar(),
      rounded_bound_grammar(),
      rising_grammar(),
      parity_grammar(),
      positive_root_grammar(),
      scaled_layer_norm_grammar("scaled-rows", {3, 4}, ".4"),
      scaled_layer_norm_grammar("scaled-sequences", {2, 3, 4}, "..4"),
      quantising_grammar(),
      written_softsign_grammar(),
      delayed_division_grammar("delayed-division", {3, 4}, {4, 5}, "34@x", "34@e", "34", "45@v"),
      delayed_division_grammar("delayed-division-3d", {2, 3, 4}, {2, 4, 5}, "234@x", "234@e", "234",
                               "245@v")};
}

}  // namespace regraft::gen
