#pragma once
// What the benchmark programs work with: the shipped rules, models, a cost model.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "cost/model/roofline.h"
#include "io/model.h"
#include "rewrite/match/rule_index.h"
#include "substitutions/rule_db.h"

namespace regraft::bench {

inline std::vector<Rule> read_shipped() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(REGRAFT_RULES))
    if (entry.path().extension() == ".rules") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<Rule> rules;
  for (const auto& file : files) {
    auto read = substitutions::read_rules(file, substitutions::Admit::AllSizes);
    CHECK(read.has_value());
    std::move(read->rules.begin(), read->rules.end(), std::back_inserter(rules));
  }
  return rules;
}

inline const rewrite::RuleIndex& shipped_rules() {
  static const rewrite::RuleIndex rules = [] {
    auto index = rewrite::RuleIndex::build(read_shipped());
    CHECK(index.has_value());
    return *std::move(index);
  }();
  return rules;
}

/// One for all.
inline const cost::Roofline& roofline() {
  static const cost::Roofline model;
  return model;
}

/// Of the folder $REGRAFT_BENCH_MODELS.
inline std::optional<Graph> load(benchmark::State& state, const std::string& name) {
  const char* folder = std::getenv("REGRAFT_BENCH_MODELS");
  auto imported = folder ? io::load(std::string(folder) + "/" + name + ".onnx")
                         : Result<io::Imported>(error("REGRAFT_BENCH_MODELS is not set"));
  if (imported.has_value()) return imported->graph;
  state.SkipWithError(imported.error().message.c_str());
  return std::nullopt;
}

}  // namespace regraft::bench
