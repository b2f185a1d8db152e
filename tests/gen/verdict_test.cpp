// What was found of a pair, on its way between processes.
#include "gen/minimise/verdict.h"

#include <gtest/gtest.h>

#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

Verdict::Found found(const std::string& rule, Signature signature, bool grows) {
  auto parsed = parse_rule("found  " + rule);
  EXPECT_TRUE(parsed);
  parsed->name.clear();
  return {*std::move(parsed), std::move(signature), grows};
}

Verdict some_verdict() {
  Verdict v;
  v.kind = Verdict::Rules;
  v.found.push_back(found("(relu (relu ?a)) <=> (relu ?a)", {"nn"}, false));
  v.found.push_back(
      found("(clip ?a min=?m max=?n) => (clip (relu ?a) min=?m max=?n)", {"-"}, true));
  v.ground = found("(add ?a ?b) => (add ?b ?a)  where a.0=2", {"nn", "1n"}, false);
  return v;
}

TEST(Verdict, ComesBackAsItWas) {
  for (const Verdict& v : {Verdict{}, some_verdict()}) {
    auto back = verdict_of(to_bytes(v));
    ASSERT_TRUE(back) << (back ? "" : back.error().message);
    EXPECT_EQ(back->kind, v.kind);
    ASSERT_EQ(back->found.size(), v.found.size());
    for (size_t k = 0; k < v.found.size(); ++k) {
      EXPECT_EQ(to_string(back->found[k].rule), to_string(v.found[k].rule));
      EXPECT_EQ(back->found[k].signature, v.found[k].signature);
      EXPECT_EQ(back->found[k].grows, v.found[k].grows);
    }
    EXPECT_EQ(back->ground.has_value(), v.ground.has_value());
    EXPECT_EQ(to_bytes(*back), to_bytes(v));
  }
}

TEST(Verdict, WhatIsCutOffIsAnError) {
  const std::string bytes = to_bytes(some_verdict());
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(verdict_of(bytes.substr(0, n))) << n;
  EXPECT_FALSE(verdict_of(bytes + "x"));
  std::string kind = bytes;
  kind[0] = 99;
  EXPECT_FALSE(verdict_of(kind));
}

}  // namespace
}  // namespace regraft::gen
