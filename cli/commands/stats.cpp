// What a model consists of, and how much of it is understood.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cost/model/roofline.h"
#include "io/coverage/coverage.h"
#include "io/model.h"

namespace regraft::cli {
namespace {

using ByType = std::map<std::string, int64_t>;

struct ModelStats {
  io::Summary summary;
  int64_t nodes = 0, understood = 0, unused = 0, inner = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> operators;  ///< all, and understood
  std::map<std::string, ByType> reasons;                         ///< then by operator
  int64_t parameters = 0;
  double operations = 0, multiply_adds = 0, activations = 0;
  int64_t unknown_values = 0;              ///< outputs of nodes whose shapes are not known
  std::map<std::string, int64_t> dynamic;  ///< what each counts as
};

void add_nodes(ModelStats& s, const io::Imported& model) {
  for (const auto& node : io::coverage(model)) {
    if (!node.live) {
      ++s.unused;
      continue;
    }
    ++s.nodes;
    s.understood += node.understood;
    s.inner += node.inner;
    auto& [all, known] = s.operators[node.type];
    ++all;
    known += node.understood;
    if (!node.understood) ++s.reasons[std::string(to_string(node.reason))][node.type];
  }
}

/// Does a call multiply and add along a sum, so that two operations are one step?
bool is_contraction(const Node& node) {
  return node.kind == NodeKind::Call &&
         (node.op->work == Work::Convolution || node.op->work == Work::Product);
}

/// Of what the outputs need. Sizes left open count as the cost models take them.
void add_work(ModelStats& s, const Graph& g) {
  const cost::Machine machine;
  const cost::Roofline roofline(machine);
  auto constant = constant_nodes(g);
  auto order = topological_order(g);
  for (int32_t id : order ? *order : std::vector<int32_t>{}) {
    const Node& node = g.node(id);
    if (node.kind == NodeKind::Constant) s.parameters += node.constant->count();
    bool runs = node.kind == NodeKind::Call || node.kind == NodeKind::Opaque;
    if (!runs || constant[static_cast<size_t>(id)]) continue;
    double operations = roofline.cost(node, cost::operand_types(g, node)).flops;
    s.operations += operations;
    if (is_contraction(node)) s.multiply_adds += operations / 2;
    for (const TensorType& t : node.types) {
      double count = 1;
      for (const Poly& d : t.shape.value_or(Shape{}))
        count *= static_cast<double>(cost::typical(d));
      if (t.shape)
        s.activations += count;
      else
        ++s.unknown_values;
    }
  }
}

ModelStats stats_of(const io::Imported& model) {
  ModelStats s;
  s.summary = io::summarise(model, model.graph);
  add_nodes(s, model);
  add_work(s, model.graph);
  s.dynamic.merge(dynamic_sizes(model.graph));
  return s;
}

nlohmann::json to_json(const ModelStats& s, const Graph& g) {
  nlohmann::json operators = nlohmann::json::object(), inputs = nlohmann::json::array();
  for (const auto& [type, n] : s.operators)
    operators[type] = {{"nodes", n.first}, {"understood", n.second}};
  for (Value v : g.inputs()) {
    nlohmann::json dims;
    if (g.type(v).shape) dims = nlohmann::json::array();
    for (const Poly& d : g.type(v).shape.value_or(Shape{}))
      dims.push_back(d.is_constant() ? nlohmann::json(d.constant()) : nlohmann::json(to_string(d)));
    const auto& names = g.node(v.node).names;
    inputs.push_back({{"name", names.empty() ? "" : names[0]},
                      {"type", to_string(g.type(v).dtype)},
                      {"dims", dims}});
  }
  return {{"opset", s.summary.opset.version},
          {"nodes", s.nodes},
          {"understood", s.understood},
          {"unused", s.unused},
          {"inner", s.inner},
          {"operators", operators},
          {"reasons", s.reasons},
          {"parameters", s.parameters},
          {"bytes", s.summary.bytes},
          {"operations", s.operations},
          {"multiply_adds", s.multiply_adds},
          {"activations", s.activations},
          {"unknown_values", s.unknown_values},
          {"inputs", inputs},
          {"dynamic", s.dynamic}};
}

std::string share(int64_t part, int64_t all) {
  return all == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * double(part) / double(all));
}

/// "unknown operator 3, form 1"
std::string why(const ModelStats& s, const std::string& type) {
  std::string text;
  for (const auto& [reason, types] : s.reasons)
    if (auto at = types.find(type); at != types.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", reason, at->second);
  return text;
}

void print(const ModelStats& s) {
  Table table{{{"operator", "nodes", "understood", "carried because"}}};
  for (const auto& [type, n] : s.operators)
    table.rows.push_back(
        {type, fmt::format("{}", n.first), fmt::format("{}", n.second), why(s, type)});
  table.rows.emplace_back();
  table.rows.push_back({"all", fmt::format("{}", s.nodes), fmt::format("{}", s.understood),
                        share(s.understood, s.nodes) + " understood"});
  fmt::print(results(), "{}", to_string(table));
  fmt::print(results(), "{} parameters, {}, opset {}\n", human_count(double(s.parameters)),
             human_bytes(double(s.summary.bytes)), s.summary.opset.version);
  fmt::print(results(), "{} multiply-adds, {} operations, {} elements of activations{}\n",
             human_count(s.multiply_adds), human_count(s.operations), human_count(s.activations),
             s.unknown_values ? fmt::format(", {} of unknown shape", s.unknown_values) : "");
  if (s.unused + s.inner > 0)
    fmt::print(results(), "{} nodes that nothing needs, {} nodes in sub-graphs\n", s.unused,
               s.inner);
  if (!s.dynamic.empty()) fmt::print(results(), "sizes left open: {}\n", dynamic_text(s.dynamic));
}

}  // namespace

int run_stats(const StatsFlags& flags) {
  auto model = io::load(flags.model);
  if (!model) return bad_input(model.error());
  if (auto s = require_distinct(with_data("the model", flags.model, *model),
                                {{"the report", flags.common.json}});
      !s)
    return bad_input(s.error());
  auto output = OutputFile::open(flags.common.json);
  if (!output) return bad_input(output.error());
  ModelStats s = stats_of(*model);
  if (flags.common.verbosity == Verbosity::Normal) print(s);
  Status written = output->write(to_text(to_json(s, model->graph), 1));
  if (written) written = output->commit();
  return written ? kDone : bad_input(written.error());
}

}  // namespace regraft::cli
