#pragma once
// The left sides of all rules as one program: what they have in common is compared once.
#include <functional>

#include "rewrite/match/live_graph.h"
#include "rewrite/match/rule_index.h"

namespace regraft::rewrite {

/// Where the left side of a rule lies, whatever the sizes; valid during the visit.
struct Place {
  int32_t rule = 0;
  std::span<const int32_t> nodes;    ///< graph node of each pattern node
  std::span<const Value> variables;  ///< graph value of each tensor variable
};
/// False: the place is of no use.
using VisitPlace = std::function<bool(const Place&)>;

/// What is otherwise than in the left side at a place that is all but its: attribute `part` of
/// pattern node `node` (reals behind integers), or, where `node` is -1, two operands that are one.
struct Gap {
  int32_t node = -1, part = -1;
};
/// `gap` is nullptr where there is none.
using VisitNear = std::function<void(const Place&, const Gap* gap)>;

/// How many places of rules with several outputs are looked at from one root, where a value has so
/// many readers that they combine to more than anyone can use. Whatever has fewer is complete.
struct PlaceLimits {
  int32_t useful = 256;    ///< of a rule; then it is left alone at this root
  int32_t useless = 1024;  ///< of a rule
  int32_t tries =
      16384;  ///< readers looked at for one output that is not the root, and those behind
};

/// Immutable; may be read from several threads. Commuted operands are tried both ways; a maker of
/// constants also matches data, which is not compared here; distinct calls of the pattern are
/// distinct nodes; attributes that are numbers in the pattern are compared, others are not.
class DiscriminationTree {
 public:
  explicit DiscriminationTree(const std::deque<CompiledRule>& rules);
  /// Registers that a left side needs: as many as it has operands and outputs.
  static constexpr size_t kMaxRegisters = 64;
  static bool fits(const Pattern& lhs);
  /// The places whose first output is a value of node `root`. Returns how often the limits ended
  /// the search for places of a rule.
  uint64_t match(const LiveGraph& g, int32_t root, const PlaceLimits& limits,
                 const VisitPlace& visit) const;
  /// The places whose output number >= 1 is a value of node `root`.
  uint64_t match_joint(const LiveGraph& g, int32_t root, const PlaceLimits& limits,
                       const VisitPlace& visit) const;
  /// The places of `match`, and those where one comparison of attributes or operands fails.
  void match_nearly(const LiveGraph& g, int32_t root, const PlaceLimits& limits,
                    const VisitNear& visit) const;
  /// The places of `match` whose nodes are all among those given.
  void match_among(const LiveGraph& g, int32_t root, std::span<const int32_t> nodes,
                   const VisitPlace& visit) const;
  /// Adds each node that may be an output of a place that node `id` is part of.
  void outputs_above(const LiveGraph& g, int32_t id, std::vector<int32_t>& roots) const;

 private:
  friend class Compiler;
  friend class Runner;
  /// One comparison. Registers hold values; register 0 is the root.
  struct Step {
    enum Kind : uint8_t { Enter, Maker, SameNode, SameValue, Numbers, Reals, Other } kind{};
    int32_t reg = 0, other = 0;  ///< registers; SameNode, Numbers, Reals, Other: entered node
    const OpDef* op = nullptr;   ///< Enter, Maker, Other
    int32_t arity = 0, output = 0, attr = 0;
    bool any_length = false;       ///< Numbers: each number is numbers[0], however many
    std::vector<int64_t> numbers;  ///< kNoNumber: anything.
    double real = 0;
    std::vector<const OpDef*> climb;  ///< Other: the calls from the value in `reg` up to the output
    bool operator==(const Step& s) const = default;
  };
  struct Accept {
    int32_t rule;
    std::vector<int32_t> entered;    ///< by pattern node: how many were entered before it
    std::vector<int32_t> registers;  ///< by variable
  };
  /// A branch to try next, and what can be told of it beforehand.
  struct Next {
    int32_t branch = 0;
    int32_t reg = -1;  ///< must hold a value of a call of `op`; -1: anything
    const OpDef* op = nullptr;
  };
  struct Branch {
    Step step;
    std::vector<Next> next;
    std::vector<Accept> accepts;
    std::vector<int32_t> rules;  ///< Other: those that pass here
  };
  /// A program for each operator that can be at the root.
  struct Tree {
    std::vector<Branch> branches;
    std::unordered_map<const OpDef*, std::vector<Next>> roots;
  };
  /// Operators on the way from a call in a pattern up to an output.
  struct Ascent {
    std::map<const OpDef*, int32_t> up;
    bool output = false;
  };
  void climb(const LiveGraph& g, int32_t id, int32_t ascent, std::vector<int32_t>& roots) const;
  void add_ascents(const Pattern& lhs);
  void add_ascent(const Pattern& lhs, int32_t node, int32_t ascent);

  Tree first_, joint_;
  std::vector<Ascent> ascents_{1};
};

}  // namespace regraft::rewrite
