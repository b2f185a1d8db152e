#pragma once
// Which calls a value needs: sets of calls, their unions, and who shares calls with whom.
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace regraft::gen {

/// A set of calls, sorted. A value has a support for each irredundant way to compute it.
struct Support {
  static constexpr int kCapacity = 8;
  int size = 0;
  std::array<uint32_t, kCapacity> tokens{};
  bool contains(uint32_t token) const;
  bool contains(const Support& other) const;
  Support with(uint32_t token) const;  ///< REQUIRES: size < kCapacity
  Support without(uint32_t token) const;
  bool operator==(const Support& o) const = default;
};

/// Number of calls in the union, at most 2 * kCapacity.
int union_size(const Support& a, const Support& b);
/// The smallest union of one support of each list; 0 for no lists.
int smallest_union(const std::vector<Support>& a, const std::vector<Support>& b);
int smallest_union(std::span<const std::vector<Support>* const> lists);
/// The first smallest union. REQUIRES: it fits a Support.
Support best_union(std::span<const std::vector<Support>* const> lists);
/// All unions of at most `limit` calls.
std::vector<Support> all_unions(std::span<const std::vector<Support>* const> lists, int limit);
/// Adds s unless a subset of it is there.
void add_irredundant(std::vector<Support>& list, const Support& s);

/// Finds the values that can be combined within a number of calls.
class SupportIndex {
 public:
  void add(int32_t value, const std::vector<Support>& supports);
  /// At least all values of which some support has a union with one of `supports` of at most
  /// `limit` calls; sorted.
  std::vector<int32_t> partners(const std::vector<Support>& supports, int limit) const;

 private:
  struct Entry {
    int32_t value;
    int size;
  };
  std::vector<std::vector<int32_t>> by_size_;  ///< values with a support of that size
  std::unordered_map<uint64_t, std::vector<Entry>> by_subset_;
};

}  // namespace regraft::gen
