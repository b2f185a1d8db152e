// Each step of a certificate, and near misses of it.
#include <gtest/gtest.h>

#include "tests/verify/kernel/support.h"

namespace regraft::kernel {
namespace {

class Certificates : public testing::Test {
 protected:
  Certificates() { make_usual(symbols); }
  std::string refused(const std::vector<std::string>& facts, const std::string& certificate) {
    return why_refused(symbols, facts, certificate);
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
  EXPECT_EQ(refused(facts, ""), "a case stays open");
  EXPECT_EQ(refused({"all 2 ge i all 2 ge j ge -i-1"}, "lin 1 3"), "");
  EXPECT_EQ(refused({"all 2 ge i all 2 ge j ge -i-1"}, "lin 1 2"), "a case stays open");
}

TEST_F(Certificates, EqualitiesHaveMultiplesOfAnySign) {
  EXPECT_EQ(refused({"eq n-i", "ge -i"}, "least n; lin -1:1 3 2"), "");
  EXPECT_EQ(refused({"ge n-i", "ge -i"}, "least n; lin -1:1 3 2"),
            "step 2: a negative multiple of an inequality");
  EXPECT_EQ(refused({"eq i-n", "ge -i*n"}, "times 1 n; least n; lin 2 4*4 3 2:4"), "");
  EXPECT_EQ(refused({"ge i-n", "ge -i*n"}, "times 1 n; least n; lin 2 4*4 3 2:4"),
            "step 1: only an equality has multiples of any sign");
}

TEST_F(Certificates, SumsOfEqualitiesAreEqualities) {
  // i = j and j = n give floor(i / 2) = floor(n / 2).
  Facts facts{"eq i-j", "eq j-n", "ge [i/2]-[n/2]-1"};
  EXPECT_EQ(refused(facts, "lin 1 2; same [i/2] [n/2] 4 0; lin 3 -1:5"), "");
  EXPECT_EQ(refused(facts, "lin 1 2 /1; same [i/2] [n/2] 4 0; lin 3 -1:5"),
            "step 2: -n+i is not shown to be 0");
  EXPECT_EQ(refused(facts, "lin 1 2 0; same [i/2] [n/2] 4 0; lin 3 -1:5"),
            "step 2: -n+i is not shown to be 0");
  EXPECT_EQ(refused({"eq i", "eq i-2"}, "lin 1 -1:2"), "");
}

TEST_F(Certificates, IntegersAreRounded) {
  EXPECT_EQ(refused({"ge 2*i-1", "ge 1-2*i"}, "lin 1 /2; lin 2 /2; lin 3 4"), "");
  EXPECT_EQ(refused({"eq 2*i-1"}, "lin 1 /2; lin -1:1 /2; lin 2 3"), "");
  EXPECT_EQ(refused({"eq 2*i-1"}, "lin 1 /3; lin -1:1 /2; lin 2 3"),
            "step 1: the divisor does not divide a coefficient");
  EXPECT_EQ(refused({"ge 2*i-1", "ge 1-2*i"}, "lin 1 /0"), "step 1: division by a number below 1");
  EXPECT_EQ(refused({"ge 2*i-1", "ge 1-2*i"}, "lin 1 /-2"), "step 1: division by a number below 1");
  // Rounding takes something away, never adds.
  EXPECT_EQ(refused({"ge 2*i+1", "ge -2*i"}, "lin 1 /2; lin 2 /2; lin 3 4"), "a case stays open");
}

TEST_F(Certificates, ProductsOfFactsAreFacts) {
  EXPECT_EQ(refused({"ge i-1", "ge j-1", "ge -i*j"}, "lin 1*2 1 2 3"), "");
  EXPECT_EQ(refused({"ge i-1", "ge j-1", "ge -i*j"}, "lin -1:1*2 1 2 3"),
            "step 1: a negative multiple of an inequality");
  EXPECT_EQ(refused({"ge i-1", "any 1 ge j-1", "ge -i*j"}, "lin 1*2 1 2 3"),
            "step 1: fact 2 is no literal");
  EXPECT_EQ(refused({"ge i-1", "ge j-1", "ge -i*j"}, "lin 1* 1 2 3"), "step 1: not an integer: ");
}

TEST_F(Certificates, OppositeFactsAreAnEquality) {
  Facts facts{"ge i-j", "ge j-i", "ge [i/2]-[j/2]-1"};
  EXPECT_EQ(refused(facts, "both 1 2; same [i/2] [j/2] 4 0; lin 3 -1:5"), "");
  EXPECT_EQ(refused({"ge i-j", "ge j-i+1", "ge [i/2]-[j/2]-1"}, "both 1 2"),
            "step 1: the two facts are not opposite");
  EXPECT_EQ(refused(facts, "both 1 1"), "step 1: the two facts are not opposite");
}

TEST_F(Certificates, SizesHaveALeastValue) {
  EXPECT_EQ(refused({"ge -n"}, "least n; lin 1 2"), "");
  EXPECT_EQ(refused({"ge -z"}, "least z; lin 1 2"), "a case stays open");
  EXPECT_EQ(refused({"ge -i"}, "least i; lin 1 2"), "step 1: no symbol with a least value");
  EXPECT_EQ(refused({"ge -n"}, "least x; lin 1 2"), "step 1: no symbol with a least value");
}

TEST_F(Certificates, QuotientsNeedADenominatorFromOneOn) {
  EXPECT_EQ(refused({"ge [i/3]", "ge -1-i"}, "quotient [i/3] 0; lin 2 3 3:1"), "");
  EXPECT_EQ(refused({"ge n*[i/n]-i-1"}, "least n; quotient [i/n] 2; lin 1 3"), "");
  EXPECT_EQ(refused({"ge n*[i/n]-i-1"}, "least n; quotient [i/n] 0; lin 1 3"),
            "step 2: -1+n is not shown to be at least 0");
  EXPECT_EQ(refused({"ge z*[i/z]-i-1"}, "least z; quotient [i/z] 2; lin 1 3"),
            "step 2: -1+z is not shown to be at least 0");
  EXPECT_EQ(refused({"ge z*[i/z]-i-1", "ge z-2"}, "quotient [i/z] 2; lin 1 3"), "");
  EXPECT_EQ(refused({"ge [i/0]-i"}, "quotient [i/0] 0"),
            "step 1: -1 is not shown to be at least 0");
  EXPECT_EQ(refused({"ge -1", "ge i"}, "quotient [i/0] 1"),
            "step 1: -1 is not shown to be at least 0");
  EXPECT_EQ(refused({"ge i"}, "quotient i 0"), "step 1: i is not such a symbol");
  EXPECT_EQ(refused({"ge i"}, "quotient 2*[i/2] 0"), "step 1: 2*[i/2] is not such a symbol");
  EXPECT_EQ(refused({"ge i"}, "quotient [i/2]+1 0"), "step 1: 1+[i/2] is not such a symbol");
}

TEST_F(Certificates, EqualPartsGiveEqualQuotients) {
  Facts facts{"eq i-j", "ge [i/n]-[j/n]-1"};
  EXPECT_EQ(refused(facts, "same [i/n] [j/n] 1 0; lin 2 -1:3"), "");
  EXPECT_EQ(refused(facts, "same [i/n] [j/m] 1 0; lin 2 -1:3"), "step 1: n-m is not shown to be 0");
  EXPECT_EQ(refused(facts, "same [i/n] [j/n] 0 0; lin 2 -1:3"), "step 1: i-j is not shown to be 0");
  EXPECT_EQ(refused({"ge i-j", "ge [i/n]-[j/n]-1"}, "same [i/n] [j/n] 1 0"),
            "step 1: i-j is not shown to be 0");
  EXPECT_EQ(refused(facts, "same i j 1 0"), "step 1: i is neither a quotient nor a lookup");
  symbols.table({Poly(1), Poly(0)});
  symbols.table({Poly(0), Poly(1)});
  EXPECT_EQ(refused({"ge {0,i,n}-{1,i,n}-1"}, "same {0,i,n} {1,i,n} 0 0"),
            "step 1: two symbols of different kinds");
  EXPECT_EQ(refused({"eq i-j", "ge {0,i,n}-{0,j,n}-1"}, "same {0,i,n} {0,j,n} 1 0; lin 2 -1:3"),
            "");
}

TEST_F(Certificates, LookupsAreInTheirRangeAndEntriesOfTheirTable) {
  symbols.table({Poly(2), Poly(0)});
  EXPECT_EQ(refused({"ge -1-{0,i,n}"}, "least n; lookup {0,i,n} 2; lin 1 3"), "");
  EXPECT_EQ(refused({"ge -1-{0,i,z}"}, "least z; lookup {0,i,z} 2; lin 1 3"),
            "step 2: -1+z is not shown to be at least 0");
  EXPECT_EQ(refused({"eq i-1", "ge {0,i,n}-1", "ge n-1"}, "entry {0,i,n} 1 1 0 3; lin 2 -1:4"), "");
  EXPECT_EQ(refused({"eq i-1", "ge {0,i,n}-1", "ge n-1"}, "entry {0,i,n} 0 1 0 3; lin 2 -1:4"),
            "step 1: i is not shown to be 0");
  EXPECT_EQ(refused({"eq i", "ge {0,i,n}-3", "ge n-1"}, "entry {0,i,n} 0 1 0 3; lin 2 -1:4"),
            "step 1: -3+n is not shown to be at least 0");
  EXPECT_EQ(refused({"eq i", "ge {0,i,n}-3", "ge n-3"}, "entry {0,i,n} 0 1 0 3; lin 2 -1:4"), "");
  EXPECT_EQ(refused({"eq i-2", "ge n-9"}, "entry {0,i,n} 2 1 0 2"), "step 1: no such entry");
  EXPECT_EQ(refused({"eq i+1", "ge n-9"}, "entry {0,i,n} -1 1 0 2"), "step 1: no such entry");
  EXPECT_EQ(refused({"ge {1,i,n}"}, "lin 1"), "there is no table 1");
}

TEST_F(Certificates, EveryCaseIsClosed) {
  // i = 0 or i = 1, and i * i is neither.
  Facts facts{"any 2 eq i eq i-1", "ge i*i-2"};
  EXPECT_EQ(refused(facts, "cases 1; times 3 i; lin 2 -1:4; times 3 i+1; lin 2 -1:4"), "");
  EXPECT_EQ(refused(facts, "cases 1; times 3 i; lin 2 -1:4"), "a case stays open");
  EXPECT_EQ(refused(facts, "cases 1; times 3 i; lin 2 -1:4; lin 2 -1:4"),
            "step 4: there is no fact 4");
  EXPECT_EQ(refused(facts, "cases 2; times 3 i"), "step 1: the fact has no cases");
  EXPECT_EQ(refused({"any 0"}, "cases 1"), "");
  EXPECT_EQ(refused({"all 0"}, "cases 1"), "step 1: there is no fact 1");
  // What is assumed in one case is forgotten in the next.
  EXPECT_EQ(refused({"ge i*j-1", "ge -i-j"}, "either i; lin 3 0; either j; lin 0 -1:1"),
            "step 4: a negative multiple of an inequality");
}

TEST_F(Certificates, AnIntegerIsAtLeastZeroOrAtMostMinusOne) {
  // The square of i is not 2: i <= -2, i = -1, i = 0, i = 1, i >= 2.
  Facts facts{"eq i*i-2"};
  EXPECT_EQ(refused(facts,
                    "either i-2; lin 2*2 4:2 -1:1; either -2-i; lin 3*3 4:3 -1:1; "
                    "lin 2*3 1"),
            "");
  EXPECT_EQ(
      refused(facts, "either i-3; lin 2*2 4:2 -1:1; either -2-i; lin 3*3 4:3 -1:1; lin 2*3 1"),
      "a case stays open");
}

TEST_F(Certificates, BadTextIsRefused) {
  for (auto [certificate, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"guess", "step 1: there is no step guess"},
           {"lin 99999999999999999999", "step 1: not an integer: 99999999999999999999"},
           {"lin 4611686018427387904:1 4611686018427387904:1", "step 1: a number is too large"},
           {"lin 2:1 /2 3", "step 1: the step has too many words"},
           {"least", "step 1: a line ends too early"},
           {"either i+", "step 1: in i+: a number or a name was expected at character 3"},
           {"either (i", "step 1: in (i: ) was expected at character 3"},
           {"either i)", "step 1: in i): the end was expected at character 2"},
           {"either q", "step 1: nothing is named q"},
           {";;\n either i*", "step 4: in i*: a number or a name was expected at character 3"}})
    EXPECT_EQ(refused({"ge i"}, certificate), why) << certificate;
  std::string deep = "either " + std::string(100, '(') + "i" + std::string(100, ')');
  EXPECT_EQ(refused({"ge i"}, deep), "step 1: a polynomial is nested too deeply");
  std::string wide = "either i";
  for (int k = 0; k < 60; ++k) wide += "*i";
  EXPECT_EQ(refused({"ge i"}, wide), "step 1: a product has too many factors");
  std::string cases;
  for (int k = 0; k < 1'100; ++k) cases += "either i;";
  EXPECT_EQ(refused({"ge i"}, cases), "step 1001: cases are nested too deeply");
}

TEST_F(Certificates, TextsOfFactsAreReadBack) {
  symbols.table({Poly(1), Poly(4), Poly(2)});
  for (const char* text :
       {"ge 0", "eq -1+n", "ge -3*n*m*m+i", "any 2 ge [n*m-1/m+[i/2]]-i eq {0,[i/n],n*m}", "all 0",
        "any 1 all 2 eq j ge -j"}) {
    Fact f = fact_of(symbols, text);
    EXPECT_EQ(fact_of(symbols, kernel::text(symbols, f)), f) << text;
  }
  EXPECT_EQ(symbols.read("2*(n+i)-(n-i)*3"), symbols.read("5*i-n"));
  EXPECT_EQ(symbols.text(symbols.read("n*m-i*(m+1)")), "n*m-m*i-i");
}

TEST_F(Certificates, ReplacementsReachQuotientsAndTables) {
  Symbol n = *symbols.find("n"), i = *symbols.find("i");
  symbols.table({Poly::symbol(n), Poly(0)});
  Poly p = symbols.read("[i*n/n]+{0,i,n+5}*i");
  Poly q = symbols.substitute(p, {{n, Poly(3)}, {i, Poly::symbol(n)}});
  EXPECT_EQ(symbols.text(q), "n*{1,n,8}+[3*n/3]");
  EXPECT_EQ(symbols.entries(1)[0], Poly(3));
  EXPECT_TRUE(symbols.mentions(p, n));
  EXPECT_FALSE(symbols.mentions(symbols.read("[i/2]"), n));
  EXPECT_TRUE(symbols.mentions(symbols.read("{0,i,2}"), n));
}

TEST_F(Certificates, WhatIsImpliedIsRefutedInItsNegation) {
  auto check = [&](const std::string& f, const char* certificate) {
    std::vector<Fact> facts = facts_of(symbols, {"ge i", "ge 3-i"});
    facts.push_back(negated(fact_of(symbols, f)));
    check_unsatisfiable(symbols, facts, certificate);
  };
  EXPECT_NO_THROW(check("all 2 ge i+1 ge 5-i", "cases 3; lin 1 4; lin 2 4"));
  EXPECT_THROW(check("ge 2-i", "lin 2 3"), Refused);
}

}  // namespace
}  // namespace regraft::kernel
