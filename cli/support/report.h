#pragma once
// What the subcommands share: tables on stdout, JSON reports, totals.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace regraft::cli {

/// Rows of cells, printed with aligned columns: the first to the left, the others to the right.
/// Cells are made printable. Where the width of what shows results is known, the first
/// column is cut to fit.
struct Table {
  std::vector<std::vector<std::string>> rows;  ///< rows[0] is the header; an empty row is a line
  bool changes = false;  ///< the last column has changes, of which less is better
};
std::string to_string(const Table& table);

/// A line on stderr behind "regraft: ", made printable: for all that is said beside the results.
void tell(const std::string& line);

/// The text of a file: indented by so many spaces, below 0 on one line. Bytes that are no UTF-8, as
/// names in models may have, become U+FFFD.
std::string to_text(const nlohmann::json& j, int indent);

/// "12.3 MiB", "4.1 G", ...
std::string human_bytes(double bytes);
std::string human_count(double n);

}  // namespace regraft::cli
