#pragma once
// The cheapest way to compute some values, each of which can be computed in several ways.
#include <cstdint>
#include <optional>
#include <vector>

namespace regraft::rewrite {

/// A choice between ways to compute. Classes and nodes are numbered from 0.
struct Choices {
  struct Node {
    double cost = 0;                ///< paid once, however many of its outputs are used
    std::vector<int32_t> operands;  ///< classes
    std::vector<int32_t> outputs;   ///< classes
  };
  std::vector<Node> nodes;
  std::vector<std::vector<int32_t>> classes;  ///< the nodes that compute it
  std::vector<int32_t> roots;                 ///< classes that are wanted
};

struct Extraction {
  std::vector<int32_t> chosen;  ///< by class: the node; -1: not needed
  double cost = 0;
  bool optimal = false;  ///< proved: no choice costs less
};

/// What a choice costs: of a class for which it has -1, nothing may be needed. nullopt when a value
/// would need itself, or one is missing. `chosen` is cut down to what is needed.
std::optional<double> price(const Choices& c, std::vector<int32_t>& chosen);

/// A choice without cycles in which what is shared counts once. Starts from the better of `start`
/// and the ways that are cheapest one by one, changes single nodes while that pays, and then looks
/// for a proof or something better by branch and bound, for `steps` branches at most.
/// REQUIRES: `start` has a price.
Extraction extract(const Choices& c, std::vector<int32_t> start, uint64_t steps);

}  // namespace regraft::rewrite
