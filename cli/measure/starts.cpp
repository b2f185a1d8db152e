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

std::optional<rewrite::Start> Starts::selected() const {
  if (selection_.steps.empty()) return std::nullopt;
  return rewrite::Start{&selected_, &selection_};
}

}  // namespace regraft::cli
