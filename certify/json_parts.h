#pragma once
// Inside certify/ only: what the JSON of certificates consists of. Errors are one line each.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "rewrite/search/searcher.h"

namespace regraft::certify {

/// The field with the digest of the others.
inline constexpr std::string_view kSelf = "sha256";
/// Of all fields but itself.
std::string digest_of_fields(nlohmann::json j);

/// The rules as lines of a rule file, which has them sorted.
std::vector<std::string> lines_of(const std::vector<Rule>& rules);
Result<std::vector<Rule>> rules_of(const nlohmann::json& lines);

Result<int64_t> integer_of(const nlohmann::json& j, int64_t low, int64_t high);
Result<int32_t> id_of(const nlohmann::json& j);
Result<Digest> digest_of(const nlohmann::json& j);

nlohmann::json steps_json(const std::vector<rewrite::AppliedRule>& steps);
Result<std::vector<rewrite::AppliedRule>> steps_of(const nlohmann::json& j);

}  // namespace regraft::certify
