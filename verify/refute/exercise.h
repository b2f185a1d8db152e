#pragma once
// Do samples show what an attribute does? Equal results at shapes where an attribute has no room to
// act, such as a step along an axis of size 1, say nothing about it.
#include <set>
#include <string>
#include <vector>

#include "ir/rule/rule.h"

namespace regraft::verify {

/// The integer attributes of an instance, and which of them the samples seen so far exercise: those
/// that the left side leaves open, and the numbers on either side that are not the attribute's
/// fallback. At a sample an attribute acts when another value of it, by 1 larger or smaller,
/// changes the values or the shapes that its side computes, or when the shapes leave no other
/// value. An open one is exercised by samples with two values of it at which it acts. The instance
/// must outlive it.
class Exercise {
 public:
  explicit Exercise(const RuleInstance& instance);
  /// True when it taught something.
  bool add(const Valuation& sizes);
  /// Nothing is left that no sample exercises.
  bool complete() const { return open_.empty(); }
  /// What is left, in words: "?s.0, steps of slice".
  std::string missing() const;

 private:
  struct Attribute {
    std::string name;
    Var symbol = nullptr;  ///< of an open attribute
    const Graph* side = nullptr;
    int32_t node = -1;  ///< of a number: its place
    size_t list = 0, entry = 0;
    std::set<int64_t> seen;  ///< values with which it acted
  };
  void add_open();
  void add_numbers(const Graph& side);
  bool acts(const Attribute& a, const Valuation& sizes) const;

  const RuleInstance& instance_;
  std::vector<Attribute> open_;
};

}  // namespace regraft::verify
