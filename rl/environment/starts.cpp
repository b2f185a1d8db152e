#include "rl/environment/starts.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "rl/files/move_text.h"

namespace regraft::rl {
namespace {

constexpr size_t kKept = 16;         // of each model
constexpr uint64_t kMostRandom = 8;  // moves
constexpr double kDistinct = 1e-9;   // costs closer than this are of one graph

}  // namespace

double Starts::best(size_t graph) const {
  return kept_[graph].empty() ? HUGE_VAL : kept_[graph][0].cost;
}

std::vector<rewrite::Move> Starts::draw(Environment& env, size_t graph, Rng& rng) const {
  double draw = rng.unit();
  const auto& kept = kept_[graph];
  if (draw < from_kept_ && !kept.empty()) return kept[rng.below(kept.size())].moves;
  if (draw >= from_kept_ + from_random_) return {};
  env.reset();
  for (uint64_t n = 1 + rng.below(kMostRandom); n > 0 && env.stop() > 0; --n)
    if (env.step(rng.below(env.stop())).done()) break;
  return env.engine().moves();
}

void Starts::keep(size_t graph, double cost, std::vector<rewrite::Move> moves) {
  auto& kept = kept_[graph];
  for (const Kept& k : kept)
    if (std::abs(k.cost - cost) <= kDistinct * k.cost) return;
  auto place = std::ranges::upper_bound(kept, cost, {}, &Kept::cost);
  kept.insert(place, {cost, std::move(moves)});
  if (kept.size() > kKept) kept.pop_back();
}

void Starts::save(Checkpoint& into) const {
  for (size_t g = 0; g < kept_.size(); ++g)
    for (const Kept& k : kept_[g])
      into.lists["kept." + std::to_string(g)].push_back(to_text(k.cost, k.moves));
}

Status Starts::load(const Checkpoint& from) {
  for (size_t g = 0; g < kept_.size(); ++g) {
    kept_[g].clear();
    auto list = from.lists.find("kept." + std::to_string(g));
    if (list == from.lists.end()) continue;
    for (const std::string& line : list->second) {
      Kept k;
      ASSIGN_OR_RETURN(std::tie(k.cost, k.moves), moves_of_text(line));
      kept_[g].push_back(std::move(k));
    }
  }
  return {};
}

}  // namespace regraft::rl
