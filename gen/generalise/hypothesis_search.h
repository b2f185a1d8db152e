#pragma once
// The search for the most general hypothesis about a pair.
#include <map>
#include <set>

#include "gen/generalise/generalisation_step.h"

namespace regraft::gen {

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

/// From the witness to a hypothesis as general as can be: opens one symbol after the other. Not
/// thread-safe.
class HypothesisSearch {
 public:
  /// Both must outlive it.
  HypothesisSearch(const Bank& bank, HypothesisTester& tester, Numbers numbers);
  /// The hypothesis at the top; nullopt when the equality is a coincidence of the witness.
  std::optional<Hypothesis> run(Order order);
  /// Numbers that are open in `other` and not in the last result are at their fallbacks.
  bool closes_only_neutral(const Hypothesis& other) const {
    for (size_t k = 0; k < h_.left.size(); ++k)
      if (!tester_.symbols()[k].is_size() && !is_open(k) && !other.left[k].is_constant() &&
          !is_neutral(static_cast<int>(k)))
        return false;
    return true;
  }
  /// The order made no difference to the last result: nothing was tied at first, no extent of a
  /// kernel is in the end.
  bool is_settled() const {
    for (size_t k = 0; k < h_.left.size(); ++k)
      if (is_kernel(tester_.symbols()[k]) && !same(h_.left[k], own(k))) return false;
    return !tied_;
  }

 private:
  Poly own(size_t k) const { return Poly::symbol(tester_.symbols()[k].var); }
  bool is_open(size_t k) const { return !h_.left[k].is_constant(); }
  /// A number at its attribute's fallback.
  bool is_neutral(int k) const {
    const PairSymbol& s = tester_.symbols()[static_cast<size_t>(k)];
    const NumberPlace& n = tester_.left().numbers[static_cast<size_t>(s.number)];
    const OpDef& op = *tester_.left().calls[static_cast<size_t>(n.call)].label->op;
    return op.ints[n.attr].fallback == s.witness;
  }
  bool is_sized(const PairSymbol& s) const {
    const NumberPlace& n = tester_.left().numbers[static_cast<size_t>(s.number)];
    const Label& l = *tester_.left().calls[static_cast<size_t>(n.call)].label;
    return l.sized[n.attr] || l.op->ints[n.attr].length == Length::Any;
  }
  static bool is_sized(const Side& side, const NumberPlace& n) {
    return side.calls[static_cast<size_t>(n.call)].label->sized[n.attr];
  }
  /// The first extent of the same axis that is as large.
  size_t first_alike(size_t k) const {
    const auto& symbols = tester_.symbols();
    size_t first = 0;
    while (!symbols[first].is_size() || symbols[first].axis != symbols[k].axis ||
           symbols[first].witness != symbols[k].witness)
      ++first;
    return first;
  }
  bool is_kernel(const PairSymbol& s) const {
    return s.is_size() && s.axis >= 2 && bank_.is_kernel(s.leaf);
  }
  /// An extent that may stay a number.
  bool may_stay(const PairSymbol& s) const { return s.witness == 1 || is_kernel(s); }
  bool go_on(Order order);
  void sort_lists();
  bool is_pointwise(const LeftList& list) const;
  void start(Order order);
  void tie_equal_extents(const Space& space);
  bool drop_conditions();
  bool stage(const std::function<bool()>& steps);
  enum class Kernels : uint8_t { No, Yes };
  bool open_extents(Kernels which);
  bool open_extent(int k);
  bool open_product(int k);
  bool open_sum(int k);
  bool open_equal(int k);
  bool open_numbers();
  bool open_all_numbers();
  bool open_all_numbers(Hypothesis all, std::vector<int> moving);
  std::optional<Poly> stem_of(const Side& side, const NumberPlace& n) const;
  bool open_everything();
  /// Numbers that stem from no extent.
  struct Loose {
    std::vector<int> symbols;
    std::map<int64_t, Poly> factors;   ///< what they become, by witness,
    std::map<int64_t, Poly> products;  ///< or where they are an extent times another one
    std::set<int64_t> given;           ///< the other numbers
  };
  Loose loose_numbers() const;
  void take_multiples(Loose& loose, size_t extent) const;
  bool open_factors();
  void open_alike(const LeftList& list);

  const Bank& bank_;
  HypothesisTester& tester_;
  GeneralisationStep step_;
  std::vector<LeftList> lists_;
  Hypothesis h_;
  bool tied_ = false;
};

}  // namespace regraft::gen
