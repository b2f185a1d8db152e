#include "cli/certificate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/input_file.h"
#include "cli/report.h"
#include "cost/roofline.h"
#include "rewrite/fold.h"
#include "rewrite/replay.h"
#include "substitutions/rule_db.h"
#include "verify/verify.h"

namespace regraft::cli {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

std::string hex(uint64_t n) { return fmt::format("{:016x}", n); }

/// The rules as the lines of a rule file.
std::vector<std::string> lines_of(const std::vector<Rule>& rules) {
  substitutions::RuleFile file;
  file.generator = "certificate";
  file.prover = prover_name();
  file.rules = rules;
  std::istringstream text(substitutions::to_text(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

Result<Certificate> from_json(const nlohmann::json& j, const std::string& path) {
  try {
    Certificate c;
    c.input_hash = std::stoull(j.at("input").get<std::string>(), nullptr, 16);
    c.opset = j.at("opset");
    std::string text;
    for (const auto& line : j.at("rules")) text += line.get<std::string>() + "\n";
    ASSIGN_OR_RETURN(auto file, substitutions::parse_rules(text, path + ": rules",
                                                           substitutions::Admit::Bounded));
    c.rules = std::move(file.rules);
    for (const auto& s : j.at("steps")) {
      rewrite::AppliedRule step{s.at("rule"), s.at("nodes"), {}};
      for (const auto& v : s.at("variables")) step.variables.push_back({v.at(0), v.at(1)});
      c.steps.push_back(std::move(step));
    }
    return c;
  } catch (const std::exception& e) {
    return error(path + ": not a certificate: " + e.what());
  }
}

/// What saving `g` and loading it gives: the form in which models are compared.
Result<Graph> as_written(const io::Imported& original, const Graph& g) {
  namespace fs = std::filesystem;
  fs::path folder = fs::temp_directory_path() / fmt::format("regraft-check-{}", getpid());
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  std::string path = (folder / "replayed.onnx").string();
  auto saved = io::save(original, g, path);
  auto loaded = saved ? io::load(path) : Result<io::Imported>(saved.error());
  std::optional<Result<Graph>> result;
  if (loaded)
    result.emplace(loaded->graph);
  else
    result.emplace(loaded.error());
  fs::remove_all(folder, ignored);
  return *std::move(result);
}

/// Names of a graph's inputs and outputs.
std::vector<std::string> interface_of(const Graph& g) {
  std::vector<std::string> names;
  auto add = [&](Value v) {
    const Node& n = g.node(v.node);
    auto k = static_cast<size_t>(v.output);
    names.push_back(k < n.names.size() ? n.names[k] : "");
  };
  for (Value v : g.inputs()) add(v);
  for (Value v : g.outputs()) add(v);
  return names;
}

}  // namespace

Certificate make_certificate(const Graph& input, int opset, const rewrite::RuleIndex& index,
                             const rewrite::SearchReport& report) {
  Certificate c{structural_hash(input), opset, {}, report.steps};
  std::set<std::string> used;
  for (const auto& step : c.steps) used.insert(step.rule);
  for (const auto& compiled : index.rules())
    if (used.count(compiled.rule.name)) c.rules.push_back(compiled.rule);
  return c;
}

std::string to_text(const Certificate& c) {
  nlohmann::json steps = nlohmann::json::array();
  for (const auto& s : c.steps) {
    nlohmann::json variables = nlohmann::json::array();
    for (Value v : s.variables) variables.push_back({v.node, v.output});
    steps.push_back({{"rule", s.rule}, {"nodes", s.nodes}, {"variables", variables}});
  }
  nlohmann::json j = {{"regraft_certificate", 1},
                      {"input", hex(c.input_hash)},
                      {"opset", c.opset},
                      {"rules", lines_of(c.rules)},
                      {"steps", steps}};
  return to_text(j, 1);
}

Result<Certificate> read_certificate(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, read_file(path, kMaxBytes));
  return parse_certificate(text, path);
}

Result<Certificate> parse_certificate(std::string_view text, const std::string& name) {
  auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || j.value("regraft_certificate", nlohmann::json()) != 1)
    return error(name + ": not a certificate");
  return from_json(j, name);
}

Status prove_rules(const Certificate& certificate, uint64_t seed, int threads) {
  verify::VerifyOptions options;
  options.seed = seed;
  options.threads = threads;
  options.domains = verify::Domains::Given;
  options.verbosity = Verbosity::Quiet;
  for (const Rule& claimed : certificate.rules) {
    Rule proved = verify::verify_rule(claimed, options);
    bool all = proved.verdict.kind >= claimed.verdict.kind &&
               proved.domain.size() == claimed.domain.size();
    if (!all)
      return error(fmt::format("the rule {} is {} for {} of {} shapes", claimed.name,
                               to_string(proved.verdict.kind), proved.domain.size(),
                               claimed.domain.size()));
  }
  return {};
}

Status check_certificate(const Certificate& c, const io::Imported& input,
                         const io::Imported& output) {
  if (structural_hash(input.graph) != c.input_hash)
    return error("the certificate is about another input model");
  ASSIGN_OR_RETURN(auto rules, rewrite::RuleIndex::build(c.rules, rewrite::Scope::Proved));
  ASSIGN_OR_RETURN(Graph replayed,
                   rewrite::replay(input.graph, rules, c.steps, cost::Roofline(), {c.opset}));
  ASSIGN_OR_RETURN(auto folded, rewrite::fold(replayed));
  ASSIGN_OR_RETURN(Graph expected, as_written(input, folded.graph));
  if (!structurally_equal(expected, output.graph) ||
      interface_of(expected) != interface_of(output.graph))
    return error("the steps lead to another model");
  return {};
}

}  // namespace regraft::cli
