#include "ir/ops/layers/window.h"

namespace regraft::ops {
namespace {

constexpr int64_t kMaxWindow = 1 << 20;  ///< a kernel's size, a stride, a pad or a dilation
constexpr int64_t kMaxSize = int64_t{1} << 46;

bool all_within(const std::vector<int64_t>& v, int64_t least) {
  return std::all_of(v.begin(), v.end(), [&](int64_t n) { return n >= least && n <= kMaxWindow; });
}

/// Within these limits nothing leaves int64.
struct Axis {
  int64_t size, kernel, stride, dilation, begin, end;
  int64_t reach() const { return dilation * (kernel - 1) + 1; }
  /// Elements that `count` windows span.
  int64_t span(int64_t count) const { return (count - 1) * stride + reach(); }
};

/// End pads that make the floor formula give what ceil_mode gives.
void ceil_to_end_pad(Axis& a) {
  int64_t room = a.size + a.begin + a.end - a.reach();
  if (room < 0) return;
  int64_t count = (room + a.stride - 1) / a.stride + 1;
  if ((count - 1) * a.stride >= a.size + a.begin) --count;  // a window may not start in the end pad
  a.end = std::max(a.end, a.span(count) - a.size - a.begin);
}

void same_pad(Axis& a, bool upper) {
  int64_t count = (a.size + a.stride - 1) / a.stride;
  int64_t total = std::max<int64_t>(0, a.span(count) - a.size);
  a.begin = upper ? total / 2 : total - total / 2;
  a.end = total - a.begin;
}

Status pool_limits(std::string_view type, const Attrs<Poly>& at, const Shape& x) {
  std::string name(type);
  const auto &kernel = at.ints[0], &pads = at.ints[2];
  if (kernel.size() > 3) return error(name + " over more than three axes does not run");
  for (size_t d = 0; d < pads.size(); ++d)
    if (kernel[d % kernel.size()].constant() <= pads[d].constant())
      return error(name + " whose pads are as large as its kernel does not run");
  if (has_zero(std::span(x).subspan(1))) return error(name + " of nothing does not run");
  return {};
}

}  // namespace

Result<OnnxExport> pool_form(std::string_view type, std::span<const std::string_view> names,
                             const Attrs<Poly>& at, const TensorType& x, int opset,
                             int dilations_since) {
  constexpr size_t kDilations = 3;
  OnnxExport r;
  r.type = std::string(type);
  r.inputs = operand_inputs(1);
  for (size_t k = 0; k < names.size(); ++k) {
    ASSIGN_OR_RETURN(auto v, numbers(names[k], at.ints[k]));
    bool ones = std::all_of(v.begin(), v.end(), [](int64_t n) { return n == 1; });
    if (k == kDilations && ones) continue;
    if (k == kDilations && opset < dilations_since)
      return error(r.type + " with dilations needs opset " + std::to_string(dilations_since));
    r.attrs[std::string(names[k])] = ints_attr(v);
  }
  RETURN_IF_ERROR(pool_limits(type, at, *x.shape));
  return r;
}

std::optional<OnnxWindow> onnx_window(const OnnxNode& node, const std::vector<int64_t>& kernel,
                                      CeilMode ceil) {
  size_t n = kernel.size();
  std::vector<int64_t> ones(n, 1), zeros(2 * n, 0);
  auto get = [&](const char* name, const std::vector<int64_t>& fallback) {
    const auto* v = node.ints(name);
    return v ? *v : fallback;
  };
  auto strides = get("strides", ones), dilations = get("dilations", ones),
       pads = get("pads", zeros);
  if (strides.size() != n || dilations.size() != n || pads.size() != 2 * n) return std::nullopt;
  std::string mode = node.text("auto_pad", "NOTSET");
  bool same_mode = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same_mode && mode != "NOTSET" && mode != "VALID") return std::nullopt;
  if (mode == "VALID") pads = zeros;
  if (!all_within(kernel, 1) || !all_within(strides, 1) || !all_within(dilations, 1) ||
      !all_within(pads, 0))
    return std::nullopt;
  // onnxruntime's pools, which have a ceil_mode, take no account of dilations there
  bool spread = std::ranges::any_of(dilations, [](int64_t k) { return k > 1; });
  if (same_mode && spread && ceil != CeilMode::Ignore) return std::nullopt;
  bool by_ceil = node.integer("ceil_mode", 0) != 0 && ceil != CeilMode::Ignore && !same_mode;
  const auto& shape = node.inputs[0].type.shape;
  if (!shape || shape->size() != n + 2) return std::nullopt;
  for (size_t d = 0; d < n && (same_mode || by_ceil); ++d) {
    const Poly& size = (*shape)[d + 2];
    if (!size.is_constant() || size.constant() > kMaxSize) return std::nullopt;
    Axis a{size.constant(), kernel[d], strides[d], dilations[d], pads[d], pads[d + n]};
    if (same_mode) same_pad(a, mode == "SAME_UPPER");
    if (by_ceil) ceil_to_end_pad(a);
    if (by_ceil && a.end != pads[d + n] && ceil == CeilMode::Refuse) return std::nullopt;
    pads[d] = a.begin;
    pads[d + n] = a.end;
  }
  return OnnxWindow{polys(strides), polys(pads), polys(dilations)};
}

}  // namespace regraft::ops
