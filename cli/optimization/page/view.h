#pragma once
// Two models as they are drawn beside each other: boxes, and what became of which.
#include <optional>
#include <string>
#include <vector>

#include "cli/optimization/page/kernels.h"
#include "cli/optimization/trace.h"
#include "cli/pages/layout.h"

namespace regraft::cli {

struct ViewBox {
  enum Kind : uint8_t { Operator, Carried, Input, Output, Stretch } kind = Operator;
  std::string label, detail;     ///< plain; as long as they are
  std::string full;              ///< all that is known of it, in lines
  std::optional<size_t> region;  ///< of the steps that took it away, or made it
  bool changed = false;          ///< the other model has it not
  std::vector<size_t> near;      ///< regions of which this model has nothing: they were beside it
  int32_t node = -1;             ///< one id in both models; -1: none, or several
  double microseconds = 0;       ///< of the kernel that ends here
};

struct View {
  std::vector<ViewBox> boxes;
  std::vector<BoxEdge> edges;
  size_t nodes = 0;  ///< that boxes stand for: operators and carried nodes
};
struct Views {
  View before, after;
};

/// Boxes of a model, at most, but for its outputs. Of a larger one what stays becomes stretches of
/// many nodes each, and so do changes beyond what there is room for, those that won least first.
inline constexpr size_t kMostBoxes = 1200;

/// A model, and what to say of it.
struct Viewed {
  const Graph& graph;
  const std::vector<PlannedKernel>& kernels;
  TypeOfOpaque type_of;
};
/// REQUIRES: the trace is of these; no cycles.
Views views_of(const Viewed& before, const Viewed& after, const Trace& trace);

/// Predicted microseconds that each region's steps won.
std::vector<double> gains_of(const Trace& trace);

}  // namespace regraft::cli
