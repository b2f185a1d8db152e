#pragma once
// The actions of an agent whose network has a fixed number of outputs.
#include <cstdint>
#include <vector>

#include "rl/observation.h"

namespace regraft::rl {

/// How many places each rule of a vocabulary has in a state, by slot; 0: it is not offered.
using Counts = std::vector<int16_t>;

/// An action: a rule's slot and the k-th place of it, those first that save most.
struct Choice {
  int32_t slot = 0;
  int32_t location = 0;
  bool operator==(const Choice&) const = default;
};

/// Rules that had a place in some state that was seen, each with a slot, in the order in which they
/// came. A slot never changes.
class Vocabulary {
 public:
  /// At most `capacity` rules; later ones stay unknown.
  explicit Vocabulary(int32_t capacity) : capacity_(capacity) {}
  /// Those rules, by slot; -1: a rule that is no more.
  Vocabulary(int32_t capacity, const std::vector<int32_t>& rules);
  void learn(const Observation& o);
  int32_t capacity() const { return capacity_; }
  int32_t size() const { return static_cast<int32_t>(rules_.size()); }
  const std::vector<int32_t>& rules() const { return rules_; }  ///< of the index, by slot
  int32_t stop() const { return capacity_; }         ///< what stands for stopping in a Choice
  int32_t unknown() const { return capacity_ + 1; }  ///< and for rules without a slot
  /// -1 is to stop.
  int32_t slot(int32_t rule) const;
  Counts counts(const Observation& o) const;
  /// By slot: what the best place saves, in percent of the original's cost on a symmetric
  /// logarithmic scale, negative when it saves; 0 where there is none.
  std::vector<float> changes(const Observation& o) const;

 private:
  void add(int32_t rule);
  int32_t capacity_;
  std::vector<int32_t> rules_, slots_;
};

/// Actions offered in a state, by slot and then place, at most `locations` of each rule; to stop
/// comes last.
std::vector<Choice> choices(const Counts& counts, int32_t locations);

/// The match's change of cost as it is described: percent, on a symmetric logarithmic scale.
float described_change(const Observation& o, size_t match);

/// Matches of each rule in a row, by rule, those first that save most.
std::vector<int32_t> in_order(const Observation& o);

}  // namespace regraft::rl
