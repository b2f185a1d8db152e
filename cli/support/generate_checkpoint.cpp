#include "cli/support/generate_checkpoint.h"

#include <nlohmann/json.hpp>

#include "cli/support/json_file.h"
#include "cli/support/report.h"

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

}  // namespace

Result<gen::Checkpoint> parse_checkpoint(std::string_view text, const GenerateRun& run,
                                         const std::string& name) {
  auto read = [&](const nlohmann::json& j) -> Result<gen::Checkpoint> {
    if (j.at("run") != to_json(run)) return error(name + ": a checkpoint of another run");
    gen::Checkpoint checkpoint;
    for (const auto& t : j.at("themes"))
      checkpoint.grammars.push_back(
          {whole_number(t.at("position")), whole_numbers(t.at("judged"))});
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
    j["themes"].push_back({{"position", t.position}, {"judged", t.judged}});
  if (!checkpoint.near.empty()) j["near"] = to_json(checkpoint.near);
  if (!checkpoint.far.empty()) j["far"] = to_json(checkpoint.far);
  for (const auto& [rule, domain] : checkpoint.domains) j["domains"].push_back({rule, domain});
  return to_text(j, -1);
}

}  // namespace regraft::cli
