// seal_rules OUT < CANDIDATES: a file with the seals of whatever its lines claim, as someone makes
// it who alters a database on purpose.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "substitutions/rule_db.h"

int main(int, char** argv) {
  using namespace regraft;
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  auto file = substitutions::parse_rules(text, "stdin", substitutions::Admit::Candidates);
  if (!file) return fmt::print(stderr, "{}\n", file.error().message), 3;
  Status written = substitutions::write_rules(argv[1], *file);
  if (!written) return fmt::print(stderr, "{}\n", written.error().message), 3;
  return 0;
}
