#include "gen/generalise/sample.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

constexpr int kAttempts = 600;
constexpr int kRealAttempts = 200;

/// Draws extents from 2 on, apart from each other.
class Drawing {
 public:
  explicit Drawing(const RuleInstance& instance)
      : symbols_(symbols_of(instance)), space_(symbols_, instance.requires_lhs) {
    for (const SpaceSymbol& s : symbols_) extents_ += s.axis >= 0;
  }

  /// `spread`: by how much extents may exceed what they need to be apart; below 0: they may also be
  /// the same, or 1.
  std::optional<Valuation> attempt(Rng& rng, int64_t spread) const {
    Point p(symbols_.size(), 0);
    std::set<int64_t> taken;
    for (int k : space_.free()) {
      const SpaceSymbol& s = symbols_[static_cast<size_t>(k)];
      bool extent = s.axis >= 0;
      int64_t low = extent ? (spread < 0 ? 1 : 2) : s.symbol->min, n = 0;
      int64_t high = extent ? 2 + extents_ + spread : low + 2;
      do n = rng.between(low, high);
      while (extent && spread >= 0 && !taken.insert(n).second);
      p[static_cast<size_t>(k)] = n;
    }
    auto all = space_.completed(std::move(p));
    if (!all) return std::nullopt;
    Valuation values;
    for (size_t k = 0; k < symbols_.size(); ++k) {
      if (spread >= 0 && symbols_[k].axis >= 0 && (*all)[k] < 2) return std::nullopt;
      values[symbols_[k].symbol] = (*all)[k];
    }
    return values;
  }

 private:
  std::vector<SpaceSymbol> symbols_;
  Space space_;
  int64_t extents_ = 0;
};

}  // namespace

std::vector<SpaceSymbol> symbols_of(const RuleInstance& instance) {
  std::vector<SpaceSymbol> r;
  std::set<Var, SymbolLess> seen;
  for (const auto& sizes : instance.sizes)
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] && seen.insert(*sizes[d]).second)
        r.push_back(extent_symbol(*sizes[d], sizes.size(), d));
  auto add = [&](const Graph& g) {
    for (int32_t id = 0; id < g.id_bound(); ++id)
      for (const auto& list : g.node(id).attrs.ints)
        for (const Poly& p : list)
          for_each_symbol(p, [&](Var v) {
            if (seen.insert(v).second) r.push_back({v});
          });
  };
  add(instance.lhs);
  add(instance.rhs);
  return r;
}

bool draw_reals(const RuleInstance& instance, Valuation& values, Rng& rng) {
  if (instance.real_conditions.empty()) return true;
  auto number = [&](const std::string& text) {
    Var v = instance.lhs.pool().named("=" + text, 0);
    return evaluate(Attrs<Poly>{{}, {{0, v}}}, values).reals[0].value;
  };
  for (int k = 0; k < kRealAttempts; ++k) {
    for (const auto& named : instance.real_symbols) values[named.second] = rng.between(0, 7);
    if (std::ranges::all_of(instance.real_conditions, [&](const RealCondition& c) {
          return holds(number(c.first), c.relation, number(c.second));
        }))
      return true;
  }
  return false;
}

std::optional<Valuation> distinct_sizes(const RuleInstance& instance, uint64_t seed) {
  Drawing drawing(instance);
  Rng rng(seed);
  for (int k = 0; k < kAttempts; ++k) {
    int64_t spread = k < kAttempts * 2 / 3 ? 3 + k % 4 : -1;  // at last with repetitions
    auto values = drawing.attempt(rng, spread);
    if (values && draw_reals(instance, *values, rng)) return values;
  }
  return std::nullopt;
}

}  // namespace regraft::gen
