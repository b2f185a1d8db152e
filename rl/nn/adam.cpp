#include "rl/nn/adam.h"

#include <cmath>

#include "base/check.h"

namespace regraft::rl::nn {

template <class S>
void Adam<S>::step(Parameters<S>& parameters, const Gradients<S>& gradients, double rate) {
  CHECK(parameters.size() == first.size() && gradients.size() == first.size());
  ++steps;
  const double n = static_cast<double>(steps);
  const S b1 = static_cast<S>(options.beta1), b2 = static_cast<S>(options.beta2);
  const S pace = static_cast<S>(rate / (1 - std::pow(options.beta1, n)));
  const S root = static_cast<S>(1 / std::sqrt(1 - std::pow(options.beta2, n)));
  const S epsilon = static_cast<S>(options.epsilon);
  const S kept = static_cast<S>(1 - rate * options.weight_decay);
  for (int i = 0; i < parameters.size(); ++i) {
    auto g = gradients.value(i).array();
    auto m = first.value(i).array(), v = second.value(i).array();
    auto x = parameters.value(i).array();
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g.square();
    x = kept * x - pace * m / (v.sqrt() * root + epsilon);
  }
}

template struct Adam<float>;
template struct Adam<double>;

}  // namespace regraft::rl::nn
