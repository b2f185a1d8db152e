#pragma once
// The matches of all rules in a graph that changes.
#include <algorithm>
#include <functional>

#include "base/parallel.h"
#include "rewrite/engine/plan.h"
#include "rewrite/match/discrimination_tree.h"

namespace regraft::rewrite {

/// A place where a rule may apply, and what applying it does.
struct Match {
  int32_t rule = 0;
  const Fit* fit = nullptr;
  std::vector<int32_t> nodes;    ///< graph node of each pattern node
  std::vector<Value> variables;  ///< graph value of each tensor variable
  double cost_change = 0;        ///< microseconds, exact
  int32_t growth = 0;            ///< by how many the calls that run change
  int32_t round = 0;             ///< when it was priced last; see MatchSet::round
  int32_t listed = -1;           ///< its place in the list of those that apply; -1: does not now
  Place place() const { return {rule, nodes, variables}; }
  bool is_at(const Place& p) const {
    return rule == p.rule &&
           std::equal(nodes.begin(), nodes.end(), p.nodes.begin(), p.nodes.end()) &&
           std::equal(variables.begin(), variables.end(), p.variables.begin(), p.variables.end());
  }
  /// The node of the first output.
  int32_t root() const { return nodes[static_cast<size_t>(fit->rule->rule.lhs.outputs[0].node)]; }

 private:
  friend class MatchSet;
  int32_t first_watch = 0, watches = 0;
  bool joint = false;
};

/// Why a rule does not apply at a place that includes a node.
using VisitMisfit = std::function<void(const Place&, const Misfit&)>;

/// What a rewrite did to a graph.
struct Change {
  std::vector<int32_t> fresh;       ///< new calls, and calls with other operands
  std::vector<int32_t> redirected;  ///< of these, the old ones; other nodes with other operands
  std::vector<int32_t> removed;
  std::vector<int32_t> counted;    ///< nodes that are read more or less often
  std::vector<int32_t> constants;  ///< nodes that depend on constants only now
  std::vector<uint64_t> contents;  ///< of calls that came or went
  bool paths = false;              ///< see Plan::changes_paths
  void clear();
};

/// Lists exactly the matches that apply; of those that a symmetry of their rule maps onto each
/// other one. Where a value has so many readers that rules with several outputs apply to more of
/// their combinations than are of use, some of these are left out (see PlaceLimits). Not
/// thread-safe.
class MatchSet {
 public:
  /// Finds all matches, but for those of the rules that `without` has by number, unless `stop` ends
  /// it; both may be null. The others outlive this.
  MatchSet(const LiveGraph& g, Fitter& fitter, const std::vector<char>* without, const Stop* stop);

  /// Numbers of the matches that apply.
  const std::vector<int32_t>& listed() const { return listed_; }
  const Match& match(int32_t number) const { return matches_[static_cast<size_t>(number)]; }
  /// The match of that rule at that place, or -1. One that was left out is added.
  int32_t find(const Place& place);
  /// How often limits ended the search for the places of a rule.
  uint64_t left_out() const { return left_out_; }
  /// How many matches were priced so far: anew after a change near them, too.
  uint64_t priced() const { return priced_; }
  /// What the last update found or priced anew, and all at the start.
  const std::vector<int32_t>& fresh() const { return fresh_; }
  /// What the last update dropped: matches on nodes that changed.
  const std::vector<int32_t>& dropped() const { return dropped_; }
  /// How many updates the present state has behind it. A match of an earlier round was there
  /// before the last update, and did the same.
  int32_t round() const { return round_; }
  /// visit(number) for each match that applies and whose first output is a value of node `id`.
  template <class Visit>
  void for_rooted_at(int32_t id, Visit&& visit) const {
    int32_t head = heads_[static_cast<size_t>(id)];
    for (int32_t l = lists_.next(head); l != head; l = lists_.next(l)) {
      int32_t number = watches_[static_cast<size_t>(l)].match;
      if (match(number).listed >= 0 && match(number).root() == id) visit(number);
    }
  }
  /// Says of the rules that nearly apply to calls around node `id` why they do not; those that do
  /// apply get Misfit::None. Places that differ in commuted operands may come more than once.
  void diagnose(int32_t id, const PlaceLimits& limits, const VisitMisfit& visit);
  int32_t size() const { return count_; }  ///< those that were dropped and not forgotten included

  /// Brings the matches up to date with the graph.
  void update(const Change& change);
  struct Mark {
    size_t log = 0, heads = 0;
    int32_t matches = 0, watches = 0, round = 0;
  };
  Mark mark() const;
  /// REQUIRES: the graph is as it was at the mark.
  void undo(const Mark& m);
  void commit() { log_.clear(); }

 private:
  enum class Did : uint8_t { Link, Unlink, List, Unlist, Price };
  struct Entry {
    Did did{};
    int32_t match = 0, first = 0, count = 0;
    double cost = 0;
    int32_t growth = 0, round = 0;
  };
  struct Watch {
    int32_t match = -1, delta = 0;
    bool part = false;  ///< the node is one of the match's
    bool dies = false;  ///< the match makes it dead
    uint64_t content = 0;
  };
  Match& at(int32_t number) { return matches_[static_cast<size_t>(number)]; }
  int32_t new_match(const Place& place, const Fit* fit);
  void find_all(const Stop* stop);
  void find_around(const Change& change);
  bool add(const Place& place);
  PlaceLimits limits() const;
  int32_t listed_at(const Place& place) const;
  bool splits_fusion(const Place& place) const;
  bool has_lower_twin(const Place& place);
  bool is_found(const Place& place) const;
  void drop(int32_t number);
  void drop_parts_of(int32_t id);
  void collect_stale(const Change& change);
  void mark_stale(int32_t number);
  void price(int32_t number);
  void watch(int32_t number, const Plan& plan);
  int32_t add_watch(Watch w, int32_t head);
  void link(int32_t number);
  void unlink(int32_t number);
  void list(int32_t number);
  void unlist(int32_t number);
  int32_t head(int32_t id);
  int32_t bucket(uint64_t content) const;
  /// visit(link, watch) for each of a list, which may change behind the present link.
  template <class Visit>
  void for_watches(int32_t head, Visit&& visit) {
    for (int32_t l = lists_.next(head); l != head;) {
      int32_t next = lists_.next(l);
      visit(watches_[static_cast<size_t>(l)]);
      l = next;
    }
  }

  const LiveGraph& g_;
  const RuleIndex& rules_;
  Fitter& fitter_;
  const std::vector<char>* without_;
  Planner planner_;
  std::vector<Match> matches_;  // those from count_ on are kept for their memory
  int32_t count_ = 0;
  std::vector<int32_t> listed_;
  int64_t joint_listed_ = 0;  // of these, with several outputs
  Lists lists_;
  std::vector<Watch> watches_;    // by link
  std::vector<int32_t> heads_;    // by graph node
  std::vector<int32_t> targets_;  // by link: its list
  uint64_t bucket_count_ = 0;
  int32_t joint_head_ = 0, constants_head_ = 0;
  std::vector<Entry> log_;
  std::vector<int32_t> stale_, fresh_, dropped_, twin_nodes_;
  std::unordered_multimap<uint64_t, int32_t> found_;  // joint matches of this update, by place
  std::vector<Value> twin_variables_;
  std::vector<int32_t> fresh_stamp_, stale_stamp_;
  int32_t stamp_ = 0;  ///< of this update; never the same again
  int32_t round_ = 0;
  uint64_t priced_ = 0, left_out_ = 0;
};

}  // namespace regraft::rewrite
