#include "rl/environment/pool.h"

namespace regraft::rl {

std::unique_ptr<Environment> EnvironmentPool::take(size_t k) {
  {
    std::lock_guard lock(mutex_);
    if (auto& free = free_[k]; !free.empty()) {
      auto environment = std::move(free.back());
      free.pop_back();
      return environment;
    }
  }
  return std::make_unique<Environment>(graphs_[k], rules_, model_, options_);
}

void EnvironmentPool::give_back(size_t k, std::unique_ptr<Environment> environment) {
  std::lock_guard lock(mutex_);
  free_[k].push_back(std::move(environment));
}

}  // namespace regraft::rl
