#include "cli/bench/methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/file_digest.h"
#include "base/nearest.h"
#include "rewrite/searchers.h"
#include "rl/policy_file.h"
#include "rl/search.h"

namespace regraft::cli {
namespace {

constexpr int kUntrained = 5;  // networks with random weights

struct Plain {
  const char* name;
  const char* searcher;
  double alpha;
  bool draws;
};
constexpr Plain kPlain[] = {
    {"greedy", "greedy", 1.05, false},
    {"windows", "windows", 1.05, true},
    {"backtracking-1.0", "backtracking", 1.0, false},
    {kBaseline, "backtracking", 1.05, false},
    {"backtracking-1.1", "backtracking", 1.1, false},
    {"taso", "taso", 1.05, false},
    {"partial-order", "partial-order", 1.05, false},
    {"beam", "beam", 1.05, false},
    {"annealing", "annealing", 1.05, true},
    {"mcts", "mcts", 1.05, true},
    {"saturation", "saturation", 1.05, false},
    {"portfolio", "portfolio", 1.05, true},
};

/// Policies of one name, each with its label.
struct Family {
  std::string name;
  MethodKind kind;
  std::vector<std::pair<std::string, std::shared_ptr<const rl::Policy>>> policies;
};

Method method_of(const Family& family, const std::string& mode) {
  bool draws = mode != "alone" && mode != "greedy";
  Method m{family.name + "/" + mode, family.kind, 1.05, draws, {}};
  for (const auto& [label, policy] : family.policies)
    m.trainings.push_back(
        {label, std::make_shared<rl::PolicySearch>(policy, *rl::policy_mode_named(mode))});
  return m;
}

std::vector<Family> controls(const rewrite::RuleIndex& rules) {
  std::vector<Family> all{{"uniform", MethodKind::Control, {{"-", rl::uniform_policy()}}},
                          {"cost-prior", MethodKind::Control, {{"-", rl::cost_prior()}}},
                          {"untrained", MethodKind::Control, {}}};
  for (uint64_t seed = 0; seed < kUntrained; ++seed) {
    rl::Network network({}, rl::rule_column_names().size(), seed);
    std::string label = fmt::format("seed {}", seed);
    all.back().policies.push_back({label, rl::network_policy(network, rl::describe(rules), label)});
  }
  return all;
}

Result<std::vector<Family>> learned(const std::vector<std::string>& policies,
                                    const rewrite::RuleIndex& rules) {
  std::vector<Family> all;
  for (const std::string& text : policies) {
    size_t at = text.find('=');
    if (at == 0 || at == std::string::npos) return error(text + ": not NAME=FILE");
    std::string name = text.substr(0, at), file = text.substr(at + 1);
    ASSIGN_OR_RETURN(auto policy, rl::read_policy(file, rules));
    auto same = [&](const Family& f) { return f.name == name; };
    auto family = std::find_if(all.begin(), all.end(), same);
    if (family == all.end()) family = all.insert(all.end(), {name, MethodKind::Learned, {}});
    // A policy that was trained anew is not taken for the old one.
    family->policies.push_back({hex(file_digest(file)), std::move(policy)});
  }
  return all;
}

bool matches(const Method& m, const std::string& wanted) {
  return m.name == wanted || m.name.starts_with(wanted + "/") ||
         (wanted.starts_with("/") && m.name.ends_with(wanted));
}

std::vector<std::string> names_of(const std::vector<Method>& methods) {
  std::vector<std::string> names;
  for (const Method& m : methods) {
    names.push_back(m.name);
    names.push_back(m.name.substr(0, m.name.find('/')));
  }
  return names;
}

Result<std::vector<Method>> select(std::vector<Method> all,
                                   const std::vector<std::string>& wanted) {
  for (const std::string& w : wanted)
    if (std::none_of(all.begin(), all.end(), [&](const Method& m) { return matches(m, w); }))
      return error("there is no method '" + w + "'" + suggestion(w, names_of(all)));
  if (wanted.empty()) return all;
  std::erase_if(all, [&](const Method& m) {
    return std::none_of(wanted.begin(), wanted.end(),
                        [&](const std::string& w) { return matches(m, w); });
  });
  return all;
}

}  // namespace

std::string to_string(MethodKind kind) {
  return kind == MethodKind::Classical ? "classical"
         : kind == MethodKind::Control ? "control"
                                       : "learned";
}

Result<std::vector<Method>> bench_methods(const MethodFlags& flags,
                                          const rewrite::RuleIndex& rules) {
  std::vector<Method> all;
  for (const Plain& p : kPlain)
    all.push_back({p.name,
                   MethodKind::Classical,
                   p.alpha,
                   p.draws,
                   {{"-", rewrite::make_searcher(p.searcher)}}});
  for (const Family& family : controls(rules))
    for (const std::string& mode : rl::policy_mode_names()) all.push_back(method_of(family, mode));
  ASSIGN_OR_RETURN(auto families, learned(flags.policies, rules));
  for (const Family& family : families)
    for (const std::string& mode : rl::policy_mode_names()) all.push_back(method_of(family, mode));
  return select(std::move(all), flags.wanted);
}

}  // namespace regraft::cli
