#pragma once
// An e-graph as it is: how large the terms are that its classes stand for, and where, and its calls
// in the order of these sizes.
#include "gen/derive/sized_egraph.h"

namespace regraft::gen {

/// Sizes are calls, shared parts counted each time. A term is looked at as a part of the roots'
/// terms: what grows in one place must be small enough elsewhere. Points to the e-graph, which is
/// rebuilt and does not change. Const use is thread-safe.
class TermSizes {
 public:
  struct Call {
    int32_t size = 0;   ///< of the smallest term that it is
    int32_t whole = 0;  ///< of the smallest term of a root that has it as a part
    EValue value = -1;
  };
  TermSizes(const SizedEGraph& graph, const std::vector<EValue>& roots);

  /// Of the smallest term of v's class.
  int32_t size(EValue v) const { return facts_[index(v)].size; }
  /// What the smallest term of a root has around a term of v's class; kMax: no root has one.
  int32_t around(EValue v) const { return facts_[index(v)].around; }
  /// Calls of an operator in a class, and all of them, the smallest first.
  std::span<const Call> calls(EValue v, const OpDef& op) const;
  std::span<const Call> calls(const OpDef& op) const;
  /// The operators of a class's calls.
  std::span<const OpDef* const> operators(EValue v) const;
  /// The least value of each class.
  const std::vector<EValue>& classes() const { return classes_; }
  /// Any size is less.
  static constexpr int32_t kMax = 1 << 24;

 private:
  struct Facts {
    int32_t size = kMax, around = kMax;
    uint32_t first_operator = 0, last_operator = 0;
  };
  struct Range {
    uint32_t first = 0, last = 0;
  };
  size_t index(EValue v) const { return static_cast<size_t>(graph_.classes().find(v)); }
  int32_t call_size(EValue v) const;
  void find_sizes();
  void find_surroundings(const std::vector<EValue>& roots);
  void sort_calls();

  const SizedEGraph& graph_;
  std::vector<Facts> facts_;  // by oldest value
  std::vector<EValue> classes_;
  std::vector<Call> in_classes_;  // by class, operator, size
  std::vector<const OpDef*> operators_;
  std::vector<Range> ranges_;  // of in_classes_, for each of operators_
  std::unordered_map<const OpDef*, std::vector<Call>> by_operator_;
};

}  // namespace regraft::gen
