#include "gen/minimise/verdicts_ahead.h"

#include <algorithm>
#include <utility>

namespace regraft::gen {

VerdictsAhead::VerdictsAhead(int threads, Judge judge) : judge_(std::move(judge)) {
  for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
}

VerdictsAhead::~VerdictsAhead() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
}

void VerdictsAhead::propose(std::vector<PairOf> pairs) {
  {
    std::lock_guard lock(mutex_);
    std::ranges::reverse(pairs);
    proposed_ = std::move(pairs);
  }
  changed_.notify_all();
}

bool VerdictsAhead::is_begun(const PairOf& pair) const {
  std::lock_guard lock(mutex_);
  return begun_.contains(pair);
}

/// False where there is nothing to judge. The lock is not held meanwhile.
bool VerdictsAhead::judge_next(std::unique_lock<std::mutex>& lock) {
  while (!proposed_.empty() && begun_.contains(proposed_.back())) proposed_.pop_back();
  if (proposed_.empty()) return false;
  const PairOf pair = proposed_.back();
  proposed_.pop_back();
  begun_.try_emplace(pair);
  lock.unlock();
  Verdict verdict = judge_(pair);
  lock.lock();
  begun_[pair] = std::move(verdict);
  changed_.notify_all();
  return true;
}

void VerdictsAhead::work() {
  std::unique_lock lock(mutex_);
  while (!ends_)
    if (!judge_next(lock)) changed_.wait(lock);
}

Verdict VerdictsAhead::take(const PairOf& pair) {
  std::unique_lock lock(mutex_);
  std::erase(proposed_, pair);
  if (!begun_.contains(pair)) proposed_.push_back(pair);  // the caller judges it before all others
  auto is_judged = [&] {
    auto it = begun_.find(pair);
    return it != begun_.end() && it->second;
  };
  while (!is_judged())
    if (!judge_next(lock)) changed_.wait(lock);
  return *std::move(begun_.extract(pair).mapped());
}

void VerdictsAhead::forget_up_to(size_t group) {
  std::lock_guard lock(mutex_);
  std::erase_if(begun_, [&](const auto& b) { return b.first.group <= group && b.second; });
}

}  // namespace regraft::gen
