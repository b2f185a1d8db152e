// The C interface, as another program uses it: through libregraft.so alone.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/library/regraft.h"

extern "C" int header_version(void);  // library_header.c

namespace {

using nlohmann::json;

constexpr const char* kRules = "right  (neg (neg ?x)) => ?x\nwrong  (neg ?x) => ?x\n";
constexpr const char* kLong = R"({"ops": "core", "max_size": 5, "out": true})";  // takes minutes

/// A run that is freed.
class Command {
 public:
  Command(const char* command, const char* options, std::vector<regraft_buffer> inputs = {})
      : run_(regraft_start(command, options, inputs.data(), inputs.size())) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() { regraft_free(run_); }
  regraft_run* get() { return run_; }
  int status() {
    EXPECT_EQ(regraft_wait(run_, -1, nullptr, nullptr), 1);
    return regraft_status(run_);
  }
  std::string messages() { return regraft_messages(run_); }
  json report() {
    size_t size = 0;
    const char* text = regraft_report(run_, &size);
    return json::parse(text, text + size);
  }

 private:
  regraft_run* run_;
};

regraft_buffer buffer(const char* name, const char* text) {
  return {name, text, std::strlen(text)};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Library, SaysItsVersion) {
  EXPECT_EQ(regraft_api_version(), REGRAFT_API_VERSION);
  EXPECT_EQ(header_version(), REGRAFT_API_VERSION);
  EXPECT_EQ(std::string(regraft_version()).find_first_not_of("0123456789."), std::string::npos);
}

TEST(Library, DescribesItsOptions) {
  json optimize = json::parse(regraft_options("optimize"));
  std::map<std::string, json> options;
  for (const json& o : optimize["options"]) options[o["name"]] = o;
  EXPECT_EQ(options.at("model")["kind"], "operand");
  EXPECT_EQ(options.at("portable")["kind"], "flag");
  EXPECT_EQ(options.at("max-size")["kind"], "option");
  EXPECT_TRUE(options.at("out")["required"]);
  EXPECT_TRUE(options.at("rules")["several"]);
  EXPECT_EQ(regraft_options("rules show"), regraft_options("rules show"));  // kept
  EXPECT_EQ(regraft_options("no such"), nullptr);
}

TEST(Library, RunsOnBytes) {
  Command verify("verify", R"({"out": true, "no_conditions": true})", {buffer("rules", kRules)});
  ASSERT_EQ(verify.status(), REGRAFT_DONE) << verify.messages();
  json report = verify.report();
  std::map<std::string, std::string> verdicts;
  for (const json& r : report["rules"]) verdicts[r["name"]] = r["verdict"];
  EXPECT_EQ(verdicts["right"], "proved:all-sizes");
  EXPECT_EQ(verdicts["wrong"], "refuted");
  size_t size = 0;
  const void* proved = regraft_output(verify.get(), "out", &size);
  ASSERT_NE(proved, nullptr);
  std::string text(static_cast<const char*>(proved), size);
  EXPECT_NE(text.find("right"), std::string::npos);
  EXPECT_EQ(text.find("wrong"), std::string::npos);
  EXPECT_EQ(regraft_output(verify.get(), "rules", &size), nullptr) << "an input";
  EXPECT_EQ(regraft_output(verify.get(), "cache", &size), nullptr) << "not asked for";
}

TEST(Library, RunsOnPathsThatBeginWithADash) {
  std::string name = "-rules-" + std::to_string(getpid());
  { std::ofstream(name) << kRules; }
  Command show("rules show", (R"({"file": ")" + name + "\"}").c_str());
  EXPECT_EQ(show.status(), REGRAFT_DONE) << show.messages();
  EXPECT_EQ(show.report().size(), 2U);
  std::remove(name.c_str());
}

TEST(Library, FindsTheShippedRules) {
  Command show("rules show", nullptr);
  ASSERT_EQ(show.status(), REGRAFT_DONE) << show.messages();
  EXPECT_GT(show.report().size(), 100U);
}

TEST(Library, TellsMistakesInOneLine) {
  struct Mistake {
    const char *command, *options;
    int status;
    const char* told;
  };
  const Mistake mistakes[] = {
      {"optimise", "{}", REGRAFT_USAGE, "regraft: optimise: there is no such command\n"},
      {"", "{}", REGRAFT_USAGE, "regraft: : there is no such command\n"},
      {"rules", "{}", REGRAFT_USAGE, "A subcommand is required"},
      {"stats", "[1]", REGRAFT_USAGE, "not a JSON object"},
      {"stats", "{", REGRAFT_USAGE, "not a JSON object"},
      {"stats", R"({"modell": "x"})", REGRAFT_USAGE, "modell: stats has no option of this name"},
      {"stats", R"({"help": true})", REGRAFT_USAGE, "help: stats has no option of this name"},
      {"stats", R"({"json": "x"})", REGRAFT_USAGE, "json: is set by the library"},
      {"stats", "{}", REGRAFT_USAGE, "model is required"},
      {"stats", R"({"model": "/no/such"})", REGRAFT_BAD_INPUT, "/no/such: cannot be opened"},
      {"simplify", R"({"model": "x", "out": "-"})", REGRAFT_BAD_INPUT, "x: cannot be opened"},
      {"optimize", R"({"model": "x", "out": "y", "portable": 1})", REGRAFT_USAGE,
       "portable: true or false is needed"},
      {"optimize", R"({"model": "x", "out": "y", "alpha": [[1]]})", REGRAFT_USAGE,
       "alpha: a text or a number is needed"},
      {"optimize", R"({"model": "x", "out": "y", "alpha": 0.5})", REGRAFT_USAGE, "alpha"},
  };
  for (const Mistake& m : mistakes) {
    Command run(m.command, m.options);
    EXPECT_EQ(run.status(), m.status) << m.command << " " << m.options << run.messages();
    std::string told = run.messages();
    EXPECT_NE(told.find(m.told), std::string::npos) << told;
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  }
}

TEST(Library, MessagesNameBuffers) {
  Command stats("stats", "{}", {buffer("model", "nothing")});
  EXPECT_EQ(stats.status(), REGRAFT_BAD_INPUT);
  EXPECT_EQ(stats.messages().rfind("regraft: model: is not an ONNX model", 0), 0U)
      << stats.messages();
  Command twice("stats", R"({"model": "x"})", {buffer("model", "nothing")});
  EXPECT_EQ(twice.status(), REGRAFT_USAGE);
}

TEST(Library, CanBeCancelled) {
  Command generate("generate", kLong);
  EXPECT_EQ(regraft_wait(generate.get(), 0.5, nullptr, nullptr), 0);
  auto start = std::chrono::steady_clock::now();
  regraft_cancel(generate.get());
  EXPECT_EQ(generate.status(), REGRAFT_INTERRUPTED);
  EXPECT_LT(seconds_since(start), 30);
  size_t size = 0;
  EXPECT_NE(regraft_output(generate.get(), "out", &size), nullptr) << "what was found";
}

TEST(Library, WaitingRunsCanBeCancelled) {
  Command first("generate", kLong), second("generate", kLong);
  regraft_cancel(second.get());
  EXPECT_EQ(second.status(), REGRAFT_INTERRUPTED);
  EXPECT_EQ(regraft_wait(first.get(), 0, nullptr, nullptr), 0);
}

TEST(Library, FreeingEndsARun) {
  auto start = std::chrono::steady_clock::now();
  { Command generate("generate", kLong); }
  EXPECT_LT(seconds_since(start), 30);
  regraft_free(nullptr);
}

TEST(Library, ACancelledRunLeavesTheNextAlone) {
  for (int k = 0; k < 20; ++k) {
    Command first("verify", "{}", {buffer("rules", kRules)});
    Command second("verify", "{}", {buffer("rules", kRules)});
    regraft_cancel(first.get());
    EXPECT_EQ(second.status(), REGRAFT_FAILED) << second.messages();  // not all are proved
  }
}

TEST(Library, TellsProgressAndIsCancelledByIt) {
  struct Seen {
    int calls = 0;
    std::string label;
    std::thread::id thread;
  } seen;
  Command generate("generate", kLong);
  auto callback = [](const regraft_progress* p, void* user) {
    auto* s = static_cast<Seen*>(user);
    ++s->calls;
    s->thread = std::this_thread::get_id();
    if (p->done == 0) return 0;
    s->label = p->label;
    return 1;
  };
  EXPECT_EQ(regraft_wait(generate.get(), 60, callback, &seen), 1);
  EXPECT_EQ(generate.status(), REGRAFT_INTERRUPTED);
  EXPECT_GT(seen.calls, 0);
  EXPECT_FALSE(seen.label.empty());
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
}

TEST(Library, RunsOfManyThreadsDoNotDisturbEachOther) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&right] {
      for (int n = 0; n < 5; ++n) {
        Command show("rules show", "{}", {buffer("file", kRules)});
        if (show.status() == REGRAFT_DONE && show.report().size() == 2) ++right;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 20);
}

TEST(Library, LeavesTheProcessAlone) {
  struct sigaction before {
  }, after{};
  rlimit limit_before{}, limit_after{};
  sigaction(SIGINT, nullptr, &before);
  getrlimit(RLIMIT_DATA, &limit_before);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    Command verify("verify", R"({"memory": 1})", {buffer("rules", kRules)});
    verify.status();
    Command show("rules show", "{}", {buffer("file", kRules)});
    show.status();
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  sigaction(SIGINT, nullptr, &after);
  getrlimit(RLIMIT_DATA, &limit_after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_EQ(limit_before.rlim_cur, limit_after.rlim_cur);
}

}  // namespace
