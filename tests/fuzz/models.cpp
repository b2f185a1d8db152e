#include "tests/fuzz/models.h"

#include "ir/graph/fold.h"
#include "ir/ops/op.h"
#include "tests/fuzz/fuzz.h"

namespace regraft::fuzz {
namespace {

constexpr int64_t kFoldBytes = int64_t{1} << 20;

void check_graph(const Graph& g) {
  Status valid = validate(g);
  CLAIM(valid.ok(), valid.error().message);
  CLAIM(topological_order(g).has_value(), "no cycle");
}

std::vector<std::string> interface_of(const Graph& g) {
  std::vector<std::string> names;
  auto add = [&](Value v) {
    const auto& of_node = g.node(v.node).names;
    auto k = static_cast<size_t>(v.output);
    names.push_back(k < of_node.size() ? of_node[k] : "");
  };
  for (Value v : g.inputs()) add(v);
  for (Value v : g.outputs()) add(v);
  return names;
}

/// Writes the graph and reads it back; nothing when it cannot be written.
std::optional<io::Imported> there_and_back(const io::Imported& original, const Graph& g) {
  auto bytes = io::serialise(original, g);
  if (!bytes) {
    check_message(bytes.error());
    return std::nullopt;
  }
  auto again = io::parse(*bytes, "again");
  CLAIM(again.has_value(), again.error().message);
  check_graph(again->graph);
  CLAIM(interface_of(again->graph) == interface_of(original.graph), "inputs and outputs stay");
  return *std::move(again);
}

}  // namespace

const std::vector<std::string>& onnx_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> w = {"",
                                  "ai.onnx",
                                  "location",
                                  "offset",
                                  "length",
                                  "Identity",
                                  "Constant",
                                  "Cast",
                                  "Shape",
                                  "If",
                                  "Loop",
                                  "Dropout",
                                  "ConstantOfShape",
                                  "Squeeze",
                                  "Expand",
                                  "Where",
                                  "Range",
                                  "Unsqueeze",
                                  "Flatten",
                                  "Tile",
                                  "value",
                                  "to"};
    for (const OpDef* op : all_ops()) {
      w.insert(w.end(), op->onnx.begin(), op->onnx.end());
      for (const IntAttr& a : op->ints) w.emplace_back(a.name);
      for (const RealAttr& a : op->reals) w.emplace_back(a.name);
    }
    return w;
  }();
  return words;
}

void check_model(const io::Imported& imported) {
  check_graph(imported.graph);
  io::summarise(imported, imported.graph);
  if (auto same = there_and_back(imported, imported.graph))
    CLAIM(structural_hash(same->graph) == structural_hash(imported.graph),
          "read as it was written");
  auto folded = fold(canonical(imported.graph), kFoldBytes);
  if (!folded) return check_message(folded.error());
  check_graph(folded->graph);
  there_and_back(imported, folded->graph);
}

}  // namespace regraft::fuzz
