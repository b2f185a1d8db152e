#include "gen/generalise/generalisation_step.h"

#include <algorithm>

namespace regraft::gen {
namespace {

constexpr size_t kMaxOptions = 160;
constexpr int kFewSamples = 3;  // decide between options

/// A list of numbers of the right side.
struct NumberList {
  size_t first = 0, size = 0;
  std::string_view attr;
};

std::vector<NumberList> lists_of(const Side& side) {
  std::vector<NumberList> r;
  for (const Side::Call& call : side.calls)
    for (size_t k = 0; k < call.first.size(); ++k)
      if (call.first[k] >= 0 && !call.label->attrs.ints[k].empty())
        r.push_back({static_cast<size_t>(call.first[k]), call.label->attrs.ints[k].size(),
                     call.label->op->ints[k].name});
  return r;
}

/// The number p when the symbol `from` (witness w) is `to`: as much larger as the symbol is.
Poly shifted(const Poly& p, const Poly& to, const Poly& from, int64_t slope) {
  return p + Poly(slope) * (to - from);
}

/// p / n * to; nullopt when a coefficient is no multiple of n.
std::optional<Poly> in_proportion(const Poly& p, int64_t n, const Poly& to) {
  if (n < 2 || p.constant() % n != 0 || content(p) % n != 0) return std::nullopt;
  return divided(p, n) * to;
}

/// Subsets of at most `limit` things, small ones first; all of them only as the last.
std::vector<std::vector<size_t>> subsets(size_t n, size_t limit) {
  std::vector<std::vector<size_t>> r;
  for (size_t i = 0; i < n; ++i) r.push_back({i});
  for (size_t i = 0; limit >= 2 && i < n; ++i)
    for (size_t j = i + 1; j < n; ++j) r.push_back({i, j});
  if (n > 2) {
    r.emplace_back();
    for (size_t i = 0; i < n; ++i) r.back().push_back(i);
  }
  return r;
}

}  // namespace

bool GeneralisationStep::holds(const Hypothesis& h, const std::vector<int>& moving) {
  Space space = tester_.space(h);
  std::vector<Sample> samples = tester_.samples(space, moving, confirm_);
  return !samples.empty() && !tester_.refuting(h, space, samples);
}

/// Lists that need not have changed become again what they were.
void GeneralisationStep::keep_unneeded(Hypothesis& changed, const Right& old,
                                       const std::function<bool()>& holds) const {
  for (const NumberList& list : lists_of(tester_.right())) {
    Right right = changed.right;
    bool differs = false;
    for (size_t k = list.first; k < list.first + list.size; ++k) {
      differs = differs || !same(right[k], old[k]);
      changed.right[k] = old[k];
    }
    if (differs && !holds()) changed.right = std::move(right);
  }
}

/// Takes the first option that holds at samples of h's left side.
bool GeneralisationStep::choose(Hypothesis& h, const std::vector<Right>& options,
                                std::vector<Sample> few,
                                const std::function<std::vector<Sample>()>& draw_more) {
  if (few.empty()) return false;
  Space space = tester_.space(h);
  std::vector<Sample> more;
  Hypothesis tried = h;
  for (const Right& right : options) {
    tried.right = right;
    auto agrees = [&](Sample& s) { return tester_.agrees(tried, s); };
    if (!std::all_of(few.begin(), few.end(), agrees)) continue;
    if (more.empty()) more = draw_more();
    if (tester_.refuting(tried, space, more)) continue;
    keep_unneeded(tried, h.right, [&] {
      return std::all_of(few.begin(), few.end(), agrees) && !tester_.refuting(tried, space, more);
    });
    h = std::move(tried);
    return true;
  }
  return false;
}

/// Lists of the right side that change as a list of the left side does.
std::vector<GeneralisationStep::Right> GeneralisationStep::of_lists(const Hypothesis& h,
                                                                    const Delta& d) const {
  std::vector<Right> r;
  std::vector<NumberList> same_attr, other;
  for (const NumberList& list : lists_of(tester_.right())) {
    if (list.size != d.to.size()) continue;
    bool equal = true;
    for (size_t i = 0; i < list.size; ++i)
      equal = equal && tester_.right().numbers[list.first + i].witness == d.witness[i];
    if (list.attr == d.attr)
      (equal ? same_attr : other).push_back(list);
    else if (equal)
      other.push_back(list);
  }
  auto apply = [&](const std::vector<NumberList>& lists, const std::vector<size_t>& chosen,
                   bool product) {
    Right numbers = h.right;
    for (size_t c : chosen)
      for (size_t i = 0; i < lists[c].size; ++i) {
        Poly& p = numbers[lists[c].first + i];
        p = product ? p * d.to[i] : shifted(p, d.to[i], d.from[i], 1);
      }
    r.push_back(std::move(numbers));
  };
  bool ones = std::all_of(d.witness.begin(), d.witness.end(), [](int64_t n) { return n == 1; });
  auto is_number = [&](const NumberList& list) { return h.right[list.first].is_constant(); };
  for (const auto& chosen : subsets(same_attr.size(), 1))
    if (ones && !is_number(same_attr[chosen[0]])) apply(same_attr, chosen, true);
  for (const auto* lists : {&same_attr, &other}) {
    auto sets = subsets(lists->size(), 2);
    if (lists == &same_attr) std::reverse(sets.begin(), sets.end());  // all of them first
    for (const auto& chosen : sets) apply(*lists, chosen, false);
  }
  for (const NumberList& list : other) {  // a product of lists
    Right numbers = h.right;
    bool all = true;
    for (size_t i = 0; i < list.size && all; ++i) {
      auto scaled = in_proportion(h.right[list.first + i], d.witness[i], d.to[i]);
      all = scaled.has_value();
      if (scaled) numbers[list.first + i] = *std::move(scaled);
    }
    if (all) r.push_back(std::move(numbers));
  }
  return r;
}

/// Single numbers of the right side that change with one symbol.
std::vector<GeneralisationStep::Right> GeneralisationStep::of_single(const Hypothesis& h,
                                                                     const Delta& d) const {
  std::vector<Right> r;
  std::vector<size_t> likely, other;
  for (size_t k = 0; k < h.right.size(); ++k)
    (tester_.right().numbers[k].witness == d.witness[0] ? likely : other).push_back(k);
  auto apply = [&](const std::vector<size_t>& chosen, int64_t slope) {
    Right numbers = h.right;
    for (size_t k : chosen) numbers[k] = shifted(numbers[k], d.to[0], d.from[0], slope);
    r.push_back(std::move(numbers));
  };
  for (size_t k = 0; k < h.right.size(); ++k) {
    if (d.witness[0] != 1 || h.right[k].is_constant()) continue;
    Right numbers = h.right;
    numbers[k] = numbers[k] * d.to[0];
    r.push_back(std::move(numbers));
  }
  for (const auto& chosen : subsets(likely.size(), 2)) {
    std::vector<size_t> numbers;
    for (size_t c : chosen) numbers.push_back(likely[c]);
    apply(numbers, 1);
  }
  for (size_t k : other) apply({k}, 1);
  for (size_t k = 0; k < h.right.size(); ++k)
    for (int64_t slope : {-1, 2}) apply({k}, slope);
  for (size_t k = 0; k < h.right.size(); ++k) {
    auto scaled = in_proportion(h.right[k], d.witness[0], d.to[0]);
    if (!scaled) continue;
    r.push_back(h.right);
    r.back()[k] = *std::move(scaled);
  }
  add_coefficients(h, d, r);
  add_determined(h, r);
  for (size_t k : likely)  // a position and what is left from there on
    for (size_t j = 0; j < h.right.size(); ++j) {
      if (j == k) continue;
      r.push_back(h.right);
      r.back()[k] = shifted(h.right[k], d.to[0], d.from[0], 1);
      r.back()[j] = shifted(h.right[j], d.to[0], d.from[0], -1);
    }
  return r;
}

/// Where the witness is a factor of what other variables add, as a step is of a begin behind it, it
/// is the symbol there: in all numbers of the right side at the same place in their lists.
void GeneralisationStep::add_coefficients(const Hypothesis& h, const Delta& d,
                                          std::vector<Right>& options) const {
  const int64_t n = d.witness[0];
  if (d.index < 0 || n < 2) return;
  Right right = h.right;
  bool changed = false;
  for (size_t k = 0; k < right.size(); ++k) {
    if (static_cast<int>(tester_.right().numbers[k].index) != d.index) continue;
    for (const auto& [monomial, coefficient] : h.right[k].terms()) {
      if (coefficient % n != 0) continue;
      Poly term = Poly::product(monomial, coefficient);
      right[k] = right[k] - term + Poly::product(monomial, coefficient / n) * d.to[0];
      changed = true;
    }
  }
  if (changed) options.push_back(std::move(right));
}

/// Numbers of the right side become numbers that the left side determines.
void GeneralisationStep::add_determined(const Hypothesis& h, std::vector<Right>& options) const {
  Space space = tester_.space(h);
  for (size_t n = 0; n < h.left.size(); ++n) {
    const PairSymbol& s = tester_.symbols()[n];
    bool free = std::binary_search(space.free().begin(), space.free().end(), static_cast<int>(n));
    if (s.is_size() || free || !same(h.left[n], Poly::symbol(s.var))) continue;
    for (size_t k = 0; k < h.right.size(); ++k) {
      if (tester_.right().numbers[k].witness != s.witness) continue;
      options.push_back(h.right);
      options.back()[k] = Poly::symbol(s.var);
    }
  }
}

std::vector<GeneralisationStep::Right> GeneralisationStep::alternatives(const Hypothesis& h,
                                                                        const Delta& d) const {
  std::vector<Right> r = {h.right}, lists;
  if (d.to.size() > 1 || !d.attr.empty()) lists = of_lists(h, d);
  r.insert(r.end(), lists.begin(), lists.end());
  for (size_t k = 0; k < d.to.size() && (d.product || d.to.size() == 1); ++k) {
    lists = of_single(h, {{d.to[k]}, {d.from[k]}, {d.witness[k]}, {}, d.index, false});
    r.insert(r.end(), lists.begin(), lists.end());
  }
  std::erase_if(r, [&](const Right& right) { return !is_allowed(right); });
  if (r.size() > kMaxOptions) r.resize(kMaxOptions);
  return r;
}

bool GeneralisationStep::is_allowed(const Right& right) const {
  return numbers_ == Numbers::Composed ||
         std::none_of(right.begin(), right.end(), [&](auto& p) { return tester_.is_composed(p); });
}

bool GeneralisationStep::is_fixed(const Opening& opening) const {
  auto fixed = [&](int k) { return tester_.symbols()[static_cast<size_t>(k)].fixed; };
  return std::any_of(opening.roots.begin(), opening.roots.end(), fixed) ||
         std::any_of(opening.ties.begin(), opening.ties.end(),
                     [&](auto tie) { return fixed(tie.first); });
}

bool GeneralisationStep::open(Hypothesis& h, const Opening& opening) {
  if (is_fixed(opening)) return false;
  Hypothesis wider = h;
  Delta d;
  for (int k : opening.roots) {
    const PairSymbol& s = tester_.symbols()[static_cast<size_t>(k)];
    d.from.push_back(h.left[static_cast<size_t>(k)]);
    d.to.push_back(Poly::symbol(s.var));
    d.witness.push_back(s.witness);
    if (s.is_size()) continue;
    const NumberPlace& n = tester_.left().numbers[static_cast<size_t>(s.number)];
    const OpDef& op = *tester_.left().calls[static_cast<size_t>(n.call)].label->op;
    d.attr = op.ints[n.attr].name;
    d.index = static_cast<int>(n.index);
  }
  for (size_t i = 0; i < d.to.size(); ++i)
    wider.left[static_cast<size_t>(opening.roots[i])] = d.to[i];
  for (auto [symbol, root] : opening.ties)
    wider.left[static_cast<size_t>(symbol)] = d.to[static_cast<size_t>(root)];
  if (opening.product >= 0) {
    d.product = true;
    Poly& p = wider.left[static_cast<size_t>(opening.product)] = Poly(1);
    for (const Poly& root : d.to) p = p * root;
  }
  if (opening.sum >= 0) {
    d.product = true;
    Poly& p = wider.left[static_cast<size_t>(opening.sum)] = Poly(0);
    for (const Poly& root : d.to) p = p + root;
  }
  Space space = tester_.space(wider);
  std::vector<int> moving = opening.roots;  // and what determines them
  Space before = tester_.space(h);
  for (int k : space.free())
    if (!std::binary_search(before.free().begin(), before.free().end(), k) &&
        std::find(moving.begin(), moving.end(), k) == moving.end())
      moving.push_back(k);
  if (!tester_.move_alone(space, moving)) return false;
  auto draw = [&](int count) { return tester_.samples(space, moving, count); };
  if (!choose(wider, alternatives(h, d), draw(kFewSamples), [&] { return draw(confirm_); }))
    return false;
  h = std::move(wider);
  return true;
}

bool GeneralisationStep::part(Hypothesis& h, const std::vector<int>& symbols) {
  Hypothesis wider = h;
  std::vector<Right> options = {h.right};
  std::vector<std::pair<int, int>> apart;
  Substitution own;
  for (int k : symbols) {
    auto at = static_cast<size_t>(k);
    const Poly& old = h.left[at];
    CHECK(old.terms().size() == 1 && old.terms()[0].monomial.size() == 1);
    Poly to = Poly::symbol(tester_.symbols()[at].var);
    apart.emplace_back(k, tester_.index_of(old.terms()[0].monomial[0]));
    own[old.terms()[0].monomial[0]] = to;
    wider.left[at] = std::move(to);
  }
  std::vector<NumberList> lists;
  for (const NumberList& list : lists_of(tester_.right())) {
    bool uses = false;
    for (size_t i = 0; i < list.size; ++i)
      for (const auto& [v, to] : own) uses = uses || mentions(h.right[list.first + i], v);
    if (uses) lists.push_back(list);
  }
  for (const auto& chosen : subsets(lists.size(), 2)) {
    Right numbers = h.right;
    for (size_t c : chosen)
      for (size_t i = 0; i < lists[c].size; ++i)
        numbers[lists[c].first + i] = substitute(numbers[lists[c].first + i], own);
    options.push_back(std::move(numbers));
  }
  Space space = tester_.space(wider);
  auto draw = [&](int count) { return tester_.samples_apart(space, apart, count); };
  if (!choose(wider, options, draw(kFewSamples), [&] { return draw(confirm_); })) return false;
  h = std::move(wider);
  return true;
}

}  // namespace regraft::gen
