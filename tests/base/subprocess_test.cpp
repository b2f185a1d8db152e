// Programs that answer, that do not, and where they are looked for.
#include "base/process/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

namespace regraft {
namespace {

namespace fs = std::filesystem;

Result<Subprocess> shell(const std::string& script) {
  return Subprocess::start({"/bin/sh", "-c", script}, {"WORD=of ours"});
}

double seconds_of(const std::function<void()>& work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Subprocess, AnswersLineByLine) {
  auto p = shell("while read line; do echo \"$WORD: $line\"; done");
  ASSERT_TRUE(p) << p.error().message;
  for (const std::string& word : {std::string("one"), std::string(300000, 'x')}) {
    auto answer = p->ask(word, Stop());
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, "of ours: " + word);
  }
}

TEST(Subprocess, EndedProgramsAreErrors) {
  for (const char* script : {"exit 1", "read line; printf half", "read line; kill -9 $$"}) {
    auto p = shell(script);
    ASSERT_TRUE(p);
    EXPECT_FALSE(p->ask("x", Stop())) << script;
    EXPECT_FALSE(p->ask("x", Stop())) << script;
  }
}

TEST(Subprocess, AStopEndsTheWaitAndTheProgramWithItsGroup) {
  std::string name = (fs::temp_directory_path() / "regraft-pids-XXXXXX").string();
  ASSERT_GE(mkstemp(name.data()), 0);
  auto p = shell("sleep 100 & echo $$ $! > " + name + "; read line; wait");
  ASSERT_TRUE(p);
  double took = seconds_of([&] { EXPECT_FALSE(p->ask("x", Stop(0.3))); });
  EXPECT_LT(took, 5);
  EXPECT_FALSE(p->ask("again", Stop()));
  std::ifstream pids(name);
  pid_t parent = 0, child = 0;
  ASSERT_TRUE(pids >> parent >> child);
  auto gone = [](pid_t pid) {  // a child of a killed program is init's to bury
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text{std::istreambuf_iterator<char>(stat), {}};
    return text.empty() || text.find(") Z ") != text.npos;
  };
  for (int k = 0; k < 100 && !gone(child); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(kill(parent, 0), -1);  // no zombie either
  EXPECT_TRUE(gone(child));
  fs::remove(name);
}

TEST(Subprocess, OneThatDoesNotEndIsKilled) {
  double took = seconds_of([] {
    auto p = shell("trap '' TERM; sleep 100");
    ASSERT_TRUE(p);
  });
  EXPECT_LT(took, 10);
}

std::set<int> open_descriptors() {
  std::set<int> all;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd"))
    all.insert(std::stoi(entry.path().filename().string()));
  return all;
}

TEST(Subprocess, OtherProgramsDoNotHoldThePipes) {
  std::set<int> before = open_descriptors();
  auto p = shell("read line");
  ASSERT_TRUE(p);
  size_t ours = 0;
  for (int fd : open_descriptors()) {
    int flags = fcntl(fd, F_GETFD);
    if (before.count(fd) > 0 || flags < 0) continue;
    EXPECT_TRUE(flags & FD_CLOEXEC) << fd;
    ++ours;
  }
  EXPECT_EQ(ours, 2U);
}

TEST(Subprocess, IsNeverLookedUpInTheCurrentFolder) {
  std::string folder = (fs::temp_directory_path() / "regraft-path-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/planted") << "#!/bin/sh\nread line; echo planted\n";
  fs::permissions(folder + "/planted", fs::perms(0755));
  fs::path here = fs::current_path();
  std::string path = std::getenv("PATH");
  fs::current_path(folder);
  for (const char* search : {"", ".", ":/usr/bin", "/usr/bin::/bin", "relative:."}) {
    setenv("PATH", search, 1);
    EXPECT_FALSE(Subprocess::start({"planted"}, {})) << search;
  }
  setenv("PATH", folder.c_str(), 1);
  EXPECT_TRUE(Subprocess::start({"planted"}, {}));
  EXPECT_TRUE(Subprocess::start({"./planted"}, {}));  // a path is a path
  setenv("PATH", path.c_str(), 1);
  auto p = shell("read line; pwd");
  ASSERT_TRUE(p);
  EXPECT_EQ(*p->ask("", Stop()), "/");
  fs::current_path(here);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace regraft
