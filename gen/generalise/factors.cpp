// Extents as products of numbers that no extent is: of channels and squares of a block.
#include "gen/generalise/hypothesis_search.h"

namespace regraft::gen {
namespace {

constexpr int kMostFactors = 3;

/// Open numbers by their witness.
using Factors = std::map<int64_t, Poly>;

/// n as a product of at least two of the factors, which may repeat; nullopt: it is none.
std::optional<Poly> product_of(int64_t n, const Factors& factors, int most) {
  for (const auto& [witness, factor] : factors) {
    if (n % witness != 0 || most < 2) continue;
    if (auto rest = factors.find(n / witness); rest != factors.end()) return factor * rest->second;
    if (auto rest = product_of(n / witness, factors, most - 1)) return factor * *rest;
  }
  return std::nullopt;
}

/// n as a multiple of one of the factors, by one of these numbers.
std::optional<Poly> multiple_of(int64_t n, const Factors& factors, const std::set<int64_t>& by) {
  for (const auto& [witness, factor] : factors)
    if (n % witness == 0 && by.count(n / witness) > 0) return factor * Poly(n / witness);
  return std::nullopt;
}

}  // namespace

/// The left side's numbers that stem from no extent, the same where they are equal, and the numbers
/// above 1 that are given.
HypothesisSearch::Loose HypothesisSearch::loose_numbers() const {
  Loose r;
  const auto& symbols = tester_.symbols();
  for (size_t k = 0; k < symbols.size(); ++k) {
    if (symbols[k].is_size() || symbols[k].witness < 2) continue;
    const NumberPlace& n = tester_.left().numbers[static_cast<size_t>(symbols[k].number)];
    if (!is_sized(tester_.left(), n))
      r.given.insert(n.witness);
    else if (!stem_of(tester_.left(), n) && r.factors.try_emplace(n.witness, own(k)).second)
      r.symbols.push_back(static_cast<int>(k));
  }
  for (size_t k = 0; k < symbols.size(); ++k)
    if (symbols[k].is_size() && symbols[k].witness > 1) take_multiples(r, k);
  return r;
}

/// Loose numbers that are an extent times another one are such products.
void HypothesisSearch::take_multiples(Loose& loose, size_t extent) const {
  const auto& symbols = tester_.symbols();
  const Factors before = loose.factors;
  for (const auto& [witness, factor] : before) {
    const int64_t multiple = witness * symbols[extent].witness;
    if (loose.factors.erase(multiple) == 0) continue;
    loose.products[multiple] = own(extent) * factor;
    std::erase_if(loose.symbols,
                  [&](int k) { return symbols[static_cast<size_t>(k)].witness == multiple; });
  }
}

/// All extents at once, as open_everything does, where numbers that stem from none are open and
/// extents are products of them, or multiples by given numbers.
bool HypothesisSearch::open_factors() {
  const auto& symbols = tester_.symbols();
  Loose loose = loose_numbers();
  if (loose.symbols.empty()) return false;
  Hypothesis all = h_;
  Substitution products;
  for (size_t k = 0; k < symbols.size(); ++k) {
    if (!symbols[k].is_size() || symbols[k].witness == 1 || is_kernel(symbols[k])) continue;
    auto product = product_of(symbols[k].witness, loose.factors, kMostFactors);
    if (!product) product = multiple_of(symbols[k].witness, loose.factors, loose.given);
    all.left[k] = product ? *product : own(first_alike(k));
    if (product) products[symbols[k].var] = *product;
    if (!is_open(k)) loose.symbols.push_back(static_cast<int>(k));
  }
  if (products.empty()) return false;
  auto express = [&](const Side& side, size_t n, Poly& number) {
    const NumberPlace& place = side.numbers[n];
    if (!is_sized(side, place)) return;
    auto size = place.witness == 1 ? Poly(1) : stem_of(side, place);
    if (size) number = substitute(*size, products);
    for (const Factors* of : {&loose.factors, &loose.products})
      if (auto at = of->find(place.witness); !size && at != of->end()) number = at->second;
  };
  for (size_t k = 0; k < symbols.size(); ++k)
    if (int n = symbols[k].number; n >= 0)
      express(tester_.left(), static_cast<size_t>(n), all.left[k]);
  for (size_t n = 0; n < all.right.size(); ++n) express(tester_.right(), n, all.right[n]);
  if (!step_.holds(all, loose.symbols)) return false;
  h_ = std::move(all);
  return true;
}

}  // namespace regraft::gen
