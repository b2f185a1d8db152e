#include "rewrite/portfolio.h"

#include <algorithm>

#include "rewrite/search/annealing.h"
#include "rewrite/search/backtracking.h"
#include "rewrite/search/reporter.h"
#include "rewrite/windows/windows.h"

namespace regraft::rewrite {

namespace {

constexpr uint64_t kRounds = 4;

class PortfolioRun {
 public:
  PortfolioRun(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
               const SearchOptions& options, const Stop& stop)
      : rules_(rules), model_(model), options_(options), stop_(stop) {
    total_.best = g;
    members_.push_back(std::make_unique<Windows>());
    members_.push_back(std::make_unique<Backtracking>(true));
    members_.push_back(std::make_unique<Annealing>());
    members_.push_back(std::make_unique<Windows>());
  }

  SearchReport run() && {
    auto start = std::chrono::steady_clock::now();
    auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (uint64_t k = 0; k < kRounds; ++k) {
      double before = seconds();
      bool goes_on = round(k, before);
      if (!goes_on) break;
    }
    total_.seconds = seconds();
    return std::move(total_);
  }

 private:
  /// False: there is no point in another round.
  bool round(uint64_t k, double seconds_before) {
    uint64_t left = options_.budget - total_.candidates;
    SearchOptions share = options_;
    share.budget = std::max<uint64_t>(left / (kRounds - k) / members_.size(), 1);
    share.threads = 1;
    share.verbosity = Verbosity::Quiet;
    std::vector<SearchReport> reports(members_.size());
    parallel_for(members_.size(), options_.threads, [&](size_t m) {
      SearchOptions own = share;
      own.seed = combine(options_.seed, k * members_.size() + m);
      reports[m] = members_[m]->search(total_.best, rules_, model_, own, stop_);
    });
    if (k == 0) total_.cost_before = total_.cost_after = reports[0].cost_before;
    auto best = std::min_element(reports.begin(), reports.end(), [](const auto& a, const auto& b) {
      return a.cost_after < b.cost_after;
    });
    uint64_t looked = 0;
    for (const SearchReport& r : reports) {
      looked += r.candidates;
      total_.expanded += r.expanded;
      total_.duplicates += r.duplicates;
      total_.rejected += r.rejected;
      total_.peak_queue = std::max(total_.peak_queue, r.peak_queue);
    }
    bool improved = cheaper(best->cost_after, total_.cost_after);
    total_.stop = best->stop;
    if (improved) append(total_, std::move(*best), seconds_before);
    total_.candidates += std::min(looked, left);
    bool spent = total_.candidates >= options_.budget;
    if (spent) total_.stop = StopReason::Budget;
    if (stop_.out_of_memory()) total_.stop = StopReason::Memory;
    if (stop_.out_of_time()) total_.stop = StopReason::Time;
    if (stop_.requested()) total_.stop = StopReason::Interrupted;
    return !spent && !stop_.must_end() && looked > 0;
  }

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
