#include "cost/profile/profile.h"

#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "cost/profile/calibrate.h"
#include "cost/profile/objective.h"
#include "cost/profile/profiled.h"
#include "cost/profile/scale.h"
#include "tests/cost/graphs.h"

namespace regraft::cost {
namespace {

Profile some_profile() {
  Profile p;
  p.key = {"onnxruntime", "1.2.3", "a processor", "", 1};
  p.block = 16;
  p.overhead = 0.5;
  return p;
}

std::string scratch(const std::string& name) {
  return (std::filesystem::temp_directory_path() /
          (name + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "." +
           ::testing::UnitTest::GetInstance()->current_test_info()->name()))
      .string();
}

const std::string kChain =
    "%0 = input : float32[64,128]\n%1 = input : float32[128,128]\n"
    "%2 = matmul %0 %1 : float32[64,128]\n%3 = softmax %2 : float32[64,128]\noutputs %3\n";

TEST(ProfileFile, ReadsBackAsItWasWritten) {
  Profile p = some_profile();
  p.kernels["a"] = {1.5, 0.01, 20};
  p.machine.rates[0] = {100, 10};
  p.machine.launch_microseconds = 3;
  p.calibrated = true;
  p.spread = 0.02;
  p.measured = 1000000000;
  std::string file = scratch("profile");
  ASSERT_TRUE(bool(write_profiles(file, {p})));
  auto read = read_profiles(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 1U);
  const Profile& q = (*read)[0];
  EXPECT_EQ(q.key, p.key);
  EXPECT_EQ(q.block, 16);
  EXPECT_EQ(q.overhead, 0.5);
  EXPECT_EQ(q.machine.rates[0].gflops, 100);
  EXPECT_EQ(q.machine.launch_microseconds, 3);
  EXPECT_EQ(q.kernels.at("a").microseconds, 1.5);
  EXPECT_EQ(q.kernels.at("a").runs, 20);
  EXPECT_EQ(q.spread, 0.02);
  EXPECT_EQ(q.measured, 1000000000);
  EXPECT_EQ(q.origin, file);
}

TEST(Profile, ItsSpreadIsTheMedianOfTwoTimings) {
  Profile p = some_profile();
  p.kernels = {{"a", {100, 0, 9}}, {"b", {100, 0, 9}}, {"c", {100, 0, 9}}, {"d", {0, 0, 9}}};
  set_spread(p, {{"a", {104, 0, 9}}, {"b", {50, 0, 9}}, {"c", {102, 0, 9}}, {"d", {1, 0, 9}}});
  EXPECT_NEAR(p.spread.value(), 0.04, 1e-12);
  EXPECT_TRUE(is_quiet(p));
  EXPECT_GT(p.measured, 0);
  set_spread(p, {{"a", {90, 0, 9}}});
  EXPECT_FALSE(is_quiet(p));
  set_spread(p, {{"b", {100, 0, 0}}});
  EXPECT_FALSE(p.spread.has_value());
  EXPECT_FALSE(is_quiet(p));
}

TEST(Profile, TheLargerSpreadCountsWhereTwoAreMerged) {
  Profile a = some_profile(), b = some_profile();
  a.spread = 0.01;
  a.kernels["x"] = {10, 0, 9};
  Profile was = a;
  merge(a, b);  // which has nothing
  EXPECT_EQ(a.spread, 0.01);
  b.spread = 0.03;
  b.kernels["y"] = {10, 0, 9};
  merge(a, b);
  EXPECT_EQ(a.spread, 0.03);
  b.spread.reset();
  merge(was, b);
  EXPECT_FALSE(was.spread.has_value());
}

TEST(ProfileFile, BadFilesAreNamed) {
  std::string file = scratch("bad");
  EXPECT_NE(read_profiles(file).error().message.find(file), std::string::npos);
  std::ofstream(file) << "not a profile at all, certainly not";
  EXPECT_NE(read_profiles(file).error().message.find(file), std::string::npos);
  std::ofstream(file, std::ios::binary) << std::string("\x08\x63");  // version 99
  EXPECT_NE(read_profiles(file).error().message.find("newer"), std::string::npos);
  std::filesystem::remove(file);
}

TEST(ProfileFile, AlteredBytesAreRefusedOrMakeSense) {
  Profile p = some_profile();
  Graph g = graph_of(kChain, {1});
  for (const std::string& signature : Profiled(p).predict(g).missing)
    p.kernels[signature] = {1.5, 0.01, 20};
  p.machine.rates[0] = {100, 10};
  p.calibrated = true;
  std::string file = scratch("altered");
  ASSERT_TRUE(bool(write_profiles(file, {p})));
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  Rng rng(1);
  int read = 0;
  for (int k = 0; k < 5000; ++k) {
    std::string bytes = whole;
    for (uint64_t n = 1 + rng.below(3); n > 0; --n)
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    auto profiles = parse_profiles(bytes, "altered");
    if (!profiles) {
      EXPECT_TRUE(profiles.error().message.starts_with("altered: ")) << profiles.error().message;
      continue;
    }
    ++read;
    for (const Profile& q : *profiles) {
      double us = Profiled(q).predict(g).microseconds;
      EXPECT_TRUE(us >= 0 && us < 1e30) << us;
    }
  }
  EXPECT_GT(read, 100);
}

TEST(ProfileFile, TheSurerTimingStays) {
  Profile a = some_profile(), b = some_profile();
  a.kernels["x"] = {10, 0.05, 5};
  b.kernels["x"] = {12, 0.01, 50};
  b.kernels["y"] = {1, 0, 1};
  merge(a, b);
  EXPECT_EQ(a.kernels.at("x").microseconds, 12);
  EXPECT_EQ(a.kernels.at("y").microseconds, 1);
  std::vector<Profile> all{a};
  Profile other = some_profile();
  other.key.threads = 2;
  merge(all, {other});
  EXPECT_EQ(all.size(), 2U);
}

TEST(Profiled, AddsWhatWasMeasuredAndReportsWhatIsEstimated) {
  Graph g = graph_of(kChain, {1});
  Profile p = some_profile();
  Profiled unmeasured(p);
  Prediction before = unmeasured.predict(g);
  EXPECT_EQ(before.kernels, 2U);
  EXPECT_EQ(before.estimated, 2U);
  EXPECT_EQ(before.missing.size(), 2U);
  EXPECT_GT(before.microseconds, 0);
  for (const std::string& signature : before.missing) p.kernels[signature] = {100, 0, 9};
  Prediction after = Profiled(p).predict(g);
  EXPECT_EQ(after.estimated, 0U);
  EXPECT_DOUBLE_EQ(after.microseconds, 2 * (100 + p.overhead));
}

TEST(Profiled, ACallAloneIsLookedUp) {
  Graph g = graph_of(kChain, {1});
  Profile p = some_profile();
  for (const auto& [signature, kernel] : missing_kernels(Profiled(p).plan(g), p))
    p.kernels[signature] = {77, 0, 9};
  Profiled model(p);
  for (int32_t id : {2, 3})
    EXPECT_DOUBLE_EQ(model.cost(g.node(id), operand_types(g, g.node(id))).microseconds,
                     77 + p.overhead);
}

/// Times that a machine with known rates would take.
Profile made_up(double gflops, double gbytes) {
  Profile p = some_profile();
  Machine truth;
  truth.launch_microseconds = 2;
  truth.rates.fill({gflops, gbytes});
  for (const auto& [signature, kernel] : probe_kernels(*find_runtime("onnxruntime")))
    p.kernels[signature] = {estimate(truth, kernel).microseconds, 0, 9};
  return p;
}

TEST(Scale, EachKindTakesItsOwnFactor) {
  Profile there = made_up(100, 10);
  there.key.runtime = "cpu";
  Profile here = there, wanted = there;
  here.key.device = "another processor";
  here.kernels.clear();
  auto factor = [](const std::string& signature) {
    Kind kind = kind_of(*parse_signature(signature));
    return kind == Kind::Product ? 3.0 : kind == Kind::Pooling ? 1000.0 : 2.0;
  };
  auto probes = scaling_kernels(there);
  EXPECT_GE(probes.size(), 10U);
  EXPECT_LE(probes.size(), 2 * static_cast<size_t>(Kind::kCount));
  for (const auto& [signature, kernel] : probes)
    here.kernels[signature] = {factor(signature) * there.kernels.at(signature).microseconds, 0, 9};
  wanted.overhead = 1;
  Profile result = scaled(wanted, there, here);
  EXPECT_EQ(result.key.device, here.key.device);
  EXPECT_TRUE(result.scaled);
  EXPECT_DOUBLE_EQ(result.overhead, 2);
  for (const auto& [signature, timing] : there.kernels) {
    double expected = std::min(factor(signature), 8.0) * timing.microseconds;  // 4 times all
    EXPECT_NEAR(result.kernels.at(signature).microseconds, expected, 1e-9 * expected) << signature;
  }
}

TEST(Calibrate, FindsTheRatesOfAMachine) {
  Profile p = made_up(64, 8);
  EXPECT_GT(median_error(p.machine, p), 1.2);
  calibrate(p);
  EXPECT_TRUE(p.calibrated);
  EXPECT_LT(median_error(p.machine, p), 1.05);
  EXPECT_NEAR(p.machine.rates[static_cast<size_t>(Kind::DenseConv)].gflops, 64, 12);
  EXPECT_NEAR(p.machine.rates[static_cast<size_t>(Kind::Movement)].gbytes, 8, 1.6);
}

TEST(Calibrate, ProbesAreOfEveryKind) {
  std::set<Kind> kinds;
  for (const auto& [signature, kernel] : probe_kernels(*find_runtime("onnxruntime"))) {
    kinds.insert(kind_of(kernel));
    EXPECT_TRUE(parse_signature(signature).has_value()) << signature;
  }
  EXPECT_EQ(kinds.size(), static_cast<size_t>(Kind::kCount));
}

TEST(Calibrate, PlainLoopsMeasureSomething) {
  Machine m = probe_machine();
  EXPECT_GT(m.bandwidth_gbytes, 0.1);
  EXPECT_LT(m.bandwidth_gbytes, 2000);
  EXPECT_GT(m.peak_gflops, 0.1);
}

TEST(Objective, MemoryPricesThePeak) {
  Graph g = graph_of(kChain, {1});
  Roofline model;
  Objective memory(Goal::Memory, model, nullptr, g), mixed(Goal::Mixed, model, nullptr, g),
      latency(Goal::Latency, model, nullptr, g);
  EXPECT_DOUBLE_EQ(memory.price(g), 1);
  EXPECT_DOUBLE_EQ(mixed.price(g), 1);
  EXPECT_DOUBLE_EQ(latency.price(g), 1);
  Worth half = memory.original();
  half.peak_bytes /= 2;
  EXPECT_NEAR(memory.price(half), 0.5, 0.01);
  EXPECT_NEAR(mixed.price(half), 0.75, 0.01);
  EXPECT_DOUBLE_EQ(latency.price(half), 1);
}

}  // namespace
}  // namespace regraft::cost
