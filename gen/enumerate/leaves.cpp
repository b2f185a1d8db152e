// The variables of a grammar and their values.
#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "gen/enumerate/enumerator.h"
#include "gen/enumerate/modular.h"
#include "gen/enumerate/order_sampler.h"

namespace regraft::gen {

Status Enumerator::add_leaves() {
  const Grammar& grammar = plans_.grammar();
  if (grammar.instances.size() > kMaxInstances) return error("too many operator instances");
  bool exponents = false;
  for (size_t k = 0; k < grammar.instances.size(); ++k)
    exponents = exponents || plans_.has_exponentials(k);
  store_.channels = exponents ? Channels::Exponents : Channels::Plain;
  int bit = 0;
  for (size_t kind = 0; kind < grammar.leaves.size(); ++kind) {
    const LeafKind& k = grammar.leaves[kind];
    if (bit + k.count > 64) return error("more than 64 variables");
    if (k.role == Role::Kernel) bank_.add_kernel_extents({k.shape.begin() + 2, k.shape.end()});
    graph_->first_bits_ |= uint64_t{1} << bit;
    for (int n = 0; n < k.count; ++n, ++bit) add_leaf(k, kind, n, bit);
  }
  graph_->leaf_count_ = graph_->size();
  return {};
}

void Enumerator::add_leaf(const LeafKind& kind, size_t kind_index, int number, int bit) {
  const Grammar& grammar = plans_.grammar();
  ShapeId shape = plans_.shape(kind.shape, kind.role == Role::Truths ? DType::Bool : DType::F32);
  const ShapeInfo& info = plans_.info(shape);
  graph_->shapes_.push_back(shape);
  graph_->levels_.push_back(0);
  graph_->leaves_.push_back(uint64_t{1} << bit);
  graph_->first_.push_back({});
  graph_->supports_.push_back({Support{}});
  graph_->leaf_terms_.push_back(
      bank_.leaf(kind.shape, number + 100 * static_cast<int>(kind_index), kind.role));
  size_t n = info.weights.size(), at = store_.v.size();
  store_.add(n);
  Rng rng(combine(combine(options_.seed, hash_text("leaf")), static_cast<uint64_t>(bit)));
  std::vector<double> random(n);
  for (size_t e = 0; e < n; ++e) {
    Residue x = random_residue(rng);
    store_.v[at + e] = x.v;
    random[e] = x.r;
    if (store_.channels == Channels::Exponents) store_.w[at + e] = x.w;
  }
  auto trials = static_cast<size_t>(plans_.trials());
  auto sizes = store_.channels == Channels::Exponents ? OrderSampler::Sizes::Small
               : grammar.compare == Compare::Doubles  ? OrderSampler::Sizes::Wide
                                                      : OrderSampler::Sizes::All;
  const OrderSampler order(plans_.bounds(), trials, sizes);
  auto values = order.values(std::move(random), n / trials, static_cast<size_t>(number), rng);
  std::ranges::copy(values, store_.r.begin() + static_cast<ptrdiff_t>(at));
  // With few trials the signs of two scalars may agree in all: then their roots would, too.
  if (plans_.compares() || kind.role == Role::Positive) make_rooted(at, n, kind.role);
  if (kind.role == Role::Truths || kind.role == Role::Places)
    make_truths(at, n);
  else if (plans_.compares() && number > 0)
    make_ties(at, n, static_cast<size_t>(number));
  if (grammar.compare == Compare::Doubles) {
    bool numbers = kind.role == Role::Data || kind.role == Role::Positive;
    if (plans_.tells_apart() && numbers) meet_bounds(at, n);
    round(at, n);
  }
  graph_->keys_.push_back(info.key(dot_p(info.weights, {store_.v.data() + at, n})));
}

/// In every fourth trial every second element is a number that values are compared with, so that
/// "greater" does not pass for "greater or equal".
void Enumerator::meet_bounds(size_t at, size_t n) {
  std::vector<double> bounds = plans_.bounds();
  std::erase(bounds, 0.0);
  if (bounds.empty()) return;
  const size_t elements = n / static_cast<size_t>(plans_.trials());
  for (size_t e = 0; e < n; ++e) {
    const size_t trial = e / elements, turn = e % elements + trial / 4;
    if (trial % 4 == 1 && turn % 2 == 0) store_.r[at + e] = bounds[turn / 2 % bounds.size()];
  }
}

/// Residues from `at` on become those that stand for the doubles.
void Enumerator::round(size_t at, size_t n) {
  for (size_t e = at; e < at + n; ++e) {
    Residue x = residue_of_rounded(store_.r[e]);
    store_.v[e] = x.v;
    if (store_.channels == Channels::Exponents) store_.w[e] = x.w;
  }
}

/// Elements from `at` on become squares in the moduli, negated where they are negative.
void Enumerator::make_rooted(size_t at, size_t n, Role role) {
  const bool exponents = store_.channels == Channels::Exponents;
  for (size_t e = at; e < at + n; ++e) {
    if (role == Role::Positive) store_.r[e] = std::abs(store_.r[e]);
    Residue x = rooted({store_.v[e], exponents ? store_.w[e] : 0, store_.r[e]});
    store_.v[e] = x.v;
    if (exponents) store_.w[e] = x.w;
  }
}

/// Elements from `at` on become 1 where they are positive, else 0.
void Enumerator::make_truths(size_t at, size_t n) {
  for (size_t e = at; e < at + n; ++e) {
    const bool yes = store_.r[e] > 0;
    store_.v[e] = yes;
    store_.r[e] = yes;
    if (store_.channels == Channels::Exponents) store_.w[e] = yes;
  }
}

/// In every fourth trial every second element is that of the first variable of their kind, so that
/// "greater" does not pass for "greater or equal". Which they are does not depend on the seed:
/// where a whole row is alike, its differences add up to 0, and no quotient by them is defined.
void Enumerator::make_ties(size_t at, size_t n, size_t number) {
  const size_t elements = n / static_cast<size_t>(plans_.trials()), first = at - number * n;
  for (size_t e = 0; e < n; ++e) {
    const size_t trial = e / elements;
    if (trial % 4 != 3 || (e % elements + (trial / 4 >> (number - 1))) % 2 == 0) continue;
    store_.v[at + e] = store_.v[first + e];
    store_.r[at + e] = store_.r[first + e];
    if (store_.channels == Channels::Exponents) store_.w[at + e] = store_.w[first + e];
  }
}

}  // namespace regraft::gen
