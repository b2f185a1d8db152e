// Attacks the prover with mutants of all shipped rules: false_rules --count N --seed S --json FILE
// SOURCES. Exit code 0: none that is certainly false was proved; 1: some were. `proved_and_refuted`
// are true ones, as far as is known, that the verifier's own doubles refute by rounding.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/parallel.h"
#include "base/progress.h"
#include "base/resources.h"
#include "ir/rule/text.h"
#include "mutation.h"

namespace regraft::verify {
namespace {

struct Flags {
  size_t count = 10'000;
  uint64_t seed = 2026;
  uint64_t effort = 1;
  int threads = 0;
  std::string json, sources = ".";
};

std::optional<Flags> flags_of(int argc, char** argv) {
  Flags f;
  for (int k = 1; k < argc; ++k) {
    std::string name = argv[k];
    if (!name.starts_with("--")) {
      f.sources = name;
      continue;
    }
    if (++k == argc) return std::nullopt;
    uint64_t n = std::strtoull(argv[k], nullptr, 10);
    if (name == "--count")
      f.count = n;
    else if (name == "--seed")
      f.seed = n;
    else if (name == "--effort")
      f.effort = n;
    else if (name == "--threads")
      f.threads = static_cast<int>(n);
    else if (name == "--json")
      f.json = argv[k];
    else
      return std::nullopt;
  }
  return f;
}

struct Counts {
  size_t mutants = 0, known_false = 0, refuted = 0, false_unknown = 0, proved_false = 0;
  size_t equivalent = 0, open = 0, refuted_open = 0, refuted_proved = 0;
  void add(const Trial& t) {
    bool proved = is_for_all_sizes(t.proof);
    ++mutants;
    known_false += t.difference.has_value();
    refuted += t.difference && t.refuted;
    false_unknown += t.difference && !t.refuted && !proved;
    proved_false += t.difference && proved;
    equivalent += !t.difference && proved;
    open += !t.difference && !proved;
    refuted_open += !t.difference && !proved && t.refuted;
    refuted_proved += !t.difference && proved && t.refuted;
  }
  nlohmann::json to_json() const {
    return {{"mutants", mutants},
            {"false", known_false},
            {"false_proved", proved_false},
            {"false_refuted", refuted},
            {"false_unknown", false_unknown},
            {"equivalent", equivalent},
            {"open", open},
            {"open_refuted", refuted_open},
            {"proved_refuted", refuted_proved}};
  }
};

int run(const Flags& f) {
  std::vector<Rule> rules = rules_to_mutate(f.sources);
  std::vector<Mutant> all = mutants(rules, f.count, f.seed);
  std::vector<Trial> trials(all.size());
  Progress progress("false-rules", "mutants", all.size(), Verbosity::Normal);
  parallel_for(all.size(), f.threads > 0 ? f.threads : default_threads(), [&](size_t k) {
    trials[k] = tried(all[k], limits_for(f.effort), f.seed + k);
    progress.add();
  });
  Counts total;
  std::map<std::string, Counts> by_change;
  nlohmann::json wrong = nlohmann::json::array(), doubtful = nlohmann::json::array();
  for (size_t k = 0; k < all.size(); ++k) {
    const Trial& t = trials[k];
    total.add(t);
    by_change[std::string(to_string(all[k].change))].add(t);
    bool proved = is_for_all_sizes(t.proof);
    nlohmann::json j = {{"origin", all[k].origin}, {"rule", to_string(all[k].rule)}};
    if (t.difference) j["difference"] = *t.difference;
    if (proved && t.difference) wrong.push_back(j);
    if (proved && !t.difference && t.refuted) doubtful.push_back(j);
  }
  nlohmann::json changes = nlohmann::json::object();
  for (const auto& [name, c] : by_change) changes[name] = c.to_json();
  nlohmann::json report = total.to_json();
  report.update({{"seed", f.seed},
                 {"effort", f.effort},
                 {"rules", rules.size()},
                 {"cpu_seconds", cpu_seconds()},
                 {"by_change", changes},
                 {"wrong", wrong},
                 {"proved_and_refuted", doubtful}});
  fmt::print("{}\n", report.dump(2));
  if (!f.json.empty()) std::ofstream(f.json) << report.dump(2) << "\n";
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace regraft::verify

int main(int argc, char** argv) {
  auto flags = regraft::verify::flags_of(argc, argv);
  if (!flags) {
    fmt::print(stderr,
               "usage: false_rules [--count N] [--seed S] [--effort E] [--threads N] [--json FILE] "
               "[SOURCES]\n");
    return 2;
  }
  return regraft::verify::run(*flags);
}
