#include "rewrite/portfolio.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "rewrite/egraph/saturation.h"
#include "rewrite/search/reporter.h"
#include "rewrite/windows/windows.h"

namespace regraft::rewrite {

namespace {

constexpr double kTurn = 0.5;  // of what is left, for one member

class PortfolioRun {
 public:
  PortfolioRun(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
               const SearchOptions& options, const Stop& stop)
      : rules_(rules), model_(model), options_(options), stop_(stop) {
    total_.best = g;
    members_.push_back(std::make_unique<Saturation>());
    members_.push_back(std::make_unique<Windows>());
  }

  SearchReport run() && {
    size_t idle = 0;  // members that found nothing since the last that did
    for (size_t k = 0; idle < members_.size() && (k == 0 || !over()); ++k)
      idle = improves(*members_[k % members_.size()], k) ? 0 : idle + 1;
    total_.seconds = seconds();
    if (auto reason = over()) total_.stop = *reason;
    return std::move(total_);
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(Reporter::Clock::now() - start_).count();
  }

  std::optional<StopReason> over() const {
    if (stop_.requested()) return StopReason::Interrupted;
    if (stop_.out_of_time()) return StopReason::Time;
    if (stop_.out_of_memory()) return StopReason::Memory;
    if (total_.candidates >= options_.budget) return StopReason::Budget;
    return std::nullopt;
  }

  /// Searches on from the best so far. False: nothing is cheaper.
  bool improves(const Searcher& member, size_t turn) {
    const double before = seconds(), left = stop_.seconds_left();
    const uint64_t budget = options_.budget - total_.candidates;
    SearchOptions share = options_;
    share.budget =
        std::max<uint64_t>(static_cast<uint64_t>(kTurn * static_cast<double>(budget)), 1);
    share.seed = combine(options_.seed, turn);
    const Stop part = Stop::within(stop_, std::isinf(left) ? 0 : kTurn * left);
    SearchReport found = member.search(total_.best, rules_, model_, share, part);
    if (turn == 0) total_.cost_before = total_.cost_after = found.cost_before;
    const uint64_t looked = total_.candidates + found.candidates;
    total_.expanded += found.expanded;
    total_.duplicates += found.duplicates;
    total_.rejected += found.rejected;
    total_.left_out = std::max(total_.left_out, found.left_out);
    total_.peak_queue = std::max(total_.peak_queue, found.peak_queue);
    total_.stop = found.stop;
    const bool improved = cheaper(found.cost_after, total_.cost_after);
    if (improved) append(total_, std::move(found), before);
    total_.candidates = looked;
    return improved;
  }

  const Reporter::Clock::time_point start_ = Reporter::Clock::now();
  const RuleIndex& rules_;
  const cost::CostModel& model_;
  const SearchOptions& options_;
  const Stop& stop_;
  std::vector<std::unique_ptr<Searcher>> members_;
  SearchReport total_;
};

}  // namespace

SearchReport Portfolio::search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                               const SearchOptions& options, const Stop& stop) const {
  return PortfolioRun(g, rules, model, options, stop).run();
}

}  // namespace regraft::rewrite
