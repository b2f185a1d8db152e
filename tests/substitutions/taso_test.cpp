// TASO's file of substitutions: every construct of it, and files that are no such file.
#include "substitutions/taso.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "ir/rule/text.h"

namespace regraft::substitutions {
namespace {

// --- a writer of the format ---

std::string varint(int64_t value) {
  auto n = static_cast<uint64_t>(value);
  std::string s;
  for (; n >= 0x80; n >>= 7) s += static_cast<char>(n | 0x80);
  return s + static_cast<char>(n);
}
std::string number(int field, int64_t value) { return varint(field << 3) + varint(value); }
std::string bytes(int field, const std::string& content) {
  return varint(field << 3 | 2) + varint(static_cast<int64_t>(content.size())) + content;
}
struct Input {
  int op, output;
};
std::string op(int type, std::vector<Input> inputs,
               std::vector<std::pair<int, int>> parameters = {}) {
  std::string s = number(1, type);
  for (Input i : inputs) s += bytes(2, number(1, i.op) + number(2, i.output));
  for (auto [key, value] : parameters) s += bytes(3, number(1, key) + number(2, value));
  return s;
}
std::string side(int field, const std::vector<std::string>& ops) {
  std::string s;
  for (const std::string& o : ops) s += bytes(field, o);
  return s;
}
/// Outputs of the last operators of both sides are the same.
std::string rule(const std::vector<std::string>& source, const std::vector<std::string>& target,
                 std::vector<std::pair<Input, Input>> outputs) {
  std::string s = side(1, source) + side(2, target);
  for (auto [a, b] : outputs)
    s += bytes(3, number(1, a.op) + number(2, b.op) + number(3, a.output) + number(4, b.output));
  return bytes(1, s);
}

class TasoFile : public testing::Test {
 protected:
  Result<TasoRules> read(const std::string& data) {
    std::ofstream(path_, std::ios::binary) << data;
    return read_taso(path_);
  }
  /// The text of the only rule, or why it was left out.
  std::string text(const std::string& data) {
    auto r = read(data);
    if (!r) return r.error().message;
    return r->file.rules.empty() ? r->skipped.at(0).reason : to_string(r->file.rules.at(0));
  }
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ =  // tests run side by side
      testing::TempDir() + "taso_test_" + std::to_string(getpid()) + ".pb";
};

std::vector<std::pair<int, int>> window(int h, int w, int padding, int activation, int stride = 1) {
  return {{4, h}, {5, w}, {6, stride}, {7, stride}, {8, padding}, {9, activation}};
}
std::vector<std::pair<int, int>> joined(int axis, int rank) {
  return {{1, 2}, {11, axis}, {10, rank}};
}
const std::vector<std::pair<Input, Input>> kLast = {{{1, 0}, {0, 0}}};

/// What is left out does not move the others.
TEST_F(TasoFile, PlacesAreThoseOfTheFile) {
  const std::string known = rule({op(8, {{-1, 0}})}, {op(8, {{-1, 0}})}, {{{0, 0}, {0, 0}}});
  const std::string foreign = rule({op(99, {{-1, 0}})}, {op(8, {{-1, 0}})}, {{{0, 0}, {0, 0}}});
  std::ofstream(path_, std::ios::binary) << foreign + known + foreign + known;
  auto r = read_taso_cases(path_);
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->cases.size(), 2u);
  EXPECT_EQ(r->cases[0].index, 1u);
  EXPECT_EQ(r->cases[0].rule.name, "taso.001");
  EXPECT_EQ(r->cases[1].index, 3u);
  ASSERT_EQ(r->skipped.size(), 2u);
  EXPECT_EQ(r->skipped[0].index, 0u);
  EXPECT_EQ(r->skipped[1].index, 2u);
  EXPECT_EQ(r->skipped[1].name, "taso.002");
  EXPECT_FALSE(r->skipped[1].reason.empty());
}

TEST_F(TasoFile, FusedActivationsAndPadding) {
  EXPECT_EQ(text(rule({op(3, {{-7, 0}, {-10, 0}}, window(3, 3, 0, 0)), op(8, {{0, 0}})},
                      {op(3, {{-7, 0}, {-10, 0}}, window(3, 3, 0, 2))}, kLast)),
            "taso.000  (relu (conv ?v7 ?v10 strides=1,1 pads=1,1,1,1)) => "
            "(relu (conv ?v7 ?v10 strides=1,1 pads=1,1,1,1))  where v10.2=3,v10.3=3  for "
            "v7:nnnn v10:nnnn  origin:taso");
  EXPECT_EQ(
      text(rule({op(3, {{-7, 0}, {-13, 0}}, window(1, 3, 1, 0, 2)), op(8, {{0, 0}})},
                {op(7, {{-7, 0}}, window(1, 3, 0, 0))}, kLast)),
      "taso.000  (relu (conv ?v7 ?v13 strides=2,2)) => (avgpool ?v7 kernel=1,3 strides=1,1 "
      "pads=0,1,0,1 include_pad=1)  where v13.2=1,v13.3=3  for v7:nnnn v13:nnnn  origin:taso");
}

TEST_F(TasoFile, SplitsUndoTheLastConcatenation) {
  std::string s =
      text(rule({op(12, {{-1, 0}, {-2, 0}}, joined(1, 2)), op(12, {{0, 0}, {-3, 0}}, joined(1, 2)),
                 op(13, {{1, 0}}, {{2, 2}, {11, 1}})},
                {op(12, {{-1, 0}, {-2, 0}}, joined(1, 2)), op(8, {{-3, 0}})},
                {{{2, 0}, {0, 0}}, {{2, 1}, {1, 0}}}));
  EXPECT_NE(s.find("axis=1 sizes=v1.1+v2.1,v3.1)#1 => (concat ?v1 ?v2 axis=1) ; (relu ?v3)"),
            std::string::npos)
      << s;
  // where there is none on the axis, the place is free, but bound on the left side
  const std::string free = op(13, {{-1, 0}}, {{2, 2}, {11, 0}});
  s = text(
      rule({free, op(16, {{0, 0}, {0, 1}})}, {free, op(16, {{0, 1}, {0, 0}})}, {{{1, 0}, {1, 0}}}));
  EXPECT_NE(s.find("(split ?v1 axis=0 sizes=?s0,?t0)"), std::string::npos) << s;
  s = text(rule({op(8, {{-1, 0}})}, {free}, {{{0, 0}, {0, 0}}}));
  EXPECT_NE(s.find("not bound on the left side"), std::string::npos) << s;
}

TEST_F(TasoFile, ConstantsHaveTheSizesThatTheTermsAroundThemSay) {
  const auto has = [&](const std::string& rule, const std::string& part) {
    std::string s = text(rule);
    EXPECT_NE(s.find(part), std::string::npos) << s;
  };
  // on the left side, and on the right side alone
  has(rule({op(22, {}), op(18, {{-1, 0}, {0, 0}}, {{9, 0}}), op(8, {{1, 0}})}, {op(8, {{-1, 0}})},
           {{{2, 0}, {0, 0}}}),
      "(relu (matmul ?v1 (identity-matrix size=v1.1))) => (relu ?v1)");
  has(rule({op(8, {{-1, 0}})}, {op(22, {}), op(18, {{0, 0}, {-1, 0}}, {{9, 0}}), op(8, {{1, 0}})},
           {{{0, 0}, {2, 0}}}),
      "(relu ?v1) => (relu (matmul (identity-matrix size=v1.0) ?v1))");
  has(rule({op(24, {}), op(17, {{-7, 0}, {0, 0}}), op(8, {{1, 0}})}, {op(8, {{-7, 0}})},
           {{{2, 0}, {0, 0}}}),
      "(relu (mul ?v7 (full shape=v7.0,v7.1,v7.2,v7.3 value=1))) => (relu ?v7)");
  has(rule({op(23, {}, {{4, 3}, {5, 3}}), op(3, {{-7, 0}, {0, 0}}, window(3, 3, 0, 2))},
           {op(8, {{-7, 0}})}, {{{1, 0}, {0, 0}}}),
      "(conv ?v7 (identity-kernel channels=v7.1 kernel=3,3 centre=1,1)");
  has(rule({op(7, {{-7, 0}}, window(3, 3, 0, 0))},
           {op(25, {}, {{4, 3}, {5, 3}}), op(3, {{-7, 0}, {0, 0}}, window(3, 3, 0, 0))},
           {{{0, 0}, {1, 0}}}),
      "(average-kernel channels=");
  // nothing says a size: the left side binds it; on the right side it is what was tried
  has(rule({op(22, {}), op(8, {{0, 0}}), op(16, {{1, 0}, {1, 0}})},
           {op(22, {}), op(16, {{0, 0}, {0, 0}})}, {{{2, 0}, {1, 0}}}),
      "(add (relu (identity-matrix size=?k0)) (relu (identity-matrix size=?k0)))");
  EXPECT_EQ(text(rule({op(23, {}, {{4, 0}, {5, 3}}), op(8, {{0, 0}})}, {op(8, {{-7, 0}})}, kLast)),
            "a kernel of unknown form");
}

TEST_F(TasoFile, RanksComeFromUse) {
  // -1 is a matrix unless a convolution or a concatenation says otherwise
  EXPECT_NE(text(rule({op(16, {{-1, 0}, {-2, 0}}), op(12, {{0, 0}, {-3, 0}}, joined(0, 4))},
                      {op(12, {{0, 0}, {-3, 0}}, joined(0, 4))}, kLast))
                .find("names an operator's output that does not exist"),
            std::string::npos);
  std::string s = text(rule({op(16, {{-1, 0}, {-2, 0}}), op(12, {{0, 0}, {-3, 0}}, joined(0, 4))},
                            {op(16, {{-2, 0}, {-1, 0}}), op(12, {{0, 0}, {-3, 0}}, joined(0, 4))},
                            {{{1, 0}, {1, 0}}}));
  EXPECT_NE(s.find("for v1:nnnn v2:nnnn v3:nnnn"), std::string::npos) << s;
}

TEST_F(TasoFile, TheRightSidesSizesAreConditions) {
  std::string s = text(rule({op(12, {{-1, 0}, {-2, 0}}, joined(0, 2)),
                             op(12, {{-3, 0}, {-4, 0}}, joined(0, 2)), op(16, {{0, 0}, {1, 0}})},
                            {op(16, {{-1, 0}, {-3, 0}}), op(16, {{-2, 0}, {-4, 0}}),
                             op(12, {{0, 0}, {1, 0}}, joined(0, 2))},
                            {{{2, 0}, {2, 0}}}));
  EXPECT_TRUE(s.find("where v1.0=v3.0 ") != std::string::npos ||
              s.find("where v3.0=v1.0 ") != std::string::npos ||
              s.find("where v2.0=v4.0 ") != std::string::npos ||
              s.find("where v4.0=v2.0 ") != std::string::npos)
      << s;
}

TEST_F(TasoFile, OtherOperators) {
  auto twice = [](const std::string& o) { return rule({o}, {o}, {{{0, 0}, {0, 0}}}); };
  EXPECT_NE(
      text(twice(op(15, {{-1, 0}}, {{10, 2}, {12, 2}, {13, 1}}))).find("(transpose ?v1 perm=1,0)"),
      std::string::npos);
  EXPECT_NE(text(twice(op(6, {{-7, 0}}, window(3, 3, 0, 0)))).find("(maxpool ?v7 kernel=3,3 "),
            std::string::npos);
  std::string depthwise = text(twice(op(3, {{-7, 0}, {-19, 0}}, window(3, 3, 0, 0))));
  EXPECT_NE(depthwise.find("group=v7.1"), std::string::npos) << depthwise;
  EXPECT_NE(depthwise.find("v19:n1nn"), std::string::npos) << depthwise;
  std::string enlarged = text(twice(op(20, {{-13, 0}}, {{4, 3}, {5, 3}})));
  EXPECT_NE(enlarged.find("(pad ?v13 pads=0,0,1,0,0,0,1,0)"), std::string::npos) << enlarged;
  EXPECT_NE(enlarged.find("where v13.2=1,v13.3=3"), std::string::npos) << enlarged;
  EXPECT_EQ(text(twice(op(34, {{-1, 0}}))), "operator type 34 has no counterpart");
  EXPECT_EQ(text(twice(op(3, {{-7, 0}}, window(3, 3, 0, 0)))), "an operator lacks operands");
  EXPECT_EQ(text(twice(op(3, {{-7, 0}, {-10, 0}}))), "an operator lacks a parameter");
  EXPECT_EQ(text(twice(op(8, {{-77, 0}}))), "a variable of unknown shape");
}

// --- files that are none ---

std::string good_file() {
  return rule({op(3, {{-7, 0}, {-10, 0}}, window(3, 3, 0, 0)), op(8, {{0, 0}})},
              {op(3, {{-7, 0}, {-10, 0}}, window(3, 3, 0, 2))}, kLast);
}

void expect_located(const Result<TasoRules>& r, const std::string& path) {
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message.find(path), 0u) << r.error().message;
  EXPECT_EQ(r.error().message.find('\n'), std::string::npos);
}

TEST_F(TasoFile, EveryTruncationIsRefused) {
  std::string data = good_file();
  ASSERT_TRUE(read(data));
  for (size_t n = 0; n < data.size(); ++n) expect_located(read(data.substr(0, n)), path_);
}

TEST_F(TasoFile, LengthsBeyondTheDataAreRefused) {
  expect_located(read(varint(10) + varint(INT64_MAX)), path_);
  expect_located(read(varint(10) + varint(-1) + "x"), path_);
  expect_located(read(std::string(20, '\xFF')), path_);
  expect_located(read("this is no such file\n"), path_);
  expect_located(read(bytes(1, bytes(1, number(1, int64_t{1} << 40)))), path_);
  expect_located(read(bytes(1, number(1, 3))), path_);  // a number where an operator belongs
}

TEST_F(TasoFile, RandomChangesNeverCrash) {
  std::string data = good_file() + good_file();
  Rng rng(5);
  for (int k = 0; k < 400; ++k) {
    std::string changed = data;
    for (uint64_t n = 1 + rng.below(3); n > 0; --n)
      changed[rng.below(changed.size())] = static_cast<char>(rng.below(256));
    auto r = read(changed);
    if (!r) expect_located(r, path_);
    for (const Rule& x : r ? r->file.rules : std::vector<Rule>{})
      EXPECT_TRUE(validate(x)) << to_string(x);
  }
}

TEST_F(TasoFile, MissingFile) {
  EXPECT_FALSE(read_taso("/nowhere/graph_subst.pb"));
  EXPECT_FALSE(read_taso(testing::TempDir()));
}

TEST_F(TasoFile, VariablesHaveSmallNumbers) {
  for (int64_t v : {int64_t{-10001}, int64_t{INT32_MIN}}) {
    std::string add = number(1, 16) + bytes(2, number(1, v)) + bytes(2, number(1, -1));
    EXPECT_EQ(text(rule({add}, {add}, {{{0, 0}, {0, 0}}})),
              "a variable with a number out of range");
  }
}

}  // namespace
}  // namespace regraft::substitutions
