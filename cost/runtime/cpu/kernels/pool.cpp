// Windows without weights, resizing.
#include <algorithm>

#include "cost/runtime/cpu/kernels/loops.h"
#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

namespace {

using Call = Lowering::Call;
using dnnl::algorithm;

struct PoolWindow {
  algorithm kind = algorithm::pooling_max;
  Dims kernel, strides, dilations, begins, ends;
};

PoolWindow window_of(const Call& call, algorithm kind) {
  const auto& ints = call.at.ints;
  auto axes = static_cast<int64_t>(ints[0].size());
  PoolWindow w;
  w.kind = kind;
  w.kernel = ints[0];
  w.strides = ints[1];
  w.begins.assign(ints[2].begin(), ints[2].begin() + axes);
  w.ends.assign(ints[2].begin() + axes, ints[2].end());
  for (int64_t d : ints[3]) w.dilations.push_back(d - 1);
  return w;
}

/// All of each channel.
PoolWindow whole_window(Lowering& to, const Call& call) {
  Dims x = to.dims(call.node.inputs[0]);
  size_t axes = x.size() - 2;
  PoolWindow w;
  w.kind = algorithm::pooling_avg_exclude_padding;
  w.kernel.assign(x.begin() + 2, x.end());
  w.strides.assign(axes, 1);
  w.dilations = w.begins = w.ends = Dims(axes, 0);
  return w;
}

dnnl::primitive pooling(const PoolWindow& w, const Desc& x, const Desc& y) {
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  bool dense =
      std::all_of(w.dilations.begin(), w.dilations.end(), [](int64_t d) { return d == 0; });
  if (dense) {
    using Pool = dnnl::pooling_forward;  // has faster implementations than the one with dilations
    Pool::desc desc(kind, w.kind, x, y, w.strides, w.kernel, w.begins, w.ends);
    return Pool(Pool::primitive_desc(desc, engine()));
  }
  using Pool = dnnl::pooling_v2_forward;
  Pool::desc desc(kind, w.kind, x, y, w.strides, w.kernel, w.dilations, w.begins, w.ends);
  return Pool(Pool::primitive_desc(desc, engine()));
}

/// Linear between neighbours along one axis, as three axes: before, along, after.
struct AxisResize {
  int64_t outer, size, inner, factor;
  bool half_pixel;
  void run(const float* x, float* y, int threads) const {
    parallel_loop(outer, outer * size * factor * inner, threads, [&](int64_t o) {
      for (int64_t i = 0; i < size * factor; ++i) {
        // The place in x is numerator / denominator.
        int64_t numerator = half_pixel ? 2 * i + 1 - factor : i,
                denominator = half_pixel ? 2 * factor : factor;
        int64_t left = numerator >= 0 ? numerator / denominator : -1;
        float weight =
            static_cast<float>(numerator - left * denominator) / static_cast<float>(denominator);
        const float* row = x + o * size * inner;
        blend_loop(row + std::max<int64_t>(left, 0) * inner,
                   row + std::min(left + 1, size - 1) * inner, weight,
                   y + (o * size * factor + i) * inner, inner);
      }
    });
  }
};

void resize_by_axes(Lowering& to, const Call& call) {
  Dims shape = to.dims(call.node.inputs[0]);
  int from = to.read(call.node.inputs[0], Layout::Plain);
  bool half = call.at.ints[1][0] != 0;
  int threads = to.options.threads;
  for (size_t d = 2; d < shape.size(); ++d) {
    std::span<const int64_t> dims(shape);
    int64_t factor = call.at.ints[0][d - 2];
    AxisResize axis{product(dims.first(d)), shape[d], product(dims.subspan(d + 1)), factor, half};
    shape[d] *= factor;
    bool last = d + 1 == shape.size();
    int into = last ? to.write({call.id, 0}, Layout::Plain) : to.scratch(plain_desc(shape));
    to.add_loop({from, into}, [axis, threads](Pointers p) { axis.run(p[0], p[1], threads); });
    from = into;
  }
}

Status lower_pool(Lowering& to, const Call& call, const PoolWindow& w) {
  if (to.graph.shape(call.node.inputs[0]).size() > 5) return error("more than three spatial axes");
  Layout layout = to.natural(call);
  int from = to.read(call.node.inputs[0], layout), into = to.write({call.id, 0}, layout);
  to.add(pooling(w, to.desc(from), to.desc(into)), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, into}});
  return {};
}

Status resize(Lowering& to, const Call& call, algorithm kind) {
  Layout layout = to.natural(call);
  int from = to.read(call.node.inputs[0], layout), into = to.write({call.id, 0}, layout);
  using Resize = dnnl::resampling_forward;
  Resize::desc desc(dnnl::prop_kind::forward_inference, kind, to.desc(from), to.desc(into));
  to.add(Resize(Resize::primitive_desc(desc, engine())),
         {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, into}});
  return {};
}

}  // namespace

Status lower_max_pool(Lowering& to, const Call& call) {
  return lower_pool(to, call, window_of(call, algorithm::pooling_max));
}

Status lower_average_pool(Lowering& to, const Call& call) {
  bool padding = call.at.ints[4][0] != 0;
  return lower_pool(to, call,
                    window_of(call, padding ? algorithm::pooling_avg_include_padding
                                            : algorithm::pooling_avg_exclude_padding));
}

Status lower_global_average_pool(Lowering& to, const Call& call) {
  return lower_pool(to, call, whole_window(to, call));
}

Status lower_resize_nearest(Lowering& to, const Call& call) {
  if (to.graph.shape(call.node.inputs[0]).size() > 5) return error("more than three spatial axes");
  return resize(to, call, algorithm::resampling_nearest);
}

Status lower_resize_linear(Lowering& to, const Call& call) {
  bool asymmetric = call.at.ints[1][0] == 0;
  if (!asymmetric && to.natural(call) == Layout::Blocked &&
      to.graph.shape(call.node.inputs[0]).size() <= 5)
    return resize(to, call, algorithm::resampling_linear);
  resize_by_axes(to, call);
  return {};
}

}  // namespace regraft::cost::cpu
