#pragma once
// Do samples show what an attribute does? Equal results at shapes where an attribute has no room to
// act, such as a step along an axis of size 1, say nothing about it.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/rule/rule.h"

namespace regraft::verify {

/// The integer attributes of an instance, and which of them the samples seen so far exercise: those
/// that the left side leaves open, and the numbers on either side that are not the attribute's
/// fallback. At a sample an attribute acts when another value of it, by 1 larger or smaller,
/// changes the values or the shapes that its side computes, or when the shapes leave no other
/// value. An open one is exercised by samples with two values of it at which it acts. Two
/// attributes are exercised by a sample at which both act, an open one with more than its least
/// value, which is often the one that does nothing. The instance must outlive it.
class Exercise {
 public:
  explicit Exercise(const RuleInstance& instance);
  /// True when it taught something.
  bool add(const Valuation& sizes);
  /// Of two attributes that no sample exercises together nothing is missing any more where the left
  /// side is never well formed with both above their least values.
  void leave_out_impossible();
  /// Nothing is left that no sample exercises.
  bool complete() const;
  /// What is left, in words: "?s.0, steps of slice", "b with c".
  std::string missing() const;

 private:
  struct Attribute {
    std::string name;
    Var symbol = nullptr;  ///< of an open attribute
    const Graph* side = nullptr;
    int32_t node = -1;  ///< of a number: its place
    size_t list = 0, entry = 0;
    std::set<int64_t> seen;  ///< values with which it acted
    bool exercised() const;
    /// A number, or an open one with more than its least value.
    bool is_above_least(const Valuation& sizes) const;
  };
  void add_open();
  void add_numbers(const Graph& side);
  void add_pairs();
  bool acts(const Attribute& a, const Valuation& sizes) const;

  const RuleInstance& instance_;
  std::vector<Attribute> attributes_;
  std::set<std::pair<size_t, size_t>> apart_;  ///< two that no sample exercises together, so far
};

}  // namespace regraft::verify
