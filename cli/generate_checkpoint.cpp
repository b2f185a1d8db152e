#include "cli/generate_checkpoint.h"

#include <nlohmann/json.hpp>

#include "cli/report.h"

namespace regraft::cli {
namespace {

nlohmann::json to_json(const GenerateRun& run) {
  return {{"ops", run.ops}, {"max_size", run.max_size}, {"seed", run.seed}};
}

}  // namespace

Result<gen::Checkpoint> parse_checkpoint(std::string_view text, const GenerateRun& run,
                                         const std::string& name) {
  auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("run") || !j.contains("themes"))
    return error(name + ": not a checkpoint of generate");
  if (j["run"] != to_json(run))
    return error(name + ": a checkpoint of another run: " + j["run"].dump());
  gen::Checkpoint checkpoint;
  try {
    for (const auto& t : j["themes"])
      checkpoint.themes.push_back(
          {t.at("position").get<size_t>(), t.at("judged").get<std::vector<size_t>>()});
  } catch (const nlohmann::json::exception& e) {
    return error(name + ": " + e.what());
  }
  return checkpoint;
}

std::string to_text(const gen::Checkpoint& checkpoint, const GenerateRun& run) {
  nlohmann::json j = {{"run", to_json(run)}, {"themes", nlohmann::json::array()}};
  for (const auto& t : checkpoint.themes)
    j["themes"].push_back({{"position", t.position}, {"judged", t.judged}});
  return to_text(j, -1);
}

}  // namespace regraft::cli
