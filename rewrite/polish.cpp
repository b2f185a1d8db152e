#include "rewrite/polish.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "rewrite/search/reporter.h"
#include "rewrite/windows/part.h"
#include "rewrite/windows/window.h"

namespace regraft::rewrite {

namespace {

constexpr double kLeastGain = 1e-3;  // of the price
constexpr int kNear = 4;             // edges within which what is alike is worth the same

class Polish {
 public:
  Polish(const SearchReport& report, const RuleIndex& rules, const cost::CostModel& model,
         const GraphPrice& price, const SearchOptions& options, const PolishOptions& wanted,
         const Stop& stop)
      : price_(price),
        stop_(stop),
        left_(wanted.evaluations),
        parts_(wanted.parts),
        engine_(report.best, rules, model, {options.opset, &stop, options.sizes}),
        region_(engine_),
        max_calls_(options.max_growth * engine_.calls()),
        best_(price(engine_.to_graph())) {}

  Engine& run() {
    bool goes_on = true;
    while (goes_on) {
      goes_on = false;
      for (int32_t number : by_cost())
        if (improves(number)) {
          goes_on = true;
          break;
        }
    }
    return engine_;
  }

 private:
  bool over() const { return left_ == 0 || stop_.must_end(); }
  double least_gain() const { return kLeastGain * best_; }

  /// Matches that were not tried where they are now.
  std::vector<int32_t> by_cost() {
    for (int32_t number : engine_.fresh_matches()) tried_.erase(number);
    std::vector<int32_t> numbers;
    for (int32_t number : engine_.matches())
      if (!tried_.count(number)) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end(), [&](int32_t a, int32_t b) {
      return comes_first(engine_.match(a), engine_.match(b));
    });
    return numbers;
  }

  /// Applies the match if the price falls. Of places that are alike one stands for all, as long as
  /// it does not pay.
  bool improves(int32_t number) {
    if (over()) return false;
    tried_.insert(number);
    if (engine_.calls() + engine_.match(number).growth > max_calls_) return false;
    region_.grow(engine_.match(number).root(), kNear);
    const uint64_t place = region_.likeness(engine_.match(number));
    if (failed_.contains(place)) return false;
    --left_;
    double now = best_;
    if (!parts_ || pays_nearby(number))
      engine_.look_ahead(number, [&] { now = price_(engine_.to_graph()); });
    if (now < best_ - least_gain()) {
      best_ = now;
      engine_.apply(number);
      return true;
    }
    failed_.insert(place);
    return false;
  }

  /// Does the price of the region fall by as much?
  bool pays_nearby(int32_t number) {
    const double before = price_nearby();
    double after = before;
    engine_.look_ahead(number, [&] { after = price_nearby(); });
    return after < before - least_gain();
  }

  /// Of the region as it is now. REQUIRES: parts_
  double price_nearby() {
    auto [known, fresh] = parts_->emplace(region_.likeness(), 0);
    if (!fresh) return known->second;
    std::vector<int32_t> calls = region_.nodes();
    std::erase_if(calls, [&](int32_t id) { return engine_.graph().slot(id).constant; });
    return known->second = price_(Part(engine_.graph(), calls, Computed::Unread).graph());
  }

  const GraphPrice& price_;
  const Stop& stop_;
  uint64_t left_;
  PartPrices* parts_;
  Engine engine_;
  Region region_;
  double max_calls_;
  double best_;
  std::set<int32_t> tried_;
  std::unordered_set<uint64_t> failed_;  // places; a collision loses one try
};

}  // namespace

void polish(SearchReport& report, const RuleIndex& rules, const cost::CostModel& model,
            const GraphPrice& price, const SearchOptions& options, const PolishOptions& wanted,
            const Stop& stop) {
  auto start = Reporter::Clock::now();
  Polish work(report, rules, model, price, options, wanted, stop);
  const Engine& engine = work.run();
  if (!engine.moves().empty()) {
    SearchOptions quiet = options;
    quiet.verbosity = Verbosity::Quiet;
    Reporter reporter("polish", report.cost_after, rules, quiet, stop, start);
    SearchReport more = std::move(reporter).finish(report.stop, engine.moves(), engine.to_graph());
    more.cost_after = engine.cost();
    append(report, std::move(more), report.seconds);
  }
  const double seconds = std::chrono::duration<double>(Reporter::Clock::now() - start).count();
  report.seconds += seconds;
  report.polishing += seconds;
}

}  // namespace regraft::rewrite
