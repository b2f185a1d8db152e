#pragma once
// Parts of models as drawings, and proved windows as rules that rule_view.h shows.
#include <functional>
#include <string>
#include <vector>

#include "cli/pages/drawing.h"
#include "ir/rule/rule.h"

namespace regraft::cli {

/// What a graph does not say of itself.
struct GraphNames {
  std::function<std::string(Value)> value;     ///< what a value is called
  std::function<std::string(int32_t)> opaque;  ///< the type of a node that is only carried
  /// A value that the drawn side reads and the other side has as well; nullptr: it is not said.
  std::function<bool(Value)> shared = nullptr;
};

inline constexpr size_t kMostDrawn = 40;  ///< nodes of a part

/// These nodes, operands first, with what they read and what leaves them; of more than kMostDrawn
/// the last ones. Names are cut from the left, where they say least. REQUIRES: they exist.
Drawing draw_part(const Graph& g, const std::vector<int32_t>& nodes, const GraphNames& names,
                  const std::string& title);
/// draw_part as a figure, with the full names in a list below it. `id`: as to_svg has it.
std::string part_figure(const Graph& g, const std::vector<int32_t>& nodes, const GraphNames& names,
                        const std::string& caption, const std::string& id);

/// Both sides of an instance as patterns over variables named as its inputs. For showing only:
/// attributes at their fallback, and the shapes of numbers, are left out.
Rule shown_rule(const RuleInstance& instance);
/// "x0 float32[batch,64]" of each input.
std::vector<std::string> inputs_of(const RuleInstance& instance);

}  // namespace regraft::cli
