#pragma once
// Observations of a graph that changes.
#include "rl/environment/number_set.h"
#include "rl/environment/observation.h"

namespace regraft::rl {

/// Observes the graph of one engine. After one move it looks only at what that changed, and puts
/// the rest together from what it knows. Not thread-safe.
class Observer {
 public:
  /// `original`: cost in microseconds that others are compared with. The engine outlives this.
  Observer(const rewrite::Engine& engine, double original)
      : engine_(engine), describer_(engine, original) {}
  /// `matches`: numbers of the matches on show. Lives until the next call.
  const Observation& observe(const Standing& p, const std::vector<int32_t>& matches);

 private:
  struct Edge {
    int32_t source = 0;
    std::array<float, kEdgeFeatures> features{};
  };
  struct Node {
    int32_t op = 0;
    const std::array<float, kNodeFeatures>* fixed = nullptr;
    std::vector<Edge> edges;  // that lead to it
  };
  /// What is known of matches, in the order in which they were shown.
  struct Matches {
    std::vector<int32_t> numbers, rules;
    std::vector<float> features;
    std::vector<double> cost_changes;
    std::vector<int32_t> first, inside, ids;  // nodes from first[k] on: inside[k] of these, near
    void clear();
    void add_row(int32_t number, const rewrite::Match& m, const Describer& describer);
    void add_rows(const Matches& from, size_t at, size_t count);
  };
  void catch_up();
  void start_anew();
  void follow_move();
  void make_room();
  void look_at(int32_t id);
  void mark_changed();
  void list_matches(const std::vector<int32_t>& matches);
  void show_nodes();
  void show_edges();
  void show_matches(const std::vector<int32_t>& matches);
  int32_t row(int32_t id) const { return rows_[static_cast<size_t>(id)]; }

  const rewrite::Engine& engine_;
  Describer describer_;
  uint64_t turn_ = 0;           // of the engine
  std::vector<int32_t> nodes_;  // ids, ascending
  // By id: the row in observations, -1: it is no node; what is known; did the last move change its
  // readers?
  std::vector<int32_t> rows_;
  std::vector<Node> known_;
  std::vector<char> touched_;
  Matches shown_, before_;
  NumberSet changed_;
  Totals totals_;
  Observation o_;
};

}  // namespace regraft::rl
