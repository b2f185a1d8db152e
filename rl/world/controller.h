#pragma once
// The controller of a world model (Ha & Schmidhuber 2018): what to do, from latent vector and
// offers.
#include <span>

#include "rl/environment/vocabulary.h"
#include "rl/nn/adam.h"
#include "rl/nn/layers.h"

namespace regraft::rl {

struct ControllerOptions {
  int latent = 32;  ///< size of a latent vector
  int hidden = 64;
  int32_t capacity = 256;  ///< of the vocabulary
  int32_t locations = 4;   ///< of a rule
  double stop_bias = -5;   ///< what the logit of stopping begins with
};

/// First the rule among those that are offered, or to stop; then the place, given the rule. It sees
/// what the offers would change beside the latent vector. Reading is thread-safe.
class Controller {
 public:
  Controller(const ControllerOptions& options, uint64_t seed);
  struct Output {
    nn::Var log_probs;                  ///< a column: of choices(), state by state
    std::vector<int32_t> first_action;  ///< where each state's begin, and the end of the last
    std::vector<Choice> choices;
    nn::Var values;  ///< a column: percent that is still to be saved
  };
  /// A row of z for each state's offers.
  Output forward(nn::Tape<float>& tape, const nn::Matrix<float>& z,
                 std::span<const Offers* const> offers) const;

  const ControllerOptions& options() const { return options_; }
  nn::Parameters<float>& parameters() { return parameters_; }
  const nn::Parameters<float>& parameters() const { return parameters_; }
  nn::Adam<float>& adam() { return adam_; }
  const nn::Adam<float>& adam() const { return adam_; }

 private:
  ControllerOptions options_;
  nn::Parameters<float> parameters_;
  nn::Mlp body_, value_;
  nn::Linear place_in_;
  int rules_ = -1, biases_ = -1, rule_places_ = -1, places_ = -1;
  int seen_ = -1, lean_ = -1, lean_place_ = -1;
  nn::Adam<float> adam_;
};

}  // namespace regraft::rl
