#include "cli/support/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/files/output_file.h"
#include "base/printable.h"
#include "cli/support/commands.h"
#include "cost/model/roofline.h"

namespace regraft::cli {

Result<std::vector<std::string>> model_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      files.push_back(path);  // whoever reads it says what is wrong with it
      continue;
    }
    std::vector<std::string> inside;
    std::filesystem::directory_iterator at(path, failed), end;
    for (; !failed && at != end; at.increment(failed))
      if (at->path().extension() == ".onnx") inside.push_back(at->path().string());
    if (failed) return error(path + ": " + failed.message());
    if (inside.empty()) return error(path + ": no .onnx file in it");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

std::vector<NamedFile> named(const std::string& what, const std::vector<std::string>& paths) {
  std::vector<NamedFile> files;
  for (const std::string& path : paths) files.push_back({what, path});
  return files;
}

Status require_distinct(const std::vector<NamedFile>& inputs,
                        const std::vector<NamedFile>& outputs) {
  std::map<FileIdentity, std::string> taken;
  auto identity = [](const NamedFile& f) {
    auto id = f.path.empty() ? std::nullopt : identity_of(f.path);
    return id && (id->regular || f.path == "-") ? id : std::nullopt;
  };
  for (const NamedFile& f : inputs)
    if (auto id = identity(f)) taken.emplace(*id, f.what);
  for (const NamedFile& f : outputs) {
    auto id = identity(f);
    if (!id) continue;
    auto [other, is_new] = taken.emplace(*id, f.what);
    if (!is_new)
      return error(
          fmt::format("{}: {} and {} must be different files", f.path, f.what, other->second));
  }
  return {};
}

Status require_distinct_in(const std::string& folder, const std::vector<NamedFile>& inputs,
                           const std::vector<std::string>& stems) {
  std::error_code none;
  for (std::filesystem::directory_iterator at(folder, none), end; !none && at != end;
       at.increment(none)) {
    std::string name = at->path().filename().string();
    auto begins = [&](const std::string& stem) { return name.starts_with(stem); };
    if (std::ranges::any_of(stems, begins))
      RETURN_IF_ERROR(require_distinct(inputs, {{"a file of the folder", at->path().string()}}));
  }
  return {};
}

std::vector<NamedFile> with_data(const std::string& what, const std::vector<std::string>& paths) {
  std::vector<NamedFile> files = named(what, paths);
  for (const std::string& path : paths)
    for (auto& file : named(what + "'s data", io::data_files(path))) files.push_back(file);
  return files;
}

std::vector<NamedFile> with_data(const std::string& what, const std::string& path,
                                 const io::Imported& model) {
  std::vector<NamedFile> files = {{what, path}};
  for (auto& file : named(what + "'s data", io::data_files(model))) files.push_back(file);
  return files;
}

namespace {

/// "NAME=1,3": the name, and the numbers behind the last "=".
Result<std::pair<std::string, std::vector<int64_t>>> sizes_of(const std::string& text) {
  auto wrong = [&] { return error("'" + text + "' is not NAME=SIZE,SIZE,.."); };
  size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) return wrong();
  std::vector<int64_t> sizes;
  for (size_t first = at + 1; first <= text.size();) {
    size_t end = std::min(text.find(',', first), text.size());
    int64_t size = 0;
    auto [stop, failure] = std::from_chars(text.data() + first, text.data() + end, size);
    if (failure != std::errc{} || stop != text.data() + end || size < 1) return wrong();
    sizes.push_back(size);
    first = end + 1;
  }
  return std::pair(text.substr(0, at), std::move(sizes));
}

}  // namespace

Result<io::FixedSizes> fixed_sizes(const SizeFlags& flags) {
  io::FixedSizes fixed;
  for (const std::string& text : flags.shapes) {
    auto sizes = sizes_of(text);
    if (!sizes) return error("--shape: " + sizes.error().message);
    auto [known, is_new] = fixed.shapes.emplace(*sizes);
    if (!is_new && known->second != sizes->second)
      return error("--shape: two shapes of " + printable(sizes->first));
  }
  auto named = [](const char* flag, const auto& texts, auto& into) -> Status {
    for (const std::string& text : texts) {
      auto sizes = sizes_of(text);
      if (!sizes || sizes->second.size() != 1)
        return error(std::string(flag) + ": '" + text + "' is not NAME=SIZE");
      auto [known, is_new] = into.emplace(sizes->first, sizes->second[0]);
      if (!is_new && known->second != sizes->second[0])
        return error(fmt::format("{}: two sizes of {}", flag, printable(sizes->first)));
    }
    return {};
  };
  RETURN_IF_ERROR(named(flags.dim_option, flags.dims, fixed.dims));
  RETURN_IF_ERROR(named("--typical", flags.typical, fixed.typical));
  return fixed;
}

std::map<std::string, int64_t> dynamic_sizes(const Graph& g) {
  std::map<std::string, int64_t> sizes;
  for (Value v : g.inputs())
    for (const Poly& d : g.type(v).shape.value_or(Shape{}))
      if (!d.is_constant()) sizes.emplace(to_string(d), cost::typical(d));
  return sizes;
}

std::string dynamic_text(const std::map<std::string, int64_t>& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes)
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", printable(name),
                        text.empty() ? "counts as " : "", size);
  return text;
}

}  // namespace regraft::cli
