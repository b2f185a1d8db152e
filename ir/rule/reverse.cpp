// Rules read from right to left.
#include <utility>

#include "ir/algebra/scan.h"
#include "ir/rule/pattern.h"

namespace regraft {
namespace {

/// The polynomial as it is read from its text: symbols are those of the pool, by name.
Poly reread(const Poly& p, SymbolPool& pool, int64_t least) {
  if (p.is_constant()) return p;
  std::string printed = text::print(p, [](Var v) { return v->name; });
  text::Scanner in(printed);
  auto read = text::read_poly(in, pool, [&](const std::string& name, size_t) -> Result<Var> {
    return pool.named(name, name[0] == '?' ? least : 1);
  });
  CHECK(read.has_value() && in.at_end());
  return *std::move(read);
}

/// The side as it is read from its text: calls and symbols in the order in which they come there.
Pattern reread(const Pattern& side, SymbolPool& pool) {
  Pattern result;
  std::vector<int32_t> places(side.nodes.size(), -1);
  auto read = [&](auto& self, PatternRef r) -> PatternRef {
    if (is_variable(r)) return r;
    int32_t& place = places[static_cast<size_t>(r.node)];
    if (place >= 0) return {place, r.output};
    PatternNode n = side.nodes[static_cast<size_t>(r.node)];
    for (PatternRef& operand : n.inputs) operand = self(self, operand);
    for (size_t k = 0; k < n.attrs.ints.size(); ++k)
      for (Poly& p : n.attrs.ints[k]) p = reread(p, pool, n.op->ints[k].least());
    place = static_cast<int32_t>(result.nodes.size());
    result.nodes.push_back(std::move(n));
    return {place, r.output};
  };
  for (PatternRef r : side.outputs) result.outputs.push_back(read(read, r));
  return result;
}

void renumber(Pattern& side, const std::vector<int>& new_index) {
  auto change = [&](PatternRef& r) {
    if (is_variable(r)) r = variable_ref(new_index[static_cast<size_t>(variable_of(r))]);
  };
  for (PatternNode& n : side.nodes)
    for (PatternRef& r : n.inputs) change(r);
  for (PatternRef& r : side.outputs) change(r);
}

}  // namespace

bool is_reversible(const Rule& rule) {
  Rule both = rule;
  both.both = true;
  return validate(both).ok();
}

Rule reversed(const Rule& rule) {
  Rule r;
  r.name = rule.name;
  if (r.name.ends_with('~'))
    r.name.pop_back();
  else
    r.name += '~';
  r.both = rule.both;
  r.verdict = rule.verdict;
  r.numerics = rule.numerics_back;
  r.numerics_back = rule.numerics;
  r.origin = rule.origin;
  r.lhs = reread(rule.rhs, *r.pool);
  r.rhs = reread(rule.lhs, *r.pool);
  for (const auto& [a, b, relation] : rule.where) {
    Poly left = reread(a, *r.pool, 1);
    r.where.emplace_back(std::move(left), reread(b, *r.pool, 1), relation);
  }
  r.axis_where = rule.axis_where;
  r.real_where = rule.real_where;
  std::vector<int> order = first_uses(r.lhs);
  CHECK(order.size() == rule.variables.size());
  std::vector<int> new_index(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    new_index[static_cast<size_t>(order[k])] = static_cast<int>(k);
    r.variables.push_back(rule.variables[static_cast<size_t>(order[k])]);
  }
  renumber(r.lhs, new_index);
  renumber(r.rhs, new_index);
  r.domain.resize(rule.domain.size());
  for (size_t s = 0; s < r.domain.size(); ++s)
    for (int v : order) r.domain[s].push_back(rule.domain[s][static_cast<size_t>(v)]);
  return r;
}

std::vector<Rule> directions(const Rule& rule) {
  Rule forward = rule;
  forward.both = false;
  if (!rule.both) return {std::move(forward)};
  Rule back = reversed(forward);
  return {std::move(forward), std::move(back)};
}

}  // namespace regraft
