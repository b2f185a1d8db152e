#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Truth values.
Grammar truth_grammar() {
  return {"truths",
          {{"c", {2, 3}, 3, Role::Truths}},
          {{"logical-not", "", {"ab"}},
           {"logical-and", "", {"ab", "ab"}},
           {"logical-or", "", {"ab", "ab"}}},
          1,
          true};
}

/// Selections by truth values, which stand for each column so that nothing else is one.
Grammar selection_grammar() {
  return {"selections",
          {{"x", {2, 3}, 3}, {"c", {3}, 2, Role::Truths}},
          {{"where", "", {"b", "ab", "ab"}},
           {"logical-not", "", {"a"}},
           {"logical-and", "", {"a", "a"}},
           {"logical-or", "", {"a", "a"}},
           {"sigmoid", "", {"ab"}},
           {"relu", "", {"ab"}},
           {"neg", "", {"ab"}},
           {"full", "shape~3 value=1", {}, Scope::Free},
           {"full", "shape~3 value=0", {}, Scope::Free}}};
}

/// Selections of what functions give.
Grammar function_selection_grammar() {
  return {"function-selections",
          {{"x", {2, 3}}, {"y", {2, 3}}, {"c", {3}, 1, Role::Truths}},
          {{"where", "", {"b@c", "ab", "ab"}},
           {"sigmoid", "", {"ab"}},
           {"tanh", "", {"ab"}},
           {"exp", "", {"ab"}},
           {"relu", "", {"ab"}},
           {"neg", "", {"ab"}}},
          1};
}

/// Selections of and by numbers.
Grammar number_selection_grammar() {
  return {"number-selections",
          {{"x", {2, 3}, 2}, {"c", {3}, 1, Role::Truths}},
          {{"where", "", {"b@", "ab@", "-@"}},
           {"where", "", {"b@", "-@", "ab@"}},
           {"where", "", {"b", "-@", "-@"}},
           {"where", "", {"-@", "ab@", "ab@"}},
           {"mul", "", {"ab", "b"}},
           {"mul", "", {"ab", "-@"}},
           {"logical-not", "", {"a"}},
           {"cast", "to=1", {"a"}},
           {"full", "shape= value=1", {}, Scope::Free},
           {"full", "shape= value=0", {}, Scope::Free}}};
}

/// Comparisons with numbers choose; activations that are written so.
Grammar threshold_grammar() {
  return {"thresholds",
          {{"x", {2, 3}}, {"y", {2, 3}}},
          {{"greater", "", {"ab@x", "-@"}},
           {"greater", "", {"ab@", "ab@"}},
           {"less", "", {"ab@x", "-@"}},
           {"equal", "", {"ab@", "ab@"}},
           {"where", "", {"ab", "ab@", "-@"}},
           {"where", "", {"ab", "-@", "ab@"}},
           {"where", "", {"ab", "-@", "-@"}},
           {"relu", "", {"ab"}},
           {"neg", "", {"ab"}},
           {"mul", "", {"ab", "ab"}},
           {"cast", "to=1", {"ab"}},
           {"thresholded-relu", "alpha=0.625", {"ab"}},
           {"full", "shape= value=0", {}, Scope::Free},
           {"full", "shape= value=1", {}, Scope::Free},
           {"full", "shape= value=0.625", {}, Scope::Free},
           {"full", "shape~2,3 value=0", {}, Scope::Free},
           {"full", "shape~2,3 value=1", {}, Scope::Free}},
          0,
          true};
}

/// Branches for either sign: exponential units by their parts.
Grammar branch_grammar() {
  return {"branches",
          {{"x", {2, 3}}},
          {{"full", "shape= value=0", {}, Scope::Free, "", "zero"},
           {"full", "shape= value=1", {}, Scope::Free, "", "one"},
           {"full", "shape= value=0.375", {}, Scope::Free, "", "alpha"},
           {"full", "shape= value=0.625", {}, Scope::Free, "", "gamma"},
           {"greater", "", {"ab@x", "-@zero"}, Scope::Given, "", "above"},
           {"exp", "", {"ab@x"}},
           {"sub", "", {"ab", "-@one"}},
           {"mul", "", {"ab", "-@alpha"}},
           {"mul", "", {"ab", "-@gamma"}},
           {"where", "", {"ab@above", "ab@x", "ab"}},
           {"elu", "alpha=0.375", {"ab@x"}},
           {"elu", "alpha=1", {"ab@x"}},
           {"selu", "alpha=0.375 gamma=0.625", {"ab@x"}}},
          3};
}

/// Numbers of other types, before and after what takes elements elsewhere.
Grammar cast_grammar() {
  return {"casts",
          {{"x", {2, 3, 5}, 2}, {"i", {2, 3, 4, 2}}},
          {{"cast", "to=1", {"..."}},
           {"cast", "to=10", {"..."}},
           {"cast", "to=16", {"..."}},
           {"cast", "to=7", {"..."}},
           {"cast", "to=9", {"..."}},
           {"cast", "to=10", {".."}},
           {"cast", "to=16", {".."}},
           {"cast", "to=10", {"...."}},
           {"greater", "", {"abc@", "abc@"}},
           {"relu", "", {"..."}},
           {"neg", "", {"..."}},
           {"abs", "", {"..."}},
           {"transpose", "perm=0,2,1", {"..."}},
           {"transpose", "perm=0,2,1,3", {"...."}},
           {"transpose", "perm=0,2,3,1", {"...."}},
           {"reshape", "shape~2,15", {"235"}},
           {"concat", "axis=1", {"abc", "adc"}},
           {"concat", "axis=2", {"abc", "abd"}}}};
}

/// Bounds: parts of activations that bend at zero.
Grammar bend_grammar() {
  return {"bends",
          {{"x", {2, 3}}, {"s", {3}}},
          {{"relu", "", {"ab"}},
           {"neg", "", {"ab"}},
           {"abs", "", {"ab"}},
           {"add", "", {"ab", "ab"}},
           {"sub", "", {"ab", "ab"}},
           {"mul", "", {"ab", "b"}},
           {"mul", "", {"ab", "-@"}},
           {"prelu", "", {"ab", "b"}},
           {"full", "shape= value=0.5", {}, Scope::Free}},
          1};
}

/// The parts of a slope by its signs, joined.
Grammar slope_grammar() {
  return {"slopes",
          {{"x", {2, 3}}, {"s", {3}}},
          {{"relu", "", {"ab@x"}, Scope::Given, "", "above"},
           {"neg", "", {"ab@x"}, Scope::Given, "", "turned"},
           {"abs", "", {"ab@x"}, Scope::Given, "", "size"},
           {"relu", "", {"ab"}},
           {"neg", "", {"ab"}},
           {"mul", "", {"ab", "b"}},
           {"mul", "", {"ab", "-@"}},
           {"sub", "", {"ab@x", "ab"}},
           {"add", "", {"ab@above", "ab"}},
           {"prelu", "", {"ab@x", "b@s"}},
           {"leaky-relu", "alpha=0.5", {"ab@x"}},
           {"full", "shape= value=0.5", {}, Scope::Free}},
          1};
}

/// Minima by maxima.
Grammar extreme_grammar() {
  return {"extremes",
          {{"x", {2, 3}, 2}},
          {{"max", "", {"ab", "ab"}}, {"min", "", {"ab", "ab"}}, {"neg", "", {"ab"}}},
          2};
}

}  // namespace

std::vector<Grammar> logic_themes() {
  return {truth_grammar(),
          selection_grammar(),
          function_selection_grammar(),
          number_selection_grammar(),
          threshold_grammar(),
          branch_grammar(),
          cast_grammar(),
          bend_grammar(),
          slope_grammar(),
          extreme_grammar()};
}

}  // namespace regraft::gen
