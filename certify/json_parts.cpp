#include "certify/json_parts.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "substitutions/rule_db.h"

namespace regraft::certify {

using nlohmann::json;

std::string digest_of_fields(json j) {
  j.erase(std::string(kSelf));
  std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
  return hex(Sha256().bytes(std::as_bytes(std::span(text))).finish());
}

std::vector<std::string> lines_of(const std::vector<Rule>& rules) {
  substitutions::RuleFile file;
  file.rules = rules;
  std::istringstream text(substitutions::to_text(file));
  std::vector<std::string> lines;
  std::string line;
  std::getline(text, line);  // the header
  while (std::getline(text, line)) lines.push_back(line);
  return lines;
}

Result<int64_t> integer_of(const json& j, int64_t low, int64_t high) {
  bool fits = j.is_number_integer() &&
              !(j.is_number_unsigned() && j.get<uint64_t>() > static_cast<uint64_t>(high)) &&
              j.get<int64_t>() >= low && j.get<int64_t>() <= high;
  if (!fits) return error("a number is missing or out of range");
  return j.get<int64_t>();
}

Result<int32_t> id_of(const json& j) {
  ASSIGN_OR_RETURN(int64_t n, integer_of(j, 0, std::numeric_limits<int32_t>::max()));
  return static_cast<int32_t>(n);
}

Result<Digest> digest_of(const json& j) {
  auto d = j.is_string() ? digest_from_hex(j.get<std::string>()) : std::nullopt;
  if (!d) return error("a digest is not 64 hexadecimal digits");
  return *d;
}

static Result<rewrite::AppliedRule> step_of(const json& j) {
  bool fits = j.is_object() && j.size() == 3 && j.contains("rule") && j["rule"].is_string() &&
              j.contains("nodes") && j["nodes"].is_array() && j.contains("variables") &&
              j["variables"].is_array();
  if (!fits) return error("a step does not consist of rule, nodes and variables");
  rewrite::AppliedRule s{j["rule"].get<std::string>(), {}, {}};
  for (const json& n : j["nodes"]) {
    ASSIGN_OR_RETURN(s.nodes.emplace_back(), id_of(n));
  }
  for (const json& v : j["variables"]) {
    if (!v.is_array() || v.size() != 2) return error("a variable is not a node and an output");
    ASSIGN_OR_RETURN(int32_t node, id_of(v[0]));
    ASSIGN_OR_RETURN(int32_t output, id_of(v[1]));
    s.variables.push_back({node, output});
  }
  return s;
}

Result<std::vector<Rule>> rules_of(const json& lines) {
  if (!lines.is_array()) return error("the rules are not a list");
  std::string text = substitutions::to_text({});
  for (const json& line : lines) {
    if (!line.is_string() || line.get<std::string>().find('\n') != std::string::npos)
      return error("a rule is not one line of text");
    text += line.get<std::string>() + "\n";
  }
  ASSIGN_OR_RETURN(auto file,
                   substitutions::parse_rules(text, "rules", substitutions::Admit::Bounded));
  if (file.rules.size() != lines.size()) return error("a rule is not proved, or is no rule");
  return std::move(file.rules);
}

Result<std::vector<rewrite::AppliedRule>> steps_of(const json& j) {
  if (!j.is_array()) return error("the steps are not a list");
  std::vector<rewrite::AppliedRule> steps;
  for (const json& s : j) {
    ASSIGN_OR_RETURN(auto applied, step_of(s));
    steps.push_back(std::move(applied));
  }
  return steps;
}

json steps_json(const std::vector<rewrite::AppliedRule>& steps) {
  json list = json::array();
  for (const auto& s : steps) {
    json variables = json::array();
    for (Value v : s.variables) variables.push_back({v.node, v.output});
    list.push_back({{"rule", s.rule}, {"nodes", s.nodes}, {"variables", variables}});
  }
  return list;
}

}  // namespace regraft::certify
