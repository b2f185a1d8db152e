#pragma once
// A counterexample on a page.
#include <string>

#include "cli/pages/graph_view.h"
#include "cli/validation/validation_report.h"

namespace regraft::cli {

/// Names for a part of the second model: what it shares with the first one is said to be shared.
/// The pair outlives them.
GraphNames shared_with_first(const verify::Pair& pair, GraphNames names);

/// HTML of the section. REQUIRES: there is a counterexample.
std::string counterexample_section(const ValidationReport& report, const GraphNames& names);
/// "'y'[0,1] is 1 in the first model and 2 in the second": in words, plain text.
std::string difference_text(const ValidationReport& report);
/// A tensor in plain text: short ones whole, of long ones what is not like most elements.
std::string tensor_text(const Array<double>& x);

}  // namespace regraft::cli
