// Certificates for facts about sizes: what the kernel accepts, no small integers satisfy.
#include "tests/fuzz/fuzz.h"
#include "tests/verify/kernel/support.h"

namespace regraft {
namespace {

using kernel::Case;
using kernel::Kind;
using kernel::Refused;

/// Few symbols, of which the sizes are small from the start: all values can be tried.
bool can_try_all(const Case& c) {
  size_t leaves = 0;
  for (kernel::Symbol s = 0; s < c.symbols.size(); ++s) {
    if (c.symbols[s].kind < Kind::Quotient) ++leaves;
    if (c.symbols[s].least && (*c.symbols[s].least < -2 || *c.symbols[s].least > 2)) return false;
  }
  return leaves <= 5;
}

void check(std::string_view text) {
  Case c;
  try {
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      c.read(line);
    }
    for (const kernel::Fact& f : c.facts) {
      std::string said = kernel::text(c.symbols, f);
      CLAIM(kernel::fact_of(c.symbols, said) == f, said);
    }
    kernel::check_unsatisfiable(c.symbols, c.facts, c.certificate);
  } catch (const Refused& r) {
    CLAIM(!r.why.empty() && r.why.size() < 100'000, r.why);
    return;
  }
  if (can_try_all(c)) CLAIM(!kernel::satisfiable(c.symbols, c.facts, 3), c.certificate);
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  const std::string symbols = "size n 1\nsize m 1\nsize z 0\nindex i\nindex j\ntable 2 n-1\n";
  std::vector<Seed> seeds;
  for (const char* text : {
           "fact ge i-n\nfact ge n-1-i\ncertificate lin 1 2",
           "fact ge 2*i-1\nfact ge 1-2*i\ncertificate lin 1 /2;lin 2 /2;lin 3 4",
           "fact eq i-n\nfact ge -i*n\ncertificate times 1 n;least n;lin 2 4*4 3 2:4",
           "fact ge i-1\nfact ge j-1\nfact ge -i*j\ncertificate lin 1*2 1 2 3",
           "fact ge i-j\nfact ge j-i\nfact ge [i/2]-[j/2]-1\n"
           "certificate both 1 2;same [i/2] [j/2] 4 0;lin 3 -1:5",
           "fact ge n*[i/n]-i-1\ncertificate least n;quotient [i/n] 2;lin 1 3",
           "fact ge -1-{0,i,n}\ncertificate least n;lookup {0,i,n} 2;lin 1 3",
           "fact eq i\nfact ge {0,i,n}-3\nfact ge n-3\n"
           "certificate entry {0,i,n} 0 1 0 3;lin 2 -1:4",
           "fact any 2 eq i eq i-1\nfact ge i*i-2\n"
           "certificate cases 1;times 3 i;lin 2 -1:4;times 3 i+1;lin 2 -1:4",
           "fact eq i*i-2\ncertificate either i-2;lin 2*2 4:2 -1:1;either -2-i;lin 3*3 4:3 -1:1;"
           "lin 2*3 1",
       })
    seeds.emplace_back("case-" + std::to_string(seeds.size()), symbols + text + "\n");
  return seeds;
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  regraft::check(regraft::fuzz::text_of(data, size));
  return 0;
}
