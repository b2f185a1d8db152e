// What holds inside another program, and files in memory.
#include "base/host.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/files/memory_file.h"
#include "base/files/output_file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/resources.h"
#include "base/interrupts.h"

namespace regraft {
namespace {

TEST(Host, AFailedCheckIsThrown) {
  Hosted host(stdout, stderr);
  try {
    CHECK(1 == 2);
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_NE(e.message.find("1 == 2 is false at "), std::string::npos) << e.message;
  }
}

TEST(Host, AFailedCheckEndsOurOwnProcess) {
  EXPECT_EXIT(CHECK(1 == 2), testing::ExitedWithCode(4), "internal error: 1 == 2 is false at ");
}

TEST(Host, StreamsAreItsOwn) {
  EXPECT_EQ(results(), stdout);
  {
    Hosted host(stderr, stdout);
    EXPECT_EQ(results(), stderr);
    EXPECT_EQ(messages(), stdout);
  }
  EXPECT_EQ(messages(), stderr);
}

TEST(Host, NoLimitIsSet) {
  rlimit before{}, after{};
  getrlimit(RLIMIT_DATA, &before);
  Hosted host(stdout, stderr);
  limit_memory(1 << 30);
  getrlimit(RLIMIT_DATA, &after);
  EXPECT_EQ(before.rlim_cur, after.rlim_cur);
}

TEST(Host, StandardOutputIsNotOurs) {
  Hosted host(stdout, stderr);
  EXPECT_FALSE(OutputFile::open("-"));
}

TEST(Host, InterruptionsEndWithIt) {
  {
    Hosted host(stdout, stderr);
    EXPECT_FALSE(Stop().must_end());
    request_interrupt();
    EXPECT_TRUE(Stop().must_end());
  }
  Hosted host(stdout, stderr);
  EXPECT_FALSE(Stop::was_interrupted());
}

TEST(Host, ProgressIsToldHoweverQuiet) {
  Hosted host(stdout, stderr);
  Progress progress("verify", "rules", 10, Verbosity::Quiet);
  progress.add(3);
  ProgressNow now = progress_now();
  EXPECT_EQ(now.label, "verify");
  EXPECT_EQ(now.unit, "rules");
  EXPECT_EQ(now.done, 3U);
  EXPECT_EQ(now.total, 10U);
}

TEST(Uninterrupted, HoldsForTheThreadsThatHelp) {
  Hosted host(stdout, stderr);
  request_interrupt();
  std::atomic<int> stopped{0};
  auto look = [&](size_t) { stopped += Stop::interrupted(); };
  parallel_for(1000, 4, look);
  EXPECT_EQ(stopped, 1000);
  stopped = 0;
  {
    Uninterrupted work;
    parallel_for(1000, 4, look);
  }
  EXPECT_EQ(stopped, 0);
  parallel_for(1000, 4, look);
  EXPECT_EQ(stopped, 1000);
}

std::string text_at(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(MemoryFile, IsReadAndWrittenByItsPath) {
  auto file = MemoryFile::make();
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("input"));
  EXPECT_EQ(text_at(file->path()), "input");
  auto output = OutputFile::open(file->path());
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_TRUE(output->in_place());
  ASSERT_TRUE(output->write("out"));
  ASSERT_TRUE(output->commit());
  EXPECT_EQ(*file->bytes(), "out");
}

TEST(MemoryFile, IsWrittenThroughALink) {
  auto file = MemoryFile::make();
  ASSERT_TRUE(file);
  std::string link = testing::TempDir() + "/regraft-link-" + std::to_string(getpid());
  std::filesystem::create_symlink(file->path(), link);
  ASSERT_TRUE(write_file(link, "text"));
  EXPECT_EQ(*file->bytes(), "text");
  std::filesystem::remove(link);
}

TEST(MemoryFile, MayBeEmptyAndMoves) {
  auto made = MemoryFile::make();
  ASSERT_TRUE(made);
  MemoryFile file = *std::move(made);
  EXPECT_EQ(*file.bytes(), "");
  std::string path = file.path();
  file = *MemoryFile::make();
  EXPECT_NE(file.path(), "");
  ASSERT_TRUE(file.write("second"));
  EXPECT_EQ(*file.bytes(), "second");
}

}  // namespace
}  // namespace regraft
