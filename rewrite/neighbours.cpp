#include "rewrite/neighbours.h"

#include <cmath>
#include <map>

#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

int32_t random_match(const Engine& engine, double max_calls, Rng& rng) {
  std::map<int32_t, std::vector<int32_t>> by_rule;
  for (int32_t number : engine.matches()) {
    const Match& m = engine.match(number);
    if (engine.calls() + m.growth <= max_calls) by_rule[m.rule].push_back(number);
  }
  if (by_rule.empty()) return -1;
  auto it = std::next(by_rule.begin(), static_cast<std::ptrdiff_t>(rng.below(by_rule.size())));
  return it->second[rng.below(it->second.size())];
}

Neighbourhood::Neighbourhood(SearchReport base, const RuleIndex& rules,
                             const cost::CostModel& model, const SearchOptions& options,
                             const Stop& stop)
    : base_(std::move(base)),
      rules_(rules),
      options_(options),
      stop_(stop),
      engine_(base_.best, rules, model, {options.opset, &stop, options.sizes}),
      max_calls_(options.max_growth * engine_.calls()) {
  options_.verbosity = Verbosity::Quiet;
}

std::optional<SearchReport> Neighbourhood::draw(Rng& rng) {
  const int length = static_cast<int>(std::exp(rng.unit() * std::log(kLongest + 1.0)));
  for (int k = 0; k < length; ++k) {
    int32_t number = random_match(engine_, max_calls_, rng);
    if (number < 0) break;
    engine_.apply(number);
  }
  std::optional<SearchReport> drawn;
  if (engine_.depth() > 0) drawn = report();
  while (engine_.depth() > 0) engine_.undo();
  return drawn;
}

SearchReport Neighbourhood::report() const {
  Reporter reporter("neighbours", base_.cost_after, rules_, options_, stop_,
                    Reporter::Clock::now());
  SearchReport more = std::move(reporter).finish(base_.stop, engine_.moves(), engine_.to_graph());
  more.cost_after = engine_.cost();
  SearchReport whole = base_;
  append(whole, std::move(more), base_.seconds);
  return whole;
}

}  // namespace regraft::rewrite
