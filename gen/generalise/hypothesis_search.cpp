#include "gen/generalise/hypothesis_search.h"

#include <algorithm>

namespace regraft::gen {
namespace {

constexpr int kConfirm = 6;        // samples at which a step must hold
constexpr int kStageSamples = 16;  // samples at which several steps must hold

bool same_left(const Hypothesis& a, const Hypothesis& b) {
  return std::equal(a.left.begin(), a.left.end(), b.left.begin(),
                    [](const Poly& p, const Poly& q) { return same(p, q); });
}

}  // namespace

HypothesisSearch::HypothesisSearch(const Bank& bank, HypothesisTester& tester, Numbers numbers)
    : bank_(bank), tester_(tester), step_(tester, numbers, kConfirm) {
  size_t most = 0;  // first attributes of all calls first
  for (const Side::Call& call : tester.left().calls) most = std::max(most, call.first.size());
  for (size_t k = 0; k < most; ++k)
    for (const Side::Call& call : tester.left().calls) {
      if (k >= call.first.size()) continue;
      const auto& witness = call.label->attrs.ints[k];
      if (call.first[k] < 0 || witness.empty()) continue;
      LeftList list{{}, call.label->op->ints[k].name, witness};
      for (size_t i = 0; i < witness.size(); ++i)
        list.symbols.push_back(tester.number_symbol(call.first[k] + static_cast<int>(i)));
      lists_.push_back(std::move(list));
    }
  if (numbers == Numbers::Plain) sort_lists();
}

std::optional<Hypothesis> HypothesisSearch::run(Order order) {
  start(order);
  const Hypothesis first = h_;
  auto from_first = [&](const std::function<bool()>& steps) {
    h_ = first;
    return stage(steps);
  };
  bool found = (from_first([&] { return open_extents(Kernels::No); }) ||
                from_first([&] { return open_everything(); })) &&
               go_on(order);
  found = found || (from_first([&] { return open_factors(); }) && go_on(order));
  return found ? std::optional(h_) : std::nullopt;
}

/// From open extents to the top; false where an extent must stay what it is.
bool HypothesisSearch::go_on(Order order) {
  bool found = order != Order::SizesFirst || stage([&] { return open_extents(Kernels::Yes); });
  found = found && stage([&] { return open_numbers(); }) &&
          stage([&] { return open_extents(Kernels::Yes); }) &&
          stage([&] { return open_numbers(); }) && stage([&] { return drop_conditions(); });
  if (found) h_ = tester_.closed(h_, Axes::Any);
  for (size_t k = 0; k < h_.left.size(); ++k) {
    const PairSymbol& s = tester_.symbols()[k];
    found = found && (!s.is_size() || is_open(k) || may_stay(s));
  }
  return found;
}

/// An attribute of a call with a kernel of one element.
bool HypothesisSearch::is_pointwise(const LeftList& list) const {
  const PairSymbol& s = tester_.symbols()[static_cast<size_t>(list.symbols[0])];
  const NumberPlace& n = tester_.left().numbers[static_cast<size_t>(s.number)];
  const auto& operands = tester_.left().calls[static_cast<size_t>(n.call)].operands;
  return std::any_of(operands.begin(), operands.end(), [&](Side::Ref r) {
    if (r.call >= 0) return false;
    TermId leaf = tester_.leaves()[static_cast<size_t>(~r.call)];
    const auto& shape = bank_.node(leaf).shape;
    return bank_.is_kernel(leaf) &&
           std::all_of(shape.begin() + 2, shape.end(), [](int64_t d) { return d == 1; });
  });
}

/// Where only some attributes can be open: rather not those of pointwise kernels, and rather those
/// that are not at their fallbacks.
void HypothesisSearch::sort_lists() {
  auto rank = [&](const LeftList& list) {
    bool neutral =
        std::all_of(list.symbols.begin(), list.symbols.end(), [&](int k) { return is_neutral(k); });
    return std::pair{is_pointwise(list), neutral};
  };
  std::stable_sort(lists_.begin(), lists_.end(),
                   [&](const LeftList& a, const LeftList& b) { return rank(a) < rank(b); });
}

/// The witness: every number itself, but for what the left side determines.
void HypothesisSearch::start(Order order) {
  const auto& symbols = tester_.symbols();
  Hypothesis open;
  for (size_t k = 0; k < symbols.size(); ++k) {
    bool kernel = order == Order::NumbersFirst && is_kernel(symbols[k]);
    bool fixed = kernel || symbols[k].fixed || (!symbols[k].is_size() && !is_sized(symbols[k]));
    open.left.push_back(fixed ? Poly(symbols[k].witness) : own(k));
  }
  h_ = {};
  for (const PairSymbol& s : symbols) h_.left.emplace_back(s.witness);
  std::vector<char> independent(symbols.size(), 0);
  Space space = tester_.space(open);
  for (int k : space.free()) independent[static_cast<size_t>(k)] = 1;
  for (size_t k = 0; k < symbols.size(); ++k)
    if (!independent[k] && !open.left[k].is_constant()) h_.left[k] = own(k);
  for (const NumberPlace& n : tester_.right().numbers) h_.right.emplace_back(n.witness);
  if (order == Order::NumbersFirst && !lists_.empty()) tie_equal_extents(space);
}

/// Takes steps until what they lead to survives kStageSamples samples; what refutes them is kept in
/// mind. Takes none when that does not help. False when they fail.
bool HypothesisSearch::stage(const std::function<bool()>& steps) {
  constexpr int kRounds = 8;
  Hypothesis before = h_;
  for (int round = 0; round < kRounds; ++round) {
    if (!steps()) return false;
    if (same_left(before, h_)) return true;
    Space space = tester_.space(h_);
    std::vector<Sample> samples = tester_.samples(space, {}, kStageSamples);
    auto counterexample = tester_.refuting(h_, space, samples);
    if (!counterexample) return true;
    tester_.remember(*std::move(counterexample));
    h_ = before;
  }
  return true;
}

/// Opens the extents of kernels, or the others; false when one had to be opened and was not.
bool HypothesisSearch::open_extents(Kernels which) {
  const auto& symbols = tester_.symbols();
  std::vector<int> closed;
  for (size_t k = 0; k < symbols.size(); ++k)
    if (symbols[k].is_size() && !is_open(k) && is_kernel(symbols[k]) == (which == Kernels::Yes))
      closed.push_back(static_cast<int>(k));
  if (closed.empty()) return true;
  Hypothesis all = h_;
  for (int k : closed) all.left[static_cast<size_t>(k)] = own(static_cast<size_t>(k));
  if (step_.holds(all, closed)) {
    h_ = std::move(all);
    return true;
  }
  std::vector<int> rest;
  for (int k : closed)
    if (!step_.open(h_, {{k}, {}})) rest.push_back(k);
  bool done = true;
  for (int k : rest)
    if (!is_open(static_cast<size_t>(k)))
      done = (open_extent(k) || may_stay(symbols[static_cast<size_t>(k)])) && done;
  return done;
}

/// Opens an extent together with a number that is equal to it, or as equal to another extent, or
/// as a product.
bool HypothesisSearch::open_extent(int k) {
  const auto& symbols = tester_.symbols();
  const PairSymbol& s = symbols[static_cast<size_t>(k)];
  if (step_.open(h_, {{k}, {}})) return true;
  for (size_t n = 0; n < symbols.size(); ++n)
    if (!symbols[n].is_size() && !is_open(n) && symbols[n].witness == s.witness &&
        step_.open(h_, {{k}, {{static_cast<int>(n), 0}}}))
      return true;
  for (bool same_axis : {true, false})
    for (size_t n = 0; n < symbols.size(); ++n) {
      bool fits = symbols[n].is_size() && symbols[n].witness == s.witness &&
                  static_cast<int>(n) != k && (symbols[n].axis == s.axis) == same_axis;
      bool root = fits && (!is_open(n) || same(h_.left[n], own(n)));
      if (root && step_.open(h_, {{static_cast<int>(n)}, {{k, 0}}})) return true;
    }
  return open_product(k) || open_sum(k);
}

/// Opens an extent as the product of two numbers.
bool HypothesisSearch::open_product(int k) {
  const auto& symbols = tester_.symbols();
  auto usable = [&](size_t n) {
    return !symbols[n].is_size() && !is_open(n) && symbols[n].witness > 1;
  };
  for (size_t a = 0; a < symbols.size(); ++a)
    for (size_t b = a + 1; usable(a) && b < symbols.size(); ++b) {
      bool fits = usable(b) && symbols[a].witness * symbols[b].witness ==
                                   symbols[static_cast<size_t>(k)].witness;
      if (fits && step_.open(h_, {{static_cast<int>(a), static_cast<int>(b)}, {}, k})) return true;
    }
  return false;
}

/// Opens an extent as the sum of two numbers, each with those that are equal to it.
bool HypothesisSearch::open_sum(int k) {
  const auto& symbols = tester_.symbols();
  auto usable = [&](size_t n) {
    return !symbols[n].is_size() && !is_open(n) && symbols[n].witness > 1;
  };
  for (size_t a = 0; a < symbols.size(); ++a)
    for (size_t b = a + 1; usable(a) && b < symbols.size(); ++b) {
      if (!usable(b) || symbols[a].witness == symbols[b].witness ||
          symbols[a].witness + symbols[b].witness != symbols[static_cast<size_t>(k)].witness)
        continue;
      Opening o{{static_cast<int>(a), static_cast<int>(b)}, {}, -1, k};
      for (size_t n = 0; n < symbols.size(); ++n)
        for (int root : {0, 1})
          if (n != a && n != b && usable(n) &&
              symbols[n].witness == symbols[root == 0 ? a : b].witness)
            o.ties.emplace_back(static_cast<int>(n), root);
      if (step_.open(h_, o)) return true;
    }
  return false;
}

/// Opens a number with those of other attributes that are equal to it: all, or one.
bool HypothesisSearch::open_equal(int k) {
  const auto& symbols = tester_.symbols();
  const int64_t witness = symbols[static_cast<size_t>(k)].witness;
  if (witness < 2) return false;
  Opening all{{k}, {}};
  for (size_t n = 0; n < symbols.size(); ++n)
    if (!symbols[n].is_size() && !is_open(n) && symbols[n].witness == witness &&
        static_cast<int>(n) != k)
      all.ties.emplace_back(static_cast<int>(n), 0);
  if (all.ties.empty()) return false;
  if (step_.open(h_, all)) return true;
  return all.ties.size() > 1 && std::ranges::any_of(all.ties, [&](const auto& tie) {
           return step_.open(h_, {{k}, {tie}});
         });
}

/// Extents that equations of the left side make equal, as its numbers and kernels are, are tied:
/// the equations may say less when numbers are open. `space` has the rest open.
void HypothesisSearch::tie_equal_extents(const Space& space) {
  const auto& symbols = tester_.symbols();
  std::vector<Sample> samples = tester_.samples(space, {}, kConfirm);
  auto spatial = [&](size_t k) {
    return symbols[k].is_size() && symbols[k].axis >= 2 && !is_kernel(symbols[k]);
  };
  for (size_t k = 0; k < symbols.size(); ++k)
    for (size_t j = 0; j < symbols.size(); ++j) {
      bool alike = spatial(k) && spatial(j) && is_open(k) && !is_open(j) &&
                   symbols[k].axis == symbols[j].axis && symbols[k].witness == symbols[j].witness;
      bool equal = alike && std::all_of(samples.begin(), samples.end(),
                                        [&](const Sample& s) { return s.point[k] == s.point[j]; });
      if (equal) h_.left[k] = own(j);
      tied_ = tied_ || equal;
    }
}

/// Removes conditions that the left side's own requirements imply, or that nothing needs.
bool HypothesisSearch::drop_conditions() {
  for (size_t k = 0; k < h_.left.size(); ++k) {
    if (!tester_.symbols()[k].is_size() || same(h_.left[k], own(k))) continue;
    Hypothesis wider = h_;
    wider.left[k] = own(k);
    Space space = tester_.space(wider);
    std::vector<Sample> apart;
    if (h_.left[k].terms().size() == 1) {
      int other = tester_.index_of(h_.left[k].terms()[0].monomial[0]);
      apart = tester_.samples_apart(space, {{static_cast<int>(k), other}}, kConfirm);
    }
    if (!tester_.refuting(wider, space, apart) && step_.holds(wider, {})) h_ = std::move(wider);
  }
  return true;
}

bool HypothesisSearch::open_numbers() {
  bool closed = std::any_of(lists_.begin(), lists_.end(), [&](const LeftList& list) {
    return std::any_of(list.symbols.begin(), list.symbols.end(),
                       [&](int k) { return !is_open(static_cast<size_t>(k)); });
  });
  // What the right side asks for is said of single numbers.
  const bool lists = !tester_.leaves_out();
  if (!closed || (lists && open_all_numbers())) return true;
  for (const LeftList& list : lists_) {
    bool whole = (lists || list.symbols.size() == 1) &&
                 std::none_of(list.symbols.begin(), list.symbols.end(),
                              [&](int k) { return is_open(static_cast<size_t>(k)); });
    if (whole && step_.open(h_, {list.symbols, {}})) continue;
    if (lists && !is_open(static_cast<size_t>(list.symbols[0]))) open_alike(list);
    for (int k : list.symbols)
      if (!is_open(static_cast<size_t>(k)) &&
          !(list.symbols.size() > 1 && step_.open(h_, {{k}, {}})))
        open_equal(k);
  }
  return true;
}

/// A list together with those of other calls that are still like it.
void HypothesisSearch::open_alike(const LeftList& list) {
  Opening o{list.symbols, {}};
  for (const LeftList& other : lists_) {
    if (&other == &list || !other.alike(list)) continue;
    for (size_t i = 0; i < list.symbols.size(); ++i)
      if (!is_open(static_cast<size_t>(other.symbols[i])))
        o.ties.emplace_back(other.symbols[i], static_cast<int>(i));
  }
  if (!o.ties.empty()) step_.open(h_, o);
}

/// All numbers at once, when none is open.
bool HypothesisSearch::open_all_numbers() {
  for (const LeftList& list : lists_)
    for (int k : list.symbols)
      if (is_open(static_cast<size_t>(k))) return false;
  return open_all_numbers(h_, {});
}

/// What a number stems from: an extent that is as large at the witness, best one as far from the
/// first or the last axis, or a product of two; nullopt when there is none.
std::optional<Poly> HypothesisSearch::stem_of(const Side& side, const NumberPlace& n) const {
  const auto& symbols = tester_.symbols();
  const Label& label = *side.calls[static_cast<size_t>(n.call)].label;
  size_t count = label.attrs.ints[n.attr].size();
  std::optional<Poly> found;
  for (size_t k = 0; k < symbols.size(); ++k) {
    const PairSymbol& s = symbols[k];
    if (!s.is_size() || s.witness != n.witness) continue;
    auto axis = static_cast<size_t>(s.axis), rank = bank_.node(s.leaf).shape.size();
    if (axis == n.index || rank - axis == count - n.index) return own(k);
    if (!found) found = own(k);
  }
  for (size_t k = 0; k < symbols.size(); ++k)
    for (size_t j = k + 1; !found && j < symbols.size(); ++j) {
      bool sizes = symbols[k].is_size() && symbols[j].is_size();
      if (sizes && symbols[k].witness * symbols[j].witness == n.witness) found = own(k) * own(j);
    }
  return found;
}

/// All extents at once, with the numbers that stem from them, and if need be with all numbers:
/// where the left side determines no more than the product of some, none of them can be opened
/// alone. Equal extents of one axis stay equal.
bool HypothesisSearch::open_everything() {
  const auto& symbols = tester_.symbols();
  Hypothesis all = h_;
  std::vector<int> closed;
  for (size_t k = 0; k < symbols.size(); ++k) {
    if (!symbols[k].is_size() || symbols[k].witness == 1 || is_kernel(symbols[k])) continue;
    all.left[k] = own(first_alike(k));
    if (!is_open(k)) closed.push_back(static_cast<int>(k));
  }
  auto express = [&](const Side& side, size_t n, Poly& number) {
    const NumberPlace& place = side.numbers[n];
    if (!is_sized(side, place)) return;
    auto size = place.witness == 1 ? Poly(1) : stem_of(side, place);
    if (size) number = *std::move(size);
  };
  for (size_t k = 0; k < symbols.size(); ++k)
    if (int n = symbols[k].number; n >= 0)
      express(tester_.left(), static_cast<size_t>(n), all.left[k]);
  for (size_t n = 0; n < all.right.size(); ++n) express(tester_.right(), n, all.right[n]);
  if (step_.holds(all, closed)) {
    h_ = std::move(all);
    return true;
  }
  return open_all_numbers(std::move(all), std::move(closed));
}

/// Attributes with equal names and numbers share variables on both sides, where they cannot be told
/// apart.
bool HypothesisSearch::open_all_numbers(Hypothesis all, std::vector<int> moving) {
  std::vector<const LeftList*> shared;
  for (const LeftList& list : lists_) {
    auto first = std::find_if(lists_.begin(), lists_.end(),
                              [&](const LeftList& other) { return other.alike(list); });
    for (size_t i = 0; i < list.symbols.size(); ++i) {
      auto k = static_cast<size_t>(list.symbols[i]);
      if (tester_.symbols()[k].fixed) return false;
      if (all.left[k].is_constant()) all.left[k] = own(static_cast<size_t>(first->symbols[i]));
    }
    moving.insert(moving.end(), list.symbols.begin(), list.symbols.end());
    if (&*first != &list) shared.push_back(&list);
  }
  const Side& right = tester_.right();
  for (const Side::Call& call : right.calls)
    for (size_t a = 0; a < call.first.size(); ++a) {
      if (call.first[a] < 0) continue;
      LeftList wanted{{}, call.label->op->ints[a].name, call.label->attrs.ints[a]};
      for (const LeftList& list : lists_) {
        if (!list.alike(wanted)) continue;
        for (size_t i = 0; i < list.symbols.size(); ++i)
          if (Poly& p = all.right[static_cast<size_t>(call.first[a]) + i]; p.is_constant())
            p = all.left[static_cast<size_t>(list.symbols[i])];
        break;
      }
    }
  Space space = tester_.space(all);
  for (const LeftList& list : lists_)
    if (!tester_.move_alone(space, list.symbols)) return false;
  if (!step_.holds(all, moving)) return false;
  h_ = std::move(all);
  for (const LeftList* list : shared) step_.part(h_, list->symbols);
  return true;
}

}  // namespace regraft::gen
