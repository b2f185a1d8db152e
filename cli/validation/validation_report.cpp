#include "cli/validation/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/host.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"
#include "verify/numerics/numerics.h"

namespace regraft::cli {
namespace {

using certify::Equivalence;
using certify::Validation;
using nlohmann::json;

constexpr size_t kShownOpen = 20;         // windows
constexpr size_t kShownNames = 40;        // nodes of one
constexpr size_t kWrittenData = 1 << 16;  // elements of an input

json names_of(const Graph& g, const std::vector<int32_t>& ids) {
  json names = json::array();
  for (int32_t id : ids)
    if (names.size() < kShownNames) names.push_back(value_name(g, {id, 0}));
  return names;
}

json windows_json(const ValidationReport& report) {
  const Validation& v = report.validation;
  json list = json::array();
  for (const auto& [key, w] : v.sweep.windows) {
    if (w.count == 0) continue;
    json j;
    j["rule"] = w.window.text;
    j["verdict"] = to_string(w.verdict.kind);
    j["count"] = w.count;
    if (report.numerics) {
      const NumericVerdict& n = report.numerics->at(key);
      j["numerics"] = to_string(n.kind);
      if (!n.witness.empty()) j["witness"] = n.witness;
    }
    j["a"] = names_of(v.pair.graph, w.window.left);
    j["b"] = names_of(v.pair.graph, w.window.right);
    list.push_back(std::move(j));
  }
  return list;
}

json constants_json(const Validation& v) {
  json list = json::array();
  const Graph& g = v.pair.graph;
  for (const verify::Merge& m : v.sweep.merges) {
    json j;
    if (m.kind == verify::Merge::Constant) {
      const verify::Deviation& d = m.deviation;
      j["b"] = value_name(g, m.b);
      j["a"] = value_name(g, m.a);
      j["deviation"] = d.deviation;
      j["bound"] = d.ratio > 0 ? d.deviation / d.ratio : 0;
      list.push_back(std::move(j));
      continue;
    }
    for (const verify::ExplainedNumber& e : v.sweep.windows.at(m.key).window.explained) {
      j["b"] = e.number;
      j["a"] = e.expression;
      j["deviation"] = std::abs(e.number - e.exact) / std::max(std::abs(e.exact), 1e-300);
      list.push_back(j);
    }
  }
  return list;
}

json open_json(const Validation& v) {
  json list = json::array();
  const Graph& g = v.pair.graph;
  if (v.verdict() != Equivalence::Unknown) return list;
  for (const verify::Open* o : open_windows(v)) {
    if (list.size() == kShownOpen) break;
    json j;
    j["a"] = value_name(g, o->a);
    j["b"] = value_name(g, o->b);
    j["a_nodes"] = names_of(g, o->left);
    j["b_nodes"] = names_of(g, o->right);
    j["rule"] = o->text;
    j["reason"] = o->reason;
    list.push_back(std::move(j));
  }
  return list;
}

json node_json(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  json j;
  j["b"] = value_name(g, {id, 0});
  j["operator"] = n.op                           ? std::string(n.op->name)
                  : n.kind == NodeKind::Constant ? "constant"
                                                 : "carried";
  j["type"] = n.types.empty() ? "" : to_string(n.types[0]);
  return j;
}

json tensor_json(DType type, const Array<double>& x) {
  json j;
  j["dtype"] = to_string(type);
  j["shape"] = x.shape;
  j["data"] = json::array();
  if (x.data.size() > kWrittenData) {
    j["left_out"] = x.data.size();
    return j;
  }
  for (double d : x.data) {
    if (type == DType::Bool)
      j["data"].push_back(d != 0);
    else if (is_integer(type))
      j["data"].push_back(static_cast<int64_t>(d));
    else
      j["data"].push_back(d);
  }
  return j;
}

json counterexample_json(const ValidationReport& report) {
  const Refutation& r = *report.refutation;
  const rewrite::ModelCounterexample& c = *r.counterexample;
  const verify::Pair& pair = report.validation.given;
  const Graph& g = pair.graph;
  json j, inputs = json::object();
  j["sizes"] = c.sizes;
  for (size_t k = 0; k < c.inputs.size(); ++k)
    inputs[value_name(g, g.inputs()[k])] = tensor_json(g.type(g.inputs()[k]).dtype, c.inputs[k]);
  j["inputs"] = std::move(inputs);
  j["chosen"] = c.inputs_are;
  bool replayed = r.replay && r.replay->differs;
  size_t output = replayed ? r.replay->output : c.output;
  const std::vector<size_t>& of_pair = report.compared;
  j["output"] = output < of_pair.size() ? value_name(g, pair.a[of_pair[output]]) : "";
  std::string failure = replayed ? r.replay->runs[1].error : c.failure;
  if (failure.empty()) {
    j["position"] = replayed ? r.replay->position : c.position;
    j["a"] = replayed ? r.replay->first : c.first;
    j["b"] = replayed ? r.replay->second : c.second;
    std::vector<int64_t> shapes[2] = {c.first_shape, c.second_shape};
    for (size_t k = 0; k < 2 && replayed; ++k)
      if (const auto& made = r.replay->runs[k].outputs; output < made.size() && made[output])
        shapes[k] = made[output]->shape;
    j["shapes"] = {{"a", shapes[0]}, {"b", shapes[1]}};
    j["allowed"] = c.allowed;
  } else {
    j["failure"] = failure;
  }
  j["replayed"] = replayed ? json(r.replay->runtime) : json();
  if (r.replay && !replayed) j["not_replayed"] = r.replay->why_not;
  j["starts"] = {{"a", names_of(g, c.start.a)}, {"b", names_of(g, c.start.b)}};
  return j;
}

/// "in floating point: 2 unknown, 1 rounding, 3 exact", and the first witness against.
std::string numerics_text(const ValidationReport& report) {
  if (!report.numerics || report.numerics->empty()) return {};
  std::map<Numerics, int> counts;
  std::string witness, list;
  for (const auto& [key, n] : *report.numerics) {
    ++counts[n.kind];
    if (witness.empty() && n.kind == Numerics::Unsafe)
      witness = report.validation.sweep.windows.at(key).window.text + ": " + n.witness;
  }
  for (const auto& [kind, count] : counts)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, to_string(kind));
  if (!witness.empty()) list += "\n  unsafe: " + printable(witness);
  return fmt::format("in floating point: {}\n", list);
}

std::string place_text(const std::vector<int64_t>& position) {
  return fmt::format("[{}]", fmt::join(position, ","));
}

std::string one_line_of(const json& j) {
  std::string s = to_text(j, -1);
  s.erase(s.find_last_not_of('\n') + 1);
  return s;
}

std::string joined(const json& names) {
  std::string s;
  for (const auto& n : names) s += (s.empty() ? "" : ", ") + n.get<std::string>();
  return s.empty() ? "nothing" : printable(s);
}

std::string counterexample_text(const ValidationReport& report) {
  json j = counterexample_json(report);
  std::string s = "counterexample";
  for (const auto& [name, size] : j["sizes"].items())
    s += fmt::format(" {}={}", printable(name), size.get<int64_t>());
  s += fmt::format("; inputs: {}\n", j["chosen"].get<std::string>());
  if (j.contains("failure"))
    s += fmt::format("  the second model fails: {}\n", printable(j["failure"].get<std::string>()));
  else if (j["position"].empty() && j["shapes"]["a"] != j["shapes"]["b"])
    s += fmt::format("  {} has shape {} in the first model, {} in the second\n",
                     printable(j["output"].get<std::string>()), one_line_of(j["shapes"]["a"]),
                     one_line_of(j["shapes"]["b"]));
  else
    s += fmt::format("  {}{} is {} in the first model, {} in the second\n",
                     printable(j["output"].get<std::string>()),
                     place_text(j["position"].get<std::vector<int64_t>>()), one_line_of(j["a"]),
                     one_line_of(j["b"]));
  s += j["replayed"].is_null()
           ? std::string("  not replayed in a runtime\n")
           : fmt::format("  replayed in {}, not optimised\n", j["replayed"].get<std::string>());
  s += fmt::format("  starts in the first model at {}\n  and in the second at {}\n",
                   joined(j["starts"]["a"]), joined(j["starts"]["b"]));
  return s;
}

}  // namespace

std::string value_name(const Graph& g, Value v) {
  const Node& n = g.node(v.node);
  auto k = static_cast<size_t>(v.output);
  if (k < n.names.size() && !n.names[k].empty()) return n.names[k];
  return fmt::format("{} {}", n.op ? n.op->name : "value", v.node);
}

Graph first_of(const verify::Pair& pair) {
  Graph g = pair.graph;
  g.set_outputs(pair.a);
  remove_dead(g);
  return g;
}
Graph second_of(const verify::Pair& pair) {
  Graph g = pair.graph;
  g.set_outputs(pair.b);
  remove_dead(g);
  return g;
}

std::vector<const verify::Open*> open_windows(const Validation& v) {
  std::vector<const verify::Open*> open;
  for (const verify::Open& o : v.sweep.open) open.push_back(&o);
  std::ranges::stable_sort(open, {},
                           [](const verify::Open* o) { return o->left.size() + o->right.size(); });
  return open;
}

std::map<std::string, NumericVerdict> numerics_of_windows(const verify::SweepReport& sweep,
                                                          uint64_t seed, int threads,
                                                          const Stop& stop) {
  std::vector<std::pair<const std::string*, const verify::Judged*>> used;
  for (const auto& [key, w] : sweep.windows)
    if (w.count > 0) used.emplace_back(&key, &w);
  std::vector<NumericVerdict> found(used.size());
  parallel_for(used.size(), threads, [&](size_t k) {
    if (!stop.must_end())
      found[k] = verify::judge_numerics(used[k].second->window.instance, seed).forward;
  });
  std::map<std::string, NumericVerdict> all;
  for (size_t k = 0; k < used.size(); ++k) all.emplace(*used[k].first, std::move(found[k]));
  return all;
}

int exit_code(Equivalence verdict) {
  if (Stop::was_interrupted()) return kInterrupted;
  if (verdict == Equivalence::Refuted) return kFailed;
  return verdict == Equivalence::Unknown ? kUndecided : kDone;
}

json json_of(const ValidationReport& report) {
  const Validation& v = report.validation;
  json j;
  j["verdict"] = to_string(v.verdict());
  j["interface"] = v.interface;
  j["fixed"] = report.fixed;
  j["outputs"] = json::array();
  for (const auto& o : v.outputs) {
    json one;
    one["a"] = o.a;
    one["b"] = o.b;
    one["verdict"] = to_string(o.verdict);
    one["reason"] = o.reason;
    j["outputs"].push_back(std::move(one));
  }
  j["nodes"] = {{"a", report.a.graph.node_count()}, {"b", report.b.graph.node_count()}};
  j["structural"] = std::ranges::count(v.sweep.outputs, verify::SweepReport::Structure);
  j["windows"] = windows_json(report);
  const certify::Basis windows = v.windows();
  j["kernel"] = {{"windows", {{"kernel", windows.kernel}, {"provers", windows.provers}}},
                 {"rules", {{"kernel", v.rules.kernel}, {"provers", v.rules.provers}}}};
  j["constants"] = constants_json(v);
  j["unknown"] = open_json(v);
  j["apart"] = json::array();
  if (v.verdict() == Equivalence::Unknown)
    for (int32_t id : v.sweep.apart) j["apart"].push_back(node_json(v.pair.graph, id));
  j["bodies"] = v.bodies;
  j["prepared"] = {{"a", v.proof.a.size()}, {"b", v.proof.b.size()}};
  bool found = report.refutation && report.refutation->counterexample;
  j["counterexample"] = found ? counterexample_json(report) : json();
  if (report.refutation) {
    j["searched"] = {{"runs", report.refutation->search.runs},
                     {"unfinished", report.refutation->search.unfinished}};
  }
  j["seconds"] = report.seconds;
  return j;
}

namespace {

/// As wide as a column.
std::string painted_verdict(Equivalence e) {
  const bool proved = e == Equivalence::Proved || e == Equivalence::UpToConstants;
  return painted(fmt::format("{:<24}", to_string(e)),
                 proved                      ? Colour::Green
                 : e == Equivalence::Refuted ? Colour::Red
                                             : Colour::Yellow,
                 results());
}

}  // namespace

std::string text_of(const ValidationReport& report) {
  const Validation& v = report.validation;
  std::string s;
  for (const std::string& d : v.interface) s += fmt::format("interface  {}\n", printable(d));
  for (const std::string& f : report.fixed)
    s += fmt::format("size       {}, as the second model has it\n", printable(f));
  for (const auto& o : v.outputs)
    s += fmt::format("{} {}{}\n", painted_verdict(o.verdict), printable(o.a),
                     o.reason.empty() ? "" : ": " + printable(o.reason));
  int64_t merges = 0, kinds = 0, constants = 0;
  double worst = 0;
  for (const auto& [key, w] : v.sweep.windows) merges += w.count, kinds += w.count > 0;
  for (const verify::Merge& m : v.sweep.merges)
    if (m.kind == verify::Merge::Constant && m.deviation.deviation > 0)
      ++constants, worst = std::max(worst, m.deviation.deviation);
  s += fmt::format("{} window{} proved as {} rule{}", merges, merges == 1 ? "" : "s", kinds,
                   kinds == 1 ? "" : "s");
  if (kinds > 0) s += ": " + to_string(v.windows());
  const certify::Basis& rules = v.rules;
  if (rules.kernel + rules.provers > 0) s += "; rules applied: " + to_string(rules);
  if (constants > 0)
    s += fmt::format("; {} {} rounded, by {:.1e} of the largest element at most", constants,
                     constants == 1 ? "constant is" : "constants are", worst);
  s += "\n" + numerics_text(report);
  if (report.refutation && report.refutation->counterexample && v.verdict() == Equivalence::Refuted)
    return s + counterexample_text(report);
  if (v.verdict() != Equivalence::Unknown) return s;
  auto open = open_windows(v);
  if (!open.empty()) s += "not decided: " + printable(open[0]->text) + "\n";
  return s;
}

}  // namespace regraft::cli
