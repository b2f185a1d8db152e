#pragma once
// Options that are a JSON object, taken one after the other.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace regraft::cli {

/// Each is taken at most once; one that is null counts as not there. Errors name the option.
class Fields {
 public:
  /// An Error: it is no JSON object. Empty: no options.
  static Result<Fields> of(const std::string& text);

  Result<std::string> text(const std::string& name, std::string usual);
  Result<std::vector<std::string>> texts(const std::string& name);
  Result<bool> flag(const std::string& name);
  Result<double> real(const std::string& name, double usual, double least, double most);
  Result<int64_t> number(const std::string& name, int64_t usual, int64_t least, int64_t most);
  Result<std::optional<int64_t>> number_if_there(const std::string& name, int64_t least,
                                                 int64_t most);
  /// So many numbers from 0, or truth values; some may be null. Empty: not there.
  Result<std::vector<std::optional<int64_t>>> numbers(const std::string& name, size_t count);
  /// An Error names an option that nobody took.
  Status finish() const;
  /// "NAME: WHAT is needed".
  Error wrong(const std::string& name, const std::string& what) const;

 private:
  explicit Fields(nlohmann::json all) : all_(std::move(all)) {}
  nlohmann::json take(const std::string& name);
  nlohmann::json all_;
};

/// "a, b or c".
std::string either_of(const std::vector<std::string>& words);

}  // namespace regraft::cli
