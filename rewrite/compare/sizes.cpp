#include "rewrite/compare/sizes.h"

#include <algorithm>
#include <set>

namespace regraft::rewrite {

namespace {

using Symbols = std::set<Var, SymbolLess>;

/// What symbols that lead an input (mostly the batch) and the others become.
struct Setting {
  int64_t leading, others;
  bool distinct = false;  ///< no two symbols are equal
};
constexpr Setting kOrdinary[] = {{2, 3, true}, {1, 2},  {2, 8, true}, {8, 8},
                                 {1, 32},      {1, 64}, {1, 224},     {224, 224}};
constexpr Setting kZero[] = {{0, 2}, {0, 8}, {0, 32}, {2, 0}, {0, 0}};

void collect(const Poly& p, Symbols& symbols) {
  for (const auto& [monomial, coefficient] : p.terms())
    for (Var v : monomial) {
      if (!v->numerator) {
        symbols.insert(v);
        continue;
      }
      collect(*v->numerator, symbols);
      collect(*v->denominator, symbols);
    }
}

/// Calls `visit` with every dimension of every value but constants'.
template <class F>
void for_each_dimension(const Graph& g, F&& visit) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || g.node(id).kind == NodeKind::Constant) continue;
    for (const TensorType& t : g.node(id).types)
      if (t.shape)
        for (const Poly& p : *t.shape) visit(p);
  }
}

Symbols symbols_of(const Graph& g) {
  Symbols all;
  for_each_dimension(g, [&](const Poly& p) { collect(p, all); });
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    for (const auto& list : g.node(id).attrs.ints)
      for (const Poly& p : list) collect(p, all);
  }
  return all;
}

void add_leading(const Graph& g, std::set<std::string>& names) {
  Symbols leading;
  for (Value v : g.inputs())
    if (g.type(v).shape && !g.shape(v).empty()) collect(g.shape(v)[0], leading);
  for (Var v : leading) names.insert(v->name);
}

class Chooser {
 public:
  Chooser(const Graph& a, const Graph& b)
      : graphs_{&a, &b}, symbols_{symbols_of(a), symbols_of(b)} {
    for (const Graph* g : graphs_) add_leading(*g, leading_);
    for (const Symbols& symbols : symbols_)
      for (Var v : symbols) least_[v->name] = std::max(least_[v->name], v->min);
  }

  std::optional<SizeAssignment> of(const std::map<std::string, int64_t>& by_name) const {
    SizeAssignment s;
    for (const auto& [name, least] : least_) {
      auto it = by_name.find(name);
      if (it == by_name.end() || it->second < least) return std::nullopt;
      s.by_name.insert(*it);
      s.zero = s.zero || it->second == 0;
    }
    give(s);
    if (!feasible(s, s.zero ? 0 : 1)) return std::nullopt;
    return s;
  }

  std::vector<SizeAssignment> run() const {
    if (least_.empty()) return {SizeAssignment{}};
    std::vector<SizeAssignment> chosen;
    for (int64_t least : {1, 0})
      if (chosen.empty())
        for (const Setting& s : kOrdinary) add_if_feasible(sizes_of(s), least, chosen);
    for (const Setting& s : kZero) add_if_feasible(sizes_of(s), 0, chosen);
    return chosen;
  }

 private:
  SizeAssignment sizes_of(const Setting& setting) const {
    SizeAssignment s;
    s.zero = setting.leading == 0 || setting.others == 0;
    int64_t leading = setting.leading, others = setting.others;
    if (setting.distinct)
      others = std::max(others, leading + static_cast<int64_t>(leading_.size()));
    for (const auto& [name, least] : least_) {
      int64_t& next = leading_.count(name) > 0 ? leading : others;
      s.by_name[name] = s.zero ? next : std::max(least, next);
      next += setting.distinct;
    }
    give(s);
    return s;
  }

  void give(SizeAssignment& s) const {
    for (size_t k = 0; k < 2; ++k)
      for (Var v : symbols_[k]) s.values[k][v] = s.by_name.at(v->name);
  }

  void add_if_feasible(SizeAssignment s, int64_t least, std::vector<SizeAssignment>& chosen) const {
    auto known = [&](const SizeAssignment& other) { return other.by_name == s.by_name; };
    if (std::any_of(chosen.begin(), chosen.end(), known)) return;
    if (feasible(s, least)) chosen.push_back(std::move(s));
  }

  bool feasible(const SizeAssignment& s, int64_t least) const {
    bool fits = true;
    try {
      for_each_dimension(*graphs_[0], [&](const Poly& p) {
        fits = fits && evaluate(p, s.values[0]) >= (p.is_constant() ? 0 : least);
      });
    } catch (const PolyOverflow&) {
      return false;
    }
    return fits;
  }

  std::array<const Graph*, 2> graphs_;
  std::array<Symbols, 2> symbols_;
  std::set<std::string> leading_;
  std::map<std::string, int64_t> least_;  // of each name, when it is not made 0
};

}  // namespace

std::vector<SizeAssignment> sizes_to_try(const Graph& a, const Graph& b) {
  return Chooser(a, b).run();
}

std::optional<SizeAssignment> assign_sizes(const Graph& a, const Graph& b,
                                           const std::map<std::string, int64_t>& by_name) {
  return Chooser(a, b).of(by_name);
}

}  // namespace regraft::rewrite
