#pragma once
// What tests of derivations share.
#include <gtest/gtest.h>

#include "tests/verify/kernel/support.h"
#include "verify/kernel/derivation.h"

namespace regraft::kernel {

/// Sums over the usual symbols and indices k, l, u from text.
class Derivation : public ::testing::Test {
 protected:
  void SetUp() override {
    make_usual(symbols_);
    for (const char* name : {"k", "l", "u"}) symbols_.make(Kind::Index, name, std::nullopt);
  }
  Poly poly(const std::string& text) { return symbols_.read(text); }
  Symbol symbol(const std::string& name) { return *symbols_.find(name); }
  Atom read(int head, const std::vector<std::string>& positions) {
    Atom a{.kind = Atom::Read, .head = head};
    for (const std::string& p : positions) a.positions.push_back(poly(p));
    return a;
  }
  static Atom function(Fn f, Sum argument) {
    return {.kind = Atom::Apply,
            .head = static_cast<int>(f),
            .argument = std::make_shared<Sum>(std::move(argument))};
  }
  Product product(int64_t c, const std::vector<std::string>& bound,
                  const std::vector<std::string>& guard, std::vector<Atom> atoms) {
    Product p{{c, 1}, {}, facts_of(symbols_, guard), std::move(atoms)};
    for (const std::string& b : bound) p.bound.push_back(symbol(b));
    return p;
  }
  /// Why the lines do not show the sum to be 0; empty: they do.
  std::string why_refused(const std::vector<std::string>& facts, const Sum& sum,
                          const std::string& text) {
    try {
      Lines lines(text);
      Goal(symbols_, {facts_of(symbols_, facts), {}, nullptr, 0}, sum).run(lines);
      if (!lines.empty()) throw Refused{"more lines"};
      return "";
    } catch (const Refused& r) {
      return r.why;
    }
  }
  void accepts(const std::vector<std::string>& facts, const Sum& sum, const std::string& text) {
    EXPECT_EQ(why_refused(facts, sum, text), "") << text;
  }
  void refuses(const std::vector<std::string>& facts, const Sum& sum, const std::string& text) {
    EXPECT_NE(why_refused(facts, sum, text), "") << text;
  }

  Symbols symbols_;
};

}  // namespace regraft::kernel
