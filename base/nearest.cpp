#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace regraft {
namespace {

/// Of two neighbours exchanged at most once (optimal string alignment).
size_t distance(const std::string& a, const std::string& b) {
  auto alike = [&](size_t i, size_t j) {
    return std::tolower(static_cast<unsigned char>(a[i])) ==
           std::tolower(static_cast<unsigned char>(b[j]));
  };
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      size_t changed = rows[i - 1][j - 1] + (alike(i - 1, j - 1) ? 0 : 1);
      rows[i][j] = std::min({changed, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && alike(i - 1, j - 2) && alike(i - 2, j - 1))
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  return rows[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(const std::string& mistyped,
                                   const std::vector<std::string>& words) {
  constexpr size_t kLongest = 200, kPart = 3, kBeginning = 4;
  std::optional<std::string> best;
  size_t fewest = 0;
  if (mistyped.size() > kLongest) return best;
  for (const std::string& word : words) {
    size_t longer = std::max(word.size(), mistyped.size());
    if (word.size() > kLongest) continue;
    size_t changes = distance(mistyped, word);
    if (changes * kPart > longer || (best && changes >= fewest)) continue;
    best = word;
    fewest = changes;
  }
  if (best || mistyped.size() < kBeginning) return best;
  for (const std::string& word : words)
    if (word.starts_with(mistyped) && (!best || word.size() < best->size())) best = word;
  return best;
}

std::string suggestion(const std::string& mistyped, const std::vector<std::string>& words) {
  auto word = nearest(mistyped, words);
  return word ? "; did you mean '" + *word + "'?" : "";
}

std::string suggested_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path given(path);
  if (!given.has_extension() || fs::exists(given, ignored)) return "";
  const fs::path folder = given.has_parent_path() ? given.parent_path() : fs::path(".");
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == given.extension())
      files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  auto there = nearest(given.filename().string(), files);
  return there ? "; did you mean '" + (given.parent_path() / *there).string() + "'?" : "";
}

}  // namespace regraft
