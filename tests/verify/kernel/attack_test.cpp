// Certificates that were found, and what becomes of them when they or their facts are changed: what
// the kernel accepts is compared with brute force at small integers.
#include <gtest/gtest.h>

#include <functional>

#include "base/rng.h"
#include "tests/verify/kernel/support.h"
#include "verify/certificates/certify.h"

namespace regraft::kernel {
namespace {

using Values = std::map<Symbol, int64_t>;

/// What docs/kernel.md says; a quotient by less than 1 and what is outside of a table are 0 here.
int64_t value_of(const Symbols& symbols, const Poly& p, const Values& values) {
  int64_t sum = 0;
  for (const auto& [monomial, c] : p.terms()) {
    int64_t x = c;
    for (Symbol s : monomial) {
      const SymbolData& data = symbols[s];
      if (data.kind < Kind::Quotient) {
        x *= values.at(s);
        continue;
      }
      int64_t a = value_of(symbols, data.first, values);
      int64_t b = value_of(symbols, data.second, values);
      if (data.kind == Kind::Quotient) {
        x *= b < 1 ? 0 : a >= 0 ? a / b : -((-a + b - 1) / b);
        continue;
      }
      const std::vector<Poly>& entries = symbols.entries(data.table);
      bool inside = a >= 0 && a < static_cast<int64_t>(entries.size());
      int64_t entry = inside ? value_of(symbols, entries[static_cast<size_t>(a)], values) : 0;
      x *= b < 1 ? 0 : std::clamp<int64_t>(entry, 0, b - 1);
    }
    sum += x;
  }
  return sum;
}

bool holds(const Symbols& symbols, const Fact& f, const Values& values) {
  if (f.form == Fact::NonNegative) return value_of(symbols, f.poly, values) >= 0;
  if (f.form == Fact::Zero) return value_of(symbols, f.poly, values) == 0;
  auto part = [&](const Fact& g) { return holds(symbols, g, values); };
  return f.form == Fact::All ? std::all_of(f.parts.begin(), f.parts.end(), part)
                             : std::any_of(f.parts.begin(), f.parts.end(), part);
}

/// Small integers satisfy all the facts.
bool satisfiable(const Symbols& symbols, const std::vector<Fact>& facts) {
  constexpr int64_t kMost = 4;
  Values values;
  std::function<bool(Symbol)> from = [&](Symbol s) {
    while (s < symbols.size() && symbols[s].kind >= Kind::Quotient) ++s;
    if (s == symbols.size())
      return std::all_of(facts.begin(), facts.end(),
                         [&](const Fact& f) { return holds(symbols, f, values); });
    for (int64_t x = symbols[s].least.value_or(-kMost + 1); x <= kMost; ++x) {
      values[s] = x;
      if (from(s + 1)) return true;
    }
    return false;
  };
  return from(0);
}

class Attack : public testing::Test {
 protected:
  Attack() {
    make_usual(symbols);
    symbols.table({Poly(1), symbols.read("n-1"), Poly(0)});
  }
  int64_t draw(int64_t low, int64_t high) { return rng.between(low, high); }
  Poly poly() {
    static const char* const kSymbols[] = {"n", "m",     "z",     "i",     "j",     "i",      "n",
                                           "j", "[i/n]", "[n/m]", "[j/3]", "[j/z]", "{0,i,m}"};
    Poly p(draw(-3, 3));
    for (int64_t terms = draw(1, 3); terms > 0; --terms) {
      Poly term(draw(0, 1) == 0 ? 1 : -1);
      if (draw(0, 3) == 0) term = term * Poly(draw(1, 3));
      for (int64_t factors = draw(0, 3) == 0 ? 2 : 1; factors > 0; --factors)
        term = term * symbols.read(kSymbols[draw(0, std::size(kSymbols) - 1)]);
      p = p + term;
    }
    return p;
  }
  Fact literal() { return draw(0, 3) == 0 ? zero(poly()) : non_negative(poly()); }
  Fact fact() {
    return draw(0, 4) == 0
               ? any({literal(), draw(0, 1) == 0 ? all({literal(), literal()}) : literal()})
               : literal();
  }
  std::vector<Fact> facts() {
    std::vector<Fact> all;
    for (int64_t k = draw(2, 5); k > 0; --k) all.push_back(fact());
    return all;
  }
  /// One number, step, or word is another one.
  std::string mutant(const std::string& certificate) {
    std::vector<std::string> steps(1);
    for (char c : certificate) {
      if (c == ';')
        steps.emplace_back();
      else
        steps.back() += c;
    }
    auto any_step = [&]() -> std::string& { return steps[rng.below(steps.size())]; };
    switch (draw(0, 5)) {
      case 0:
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(rng.below(steps.size())));
        break;
      case 1:
        std::swap(any_step(), any_step());
        break;
      case 2:
        steps.push_back(any_step());
        break;
      case 3: {
        std::string& step = any_step();
        static const char* const kNames[] = {"lin", "both", "quotient", "lookup", "cases", "least"};
        step = kNames[rng.below(std::size(kNames))] +
               step.substr(std::min(step.find(' '), step.size()));
        break;
      }
      default: {
        std::string& step = any_step();
        std::vector<size_t> digits;
        for (size_t k = 0; k < step.size(); ++k)
          if (step[k] >= '0' && step[k] <= '9') digits.push_back(k);
        if (!digits.empty())
          step.replace(digits[rng.below(digits.size())], 1, std::to_string(draw(0, 12)));
      }
    }
    std::string all;
    for (const std::string& s : steps) all += (all.empty() ? "" : ";") + s;
    return all;
  }
  std::vector<Fact> changed(std::vector<Fact> all) {
    Fact& f = all[rng.below(all.size())];
    if (f.form == Fact::Any)
      f = fact();
    else
      f.poly = draw(0, 1) == 0 ? f.poly + Poly(draw(1, 3)) : f.poly + poly() - poly();
    return all;
  }
  bool accepted(const std::vector<Fact>& all, const std::string& certificate) {
    try {
      check_unsatisfiable(symbols, all, certificate);
      return true;
    } catch (const Refused&) {
      return false;
    }
  }
  Symbols symbols;
  Rng rng{11};
};

TEST_F(Attack, WhatIsFoundIsAcceptedAndNoMutantOfItProvesSomethingFalse) {
  constexpr int kWanted = 400, kMutants = 40;
  int found = 0, open = 0, mutants_accepted = 0;
  for (int k = 0; found < kWanted; ++k) {
    ASSERT_LT(k, 100 * kWanted);
    std::vector<Fact> all = facts();
    if (satisfiable(symbols, all)) continue;
    auto certificate = verify::find_certificate(symbols, all);
    if (!certificate) {
      ++open;
      continue;
    }
    ++found;
    ASSERT_TRUE(accepted(all, *certificate)) << *certificate;
    for (int j = 0; j < kMutants; ++j) {
      std::vector<Fact> others = draw(0, 2) == 0 ? all : changed(all);
      std::string other = draw(0, 2) == 0 ? *certificate : mutant(*certificate);
      if (!accepted(others, other)) continue;
      ++mutants_accepted;
      ASSERT_FALSE(satisfiable(symbols, others)) << other;
    }
  }
  std::printf("%d certificates; %d questions without; %d of %d mutants still right\n", found, open,
              mutants_accepted, kWanted * kMutants);
  EXPECT_LT(open, found);                // some of them larger integers satisfy
  EXPECT_GT(mutants_accepted, kWanted);  // the attack is near enough to the truth to be one
}

TEST_F(Attack, WhatSmallIntegersSatisfyHasNoCertificate) {
  for (int k = 0; k < 1'000; ++k) {
    std::vector<Fact> all = facts();
    if (!satisfiable(symbols, all)) continue;
    auto certificate = verify::find_certificate(symbols, all);
    ASSERT_FALSE(certificate) << *certificate;
  }
}

}  // namespace
}  // namespace regraft::kernel
