#include "io/opaque_form.h"

#include <google/protobuf/unknown_field_set.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace regraft::io {
namespace {

/// Opsets at which an operator of the default domain began to mean something else. Source: ONNX's
/// changelog of operators.
const std::map<std::string_view, std::vector<int64_t>>& meanings() {
  static const std::map<std::string_view, std::vector<int64_t>> table = {
      {"Abs", {6}},
      {"Add", {7}},
      {"And", {7}},
      {"ArgMax", {1}},
      {"ArgMin", {1}},
      {"BitShift", {11}},
      {"Cast", {6}},
      {"CastLike", {15}},
      {"Ceil", {1}},
      {"Clip", {11}},
      {"Compress", {9}},
      {"Concat", {4}},
      {"ConstantOfShape", {9}},
      {"ConvInteger", {10}},
      {"CumSum", {11}},
      {"DepthToSpace", {11}},
      {"DequantizeLinear", {10}},
      {"Det", {11}},
      {"Div", {7}},
      {"DynamicQuantizeLinear", {11}},
      {"Einsum", {12}},
      {"Equal", {7}},
      {"Expand", {8}},
      {"EyeLike", {9}},
      {"Floor", {1}},
      {"GRU", {7}},
      {"Gather", {1}},
      {"GatherElements", {11}},
      {"GatherND", {11, 12}},
      {"Greater", {7}},
      {"GreaterOrEqual", {12}},
      {"GridSample", {16}},
      {"Identity", {1}},
      {"If", {1}},
      {"IsInf", {10}},
      {"IsNaN", {9}},
      {"LSTM", {7}},
      {"Less", {7}},
      {"LessOrEqual", {12}},
      {"Loop", {1}},
      {"MatMul", {1}},
      {"MatMulInteger", {10}},
      {"Max", {8}},
      {"MaxRoiPool", {1}},
      {"MaxUnpool", {9}},
      {"Min", {8}},
      {"Mod", {10}},
      {"Mul", {7}},
      {"Neg", {6}},
      {"NonMaxSuppression", {10}},
      {"NonZero", {9}},
      {"Not", {1}},
      {"OneHot", {9}},
      {"Or", {7}},
      {"Pad", {11}},
      {"Pow", {7}},
      {"QLinearConv", {10}},
      {"QLinearMatMul", {10}},
      {"QuantizeLinear", {10}},
      {"RNN", {7}},
      {"Range", {11}},
      {"ReduceL1", {1}},
      {"ReduceL2", {1}},
      {"ReduceLogSum", {1}},
      {"ReduceLogSumExp", {1}},
      {"ReduceMax", {1}},
      {"ReduceMean", {1}},
      {"ReduceMin", {1}},
      {"ReduceProd", {1}},
      {"ReduceSum", {1}},
      {"ReduceSumSquare", {1}},
      {"Reshape", {5}},
      {"Resize", {10, 11}},
      {"ReverseSequence", {10}},
      {"RoiAlign", {10, 16}},
      {"Round", {11}},
      {"Scan", {9}},
      {"ScatterElements", {11}},
      {"ScatterND", {11}},
      {"Shape", {1}},
      {"Sign", {9}},
      {"Size", {1}},
      {"Slice", {10}},
      {"Squeeze", {13}},
      {"Sub", {7}},
      {"Tile", {6}},
      {"TopK", {10, 11}},
      {"Transpose", {1}},
      {"Trilu", {14}},
      {"Unique", {11}},
      {"Unsqueeze", {13}},
      {"Where", {9}},
      {"Xor", {7}},
  };
  return table;
}

using Attributes = std::vector<onnx::AttributeProto>;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

/// Of "name:kind=value".
onnx::AttributeProto attribute_of(const std::string& text) {
  size_t colon = text.find(':'), equals = text.find('=');
  std::string kind = text.substr(colon + 1, equals - colon - 1), value = text.substr(equals + 1);
  onnx::AttributeProto a;
  a.set_name(text.substr(0, colon));
  if (kind == "int") {
    a.set_type(onnx::AttributeProto::INT);
    a.set_i(std::stoll(value));
  } else if (kind == "float") {
    a.set_type(onnx::AttributeProto::FLOAT);
    a.set_f(std::strtof(value.c_str(), nullptr));
  } else if (kind == "string") {
    a.set_type(onnx::AttributeProto::STRING);
    a.set_s(value);
  } else if (kind == "ints") {
    a.set_type(onnx::AttributeProto::INTS);
    for (const auto& part : split(value, ',')) a.add_ints(std::stoll(part));
  } else {
    CHECK(kind == "strings");
    a.set_type(onnx::AttributeProto::STRINGS);
    for (const auto& part : split(value, ',')) a.add_strings(part);
  }
  return a;
}

Attributes attributes_of(const char* row) {
  Attributes all;
  for (const std::string& text : split(row, ' ')) all.push_back(attribute_of(text));
  return all;
}

/// By type, and by the opset from which they hold.
const std::map<std::string, std::map<int64_t, Attributes>, std::less<>>& table() {
  static const auto* rows = [] {
    auto* made = new std::map<std::string, std::map<int64_t, Attributes>, std::less<>>;
#define REGRAFT_DEFAULTS(type, since, row) (*made)[#type][since] = attributes_of(row);
#include "io/opaque_defaults.def"
#undef REGRAFT_DEFAULTS
    return made;
  }();
  return *rows;
}

/// As opset 20 calls the ways to interpolate.
void rename_modes(onnx::NodeProto& node) {
  for (auto& a : *node.mutable_attribute()) {
    if (a.name() != "mode") continue;
    if (a.s() == "bilinear") a.set_s("linear");
    if (a.s() == "bicubic") a.set_s("cubic");
  }
}

}  // namespace

int64_t meaning_version(const onnx::NodeProto& node, int64_t opset) {
  if (!is_default_domain(node.domain())) return opset;
  auto it = meanings().find(node.op_type());
  if (it == meanings().end()) return opset;
  int64_t version = opset;
  for (int64_t v : it->second)
    if (v <= opset) version = v;
  return version;
}

void clear_metadata(onnx::NodeProto& node) {
  constexpr int kMetadata = 9;  // a field of later versions than the messages that are linked
  auto* unknown = node.GetReflection()->MutableUnknownFields(&node);
  unknown->DeleteByNumber(kMetadata);
}

void clear_optional_outputs(onnx::NodeProto& node) {
  static const std::set<std::string, std::less<>> kOptional = {"GRU", "LSTM", "RNN", "TopK",
                                                               "Unique"};
  if (is_default_domain(node.domain()) && kOptional.contains(node.op_type())) node.clear_output();
}

namespace {

/// The newest opset at which a node of `opset` means the same: what later opsets let one say more
/// has a default that is what was before.
int64_t newest_of_meaning(const onnx::NodeProto& node, int64_t opset) {
  constexpr int64_t kNewest = 26;
  const int64_t meaning = meaning_version(node, opset);
  int64_t newest = opset;
  for (int64_t v = opset + 1; v <= kNewest && meaning_version(node, v) == meaning; ++v) newest = v;
  return newest;
}

}  // namespace

void add_defaults(onnx::NodeProto& node, int64_t opset) {
  if (!is_default_domain(node.domain())) return;
  auto type = table().find(node.op_type());
  if (type == table().end()) return;
  auto row = type->second.upper_bound(newest_of_meaning(node, opset));
  if (row == type->second.begin()) return;
  std::set<std::string> present;
  for (const auto& a : node.attribute()) present.insert(a.name());
  for (const onnx::AttributeProto& a : std::prev(row)->second)
    if (!present.contains(a.name())) *node.add_attribute() = a;
  if (node.op_type() == "GridSample" && opset < 20) rename_modes(node);
}

}  // namespace regraft::io
