#pragma once
// The actions of an agent whose network has a fixed number of outputs.
#include <cstdint>
#include <vector>

#include "rl/environment/observation.h"

namespace regraft::rl {

/// An action: a rule's slot and the k-th place of it, those first that save most.
struct Choice {
  int32_t slot = 0;
  int32_t location = 0;
  bool operator==(const Choice&) const = default;
};

/// What a state offers of the rules of a vocabulary.
struct Offers {
  Offers(int32_t capacity, int32_t places)
      : locations(places),
        counts(static_cast<size_t>(capacity)),
        changes(static_cast<size_t>(capacity) * static_cast<size_t>(places)) {}
  int32_t locations;            ///< of a rule that changes are told of, and that may be chosen
  std::vector<int16_t> counts;  ///< places by slot; 0: the rule is not offered
  /// By slot and place: see described_change(); 0 where there is none.
  std::vector<float> changes;
  float& change(const Choice& c) { return changes[index(c)]; }
  float change(const Choice& c) const { return changes[index(c)]; }

 private:
  size_t index(const Choice& c) const {
    return static_cast<size_t>(c.slot) * static_cast<size_t>(locations) +
           static_cast<size_t>(c.location);
  }
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
  Offers offers(const Observation& o, int32_t locations) const;

 private:
  void add(int32_t rule);
  int32_t capacity_;
  std::vector<int32_t> rules_, slots_;
};

/// Actions offered in a state, by slot and then place; to stop comes last.
std::vector<Choice> choices(const Offers& offers);

/// The match's change of cost as it is described: percent of the original's, negative when it
/// saves, on a symmetric logarithmic scale.
float described_change(const Observation& o, size_t match);
/// What is saved by a described change, in percent.
float saving(float described);

/// Matches of each rule in a row, by rule, those first that save most.
std::vector<int32_t> in_order(const Observation& o);

}  // namespace regraft::rl
