#include "verify/refute/sampling.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "ir/algebra/real_expression.h"
#include "verify/arithmetic/walk.h"

namespace regraft::verify {
namespace {

using Symbols = std::set<Var, SymbolLess>;

void collect(const Poly& p, Symbols& out) {
  any_symbol(p, [&](Var v) {
    if (v->kind != SymbolKind::Quotient) out.insert(v);
    return false;
  });
}
void collect(const Formula& f, Symbols& out) {
  for_each_poly(f, [&](const Poly& p) { collect(p, out); });
}
void collect(const Graph& g, Symbols& out) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const Node& n = g.node(id);
    for (const auto& t : n.types)
      if (t.shape)
        for (const Poly& d : *t.shape) collect(d, out);
    for (const auto& list : n.attrs.ints)
      for (const Poly& p : list) collect(p, out);
    for (const Real& r : n.attrs.reals) {
      if (!r.symbol) continue;
      if (!is_expression(r.symbol->name)) {
        out.insert(r.symbol);
        continue;
      }
      for_each_name(expression_of(r.symbol->name), [&](const std::string& name) {
        out.insert(symbol_of_name(name, *r.symbol->pool));
      });
    }
  }
}

Symbols symbols_of(const RuleInstance& instance) {
  Symbols all;
  collect(instance.lhs, all);
  collect(instance.rhs, all);
  for (const auto& f : instance.requires_lhs) collect(f, all);
  for (const auto& f : instance.requires_rhs) collect(f, all);
  return all;
}

int64_t elements(const Graph& g, const Valuation& sizes) {
  int64_t total = 0;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    for (const auto& t : g.node(id).types) {
      int64_t n = 1;
      for (const Poly& d : *t.shape) {
        int64_t e = evaluate(d, sizes);
        if (e < 1 || e > 4096) return -1;
        n *= e;
        if (n > (1 << 20)) return -1;
      }
      total += n;
    }
  }
  return total;
}

/// One draw of a size; `round` sets the mixture.
int64_t draw(Rng& rng, Var v, uint64_t round, int64_t spread, std::vector<int64_t>& used) {
  int64_t low = v->min;
  if (round % 3 == 2) return low + static_cast<int64_t>(rng.below(static_cast<uint64_t>(spread)));
  if (round % 3 == 0) low = std::max<int64_t>(low, v->min >= 1 ? 2 : 0);
  int64_t x = rng.between(low, low + spread);
  auto seen = [&] { return std::find(used.begin(), used.end(), x) != used.end(); };
  if (round % 3 == 0 && v->min >= 1)
    for (int tries = 0; tries < 4 && seen(); ++tries) x = rng.between(low, low + spread);
  used.push_back(x);
  return x;
}

/// One try: of each free size, in their order.
void draw_free(const SizeSpace& space, Rng& rng, uint64_t round, int64_t spread,
               std::vector<int64_t>& sizes) {
  std::vector<int64_t> used;
  sizes.clear();
  for (Var v : space.free()) sizes.push_back(draw(rng, v, round, spread, used));
}

}  // namespace

SizeSpace::SizeSpace(const RuleInstance& instance)
    : instance_(instance), solved_(solve_sizes(instance.requires_lhs)) {
  for (Var v : symbols_of(instance)) {
    usable_ = usable_ && v->kind == SymbolKind::Size;
    (solved_.sizes.count(v) ? dependent_ : free_).push_back(v);
  }
}

bool SizeSpace::complete(Valuation& sizes) const {
  for (Var v : dependent_) {
    int64_t x = evaluate(solved_.sizes.at(v), sizes);
    if (x < v->min || x > 4096) return false;
    sizes[v] = x;
  }
  return evaluate(instance_.requires_lhs, sizes) &&
         std::all_of(
             instance_.real_conditions.begin(), instance_.real_conditions.end(),
             [&](const RealCondition& c) { return holds_at(c, instance_.lhs.pool(), sizes); });
}

bool holds_at(const RealCondition& c, SymbolPool& pool, const Valuation& sizes) {
  auto value = [&](const std::string& text) {
    Var v = pool.named("=" + text, 0);
    return evaluate(Attrs<Poly>{{}, {{0, v}}}, sizes).reals[0].value;
  };
  return holds(value(c.first), c.relation, value(c.second));
}

bool SizeSpace::for_each(int64_t excess, const std::function<bool(const Valuation&)>& visit) const {
  Valuation sizes;
  auto from = [&](auto& self, size_t k, int64_t left) -> bool {
    if (k == free_.size()) return left == 0 && visit(sizes);
    bool last = k + 1 == free_.size();
    for (int64_t x = last ? left : 0; x <= left; ++x) {
      sizes[free_[k]] = free_[k]->min + x;
      if (self(self, k + 1, left - x)) return true;
    }
    return false;
  };
  return from(from, 0, excess);
}

int64_t total_elements(const RuleInstance& instance, const Valuation& sizes) {
  int64_t a = elements(instance.lhs, sizes), b = elements(instance.rhs, sizes);
  return a < 0 || b < 0 ? -1 : a + b;
}

namespace {

/// Up to `count` distinct ones, smallest first; `draw` makes a try of the free sizes, in their
/// order.
std::vector<Valuation> drawn_sizes(
    const RuleInstance& instance, const SizeSpace& space, size_t count,
    const std::function<void(uint64_t tries, std::vector<int64_t>& sizes)>& draw) {
  struct Found {
    int64_t elements;
    Valuation sizes;
  };
  std::vector<Found> found;
  try {
    size_t again = 0;  // draws of sizes that were found before
    Valuation sizes;
    std::vector<int64_t> drawn;
    std::set<std::vector<int64_t>> known;  // of what was found; the other sizes follow from them
    for (uint64_t tries = 0; tries < 3000 && found.size() < count && again < 8 * count; ++tries) {
      draw(tries, drawn);
      if (known.contains(drawn)) {
        ++again;
        continue;
      }
      for (size_t k = 0; k < drawn.size(); ++k) sizes[space.free()[k]] = drawn[k];
      if (!space.complete(sizes)) continue;
      const int64_t n = elements(instance.lhs, sizes);
      if (n < 0 || n > 6000) continue;
      found.push_back({n, sizes});
      known.insert(drawn);
    }
  } catch (const PolyOverflow&) {
  }
  std::stable_sort(found.begin(), found.end(),
                   [](auto& a, auto& b) { return a.elements < b.elements; });
  std::vector<Valuation> r;
  for (auto& f : found) r.push_back(std::move(f.sizes));
  return r;
}

enum class Role : uint8_t { Size, Attribute, Real };

/// What the free symbols are, in their order.
std::vector<Role> roles_of(const RuleInstance& instance, const SizeSpace& space) {
  Symbols sizes, reals;
  for (const auto& of_one : instance.sizes)
    for (const auto& size : of_one)
      if (size) sizes.insert(*size);
  for (const auto& [name, v] : instance.real_symbols) reals.insert(v);
  std::vector<Role> r;
  for (Var v : space.free())
    r.push_back(sizes.count(v) ? Role::Size : reals.count(v) ? Role::Real : Role::Attribute);
  return r;
}

/// A small number times a power of some of the factors.
int64_t draw_product(Rng& rng, const std::vector<int64_t>& factors) {
  const uint64_t power = std::max<uint64_t>(rng.below(4), 1) - 1;  // 0 as often as 1 and 2 together
  int64_t x = rng.below(3) == 0 ? rng.between(1, 4) : 1;
  for (int64_t factor : factors) {
    if (rng.below(4) == 0) continue;
    for (uint64_t k = 0; k < power; ++k) x = checked_product(x, factor);
  }
  return x;
}

}  // namespace

std::vector<Valuation> sample_sizes(const RuleInstance& instance, uint64_t seed, size_t count,
                                    int64_t spread) try {
  SizeSpace space(instance);
  if (!space.usable()) return {};
  Rng rng(seed);
  return drawn_sizes(instance, space, count, [&](uint64_t tries, std::vector<int64_t>& sizes) {
    draw_free(space, rng, tries, spread + static_cast<int64_t>(tries / 300), sizes);
  });
} catch (const PolyOverflow&) {
  return {};
}

std::vector<Valuation> sample_products(const RuleInstance& instance, uint64_t seed,
                                       size_t count) try {
  SizeSpace space(instance);
  const std::vector<Role> roles = roles_of(instance, space);
  if (!space.usable() || std::ranges::count(roles, Role::Attribute) == 0) return {};
  Rng rng(seed);
  return drawn_sizes(instance, space, count, [&](uint64_t, std::vector<int64_t>& sizes) {
    std::vector<int64_t> factors;
    sizes.assign(roles.size(), 0);
    for (size_t k = 0; k < roles.size(); ++k) {
      if (roles[k] == Role::Size) continue;
      sizes[k] = space.free()[k]->min + static_cast<int64_t>(rng.below(3));
      if (roles[k] == Role::Attribute && sizes[k] > 1) factors.push_back(sizes[k]);
    }
    for (size_t k = 0; k < roles.size(); ++k)
      if (roles[k] == Role::Size) sizes[k] = draw_product(rng, factors);
  });
} catch (const PolyOverflow&) {
  return {};
}

namespace {

/// The number that an unknown real has at these sizes.
Real real_at(Var real, const Valuation& sizes) {
  return evaluate(Attrs<Poly>{{}, {{0, real}}}, sizes).reals[0];
}

}  // namespace

std::vector<Valuation> with_zero(const RuleInstance& instance, Var real,
                                 const std::vector<Valuation>& sizes) {
  constexpr int64_t kNumbers = 16;  // more than an unknown real has
  std::vector<Valuation> r;
  for (Valuation at : sizes)
    for (int64_t sample = 0; sample < kNumbers; ++sample) {
      at[real] = sample;
      if (real_at(real, at).value != 0) continue;
      if (SizeSpace(instance).complete(at)) r.push_back(at);
      break;
    }
  return r;
}

namespace {

std::string text_of(const Real& r) {
  std::string s = std::to_string(r.value);
  s.erase(s.find_last_not_of('0') + 1);
  return s.ends_with('.') ? s + "0" : s;
}

}  // namespace

std::string describe(const RuleInstance& instance, const Valuation& sizes) {
  std::string text;
  Symbols shown;
  for (Value in : instance.lhs.inputs()) {
    const Node& n = instance.lhs.node(in.node);
    text += (text.empty() ? "" : " ") + (n.names.empty() ? "x" : n.names[0]) + "=[";
    const Shape& shape = *n.types[0].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      text += (d ? "," : "") + std::to_string(evaluate(shape[d], sizes));
      collect(shape[d], shown);
    }
    text += "]";
  }
  for (const auto& [v, x] : sizes) {
    bool real = std::any_of(instance.real_symbols.begin(), instance.real_symbols.end(),
                            [&, v = v](auto& r) { return r.second == v; });
    if (real)
      text += " " + v->name + "=" + text_of(real_at(v, sizes));
    else if (!shown.count(v))
      text += " " + v->name + "=" + std::to_string(x);
  }
  return text;
}

}  // namespace regraft::verify
