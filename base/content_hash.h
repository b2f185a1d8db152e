#pragma once
// Hashes of data, which find what may be equal: whoever needs to know compares the bytes. Nothing
// of them leaves the process (base/digest.h is for that).
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace regraft {

struct Hash128 {
  uint64_t low = 0, high = 0;
  auto operator<=>(const Hash128&) const = default;
};

/// XXH3-128 (xxhash.com) of what is added, in however many pieces.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;
  void add(std::span<const std::byte> data);
  Hash128 value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraft
