// Asks the kernel about certificates, one answer a line: kernel_check FILE
// A case is lines `size NAME LEAST`, `index NAME`, `table POLY ...`, `fact FACT`, and at last
// `certificate STEPS`, after which the next case begins.
#include <fstream>
#include <iostream>
#include <memory>

#include "verify/kernel/certificate.h"

namespace regraft::kernel {
namespace {

struct Case {
  Symbols symbols;
  std::vector<Fact> facts;
  std::string refused;

  void read(std::string_view word, Words& words) {
    if (word == "size") {
      std::string_view name = words.next();
      symbols.make(Kind::Size, name, read_integer(words.next()));
    } else if (word == "index") {
      symbols.make(Kind::Index, words.next(), std::nullopt);
    } else if (word == "table") {
      std::vector<Poly> entries;
      while (!words.empty()) entries.push_back(symbols.read(words.next()));
      symbols.table(entries);
    } else {
      facts.push_back(read_fact(symbols, words));
    }
    if (!words.empty()) throw Refused{"a line has too many words"};
  }
};

int run(const char* path) {
  std::ifstream in(path);
  if (!in) return 3;
  auto now = std::make_unique<Case>();
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    std::string word = line.substr(0, line.find(' '));
    std::string rest = line.substr(std::min(line.size(), word.size() + 1));
    try {
      Words words(rest);
      if (!now->refused.empty()) throw Refused{now->refused};
      if (word == "certificate")
        check_unsatisfiable(now->symbols, now->facts, rest);
      else
        now->read(word, words);
    } catch (const Refused& r) {
      now->refused = r.why;
    }
    if (word != "certificate") continue;
    std::cout << (now->refused.empty() ? "accepted" : "refused: " + now->refused) << "\n";
    now = std::make_unique<Case>();
  }
  return 0;
}

}  // namespace
}  // namespace regraft::kernel

int main(int argc, char** argv) { return argc == 2 ? regraft::kernel::run(argv[1]) : 2; }
