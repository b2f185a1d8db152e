#pragma once
// The encoder of a world model (Ha & Schmidhuber 2018): what a graph is, in few numbers.
#include <span>

#include "base/parallel.h"
#include "rl/environment/vocabulary.h"
#include "rl/network/network.h"
#include "rl/nn/adam.h"

namespace regraft::rl {

struct LatentOptions {
  int size = 32;  ///< of a latent vector; its numbers are within (-1, 1)
  int hidden = 128;
  int32_t capacity = 256;  ///< of the vocabulary
  NetworkOptions network{};
  int minibatch = 32;  ///< states
  int chunk = 8;       ///< states on one tape
  double learning_rate = 3e-3;
  double max_norm = 1;
};

/// Means over the updates.
struct LatentLosses {
  double mask = 0, count = 0, change = 0, cost = 0;
};

/// A graph network trained so that its vector tells which rules have a place, how many, what the
/// best of each saves, and what the graph costs. Reading is thread-safe.
class Latent {
 public:
  Latent(const LatentOptions& options, size_t rule_columns, uint64_t seed);
  /// Rows of `size`.
  nn::Matrix<float> encode(std::span<const Observation* const> states, int threads) const;
  /// Minibatches drawn from these states; `rate`: a factor of the learning rate. Fewer
  /// updates once `stop` says so.
  LatentLosses train(std::span<const Observation* const> states, const Vocabulary& vocabulary,
                     int updates, double rate, Rng& rng, int threads, const Stop& stop);
  const LatentOptions& options() const { return options_; }
  nn::Parameters<float>& parameters() { return network_.parameters(); }
  const nn::Parameters<float>& parameters() const { return network_.parameters(); }
  nn::Adam<float>& adam() { return adam_; }
  const nn::Adam<float>& adam() const { return adam_; }

 private:
  struct Loss {
    nn::Var total;
    LatentLosses parts;
  };
  /// Before tanh.
  nn::Var wide(nn::Tape<float>& tape, std::span<const Observation* const> states) const;
  Loss loss(nn::Tape<float>& tape, std::span<const Observation* const> states,
            const Vocabulary& vocabulary) const;

  LatentOptions options_;
  NetworkOf<float> network_;
  nn::Linear squeeze_;
  nn::Mlp facts_;
  nn::Adam<float> adam_;
};

}  // namespace regraft::rl
