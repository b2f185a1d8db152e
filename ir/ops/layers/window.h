#pragma once
// What convolution and pooling share: sliding windows over the spatial axes.
#include "ir/ops/define.h"

namespace regraft::ops {

/// Strides, pads (all begins, then all ends) and dilations of the spatial axes.
template <class I>
struct Window {
  const std::vector<I>&strides, &pads, &dilations;
  size_t axes() const { return strides.size(); }
};

/// Output size along one axis of n elements with a kernel of k; states that the kernel fits.
template <Algebra A, class I = typename A::Index>
I window_size(A& alg, const Window<I>& w, size_t axis, const I& n, const I& k) {
  const I &begin = w.pads[axis], &end = w.pads[axis + w.axes()], &dilation = w.dilations[axis];
  alg.require(I(1) <= k);
  alg.require(I(1) <= dilation);
  alg.require(I(0) <= begin);
  alg.require(I(0) <= end);
  I reach = dilation * (k - I(1)) + I(1);
  alg.require(reach <= n + begin + end);
  return alg.floordiv(n + begin + end - reach, w.strides[axis]) + I(1);
}

/// Position in the padded input, along one axis, of kernel element k under output element o.
template <class I>
I window_position(const Window<I>& w, size_t axis, const I& o, const I& k) {
  return o * w.strides[axis] + k * w.dilations[axis] - w.pads[axis];
}

/// The ONNX form of a pooling, whose integer attributes have these names there and begin with
/// kernel, strides, pads, dilations. An Error for what runtimes refuse: pads as large as the
/// kernel, more than three spatial axes, nothing to pool.
Result<OnnxExport> pool_form(std::string_view type, std::span<const std::string_view> names,
                             const Attrs<Poly>& at, const TensorType& x, int opset,
                             int dilations_since);

/// Strides, pads and dilations of an ONNX node whose kernel has these sizes; resolves auto_pad and
/// ceil_mode (into end pads). nullopt when that needs sizes that are not numbers, or one of them is
/// absurdly large.
struct OnnxWindow {
  std::vector<Poly> strides, pads, dilations;
};
enum class CeilMode : uint8_t { Ignore, AsEndPads, Refuse };
std::optional<OnnxWindow> onnx_window(const OnnxNode& node, const std::vector<int64_t>& kernel,
                                      CeilMode ceil);

}  // namespace regraft::ops
