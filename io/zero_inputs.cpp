// Optional inputs of recurrent operators that say what their absence says. Source: ONNX LSTM, GRU,
// RNN: the initial state, the initial cell and the peepholes are 0 where they are not given.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "io/proto.h"

namespace regraft::io {
namespace {

constexpr int64_t kMaxCompared = 1 << 16;  ///< elements
constexpr int kMaxSteps = 16;              ///< nodes between a constant and its use

bool is_zero(const Constant& c) {
  if (c.count() > kMaxCompared) return false;
  auto bytes = c.bytes();
  return bytes && std::ranges::all_of(*bytes, [](std::byte b) { return b == std::byte{0}; });
}

/// Does it fill its result with zeros?
bool makes_zeros(const onnx::NodeProto& node) {
  for (const auto& a : node.attribute()) {
    if (a.name() != "value" || !a.has_t()) return false;
    const onnx::TensorProto& t = a.t();
    auto zero = [](auto x) { return x == 0 && !std::signbit(static_cast<double>(x)); };
    bool one = t.raw_data().size() + static_cast<size_t>(t.float_data_size()) > 0;
    return one && std::ranges::all_of(t.raw_data(), zero) &&
           std::ranges::all_of(t.float_data(), zero);
  }
  return true;
}

class Zeros {
 public:
  Zeros(const Graph& graph, const Model& model) : graph_(graph), model_(model) {}

  bool holds(Value v, int steps = kMaxSteps) const {
    if (v.node < 0 || steps == 0) return false;
    const Node& n = graph_.node(v.node);
    if (n.kind == NodeKind::Constant) return is_zero(*n.constant);
    if (n.kind == NodeKind::Call)
      return n.op->work == Work::Movement && n.op->typed == &one_type && n.attrs.reals.empty() &&
             !n.inputs.empty() &&
             std::ranges::all_of(n.inputs, [&](Value w) { return holds(w, steps - 1); });
    if (n.kind != NodeKind::Opaque || n.origin < 0) return false;
    const auto index = static_cast<size_t>(n.origin);
    if (index >= model_.nodes.size()) return false;
    const onnx::NodeProto& proto = *model_.nodes[index];
    if (!proto.domain().empty()) return false;
    if (proto.op_type() == "ConstantOfShape") return makes_zeros(proto);
    static const std::set<std::string, std::less<>> kMoves = {
        "Slice", "Expand", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Gather", "Identity"};
    return kMoves.contains(proto.op_type()) && holds(model_.imprints[index].inputs[0], steps - 1);
  }

 private:
  const Graph& graph_;
  const Model& model_;
};

}  // namespace

void drop_zero_inputs(const Graph& graph, Model& model, size_t index) {
  static const std::map<std::string, std::vector<size_t>, std::less<>> kZeroIfAbsent = {
      {"LSTM", {5, 6, 7}}, {"GRU", {5}}, {"RNN", {5}}};
  const onnx::NodeProto& proto = *model.nodes[index];
  auto optional = kZeroIfAbsent.find(proto.op_type());
  if (!proto.domain().empty() || optional == kZeroIfAbsent.end()) return;
  auto& inputs = model.imprints[index].inputs;
  for (size_t k : optional->second)
    if (k < inputs.size() && Zeros(graph, model).holds(inputs[k])) inputs[k] = Value{};
}

}  // namespace regraft::io
