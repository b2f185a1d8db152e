// Storage, leases, tasks and their results, workers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files/bytes.h"
#include "fleet/fleet.h"

namespace regraft::fleet {
namespace {

namespace fs = std::filesystem;

class FleetTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "regraft-fleet-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::unique_ptr<TaskStore> store(const std::string& program = "p", double lease = 30) {
    auto opened = TaskStore::open(folder_ + "/store", {program, lease}, TaskStore::Missing::Make);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  std::string folder_;
};

const Perform kDouble = [](const Task& t, const Stop&) -> Result<std::string> {
  return t.input + t.input;
};

std::vector<Task> some_tasks(int count) {
  std::vector<Task> tasks;
  for (int k = 0; k < count; ++k) tasks.push_back({"double", std::to_string(k)});
  return tasks;
}

void overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path only_file(const fs::path& below) {
  for (const auto& entry : fs::recursive_directory_iterator(below))
    if (entry.is_regular_file()) return entry.path();
  return {};
}

TEST(Bytes, WhatIsWrittenIsRead) {
  std::string bytes = ByteWriter()
                          .number<int64_t>(-3)
                          .text(std::string("a\0b", 3))
                          .numbers(std::vector<float>{1.5F, 2})
                          .finish();
  ByteReader in(bytes);
  EXPECT_EQ(in.number<int64_t>(), -3);
  EXPECT_EQ(in.text(), std::string_view("a\0b", 3));
  EXPECT_EQ(in.numbers<float>(), (std::vector<float>{1.5F, 2}));
  EXPECT_TRUE(in.at_end());
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    (void)part.number<int64_t>();
    (void)part.text();
    (void)part.numbers<float>();
    EXPECT_FALSE(part.at_end()) << cut;
  }
  ByteReader huge(std::string_view("\xff\xff\xff\xff\xff\xff\xff\x7f", 8));
  EXPECT_TRUE(huge.numbers<uint64_t>().empty());
  EXPECT_FALSE(huge.fits());
}

TEST_F(FleetTest, AValueIsPutOnceOrReplaced) {
  auto s = Storage::make(folder_ + "/s");
  ASSERT_TRUE(s);
  EXPECT_TRUE(*s->put_if_absent("a/b", "1"));
  EXPECT_FALSE(*s->put_if_absent("a/b", "2"));
  EXPECT_EQ(**s->get("a/b"), "1");
  ASSERT_TRUE(s->put("a/b", "3"));
  EXPECT_FALSE(*s->remove_if("a/b", "1"));
  EXPECT_EQ(**s->get("a/b"), "3");
  EXPECT_TRUE(*s->remove_if("a/b", "3"));
  EXPECT_FALSE(s->get("a/b")->has_value());
  EXPECT_TRUE(s->list("nowhere")->empty());
  EXPECT_TRUE(s->list("tmp")->empty()) << "nothing is left on its way";
}

TEST_F(FleetTest, OfManyThatPutOneWins) {
  auto s = Storage::make(folder_ + "/s");
  std::atomic<int> winners{0};
  std::vector<std::thread> all;
  for (int k = 0; k < 8; ++k)
    all.emplace_back([&] { winners += *s->put_if_absent("x", std::to_string(k)); });
  for (auto& t : all) t.join();
  EXPECT_EQ(winners, 1);
}

TEST_F(FleetTest, ALeaseIsHeldRenewedAndGivenBack) {
  auto s = Storage::make(folder_ + "/s");
  auto lease = Lease::take(*s, "l", 0.4);
  ASSERT_TRUE(*lease);
  EXPECT_EQ(Lease::take(*s, "l", 0.4).value(), nullptr);
  LeaseWatch watch;
  for (int k = 0; k < 10; ++k) {
    EXPECT_FALSE(watch.expired(*s, "l"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  lease->reset();
  EXPECT_FALSE(s->has("l"));
}

TEST_F(FleetTest, ASilentOwnerOfAnotherMachineLosesItsLease) {
  auto s = Storage::make(folder_ + "/s");
  ASSERT_TRUE(s->put("l", "elsewhere:1:2 0.3 7"));
  LeaseWatch watch;
  EXPECT_FALSE(watch.expired(*s, "l"));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  ASSERT_TRUE(s->put("l", "elsewhere:1:2 0.3 8"));
  EXPECT_FALSE(watch.expired(*s, "l")) << "it has been renewed";
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(watch.expired(*s, "l"), "elsewhere:1:2 0.3 8");
}

TEST_F(FleetTest, AnOwnerOfThisMachineIsGoneAtOnceWhenItIs) {
  EXPECT_FALSE(is_gone(own_name()));
  EXPECT_FALSE(is_gone("elsewhere:1:2"));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t child = ::fork();
  if (child == 0) {
    std::string name = own_name();
    (void)!::write(ends[1], name.data(), name.size());
    ::_exit(0);
  }
  char name[400];
  ssize_t size = ::read(ends[0], name, sizeof name);
  ASSERT_GT(size, 0);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_gone(std::string(name, static_cast<size_t>(size))));
}

TEST_F(FleetTest, AStoreBelongsToOneProgram) {
  store("one");
  auto other = TaskStore::open(folder_ + "/store", {"two", 1}, TaskStore::Missing::Make);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another version"), std::string::npos);
  EXPECT_FALSE(TaskStore::open(folder_, {"one", 1}, TaskStore::Missing::Refuse));
  EXPECT_FALSE(TaskStore::open(folder_ + "/none", {"one", 1}, TaskStore::Missing::Refuse));
}

TEST_F(FleetTest, NamesCoverAllThatAResultDependsOn) {
  auto one = store("one");
  std::set<std::string> names = {one->name_of({"a", "bc"}), one->name_of({"ab", "c"}),
                                 one->name_of({"a", "bd"})};
  EXPECT_EQ(names.size(), 3);
}

TEST_F(FleetTest, ACutOffResultIsMissingAndAnAlteredOneAnError) {
  auto s = store();
  std::string name = s->name_of({"double", "1"});
  ASSERT_TRUE(s->put_result(name, "eleven"));
  EXPECT_EQ(**s->result(name), "eleven");
  fs::path file = only_file(folder_ + "/store/results");
  const std::string whole = bytes_of(file);
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    overwrite(file, whole.substr(0, cut));
    auto r = s->result(name);
    ASSERT_TRUE(r) << cut;
    EXPECT_FALSE(r->has_value()) << cut;
  }
  for (size_t k = 0; k < whole.size(); ++k) {
    std::string other = whole;
    other[k] = static_cast<char>(other[k] ^ 1);
    overwrite(file, other);
    auto r = s->result(name);
    EXPECT_FALSE(r && r->has_value()) << "byte " << k;
  }
}

TEST_F(FleetTest, OneProcessDoesAllItself) {
  auto s = store();
  auto fleet = Fleet::begin(*s, {0, {}, kDouble, Verbosity::Quiet});
  ASSERT_TRUE(fleet);
  auto results = (*fleet)->run("test", some_tasks(20), 3, Stop());
  ASSERT_TRUE(results) << results.error().message;
  for (int k = 0; k < 20; ++k)
    EXPECT_EQ((*results)[static_cast<size_t>(k)], std::to_string(k) + std::to_string(k));
  EXPECT_EQ((*fleet)->counts().known, 0);
  EXPECT_TRUE(s->offered()->empty());
  ASSERT_TRUE((*fleet)->run("again", some_tasks(20), 3, Stop()));
  EXPECT_EQ((*fleet)->counts().known, 20);
}

// Neighbours take alike long: one worker does not get them all.
TEST_F(FleetTest, NeighboursAreInDifferentBundles) {
  auto s = store();
  std::vector<int> done;
  Perform noted = [&](const Task& t, const Stop&) -> Result<std::string> {
    done.push_back(std::stoi(t.input));
    return t.input;
  };
  auto fleet = Fleet::begin(*s, {0, {}, noted, Verbosity::Quiet});
  ASSERT_TRUE((*fleet)->run("test", some_tasks(8), 2, Stop()));
  ASSERT_EQ(done.size(), 8u);
  for (size_t k = 0; k < done.size(); k += 2) EXPECT_EQ(done[k + 1], done[k] + 4);
  EXPECT_EQ((*fleet)->counts().bundles, 4u);
}

TEST_F(FleetTest, SeveralWorkersAndAClaimThatNobodyRenews) {
  auto s = store("p", 0.3);
  std::vector<Task> tasks = some_tasks(40);
  auto stale = s->offer(std::span(tasks).first(2));  // as Fleet does it below
  ASSERT_TRUE(s->storage().put("leases/" + *stale, "elsewhere:1:2 0.2 1"));
  std::vector<std::thread> workers;
  std::atomic<uint64_t> done{0};
  for (int k = 0; k < 3; ++k)
    workers.emplace_back([&] {
      auto mine = store("p", 0.3);
      auto counts = work(*mine, kDouble, 5, Stop());
      ASSERT_TRUE(counts) << counts.error().message;
      done += counts->tasks;
    });
  {
    auto fleet = Fleet::begin(*s, {0, {}, kDouble, Verbosity::Quiet});
    auto results = (*fleet)->run("test", tasks, 2, Stop());
    ASSERT_TRUE(results) << results.error().message;
    EXPECT_EQ(results->at(1), "11");
    EXPECT_EQ(results->at(39), "3939");
  }
  for (auto& w : workers) w.join();
  EXPECT_TRUE(s->offered()->empty());
  EXPECT_FALSE(s->is_running());
}

TEST_F(FleetTest, TwoWorkersAtOneTaskGiveOneResult) {
  auto s = store();
  std::vector<Task> tasks = some_tasks(1);
  ASSERT_TRUE(s->offer(tasks));
  auto first = s->claim();
  ASSERT_TRUE(*first);
  ASSERT_TRUE(s->storage().remove("leases/" + (*first)->bundle));  // taken for silent
  auto other = store();
  auto second = other->claim();
  ASSERT_TRUE(*second);
  std::string name = s->name_of(tasks[0]);
  ASSERT_TRUE(s->put_result(name, "00"));
  ASSERT_TRUE(s->finish(**first));
  ASSERT_TRUE(other->put_result(name, "00"));
  ASSERT_TRUE(other->finish(**second));
  EXPECT_EQ(**s->result(name), "00");
}

TEST_F(FleetTest, AnAlteredBundleIsNamed) {
  auto s = store();
  ASSERT_TRUE(s->offer(some_tasks(1)));
  fs::path file = only_file(folder_ + "/store/open");
  overwrite(file, bytes_of(file) + "x");
  auto claimed = s->claim();
  ASSERT_FALSE(claimed);
  EXPECT_NE(claimed.error().message.find(file.string()), std::string::npos);
}

TEST_F(FleetTest, AFailedTaskIsLeftToOthers) {
  auto s = store();
  ASSERT_TRUE(s->offer(some_tasks(2)));
  WorkCounts counts;
  Perform fails = [](const Task&, const Stop&) -> Result<std::string> { return error("no"); };
  EXPECT_FALSE(work_once(*s, fails, Stop(), counts));
  auto again = work_once(*s, kDouble, Stop(), counts);
  ASSERT_TRUE(again);
  EXPECT_TRUE(*again);
  EXPECT_EQ(counts.tasks, 2);
}

TEST_F(FleetTest, WorkersThatEndInVainAreAnError) {
  auto s = store();
  auto fleet = Fleet::begin(*s, {2, {"/bin/false"}, kDouble, Verbosity::Quiet});
  ASSERT_TRUE(fleet);
  auto results = (*fleet)->run("test", some_tasks(1), 1, Stop());
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message.find("end without a result"), std::string::npos);
}

}  // namespace
}  // namespace regraft::fleet
