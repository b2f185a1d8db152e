#pragma once
// The windows that were proved, on a page; and what the parts of that page share.
#include <string>
#include <vector>

#include "cli/validation/validation_report.h"

namespace regraft::cli {

using Rows = std::vector<std::vector<std::string>>;  // of a table
inline constexpr size_t kListed = 200;               // rows of a table
inline constexpr size_t kMostDrawings = 1 << 20;     // bytes of a section with drawings

std::string heading(const char* id, const std::string& text);  ///< <h2>
std::string paragraph(const std::string& text);                ///< of plain text
std::string code(const std::string& text);
std::string right(const std::string& cell);  ///< HTML to the right of its column
/// "1 window", "3 windows".
std::string count_of(size_t n, const std::string& what);
/// A paragraph, where some are left out.
std::string left_out(size_t all, size_t shown, const std::string& what);

/// HTML of the section: windows of one form are one rule, drawn where the models are proved equal.
std::string proof_section(const ValidationReport& report);

}  // namespace regraft::cli
