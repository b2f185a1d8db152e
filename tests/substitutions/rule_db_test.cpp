#include "substitutions/rule_db.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files/gzip.h"
#include "ir/rule/text.h"

namespace regraft::substitutions {
namespace {

Rule proved_rule(const std::string& line) {
  auto r = parse_rule(line);
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  return *std::move(r);
}

RuleFile sample() {
  RuleFile f;
  f.generator = "test size<=2";
  f.prover = "regraft test";
  f.rules.push_back(
      proved_rule("relu-twice (relu (relu ?x)) => (relu ?x) for x:nn | x:nnn proved:all-sizes"));
  f.rules.push_back(
      proved_rule("assoc (add (add ?a ?b) ?c) => (add ?a (add ?b ?c)) for a:n b:n c:n "
                  "proved:all-sizes origin:hand"));
  f.rules.push_back(
      proved_rule("some (neg (neg ?x)) => ?x for x:n proved:bounded[x=[2\\]; x=[3\\]]"));
  f.rules.push_back(proved_rule("open (exp ?x) => (exp (neg (neg ?x))) unknown[no time]"));
  return f;
}

std::string message(const std::string& text, Admit admit = Admit::AllSizes) {
  auto r = parse_rules(text, "f.rules", admit);
  EXPECT_FALSE(r);
  return r ? "" : r.error().message;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(RuleDb, ADirectionCannotBeAddedToASealedRule) {
  RuleFile f;
  f.rules.push_back(proved_rule(
      "both (relu (neg ?a)) <=> (relu (neg (neg (neg ?a)))) for a:nn proved:all-sizes"));
  f.rules.push_back(proved_rule("one (relu (relu ?a)) => (relu ?a) for a:nn proved:all-sizes"));
  std::string text = to_text(f);
  auto file = parse_rules(text, "f.rules", Admit::AllSizes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->rules[0].both);
  EXPECT_FALSE(file->rules[1].both);
  EXPECT_EQ(to_text(*file).substr(text.find('\n')), text.substr(text.find('\n')));
  EXPECT_NE(message(replaced(text, " => ", " <=> ")).find("seal does not fit"), std::string::npos);
}

TEST(RuleDb, RoundTripSortedAndSealed) {
  std::string text = to_text(sample());
  auto file = parse_rules(text, "f.rules", Admit::AllSizes);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->rules.size(), 2u);
  EXPECT_EQ(file->left_out, 2u);
  EXPECT_EQ(file->rules[0].name, "assoc");
  EXPECT_EQ(file->rules[0].origin, "hand");
  EXPECT_EQ(file->rules[1].domain.size(), 2u);
  EXPECT_EQ(file->generator, "test size<=2");
  EXPECT_EQ(file->prover, "regraft test");
  EXPECT_EQ(parse_rules(text, "f.rules", Admit::Bounded)->rules.size(), 3u);
  auto all = parse_rules(text, "f.rules", Admit::Candidates);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->rules.size(), 4u);
  EXPECT_EQ(to_text(*all), text);
}

TEST(RuleDb, ForgedProofsAreRefused) {
  std::string text = to_text(sample());
  EXPECT_NE(message(replaced(text, "(relu (relu ?x)) => (relu ?x)", "(relu (relu ?x)) => ?x"))
                .find("seal"),
            std::string::npos);
  EXPECT_NE(message(replaced(text, "x:nn | x:nnn", "x:nn | x:nnnn")).find("seal"),
            std::string::npos);
  EXPECT_NE(message(replaced(text, "unknown[no time]", "proved:all-sizes")).find("without a seal"),
            std::string::npos);
  EXPECT_NE(message(replaced(text, "proved:bounded", "proved:all-sizes")).find("seal"),
            std::string::npos);
  EXPECT_NE(message(replaced(text, "seal=", "seal=0")).find("seal does not fit"),
            std::string::npos);
  EXPECT_NE(message(text.substr(text.find('\n') + 1)).find("no header"), std::string::npos);
  EXPECT_TRUE(parse_rules(replaced(text, "=> (relu ?x)", "=> ?x"), "f.rules", Admit::Candidates));
}

TEST(RuleDb, WhatTheProversAloneKnowIsAdmittedUnlessTheKernelIsAskedFor) {
  RuleFile f = sample();
  f.rules[0].verdict.kind = VerdictKind::ProvedSolver;
  std::string text = to_text(f);
  EXPECT_NE(text.find("  proved:solver  seal="), std::string::npos);
  EXPECT_EQ(parse_rules(text, "f.rules", Admit::AllSizes)->rules.size(), 2u);
  auto checked = parse_rules(text, "f.rules", Admit::Kernel);
  ASSERT_EQ(checked->rules.size(), 1u);
  EXPECT_EQ(checked->rules[0].name, "assoc");
  EXPECT_NE(message(replaced(text, "proved:solver", "proved:all-sizes")).find("seal"),
            std::string::npos);
}

TEST(RuleDb, WhatWasSealedBeforeTheKernelIsOfTheProversAlone) {
  Rule rule = proved_rule("twice (relu (relu ?x)) => (relu ?x) for x:nn proved:all-sizes");
  std::string old = "#regraft-rules 2  generator=\"g\"  prover=\"p\"\n" + to_string(rule) +
                    "  seal=" + seal_of(rule, known_meaning, kBeforeKernel) + "\n";
  auto file = parse_rules(old, "f.rules", Admit::AllSizes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->rules.at(0).verdict.kind, VerdictKind::ProvedSolver);
  EXPECT_TRUE(parse_rules(old, "f.rules", Admit::Kernel)->rules.empty());
  EXPECT_NE(message(replaced(old, "for x:nn", "for x:n")).find("seal"), std::string::npos);
}

TEST(RuleDb, EarlierFormatsAreReadAsCandidatesOnly) {
  std::string old =
      "#regraft-rules 1  ops=1028e0a084d887be  generator=\"g\"  prover=\"p\"\n"
      "twice  (relu (relu ?a)) => (relu ?a)  for a:nn  proved:all-sizes  seal=ab072cb389987e4d\n";
  for (Admit admit : {Admit::AllSizes, Admit::Bounded}) {
    std::string refused = message(old, admit);
    EXPECT_TRUE(refused.starts_with("f.rules:1:1: ")) << refused;
    EXPECT_NE(refused.find("run `regraft verify"), std::string::npos) << refused;
    EXPECT_EQ(refused.find('\n'), std::string::npos);
  }
  auto file = parse_rules(old, "f.rules", Admit::Candidates);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->generator, "g");
  EXPECT_EQ(file->rules.size(), 1u);
}

/// What all operators mean, were one of them another.
Meaning with_changed(const OpDef& changed) {
  return [changed](const OpDef& op) {
    return op.name == changed.name ? meaning_of(changed) : known_meaning(op);
  };
}

TEST(RuleDb, ASealCoversWhatItsOperatorsMeanAndNoOthers) {
  Rule with_max = proved_rule("m (maxpool (relu ?a) kernel=2,2) => (relu (maxpool ?a kernel=2,2))");
  Rule with_relu = proved_rule("r (relu (relu ?a)) => (relu ?a) for a:nn proved:all-sizes");
  Rule with_add = proved_rule("a (add ?a ?b) => (add ?b ?a) for a:nn b:nn proved:all-sizes");
  OpDef formula = *find_op("relu");  // x, not max(x, 0)
  formula.fill_field = find_op("neg")->fill_field;
  OpDef shapes = *find_op("relu");
  shapes.field_semantics.infer = [](Field&, const Shapes<Field>& in, const Attrs<int64_t>&) {
    return Result<Shapes<Field>>(Shapes<Field>{in[0], in[0]});
  };
  OpDef commutes = *find_op("relu");
  commutes.commutative = true;
  for (const OpDef& changed : {formula, shapes, commutes}) {
    Meaning meaning = with_changed(changed);
    EXPECT_NE(seal_of(with_max, meaning), seal_of(with_max));
    EXPECT_NE(seal_of(with_relu, meaning), seal_of(with_relu));
    EXPECT_EQ(seal_of(with_add, meaning), seal_of(with_add));
  }
  OpDef pool = *find_op("maxpool");
  std::vector<IntAttr> attributes(pool.ints.begin(), pool.ints.end());
  for (IntAttr& a : attributes)
    if (a.name == "strides") a.fallback = 2;
  pool.ints = attributes;
  EXPECT_NE(seal_of(with_max, with_changed(pool)), seal_of(with_max));
  EXPECT_EQ(seal_of(with_relu, with_changed(pool)), seal_of(with_relu));
}

TEST(RuleDb, BadLinesNameTheirPlace) {
  std::string head = to_text(RuleFile{});
  EXPECT_TRUE(message(head + "# fine\nr (frobnicate ?x) => ?x\n").starts_with("f.rules:3:3: "));
  EXPECT_TRUE(message(head + "r (relu ?x) => (add ?x ?y)\n").starts_with("f.rules:2:"));
  EXPECT_NE(message(head + "r (relu ?x) => (add ?x ?y)\n").find("?y"), std::string::npos);
  EXPECT_TRUE(message(head + "r (relu ?x ?y) => ?x\n").starts_with("f.rules:2:"));
  EXPECT_NE(message(head + "r (relu ?x) => ?x  proven\n").find("proven"), std::string::npos);
  EXPECT_NE(message(head + "r (relu ?x) => ?x\nr (neg ?x) => ?x\n").find("line 2"),
            std::string::npos);
  EXPECT_NE(message("#regraft-rules 4  generator=\"\"\n").find("version"), std::string::npos);
  EXPECT_EQ(message(head + "r (relu ?x => ?x\n").find('\n'), std::string::npos);
}

TEST(RuleDb, TruncatedFilesGiveAnErrorOrFewerRules) {
  std::string text = to_text(sample());
  for (size_t n = 0; n < text.size(); ++n) {
    auto r = parse_rules(text.substr(0, n), "f.rules", Admit::AllSizes);
    EXPECT_LE(r ? r->rules.size() : 0u, 2u);
  }
}

TEST(RuleDb, WritesBesideAndRenames) {
  auto folder = std::filesystem::path(testing::TempDir()) / "rule_db";
  std::filesystem::create_directories(folder);
  std::string path = (folder / "x.rules").string();
  ASSERT_TRUE(write_rules(path, sample()));
  ASSERT_TRUE(write_rules(path, sample()));
  EXPECT_TRUE(read_rules(path));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  RuleFile twice = sample();
  twice.rules.push_back(twice.rules[0]);
  EXPECT_FALSE(write_rules(path, twice));
  EXPECT_FALSE(write_rules((folder / "none" / "x.rules").string(), sample()));
  EXPECT_FALSE(read_rules((folder / "missing.rules").string()));
  EXPECT_FALSE(read_rules(folder.string()));
  std::filesystem::remove_all(folder);
}

TEST(RuleDb, AFileMayBeCompressed) {
  std::string path = testing::TempDir() + "/compressed.rules.gz", text = to_text(sample());
  std::string packed = to_gzip(text);
  std::ofstream(path, std::ios::binary) << packed;
  auto file = read_candidates(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(to_text(*file), text);
  std::ofstream(path, std::ios::binary) << packed.substr(0, packed.size() / 2);
  auto cut = read_candidates(path);
  ASSERT_FALSE(cut);
  EXPECT_TRUE(cut.error().message.starts_with(path + ": ")) << cut.error().message;
}

TEST(RuleDb, ShippedRulesAreProvedForThisOperatorSet) {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  const std::string path = std::string(root ? root : ".") + "/substitutions/core.rules";
  auto file = read_rules(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_GE(file->rules.size(), 500u);
  std::ifstream text(path);
  size_t bounded = 0;
  for (std::string line; std::getline(text, line);)
    bounded += line.find("  proved:bounded") != line.npos;
  EXPECT_EQ(file->left_out, bounded);
}

}  // namespace
}  // namespace regraft::substitutions
