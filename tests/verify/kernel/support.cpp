#include "tests/verify/kernel/support.h"

#include <algorithm>
#include <functional>
#include <map>

namespace regraft::kernel {

void make_usual(Symbols& symbols) {
  for (const char* name : {"n", "m"}) symbols.make(Kind::Size, name, 1);
  symbols.make(Kind::Size, "z", 0);
  for (const char* name : {"i", "j"}) symbols.make(Kind::Attribute, name, std::nullopt);
}

Fact fact_of(Symbols& symbols, const std::string& text) {
  Words words(text);
  Fact f = read_fact(symbols, words);
  if (!words.empty()) throw Refused{"more than a fact"};
  return f;
}

std::vector<Fact> facts_of(Symbols& symbols, const std::vector<std::string>& texts) {
  std::vector<Fact> all;
  for (const std::string& t : texts) all.push_back(fact_of(symbols, t));
  return all;
}

std::string why_refused(Symbols& symbols, const std::vector<std::string>& facts,
                        const std::string& certificate) {
  try {
    check_unsatisfiable(symbols, facts_of(symbols, facts), certificate);
    return "";
  } catch (const Refused& r) {
    return r.why;
  }
}

void Case::read(std::string_view line) {
  std::string_view rest = line.substr(std::min(line.size(), line.find(' ')));
  Words words(line);
  if (words.empty()) return;
  std::string_view word = words.next();
  if (word == "certificate") {
    certificate = rest;
    return;
  }
  if (word == "size") {
    std::string_view name = words.next();
    symbols.make(Kind::Size, name, read_integer(words.next()));
  } else if (word == "index") {
    symbols.make(Kind::Index, words.next(), std::nullopt);
  } else if (word == "table") {
    std::vector<Poly> entries;
    while (!words.empty()) entries.push_back(symbols.read(words.next()));
    symbols.table(entries);
  } else if (word == "fact") {
    facts.push_back(read_fact(symbols, words));
  } else {
    throw Refused{"a line is of no known kind"};
  }
  if (!words.empty()) throw Refused{"a line has too many words"};
}

namespace {

using Values = std::map<Symbol, int64_t>;  // of sizes, attributes and indices

/// Throws Refused beyond 64 bits.
int64_t value_of(const Symbols& symbols, const Poly& p, const Values& values) {
  int64_t sum = 0;
  for (const auto& [monomial, c] : p.terms()) {
    int64_t x = c;
    for (Symbol s : monomial) {
      const SymbolData& data = symbols[s];
      int64_t value = 0;
      if (data.kind < Kind::Quotient) {
        value = values.at(s);
      } else {
        int64_t a = value_of(symbols, data.first, values);
        int64_t b = value_of(symbols, data.second, values);
        if (b >= 1 && data.kind == Kind::Quotient) value = a / b - (a % b < 0 ? 1 : 0);
        if (b >= 1 && data.kind == Kind::Lookup) {
          const std::vector<Poly>& entries = symbols.entries(data.table);
          bool inside = a >= 0 && a < static_cast<int64_t>(entries.size());
          if (inside) value = value_of(symbols, entries[static_cast<size_t>(a)], values);
          value = std::clamp<int64_t>(value, 0, b - 1);
        }
      }
      if (__builtin_mul_overflow(x, value, &x)) throw Refused{"too large a number"};
    }
    if (__builtin_add_overflow(sum, x, &sum)) throw Refused{"too large a number"};
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

}  // namespace

bool satisfiable(const Symbols& symbols, const std::vector<Fact>& facts, int64_t most) {
  Values values;
  auto all_hold = [&] {
    try {
      return std::all_of(facts.begin(), facts.end(),
                         [&](const Fact& f) { return holds(symbols, f, values); });
    } catch (const Refused&) {
      return false;
    }
  };
  std::function<bool(Symbol)> from = [&](Symbol s) {
    while (s < symbols.size() && symbols[s].kind >= Kind::Quotient) ++s;
    if (s == symbols.size()) return all_hold();
    for (int64_t x = symbols[s].least.value_or(-most + 1); x <= most; ++x) {
      values[s] = x;
      if (from(s + 1)) return true;
    }
    return false;
  };
  return from(0);
}

}  // namespace regraft::kernel
