#include "certify/certificate.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/input_file.h"
#include "base/nesting.h"
#include "certify/json_parts.h"

namespace regraft::certify {
namespace {

using nlohmann::json;

constexpr int kVersion = 3;
constexpr size_t kMaxBytes = size_t{1} << 30;
constexpr std::string_view kMagic = "regraft_certificate";
constexpr std::array<std::string_view, 10> kFields = {
    kMagic, "input", "output", "opset", "microsoft", "rules", "steps", "folded", "bodies", kSelf};

Result<Derivation> derivation(const json& j);

Result<BodyDerivation> body(const json& j) {
  bool fits = j.is_object() && j.size() == 5 && j.contains("node") && j.contains("attribute") &&
              j["attribute"].is_string() && j.contains("steps") && j.contains("folded") &&
              j.contains("bodies");
  if (!fits) return error("a body does not consist of its place and what was done to it");
  BodyDerivation b;
  ASSIGN_OR_RETURN(b.place.node, id_of(j["node"]));
  b.place.attribute = j["attribute"].get<std::string>();
  ASSIGN_OR_RETURN(b.done, derivation(j));
  return b;
}

/// REQUIRES: the fields are there. Texts that are nested too deep are no JSON here.
Result<Derivation> derivation(const json& j) {
  Derivation d;
  ASSIGN_OR_RETURN(d.steps, steps_of(j["steps"]));
  if (!j["folded"].is_array()) return error("the folded nodes are not a list");
  for (const json& n : j["folded"]) {
    ASSIGN_OR_RETURN(d.folded.emplace_back(), id_of(n));
  }
  if (!j["bodies"].is_array()) return error("the bodies are not a list");
  for (const json& b : j["bodies"]) {
    ASSIGN_OR_RETURN(auto made, body(b));
    d.bodies.push_back(std::move(made));
  }
  return d;
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
  ASSIGN_OR_RETURN(c.input, digest_of(j["input"]));
  ASSIGN_OR_RETURN(c.output, digest_of(j["output"]));
  ASSIGN_OR_RETURN(c.opset.version, id_of(j["opset"]));
  if (!j["microsoft"].is_boolean()) return error("which operators are allowed is not said");
  c.opset.microsoft = j["microsoft"].get<bool>();
  ASSIGN_OR_RETURN(c.rules, rules_of(j["rules"]));
  ASSIGN_OR_RETURN(c.done, derivation(j));
  RETURN_IF_ERROR(check_use(c));
  return c;
}

/// The fields of a derivation.
json to_json(const Derivation& d) {
  json bodies = json::array();
  for (const BodyDerivation& b : d.bodies) {
    bodies.push_back(to_json(b.done));
    bodies.back()["node"] = b.place.node;
    bodies.back()["attribute"] = b.place.attribute;
  }
  return {{"steps", steps_json(d.steps)}, {"folded", d.folded}, {"bodies", bodies}};
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
