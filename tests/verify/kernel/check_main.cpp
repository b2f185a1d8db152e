// Asks the kernel about certificates, one answer a line: kernel_check FILE
// The file has cases (support.h), each of which its certificate ends.
#include <fstream>
#include <iostream>
#include <memory>

#include "tests/verify/kernel/support.h"

namespace regraft::kernel {
namespace {

int run(const char* path) {
  std::ifstream in(path);
  if (!in) return 3;
  auto now = std::make_unique<Case>();
  std::string refused;
  for (std::string line; std::getline(in, line);) {
    bool last = line.substr(0, line.find(' ')) == "certificate";
    try {
      if (refused.empty()) now->read(line);
      if (refused.empty() && last) check_unsatisfiable(now->symbols, now->facts, now->certificate);
    } catch (const Refused& r) {
      refused = r.why;
    }
    if (!last) continue;
    std::cout << (refused.empty() ? "accepted" : "refused: " + refused) << "\n";
    now = std::make_unique<Case>();
    refused.clear();
  }
  return 0;
}

}  // namespace
}  // namespace regraft::kernel

int main(int argc, char** argv) { return argc == 2 ? regraft::kernel::run(argv[1]) : 2; }
