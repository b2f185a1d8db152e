// ONNX nodes as operator files see them, and what all exports share.
#include <charconv>

#include "ir/ops/define.h"

namespace regraft {

const std::vector<int64_t>* OnnxNode::ints(std::string_view name) const {
  auto it = attrs.find(std::string(name));
  return it == attrs.end() || it->second.opaque ? nullptr : &it->second.ints;
}
int64_t OnnxNode::integer(std::string_view name, int64_t fallback) const {
  const auto* v = ints(name);
  return v && v->size() == 1 ? (*v)[0] : fallback;
}
double OnnxNode::real(std::string_view name, double fallback) const {
  auto it = attrs.find(std::string(name));
  return it == attrs.end() || it->second.floats.size() != 1 ? fallback : it->second.floats[0];
}
std::string OnnxNode::text(std::string_view name, std::string_view fallback) const {
  auto it = attrs.find(std::string(name));
  return it == attrs.end() ? std::string(fallback) : it->second.text;
}
std::optional<std::vector<int64_t>> OnnxNode::constant_ints(size_t input) const {
  if (input >= inputs.size() || !inputs[input].present || !inputs[input].constant)
    return std::nullopt;
  auto v = inputs[input].constant->integers();
  if (!v) return std::nullopt;
  return *std::move(v);
}
std::optional<double> OnnxNode::constant_real(size_t input) const {
  if (input >= inputs.size() || !inputs[input].present || !inputs[input].constant)
    return std::nullopt;
  if (inputs[input].constant->count() != 1) return std::nullopt;
  auto v = inputs[input].constant->reals();
  if (!v) return std::nullopt;
  return (*v)[0];
}

std::optional<std::vector<Poly>> OnnxNode::sizes(size_t input) const {
  if (auto numbers = constant_ints(input))
    return std::vector<Poly>(numbers->begin(), numbers->end());
  if (input >= inputs.size() || !inputs[input].present || !inputs[input].sizes) return std::nullopt;
  const SizeTensor& t = *inputs[input].sizes;
  if (!is_integer(t.dtype)) return std::nullopt;
  std::vector<Poly> values;
  for (const SizeElement& e : t.elements) values.push_back(e.value);
  return values;
}

namespace ops {

std::optional<OnnxImport> import_by_name(const OpDef& op, const OnnxNode& node) {
  OnnxImport r;
  for (const auto& [name, value] : node.attrs)
    if (value.opaque || (op.int_attr(name) < 0 && op.real_attr(name) < 0)) return std::nullopt;
  int rank = rank_of(node, 0).value_or(0);
  for (const auto& a : op.ints) {
    const auto* given = node.ints(a.name);
    auto length = attr_length(a, rank);
    if (given)
      r.attrs.ints.push_back(polys(*given));
    else if (a.fallback && length)
      r.attrs.ints.emplace_back(*length, Poly(*a.fallback));
    else
      return std::nullopt;
    if (length && r.attrs.ints.back().size() != *length) return std::nullopt;
  }
  for (const auto& a : op.reals) r.attrs.reals.push_back({node.real(a.name, a.fallback), nullptr});
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (!node.inputs[k].present) return std::nullopt;
    r.operands.push_back(static_cast<int>(k));
  }
  int n = static_cast<int>(r.operands.size());
  if (n < op.min_arity || n > op.max_arity) return std::nullopt;
  return r;
}

Result<OnnxExport> export_by_name(const OpDef& op, const Attrs<Poly>& at,
                                  const std::vector<TensorType>& operands, Opset) {
  OnnxExport r;
  r.type = op.onnx[0];
  for (size_t k = 0; k < op.ints.size(); ++k) {
    ASSIGN_OR_RETURN(auto v, numbers(op.ints[k].name, at.ints[k]));
    r.attrs[std::string(op.ints[k].name)] = ints_attr(std::move(v));
  }
  for (size_t k = 0; k < op.reals.size(); ++k) {
    OnnxAttr a;
    a.floats = {at.reals[k].value};
    r.attrs[std::string(op.reals[k].name)] = a;
  }
  r.inputs = operand_inputs(static_cast<int>(operands.size()));
  return r;
}

std::vector<OnnxExport::Input> operand_inputs(int operands) {
  std::vector<OnnxExport::Input> r;
  for (int k = 0; k < operands; ++k) r.push_back({k, nullptr});
  return r;
}
OnnxExport::Input int_input(std::vector<int64_t> v) {
  auto n = static_cast<int64_t>(v.size());
  return {std::nullopt, Constant::of_ints({n}, v)};
}
Result<OnnxExport::Input> size_input(std::string_view what, std::vector<Poly> sizes) {
  for (const Poly& p : sizes)
    if (!computable(p))
      return error(std::string(what) + " " + to_string(p) + " is no function of input shapes");
  if (std::ranges::all_of(sizes, [](const Poly& p) { return p.is_constant(); })) {
    ASSIGN_OR_RETURN(auto v, numbers(what, sizes));
    return int_input(std::move(v));
  }
  return OnnxExport::Input{std::nullopt, nullptr, std::move(sizes)};
}

namespace {

std::string text_of(double x) {
  std::array<char, 32> digits;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
  return {digits.data(), end};
}

/// An Error when no operator set of the model has the operator for elements of that type.
Status check_form(const OpDef& op, DType type, Opset opset) {
  if (opset.microsoft && std::ranges::count(op.microsoft, type) > 0) return {};
  std::string what = std::string(op.onnx[0]) + " on " + to_string(type);
  auto row = std::ranges::find(op.types, type, &TypeSupport::type);
  if (row == op.types.end() || row->specified == kNever) return error("ONNX has no " + what);
  if (opset.version < row->specified)
    return error(what + " is newer than the model's opset " + std::to_string(opset.version));
  return {};
}

}  // namespace

Result<OnnxExport::Input> real_input(std::string_view what, double v, DType type) {
  auto constant = make_constant(type, {}, {v});
  if (constant->reals()->front() != v)
    return error(std::string(what) + " = " + text_of(v) + " is no " + to_string(type) + " number");
  return OnnxExport::Input{std::nullopt, std::move(constant)};
}

Result<Attrs<Poly>> export_attrs(const OpDef& op, const Attrs<Poly>& at,
                                 const std::vector<TensorType>& operands, Opset opset) {
  if (!op.has_onnx_form() || operands.empty())
    return error(std::string(op.name) + " has no ONNX form; fold it into a constant");
  RETURN_IF_ERROR(check_form(op, operands[static_cast<size_t>(op.type_operand)].dtype, opset));
  Attrs<Poly> normal = at;
  auto rank = static_cast<int64_t>(operands[0].shape->size());
  for (size_t k = 0; k < op.ints.size(); ++k)
    for (Poly& p : normal.ints[k])
      if (op.ints[k].kind == IntKind::Axis && p.is_constant() && p.constant() < 0)
        p = p + Poly(rank);
  return normal;
}

Status check_floats(const OnnxExport& form) {
  for (const auto& [name, attr] : form.attrs)
    for (double x : attr.floats)
      if (static_cast<double>(static_cast<float>(x)) != x)
        return error("attribute " + name + " = " + text_of(x) + " is no float32 number");
  return {};
}

Result<std::vector<int64_t>> numbers(std::string_view what, const std::vector<Poly>& v) {
  std::vector<int64_t> r;
  for (const Poly& p : v) {
    if (!p.is_constant())
      return error(std::string(what) + " is " + to_string(p) + ", not a number: no ONNX form");
    r.push_back(p.constant());
  }
  return r;
}

}  // namespace ops
}  // namespace regraft
