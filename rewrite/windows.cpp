#include "rewrite/windows.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "base/hash.h"
#include "rewrite/window.h"

namespace regraft::rewrite {

namespace {

/// The size of windows and the effort in each, in turn.
struct Level {
  int radius, expansions;
};
constexpr Level kLevels[] = {{2, 12}, {3, 40}, {4, 150}, {5, 500}};

class Run {
 public:
  explicit Run(Walk& walk) : walk_(walk), region_(walk.engine) {}

  void run() {
    for (Level level : kLevels) {
      fill();
      while (!waiting_.empty() && !walk_.reporter.over()) look_at(take(), level);
    }
  }

 private:
  /// All nodes that a match ends at, in random order.
  void fill() {
    waiting_.clear();
    is_waiting_.assign(is_waiting_.size(), 0);
    std::vector<int32_t> nodes;
    for (int32_t number : walk_.engine.matches())
      nodes.push_back(walk_.engine.match(number).root());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (size_t k = nodes.size(); k > 1; --k) std::swap(nodes[k - 1], nodes[walk_.rng.below(k)]);
    for (int32_t id : nodes) wait(id);
  }

  void wait(int32_t id) {
    if (static_cast<size_t>(id) >= is_waiting_.size())
      is_waiting_.resize(static_cast<size_t>(id) + 1);
    if (is_waiting_[static_cast<size_t>(id)]) return;
    is_waiting_[static_cast<size_t>(id)] = 1;
    waiting_.push_back(id);
  }

  int32_t take() {
    int32_t id = waiting_.front();
    waiting_.pop_front();
    is_waiting_[static_cast<size_t>(id)] = 0;
    return id;
  }

  void look_at(int32_t centre, Level level) {
    const LiveGraph& g = walk_.engine.graph();
    if (!g.alive(centre) || g.slot(centre).constant) return;
    region_.grow(centre, level.radius);
    uint64_t likeness = combine(region_.likeness(), static_cast<uint64_t>(level.expansions));
    if (hopeless_.count(likeness)) return;
    if (!search_window(walk_, region_, level.expansions)) {
      hopeless_.insert(likeness);
      return;
    }
    for (int32_t id : region_.nodes()) wait(id);
    walk_.keep();
  }

  Walk& walk_;
  Region region_;
  std::unordered_set<uint64_t> hopeless_;  // windows like these did not pay
  std::deque<int32_t> waiting_;
  std::vector<char> is_waiting_;
};

}  // namespace

SearchReport Windows::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                             const SearchOptions& options, const Stop& stop) const {
  Walk walk("windows", g, rules, model, options, stop);
  StopReason reason = walk.descend();
  walk.keep();
  Run(walk).run();
  return std::move(walk).finish(walk.reporter.over().value_or(reason));
}

}  // namespace regraft::rewrite
