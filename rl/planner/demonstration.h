#pragma once
// What the search in windows shows: its way to a cheap graph, as samples for learning.
#include "rewrite/search/searcher.h"
#include "rl/environment/pool.h"
#include "rl/planner/expert.h"

namespace regraft::rl {

/// The way from a graph to the cheapest that a search found.
struct Demonstration {
  std::vector<rewrite::Move> moves;
  uint64_t candidates = 0;  ///< of the search
};

/// One for each graph, in order. The answer does not depend on `threads`. Empty where stopped.
std::vector<Demonstration> demonstrate(const std::vector<Graph>& graphs,
                                       const rewrite::RuleIndex& rules,
                                       const cost::CostModel& model,
                                       const rewrite::SearchOptions& options, int threads,
                                       const Stop& stop);

/// `count` states on the way, drawn at random. All of the later moves that apply already are
/// equally good (rewrites that do not touch each other commute); at the end it is to stop. States
/// whose next move the environment does not allow are left out.
std::vector<ExpertSample> samples_of(Environment& env, const Demonstration& shown, size_t count,
                                     Rng& rng);

}  // namespace regraft::rl
