#include "verify/kernel/certificate.h"

#include <gtest/gtest.h>

namespace regraft::kernel {
namespace {

/// Facts over the sizes n, m (from 1 on), z (from 0 on) and the indices i, j.
class Certificates : public testing::Test {
 protected:
  Certificates() {
    for (const char* name : {"n", "m"}) symbols.make(Kind::Size, name, 1);
    symbols.make(Kind::Size, "z", 0);
    for (const char* name : {"i", "j"}) symbols.make(Kind::Index, name, std::nullopt);
  }
  /// Why the certificate is refused; empty: it is accepted.
  std::string refused(const std::vector<std::string>& facts, const std::string& certificate) {
    try {
      std::vector<Fact> all;
      for (const std::string& f : facts) {
        Words words(f);
        all.push_back(read_fact(symbols, words));
      }
      check_unsatisfiable(symbols, all, certificate);
      return "";
    } catch (const Refused& r) {
      return r.why;
    }
  }
  Symbols symbols;
};

using Facts = std::vector<std::string>;

TEST_F(Certificates, SumsOfFactsContradictEachOther) {
  Facts facts{"ge i-n", "ge n-1-i"};
  EXPECT_EQ(refused(facts, "lin 1 2"), "");
  EXPECT_EQ(refused(facts, "lin 1 1"), "a case stays open");
  EXPECT_EQ(refused(facts, "lin 1 2:2"), "a case stays open");
  EXPECT_EQ(refused(facts, "lin -1:1 2"), "step 1: a negative multiple of an inequality");
  EXPECT_EQ(refused(facts, "lin 1 3"), "step 1: there is no fact 3");
  EXPECT_EQ(refused(facts, "lin 1 2; lin 1 2"), "step 2: it goes on after its last case");
}

TEST_F(Certificates, EqualitiesHaveMultiplesOfAnySign) {
  EXPECT_EQ(refused({"eq n-i", "ge -i"}, "least n; lin -1:1 3 2"), "");
  EXPECT_EQ(refused({"ge i-n", "ge i"}, "least n; lin -1:1 3 2"),
            "step 2: a negative multiple of an inequality");
  EXPECT_EQ(refused({"eq i-n", "ge -i*n-1"}, "times 1 n; least n; lin 2 4*4 -1:3 2:4 -2:0"),
            "step 3: a negative multiple of an inequality");
  EXPECT_EQ(refused({"eq i-n", "ge -i*n"}, "times 1 n; least n; lin 2 4*4 3 2:4"), "");
}

TEST_F(Certificates, IntegersAreRounded) {
  EXPECT_EQ(refused({"ge 2*i-1", "ge 1-2*i"}, "lin 1 /2; lin 2 /2; lin 3 4"), "");
  EXPECT_EQ(refused({"eq 2*i-1"}, "lin 1 /2; lin -1:1 /2; lin 2 3"), "");
  EXPECT_EQ(refused({"eq 2*i-1"}, "lin 1 /3; lin -1:1 /2; lin 2 3"),
            "step 1: the divisor does not divide a coefficient");
  EXPECT_EQ(refused({"ge 2*i-1", "ge 1-2*i"}, "lin 1 /0"), "step 1: division by a number below 1");
}

}  // namespace
}  // namespace regraft::kernel
