#pragma once
// A map from lists of numbers.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"

namespace regraft::rewrite {

/// Finds with two looks into memory: keys lie one after the other, and the table has the values.
/// Nothing is ever removed.
template <class T>
class IdsMap {
 public:
  /// nullptr: there is none. Lives until the next add().
  T* find(std::span<const int32_t> key) {
    if (slots_.empty()) return nullptr;
    Slot& s = slots_[place(key, hash_of(key))];
    return s.size < 0 ? nullptr : &s.value;
  }
  /// REQUIRES: the key is not there.
  T& add(std::span<const int32_t> key, T value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    ++count_;
    uint64_t hash = hash_of(key);
    Slot& s = slots_[place(key, hash)];
    s = {hash, keys_.size(), static_cast<int32_t>(key.size()), std::move(value)};
    keys_.insert(keys_.end(), key.begin(), key.end());
    return s.value;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    size_t first = 0;   // in keys_
    int32_t size = -1;  // -1: free
    T value{};
  };
  static uint64_t hash_of(std::span<const int32_t> key) {
    uint64_t h = key.size();
    for (int32_t id : key) h = (h ^ static_cast<uint32_t>(id)) * 0x9e3779b97f4a7c15ULL;
    return mix(h);
  }
  /// Where the key is, or would be.
  size_t place(std::span<const int32_t> key, uint64_t hash) const {
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& s = slots_[at];
      if (s.size < 0) return at;
      bool same = s.hash == hash && static_cast<size_t>(s.size) == key.size() &&
                  std::equal(key.begin(), key.end(), keys_.data() + s.first);
      if (same) return at;
    }
  }
  void grow() {
    std::vector<Slot> old(std::max<size_t>(64, 2 * slots_.size()));
    std::swap(old, slots_);
    for (Slot& s : old) {
      if (s.size < 0) continue;
      std::span key(keys_.data() + s.first, static_cast<size_t>(s.size));
      slots_[place(key, s.hash)] = std::move(s);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<int32_t> keys_;
  size_t count_ = 0;
};

}  // namespace regraft::rewrite
