// The C interface for reinforcement learning, as another program uses it.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/library/regraft_env.h"

extern "C" int env_header_version(void);  // library_header.c

namespace {

using nlohmann::json;

// The wire format of protobuf, as far as a model of two nodes needs it.
std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string bytes(int field, const std::string& content) {
  std::string head{static_cast<char>(field << 3 | 2)};
  size_t size = content.size();
  for (; size > 127; size /= 128) head += static_cast<char>(size % 128 + 128);
  return head + static_cast<char>(size) + content;
}

std::string node(const std::string& op, const std::string& from, const std::string& to) {
  return bytes(1, bytes(1, from) + bytes(2, to) + bytes(4, op));
}

std::string value(int field, const std::string& name) {
  std::string shape = bytes(2, bytes(1, number(1, 2)) + bytes(1, number(1, 3)));
  return bytes(field, bytes(1, name) + bytes(2, bytes(1, number(1, 1) + shape)));
}

/// relu(relu(-(-x)))
std::string model() {
  std::string graph = node("Neg", "x", "a") + node("Neg", "a", "b") + node("Relu", "b", "c") +
                      node("Relu", "c", "y") + bytes(2, "g") + value(11, "x") + value(12, "y");
  return number(1, 8) + bytes(7, graph) + bytes(8, bytes(1, "") + number(2, 17));
}

std::string file(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / name).string();
}

/// A file of proved rules.
const std::string& rules() {
  static const std::string path = [] {
    const char* text =
        "neg-neg  (neg (neg ?x)) => ?x\n"
        "relu-relu  (relu (relu ?x)) => (relu ?x)\n"
        "relu-grows  (relu ?x) => (relu (neg (neg ?x)))\n";
    regraft_buffer input{"rules", text, std::strlen(text)};
    std::string out = file("library_env.rules");
    regraft_run* run = regraft_start("verify", json{{"out", out}}.dump().c_str(), &input, 1);
    EXPECT_EQ(regraft_wait(run, -1, nullptr, nullptr), 1);
    EXPECT_EQ(regraft_status(run), REGRAFT_DONE) << regraft_messages(run);
    regraft_free(run);
    return out;
  }();
  return path;
}

/// Environments with arrays of their own.
class Envs {
 public:
  explicit Envs(json options, std::string bytes = model()) : model_(std::move(bytes)) {
    if (!options.contains("rules")) options["rules"] = {rules()};
    regraft_buffer buffer{"two.onnx", model_.data(), model_.size()};
    envs_ = regraft_envs_make(options.dump().c_str(), &buffer, 1);
    if (regraft_envs_status(envs_) != REGRAFT_DONE) return;
    about_ = json::parse(regraft_envs_description(envs_));
    size_t n = about_["environments"];
    for (const json& a : about_["arrays"]) {
      size_t size = n * (a["type"] == "int8" ? 1 : a["type"] == "float64" ? 8 : 4);
      for (size_t d : a["shape"]) size *= d;
      arrays_.emplace_back(size, '\x55');  // the library fills them
      places_[a["name"]] = arrays_.size() - 1;
    }
    EXPECT_EQ(bind(), REGRAFT_DONE) << message();
  }
  Envs(const Envs&) = delete;
  Envs& operator=(const Envs&) = delete;
  ~Envs() { regraft_envs_free(envs_); }

  int bind() {
    std::vector<void*> all;
    for (std::string& a : arrays_) all.push_back(a.data());
    return regraft_envs_bind(envs_, all.data(), all.size());
  }
  int reset(const json& options) { return regraft_envs_reset(envs_, options.dump().c_str()); }
  int step(const std::vector<int64_t>& actions) { return regraft_envs_step(envs_, actions.data()); }
  int write(const json& options) { return regraft_envs_export(envs_, 0, options.dump().c_str()); }
  std::string message() const { return regraft_envs_message(envs_); }
  const json& about() const { return about_; }
  regraft_envs* get() { return envs_; }
  const std::vector<std::string>& arrays() const { return arrays_; }
  /// Element k of an array.
  template <class T>
  T at(const std::string& name, size_t k = 0) const {
    T x;
    std::memcpy(&x, arrays_[places_.at(name)].data() + k * sizeof(T), sizeof(T));
    return x;
  }
  /// The action of the first environment that applies the rule; 0: there is none.
  int64_t action(const std::string& rule) const {
    for (int32_t k = 1; k < at<int32_t>("counts", 2); ++k) {
      auto r = static_cast<size_t>(at<int32_t>("rule", static_cast<size_t>(k)));
      if (about_["rules"][r - 1] == rule) return k;
    }
    return 0;
  }

 private:
  std::string model_;
  regraft_envs* envs_ = nullptr;
  json about_;
  std::vector<std::string> arrays_;
  std::map<std::string, size_t> places_;
};

TEST(LibraryEnv, SaysItsVersion) {
  EXPECT_EQ(regraft_env_api_version(), REGRAFT_ENV_API_VERSION);
  EXPECT_EQ(env_header_version(), REGRAFT_ENV_API_VERSION);
}

TEST(LibraryEnv, StepsAsItSays) {
  Envs envs(json{{"ceiling", 4}});
  EXPECT_EQ(envs.about()["models"][0]["nodes"], 4);
  ASSERT_EQ(envs.reset({{"seed", 1}}), REGRAFT_DONE) << envs.message();
  EXPECT_EQ(envs.at<int32_t>("counts", 0), 4);
  EXPECT_EQ(envs.at<int32_t>("counts", 2), 5);  // to stop, a pair each, and two that grow
  for (size_t k = 0; k < 8; ++k) EXPECT_EQ(envs.at<int8_t>("action_mask", k), k < 5);
  double before = envs.at<double>("cost");
  int64_t negations = envs.action("neg-neg");
  ASSERT_GT(negations, 0);
  ASSERT_EQ(envs.step({negations}), REGRAFT_DONE) << envs.message();
  double after = envs.at<double>("cost");
  EXPECT_LT(after, before);
  EXPECT_EQ(envs.at<double>("original"), before);
  EXPECT_NEAR(envs.at<double>("reward"), 100 * (before - after) / before, 1e-9);
  EXPECT_EQ(envs.at<int32_t>("certificate_step"), 1);
  EXPECT_EQ(envs.action("neg-neg"), 0);
  EXPECT_EQ(envs.at<int32_t>("counts", 0), 2);

  ASSERT_EQ(envs.step({100}), REGRAFT_DONE);  // not allowed
  EXPECT_EQ(envs.at<int8_t>("invalid"), 1);
  EXPECT_EQ(envs.at<double>("cost"), after);
  ASSERT_EQ(envs.step({envs.action("relu-grows")}), REGRAFT_DONE);
  EXPECT_GT(envs.at<double>("cost"), after);
  EXPECT_EQ(envs.at<double>("best"), after);
  ASSERT_EQ(envs.step({0}), REGRAFT_DONE);
  EXPECT_EQ(envs.at<int8_t>("terminated"), 1);
  json moves = json::parse(regraft_envs_moves(envs.get(), 0));
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_EQ(moves[0]["rule"], "neg-neg");
  EXPECT_EQ(moves[0]["cost"], after);
  ASSERT_EQ(envs.step({0}), REGRAFT_DONE);
  EXPECT_EQ(envs.at<int8_t>("began"), 1);
  EXPECT_EQ(envs.at<double>("cost"), before);
}

TEST(LibraryEnv, TheSameForAnyNumberOfThreads) {
  auto told = [](int threads) {
    Envs envs({{"environments", 7}, {"threads", threads}, {"ceiling", 8}, {"max_growth", 8}});
    EXPECT_EQ(envs.reset({{"seed", 3}}), REGRAFT_DONE) << envs.message();
    std::vector<std::vector<std::string>> all;
    for (int64_t step = 0; step < 80; ++step) {
      std::vector<int64_t> actions;
      for (int64_t k = 0; k < 7; ++k)
        actions.push_back((step * 7 + k * k) % envs.at<int32_t>("counts", 3 * k + 2));
      EXPECT_EQ(envs.step(actions), REGRAFT_DONE) << envs.message();
      all.push_back(envs.arrays());
    }
    return all;
  };
  auto one = told(1);
  EXPECT_NE(one.front(), one.back());
  EXPECT_EQ(one, told(3));
}

TEST(LibraryEnv, WritesTheCheapestOfTheEpisode) {
  Envs envs(json::object());
  std::string out = file("library_env.onnx"), proof = file("library_env.json");
  envs.reset(json::object());
  envs.step({envs.action("neg-neg")});
  EXPECT_EQ(envs.write({{"out", out}, {"certificate", proof}}), REGRAFT_DONE) << envs.message();
  EXPECT_TRUE(std::filesystem::exists(proof));
  Envs again(json::object(), [&] {
    std::ifstream in(out, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }());
  EXPECT_EQ(again.about()["models"][0]["nodes"], 2);
}

TEST(LibraryEnv, TellsMistakesInOneLine) {
  auto refused = [](int status, regraft_envs* envs, const std::string& words) {
    std::string message = regraft_envs_message(envs);
    EXPECT_EQ(status, REGRAFT_BAD_INPUT);
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  };
  for (const auto& [options, words] : std::vector<std::pair<json, std::string>>{
           {{{"environments", 0}}, "environments: a whole number from 1"},
           {{{"enviroments", 1}}, "enviroments: there is no such option"},
           {{{"rules", {"none.rules"}}}, "none.rules"},
           {{{"reward", "much"}}, "reward: "},
           {{{"cost", "none"}}, "cost: "}}) {
    Envs envs(options);
    refused(regraft_envs_status(envs.get()), envs.get(), words);
    refused(envs.reset(json::object()), envs.get(), "making them failed");
    EXPECT_STREQ(regraft_envs_moves(envs.get(), 0), "[]");
  }
  Envs broken(json::object(), "no model");
  refused(regraft_envs_status(broken.get()), broken.get(), "two.onnx");
  regraft_envs* none = regraft_envs_make("[]", nullptr, 0);
  refused(regraft_envs_status(none), none, "object");
  regraft_envs_free(none);
  regraft_envs_free(nullptr);

  Envs envs(json::object());
  refused(envs.step({0}), envs.get(), "reset() comes first");
  refused(envs.write({{"out", "x.onnx"}}), envs.get(), "reset() comes first");
  refused(regraft_envs_bind(envs.get(), nullptr, 0), envs.get(), "are needed, not 0");
  refused(envs.reset({{"model", 1}}), envs.get(), "model: ");
  EXPECT_EQ(envs.reset(json::object()), REGRAFT_DONE);
  std::string nowhere = file("no/such/folder.onnx");
  refused(envs.write({{"out", nowhere}}), envs.get(), "folder.onnx");
  EXPECT_FALSE(std::filesystem::exists(nowhere));
}

}  // namespace
