// Rules read from right to left.
#include <utility>

#include "ir/text.h"

namespace regraft {

bool is_reversible(const Rule& rule) {
  Rule both = rule;
  both.both = true;
  return validate(both).ok();
}

Rule reversed(const Rule& rule) {
  Rule r = rule;
  std::swap(r.lhs, r.rhs);
  if (r.name.ends_with('~'))
    r.name.pop_back();
  else
    r.name += '~';
  // Reading its text orders variables and signatures by the new left side.
  auto parsed = parse_rule(to_string(r));
  CHECK(parsed.has_value());
  return *std::move(parsed);
}

std::vector<Rule> directions(const Rule& rule) {
  Rule forward = rule;
  forward.both = false;
  if (!rule.both) return {forward};
  return {forward, reversed(forward)};
}

}  // namespace regraft
