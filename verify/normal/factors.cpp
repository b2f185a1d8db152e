#include "verify/normal/factors.h"

#include "verify/normal/match.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// Where the products of s have atom a; empty: not all of them do.
std::vector<size_t> places_of(const Atom& a, const Sum& s, const Context& context) {
  std::vector<size_t> places;
  for (const auto& p : s.products) {
    if (mentions_any(a, p.bound)) return {};
    size_t k = 0;
    while (k < p.atoms.size() && !same_atom(a, p.atoms[k], context)) ++k;
    if (k == p.atoms.size()) return {};
    places.push_back(k);
  }
  return places;
}

}  // namespace

Factored common_factors(const Sum& s, const std::vector<Var>& inner, const Context& context) {
  Factored r{{}, s};
  auto& products = r.rest.products;
  for (size_t i = 0; i < products[0].atoms.size();) {
    const Atom a = products[0].atoms[i];
    std::vector<size_t> places;
    if (!mentions_any(a, inner)) places = places_of(a, r.rest, context);
    if (places.empty()) {
      ++i;
      continue;
    }
    for (size_t q = 0; q < places.size(); ++q) drop(products[q].atoms, places[q]);
    r.factors.push_back(a);
  }
  return r;
}

std::optional<Scaled> positive_factor(const Sum& s, const std::vector<Var>& inner,
                                      const Context& within, const Context& context) {
  auto [inside, rest] = common_factors(s, inner, within);
  std::vector<Atom> outside;
  Rational c = absolute(leading(s)), turn{1, 1};
  for (size_t i = 0; i < inside.size();) {
    Sign x = sign_of(inside[i], context);
    size_t j = i + 1;
    while (j < inside.size() && !same_atom(inside[i], inside[j], context)) ++j;
    bool square = !x.not_negative() && j < inside.size();
    bool turned = !square && x.not_positive() && !x.not_negative();
    if (!x.not_negative() && !square && !turned) {
      ++i;
      continue;
    }
    if (turned) turn.n = -turn.n;
    if (square) {
      outside.push_back(inside[j]);
      drop(inside, j);
    }
    outside.push_back(inside[i]);
    drop(inside, i);
  }
  if (outside.empty() && c == Rational{1, 1}) return std::nullopt;
  return Scaled{product_of(outside, c * turn),
                scaled(product_of(inside, {1, 1}) * rest, inverse_of(c) * turn)};
}

}  // namespace regraft::verify
