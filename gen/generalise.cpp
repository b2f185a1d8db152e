#include "gen/generalise.h"

#include <algorithm>
#include <functional>

#include "gen/express.h"
#include "gen/relax.h"

namespace regraft::gen {
namespace {

constexpr int kConfirm = 6;        // samples at which a step must hold
constexpr int kStageSamples = 16;  // samples at which several steps must hold

/// What is opened first, where it depends.
enum class Order : uint8_t {
  NumbersFirst,  ///< attributes, under fixed kernels
  SizesFirst,    ///< kernels, under fixed attributes
};

/// The numbers of one attribute of one call of the left side.
struct LeftList {
  std::vector<int> symbols;
  std::string_view attr;
  std::vector<int64_t> witness;
  bool alike(const LeftList& o) const { return attr == o.attr && witness == o.witness; }
};

bool same_left(const Hypothesis& a, const Hypothesis& b) {
  return std::equal(a.left.begin(), a.left.end(), b.left.begin(),
                    [](const Poly& p, const Poly& q) { return same(p, q); });
}

/// Opens one symbol after the other, starting from the witness.
class Climb {
 public:
  Climb(const Bank& bank, Explorer& explorer, Numbers numbers)
      : bank_(bank), explorer_(explorer), relaxer_(explorer, numbers, kConfirm) {
    size_t most = 0;  // first attributes of all calls first
    for (const Side::Call& call : explorer.left().calls) most = std::max(most, call.first.size());
    for (size_t k = 0; k < most; ++k)
      for (const Side::Call& call : explorer.left().calls) {
        if (k >= call.first.size()) continue;
        const auto& witness = call.label->attrs.ints[k];
        if (call.first[k] < 0 || witness.empty()) continue;
        LeftList list{{}, call.label->op->ints[k].name, witness};
        for (size_t i = 0; i < witness.size(); ++i)
          list.symbols.push_back(explorer.number_symbol(call.first[k] + static_cast<int>(i)));
        lists_.push_back(std::move(list));
      }
    if (numbers == Numbers::Composed) return;
    std::stable_partition(lists_.begin(), lists_.end(), [&](const LeftList& list) {
      return std::any_of(list.symbols.begin(), list.symbols.end(),
                         [&](int k) { return !is_neutral(k); });
    });
  }
  std::optional<Hypothesis> run(Order order) {
    start(order);
    bool found = stage([&] { return open_extents(Kernels::No); });
    if (found && order == Order::SizesFirst)
      found = stage([&] { return open_extents(Kernels::Yes); });
    found = found && stage([&] { return open_numbers(); }) &&
            stage([&] { return open_extents(Kernels::Yes); }) &&
            stage([&] { return open_numbers(); }) && stage([&] { return drop_conditions(); });
    for (size_t k = 0; k < h_.left.size(); ++k) {
      const PairSymbol& s = explorer_.symbols()[k];
      found = found && (!s.is_size() || is_open(k) || may_stay(s));
    }
    return found ? std::optional(h_) : std::nullopt;
  }
  /// Numbers that are open in `other` and not here are at their fallbacks.
  bool closes_only_neutral(const Hypothesis& other) const {
    for (size_t k = 0; k < h_.left.size(); ++k)
      if (!explorer_.symbols()[k].is_size() && !is_open(k) && !other.left[k].is_constant() &&
          !is_neutral(static_cast<int>(k)))
        return false;
    return true;
  }
  /// No extent of a kernel is fixed or tied.
  bool opened_kernels() const {
    for (size_t k = 0; k < h_.left.size(); ++k)
      if (is_kernel(explorer_.symbols()[k]) && !same(h_.left[k], own(k))) return false;
    return true;
  }

 private:
  Poly own(size_t k) const { return Poly::symbol(explorer_.symbols()[k].var); }
  bool is_open(size_t k) const { return !h_.left[k].is_constant(); }
  /// A number at its attribute's fallback.
  bool is_neutral(int k) const {
    const PairSymbol& s = explorer_.symbols()[static_cast<size_t>(k)];
    const NumberPlace& n = explorer_.left().numbers[static_cast<size_t>(s.number)];
    const OpDef& op = *explorer_.left().calls[static_cast<size_t>(n.call)].label->op;
    return op.ints[n.attr].fallback == s.witness;
  }
  bool is_sized(const PairSymbol& s) const {
    const NumberPlace& n = explorer_.left().numbers[static_cast<size_t>(s.number)];
    const Label& l = *explorer_.left().calls[static_cast<size_t>(n.call)].label;
    return l.sized[n.attr] || l.op->ints[n.attr].length == Length::Any;
  }
  bool is_kernel(const PairSymbol& s) const {
    return s.is_size() && s.axis >= 2 && bank_.is_kernel(s.leaf);
  }
  /// An extent that may stay a number.
  bool may_stay(const PairSymbol& s) const { return s.witness == 1 || is_kernel(s); }
  void start(Order order);
  void tie_equal_extents(Hypothesis open);
  bool drop_conditions();
  bool stage(const std::function<bool()>& steps);
  enum class Kernels : uint8_t { No, Yes };
  bool open_extents(Kernels which);
  bool open_extent(int k);
  bool open_numbers();
  bool open_all_numbers();
  void open_alike(const LeftList& list);

  const Bank& bank_;
  Explorer& explorer_;
  Relaxer relaxer_;
  std::vector<LeftList> lists_;
  Hypothesis h_;
};

/// The witness: every number itself, but for what the left side determines.
void Climb::start(Order order) {
  const auto& symbols = explorer_.symbols();
  Hypothesis open;
  for (size_t k = 0; k < symbols.size(); ++k) {
    bool fixed = symbols[k].fixed || (!symbols[k].is_size() && !is_sized(symbols[k]));
    open.left.push_back(fixed ? Poly(symbols[k].witness) : own(k));
  }
  h_ = {};
  for (const PairSymbol& s : symbols) h_.left.emplace_back(s.witness);
  std::vector<char> independent(symbols.size(), 0);
  Space space = explorer_.space(open);
  for (int k : space.free()) independent[static_cast<size_t>(k)] = 1;
  for (size_t k = 0; k < symbols.size(); ++k)
    if (!independent[k] && !open.left[k].is_constant() &&
        (order == Order::SizesFirst || !is_kernel(symbols[k])))
      h_.left[k] = own(k);
  for (const NumberPlace& n : explorer_.right().numbers) h_.right.emplace_back(n.witness);
  if (order == Order::NumbersFirst && !lists_.empty()) tie_equal_extents(std::move(open));
}

/// Takes steps until what they lead to survives kStageSamples samples; what refutes them is kept in
/// mind. Takes none when that does not help. False when they fail.
bool Climb::stage(const std::function<bool()>& steps) {
  constexpr int kRounds = 8;
  Hypothesis before = h_;
  for (int round = 0; round < kRounds; ++round) {
    if (!steps()) return false;
    if (same_left(before, h_)) return true;
    Space space = explorer_.space(h_);
    std::vector<Sample> samples = explorer_.samples(space, {}, kStageSamples);
    auto counterexample = explorer_.refuting(h_, space, samples);
    if (!counterexample) return true;
    explorer_.remember(*std::move(counterexample));
    h_ = before;
  }
  return true;
}

/// Opens the extents of kernels, or the others; false when one had to be opened and was not.
bool Climb::open_extents(Kernels which) {
  const auto& symbols = explorer_.symbols();
  std::vector<int> closed;
  for (size_t k = 0; k < symbols.size(); ++k)
    if (symbols[k].is_size() && !is_open(k) && is_kernel(symbols[k]) == (which == Kernels::Yes))
      closed.push_back(static_cast<int>(k));
  if (closed.empty()) return true;
  Hypothesis all = h_;
  for (int k : closed) all.left[static_cast<size_t>(k)] = own(static_cast<size_t>(k));
  if (relaxer_.holds(all, closed)) {
    h_ = std::move(all);
    return true;
  }
  std::vector<int> rest;
  for (int k : closed)
    if (!relaxer_.open(h_, {{k}, {}})) rest.push_back(k);
  bool done = true;
  for (int k : rest)
    if (!is_open(static_cast<size_t>(k)))
      done = (open_extent(k) || may_stay(symbols[static_cast<size_t>(k)])) && done;
  return done;
}

/// Opens an extent together with a number that is equal to it, or as equal to another extent.
bool Climb::open_extent(int k) {
  const auto& symbols = explorer_.symbols();
  const PairSymbol& s = symbols[static_cast<size_t>(k)];
  if (relaxer_.open(h_, {{k}, {}})) return true;
  for (size_t n = 0; n < symbols.size(); ++n)
    if (!symbols[n].is_size() && !is_open(n) && symbols[n].witness == s.witness &&
        relaxer_.open(h_, {{k}, {{static_cast<int>(n), 0}}}))
      return true;
  for (bool same_axis : {true, false})
    for (size_t n = 0; n < symbols.size(); ++n) {
      bool fits = symbols[n].is_size() && symbols[n].witness == s.witness &&
                  static_cast<int>(n) != k && (symbols[n].axis == s.axis) == same_axis;
      bool root = fits && (!is_open(n) || same(h_.left[n], own(n)));
      if (root && relaxer_.open(h_, {{static_cast<int>(n)}, {{k, 0}}})) return true;
    }
  return false;
}

/// Extents that equations of the left side make equal, as its numbers and kernels are, are tied:
/// the equations may say less when numbers are open. `open` is all but the numbers.
void Climb::tie_equal_extents(Hypothesis open) {
  const auto& symbols = explorer_.symbols();
  for (size_t k = 0; k < symbols.size(); ++k)
    if (is_kernel(symbols[k])) open.left[k] = Poly(symbols[k].witness);
  std::vector<Sample> samples = explorer_.samples(explorer_.space(open), {}, kConfirm);
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
    }
}

/// Removes conditions that the left side's own requirements imply, or that nothing needs.
bool Climb::drop_conditions() {
  for (size_t k = 0; k < h_.left.size(); ++k) {
    if (!explorer_.symbols()[k].is_size() || same(h_.left[k], own(k))) continue;
    Hypothesis wider = h_;
    wider.left[k] = own(k);
    Space space = explorer_.space(wider);
    std::vector<Sample> apart;
    if (h_.left[k].terms().size() == 1) {
      int other = explorer_.index_of(h_.left[k].terms()[0].monomial[0]);
      apart = explorer_.samples_apart(space, {{static_cast<int>(k), other}}, kConfirm);
    }
    if (!explorer_.refuting(wider, space, apart) && relaxer_.holds(wider, {}))
      h_ = std::move(wider);
  }
  return true;
}

bool Climb::open_numbers() {
  bool closed = std::any_of(lists_.begin(), lists_.end(), [&](const LeftList& list) {
    return std::any_of(list.symbols.begin(), list.symbols.end(),
                       [&](int k) { return !is_open(static_cast<size_t>(k)); });
  });
  if (!closed || open_all_numbers()) return true;
  for (const LeftList& list : lists_) {
    bool whole = std::none_of(list.symbols.begin(), list.symbols.end(),
                              [&](int k) { return is_open(static_cast<size_t>(k)); });
    if (whole && relaxer_.open(h_, {list.symbols, {}})) continue;
    if (!is_open(static_cast<size_t>(list.symbols[0]))) open_alike(list);
    for (int k : list.symbols)
      if (!is_open(static_cast<size_t>(k)) && list.symbols.size() > 1) relaxer_.open(h_, {{k}, {}});
  }
  return true;
}

/// A list together with those of other calls that are still like it.
void Climb::open_alike(const LeftList& list) {
  Opening o{list.symbols, {}};
  for (const LeftList& other : lists_) {
    if (&other == &list || !other.alike(list)) continue;
    for (size_t i = 0; i < list.symbols.size(); ++i)
      if (!is_open(static_cast<size_t>(other.symbols[i])))
        o.ties.emplace_back(other.symbols[i], static_cast<int>(i));
  }
  if (!o.ties.empty()) relaxer_.open(h_, o);
}

/// Everything at once: attributes with equal names and numbers share variables on both sides,
/// where they cannot be told apart.
bool Climb::open_all_numbers() {
  Hypothesis all = h_;
  std::vector<int> moving;
  std::vector<const LeftList*> shared;
  for (const LeftList& list : lists_) {
    auto first = std::find_if(lists_.begin(), lists_.end(),
                              [&](const LeftList& other) { return other.alike(list); });
    for (size_t i = 0; i < list.symbols.size(); ++i) {
      auto k = static_cast<size_t>(list.symbols[i]);
      if (is_open(k) || explorer_.symbols()[k].fixed) return false;
      all.left[k] = own(static_cast<size_t>(first->symbols[i]));
    }
    moving.insert(moving.end(), list.symbols.begin(), list.symbols.end());
    if (&*first != &list) shared.push_back(&list);
  }
  const Side& right = explorer_.right();
  for (const Side::Call& call : right.calls)
    for (size_t a = 0; a < call.first.size(); ++a) {
      if (call.first[a] < 0) continue;
      LeftList wanted{{}, call.label->op->ints[a].name, call.label->attrs.ints[a]};
      for (const LeftList& list : lists_) {
        if (!list.alike(wanted)) continue;
        for (size_t i = 0; i < list.symbols.size(); ++i)
          all.right[static_cast<size_t>(call.first[a]) + i] =
              all.left[static_cast<size_t>(list.symbols[i])];
        break;
      }
    }
  Space space = explorer_.space(all);
  for (const LeftList& list : lists_)
    if (!explorer_.move_alone(space, list.symbols)) return false;
  if (!relaxer_.holds(all, moving)) return false;
  h_ = std::move(all);
  for (const LeftList* list : shared) relaxer_.part(h_, list->symbols);
  return true;
}

std::optional<Generalised> expressed(const Bank& bank, const Explorer& explorer, TermId lhs,
                                     TermId rhs, const Hypothesis& h, uint64_t seed) {
  GeneralPair pair;
  pair.lhs = lhs;
  pair.rhs = rhs;
  Expressed e = express(bank, explorer, pair, h);
  Rule rule = to_rule(bank, e.pair);
  if (check(rule, e.signature, mix(seed), kManyShapes) != Evidence::Holds) return std::nullopt;
  return Generalised{std::move(e.pair), std::move(rule), std::move(e.signature), e.closed};
}

/// Every sample of `special` is one of `general`.
bool includes(Explorer& explorer, const Hypothesis& general, const Hypothesis& special) {
  Space wide = explorer.space(general);
  std::vector<Sample> samples = explorer.samples(explorer.space(special), {}, kShapes);
  return std::all_of(samples.begin(), samples.end(),
                     [&](const Sample& s) { return wide.contains(s.point); });
}

bool is_composed(const Explorer& explorer, const Hypothesis& h) {
  return std::any_of(h.right.begin(), h.right.end(),
                     [&](const Poly& p) { return explorer.is_composed(p); });
}

/// One or two hypotheses; none when the equality is a coincidence. Where the first has sums or
/// products of attributes, the second has none, if that costs only numbers at their fallbacks: then
/// lists may be of any length, and proofs are easier.
std::vector<Hypothesis> hypotheses(const Bank& bank, Explorer& explorer) {
  Climb climb(bank, explorer, Numbers::Composed);
  auto first = climb.run(Order::NumbersFirst);
  if (!first) return {};
  std::optional<Hypothesis> second;
  if (is_composed(explorer, *first)) {
    Climb plain(bank, explorer, Numbers::Plain);
    second = plain.run(Order::NumbersFirst);
    if (second && !plain.closes_only_neutral(*first)) second.reset();
  } else if (!climb.opened_kernels()) {
    second = climb.run(Order::SizesFirst);
    if (second && includes(explorer, *first, *second)) second.reset();
    if (second && includes(explorer, *second, *first)) first = std::exchange(second, std::nullopt);
  }
  std::vector<Hypothesis> r = {*std::move(first)};
  if (second) r.push_back(*std::move(second));
  return r;
}

/// nullopt when a form that was found did not survive the last check.
std::optional<std::vector<Generalised>> climb(const Bank& bank, TermId lhs, TermId rhs,
                                              uint64_t seed) {
  std::vector<Generalised> r;
  auto explorer = Explorer::make(bank, lhs, rhs, seed);
  if (!explorer) return r;
  for (const Hypothesis& h : hypotheses(bank, *explorer)) {
    auto g = expressed(bank, *explorer, lhs, rhs, h, seed);
    if (!g) return std::nullopt;
    r.push_back(*std::move(g));
  }
  return r;
}

}  // namespace

std::vector<Generalised> generalise(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed) {
  try {
    auto r = climb(bank, lhs, rhs, seed);
    return r ? *std::move(r)
             : climb(bank, lhs, rhs, mix(seed)).value_or(std::vector<Generalised>{});
  } catch (const PolyOverflow&) {
    return {};
  }
}

}  // namespace regraft::gen
