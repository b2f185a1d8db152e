#include "rewrite/searchers.h"

#include "rewrite/egraph/saturation.h"
#include "rewrite/portfolio.h"
#include "rewrite/search/annealing.h"
#include "rewrite/search/backtracking.h"
#include "rewrite/search/beam.h"
#include "rewrite/search/exhaustive.h"
#include "rewrite/search/clean_up.h"
#include "rewrite/search/greedy.h"
#include "rewrite/search/mcts.h"
#include "rewrite/taso_search.h"
#include "rewrite/windows/windows.h"

namespace regraft::rewrite {

namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Searcher> (*make)();
};

template <class S, auto... arguments>
std::unique_ptr<Searcher> make() {
  return std::make_unique<S>(arguments...);
}

constexpr Row kSearchers[] = {
    {"clean-up", make<CleanUp>},
    {"greedy", make<Greedy>},
    {"windows", make<Windows>},
    {"backtracking", make<Backtracking, false>},
    {"partial-order", make<Backtracking, true>},
    {"beam", make<Beam>},
    {"annealing", make<Annealing>},
    {"mcts", make<Mcts>},
    {"saturation", make<Saturation>},
    {"portfolio", make<Portfolio>},
    {"exhaustive", make<Exhaustive>},
    {"taso", make<TasoSearch>},
};

}  // namespace

std::vector<std::string> searcher_names() {
  std::vector<std::string> names;
  for (const Row& row : kSearchers) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Searcher> make_searcher(std::string_view name) {
  for (const Row& row : kSearchers)
    if (row.name == name) return row.make();
  return nullptr;
}

}  // namespace regraft::rewrite
