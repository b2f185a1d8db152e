#include "cli/support/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/host.h"
#include "base/printable.h"
#include "cli/support/json_file.h"
#include "ir/rule/text.h"
#include "verify/arithmetic/solver.h"

namespace regraft::cli {

std::string prover_name() {
  return fmt::format("regraft {} {}", REGRAFT_VERSION, verify::solver_version());
}

nlohmann::json json_of(const verify::Counterexample& c) {
  nlohmann::json inputs = nlohmann::json::array();
  for (const auto& a : c.inputs) inputs.push_back({{"shape", a.shape}, {"data", a.data}});
  nlohmann::json j = {{"signature", c.signature},
                      {"sizes", c.sizes},
                      {"reals", c.reals},
                      {"inputs", inputs},
                      {"output", c.difference.output}};
  switch (c.difference.kind) {
    case verify::Difference::IllFormed:
      j["problem"] = "the right side is ill formed";
      break;
    case verify::Difference::Shape:
      j["problem"] = "shapes";
      j["left_shape"] = c.difference.left_shape;
      j["right_shape"] = c.difference.right_shape;
      break;
    case verify::Difference::Element:
      j["problem"] = "element";
      j["position"] = c.difference.position;
      j["left"] = c.difference.left;
      j["right"] = c.difference.right;
      break;
  }
  return j;
}

Result<verify::Counterexample> counterexample_from(const nlohmann::json& j) {
  try {
    verify::Counterexample c;
    c.signature = j.at("signature").get<Signature>();
    for (const auto& [name, size] : j.at("sizes").items())
      c.sizes[name] = whole_number<int64_t>(size);
    c.reals = j.at("reals").get<std::map<std::string, double>>();
    for (const auto& a : j.at("inputs")) {
      std::vector<int64_t> shape;
      for (const auto& d : a.at("shape")) shape.push_back(whole_number<int64_t>(d));
      c.inputs.push_back({std::move(shape), a.at("data").get<std::vector<double>>()});
    }
    return c;
  } catch (const std::exception& e) {
    return error(fmt::format("not a counterexample: {}", e.what()));
  }
}

namespace {

void print(const verify::Difference& d) {
  switch (d.kind) {
    case verify::Difference::IllFormed:
      fmt::print(results(), "the left side is well formed, the right side is not\n");
      return;
    case verify::Difference::Shape:
      fmt::print(results(), "output {} has shape [{}] on the left, [{}] on the right\n", d.output,
                 fmt::join(d.left_shape, ","), fmt::join(d.right_shape, ","));
      return;
    case verify::Difference::Element:
      fmt::print(results(), "output {} at [{}] is {} on the left, {} on the right\n", d.output,
                 fmt::join(d.position, ","), d.left, d.right);
  }
}

Result<bool> replay(const nlohmann::json& record) {
  auto text = record.value("counterexample_rule", record.value("rule", std::string()));
  ASSIGN_OR_RETURN(Rule rule, parse_rule(text));
  if (!record.contains("evidence")) return error("the report has no counterexample for it");
  ASSIGN_OR_RETURN(verify::Counterexample c, counterexample_from(record["evidence"]));
  ASSIGN_OR_RETURN(verify::Comparison found, verify::replay(rule, c));
  fmt::print(results(), "{}\n", printable(to_string(rule)));
  for (const auto& [name, size] : c.sizes)
    fmt::print(results(), "{} = {}\n", printable(name), size);
  for (const auto& [name, real] : c.reals)
    fmt::print(results(), "?{} = {}\n", printable(name), real);
  for (size_t k = 0; k < c.inputs.size(); ++k)
    fmt::print(results(), "?{} = [{}] of shape [{}]\n", rule.variables[k],
               fmt::join(c.inputs[k].data, " "), fmt::join(c.inputs[k].shape, ","));
  if (!found.compared) return error("the left side is ill formed there");
  if (found.difference)
    print(*found.difference);
  else
    fmt::print(results(), "both sides agree\n");
  return found.difference.has_value();
}

}  // namespace

Result<bool> replay_report(const std::string& path, const std::string& rule) {
  const std::string what = "a report of regraft verify --json";
  return read_json_file(path, what, [&](const nlohmann::json& j) -> Result<bool> {
    if (!j.is_object() || !j.contains("rules") || !j["rules"].is_array())
      return error(path + ": not " + what);
    const nlohmann::json* found = nullptr;  // of several files one that has a counterexample
    for (const auto& record : j["rules"])
      if (record.is_object() && record.value("name", "") == rule &&
          (!found || (record.contains("evidence") && !found->contains("evidence"))))
        found = &record;
    if (!found) return error(path + ": has no rule " + rule);
    auto differs = replay(*found);
    if (!differs) return error(path + ": " + rule + ": " + differs.error().message);
    return differs;
  });
}

}  // namespace regraft::cli
