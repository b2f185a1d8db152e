#pragma once
// Many patterns matched against an e-graph together: what patterns have in common at their
// beginning is looked for once. Source: discrimination trees, as in code trees of E-matching (de
// Moura and Bjorner, Efficient E-matching, CADE 2007).
#include <array>

#include "gen/derive/rule_filter.h"

namespace regraft::gen {

/// The sides of rules that are matched from one output down, as paths of steps. Variables have
/// numbers by their first use. Const use is thread-safe.
class PatternTrie {
 public:
  /// REQUIRES: the rules outlive this.
  explicit PatternTrie(const std::vector<std::unique_ptr<const Matchable>>& rules);

 private:
  friend class TrieMatcher;
  static constexpr uint32_t kNone = ~0U;
  struct Step {
    Matchable::Call call;
    int32_t output = 0;
    std::vector<int32_t> operands;  ///< as in EPattern
  };
  struct Node {
    uint32_t parent = kNone, step = 0;
  };
  uint32_t add(const Matchable::Side& side);
  static Step canonical(const Matchable::Side& side, size_t s,
                        std::array<std::vector<int>, 4>& ids);
  uint32_t intern(Step step);

  std::vector<Step> steps_;
  std::map<std::vector<uint64_t>, uint32_t> step_ids_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> children_;  // by parent and step
  std::vector<uint32_t> ends_;                       // by rule and direction; kNone: not here
  size_t depth_ = 0, variables_ = 0;
};

/// Those of the patterns that were chosen, for one e-graph while it grows. Not thread-safe.
class TrieMatcher {
 public:
  explicit TrieMatcher(const PatternTrie& trie);
  ~TrieMatcher();
  TrieMatcher(const TrieMatcher&) = delete;
  TrieMatcher& operator=(const TrieMatcher&) = delete;
  void choose(RuleFilter::Directed rule);
  void match(const SizedEGraph& graph, const TermSizes& sizes, const MatchLimits& limits);
  /// What the last `match` found; nullptr: unknown, for it is not in the trie or a limit ends it.
  const Placements* found(RuleFilter::Directed rule) const;

 private:
  /// A node with a chosen pattern at it or below it.
  struct Place {
    uint32_t node = 0, parent = PatternTrie::kNone;
    bool is_end = false;
    std::vector<uint32_t> children;
    Placements placements;
  };
  struct Bound {
    std::optional<int64_t>* number = nullptr;
    std::optional<double>* real = nullptr;
    const std::vector<int64_t>** list = nullptr;
  };
  uint32_t place_of(uint32_t node);
  uint32_t end_of(RuleFilter::Directed rule) const {
    return trie_.ends_[2 * rule.rule + rule.direction];
  }
  const PatternTrie::Step& step(const Place& p) const {
    return trie_.steps_[trie_.nodes_[p.node].step];
  }
  EValue& slot(int32_t k) {
    return k >= 0 ? variables_[static_cast<size_t>(k)] : classes_[static_cast<size_t>(~k)];
  }
  void root(Place& p);
  void member(Place& p, size_t depth, uint64_t before);
  void value(Place& p, size_t depth, uint64_t before, EValue v);
  void operands(Place& p, size_t depth, uint64_t before, size_t k, bool exchanged);
  void next(Place& p, size_t depth, uint64_t before);
  bool attributes(const Matchable::Call& call, EValue v, int64_t rank);
  bool integers(const Matchable::Ints& own, const IntAttr& attr, const std::vector<int64_t>& given,
                int64_t rank);
  bool bind(int id, int64_t n);
  bool bind(int id, double x);
  bool bind(int id, const std::vector<int64_t>& list);
  void unbind(size_t until);

  const PatternTrie& trie_;
  std::vector<uint32_t> place_of_;  // by node; of the thread, which has it again afterwards
  std::vector<Place> places_;
  std::vector<uint32_t> roots_;
  const SizedEGraph* graph_ = nullptr;
  const TermSizes* sizes_ = nullptr;
  MatchLimits limits_;
  int32_t spare_ = 0;  // by how much a term of the present root may grow
  std::vector<EValue> variables_, classes_, values_;
  std::vector<std::optional<int64_t>> numbers_;
  std::vector<std::optional<double>> reals_;
  std::vector<const std::vector<int64_t>*> lists_;
  std::vector<Bound> trail_;
};

}  // namespace regraft::gen
