#include <gtest/gtest.h>

#include <unistd.h>
#include <csignal>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "base/digest.h"
#include "base/files/input_file.h"
#include "base/hash.h"
#include "base/nesting.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/rng.h"

namespace regraft {
namespace {

Result<int> half(int x) {
  if (x % 2) return error("odd");
  return x / 2;
}
Result<int> quarter(int x) {
  ASSIGN_OR_RETURN(int h, half(x));
  return half(h);
}
Status require_even(int x) { return x % 2 ? Status(error("odd")) : Status(); }
Status require_all_even(const std::vector<int>& v) {
  for (int x : v) RETURN_IF_ERROR(require_even(x));
  return {};
}

TEST(Result, CarriesAValueOrAnError) {
  ASSERT_TRUE(quarter(12));
  EXPECT_EQ(*quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_FALSE(quarter(7));
  EXPECT_TRUE(require_all_even({2, 4}));
  EXPECT_EQ(require_all_even({2, 3}).error().message, "odd");
}

TEST(Result, HoldsMoveOnlyValues) {
  auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  auto take = [&]() -> Result<int> {
    ASSIGN_OR_RETURN(std::unique_ptr<int> p, make());
    return *p;
  };
  EXPECT_EQ(*take(), 5);
}

std::string sha256(std::string_view text) {
  return hex(Sha256().bytes(std::as_bytes(std::span(text))).finish());
}

TEST(Digest, IsSha256) {  // examples of FIPS 180-4
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  Sha256 pieces;
  for (int k = 0; k < 1000; ++k) pieces.bytes(std::as_bytes(std::span("a", 1)));
  EXPECT_EQ(hex(pieces.finish()), sha256(std::string(1000, 'a')));
}

TEST(Digest, TellsSequencesApart) {
  auto of = [](std::string_view a, std::string_view b) {
    return Sha256().text(a).text(b).finish();
  };
  EXPECT_EQ(of("ab", "c"), of("ab", "c"));
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("", "abc"), of("abc", ""));
  EXPECT_NE(Sha256().number(1).number(256).finish(), Sha256().number(256).number(1).finish());
}

TEST(Hash, MixesEveryBit) {
  for (int bit = 0; bit < 64; ++bit) {
    int changed = std::popcount(mix(12345) ^ mix(12345 ^ (uint64_t{1} << bit)));
    EXPECT_GT(changed, 10) << bit;
    EXPECT_LT(changed, 54) << bit;
  }
  EXPECT_NE(combine(1, 2), combine(2, 1));
  EXPECT_NE(hash_text("a"), hash_text(std::string_view("a\0", 2)));
}

TEST(Rng, IsSeededAndInRange) {
  Rng a(7), b(7), c(8);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
  std::vector<int> counts(5, 0);
  for (int i = 0; i < 5000; ++i) {
    int64_t x = a.between(-2, 2);
    ASSERT_GE(x, -2);
    ASSERT_LE(x, 2);
    ++counts[static_cast<size_t>(x + 2)];
    double u = a.unit();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
  }
  for (int n : counts) EXPECT_NEAR(n, 1000, 150);
}

TEST(Parallel, RunsEachIndexOnce) {
  for (int threads : {1, 2, 4})
    for (size_t n : {size_t{0}, size_t{1}, size_t{1000}})
      for (size_t grain : {size_t{1}, size_t{64}}) {
        std::vector<std::atomic<int>> hits(n);
        parallel_for(
            n, threads, [&](size_t i) { ++hits[i]; }, grain);
        for (size_t i = 0; i < n; ++i) ASSERT_EQ(hits[i], 1) << i;
      }
  EXPECT_GE(default_threads(), 1);
}

TEST(Stop, WithinAnotherEndsWithTheEarlier) {
  Stop hour(3600), never(0);
  EXPECT_TRUE(std::isinf(Stop::within(never, 0).seconds_left()));
  EXPECT_LE(Stop::within(never, 10).seconds_left(), 10);
  EXPECT_LE(Stop::within(hour, 10).seconds_left(), 10);
  EXPECT_LE(Stop::within(hour, 7200).seconds_left(), 3600);
  EXPECT_GT(Stop::within(hour, 0).seconds_left(), 3000);
  const Stop inner = Stop::within(never, 10);
  EXPECT_FALSE(inner.must_end());
  never.request();
  EXPECT_TRUE(inner.requested());
}

TEST(Stop, IsRequestedOrOutOfTime) {
  Stop never(0);
  EXPECT_FALSE(never.requested());
  EXPECT_FALSE(never.out_of_time());
  EXPECT_FALSE(never.must_end());
  never.request();
  EXPECT_TRUE(never.requested());
  EXPECT_TRUE(never.must_end());
  Stop soon(1e-6);
  while (!soon.out_of_time()) {
  }
  EXPECT_FALSE(soon.requested());  // nobody asked
  EXPECT_TRUE(soon.must_end());
}

TEST(Progress, CountsFromSeveralThreads) {
  Progress progress("test", "steps", 100, Verbosity::Quiet);
  parallel_for(100, 4, [&](size_t) { progress.add(); });
  EXPECT_EQ(progress.done(), 100u);
}

TEST(Nesting, CountsBracketsOutsideOfTexts) {
  EXPECT_FALSE(nested_too_deep(""));
  EXPECT_FALSE(nested_too_deep("[[[{\"a\":[]}]]]"));
  EXPECT_FALSE(nested_too_deep(std::string(64, '[') + std::string(64, ']') + std::string(64, '[')));
  EXPECT_TRUE(nested_too_deep(std::string(65, '[')));
  EXPECT_TRUE(nested_too_deep(std::string(1000000, '{')));
  EXPECT_FALSE(nested_too_deep('"' + std::string(1000, '[') + '"'));
  EXPECT_FALSE(nested_too_deep("\"\\\"" + std::string(1000, '[') + '"'));
  EXPECT_TRUE(nested_too_deep("\"\\\\\"" + std::string(1000, '[')));
}

TEST(InputFile, ReadsAllOrRefuses) {
  std::string path = testing::TempDir() + "input_file_" + std::to_string(getpid());
  std::ofstream(path) << std::string(3000000, 'x');
  EXPECT_EQ(read_file(path, 3000000)->size(), 3000000u);
  EXPECT_NE(read_file(path, 2999999).error().message.find("larger"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_EQ(read_file(path, 10).error().message, path + ": cannot be read");
  EXPECT_EQ(read_file(testing::TempDir(), 10).error().message,
            testing::TempDir() + ": cannot be read");
}

/// Code that oneDNN generates keeps other things where the stack pointer points.
TEST(Interrupt, IsHandledOnAStackOfItsOwn) {
  struct sigaction before {
  }, now{};
  sigaction(SIGTERM, nullptr, &before);
  install_interrupt_handler();
  stack_t stack{};
  sigaction(SIGTERM, nullptr, &now);
  sigaltstack(nullptr, &stack);
  EXPECT_TRUE(now.sa_flags & SA_ONSTACK);
  EXPECT_FALSE(stack.ss_flags & SS_DISABLE);
  for (int s : {SIGINT, SIGTERM, SIGHUP}) sigaction(s, &before, nullptr);
}

}  // namespace
}  // namespace regraft
