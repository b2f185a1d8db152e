#include "cli/bench/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/support/report.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

std::string text_of(const rl::Interval& i) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", i.value, i.low, i.high);
}
std::string text_of(const std::optional<rl::Interval>& i) {
  return i ? fmt::format("{:.2f} [{:.2f}, {:.2f}]", i->value, i->low, i->high) : "";
}
json json_of(const rl::Interval& i) { return {i.value, i.low, i.high}; }
json json_of(const std::optional<rl::Interval>& i) { return i ? json_of(*i) : json(); }

void print_scores(const BenchFound& f) {
  Table table{{{"score, interquartile mean"}}};
  for (const Limit& l : f.limits) table.rows[0].push_back(l.name);
  for (size_t m = 0; m < f.methods.size(); ++m) {
    auto& row = table.rows.emplace_back(std::vector<std::string>{f.methods[m].name});
    for (const Limit& l : f.limits) {
      auto scores = scores_at(f.graphs, m, l);
      row.push_back(scores.empty() ? "" : text_of(rl::interquartile_mean(scores, {})));
    }
  }
  fmt::print("{}\n", to_string(table));
}

void print_comparisons(const BenchFound& f) {
  Table table{{{"method", "beside", "at", "probability of improvement", "difference of scores"}}};
  for (const Comparison& c : f.comparisons)
    table.rows.push_back({f.methods[c.method].name, f.methods[c.other].name, c.limit.name,
                          text_of(c.probability), text_of(c.difference)});
  if (table.rows.size() > 1) fmt::print("{}\n", to_string(table));
}

void print_reaching(const BenchFound& f) {
  Table table{{{"as good as the baseline", "graphs", "times fewer candidates", "until it found",
                "times less time", "until it found"}}};
  for (const Ratios& r : f.ratios)
    if (r.graphs > 0)
      table.rows.push_back({f.methods[r.method].name, fmt::format("{} of {}", r.reached, r.graphs),
                            text_of(r.candidates), text_of(r.candidates_found), text_of(r.seconds),
                            text_of(r.seconds_found)});
  if (table.rows.size() > 1) fmt::print("{}\n", to_string(table));
}

void print_sooner(const BenchFound& f) {
  Table table{{{"as good as the baseline", "beside", "times fewer candidates", "times less time"}}};
  for (const Sooner& s : f.sooner)
    table.rows.push_back({f.methods[s.method].name, f.methods[s.other].name,
                          text_of(std::optional(s.candidates)), text_of(std::optional(s.seconds))});
  if (table.rows.size() > 1) fmt::print("{}\n", to_string(table));
}

json scores_json(const BenchFound& f) {
  json all = json::array();
  for (size_t m = 0; m < f.methods.size(); ++m)
    for (const Limit& l : f.limits)
      if (auto scores = scores_at(f.graphs, m, l); !scores.empty())
        all.push_back({{"method", f.methods[m].name},
                       {"limit", l.name},
                       {"candidates", l.candidates},
                       {"seconds", l.seconds},
                       {"iqm", json_of(rl::interquartile_mean(scores, {}))},
                       {"scores", scores}});
  return all;
}

json graphs_json(const BenchFound& f) {
  json all = json::array();
  for (const GraphRuns& g : f.graphs) {
    json runs = json::array();
    for (const MethodRuns& m : g.methods)
      for (const auto& row : m)
        for (const RunPair& p : row) {
          runs.push_back(to_json(p.by_seconds));
          if (p.by_candidates.key != p.by_seconds.key) runs.push_back(to_json(p.by_candidates));
        }
    json j = {{"name", g.name}, {"before", g.before}, {"reference", g.reference}, {"runs", runs}};
    if (g.baseline) j["baseline"] = to_json(*g.baseline);
    all.push_back(j);
  }
  return all;
}

json reaching_json(const BenchFound& f) {
  json all = json::array();
  for (const Reached& r : f.reached) {
    json j = {{"graph", f.graphs[r.graph].name},
              {"method", f.methods[r.method].name},
              {"runs", r.runs},
              {"reached", r.reached}};
    if (r.half) j.update({{"candidates", r.candidates}, {"seconds", r.seconds}});
    all.push_back(j);
  }
  return all;
}

json ratios_json(const BenchFound& f) {
  json all = json::array();
  for (const Ratios& r : f.ratios)
    all.push_back({{"method", f.methods[r.method].name},
                   {"graphs", r.graphs},
                   {"reached", r.reached},
                   {"candidates", json_of(r.candidates)},
                   {"seconds", json_of(r.seconds)},
                   {"candidates_found", json_of(r.candidates_found)},
                   {"seconds_found", json_of(r.seconds_found)}});
  return all;
}

}  // namespace

void print(const BenchFound& found) {
  print_scores(found);
  print_comparisons(found);
  print_reaching(found);
  print_sooner(found);
}

json to_json(const BenchFound& f) {
  json methods = json::array(), comparisons = json::array(), sooner = json::array();
  for (const Method& m : f.methods)
    methods.push_back({{"name", m.name},
                       {"kind", to_string(m.kind)},
                       {"trainings", m.trainings.size()},
                       {"draws", m.draws}});
  for (const Comparison& c : f.comparisons)
    comparisons.push_back({{"method", f.methods[c.method].name},
                           {"other", f.methods[c.other].name},
                           {"limit", c.limit.name},
                           {"probability", json_of(c.probability)},
                           {"difference", json_of(c.difference)}});
  for (const Sooner& s : f.sooner)
    sooner.push_back({{"method", f.methods[s.method].name},
                      {"other", f.methods[s.other].name},
                      {"candidates", json_of(s.candidates)},
                      {"seconds", json_of(s.seconds)}});
  return {{"version", REGRAFT_VERSION},   {"baseline", kBaseline},    {"methods", methods},
          {"graphs", graphs_json(f)},     {"scores", scores_json(f)}, {"comparisons", comparisons},
          {"reaching", reaching_json(f)}, {"ratios", ratios_json(f)}, {"sooner", sooner}};
}

}  // namespace regraft::cli
