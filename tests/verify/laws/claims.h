#pragma once
// Claims about one signature that the prover is to prove, or to leave alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/rule/text.h"
#include "verify/prove/prover.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {

struct Claim {
  const char* sides;
  Signature signature;
};

inline RuleInstance instance_of(const Claim& c) {
  auto rule = parse_rule(std::string("r ") + c.sides);
  EXPECT_TRUE(rule) << c.sides << ": " << (rule ? "" : rule.error().message);
  auto instance = instantiate(*rule, c.signature);
  EXPECT_TRUE(instance) << c.sides << ": " << (instance ? "" : instance.error().message);
  return *std::move(instance);
}

inline void expect_proved(const std::vector<Claim>& claims) {
  for (const Claim& c : claims) {
    auto instance = instance_of(c);
    EXPECT_FALSE(check_numbers(instance, sample_sizes(instance, 7, 8), 7).counterexample)
        << c.sides;
    Verdict v = SymbolicProver().prove(instance);
    EXPECT_EQ(v.kind, VerdictKind::ProvedSolver) << c.sides << ": " << v.detail;
  }
}

inline void expect_refuted_and_not_proved(const std::vector<Claim>& claims) {
  for (const Claim& c : claims) {
    auto instance = instance_of(c);
    EXPECT_TRUE(check_numbers(instance, sample_sizes(instance, 7, 24, 6), 7).counterexample)
        << c.sides;
    EXPECT_EQ(SymbolicProver().prove(instance).kind, VerdictKind::Unknown) << c.sides;
  }
}

}  // namespace regraft::verify
