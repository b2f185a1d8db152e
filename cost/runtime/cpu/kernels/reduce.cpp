// Reductions, softmax and normalisations.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cost/runtime/cpu/kernels/loops.h"
#include "cost/runtime/cpu/kernels/strided.h"
#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

namespace {

using Call = Lowering::Call;

/// Neighbouring axes that are reduced, or not, as one.
struct Runs {
  Dims sizes;
  std::vector<char> reduced;
};

Runs runs_of(const Dims& shape, const std::vector<char>& reduced) {
  Runs r;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!r.sizes.empty() && r.reduced.back() == reduced[d]) {
      r.sizes.back() *= shape[d];
    } else {
      r.sizes.push_back(shape[d]);
      r.reduced.push_back(reduced[d]);
    }
  }
  return r;
}

enum class Reduce : uint8_t { Sum, Mean, Max };

/// [outer, size, inner] over the middle axis.
struct Reduction {
  Reduce kind = Reduce::Sum;
  int64_t outer = 1, size = 1, inner = 1;
  int threads = 1;
  void run(const float* x, float* y) const {
    parallel_loop(outer, outer * size * inner, threads, [&](int64_t o) {
      const float* from = x + o * size * inner;
      float* to = y + o * inner;
      if (inner == 1) {
        *to = kind == Reduce::Max ? max_of(from, size) : sum_of(from, size);
      } else {
        std::copy_n(from, inner, to);
        for (int64_t k = 1; k < size; ++k)
          (kind == Reduce::Max ? max_loop : add_loop)(to, from + k * inner, to, inner);
      }
      if (kind == Reduce::Mean)
        for (int64_t i = 0; i < inner; ++i) to[i] /= static_cast<float>(size);
    });
  }
};

/// A slot with the kept axes first, then the reduced ones.
int moved_back(Lowering& to, int from, const Runs& runs) {
  Dims dims, strides;
  Strided lie = strided(runs.sizes, Layout::Plain);
  for (char reduced : {0, 1})
    for (size_t k = 0; k < runs.sizes.size(); ++k) {
      if (runs.reduced[k] != reduced) continue;
      dims.push_back(runs.sizes[k]);
      strides.push_back(lie.strides[k]);
    }
  int into = to.scratch(plain_desc(dims));
  to.reorder(to.view(from, Desc(dims, kFloat, strides)), into);
  return into;
}

Status softmax_by_loop(Lowering& to, Value x, Value y, int64_t outer, int64_t size, int64_t inner) {
  int threads = to.options.threads;
  to.add_loop({to.read(x, Layout::Plain), to.write(y, Layout::Plain)},
              [outer, size, inner, threads](Pointers p) {
                parallel_loop(outer, outer * size * inner, threads, [&](int64_t o) {
                  const float* from = p[0] + o * size * inner;
                  float* into = p[1] + o * size * inner;
                  std::vector<float> most(from, from + inner), total(static_cast<size_t>(inner), 0);
                  for (int64_t k = 1; k < size; ++k)
                    max_loop(most.data(), from + k * inner, most.data(), inner);
                  for (int64_t k = 0; k < size; ++k) {
                    float* row = into + k * inner;
                    sub_loop(from + k * inner, most.data(), row, inner);
                    exp_loop(row, row, inner, 0, 0);
                    add_loop(total.data(), row, total.data(), inner);
                  }
                  for (int64_t k = 0; k < size; ++k)
                    div_loop(into + k * inner, total.data(), into + k * inner, inner);
                });
              });
  return {};
}

/// A slot with `v` broadcast to the last axes, from `axis` on, as one vector; -1: it varies over
/// the axes before.
int as_vector(Lowering& to, Value v, const Dims& shape, size_t axis) {
  Dims own = to.dims(v), tail(shape.begin() + static_cast<int64_t>(axis), shape.end());
  while (!own.empty() && own.size() > tail.size()) {
    if (own[0] != 1) return -1;
    own.erase(own.begin());
  }
  int from = to.read(v, Layout::Plain);
  Desc flat = plain_desc({product(tail)});
  if (own == tail) return to.view(from, flat);
  own.insert(own.begin(), tail.size() - own.size(), 1);
  Strided narrow = strided(own, Layout::Plain), wide = strided(tail, Layout::Plain);
  for (size_t d = 0; d < own.size(); ++d)
    if (own[d] == 1) narrow.strides[d] = 0;
  narrow.dims = wide.dims;
  merge_axes(narrow, wide);
  int into = to.scratch(flat);
  to.add_loop({from, into},
              [narrow, wide](Pointers p) { copy_strided(narrow, p[0], wide, p[1], 1); });
  return into;
}

Status lower_reduction(Lowering& to, const Call& call, Reduce kind) {
  Value x = call.node.inputs[0], y{call.id, 0};
  Dims shape = to.dims(x);
  std::vector<char> reduced(shape.size(), 0);
  for (int64_t a : call.at.ints[0])
    reduced[static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(shape.size()) : a)] = 1;
  Runs runs = runs_of(shape, reduced);
  int from = to.read(x, Layout::Plain);
  bool middle = std::count(runs.reduced.begin(), runs.reduced.end(), 1) <= 1;
  Reduction r;
  r.kind = kind;
  r.threads = to.options.threads;
  bool behind = false;
  for (size_t k = 0; k < runs.sizes.size(); ++k) {
    if (runs.reduced[k])
      r.size *= runs.sizes[k], behind = true;
    else if (middle && behind)
      r.inner *= runs.sizes[k];
    else
      r.outer *= runs.sizes[k];
  }
  if (!middle) from = moved_back(to, from, runs);
  to.add_loop({from, to.write(y, Layout::Plain)}, [r](Pointers p) { r.run(p[0], p[1]); });
  return {};
}

}  // namespace

Status lower_batch_norm(Lowering& to, const Call& call) {
  Layout layout = to.natural(call);
  Dims shape = to.dims(call.node.inputs[0]);
  int from = to.read(call.node.inputs[0], layout), into = to.write({call.id, 0}, layout);
  if (shape.size() > 5) {  // the library's limit
    Dims flat{shape[0], shape[1], product(std::span<const int64_t>(shape).subspan(2))};
    from = to.view(from, plain_desc(flat));
    into = to.view(into, plain_desc(flat));
  }
  using Norm = dnnl::batch_normalization_forward;
  using Flags = dnnl::normalization_flags;
  Norm::desc desc(dnnl::prop_kind::forward_inference, to.desc(from),
                  static_cast<float>(call.at.reals[0].value),
                  Flags::use_global_stats | Flags::use_scale | Flags::use_shift);
  auto vector = [&](size_t k) { return to.read(call.node.inputs[k], Layout::Plain); };
  to.add(Norm(Norm::primitive_desc(desc, engine())), {{DNNL_ARG_SRC, from},
                                                      {DNNL_ARG_DST, into},
                                                      {DNNL_ARG_SCALE, vector(1)},
                                                      {DNNL_ARG_SHIFT, vector(2)},
                                                      {DNNL_ARG_MEAN, vector(3)},
                                                      {DNNL_ARG_VARIANCE, vector(4)}});
  return {};
}

Status lower_layer_norm(Lowering& to, const Call& call) {
  Value x = call.node.inputs[0], y{call.id, 0};
  Dims shape = to.dims(x);
  int64_t given = call.at.ints[0][0];
  auto axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(shape.size()) : given);
  std::span<const int64_t> dims(shape);
  Desc flat = plain_desc({product(dims.first(axis)), product(dims.subspan(axis))});
  int from = to.view(to.read(x, Layout::Plain), flat),
      into = to.view(to.write(y, Layout::Plain), flat);
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, into}};
  auto flags = dnnl::normalization_flags::none;
  for (size_t k = 1; k < call.node.inputs.size(); ++k) {
    int slot = as_vector(to, call.node.inputs[k], shape, axis);
    if (slot < 0) return error("a scale or bias that varies over the axes in front of `axis`");
    args.emplace_back(k == 1 ? DNNL_ARG_SCALE : DNNL_ARG_SHIFT, slot);
    flags = flags |
            (k == 1 ? dnnl::normalization_flags::use_scale : dnnl::normalization_flags::use_shift);
  }
  using Norm = dnnl::layer_normalization_forward;
  Norm::desc desc(dnnl::prop_kind::forward_inference, flat,
                  static_cast<float>(call.at.reals[0].value), flags);
  to.add(Norm(Norm::primitive_desc(desc, engine())), std::move(args));
  return {};
}

Status lower_softmax(Lowering& to, const Call& call) {
  Value x = call.node.inputs[0], y{call.id, 0};
  Dims shape = to.dims(x);
  int64_t given = call.at.ints[0][0];
  auto axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(shape.size()) : given);
  std::span<const int64_t> dims(shape);
  int64_t outer = product(dims.first(axis)), inner = product(dims.subspan(axis + 1));
  if (inner != 1) return softmax_by_loop(to, x, y, outer, shape[axis], inner);
  Desc flat = plain_desc({outer, shape[axis]});
  using Softmax = dnnl::softmax_forward;
  Softmax::desc desc(dnnl::prop_kind::forward_inference, flat, 1);
  to.add(Softmax(Softmax::primitive_desc(desc, engine())),
         {{DNNL_ARG_SRC, to.view(to.read(x, Layout::Plain), flat)},
          {DNNL_ARG_DST, to.view(to.write(y, Layout::Plain), flat)}});
  return {};
}

Status lower_reduce_max(Lowering& to, const Call& call) {
  return lower_reduction(to, call, Reduce::Max);
}
Status lower_reduce_sum(Lowering& to, const Call& call) {
  return lower_reduction(to, call, Reduce::Sum);
}
Status lower_reduce_mean(Lowering& to, const Call& call) {
  return lower_reduction(to, call, Reduce::Mean);
}

}  // namespace regraft::cost::cpu
