#pragma once
// What tests of the kernel share: symbols with short names, facts from text.
#include <string>
#include <vector>

#include "verify/kernel/certificate.h"

namespace regraft::kernel {

/// Sizes n, m (from 1 on) and z (from 0 on), indices i, j.
inline void make_usual(Symbols& symbols) {
  for (const char* name : {"n", "m"}) symbols.make(Kind::Size, name, 1);
  symbols.make(Kind::Size, "z", 0);
  for (const char* name : {"i", "j"}) symbols.make(Kind::Index, name, std::nullopt);
}

inline Fact fact_of(Symbols& symbols, const std::string& text) {
  Words words(text);
  Fact f = read_fact(symbols, words);
  if (!words.empty()) throw Refused{"more than a fact"};
  return f;
}

inline std::vector<Fact> facts_of(Symbols& symbols, const std::vector<std::string>& texts) {
  std::vector<Fact> all;
  for (const std::string& t : texts) all.push_back(fact_of(symbols, t));
  return all;
}

/// Why the certificate is refused; empty: it is accepted.
inline std::string why_refused(Symbols& symbols, const std::vector<std::string>& facts,
                               const std::string& certificate) {
  try {
    check_unsatisfiable(symbols, facts_of(symbols, facts), certificate);
    return "";
  } catch (const Refused& r) {
    return r.why;
  }
}

}  // namespace regraft::kernel
