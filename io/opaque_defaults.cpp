#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "io/opaque_form.h"

namespace regraft::io {
namespace {

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
}

}  // namespace regraft::io
