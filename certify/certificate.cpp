#include "certify/certificate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/files/input_file.h"
#include "base/nesting.h"
#include "substitutions/rule_db.h"

namespace regraft::certify {
namespace {

using nlohmann::json;

constexpr int kVersion = 3;
constexpr size_t kMaxBytes = size_t{1} << 30;
constexpr std::string_view kMagic = "regraft_certificate", kSelf = "sha256";
constexpr std::array<std::string_view, 10> kFields = {
    kMagic, "input", "output", "opset", "microsoft", "rules", "steps", "folded", "bodies", kSelf};

/// Of all fields but itself.
std::string digest_of_fields(json j) {
  j.erase(std::string(kSelf));
  std::string text = j.dump(-1, ' ', false, json::error_handler_t::replace);
  return hex(Sha256().bytes(std::as_bytes(std::span(text))).finish());
}

/// The rules as lines of a rule file, which has them sorted.
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

Result<int64_t> integer(const json& j, int64_t low, int64_t high) {
  bool fits = j.is_number_integer() &&
              !(j.is_number_unsigned() && j.get<uint64_t>() > static_cast<uint64_t>(high)) &&
              j.get<int64_t>() >= low && j.get<int64_t>() <= high;
  if (!fits) return error("a number is missing or out of range");
  return j.get<int64_t>();
}

Result<int32_t> id(const json& j) {
  ASSIGN_OR_RETURN(int64_t n, integer(j, 0, std::numeric_limits<int32_t>::max()));
  return static_cast<int32_t>(n);
}

Result<Digest> digest(const json& j) {
  auto d = j.is_string() ? digest_from_hex(j.get<std::string>()) : std::nullopt;
  if (!d) return error("a digest is not 64 hexadecimal digits");
  return *d;
}

Result<rewrite::AppliedRule> step(const json& j) {
  bool fits = j.is_object() && j.size() == 3 && j.contains("rule") && j["rule"].is_string() &&
              j.contains("nodes") && j["nodes"].is_array() && j.contains("variables") &&
              j["variables"].is_array();
  if (!fits) return error("a step does not consist of rule, nodes and variables");
  rewrite::AppliedRule s{j["rule"].get<std::string>(), {}, {}};
  for (const json& n : j["nodes"]) {
    ASSIGN_OR_RETURN(s.nodes.emplace_back(), id(n));
  }
  for (const json& v : j["variables"]) {
    if (!v.is_array() || v.size() != 2) return error("a variable is not a node and an output");
    ASSIGN_OR_RETURN(int32_t node, id(v[0]));
    ASSIGN_OR_RETURN(int32_t output, id(v[1]));
    s.variables.push_back({node, output});
  }
  return s;
}

Result<Derivation> derivation(const json& j);

Result<BodyDerivation> body(const json& j) {
  bool fits = j.is_object() && j.size() == 5 && j.contains("node") && j.contains("attribute") &&
              j["attribute"].is_string() && j.contains("steps") && j.contains("folded") &&
              j.contains("bodies");
  if (!fits) return error("a body does not consist of its place and what was done to it");
  BodyDerivation b;
  ASSIGN_OR_RETURN(b.place.node, id(j["node"]));
  b.place.attribute = j["attribute"].get<std::string>();
  ASSIGN_OR_RETURN(b.done, derivation(j));
  return b;
}

/// REQUIRES: the fields are there. Texts that are nested too deep are no JSON here.
Result<Derivation> derivation(const json& j) {
  Derivation d;
  if (!j["steps"].is_array()) return error("the steps are not a list");
  for (const json& s : j["steps"]) {
    ASSIGN_OR_RETURN(auto applied, step(s));
    d.steps.push_back(std::move(applied));
  }
  if (!j["folded"].is_array()) return error("the folded nodes are not a list");
  for (const json& n : j["folded"]) {
    ASSIGN_OR_RETURN(d.folded.emplace_back(), id(n));
  }
  if (!j["bodies"].is_array()) return error("the bodies are not a list");
  for (const json& b : j["bodies"]) {
    ASSIGN_OR_RETURN(auto made, body(b));
    d.bodies.push_back(std::move(made));
  }
  return d;
}

Result<std::vector<Rule>> rules(const json& lines) {
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

/// Every step has its rule, and every rule a step.
Status check_use(const Certificate& c) {
  std::set<std::string> known, used = used_rules(c.done);
  for (const Rule& rule : c.rules)
    for (const Rule& directed : directions(rule)) known.insert(directed.name);
  if (!std::includes(known.begin(), known.end(), used.begin(), used.end()))
    return error("there is no rule of the name that a step uses");
  for (const Rule& rule : c.rules) {
    bool needed = false;
    for (const Rule& directed : directions(rule)) needed = needed || used.count(directed.name) > 0;
    if (!needed) return error("no step uses the rule " + rule.name);
  }
  return {};
}

Status check_form(const json& j) {
  if (!j.is_object() || !j.contains(kMagic)) return error("not a certificate");
  if (j[kMagic] != kVersion)
    return error("a certificate of another version of regraft; optimise the model again");
  for (const auto& [key, value] : j.items())
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end())
      return error("not a certificate: it has a field that none has");
  for (std::string_view key : kFields)
    if (!j.contains(key)) return error("not a certificate: it has no field " + std::string(key));
  if (j[kSelf] != digest_of_fields(j))
    return error("the certificate was changed: its digest does not fit");
  return {};
}

Result<Certificate> from_json(const json& j) {
  RETURN_IF_ERROR(check_form(j));
  Certificate c;
  ASSIGN_OR_RETURN(c.input, digest(j["input"]));
  ASSIGN_OR_RETURN(c.output, digest(j["output"]));
  ASSIGN_OR_RETURN(c.opset.version, id(j["opset"]));
  if (!j["microsoft"].is_boolean()) return error("which operators are allowed is not said");
  c.opset.microsoft = j["microsoft"].get<bool>();
  ASSIGN_OR_RETURN(c.rules, rules(j["rules"]));
  ASSIGN_OR_RETURN(c.done, derivation(j));
  RETURN_IF_ERROR(check_use(c));
  return c;
}

/// The fields of a derivation.
json to_json(const Derivation& d) {
  json steps = json::array(), bodies = json::array();
  for (const auto& s : d.steps) {
    json variables = json::array();
    for (Value v : s.variables) variables.push_back({v.node, v.output});
    steps.push_back({{"rule", s.rule}, {"nodes", s.nodes}, {"variables", variables}});
  }
  for (const BodyDerivation& b : d.bodies) {
    bodies.push_back(to_json(b.done));
    bodies.back()["node"] = b.place.node;
    bodies.back()["attribute"] = b.place.attribute;
  }
  return {{"steps", steps}, {"folded", d.folded}, {"bodies", bodies}};
}

}  // namespace

std::set<std::string> used_rules(const Derivation& d) {
  std::set<std::string> used;
  for (const auto& step : d.steps) used.insert(step.rule);
  for (const BodyDerivation& b : d.bodies) used.merge(used_rules(b.done));
  return used;
}

std::string to_text(const Certificate& c) {
  json j = to_json(c.done);
  j.update(json{{kMagic, kVersion},
                {"input", hex(c.input)},
                {"output", hex(c.output)},
                {"opset", c.opset.version},
                {"microsoft", c.opset.microsoft},
                {"rules", lines_of(c.rules)}});
  j[std::string(kSelf)] = digest_of_fields(j);
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Certificate> parse_certificate(std::string_view text, const std::string& name) {
  if (nested_too_deep(text)) return error(name + ": not a certificate");
  json j = json::parse(text, nullptr, false);
  auto c = from_json(j);
  if (!c) return error(name + ": " + c.error().message);
  return c;
}

Result<Certificate> read_certificate(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, read_file(path, kMaxBytes));
  return parse_certificate(text, path);
}

}  // namespace regraft::certify
