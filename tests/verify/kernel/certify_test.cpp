// Questions of each kind for which certificates are found, with what the kernel says of them.
#include "verify/certificates/certify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/algebra/formula.h"
#include "tests/verify/kernel/support.h"
#include "verify/kernel/translation.h"

namespace regraft::verify {
namespace {

using kernel::Case;

/// Sizes are the names that begin with a to h, or s and a digit; i0, i1, k, ... are indices.
struct Question : Case {
  explicit Question(std::initializer_list<const char*> given) {
    for (const char* name : {"a", "b", "c", "d", "f", "g", "s1", "s2", "s3"})
      symbols.make(kernel::Kind::Size, name, 1);
    for (const char* name : {"i0", "i1", "i2", "k"})
      symbols.make(kernel::Kind::Index, name, std::nullopt);
    symbols.table({kernel::Poly(0), kernel::Poly(1), kernel::Poly(0)});
    for (const char* text : given) facts.push_back(kernel::fact_of(symbols, text));
  }
};

/// Empty: a certificate is found and accepted.
std::string open(std::initializer_list<const char*> facts) {
  Question q(facts);
  auto certificate = find_certificate(q.symbols, q.facts);
  if (!certificate) return "none is found";
  try {
    kernel::check_unsatisfiable(q.symbols, q.facts, *certificate);
    return "";
  } catch (const kernel::Refused& r) {
    return *certificate + ": " + r.why;
  }
}

TEST(Certify, LinearFacts) {
  EXPECT_EQ(open({"ge i0-a", "ge a-1-i0"}), "");
  EXPECT_EQ(open({"eq 2*i0-4*a-1"}), "");
  EXPECT_EQ(open({"ge 3*i0-2*i1-1", "ge 2*i1-3*i0", "eq k-i0"}), "");
  EXPECT_EQ(open({"any 2 ge -a ge i0-a", "ge a-1-i0"}), "");
  EXPECT_EQ(open({"any 2 eq i0 eq i0-1", "any 2 eq i0-2 eq i0-3"}), "");
  EXPECT_EQ(open({"any 0"}), "");
  EXPECT_EQ(open({"ge i0-a", "ge a-i0"}), "none is found");
  EXPECT_EQ(open({}), "none is found");
}

TEST(Certify, Quotients) {
  EXPECT_EQ(open({"ge i0-[a-1/2]-1", "ge a-1-2*i0"}), "");
  EXPECT_EQ(open({"ge -[a/b]", "ge a-b"}), "");
  EXPECT_EQ(open({"eq a-2*b", "any 2 ge [a/2]-b-1 ge b-1-[a/2]"}), "");
  EXPECT_EQ(open({"eq a-b*c", "any 2 ge [a/b]-c-1 ge c-1-[a/b]"}), "");
  EXPECT_EQ(open({"eq a-b", "any 2 ge [a*k/c]-[b*k/c]-1 ge [b*k/c]-[a*k/c]-1"}), "");
  EXPECT_EQ(open({"eq c-1", "any 2 ge [[i0/a]/b]-[i0/a*b*c]-1 ge [i0/a*b*c]-[[i0/a]/b]-1"}), "");
  EXPECT_EQ(open({"ge [i0/a]-1", "ge a-1-i0"}), "");
  EXPECT_EQ(open({"ge -1-[i0/a]", "ge i0"}), "");
  EXPECT_EQ(open({"eq g*[a/g]-a", "ge -[a/g]"}), "");
  EXPECT_EQ(open({"eq g*[a/g]-a", "ge i0", "ge -1-[i0/[a/g]]"}), "");
  EXPECT_EQ(open({"ge a-b", "any 2 ge -1-[-b/a]+[-1/b] ge -1+[-b/a]-[-1/b]"}), "");
  EXPECT_EQ(open({"ge [i0/i1]", "ge -1-i0"}), "none is found");  // the denominator may be 0
}

/// As operators' formulas have them, before anything is simplified.
TEST(Certify, QuotientsInOtherWords) {
  EXPECT_EQ(open({"any 2 ge [2*a/2]-a-1 ge a-1-[2*a/2]"}), "");
  EXPECT_EQ(open({"any 2 ge [a*b+k/b]-a-[k/b]-1 ge a+[k/b]-1-[a*b+k/b]"}), "");
  EXPECT_EQ(open({"any 2 ge [[i0/a]+k/b]-[i0+a*k/a*b]-1 ge [i0+a*k/a*b]-[[i0/a]+k/b]-1"}), "");
  EXPECT_EQ(open({"any 2 ge [a*c+b*c/a+b]-c-1 ge c-1-[a*c+b*c/a+b]"}), "");
  EXPECT_EQ(open({"any 2 ge [2*k+1/2*a]-[k/a]-1 ge [k/a]-1-[2*k+1/2*a]"}), "");
  EXPECT_EQ(open({"ge a-2", "ge k*{0,1,a}-k-1"}), "");
}

/// Two quotients that become the same one when equalities are used up.
TEST(Certify, QuotientsThatBecomeOne) {
  EXPECT_EQ(open({"ge k-1", "eq b-a", "eq k*c-a", "eq k*[b/k]-b",
                  "any 2 ge -1+k*[a/k]-a ge -1-k*[a/k]+a"}),
            "");
  EXPECT_EQ(open({"eq b-a", "eq g*c-a", "eq g*[b/g]-b", "ge -1+[a/g]-c"}), "");
}

/// Quotients by quotients, and products with quotients by numbers.
TEST(Certify, QuotientsWithin) {
  EXPECT_EQ(open({"ge 1-i1", "ge i1",
                  "any 2 ge -1+a*[i1/1+[2/2]]-a*[i1/2] ge -1-a*[i1/1+[2/2]]+a*[i1/2]"}),
            "");
  EXPECT_EQ(open({"ge a-1-k", "ge k", "ge i1-2", "ge -1+a-a*[i1/1+[2/2]]-k"}), "");
  EXPECT_EQ(open({"ge a-1-k", "ge k", "ge i1-1", "ge -1+a-a*[i1/1+[2/2]]-k"}), "none is found");
  EXPECT_EQ(open({"eq c*f-2*a", "eq f-a", "ge a-1-k", "ge k", "ge 2*c-1-i1", "ge -2*a+a*[i1/2]+k"}),
            "");
  EXPECT_EQ(open({"ge a-1-k", "ge k", "ge 4-i1", "ge -2*a+a*[i1/2]+k"}), "none is found");
  EXPECT_EQ(open({"eq g*[b/g]-b", "ge i1-b", "ge k",
                  "ge -1+a*[i1/[b/g]]-a*[-b+i1/[b/g]]-a*[i1/[2*b/2*g]]-k"}),
            "");
}

TEST(Certify, Lookups) {
  EXPECT_EQ(open({"ge {0,i0,a}-a"}), "");
  EXPECT_EQ(open({"ge -1-{0,i0,a}"}), "");
  EXPECT_EQ(open({"ge i0-1", "ge 1-i0", "ge a-2", "any 2 ge {0,i0,a}-2 ge -{0,i0,a}"}), "");
  EXPECT_EQ(open({"ge i0-1", "ge 1-i0", "any 2 ge {0,i0,a}-2 ge -{0,i0,a}"}), "none is found");
  EXPECT_EQ(open({"eq i0-i1", "ge {0,i0,a}-{0,i1,a}-1"}), "");
}

TEST(Certify, Products) {
  EXPECT_EQ(open({"ge -a*b*c"}), "");
  EXPECT_EQ(open({"eq s1*s2*s3-1", "any 2 ge -s1*s2 ge s1*s2-2"}), "");
  EXPECT_EQ(open({"ge i0", "ge s1-1-i0", "ge i1", "ge s2-1-i1", "ge s2*i0+i1-s1*s2"}), "");
  EXPECT_EQ(open({"ge i0", "ge s1-1-i0", "ge i1", "ge s2-1-i1", "ge i2", "ge s3-1-i2",
                  "ge [s2*s3*i0+s3*i1+i2/s1*s2*s3]-1"}),
            "");
  EXPECT_EQ(open({"ge d-b*d", "ge b-2"}), "");
  EXPECT_EQ(open({"ge i0", "ge a-1-i0", "ge i1", "ge a-1-i1", "eq a*k+i0-a*i2-i1", "ge k-i2-1"}),
            "");
  EXPECT_EQ(open({"ge a*b-c", "ge c-a*b"}), "none is found");
}

/// The provers' facts in the kernel's words: names are told apart, quotients and tables are the
/// same.
TEST(Certify, SaysTheProversFacts) {
  SymbolPool pool;
  Var a = pool.named("a.0"), i = pool.fresh("i", SymbolKind::Position),
      j = pool.fresh("i", SymbolKind::Bound), odd = pool.fresh("2 x", SymbolKind::Bound);
  Poly n = Poly::symbol(a), p = Poly::symbol(i), q = Poly::symbol(j), x = Poly::symbol(odd);
  Poly t = pool.lookup(pool.table({Poly(0), n, Poly(1)}), p, n + Poly(1));
  Conjunction facts;
  add(facts, pool.floordiv(p + q * x, n) <= t);
  add(facts, p < n || q == Poly(3));
  kernel::Symbols symbols;
  kernel::Translation words(symbols);
  std::vector<std::string> said;
  for (const kernel::Fact& f : words.of(facts)) said.push_back(kernel::text(symbols, f));
  std::sort(said.begin(), said.end());
  EXPECT_EQ(said, (std::vector<std::string>{"any 2 ge -1+a.0-i eq -3+i_2",
                                            "ge {0,i,1+a.0}-[i+i_2*_2_x/a.0]"}));
  EXPECT_EQ(symbols.text(symbols.entries(0)[1]), "a.0");
  EXPECT_EQ(symbols[words.of(a)].least, 1);
  EXPECT_EQ(symbols[words.of(i)].least, std::nullopt);
}

}  // namespace
}  // namespace regraft::verify
