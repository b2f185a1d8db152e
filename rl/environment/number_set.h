#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraft::rl {

/// A set of small numbers, such as those of matches: one bit each.
class NumberSet {
 public:
  void insert(int32_t number) {
    auto word = static_cast<size_t>(number) / 64;
    if (word >= words_.size()) words_.resize(2 * word + 1);
    words_[word] |= bit(number);
    members_.push_back(number);
  }
  bool contains(int32_t number) const {
    auto word = static_cast<size_t>(number) / 64;
    return word < words_.size() && (words_[word] & bit(number)) != 0;
  }
  void clear() {
    for (int32_t number : members_) words_[static_cast<size_t>(number) / 64] = 0;
    members_.clear();
  }

 private:
  static uint64_t bit(int32_t number) { return uint64_t{1} << (number % 64); }
  std::vector<uint64_t> words_;
  std::vector<int32_t> members_;
};

}  // namespace regraft::rl
