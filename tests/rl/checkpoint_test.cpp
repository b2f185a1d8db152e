#include "rl/files/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "rl/nn/store.h"

namespace regraft::rl {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Checkpoint example() {
  Checkpoint c;
  c.kind = "policy";
  c.feature_hash = 0xfedcba9876543210ULL;
  c.settings = {{"width", "32"}, {"empty", ""}};
  c.lists = {{"ops", {"add", "matmul", ""}}, {"none", {}}};
  c.arrays["w"] = {2, 3, std::vector<float>{1, -0.0F, 1e-45F, 3.4e38F, 0.1F, -7}};
  c.arrays["m"] = {1, 2, std::vector<double>{0.1, std::numeric_limits<double>::denorm_min()}};
  c.arrays["nothing"] = {0, 4, std::vector<float>{}};
  c.counters = {{"step", int64_t{-5}}, {"rng", uint64_t{0xffffffffffffffffULL}}};
  return c;
}

class CheckpointFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("regraft_checkpoint_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "c.ckpt").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// What reading says of these bytes.
  std::string complaint(const std::string& bytes) {
    put(path_, bytes);
    auto c = read_checkpoint(path_);
    return c ? "" : c.error().message;
  }
  std::string written() {
    EXPECT_TRUE(write_checkpoint(path_, example()).ok());
    return bytes_of(path_);
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(CheckpointFile, RoundTripIsExact) {
  const std::string first = written();
  auto c = read_checkpoint(path_);
  ASSERT_TRUE(c) << c.error().message;
  EXPECT_TRUE(*c == example());
  EXPECT_TRUE(std::signbit(std::get<0>(c->arrays.at("w").numbers)[1]));
  ASSERT_TRUE(write_checkpoint(path_, *c).ok());
  EXPECT_EQ(bytes_of(path_), first);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(CheckpointFile, SaysWhatIsWrong) {
  const std::string good = written();
  EXPECT_EQ(complaint(good), "");
  EXPECT_NE(complaint("ir_version: 7").find("not a checkpoint"), std::string::npos);
  EXPECT_NE(complaint("").find("not a checkpoint"), std::string::npos);
  ASSERT_EQ(good.substr(9, 2), "\x10\x01");  // the version
  std::string newer = good;
  newer[10] = 9;
  EXPECT_NE(complaint(newer).find("version 9 of checkpoints is newer"), std::string::npos);
  EXPECT_EQ(read_checkpoint(path_ + "x").error().message, path_ + "x: cannot be read");
  EXPECT_FALSE(write_checkpoint((folder_ / "no/where").string(), example()).ok());
}

TEST_F(CheckpointFile, RefusesEveryCutAndEveryFlippedBit) {
  const std::string good = written();
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(complaint(good.substr(0, n)), "") << "cut to " << n;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_NE(complaint(bad), "") << "byte " << i;
  }
}

TEST(Checkpoint, ExpectNamesTheDifference) {
  const Checkpoint c = example();
  EXPECT_TRUE(c.expect("policy", c.feature_hash).ok());
  EXPECT_NE(c.expect("world-model", c.feature_hash).error().message.find("holds a policy"),
            std::string::npos);
  EXPECT_NE(c.expect("policy", 1).error().message.find("features fedcba9876543210"),
            std::string::npos);
}

template <class S>
nn::Parameters<S> parameters() {
  nn::Parameters<S> p;
  p.value(p.add("a", 2, 2)) << S(0.1), S(2), S(-3), S(4);
  p.value(p.add("b", 1, 3)) << S(5), S(1) / 3, S(7);
  return p;
}

TEST(Store, TrainingGoesOnAsIfNeverStopped) {
  auto p = parameters<double>(), q = parameters<double>();
  nn::Gradients<double> g(p);
  for (int i = 0; i < p.size(); ++i) g.value(i) = p.value(i) * 0.3;
  nn::Adam<double> adam(p), other(q);
  adam.step(p, g, 0.01);
  Checkpoint c;
  nn::store(c, "net", p);
  nn::store(c, "adam", adam, p);
  ASSERT_TRUE(nn::load(c, "net", q).ok());
  ASSERT_TRUE(nn::load(c, "adam", other, q).ok());
  adam.step(p, g, 0.01);
  other.step(q, g, 0.01);
  for (int i = 0; i < p.size(); ++i) EXPECT_EQ(p.value(i), q.value(i));
  EXPECT_EQ(other.steps, 2);
}

TEST(Store, RefusesOtherShapes) {
  auto p = parameters<double>();
  auto narrow = parameters<float>();
  Checkpoint c;
  nn::store(c, "net", p);
  EXPECT_NE(nn::load(c, "other", p).error().message.find("no matrix other/a"), std::string::npos);
  EXPECT_NE(nn::load(c, "net", narrow).error().message.find("4-byte"), std::string::npos);
  nn::Adam<double> adam(p);
  EXPECT_NE(nn::load(c, "net", adam, p).error().message.find("net/first/a"), std::string::npos);
  c.arrays["net/b"].cols = 4;
  EXPECT_NE(nn::load(c, "net", p).error().message.find("1 x 4, not 1 x 3"), std::string::npos);
}

}  // namespace
}  // namespace regraft::rl
