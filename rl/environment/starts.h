#pragma once
// Where episodes of a training begin: cheap graphs that were met before, random ones, the
// originals.
#include "base/rng.h"
#include "rl/environment/environment.h"
#include "rl/files/checkpoint.h"

namespace regraft::rl {

/// Keeps the cheapest graphs of each model. Reading is thread-safe.
class Starts {
 public:
  /// `from_kept`: the part of the episodes that begin at a graph that is kept (while none is, after
  /// random moves); `from_random`: the part that begins after random moves.
  Starts(size_t graphs, double from_kept, double from_random)
      : from_kept_(from_kept), from_random_(from_random), kept_(graphs) {}
  /// The moves to begin with, from the original. Moves the environment, which is of this graph.
  std::vector<rewrite::Move> draw(Environment& env, size_t graph, Rng& rng) const;
  /// `cost` in microseconds, where the moves lead from the original.
  void keep(size_t graph, double cost, std::vector<rewrite::Move> moves);
  /// The least cost of all that were kept; infinite before.
  double best(size_t graph) const;
  void save(Checkpoint& into) const;
  Status load(const Checkpoint& from);

 private:
  struct Kept {
    double cost = 0;
    std::vector<rewrite::Move> moves;
  };
  double from_kept_, from_random_;
  std::vector<std::vector<Kept>> kept_;  // by graph, the cheapest first
};

}  // namespace regraft::rl
