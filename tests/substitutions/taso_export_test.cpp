// Our rules in TASO's format and back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ir/rule/text.h"
#include "substitutions/taso.h"

namespace regraft::substitutions {
namespace {

Rule parsed(const std::string& line) {
  auto r = parse_rule(line);
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  return *r;
}

class TasoExport : public testing::Test {
 protected:
  TasoRules back(const TasoBytes& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes.data;
    auto r = read_taso(path_);
    EXPECT_TRUE(r) << (r ? "" : r.error().message);
    return *r;
  }
  /// The one rule read back, as text without its name; or why it was left out.
  std::string round_trip(const std::string& line) {
    std::vector<Rule> rules{parsed(line)};
    TasoBytes bytes = to_taso(rules);
    if (bytes.names.empty()) return bytes.left_out.at(0);
    std::string s = to_string(back(bytes).file.rules.at(0));
    return s.substr(s.find("  ") + 2);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ = testing::TempDir() + "taso_export_" + std::to_string(getpid()) + ".pb";
};

TEST_F(TasoExport, RulesComeBackUpToNames) {
  EXPECT_EQ(round_trip("r (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c)) "
                       "for a:nn b:nn c:nn proved:all-sizes"),
            "(matmul (matmul ?v1 ?v2) ?v3) => (matmul ?v1 (matmul ?v2 ?v3))  for v1:nn v2:nn v3:nn"
            "  origin:taso");
  EXPECT_EQ(round_trip("r (conv ?x ?w strides=2,2 pads=1,1,1,1) => (conv ?x ?w strides=2,2 "
                       "pads=1,1,1,1) where w.2=3,w.3=3 for x:nnnn w:nnnn"),
            "(conv ?v7 ?v10 strides=2,2 pads=1,1,1,1) => (conv ?v7 ?v10 strides=2,2 pads=1,1,1,1)"
            "  where v10.2=3,v10.3=3  for v7:nnnn v10:nnnn  origin:taso");
  EXPECT_EQ(round_trip("r (transpose (relu ?x) perm=0,2,1,3) => (relu (transpose ?x "
                       "perm=0,2,1,3)) for x:nn | x:nnnn"),
            "(transpose (relu ?v7) perm=0,2,1,3) => (relu (transpose ?v7 perm=0,2,1,3))  for "
            "v7:nnnn  origin:taso");
  EXPECT_EQ(round_trip("r (matmul ?x ?v) ; (matmul ?x ?w) => (split (matmul ?x (concat ?v ?w "
                       "axis=-1)) axis=-1 sizes=v.-1,w.-1) ; (split (matmul ?x (concat ?v ?w "
                       "axis=-1)) axis=-1 sizes=v.-1,w.-1)#1 for x:nn v:nn w:nn"),
            "(matmul ?v1 ?v2) ; (matmul ?v1 ?v3) => (split (matmul ?v1 (concat ?v2 ?v3 axis=1)) "
            "axis=1 sizes=v2.1,v3.1) ; (split (matmul ?v1 (concat ?v2 ?v3 axis=1)) axis=1 "
            "sizes=v2.1,v3.1)#1  for v1:nn v2:nn v3:nn  origin:taso");
}

TEST_F(TasoExport, ConditionsThatTasoChecksComeBack) {
  std::string s = round_trip(
      "r (add (concat ?a ?b axis=1) (concat ?c ?d axis=1)) => (concat (add ?a ?c) (add ?b ?d) "
      "axis=1) where a.1=c.1 for a:nn b:nn c:nn d:nn");
  EXPECT_TRUE(s.find("where v1.1=v3.1 ") != s.npos || s.find("where v2.1=v4.1 ") != s.npos) << s;
}

TEST_F(TasoExport, WhatTheFormatCannotSayIsLeftOutWithTheReason) {
  auto expect_reason = [&](const std::string& line, const std::string& why) {
    std::string s = round_trip(line);
    EXPECT_EQ(s.find("r: "), 0u) << s;
    EXPECT_NE(s.find(why), std::string::npos) << s;
  };
  expect_reason("r (neg (neg ?x)) => (relu ?x) for x:nn", "the format has no neg");
  expect_reason("r (relu ?x) => ?x for x:nn", "bare variable");
  expect_reason("r (conv ?x ?w strides=?s) => (conv ?x ?w strides=?s) for x:nnnn w:nn11",
                "strides is left open");
  expect_reason("r (conv ?x ?w) => (conv ?x ?w) for x:nnnn w:nnnn", "extents are left open");
  expect_reason(
      "r (conv ?x ?w pads=0,1,0,1) => (conv ?x ?w pads=0,1,0,1) where w.2=3,w.3=3 "
      "for x:nnnn w:nnnn",
      "neither SAME nor VALID");
  expect_reason("r (conv ?x ?w group=2) => (conv ?x ?w group=2) for x:nnnn w:nn11", "otherwise");
  expect_reason("r (matmul ?a ?b) => (matmul ?a ?b) where a.0=b.1 for a:nn b:nn",
                "a condition that TASO does not check");
  expect_reason("r (matmul ?a ?b) => (matmul ?a ?b) where a.0<=1,b.1<=1 for a:nn b:nn",
                "a condition that TASO does not check");
  expect_reason("r (matmul ?a ?b) => (matmul ?a ?b) where a.0<=a.1 for a:nn b:nn",
                "a condition that TASO does not check");
  expect_reason(
      "r (matmul ?a (transpose ?b perm=1,0)) => (matmul ?b (transpose ?a perm=1,0)) for a:1n b:1n",
      "a condition that TASO does not check");
  expect_reason("r (add ?a ?b) => (add ?b ?a) for a:nn b:n1",
                "a condition that TASO does not check");
  expect_reason("r (relu ?a) => (relu ?a) for a:nnn", "rank 3");
  expect_reason("r (relu ?a) => (relu ?a)", "it says no shapes");
}

/// Reading what was written and writing it again gives the same bytes, for all shipped rules.
TEST_F(TasoExport, ShippedRulesAreAFixedPoint) {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  std::vector<Rule> rules;
  for (const char* name : {"core", "extended", "hand"}) {
    auto file =
        read_candidates(std::string(root ? root : ".") + "/substitutions/" + name + ".rules");
    ASSERT_TRUE(file) << file.error().message;
    rules.insert(rules.end(), file->rules.begin(), file->rules.end());
  }
  TasoBytes first = to_taso(rules);
  EXPECT_GE(first.names.size(), 60u);
  TasoRules read = back(first);
  EXPECT_TRUE(read.skipped.empty());
  ASSERT_EQ(read.file.rules.size(), first.names.size());
  TasoBytes second = to_taso(read.file.rules);
  EXPECT_TRUE(second.left_out.empty());
  EXPECT_EQ(second.data, first.data);
}

}  // namespace
}  // namespace regraft::substitutions
