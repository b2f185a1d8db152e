#include "rl/world/latent.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "rl/nn/gradient_sum.h"

namespace regraft::rl {

using nn::Matrix;
using nn::Tape;
using nn::Var;

namespace {

constexpr float kLatentMaskWeight = 5, kCostWeight = 4;
/// Of the square of what tanh is taken of: where that is flat, small changes of a graph are jumps.
constexpr float kSizeWeight = 0.05F;

/// What a minibatch's states are, as the network shall tell it; columns are slots in use.
struct Facts {
  Matrix<float> mask, count, change, cost;
};

Facts facts_of(std::span<const Observation* const> states, const Vocabulary& vocabulary) {
  auto n = static_cast<int64_t>(states.size());
  int64_t slots = vocabulary.size();
  Facts f{Matrix<float>(n, slots), Matrix<float>(n, slots), Matrix<float>(n, slots),
          Matrix<float>(n, 1)};
  for (int64_t row = 0; row < n; ++row) {
    const Observation& o = *states[static_cast<size_t>(row)];
    Offers offers = vocabulary.offers(o, 1);
    for (int64_t s = 0; s < slots; ++s) {
      auto at = static_cast<size_t>(s);
      f.mask(row, s) = offers.counts[at] > 0;
      f.count(row, s) = std::log1p(static_cast<float>(offers.counts[at]));
      f.change(row, s) = offers.changes[at];
    }
    float saved = 100 * (1 - o.global[0]);
    f.cost(row, 0) = std::copysign(std::log1p(std::abs(saved)), saved);
  }
  return f;
}

}  // namespace

Latent::Latent(const LatentOptions& options, size_t rule_columns, uint64_t seed)
    : options_(options), network_(options.network, rule_columns, seed), adam_([&] {
        Rng rng(seed + 1);
        auto& p = network_.parameters();
        squeeze_ = nn::Linear::make(p, rng, "v.squeeze", options.network.width, options.size, 1);
        facts_ = nn::Mlp::make(p, rng, "v.facts",
                               {options.size, options.hidden, 3 * options.capacity + 1});
        return nn::Adam<float>(p);
      }()) {}

Var Latent::wide(Tape<float>& tape, std::span<const Observation* const> states) const {
  return squeeze_(tape, network_.encode(tape, Batch(states, options_.network)));
}

Matrix<float> Latent::encode(std::span<const Observation* const> states, int threads) const {
  Matrix<float> all(static_cast<int64_t>(states.size()), options_.size);
  auto size = static_cast<size_t>(options_.chunk);
  parallel_for((states.size() + size - 1) / size, threads, [&](size_t k) {
    auto part = states.subspan(k * size, std::min(size, states.size() - k * size));
    Tape<float> tape(parameters(), nullptr);
    all.middleRows(static_cast<int64_t>(k * size), static_cast<int64_t>(part.size())) =
        tape.value(tape.tanh(wide(tape, part)));
  });
  return all;
}

/// Means over the states of one tape.
Latent::Loss Latent::loss(Tape<float>& tape, std::span<const Observation* const> states,
                          const Vocabulary& vocabulary) const {
  Facts f = facts_of(states, vocabulary);
  int64_t slots = vocabulary.size(), capacity = options_.capacity;
  float present = std::max(1.0F, f.mask.sum());
  Var before = wide(tape, states), told = facts_(tape, tape.tanh(before));
  auto difference = [&](int64_t column, Matrix<float>& from) {
    int64_t columns = from.cols();
    return tape.sub(tape.slice_columns(told, column, columns), tape.constant(std::move(from)));
  };
  Var logits = tape.slice_columns(told, 0, slots), mask = tape.constant(f.mask);
  Var masks = tape.mean(tape.sub(tape.softplus(logits), tape.mul(logits, mask)));
  Var counts = tape.mean(tape.huber(difference(capacity, f.count), 1));
  Var change = tape.mul(difference(2 * capacity, f.change), mask);
  Var changes = tape.scale(tape.sum(tape.huber(change, 1)), 1 / present);
  Var costs = tape.mean(tape.huber(difference(3 * capacity, f.cost), 1));
  Var size = tape.scale(tape.mean(tape.square(before)), kSizeWeight);
  Var total = tape.add(tape.add(tape.scale(masks, kLatentMaskWeight), counts),
                       tape.add(tape.add(changes, tape.scale(costs, kCostWeight)), size));
  return {total,
          {tape.scalar(masks), tape.scalar(counts), tape.scalar(changes), tape.scalar(costs)}};
}

LatentLosses Latent::train(std::span<const Observation* const> states, const Vocabulary& vocabulary,
                           int updates, double rate, Rng& rng, int threads, const Stop& stop) {
  CHECK(!states.empty() && vocabulary.size() > 0);
  GradientSum gradients(parameters());
  auto size = static_cast<size_t>(options_.chunk);
  size_t chunks = std::max<size_t>(1, static_cast<size_t>(options_.minibatch) / size);
  LatentLosses mean;
  double share = 1 / static_cast<double>(std::max(1, updates)) / static_cast<double>(chunks);
  for (int update = 0; update < updates && !stop.must_end(); ++update) {
    std::vector<const Observation*> chosen(chunks * size);
    for (auto& o : chosen) o = states[rng.below(states.size())];
    std::vector<LatentLosses> losses(chunks);
    auto& sum = gradients.of(chunks, threads, [&](size_t k, nn::Gradients<float>& into) {
      Tape<float> tape(parameters(), &into);
      Loss l = loss(tape, std::span(chosen).subspan(k * size, size), vocabulary);
      tape.backward(tape.scale(l.total, 1 / static_cast<float>(chunks)));
      losses[k] = l.parts;
    });
    sum.clip(options_.max_norm);
    adam_.step(parameters(), sum, rate * options_.learning_rate);
    for (const LatentLosses& l : losses) {
      mean.mask += share * l.mask, mean.count += share * l.count;
      mean.change += share * l.change, mean.cost += share * l.cost;
    }
  }
  return mean;
}

}  // namespace regraft::rl
