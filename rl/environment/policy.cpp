#include "rl/environment/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace regraft::rl {
namespace {

void normalise(std::vector<float>& logits) {
  double most = *std::max_element(logits.begin(), logits.end()), sum = 0;
  for (float z : logits) sum += std::exp(z - most);
  auto log_sum = static_cast<float>(most + std::log(sum));
  for (float& z : logits) z -= log_sum;
}

class CostPrior final : public Policy {
 public:
  explicit CostPrior(double sharpness) : sharpness_(sharpness) {}
  Judgement judge(const Observation& o) const override {
    Judgement j;
    for (size_t k = 0; k < o.matches(); ++k) {
      double slog = o.match[k * kMatchFeatures + 1];
      double percent = std::copysign(std::expm1(std::abs(slog)), slog);
      j.log_probs.push_back(static_cast<float>(-sharpness_ * percent));
    }
    j.log_probs.push_back(0);
    normalise(j.log_probs);
    return j;
  }
  std::string description() const override {
    return sharpness_ == 0 ? "uniform" : fmt::format("cost prior, sharpness {}", sharpness_);
  }

 private:
  double sharpness_;
};

}  // namespace

std::unique_ptr<Policy> uniform_policy() { return std::make_unique<CostPrior>(0); }
std::unique_ptr<Policy> cost_prior(double sharpness) {
  return std::make_unique<CostPrior>(sharpness);
}

size_t sample(const std::vector<float>& log_probs, Rng& rng) {
  double left = rng.unit();
  for (size_t k = 0; k + 1 < log_probs.size(); ++k)
    if ((left -= std::exp(log_probs[k])) < 0) return k;
  return log_probs.size() - 1;
}

size_t most_probable(const std::vector<float>& log_probs) {
  return static_cast<size_t>(std::max_element(log_probs.begin(), log_probs.end()) -
                             log_probs.begin());
}

}  // namespace regraft::rl
