#include "cli/support/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/host.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "base/resources.h"
#include "base/terminal.h"
#include "cli/support/commands.h"

namespace regraft::cli {
namespace {

std::string scaled(double x, double base, const char* const* units, int count) {
  int k = 0;
  while (k + 1 < count && x >= base) x /= base, ++k;
  return fmt::format("{:.{}f}{}", x, k == 0 ? 0 : 1, units[k]);
}

/// Less is green, more is red.
std::string painted_change(const std::string& cell) {
  bool less = cell.starts_with('-'), more = cell.starts_with('+');
  if (!less && !more) return cell;
  return painted(cell, less ? Colour::Green : Colour::Red, results());
}

/// Takes from the first column what is too much. Numbers stay whole, even where they do not fit.
void fit_columns(std::vector<size_t>& widths) {
  constexpr size_t kLeastName = 8;
  auto most = width_of(results());
  if (!most || widths.size() < 2) return;
  size_t total = 2 * (widths.size() - 1);
  for (size_t w : widths) total += w;
  size_t excess = total > *most ? total - *most : 0;
  widths[0] -= std::min(excess, widths[0] - std::min(widths[0], kLeastName));
}

}  // namespace

std::string to_string(const Table& table) {
  std::vector<size_t> widths;
  for (const auto& row : table.rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], printable(row[c]).size());
    }
  fit_columns(widths);
  std::string text;
  size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (size_t w : widths) total += w;
  total = std::min(total, width_of(results()).value_or(total));
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const auto& row = table.rows[r];
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string cell = printable(row[c]);
      const bool change = table.changes && r > 0 && c > 0 && c + 1 == widths.size();
      const std::string gap(widths[c] - std::min(widths[c], cell.size()), ' ');
      line += c == 0   ? fmt::format("{:<{}}", cut(cell, widths[c]), widths[c])
              : change ? "  " + gap + painted_change(cell)
                       : "  " + gap + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += (row.empty() ? std::string(total, '-') : line) + "\n";
    if (r == 0) text += std::string(total, '-') + "\n";
  }
  return text;
}

void tell(const std::string& line) {
  constexpr std::string_view kWarning = "warning:";
  std::string text = one_line(line);
  if (text.starts_with(kWarning))
    text =
        painted(std::string(kWarning), Colour::Yellow, messages()) + text.substr(kWarning.size());
  say("regraft: " + text + "\n");
}

std::string to_text(const nlohmann::json& j, int indent) {
  return j.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string human_bytes(double bytes) {
  static const char* const units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  return scaled(bytes, 1024, units, 5);
}

std::string human_count(double n) {
  static const char* const units[] = {"", " k", " M", " G", " T"};
  return scaled(n, 1000, units, 5);
}

int bad_input(const Error& e) {
  say(painted("regraft:", Colour::Red, messages()) + " " + one_line(e.message) + "\n");
  return kBadInput;
}

int thread_count(const Common& common) {
  return common.threads > 0 ? common.threads : default_threads();
}

int64_t memory_limit(const Common& common) {
  constexpr double kShare = 0.75;
  auto machine = static_cast<double>(machine_bytes());
  double bytes = common.memory_gb > 0 ? common.memory_gb * 1e9 : kShare * machine;
  if (hosted()) bytes += static_cast<double>(resident_bytes());  // what is there is not ours
  auto limit = static_cast<int64_t>(std::min(bytes, 9e18));
  limit_memory(limit);
  return limit;
}

namespace {

std::filesystem::path program_folder;  ///< of the library; empty: the program is what runs

/// Where the program or the library lies.
std::filesystem::path own_folder() {
  std::error_code ignored;
  if (!program_folder.empty()) return program_folder;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// A folder of what is installed with the program or the library (both lie one or two folders
/// below what the installation was made in), or its place beside the sources.
std::string shipped(const char* name, const char* in_sources) {
  std::error_code ignored;
  for (const char* up : {"..", "../.."}) {
    auto installed = own_folder() / up / "share" / "regraft" / name;
    if (std::filesystem::is_directory(installed, ignored)) return installed.string();
  }
  return in_sources;
}

}  // namespace

std::string shipped_rules_folder() {
  if (const char* set = std::getenv("REGRAFT_RULES")) return set;
  return shipped("substitutions", REGRAFT_SUBSTITUTIONS);
}

std::string shipped_python_folder() {
  // In a wheel the program lies in the package, two folders below what Python looks in.
  auto around = own_folder() / "../..";
  std::error_code ignored;
  if (std::filesystem::exists(around / "regraft/serve.py", ignored))
    return std::filesystem::canonical(around, ignored).string();
  return shipped("python", REGRAFT_PYTHON_FOLDER);
}

void set_program_folder(const std::string& folder) { program_folder = folder; }

std::string shipped_profiles_folder() { return shipped("profiles", REGRAFT_PROFILES); }

std::string shipped_policies_folder() { return shipped("policies", REGRAFT_POLICIES); }

}  // namespace regraft::cli
