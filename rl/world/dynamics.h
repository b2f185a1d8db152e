#pragma once
// The dynamics model (MDN-RNN) of a world model (Ha & Schmidhuber 2018): what an action makes of a
// latent vector.
#include <span>
#include "base/parallel.h"

#include "rl/environment/vocabulary.h"
#include "rl/nn/adam.h"
#include "rl/nn/layers.h"

namespace regraft::rl {

struct DynamicsOptions {
  int latent = 32;         ///< size of a latent vector
  int hidden = 256;        ///< of the memory
  int components = 8;      ///< of the mixture
  int32_t capacity = 256;  ///< of the vocabulary
  int32_t locations = 4;   ///< of a rule
  int action = 32;         ///< of the embedding of a rule
  int heads = 128;         ///< hidden units between memory and what is told of the next state
  int minibatch = 16;      ///< episodes
  int chunk = 8;           ///< episodes on one tape, alike in length
  double noise = 0.01;     ///< on latent vectors in training: in dreams they are not exact either
  double learning_rate = 2e-3;
  double max_norm = 1;
  double end_weight = 8;  ///< of the steps that end an episode, which are few
};

/// An episode as the encoder and the vocabulary see it, with T steps.
struct Track {
  nn::Matrix<float> z;         ///< T + 1 rows
  std::vector<Offers> offers;  ///< of T + 1 states
  std::vector<Choice> choices;
  std::vector<float> saved;  ///< in T + 1 states: percent of the original's cost
  bool terminated = false;   ///< at the end
  size_t steps() const { return choices.size(); }
};

/// What the network remembers, a row for each episode.
struct Memory {
  nn::Matrix<float> h, c;
};

/// What it makes of one step, by row.
struct Imagined {
  nn::Matrix<float> z;
  std::vector<float> saved;    ///< percent of the original's cost that is saved then
  std::vector<float> ends;     ///< probability that the episode ends by itself
  nn::Matrix<float> mask;      ///< probability that a slot's rule has a place
  std::vector<Offers> offers;  ///< of slots where that is above one half
};

/// Means over the steps and updates.
struct DynamicsLosses {
  double latent = 0;  ///< negative log likelihood of a number of the next vector
  double saved = 0, end = 0, mask = 0, count = 0, change = 0;
};

/// A recurrent network with a mixture density for the next latent vector's difference, and heads
/// for what is saved, the end, offered rules, their places and what these would change. Reading is
/// thread-safe.
class Dynamics {
 public:
  Dynamics(const DynamicsOptions& options, uint64_t seed);
  Memory start(int64_t rows) const;
  /// One step of each row, at temperature tau; row k draws from rngs[k]. `slots`: those in use; the
  /// others are never offered. REQUIRES: tau > 0.
  Imagined step(const nn::Matrix<float>& z, std::span<const Choice> choices, Memory& memory,
                int32_t slots, double tau, std::span<Rng> rngs) const;
  /// The memory before each step of a real episode, a row for each, and after the last.
  Memory recall(const Track& track) const;
  /// Episodes drawn from these, whole. `slots`: those in use; `rate`: a factor of the
  /// learning rate.
  DynamicsLosses train(std::span<const Track* const> tracks, int32_t slots, int updates,
                       double rate, Rng& rng, int threads, const Stop& stop);
  /// The loss of these episodes, with gradients to *into unless null. Each is padded to `length`
  /// steps, which makes no difference. `of`: steps that the loss is a mean over.
  DynamicsLosses loss(std::span<const Track* const> tracks, size_t length, int32_t slots, size_t of,
                      uint64_t seed, nn::Gradients<float>* into) const;

  const DynamicsOptions& options() const { return options_; }
  nn::Parameters<float>& parameters() { return parameters_; }
  const nn::Parameters<float>& parameters() const { return parameters_; }
  nn::Adam<float>& adam() { return adam_; }
  const nn::Adam<float>& adam() const { return adam_; }

 private:
  struct Heads {
    nn::Var mixture, saved, end, mask, count;
    nn::Var offers;  ///< what change() takes
  };
  struct Places;
  nn::Var inputs(nn::Tape<float>& tape, nn::Var z, std::span<const Choice> choices) const;
  Heads heads(nn::Tape<float>& tape, nn::Var memory, nn::Var inputs, int32_t slots) const;
  nn::Var change(nn::Tape<float>& tape, nn::Var offers, const Places& places) const;

  DynamicsOptions options_;
  nn::Parameters<float> parameters_;
  int rules_ = -1, places_ = -1;
  nn::Lstm lstm_;
  nn::Mixture mixture_;
  nn::Linear mixture_in_, offers_, mask_, count_, change_;
  nn::Mlp saved_, end_;
  nn::Adam<float> adam_;
};

}  // namespace regraft::rl
