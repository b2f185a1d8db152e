// Several environments in arrays: masks against the engine, padding, actions, threads.
#include "rl/vector/vector_environment.h"

#include <cstring>
#include <map>

#include "tests/rl/graphs.h"

namespace regraft::rl {
namespace {

/// Environments with arrays of their own.
struct Bound {
  explicit Bound(VectorOptions options, EnvironmentOptions how = {})
      : all({{layers(1), how}, {layers(2), how}}, shipped_rules(), roofline(), options) {
    for (uint64_t k = 0; k < options.environments; ++k) all.seed(k, k + 5);
    bind();
    all.reset(std::vector<char>(options.environments, 1), std::nullopt);
  }
  void bind() {
    arrays.clear();
    places.clear();
    std::vector<void*> pointers;
    for (const ArraySpec& s : all.specs()) {
      places[s.name] = {arrays.size(), s.size()};
      arrays.emplace_back(s.size() * bytes_of(s.element) * all.options().environments, '\x55');
    }
    for (std::string& a : arrays) pointers.push_back(a.data());
    all.bind(pointers);
  }
  /// Element j of the k-th environment's part of an array.
  template <class T = int32_t>
  T at(const std::string& name, size_t k, size_t j = 0) const {
    auto [place, size] = places.at(name);
    T x;
    std::memcpy(&x, arrays[place].data() + (k * size + j) * sizeof(T), sizeof(T));
    return x;
  }
  VectorEnvironment all;
  std::vector<std::string> arrays;
  std::map<std::string, std::pair<size_t, size_t>> places;  // and elements of one environment
};

/// Something that the masks allow; now and then what they do not.
Request drawn(const Bound& b, size_t k, Rng& rng) {
  if (rng.unit() < 0.05) return {static_cast<int64_t>(rng.below(5000)), 300};
  auto actions = static_cast<size_t>(b.at("counts", k, 2));
  size_t action = actions > 1 && rng.unit() < 0.97 ? 1 + rng.below(actions - 1) : 0;
  if (b.all.options().actions == Actions::Matches) return {static_cast<int64_t>(action), 0};
  int32_t rule = b.at("rule", k, action);
  int64_t location = 0;
  for (size_t a = action; a > 1 && b.at("rule", k, a - 1) == rule; --a) ++location;
  return {rule, location};
}

std::vector<VectorOptions> all_kinds() {
  std::vector<VectorOptions> kinds;
  for (Actions actions : {Actions::Matches, Actions::Factorised})
    for (Costs costs : {Costs::Shown, Costs::Hidden})
      kinds.push_back({.environments = 3, .actions = actions, .costs = costs});
  return kinds;
}

/// What is left of earlier states is padding again: arrays that are used all the time hold what new
/// ones do.
TEST(Vector, ArraysHoldWhatNewOnesWould) {
  for (VectorOptions options : all_kinds()) {
    Bound used(options), fresh(options);
    Rng rng(2);
    for (int step = 0; step < 150; ++step) {
      std::vector<Request> requests;
      for (size_t k = 0; k < 3; ++k) requests.push_back(drawn(used, k, rng));
      used.all.step(requests);
      fresh.bind();
      fresh.all.step(requests);
      ASSERT_EQ(used.arrays, fresh.arrays) << step;
    }
  }
}

/// Masks are the engine's: another engine, brought to the same graph, has the same matches.
TEST(Vector, MasksAreExact) {
  for (VectorOptions options : all_kinds()) {
    Bound b(options);
    EnvironmentOptions how;
    Environment one(layers(1), shipped_rules(), roofline(), how),
        two(layers(2), shipped_rules(), roofline(), how);
    Rng rng(3);
    for (int step = 0; step < 60; ++step) {
      std::vector<Request> requests;
      for (size_t k = 0; k < 3; ++k) {
        requests.push_back(drawn(b, k, rng));
        Environment& env = b.all.task(k) == 0 ? one : two;
        env.reset(b.all.moves(k));
        EXPECT_NEAR(env.cost(), b.at<double>("cost", k), 1e-9);
        std::vector<int32_t> numbers = env.allowed(b.at<double>("best", k));
        auto actions = static_cast<size_t>(b.at("counts", k, 2));
        ASSERT_EQ(actions, numbers.size() + 1);
        std::map<int32_t, int32_t> locations{{0, 1}};
        for (int32_t n : numbers) ++locations[env.engine().match(n).rule + 1];
        std::map<int32_t, int32_t> shown;
        for (size_t a = 0; a < actions; ++a) ++shown[b.at("rule", k, a)];
        EXPECT_EQ(shown, locations);
        if (options.actions == Actions::Matches) {
          for (size_t a = 0; a < b.all.capacity().actions; ++a)
            ASSERT_EQ(b.at<int8_t>("action_mask", k, a), a < actions);
          continue;
        }
        int32_t most = 0;
        for (size_t r = 0; r <= b.all.capacity().rules; ++r) {
          auto found = locations.find(static_cast<int32_t>(r));
          int32_t n = found == locations.end() ? 0 : found->second;
          ASSERT_EQ(b.at("locations", k, r), n);
          ASSERT_EQ(b.at<int8_t>("rule_mask", k, r), n > 0);
          most = std::max(most, n);
        }
        for (size_t l = 0; l < b.all.capacity().locations; ++l)
          ASSERT_EQ(b.at<int8_t>("location_mask", k, l), l < static_cast<size_t>(most));
      }
      b.all.step(requests);
    }
  }
}

TEST(Vector, AnActionAppliesTheMatchThatIsShown) {
  for (VectorOptions options : all_kinds()) {
    Bound b(options);
    Rng rng(4);
    for (int step = 0; step < 60; ++step) {
      std::vector<Request> requests;
      std::vector<size_t> depths;
      for (size_t k = 0; k < 3; ++k) {
        requests.push_back(drawn(b, k, rng));
        depths.push_back(b.all.moves(k).size());
      }
      b.all.step(requests);
      for (size_t k = 0; k < 3; ++k) {
        if (b.at<int8_t>("began", k)) continue;
        const auto& moves = b.all.moves(k);
        int32_t applied = b.at("rule_applied", k);
        EXPECT_EQ(moves.size(), depths[k] + (applied > 0));
        EXPECT_EQ(b.at("certificate_step", k), static_cast<int32_t>(moves.size()));
        if (applied == 0) continue;
        EXPECT_EQ(moves.back().rule + 1, applied);
        if (options.actions == Actions::Factorised) {
          EXPECT_EQ(applied, requests[k].rule);
        }
        EXPECT_EQ(moves.back().cost, b.at<double>("cost", k));
      }
    }
  }
}

TEST(Vector, TheNumberOfThreadsMakesNoDifference) {
  auto run = [](int threads) {
    Bound b({.environments = 6, .threads = threads});
    Rng rng(6);
    std::vector<std::vector<std::string>> told;
    for (int step = 0; step < 100; ++step) {
      std::vector<Request> requests;
      for (size_t k = 0; k < 6; ++k) requests.push_back(drawn(b, k, rng));
      b.all.step(requests);
      told.push_back(b.arrays);
    }
    return told;
  };
  EXPECT_EQ(run(1), run(4));
}

TEST(Vector, WhatDoesNotFitIsLeftOutAndCounted) {
  Bound all({.environments = 1}), few({.environments = 1, .nodes = 3, .match_actions = 2});
  ASSERT_EQ(all.all.task(0), few.all.task(0));
  EXPECT_EQ(few.at("counts", 0, 0), 3);
  EXPECT_EQ(few.at("counts", 0, 2), 3);
  EXPECT_EQ(few.at("overflow", 0), all.at("counts", 0, 2) - 3);
  EXPECT_GE(few.at("left_out", 0), all.at("counts", 0, 0) - 3);
  for (size_t e = 0; e < few.all.capacity().edges; ++e) EXPECT_LT(few.at("edge_index", 0, e), 3);
}

}  // namespace
}  // namespace regraft::rl
