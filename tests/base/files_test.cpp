// Files appear whole or not at all, under every kind of path; text from them is fit for terminals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/files/gzip.h"
#include "base/files/journal.h"
#include "base/files/output_file.h"
#include "base/printable.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_plainly(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Gzip, GivesBackWhatItWasGivenOrAnError) {
  std::string text;
  for (int k = 0; k < 40'000; ++k) text += std::to_string(k * k) + (k % 7 ? " " : "\n");
  for (const std::string& given : {std::string(), std::string("a"), text}) {
    std::string packed = to_gzip(given);
    EXPECT_TRUE(is_gzip(packed));
    EXPECT_EQ(to_gzip(given), packed);
    auto unpacked = from_gzip(packed, given.size());
    ASSERT_TRUE(unpacked) << unpacked.error().message;
    EXPECT_EQ(*unpacked, given);
    EXPECT_FALSE(from_gzip(packed.substr(0, packed.size() - 1), given.size()));
    EXPECT_FALSE(from_gzip(packed + "x", given.size()));
    packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
    EXPECT_FALSE(from_gzip(packed, text.size()));
  }
  EXPECT_FALSE(from_gzip(to_gzip(text), text.size() - 1));
  EXPECT_FALSE(is_gzip(text));
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "regraft-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(Files, AppearWhenCommittedOnly) {
  write_plainly(path("a"), "old");
  {
    auto f = OutputFile::open(path("a"));
    ASSERT_TRUE(f) << f.error().message;
    ASSERT_TRUE(f->write("new "));
    EXPECT_EQ(read_all(path("a")), "old");
    EXPECT_EQ(entries(), 2U);
  }
  EXPECT_EQ(read_all(path("a")), "old");
  EXPECT_EQ(entries(), 1U);
  auto f = OutputFile::open(path("a"));
  ASSERT_TRUE(f && f->write("new ") && f->write("text") && f->commit());
  EXPECT_EQ(read_all(path("a")), "new text");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, KeepTheirMode) {
  write_plainly(path("a"), "old");
  for (fs::perms p : {fs::perms(0600), fs::perms(0640), fs::perms(0755)}) {
    fs::permissions(path("a"), p);
    ASSERT_TRUE(write_file(path("a"), "new"));
    EXPECT_EQ(fs::status(path("a")).permissions(), p);
  }
  mode_t mask = umask(027);
  ASSERT_TRUE(write_file(path("b"), "new"));
  umask(mask);
  EXPECT_EQ(fs::status(path("b")).permissions(), fs::perms(0640));
}

TEST_F(Files, LinksAreFollowed) {
  fs::create_directory(path("there"));
  write_plainly(path("there/a"), "old");
  fs::create_symlink("there/a", path("link"));
  fs::create_symlink(path("link"), path("link_to_link"));
  fs::create_symlink("there/b", path("to_nothing"));
  ASSERT_TRUE(write_file(path("link_to_link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link_to_link")) && fs::is_symlink(path("link")));
  EXPECT_EQ(read_all(path("there/a")), "new");
  ASSERT_TRUE(write_file(path("to_nothing"), "made"));
  EXPECT_TRUE(fs::is_symlink(path("to_nothing")));
  EXPECT_EQ(read_all(path("there/b")), "made");
}

TEST_F(Files, WhatIsNoRegularFileIsWrittenInPlace) {
  ASSERT_TRUE(write_file("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  fs::create_symlink("/dev/null", path("sink"));
  ASSERT_TRUE(write_file(path("sink"), "text"));
  EXPECT_TRUE(fs::is_symlink(path("sink")));
  EXPECT_FALSE(write_file("/dev/full", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_all(path("pipe")); });
  EXPECT_TRUE(write_file(path("pipe"), "text"));
  reader.join();
  EXPECT_EQ(received, "text");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(Files, WhatCannotBeWrittenIsSaidInOneLine) {
  fs::create_directory(path("folder"));
  for (const std::string& p : {path("folder"), path("none/x"), std::string(4000, 'x')}) {
    auto f = OutputFile::open(p);
    ASSERT_FALSE(f);
    EXPECT_EQ(f.error().message.find(p), 0U);
    EXPECT_EQ(f.error().message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, OneErrorOfManyLeavesAllAsTheyWere) {
  write_plainly(path("a"), "old");
  auto a = OutputFile::open(path("a")), full = OutputFile::open("/dev/full");
  ASSERT_TRUE(a && full && a->write("new"));
  EXPECT_FALSE(full->write("text") && commit_all({&*a, &*full}));
  EXPECT_EQ(read_all(path("a")), "old");
}

/// A name that a killed process could have left.
std::string abandoned_name(const std::string& of) {
  return "." + of + ".abcdefghijklmnop.regraft-tmp";
}

TEST_F(Files, WhatAKilledProcessLeftIsRemoved) {
  write_plainly(path(abandoned_name("a")), "half");
  write_plainly(path(abandoned_name("b")), "half of another");
  write_plainly(path(".a.regraft-tmp"), "not ours");
  ASSERT_TRUE(write_file(path("a"), "new"));
  EXPECT_FALSE(fs::exists(path(abandoned_name("a"))));
  EXPECT_TRUE(fs::exists(path(abandoned_name("b"))));
  EXPECT_TRUE(fs::exists(path(".a.regraft-tmp")));
}

TEST_F(Files, WhatAnotherProcessWritesIsLeftAlone) {
  write_plainly(path(abandoned_name("a")), "in use");
  int other = ::open(path(abandoned_name("a")).c_str(), O_RDWR);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  ASSERT_TRUE(write_file(path("a"), "new"));
  EXPECT_TRUE(fs::exists(path(abandoned_name("a"))));
  auto first = OutputFile::open(path("a")), second = OutputFile::open(path("a"));
  ASSERT_TRUE(first && second && first->write("1") && second->write("2"));
  EXPECT_TRUE(first->commit());
  EXPECT_TRUE(second->commit());
  EXPECT_EQ(read_all(path("a")), "2");
  ::close(other);
}

TEST_F(Files, NamesOfTemporaryFilesDiffer) {
  std::set<std::string> names;
  for (int k = 0; k < 20; ++k) {
    auto f = OutputFile::open(path("a"));
    ASSERT_TRUE(f);
    for (const auto& e : fs::directory_iterator(folder_)) names.insert(e.path().string());
  }
  EXPECT_EQ(names.size(), 20U);
}

TEST_F(Files, IdentityIsOfTheFileAndNotOfItsName) {
  write_plainly(path("a"), "text");
  fs::create_hard_link(path("a"), path("hard"));
  fs::create_symlink("a", path("soft"));
  fs::create_symlink("new", path("to_new"));
  fs::create_directory(path("sub"));
  EXPECT_EQ(identity_of(path("a")), identity_of(path("hard")));
  EXPECT_EQ(identity_of(path("a")), identity_of(path("soft")));
  EXPECT_EQ(identity_of(path("a")), identity_of(path("sub/../a")));
  EXPECT_EQ(identity_of(path("new")), identity_of(path("to_new")));
  EXPECT_EQ(identity_of(path("new")), identity_of(path("sub/../new")));
  EXPECT_NE(identity_of(path("new")), identity_of(path("sub/new")));
  EXPECT_NE(identity_of(path("a")), identity_of(path("new")));
  EXPECT_FALSE(identity_of(path("none/x")));
  EXPECT_FALSE(identity_of("/dev/null")->regular);
}

TEST_F(Files, JournalsHoldWholeLines) {
  {
    auto j = Journal::open(path("j"), "first\n");
    ASSERT_TRUE(j && j->add("second") && j->add(""));
  }
  EXPECT_EQ(read_all(path("j")), "first\nsecond\n\n");
  auto full = Journal::open("/dev/full", "");
  ASSERT_TRUE(full);
  EXPECT_FALSE(full->add("x"));
  EXPECT_TRUE(Journal().add("x"));
}

TEST(Printable, EscapesWhatActsOnTerminals) {
  EXPECT_EQ(printable("plain text, \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "plain text, \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // a control sequence in one character
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right to left
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(printable("\xc0\xaf\xe0\x80\xaf"), "\\xc0\\xaf\\xe0\\x80\\xaf");  // overlong
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, LongTextsLoseTheirMiddle) {
  EXPECT_EQ(one_line("short\n"), "short\\n");
  std::string line = one_line("begin" + std::string(100000, 'x') + "end");
  EXPECT_LT(line.size(), 5000u);
  EXPECT_TRUE(line.starts_with("begin") && line.ends_with("end"));
}

}  // namespace
}  // namespace regraft
