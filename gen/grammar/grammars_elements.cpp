#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Activations and what they are written out as.
Grammar activation_grammar() {
  return {"activations",
          {{"x", {2, 3}}, {"y", {2, 3}}},
          {{"neg", "", {"ab"}},
           {"abs", "", {"ab"}},
           {"sign", "", {"ab"}},
           {"relu", "", {"ab"}},
           {"max", "", {"ab", "ab"}},
           {"min", "", {"ab", "ab"}},
           {"mul", "", {"ab", "ab"}},
           {"sub", "", {"ab", "ab"}},
           {"leaky-relu", "alpha=0.25", {"ab"}},
           {"sigmoid", "", {"ab"}},
           {"swish", "alpha=1", {"ab"}},
           {"power", "exponent=2", {"ab"}},
           {"reciprocal", "", {"ab"}},
           {"softplus", "", {"ab"}},
           {"exp", "", {"ab"}},
           {"log", "", {"ab"}}}};
}

/// Rounding, and waves, of which little is known.
Grammar rounding_grammar() {
  return {"roundings",
          {{"x", {2, 3}}, {"y", {2, 3}}},
          {{"neg", "", {"ab"}},
           {"floor", "", {"ab"}},
           {"ceil", "", {"ab"}},
           {"round", "", {"ab"}},
           {"sign", "", {"ab"}},
           {"sin", "", {"ab"}},
           {"cos", "", {"ab"}},
           {"max", "", {"ab", "ab"}},
           {"min", "", {"ab", "ab"}}}};
}

/// Numbers are compared; what the comparisons say is joined, and chooses.
Grammar comparison_grammar() {
  return {"comparisons",
          {{"x", {2, 3}, 2}},
          {{"greater", "", {"ab@", "ab@"}},
           {"less", "", {"ab@", "ab@"}},
           {"greater-or-equal", "", {"ab@", "ab@"}},
           {"less-or-equal", "", {"ab@", "ab@"}},
           {"equal", "", {"ab@", "ab@"}},
           {"logical-not", "", {"ab"}},
           {"logical-and", "", {"ab", "ab"}},
           {"logical-or", "", {"ab", "ab"}},
           {"logical-xor", "", {"ab", "ab"}},
           {"where", "", {"ab", "ab@", "ab@"}},
           {"max", "", {"ab@", "ab@"}},
           {"min", "", {"ab@", "ab@"}},
           {"neg", "", {"ab@"}}}};
}

/// Several operands at once, and one after the other.
Grammar several_grammar() {
  return {"several",
          {{"x", {2, 3}, 3}},
          {{"add", "", {"ab", "ab"}},
           {"max", "", {"ab", "ab"}},
           {"min", "", {"ab", "ab"}},
           {"sum-of", "", {"ab", "ab", "ab"}},
           {"max-of", "", {"ab", "ab", "ab"}},
           {"min-of", "", {"ab", "ab", "ab"}}}};
}

}  // namespace

std::vector<Grammar> element_grammars() {
  return {activation_grammar(), rounding_grammar(), comparison_grammar(), several_grammar()};
}

}  // namespace regraft::gen
