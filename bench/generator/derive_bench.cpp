// What a query of `rules derive` costs beside many rules: the shipped ones, with functions put
// around them and in place of their variables until there are so many.
//   build/release/bench/derive_bench
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "bench/shipped.h"
#include "gen/derive/derive.h"
#include "ir/rule/text.h"

namespace regraft::bench {
namespace {

constexpr const char* kFunctions[] = {"relu", "tanh", "sigmoid", "exp", "neg", "abs", "softplus"};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    char after = at + what.size() < text.size() ? text[at + what.size()] : ' ';
    bool whole = after == ' ' || after == ')';
    text.replace(at, what.size(), whole ? by : what);
    if (!whole) at = at + what.size() - by.size();
  }
  return text;
}

/// The rule with `inner` of its first variable in that one's place, below `outer`.
std::optional<Rule> variant(const Rule& rule, const char* outer, const char* inner) {
  if (rule.lhs.outputs.size() != 1 || rule.variables.empty()) return std::nullopt;
  Rule bare = rule;
  bare.verdict = {};
  bare.both = false;
  std::string text = to_string(bare), first = "?" + rule.variables[0];
  size_t name = text.find("  "), arrow = text.find(" => ");
  size_t end = text.find("  ", arrow);
  std::string by = "(" + std::string(inner) + " " + first + ")";
  auto side = [&](size_t from, size_t to) {
    return "(" + std::string(outer) + " " + replaced(text.substr(from, to - from), first, by) + ")";
  };
  auto made = parse_rule(rule.name + "-" + outer + "-" + inner + "  " + side(name + 2, arrow) +
                         " => " + side(arrow + 4, std::min(end, text.size())) +
                         (end < text.size() ? text.substr(end) : ""));
  if (!made) return std::nullopt;
  return *std::move(made);
}

/// With those of the themes: what bench/known.md derives from.
std::vector<Rule> all_shipped() {
  std::vector<Rule> rules = read_shipped();
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(REGRAFT_RULES "/themes"))
    if (entry.path().extension() == ".rules") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    auto read = substitutions::read_rules(file, substitutions::Admit::AllSizes);
    CHECK(read.has_value());
    std::move(read->rules.begin(), read->rules.end(), std::back_inserter(rules));
  }
  return rules;
}

std::vector<Rule> many_rules(size_t count) {
  std::vector<Rule> shipped = all_shipped(), rules = shipped;
  for (const char* outer : kFunctions)
    for (const char* inner : kFunctions)
      for (const Rule& r : shipped) {
        if (rules.size() >= count) return rules;
        if (auto v = variant(r, outer, inner)) rules.push_back(*std::move(v));
      }
  return rules;
}

std::vector<Rule> well_known() {
  std::ifstream file(REGRAFT_KNOWN);
  std::vector<Rule> goals;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#')
      if (auto r = parse_rule(line)) goals.push_back(*std::move(r));
  return goals;
}

/// Each well-known rewrite once in an iteration; counters: milliseconds of one query.
void BM_Derive(benchmark::State& state) {
  static const gen::Deriver deriver(many_rules(100'000));
  const std::vector<Rule> goals = well_known();
  CHECK(!goals.empty());
  std::vector<double> yes, no;
  for (auto _ : state)
    for (const Rule& goal : goals) {
      auto begin = std::chrono::steady_clock::now();
      bool derived = deriver.derive(goal).derived;
      std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      (derived ? yes : no).push_back(took.count());
    }
  auto part = [](std::vector<double> times, double at) {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0
                         : times[static_cast<size_t>(at * static_cast<double>(times.size() - 1))];
  };
  std::vector<double> all = yes;
  all.insert(all.end(), no.begin(), no.end());
  state.counters["rules"] = static_cast<double>(deriver.rules().size());
  state.counters["derived"] = static_cast<double>(yes.size());
  state.counters["median_ms"] = part(all, 0.5);
  state.counters["median_ms_yes"] = part(yes, 0.5);
  state.counters["median_ms_no"] = part(no, 0.5);
  state.counters["p90_ms"] = part(all, 0.9);
}
BENCHMARK(BM_Derive)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace regraft::bench
