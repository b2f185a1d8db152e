#pragma once
// Observations of a graph that changes.
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
  struct Card {  // of a match
    int32_t number = -1, rule = 0;
    uint64_t shown = 0;  // the last time
    double cost_change = 0;
    std::array<float, kMatchFeatures> features{};
    std::vector<int32_t> ids;  // inside, then near
    size_t inside = 0;
  };
  void catch_up();
  void start_anew();
  void follow_move();
  void make_room();
  void look_at(int32_t id);
  void look_around(Card& c);
  int32_t card_of(int32_t number);
  void forget(int32_t number);
  void show_nodes();
  void show_edges();
  void show_matches(const std::vector<int32_t>& matches);
  int32_t row(int32_t id) const { return rows_[static_cast<size_t>(id)]; }

  const rewrite::Engine& engine_;
  Describer describer_;
  uint64_t turn_ = 0;           // of the engine
  uint64_t shown_ = 0;          // observations made
  std::vector<int32_t> nodes_;  // ids, ascending
  // By id: the row in observations, -1: it is no node; what is known; when its readers changed.
  std::vector<int32_t> rows_;
  std::vector<Node> known_;
  std::vector<uint64_t> touched_;
  std::vector<Card> cards_;
  std::vector<int32_t> free_, cards_by_number_;
  Totals totals_;
  Observation o_;
};

}  // namespace regraft::rl
