#include "cli/generate_checkpoint.h"

#include <nlohmann/json.hpp>

#include "cli/json_file.h"
#include "cli/report.h"

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

}  // namespace

Result<gen::Checkpoint> parse_checkpoint(std::string_view text, const GenerateRun& run,
                                         const std::string& name) {
  auto read = [&](const nlohmann::json& j) -> Result<gen::Checkpoint> {
    if (j.at("run") != to_json(run)) return error(name + ": a checkpoint of another run");
    gen::Checkpoint checkpoint;
    for (const auto& t : j.at("themes"))
      checkpoint.themes.push_back({whole_number(t.at("position")), whole_numbers(t.at("judged"))});
    return checkpoint;
  };
  return read_json(text, name, "a checkpoint of generate", read);
}

std::string to_text(const gen::Checkpoint& checkpoint, const GenerateRun& run) {
  nlohmann::json j = {{"run", to_json(run)}, {"themes", nlohmann::json::array()}};
  for (const auto& t : checkpoint.themes)
    j["themes"].push_back({{"position", t.position}, {"judged", t.judged}});
  return to_text(j, -1);
}

}  // namespace regraft::cli
