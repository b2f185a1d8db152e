#include "verify/numerics/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "ir/algebra/real_expression.h"
#include "ir/rule/family.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

constexpr size_t kSignatures = 4, kMembers = 6;
constexpr size_t kSizesTried = 40;  // not all of them give every window an element
constexpr int64_t kLong = 40;       // size of a long axis
constexpr size_t kLongTried = 4, kLongAxes = 2;
constexpr int64_t kSettingElements = 3000;
constexpr size_t kRealDraws = 3;
constexpr size_t kRealsTried = 200;  // until a condition holds
constexpr double kReals[] = {0.25, -1.7, 3, 1e-3, 1e-7, 0, 100, -1};

/// The values that attributes have when nobody sets them, by the symbol that stands for them.
RealValues usual_values(const RuleInstance& instance) {
  RealValues r;
  for (const Graph* g : {&instance.lhs, &instance.rhs})
    for (int32_t id = 0; id < g->id_bound(); ++id) {
      if (!g->contains(id) || g->node(id).kind != NodeKind::Call) continue;
      const Node& n = g->node(id);
      for (size_t k = 0; k < n.attrs.reals.size(); ++k)
        if (Var v = n.attrs.reals[k].symbol) r.emplace(v, n.op->reals[k].fallback);
    }
  for (auto& [v, x] : r) x = static_cast<float>(x);
  return r;
}

/// Gives expressions their values; false where a condition of the rule does not hold.
bool settle(const RuleInstance& instance, const Valuation& sizes, RealValues& reals) {
  SymbolPool& pool = instance.lhs.pool();
  auto value = [&](const std::string& text) {
    auto named = [&](const std::string& name) -> std::optional<double> {
      Var v = symbol_of_name(name, pool);
      if (name[0] == '?') return reals.count(v) ? std::optional(reals.at(v)) : std::nullopt;
      return sizes.count(v) ? std::optional<double>(sizes.at(v)) : std::nullopt;
    };
    return value_of(expression_of(text), named).value_or(std::nan(""));
  };
  for (const RealCondition& c : instance.real_conditions)
    for (const auto& [one, other] : {std::pair(c.first, c.second), std::pair(c.second, c.first)})
      if (c.relation == Relation::Equal && one[0] == '?' && other[0] != '?')
        reals[symbol_of_name(one, pool)] = value("=" + other);
  for (auto& [v, x] : reals)
    if (is_expression(v->name)) x = static_cast<float>(value(v->name));
  return std::all_of(instance.real_conditions.begin(), instance.real_conditions.end(),
                     [&](const RealCondition& c) {
                       return holds(value("=" + c.first), c.relation, value("=" + c.second));
                     });
}

RealValues hostile_values(const RuleInstance& instance, Rng& rng) {
  RealValues r = usual_values(instance);
  for (auto& [v, x] : r)
    if (rng.below(4) > 0) x = static_cast<float>(kReals[rng.below(std::size(kReals))]);
  return r;
}

class Collector {
 public:
  explicit Collector(uint64_t seed) : seed_(seed), rng_(seed) {}

  Settings run(const Rule& rule) {
    if (is_family(rule)) {
      std::vector<Member> some = some_members(rule, 1);
      for (size_t k = 0; k < std::min(some.size(), kMembers); ++k)
        if (auto made = instantiate(some[k].rule, some[k].rule.domain[0]))
          add_instance(*std::move(made));
      return std::move(out_);
    }
    size_t n = rule.domain.size(), wanted = std::min(n, kSignatures);
    for (size_t k = 0; k < wanted; ++k)
      if (auto made = instantiate(rule, rule.domain[wanted == 1 ? 0 : k * (n - 1) / (wanted - 1)]))
        add_instance(*std::move(made));
    return std::move(out_);
  }
  Settings run(const RuleInstance& instance) {
    add_instance(instance);
    return std::move(out_);
  }

 private:
  void add_instance(RuleInstance made) {
    const RuleInstance& instance = out_.instances.emplace_back(std::move(made));
    bool first = out_.instances.size() == 1;
    std::vector<Valuation> sizes, sampled = sample_sizes(instance, seed_, kSizesTried);
    // Not the smallest first: many axes of size 1 hide what the rule does.
    std::rotate(sampled.begin(), sampled.begin() + static_cast<std::ptrdiff_t>(sampled.size() / 2),
                sampled.end());
    for (const Valuation& v : sampled)
      if (sizes.size() < (first ? 2 : 1) && add(instance, v, usual_values(instance)))
        sizes.push_back(v);
    if (!first || sizes.empty()) return;
    if (!usual_values(instance).empty())
      for (size_t k = 0; k < kRealDraws; ++k)
        add(instance, sizes[k % sizes.size()], hostile_values(instance, rng_));
    add_long(instance, sizes[0]);
  }
  bool add(const RuleInstance& instance, const Valuation& sizes, RealValues reals) {
    for (size_t tries = 0; !settle(instance, sizes, reals); ++tries) {
      if (tries == kRealsTried) return false;
      reals = hostile_values(instance, rng_);
    }
    auto p = float_program(instance, sizes, reals);
    if (p) out_.all.push_back({&instance, sizes, std::move(reals), *std::move(p)});
    return p.has_value();
  }
  /// One free size long: those that make an element take the most steps.
  void add_long(const RuleInstance& instance, const Valuation& usual) {
    SizeSpace space(instance);
    if (!space.usable()) return;
    std::vector<std::pair<size_t, Setting>> found;
    for (Var v : space.free()) {
      Valuation sizes = usual;
      sizes[v] = kLong;
      if (!space.complete(sizes)) continue;
      int64_t elements = total_elements(instance, sizes);
      if (elements < 0 || elements > kSettingElements || found.size() == kLongTried) continue;
      RealValues reals = out_.all[0].reals;
      settle(instance, sizes, reals);
      auto p = float_program(instance, sizes, reals);
      if (!p || p->elements.empty()) continue;
      const auto& e = p->elements[0];
      size_t steps = std::max(cone(*p, e.left).size(), cone(*p, e.right).size());
      found.emplace_back(steps, Setting{&instance, sizes, reals, *std::move(p)});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](auto& x, auto& y) { return x.first > y.first; });
    for (size_t k = 0; k < std::min(found.size(), kLongAxes); ++k)
      out_.all.push_back(std::move(found[k].second));
  }

  uint64_t seed_;
  Rng rng_;
  Settings out_;
};

template <class What>
Settings collected(const What& what, uint64_t seed) {
  try {
    return Collector(seed).run(what);
  } catch (const PolyOverflow&) {  // of a size
    return {};
  }
}

}  // namespace

Settings settings_of(const Rule& rule, uint64_t seed) { return collected(rule, seed); }
Settings settings_of(const RuleInstance& instance, uint64_t seed) {
  return collected(instance, seed);
}

std::string describe(const Setting& setting) {
  Valuation sizes = setting.sizes;
  for (const auto& [v, x] : setting.reals) sizes.erase(v);
  std::string text = describe(*setting.instance, sizes);
  for (const auto& [name, v] : setting.instance->real_symbols)
    if (auto it = setting.reals.find(v); it != setting.reals.end())
      text += fmt::format(" {}={:.6g}", name, it->second);
  return text;
}

}  // namespace regraft::verify
