#pragma once
// Where searches of a model begin.
#include <functional>
#include <optional>

#include "rewrite/candidates.h"

namespace regraft::cli {

/// With what the runtime fuses marked; and, where that changes anything, with operators selected as
/// well.
class Starts {
 public:
  /// `fused` marks what the runtime fuses.
  Starts(const Graph& model, std::function<Graph(const Graph&)> fused)
      : model_(model), fused_(std::move(fused)), plain_(fused_(model)) {}
  Starts(const Starts&) = delete;
  Starts& operator=(const Starts&) = delete;
  /// Selects operators, unless the rules have none or the graph is too large for that. At most
  /// once.
  void select(const rewrite::RuleIndex& rules, const cost::CostModel& cost,
              const rewrite::GraphPrice& price, const rewrite::SearchOptions& options,
              const Stop& stop);
  const Graph& plain() const { return plain_; }
  const Graph& last() const { return selection_.steps.empty() ? plain_ : selected_; }
  /// Where operators were selected, for find_candidates; it points here.
  std::optional<rewrite::Start> selected() const;

 private:
  const Graph& model_;
  std::function<Graph(const Graph&)> fused_;
  Graph plain_, selected_;
  rewrite::SearchReport selection_;  ///< no steps: nothing was selected
};

}  // namespace regraft::cli
