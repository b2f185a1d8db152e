#include "cli/fleet/episode_tasks.h"

#include <filesystem>

#include "base/files/bytes.h"
#include "cli/support/model_files.h"
#include "cli/support/rule_set.h"

namespace regraft::cli {
namespace {

/// Workers read the same files, wherever they were started.
std::vector<std::string> absolute(std::vector<std::string> paths) {
  for (std::string& p : paths) p = std::filesystem::absolute(p).string();
  return paths;
}

void write(ByteWriter& out, const std::vector<std::string>& texts) {
  out.number<uint64_t>(texts.size());
  for (const std::string& t : texts) out.text(t);
}

std::vector<std::string> read_texts(ByteReader& in) {
  std::vector<std::string> texts(in.count(8));
  for (std::string& t : texts) t = in.text();
  return texts;
}

/// All that decides what an episode is, but for the agent. The agent's own file names models, rules
/// and prices by a hash of what they say.
Result<std::string> training_of(const TrainFlags& flags) {
  ASSIGN_OR_RETURN(auto models, model_files(flags.graphs));
  std::string cost = flags.cost.ends_with(".profile")
                         ? std::filesystem::absolute(flags.cost).string()
                         : flags.cost;
  ByteWriter out;
  write(out, absolute(models));
  write(out, absolute(rule_files(flags.rules)));
  out.text(cost).text(flags.reward).text(flags.heads).number(flags.common.seed);
  out.number<uint8_t>(flags.hide_cost);
  return out.finish();
}

Result<TrainFlags> flags_of(std::string_view bytes) {
  ByteReader in(bytes);
  TrainFlags flags;
  flags.graphs = read_texts(in);
  flags.rules = read_texts(in);
  flags.cost = in.text();
  flags.reward = in.text();
  flags.heads = in.text();
  flags.common.seed = in.number<uint64_t>();
  flags.hide_cost = in.number<uint8_t>() != 0;
  flags.common.threads = 1;
  if (!in.at_end() || !rl::reward_named(flags.reward)) return error("no training");
  return flags;
}

}  // namespace

Status EpisodePlayer::prepare(const std::string& training) {
  if (training == training_) return {};
  ASSIGN_OR_RETURN(std::string bytes, store_.object(training));
  ASSIGN_OR_RETURN(TrainFlags flags, flags_of(bytes));
  agent_.reset();
  auto setting = std::make_unique<TrainingSetting>();
  ASSIGN_OR_RETURN(*setting, read_training_setting(flags));
  setting_ = std::move(setting);
  ASSIGN_OR_RETURN(auto options, agent_options<rl::PpoAgentOptions>(flags, *setting_));
  agent_ = std::make_unique<rl::PpoAgent>(setting_->graphs, setting_->rules, *setting_->cost.model,
                                          options, flags.common.seed);
  training_ = training;
  as_told_.clear();
  return {};
}

Status EpisodePlayer::become(const std::string& training, const std::string& agent) {
  RETURN_IF_ERROR(prepare(training));
  if (agent == as_told_) return {};
  ASSIGN_OR_RETURN(std::string bytes, store_.object(agent));
  as_told_.clear();
  ASSIGN_OR_RETURN(rl::Checkpoint state, rl::parse_checkpoint(bytes, "the agent of a task"));
  RETURN_IF_ERROR(agent_->load(state));
  as_told_ = agent;
  return {};
}

Result<std::string> EpisodePlayer::perform(std::string_view input) {
  ByteReader in(input);
  std::string training(in.text()), agent(in.text());
  auto number = in.number<uint64_t>();
  if (!in.at_end()) return error("an episode to play that is none");
  RETURN_IF_ERROR(become(training, agent));
  return agent_->episode(number);
}

Result<rl::PlayElsewhere> play_by_fleet(FleetRun& run, const TrainFlags& flags, const Stop& stop) {
  ASSIGN_OR_RETURN(std::string bytes, training_of(flags));
  fleet::TaskStore& store = run.fleet().store();
  ASSIGN_OR_RETURN(std::string training, store.put_object(bytes));
  return rl::PlayElsewhere(
      [&run, &store, training, &stop](const rl::Checkpoint& agent, uint64_t first,
                                      size_t count) -> Result<std::vector<std::string>> {
        ASSIGN_OR_RETURN(std::string told, store.put_object(rl::to_bytes(agent)));
        std::vector<Task> tasks;
        for (size_t k = 0; k < count; ++k)
          tasks.push_back(
              {kEpisodeTask, ByteWriter().text(training).text(told).number(first + k).finish()});
        return run.fleet().run("episodes", tasks, 1, stop);
      });
}

}  // namespace regraft::cli
