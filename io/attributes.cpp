#include "io/attributes.h"

#include <algorithm>
#include <array>

namespace regraft::io {
namespace {

/// Attributes that are lists even when they have one number; in ONNX a name has one kind
/// throughout.
constexpr std::array<std::string_view, 18> kLists = {"activation_params",
                                                     "axes",
                                                     "border",
                                                     "dilations",
                                                     "ends",
                                                     "kernel_shape",
                                                     "output_padding",
                                                     "output_shape",
                                                     "pads",
                                                     "perm",
                                                     "repeats",
                                                     "scales",
                                                     "shape",
                                                     "sizes",
                                                     "split",
                                                     "starts",
                                                     "steps",
                                                     "strides"};

bool is_list(std::string_view name) {
  return std::find(kLists.begin(), kLists.end(), name) != kLists.end();
}

}  // namespace

OnnxAttr neutral(const onnx::AttributeProto& a) {
  OnnxAttr out;
  bool numbers = a.has_i() || a.has_f() || a.has_s() || a.ints_size() > 0 || a.floats_size() > 0;
  bool empty_list =
      a.type() == onnx::AttributeProto::INTS || a.type() == onnx::AttributeProto::FLOATS;
  if (a.has_ref_attr_name() || !(numbers || empty_list)) {
    // An integer, a number or a text at its default value may be left out of the message.
    out.opaque = a.has_ref_attr_name() || a.type() != onnx::AttributeProto::STRING;
    if (a.has_t()) out.element = static_cast<DType>(a.t().data_type());
    return out;
  }
  if (a.has_i()) out.ints.push_back(a.i());
  out.ints.insert(out.ints.end(), a.ints().begin(), a.ints().end());
  if (a.has_f()) out.floats.push_back(static_cast<double>(a.f()));
  for (float f : a.floats()) out.floats.push_back(static_cast<double>(f));
  if (a.has_s()) out.text = a.s();
  return out;
}

onnx::AttributeProto attribute_proto(const std::string& name, const OnnxAttr& attr) {
  CHECK(!attr.opaque);
  onnx::AttributeProto a;
  a.set_name(name);
  bool list = is_list(name);
  if (!attr.floats.empty()) {
    a.set_type(list ? onnx::AttributeProto::FLOATS : onnx::AttributeProto::FLOAT);
    if (!list) a.set_f(static_cast<float>(attr.floats[0]));
    for (double f : attr.floats) {
      if (list) a.add_floats(static_cast<float>(f));
    }
  } else if (!attr.ints.empty() || list) {
    a.set_type(list ? onnx::AttributeProto::INTS : onnx::AttributeProto::INT);
    if (!list) a.set_i(attr.ints[0]);
    for (int64_t i : attr.ints) {
      if (list) a.add_ints(i);
    }
  } else {
    a.set_type(onnx::AttributeProto::STRING);
    a.set_s(attr.text);
  }
  return a;
}

}  // namespace regraft::io
