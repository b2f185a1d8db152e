#pragma once
// Small graphs and rules for agents.
#include <fstream>

#include "rl/environment/environment.h"
#include "substitutions/rule_db.h"
#include "tests/rewrite/support.h"

namespace regraft::rl {

using rewrite::call;
using rewrite::input;
using rewrite::weight;

/// Layers of x -> relu(x w + b), each with a transposed product beside it: something to save in
/// each, in several ways.
inline Graph layers(int count, int64_t width = 64) {
  Graph g;
  Value x = input(g, {Poly(32), Poly(width)});
  for (int k = 0; k < count; ++k) {
    auto seed = static_cast<uint64_t>(k) * 4;
    Value w = weight(g, {width, width}, seed + 1), v = weight(g, {width, width}, seed + 2);
    Value a = call(g, "matmul", {x, w}), b = call(g, "matmul", {x, v});
    Value t = call(g, "transpose", {call(g, "transpose", {b}, {{1, 0}})}, {{1, 0}});
    x = call(g, "relu", {call(g, "relu", {call(g, "add", {a, t})})});
  }
  g.set_outputs({x});
  return g;
}

/// The rules that come with the project.
inline const rewrite::RuleIndex& shipped_rules() {
  static const rewrite::RuleIndex index = [] {
    std::vector<Rule> rules;
    const char* source = std::getenv("REGRAFT_SOURCE_DIR");
    for (const char* name : {"core", "extended", "hand"}) {
      std::string file = std::string(source ? source : ".") + "/substitutions/" + name + ".rules";
      auto read = substitutions::read_rules(file, substitutions::Admit::AllSizes);
      EXPECT_TRUE(read.has_value()) << read.error().message;
      std::move(read->rules.begin(), read->rules.end(), std::back_inserter(rules));
    }
    auto built = rewrite::RuleIndex::build(std::move(rules));
    EXPECT_TRUE(built.has_value()) << built.error().message;
    return *std::move(built);
  }();
  return index;
}

inline const cost::Roofline& roofline() {
  static const cost::Roofline model;
  return model;
}

}  // namespace regraft::rl
