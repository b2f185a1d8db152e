#pragma once
// What `validate` found, as one page.
#include <string>

#include "cli/validation/validation_report.h"

namespace regraft::cli {

/// A whole document that needs nothing from elsewhere: the verdicts, then whatever shows them, a
/// counterexample, the windows that are open, the windows that were proved. What is drawn and
/// listed is limited, so that it stays below some 2 MB; it says what it leaves out.
std::string validation_page(const ValidationReport& report);

}  // namespace regraft::cli
