// Which rules follow from which.
#include "gen/derive/minimal_set.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "ir/rule/text.h"
#include "substitutions/rule_db.h"

namespace regraft::gen {
namespace {

Rule rule(std::string_view text) {
  auto r = parse_rule(text);
  EXPECT_TRUE(r) << text << ": " << (r ? "" : r.error().message);
  return r ? *r : Rule{};
}
std::vector<Rule> rules(std::initializer_list<const char*> lines) {
  std::vector<Rule> r;
  for (const char* line : lines) r.push_back(rule(line));
  return r;
}
/// The numbers of the rules used, or {99} when the goal does not follow.
std::vector<size_t> used(std::initializer_list<const char*> from, const char* goal) {
  Derivation d = Deriver(rules(from)).derive(rule(goal));
  EXPECT_TRUE(d.tried) << goal;
  EXPECT_EQ(d.refused, 0u) << goal;
  return d.derived ? d.used : std::vector<size_t>{99};
}
const std::vector<size_t> kNone = {99};

constexpr const char* kAddAssoc = "assoc  (add (add ?a ?b) ?c) => (add ?a (add ?b ?c))";
constexpr const char* kMatmulAssoc = "mm  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))";
constexpr const char* kDistribute =
    "left  (matmul ?a (add ?b ?c)) => (add (matmul ?a ?b) (matmul ?a ?c))";

TEST(Derive, AnInstanceIsOneRule) {
  EXPECT_EQ(used({kAddAssoc, kMatmulAssoc, kDistribute},
                 "g  (matmul ?x (matmul (relu ?x) ?y)) => (matmul (matmul ?x (relu ?x)) ?y)"),
            (std::vector<size_t>{1}));
}

TEST(Derive, NumbersOfAGoalAreAsItsConditionsSay) {
  const char* factor =
      "f  (relu (mul ?a (full value=?v))) => (mul (relu ?a) (full value=?v))  where 8<=?v";
  EXPECT_EQ(used({factor},
                 "g  (relu (mul ?x (full value=?w))) => (mul (relu ?x) (full value=?w))  where "
                 "8<=?w"),
            (std::vector<size_t>{0}));
  EXPECT_EQ(used({factor},
                 "g  (relu (mul ?x (full value=?w))) => (mul (relu ?x) (full value=?w))  where "
                 "0<=?w"),
            kNone);
}

TEST(Derive, CommutedOperandsAreTheSame) {
  EXPECT_EQ(used({}, "g  (add ?x (mul ?y ?z)) => (add (mul ?z ?y) ?x)"), std::vector<size_t>{});
  EXPECT_EQ(used({kAddAssoc}, "g  (add ?z (add ?x ?y)) => (add ?y (add ?x ?z))"),
            (std::vector<size_t>{0}));
}

TEST(Derive, ChainsNameAllTheirLinksAndNoOthers) {
  EXPECT_EQ(used({"relu2  (relu (relu ?x)) => (relu ?x)", kMatmulAssoc, kAddAssoc, kDistribute},
                 "g  (matmul (matmul ?x ?y) (add (relu (relu ?u)) ?v)) => "
                 "(add (matmul ?x (matmul ?y (relu ?u))) (matmul (matmul ?x ?y) ?v))"),
            (std::vector<size_t>{0, 1, 3}));
}

TEST(Derive, WhatDoesNotFollowIsNotDerived) {
  EXPECT_EQ(used({kAddAssoc, kMatmulAssoc}, "g  (matmul ?a ?b) => (matmul ?b ?a)"), kNone);
  EXPECT_EQ(used({kAddAssoc, kMatmulAssoc, kDistribute},
                 "g  (matmul (add ?b ?c) ?a) => (add (matmul ?b ?a) (matmul ?c ?a))"),
            kNone);
  EXPECT_EQ(used({kDistribute}, "g  (relu (relu ?x)) => (relu ?x)"), kNone);
}

TEST(Derive, ConditionsMustHold) {
  const char* merge =
      "m  (add (conv ?x ?v strides=?s) (conv ?x ?w strides=?s)) => "
      "(conv ?x (add ?v ?w) strides=?s)  where v.2=w.2,v.3=w.3  for x:nnnn v:nnnn w:nnnn";
  EXPECT_EQ(used({merge},
                 "g  (add (conv ?x ?v) (conv ?x ?w)) => (conv ?x (add ?v ?w))  where "
                 "v.2=3,v.3=2,w.2=3,w.3=2  for x:nnnn v:nnnn w:nnnn"),
            (std::vector<size_t>{0}));
  const char* three =
      "m  (relu (conv ?x ?w)) => (conv ?x (relu ?w))  where w.2=3,w.3=3  for x:nnnn w:nnnn";
  EXPECT_EQ(used({three}, "g  (relu (conv ?x ?w)) => (conv ?x (relu ?w))  for x:nnnn w:nnnn"),
            kNone);
  EXPECT_EQ(used({three},
                 "g  (relu (conv ?x ?w)) => (conv ?x (relu ?w))  where w.2=3,w.3=3  for "
                 "x:nnnn w:nnnn"),
            (std::vector<size_t>{0}));
}

TEST(Derive, RulesApplyAtTheirShapesOnly) {
  const char* matrices = "r  (relu (neg ?x)) => (neg (relu ?x))  for x:nn";
  EXPECT_EQ(used({matrices}, "g  (relu (neg ?x)) => (neg (relu ?x))  for x:nn"),
            (std::vector<size_t>{0}));
  EXPECT_EQ(used({matrices}, "g  (relu (neg ?x)) => (neg (relu ?x))  for x:nnn"), kNone);
  EXPECT_EQ(used({"r  (relu (neg ?x)) => (neg (relu ?x))  for x:n1"},
                 "g  (relu (neg ?x)) => (neg (relu ?x))  for x:nn"),
            kNone);
  EXPECT_EQ(used({"r  (relu (neg ?x)) => (neg (relu ?x))  for x:n1 | x:nnn"},
                 "g  (relu (neg ?x)) => (neg (relu ?x))  for x:n1 | x:nnn"),
            (std::vector<size_t>{0}));
  // all of a goal's shapes count
  EXPECT_EQ(used({matrices}, "g  (relu (neg ?x)) => (neg (relu ?x))  for x:nn | x:nnn"), kNone);
}

TEST(Derive, AnyExtentIsNotBroadcast) {
  const char* product =
      "r  (add (mul ?x ?y) ?y) => (mul ?y (add ?x (full value=1)))  for x:nn y:nn";
  EXPECT_EQ(used({product},
                 "g  (add (mul ?x ?y) ?y) => (mul ?y (add ?x (full value=1)))  for "
                 "x:nn y:n1"),
            kNone);
}

TEST(Derive, NumbersBindAndExpressionsAreSolved) {
  const char* pads =
      "p  (conv (pad ?x pads=0,0,?h,?i,0,0,?j,?k) ?w strides=?s) => "
      "(conv ?x ?w strides=?s pads=?h,?i,?j,?k)";
  EXPECT_EQ(used({pads},
                 "g  (conv (pad ?x pads=0,0,1,2,0,0,0,?k) ?w) => (conv ?x ?w pads=1,2,0,?k)  for "
                 "x:nnnn w:nnnn"),
            (std::vector<size_t>{0}));
  EXPECT_EQ(used({pads},
                 "g  (conv (pad ?x pads=0,0,1,2,0,0,0,1) ?w) => (conv ?x ?w pads=1,2,1,1)  for "
                 "x:nnnn w:nnnn"),
            kNone);
  // right to left: b from the number b-x.0
  const char* second =
      "s  (slice (concat ?x ?y axis=0) begins=?b+x.0 sizes=?l+0 steps=?s) => "
      "(slice ?y begins=?b+0 sizes=?l+0 steps=?s)";
  EXPECT_EQ(used({second},
                 "g  (slice (concat ?x (relu ?y) axis=0) begins=x.0+1 sizes=?l+0) => "
                 "(slice (relu ?y) begins=1 sizes=?l+0)  for x:n y:n"),
            (std::vector<size_t>{0}));
}

TEST(Derive, SeveralOutputs) {
  EXPECT_EQ(used({"a  (split (concat ?x ?y axis=1) axis=1 sizes=x.1,y.1) => ?x",
                  "b  (split (concat ?x ?y axis=1) axis=1 sizes=x.1,y.1)#1 => ?y",
                  "c  (concat (relu ?x) (relu ?y) axis=1) => (relu (concat ?x ?y axis=1))"},
                 "g  (relu ?x) ; (relu ?y) => (split (relu (concat ?x ?y axis=1)) axis=1 "
                 "sizes=x.1,y.1) ; (split (relu (concat ?x ?y axis=1)) axis=1 sizes=x.1,y.1)#1  "
                 "where x.0=y.0  for x:nn y:nn"),
            (std::vector<size_t>{0, 1, 2}));
  const char* merge =
      "m  (matmul ?x ?v) ; (matmul ?x ?w) => (split (matmul ?x (concat ?v ?w axis=1)) axis=1 "
      "sizes=v.1,w.1) ; (split (matmul ?x (concat ?v ?w axis=1)) axis=1 sizes=v.1,w.1)#1";
  EXPECT_EQ(used({merge},
                 "g  (add (matmul ?x ?v) (relu (matmul ?x ?w))) => (add (split (matmul ?x (concat "
                 "?v ?w axis=1)) axis=1 sizes=v.1,w.1) (relu (split (matmul ?x (concat ?v ?w "
                 "axis=1)) axis=1 sizes=v.1,w.1)#1))  for x:nn v:nn w:nn"),
            (std::vector<size_t>{0}));
}

TEST(Derive, IdentitiesMayBeReadBackwards) {
  EXPECT_EQ(used({"one  (mul ?x (full value=1)) => ?x",
                  "d  (mul ?x (add ?y ?z)) => (add (mul ?x ?y) (mul ?x ?z))"},
                 "g  (add ?x (mul ?x ?y)) => (mul ?x (add ?y (full value=1)))"),
            (std::vector<size_t>{0, 1}));
}

TEST(Derive, AGoalWithoutSizesSaysSo) {
  Deriver deriver(rules({kAddAssoc}));
  Derivation d = deriver.derive(rule("g  (matmul ?x ?x) => (matmul ?x ?x)  for x:nnn"));
  EXPECT_TRUE(d.tried);
  d = deriver.derive(rule("g  (split ?x axis=1 sizes=x.1,x.1) => (relu ?x)  for x:nn"));
  EXPECT_FALSE(d.tried);
  EXPECT_FALSE(d.derived);
}

/// Rules of the repository.
std::vector<Rule> read(const std::string& path) {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  auto file = substitutions::read_candidates(std::string(root ? root : ".") + "/" + path);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return file ? file->rules : std::vector<Rule>{};
}

TEST(Derive, NothingFalseFollowsFromWhatIsProved) {
  Deriver deriver(read("substitutions/core.rules"));
  size_t seen = 0;
  for (const Rule& r : read("tests/data/rules/invalid/false.rules")) {
    seen += deriver.derive(r).tried;
    EXPECT_FALSE(deriver.derive(r).derived) << to_string(r);
  }
  EXPECT_GE(seen, 20u);
}

TEST(Derive, ThreadsDoNotMatter) {
  std::vector<Rule> goals = read("substitutions/hand.rules");
  Deriver deriver(read("substitutions/core.rules"));
  auto one = derive_all(deriver, goals, 1, Stop()), two = derive_all(deriver, goals, 2, Stop());
  for (size_t k = 0; k < goals.size(); ++k) {
    EXPECT_EQ(one[k].derived, two[k].derived) << goals[k].name;
    EXPECT_EQ(one[k].used, two[k].used) << goals[k].name;
    EXPECT_EQ(one[k].nodes, two[k].nodes) << goals[k].name;
  }
}

/// As the generator drops: each is asked about once, by rules that are no larger.
std::vector<char> minimal(const std::vector<Rule>& all, int threads, const Stop& stop) {
  DropOptions quick;
  quick.by_no_larger = quick.once = true;
  return minimal_set(Deriver(all), quick, threads, stop).remains;
}

TEST(Minimal, InstancesAndConsequencesGo) {
  auto all = rules({
      "special  (neg (conv ?x ?w pads=1,1,1,1)) => (conv ?x (neg ?w) pads=1,1,1,1)",
      "general  (neg (conv ?x ?w pads=?p)) => (conv ?x (neg ?w) pads=?p)",
      kAddAssoc,
      "ac  (add (add ?a ?b) (add ?c ?d)) => (add (add ?a ?c) (add ?b ?d))",
      "other  (relu (relu ?x)) => (relu ?x)",
  });
  EXPECT_EQ(minimal(all, 1, Stop()), (std::vector<char>{0, 1, 1, 0, 1}));
  EXPECT_EQ(minimal(all, 2, Stop()), (std::vector<char>{0, 1, 1, 0, 1}));
}

TEST(Minimal, OneOfTwoEqualRulesRemains) {
  auto all = rules({kAddAssoc, "again  (add ?x (add ?y ?z)) => (add (add ?x ?y) ?z)"});
  auto remains = minimal(all, 1, Stop());
  EXPECT_EQ(remains[0] + remains[1], 1);
}

TEST(Minimal, WhatIsNotDecidedRemains) {
  auto all = rules({kAddAssoc, "again  (add ?x (add ?y ?z)) => (add (add ?x ?y) ?z)"});
  Stop stop;
  stop.request();
  EXPECT_EQ(minimal(all, 1, stop), (std::vector<char>{1, 1}));
}

}  // namespace
}  // namespace regraft::gen
