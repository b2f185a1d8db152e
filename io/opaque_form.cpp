#include "io/opaque_form.h"

#include <google/protobuf/unknown_field_set.h>

#include <map>
#include <set>
#include <string_view>
#include <vector>

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
      {"GridSample", {16, 20}},
      {"Identity", {1}},
      {"IsInf", {10}},
      {"IsNaN", {9}},
      {"LSTM", {7}},
      {"Less", {7}},
      {"LessOrEqual", {12}},
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
      {"Reshape", {5}},
      {"Resize", {10, 11, 13, 18}},
      {"ReverseSequence", {10}},
      {"RoiAlign", {10, 16}},
      {"Round", {11}},
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

}  // namespace regraft::io
