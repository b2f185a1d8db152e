// Episodes as bytes, and learning from episodes that another agent played.
#include "rl/ppo/episode.h"

#include "rl/ppo/ppo_agent.h"
#include "tests/rl/barrier.h"

namespace regraft::rl {
namespace {

PpoAgentOptions few_episodes() {
  PpoAgentOptions options;
  options.network = {.width = 8, .hidden = 8};
  options.episodes = 3;
  return options;
}

struct PpoEpisodes : testing::Test {
  std::vector<Graph> graphs = {layers(1), layers(2)};
  PpoAgent agent(const PpoAgentOptions& options) {
    return PpoAgent(graphs, shipped_rules(), roofline(), options, 5);
  }
};

TEST_F(PpoEpisodes, AreReadAsTheyWereWritten) {
  PpoAgent one = agent(few_episodes());
  std::string bytes = one.episode(4);
  auto read = episode_of(bytes);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->actions.empty());
  EXPECT_EQ(to_bytes(*read), bytes);
  for (size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 97)
    EXPECT_FALSE(episode_of(std::string_view(bytes).substr(0, cut))) << cut;
}

TEST_F(PpoEpisodes, WhatPointsOutsideIsNoEpisode) {
  PpoAgent one = agent(few_episodes());
  const PpoEpisode good = *episode_of(one.episode(0));
  auto spoilt = [&](auto change) {
    PpoEpisode e = good;
    change(e);
    return !episode_of(to_bytes(e));
  };
  EXPECT_TRUE(spoilt([](PpoEpisode& e) { e.actions[0] = 1 << 20; }));
  EXPECT_TRUE(spoilt([](PpoEpisode& e) { e.rewards.pop_back(); }));
  EXPECT_TRUE(spoilt([](PpoEpisode& e) { e.observations[0].source.at(0) = -1; }));
  EXPECT_TRUE(spoilt([](PpoEpisode& e) { e.observations[0].op.at(0) = 1 << 20; }));
  EXPECT_TRUE(spoilt([](PpoEpisode& e) { e.observations[0].inside_first.at(0) = 1; }));
}

TEST_F(PpoEpisodes, LearningDoesNotDependOnWhoPlays) {
  PpoAgent alone = agent(few_episodes());
  PpoAgentOptions options = few_episodes();
  PpoAgent player = agent(few_episodes());
  options.elsewhere = [&](const Checkpoint& state, uint64_t first,
                          size_t count) -> Result<std::vector<std::string>> {
    RETURN_IF_ERROR(player.load(state));
    std::vector<std::string> played(count);
    for (size_t k = count; k-- > 0;) played[k] = player.episode(first + k);
    return played;
  };
  PpoAgent helped = agent(options);
  for (int k = 0; k < 2; ++k) EXPECT_EQ(helped.iterate(Stop()), alone.iterate(Stop()));
  EXPECT_EQ(to_bytes(helped.save()), to_bytes(alone.save()));
}

TEST_F(PpoEpisodes, AnErrorEndsTheIterationAndChangesNothing) {
  PpoAgentOptions options = few_episodes();
  options.elsewhere = [](const Checkpoint&, uint64_t, size_t) -> Result<std::vector<std::string>> {
    return error("no");
  };
  PpoAgent helped = agent(options);
  std::string before = to_bytes(helped.save());
  EXPECT_TRUE(helped.iterate(Stop()).empty());
  EXPECT_FALSE(helped.failure());
  EXPECT_EQ(to_bytes(helped.save()), before);
}

}  // namespace
}  // namespace regraft::rl
