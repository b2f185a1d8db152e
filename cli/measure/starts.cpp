#include "cli/measure/starts.h"

#include "rewrite/selection.h"

namespace regraft::cli {

void Starts::select(const rewrite::RuleIndex& rules, const cost::CostModel& cost,
                    const rewrite::GraphPrice& price, const rewrite::SearchOptions& options,
                    const Stop& stop) {
  constexpr int32_t kMostNodes = 30000;
  if (!rules.selection() || model_.node_count() >= kMostNodes || stop.must_end()) return;
  selection_ = rewrite::select_operators(model_, *rules.selection(), cost, price, options, stop);
  if (!selection_.steps.empty()) selected_ = fused_(selection_.best);
}

std::vector<rewrite::Start> Starts::all() const {
  std::vector<rewrite::Start> r{{&plain_}};
  if (!selection_.steps.empty()) r.push_back({&selected_, &selection_});
  return r;
}

}  // namespace regraft::cli
