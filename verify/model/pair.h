#pragma once
// Two models as one graph over one pool of symbols, where what they compute alike is one node.
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "verify/model/constants.h"

namespace regraft::verify {

/// Which inputs and outputs of two models stand for each other.
struct Matching {
  std::vector<int> inputs;   ///< for each input of the second model: that of the first; -1: none
  std::vector<int> outputs;  ///< for each output of the first model: that of the second; -1: none
};

/// A constant that only the second model has, as an expression over constants of the first one.
struct Derived {
  Value b, a;
  Deviation deviation;  ///< is explained by rounding
};

/// Two models in one graph. Nodes of the first keep their ids.
struct Pair {
  Graph graph;
  int32_t first_b = 0;          ///< nodes from here on are the second model's alone
  std::vector<Value> a, b;      ///< outputs that stand for each other
  std::vector<int32_t> from_b;  ///< by id in the second model: the node in `graph`; -1: dead
  /// Nodes from here on are expressions over constants of the first model that nothing reads.
  int32_t first_derived = std::numeric_limits<int32_t>::max();
  std::vector<Derived> derived;
  std::set<Var, SymbolLess>
      own_sizes;  ///< symbols that only the second model has, and of one meaning
  bool is_derived(int32_t id) const { return id >= first_derived; }
  bool is_b(Value v) const { return v.node >= first_b && !is_derived(v.node); }
};

/// What the second model fixes of the first one's open sizes: a symbol's name, and the number.
struct FixedSize {
  std::string name;
  int64_t size = 0;
};
/// Sizes that are a symbol in the first model and a number in the second one's matching input.
std::vector<FixedSize> sizes_fixed(const Graph& a, const Graph& b, const Matching& matching);

/// Sizes of the second model's inputs are those of the first one's, and a symbol of it that stands
/// for several of the first one's sizes is a size of its own. A node of the second model is one of
/// the first where both compute the same of the same operands: calls with equal attributes
/// (operands of a commutative operator in either order), constants with equal bytes, opaque nodes
/// of equal content; of those that are not pure the k-th is the k-th. An Error: a cycle, or sizes
/// that are too large to be computed with. REQUIRES: matched inputs have the same rank.
Result<Pair> join(const Graph& a, const Graph& b, const Matching& matching);

}  // namespace regraft::verify
