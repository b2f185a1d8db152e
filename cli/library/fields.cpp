#include "cli/library/fields.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace regraft::cli {

Result<Fields> Fields::of(const std::string& text) {
  if (text.empty()) return Fields(nlohmann::json::object());
  auto all = nlohmann::json::parse(text, nullptr, false);
  if (!all.is_object()) return error("options: a JSON object is needed");
  return Fields(std::move(all));
}

nlohmann::json Fields::take(const std::string& name) {
  auto it = all_.find(name);
  if (it == all_.end()) return nullptr;
  nlohmann::json value = std::move(*it);
  all_.erase(it);
  return value;
}

Error Fields::wrong(const std::string& name, const std::string& what) const {
  return error(name + ": " + what + " is needed");
}

Result<std::string> Fields::text(const std::string& name, std::string usual) {
  auto value = take(name);
  if (value.is_null()) return usual;
  if (!value.is_string()) return wrong(name, "a text");
  return value.get<std::string>();
}

Result<std::vector<std::string>> Fields::texts(const std::string& name) {
  auto value = take(name);
  std::vector<std::string> all;
  if (value.is_null()) return all;
  if (value.is_string()) value = nlohmann::json::array({value});
  if (!value.is_array()) return wrong(name, "a list of texts");
  for (const auto& one : value) {
    if (!one.is_string()) return wrong(name, "a list of texts");
    all.push_back(one.get<std::string>());
  }
  return all;
}

Result<bool> Fields::flag(const std::string& name) {
  auto value = take(name);
  if (value.is_null()) return false;
  if (!value.is_boolean()) return wrong(name, "true or false");
  return value.get<bool>();
}

Result<double> Fields::real(const std::string& name, double usual, double least, double most) {
  auto value = take(name);
  if (value.is_null()) return usual;
  double x = value.is_number() ? value.get<double>() : least - 1;
  if (!(x >= least && x <= most))
    return wrong(name, fmt::format("a number from {} to {}", least, most));
  return x;
}

Result<std::optional<int64_t>> Fields::number_if_there(const std::string& name, int64_t least,
                                                       int64_t most) {
  auto value = take(name);
  if (value.is_null()) return std::optional<int64_t>();
  bool fits = value.is_number_integer() &&
              (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX});
  if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > most)
    return wrong(name, fmt::format("a whole number from {} to {}", least, most));
  return std::optional(value.get<int64_t>());
}

Result<int64_t> Fields::number(const std::string& name, int64_t usual, int64_t least,
                               int64_t most) {
  ASSIGN_OR_RETURN(auto value, number_if_there(name, least, most));
  return value.value_or(usual);
}

Result<std::vector<std::optional<int64_t>>> Fields::numbers(const std::string& name, size_t count) {
  auto value = take(name);
  std::vector<std::optional<int64_t>> all;
  if (value.is_null()) return all;
  auto needed = fmt::format("a list of {}, a whole number for each environment", count);
  if (!value.is_array() || value.size() != count) return wrong(name, needed);
  for (const auto& one : value) {
    if (one.is_null()) {
      all.emplace_back();
    } else if (one.is_boolean()) {
      all.emplace_back(one.get<bool>());
    } else if (one.is_number_unsigned() && one.get<uint64_t>() <= uint64_t{INT64_MAX}) {
      all.emplace_back(one.get<int64_t>());
    } else {
      return wrong(name, needed);
    }
  }
  return all;
}

Status Fields::finish() const {
  if (all_.empty()) return {};
  return error(printable(all_.begin().key()) + ": there is no such option");
}

std::string either_of(const std::vector<std::string>& words) {
  std::string text;
  for (size_t k = 0; k < words.size(); ++k) {
    if (k > 0) text += k + 1 < words.size() ? ", " : " or ";
    text += words[k];
  }
  return text;
}

}  // namespace regraft::cli
