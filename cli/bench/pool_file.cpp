#include "cli/bench/pool_file.h"

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/support/json_file.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

Result<std::vector<cost::Trait>> traits_in(const json& groups) {
  std::vector<cost::Trait> traits;
  for (const auto& [group, names] : groups.items()) {
    const auto known = cost::trait_group_named(group);
    if (!known) return error("no group of traits '" + group + "'");
    for (const auto& [name, microseconds] : names.items()) {
      uint64_t number = 0;
      auto end = std::from_chars(name.data(), name.data() + name.size(), number, 16);
      if (end.ptr != name.data() + name.size()) return error("no name of a trait: '" + name + "'");
      traits.push_back({*known, number, microseconds.get<double>()});
    }
  }
  return traits;
}

Result<TimedPool> pool_in(const json& j) {
  TimedPool pool;
  double price = 0;
  for (const json& graph : j.at("graphs")) {
    ASSIGN_OR_RETURN(auto traits, traits_in(graph.at("traits")));
    pool.traits.push_back(std::move(traits));
  }
  pool.rounds = j.at("rounds").get<std::vector<std::vector<double>>>();
  if (pool.rounds.size() < 4 || pool.traits.size() < 2) return error("too few rounds or graphs");
  for (const cost::Trait& t : pool.traits[0])
    if (t.group == cost::TraitGroup::Price) price += t.microseconds;
  if (!(price > 0)) return error("the first graph has no price");
  for (const auto& round : pool.rounds) {
    if (round.size() != pool.traits.size()) return error("a round lacks graphs");
    for (double time : round)
      if (!(time > 0)) return error("a time that is not above 0");
  }
  return pool;
}

}  // namespace

Result<TimedPool> read_pool(const std::string& file) {
  auto read = [&](const json& j) -> Result<TimedPool> {
    auto pool = pool_in(j);
    if (!pool) return error(file + ": " + pool.error().message);
    return pool;
  };
  ASSIGN_OR_RETURN(TimedPool pool, read_json_file(file, "a timed pool of graphs", read));
  pool.name = std::filesystem::path(file).stem().string();
  return pool;
}

}  // namespace regraft::cli
