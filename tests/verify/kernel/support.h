#pragma once
// What tests of the kernel share: symbols with short names, cases from text, and what facts mean at
// small integers.
#include <string>
#include <vector>

#include "verify/kernel/certificate.h"

namespace regraft::kernel {

/// Sizes n, m (from 1 on) and z (from 0 on), indices i, j.
void make_usual(Symbols& symbols);

Fact fact_of(Symbols& symbols, const std::string& text);
std::vector<Fact> facts_of(Symbols& symbols, const std::vector<std::string>& texts);

/// Why the certificate is refused; empty: it is accepted.
std::string why_refused(Symbols& symbols, const std::vector<std::string>& facts,
                        const std::string& certificate);

/// A question and what answers it: lines `size NAME LEAST`, `index NAME`, `table POLY ...`, `fact
/// FACT`, and at last `certificate STEPS`.
struct Case {
  Symbols symbols;
  std::vector<Fact> facts;
  std::string certificate;
  /// Takes a line; throws Refused.
  void read(std::string_view line);
};

/// Some integers of at most `most` (from the least values on, or -most + 1) satisfy all the facts,
/// as docs/kernel.md says; a quotient by less than 1 and what is outside of a table are 0 here.
/// Where numbers beyond 64 bits are met, nothing is said.
bool satisfiable(const Symbols& symbols, const std::vector<Fact>& facts, int64_t most);

}  // namespace regraft::kernel
