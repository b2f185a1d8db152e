#pragma once
// What an agent sees of a graph and of the matches in it, as numbers.
#include <array>
#include <string>
#include <vector>

#include "rewrite/engine/engine.h"

namespace regraft::rl {

constexpr size_t kNodeFeatures = 17;
constexpr size_t kEdgeFeatures = 6;
constexpr size_t kMatchFeatures = 8;
constexpr size_t kGlobalFeatures = 9;
/// Columns of these that tell what matches save: of the match, and of all that are on show.
constexpr std::array<size_t, 4> kMatchSavings{0, 1, 2, 3};
constexpr std::array<size_t, 3> kGlobalSavings{5, 6, 7};

/// A graph with its matches. Nodes are the calls that run; an edge leads from a node to a reader of
/// its value. Matrices are row-major. Holds no pointers: it may be kept and moved between threads.
struct Observation {
  int32_t nodes = 0;
  std::vector<int32_t> op;  ///< of each node, see op_names
  std::vector<float> node;  ///< nodes x kNodeFeatures
  std::vector<int32_t> source, target;
  std::vector<float> edge;    ///< edges x kEdgeFeatures
  std::vector<int32_t> rule;  ///< of each match
  /// Nodes that match k replaces: inside[inside_first[k]] up to inside[inside_first[k + 1]].
  std::vector<int32_t> inside_first, inside;
  /// Nodes that it reads from, and those that read from it.
  std::vector<int32_t> near_first, near;
  std::vector<float> match;  ///< matches x kMatchFeatures
  std::array<float, kGlobalFeatures> global{};
  size_t edges() const { return source.size(); }
  size_t matches() const { return rule.size(); }
};

/// Names of what `Observation::op` counts: the operators, and the last for opaque nodes.
std::vector<std::string> op_names();

/// Of the features' names, order and scales. Networks work only with those they were trained with.
uint64_t feature_hash();

/// What rules look like: operators of both sides, how they are joined, sizes. Most numbers are 0.
struct RuleTable {
  size_t columns = 0;
  struct Entry {
    int32_t column = 0;
    float number = 0;
  };
  std::vector<std::vector<Entry>> rows;  ///< by directed rule of the index: what is not 0
};
RuleTable describe(const rewrite::RuleIndex& rules);
/// Names of its columns.
std::vector<std::string> rule_column_names();

/// Where an episode stands.
struct Standing {
  double original = 0, best = 0;  ///< microseconds
  double time = 0;                ///< steps taken, as a part of the limit
};

/// What the matches on show would do in all.
struct Totals {
  int32_t matches = 0, savings = 0, rules = 0;  ///< savings: those that save
  double least = 0, saving = 0;                 ///< microseconds: the best change; the sum saved
  void clear();
  void add(int32_t rule, double cost_change);

 private:
  std::vector<int32_t> seen_;  // by rule: when it was added last
  int32_t round_ = 1;
};

/// Describes parts of the graph of one engine. Remembers calls it has seen. Not thread-safe.
class Describer {
 public:
  /// `original`: cost in microseconds that others are compared with. The engine outlives this.
  Describer(const rewrite::Engine& engine, double original);
  /// It is a node of observations.
  bool is_node(int32_t id) const;
  int32_t op(int32_t id) const;
  std::array<float, kNodeFeatures> node(int32_t id);
  /// That of a node but for the last, readers(). Lives as long as this.
  const std::array<float, kNodeFeatures>& fixed(int32_t id);
  float readers(int32_t id) const;
  std::array<float, kEdgeFeatures> edge(int32_t user, int32_t operand) const;
  std::array<float, kMatchFeatures> match(const rewrite::Match& m) const;
  /// visit(id) for each node inside of the match, and each near it; some may come twice.
  template <class Visit>
  void for_inside(const rewrite::Match& m, Visit visit) const {
    for (int32_t id : m.nodes)
      if (is_node(id)) visit(id);
  }
  template <class Visit>
  void for_near(const rewrite::Match& m, Visit visit) const {
    for (Value v : m.variables)
      if (is_node(v.node)) visit(v.node);
    int left = kReaders;
    for (const Value& out : m.fit->rule->rule.lhs.outputs)
      engine_.graph().for_uses(m.nodes[static_cast<size_t>(out.node)], [&](int32_t user, int32_t) {
        if (left-- > 0 && is_node(user)) visit(user);
      });
  }
  std::array<float, kGlobalFeatures> global(const Standing& p, const Totals& totals) const;

 private:
  static constexpr int kReaders = 6;

  const rewrite::Engine& engine_;
  double original_;
  std::unordered_map<std::vector<int32_t>, std::array<float, kNodeFeatures>, rewrite::IdsHash>
      known_;
  std::vector<int32_t> key_;
};

}  // namespace regraft::rl
