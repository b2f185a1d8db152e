#include "cli/support/generate_checkpoint.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/support/json_file.h"
#include "cli/support/report.h"
#include "ir/rule/text.h"

namespace regraft::cli {
namespace {

nlohmann::json to_json(const GenerateRun& run) {
  return {{"ops", run.ops}, {"max_size", run.max_size}, {"seed", run.seed}};
}

std::vector<size_t> whole_numbers(const nlohmann::json& list) {
  std::vector<size_t> all;
  for (const auto& j : list) all.push_back(whole_number(j));
  return all;
}

nlohmann::json to_json(const std::map<size_t, gen::Answer>& answers) {
  nlohmann::json j = nlohmann::json::array();
  for (const auto& [question, a] : answers) j.push_back({question, a.derived, a.used});
  return j;
}

std::map<size_t, gen::Answer> answers_of(const nlohmann::json& j, const char* pass) {
  std::map<size_t, gen::Answer> answers;
  for (const auto& a : j.value(pass, nlohmann::json::array()))
    answers[whole_number(a.at(0))] = {a.at(1).get<bool>(), whole_numbers(a.at(2))};
  return answers;
}

constexpr std::array kKinds = {"alias", "chance", "constants", "other shapes", "rules"};

/// A rule with its shapes as a line of a rule file, and whether it grows.
nlohmann::json to_json(const gen::Verdict::Found& found) {
  Rule rule = found.rule;
  rule.name = "found";
  rule.domain = {found.signature};
  return {to_string(rule), found.grows};
}

Result<gen::Verdict::Found> found_of(const nlohmann::json& j) {
  ASSIGN_OR_RETURN(Rule rule, parse_rule(j.at(0).get<std::string>()));
  if (rule.domain.size() != 1) return error("a rule of a judged group has not one list of shapes");
  gen::Verdict::Found found{std::move(rule), {}, j.at(1).get<bool>()};
  found.signature = std::move(found.rule.domain[0]);
  found.rule.domain.clear();
  found.rule.name.clear();
  return found;
}

/// The kind, the rules, and the pair itself as one where it is.
nlohmann::json to_json(const gen::Verdict& v) {
  nlohmann::json j = {kKinds.at(v.kind), nlohmann::json::array()};
  for (const auto& found : v.found) j[1].push_back(to_json(found));
  if (v.ground) j.push_back(to_json(*v.ground));
  return j;
}

Result<gen::Verdict> verdict_of(const nlohmann::json& j) {
  gen::Verdict v;
  auto kind = std::ranges::find(kKinds, j.at(0).get<std::string>());
  if (kind == kKinds.end()) return error("an unknown kind of verdict");
  v.kind = static_cast<gen::Verdict::Kind>(kind - kKinds.begin());
  for (const auto& rule : j.at(1)) {
    ASSIGN_OR_RETURN(auto found, found_of(rule));
    v.found.push_back(std::move(found));
  }
  if (j.size() > 2) {
    ASSIGN_OR_RETURN(auto ground, found_of(j.at(2)));
    v.ground = std::move(ground);
  }
  return v;
}

nlohmann::json to_json(const std::vector<gen::JudgedGroup>& judged) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [group, verdicts] : judged) {
    nlohmann::json j = {group};
    for (const gen::Verdict& v : verdicts) j.push_back(to_json(v));
    all.push_back(std::move(j));
  }
  return all;
}

Result<std::vector<gen::JudgedGroup>> judged_of(const nlohmann::json& all) {
  std::vector<gen::JudgedGroup> judged;
  for (const auto& j : all) {
    gen::JudgedGroup& g = judged.emplace_back();
    g.group = whole_number(j.at(0));
    for (size_t k = 1; k < j.size(); ++k) {
      ASSIGN_OR_RETURN(gen::Verdict v, verdict_of(j.at(k)));
      g.verdicts.push_back(std::move(v));
    }
  }
  return judged;
}

}  // namespace

Result<gen::Checkpoint> parse_checkpoint(std::string_view text, const GenerateRun& run,
                                         const std::string& name) {
  auto read = [&](const nlohmann::json& j) -> Result<gen::Checkpoint> {
    if (j.at("run") != to_json(run)) return error(name + ": a checkpoint of another run");
    gen::Checkpoint checkpoint;
    for (const auto& t : j.at("themes")) {
      auto judged = judged_of(t.at("judged"));
      if (!judged) return error(name + ": " + judged.error().message);
      checkpoint.grammars.push_back(
          {whole_number(t.at("groups")), whole_number(t.at("position")), *std::move(judged)});
    }
    checkpoint.near = answers_of(j, "near");
    checkpoint.far = answers_of(j, "far");
    for (const auto& d : j.value("domains", nlohmann::json::array()))
      checkpoint.domains[whole_number(d.at(0))] = d.at(1).get<std::vector<Signature>>();
    return checkpoint;
  };
  return read_json(text, name, "a checkpoint of generate", read);
}

std::string to_text(const gen::Checkpoint& checkpoint, const GenerateRun& run) {
  nlohmann::json j = {{"run", to_json(run)}, {"themes", nlohmann::json::array()}};
  for (const auto& t : checkpoint.grammars)
    j["themes"].push_back(
        {{"groups", t.groups}, {"position", t.position}, {"judged", to_json(t.judged)}});
  if (!checkpoint.near.empty()) j["near"] = to_json(checkpoint.near);
  if (!checkpoint.far.empty()) j["far"] = to_json(checkpoint.far);
  for (const auto& [rule, domain] : checkpoint.domains) j["domains"].push_back({rule, domain});
  return to_text(j, -1);
}

}  // namespace regraft::cli
