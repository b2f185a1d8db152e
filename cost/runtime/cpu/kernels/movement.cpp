// Data movement: loops over strided arrays, in the blocked layout too where blocks stay whole.
#include <algorithm>
#include <cstring>

#include "cost/runtime/cpu/kernels/loops.h"
#include "cost/runtime/cpu/kernels/strided.h"
#include "cost/runtime/cpu/lower.h"

namespace regraft::cost::cpu {

namespace {

using Call = Lowering::Call;

int axis_of(int64_t axis, size_t rank) {
  return static_cast<int>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

/// Copies one strided array to another of equal dims.
void add_copy(Lowering& to, int from, Strided source, int into, Strided target) {
  merge_axes(source, target);
  int threads = to.options.threads;
  to.add_loop({from, into}, [source, target, threads](Pointers p) {
    copy_strided(source, p[0], target, p[1], threads);
  });
}

/// The part of an array that starts at `begins` (in elements of `shape`, whole blocks).
Strided part(const Dims& shape, Layout layout, const Dims& begins, const Dims& sizes,
             const Dims& steps) {
  Strided whole = strided(shape, layout), cut = strided(sizes, layout);
  whole.dims = cut.dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t begin = layout == Layout::Blocked && d == 1 ? begins[d] / block_width() : begins[d];
    whole.offset += begin * whole.strides[d];
    whole.strides[d] *= steps[d];
  }
  return whole;
}

bool whole_blocks(int64_t channels) { return channels % block_width() == 0; }

}  // namespace

Status lower_slice(Lowering& to, const Call& call) {
  Value x = call.node.inputs[0], y{call.id, 0};
  const Dims &begins = call.at.ints[0], &sizes = call.at.ints[1], &steps = call.at.ints[2];
  Dims shape = to.dims(x);
  Layout layout = to.natural(call);
  if (layout == Layout::Blocked) {
    bool all = begins[1] == 0 && sizes[1] == shape[1] && steps[1] == 1;
    bool some = whole_blocks(begins[1]) && whole_blocks(sizes[1]) && steps[1] == 1;
    if (!all && !some) layout = Layout::Plain;
  }
  int from = to.read(x, layout);
  add_copy(to, from, part(shape, layout, begins, sizes, steps), to.write(y, layout),
           strided(sizes, layout));
  return {};
}

Status lower_pad(Lowering& to, const Call& call) {
  Value x = call.node.inputs[0], y{call.id, 0};
  Dims shape = to.dims(x), out = to.dims(y);
  Layout layout = to.natural(call);
  if (layout == Layout::Blocked && (!whole_blocks(shape[1]) || out[1] != shape[1]))
    layout = Layout::Plain;
  auto value = static_cast<float>(call.at.reals[0].value);
  int from = to.read(x, layout), into = to.write(y, layout);
  auto count = static_cast<int64_t>(to.program.floats(into));
  to.add_loop({into}, [count, value](Pointers p) { std::fill_n(p[0], count, value); });
  Dims ones(shape.size(), 1);
  add_copy(
      to, from, strided(shape, layout), into,
      part(out, layout,
           {call.at.ints[0].begin(), call.at.ints[0].begin() + static_cast<int64_t>(shape.size())},
           shape, ones));
  return {};
}

Status lower_transpose(Lowering& to, const Call& call) {
  Value x = call.node.inputs[0], y{call.id, 0};
  Dims out = to.dims(y);
  if (out.empty()) return error("a scalar has no axes");
  Strided in = strided(to.dims(x), Layout::Plain);
  Dims strides;
  for (int64_t p : call.at.ints[0]) strides.push_back(in.strides[static_cast<size_t>(p)]);
  Desc turned(out, kFloat, strides);
  to.reorder(to.view(to.read(x, Layout::Plain), turned), to.write(y, Layout::Plain));
  return {};
}

Status lower_reshape(Lowering& to, const Call& call) {
  Value y{call.id, 0};
  int from = to.read(call.node.inputs[0], Layout::Plain);
  to.define(y, Layout::Plain, to.view(from, plain_desc(to.dims(y))));
  return {};
}

/// Rows and floats of a row from `axis` on; in the blocked layout axis 1 counts blocks.
std::pair<int64_t, int64_t> rows(const Dims& shape, Layout layout, int axis) {
  Strided s = strided(shape, layout);
  std::span<const int64_t> dims(s.dims);
  auto cut = static_cast<size_t>(axis);
  return {product(dims.first(cut)), product(dims.subspan(cut))};
}

/// Between one whole array and parts of its rows, in either direction.
void add_rows(Lowering& to, int whole, const std::vector<int>& parts,
              const std::vector<int64_t>& widths, int64_t count, bool joins) {
  std::vector<int> slots = parts;
  slots.push_back(whole);
  int threads = to.options.threads;
  to.add_loop(slots, [widths, count, joins, threads](Pointers p) {
    int64_t total = 0;
    for (int64_t w : widths) total += w;
    parallel_loop(count, count * total, threads, [&](int64_t row) {
      float* here = p.back() + row * total;
      for (size_t k = 0; k < widths.size(); ++k) {
        float* other = p[k] + row * widths[k];
        auto bytes = static_cast<size_t>(widths[k]) * sizeof(float);
        std::memcpy(joins ? here : other, joins ? other : here, bytes);
        here += widths[k];
      }
    });
  });
}

Status lower_concat(Lowering& to, const Call& call) {
  Value y{call.id, 0};
  Layout layout = to.natural(call);
  int axis = axis_of(call.at.ints[0][0], to.dims(y).size());
  const auto& in = call.node.inputs;
  if (axis == 1 && layout == Layout::Blocked)
    for (size_t k = 0; k + 1 < in.size(); ++k)
      if (!whole_blocks(to.dims(in[k])[1])) layout = Layout::Plain;
  std::vector<int> parts;
  std::vector<int64_t> widths;
  for (Value v : in) {
    parts.push_back(to.read(v, layout));
    widths.push_back(rows(to.dims(v), layout, axis).second);
  }
  int64_t count = rows(to.dims(y), layout, axis).first;
  add_rows(to, to.write(y, layout), parts, widths, count, true);
  return {};
}

Status lower_split(Lowering& to, const Call& call) {
  Value x = call.node.inputs[0];
  Layout layout = to.natural(call);
  int axis = axis_of(call.at.ints[0][0], to.dims(x).size());
  const Dims& sizes = call.at.ints[1];
  if (axis == 1 && layout == Layout::Blocked &&
      !std::all_of(sizes.begin(), sizes.end(), whole_blocks))
    layout = Layout::Plain;
  int whole = to.read(x, layout);
  std::vector<int> parts;
  std::vector<int64_t> widths;
  for (size_t k = 0; k < sizes.size(); ++k) {
    Value y{call.id, static_cast<int32_t>(k)};
    parts.push_back(to.write(y, layout));
    widths.push_back(rows(to.dims(y), layout, axis).second);
  }
  add_rows(to, whole, parts, widths, rows(to.dims(x), layout, axis).first, false);
  return {};
}

Status lower_gather(Lowering& to, const Call& call) {
  Value x = call.node.inputs[0], y{call.id, 0};
  Dims shape = to.dims(x);
  auto axis = static_cast<size_t>(axis_of(call.at.ints[0][0], shape.size()));
  std::span<const int64_t> dims(shape);
  int64_t outer = product(dims.first(axis)), size = shape[axis],
          inner = product(dims.subspan(axis + 1));
  int threads = to.options.threads;
  to.add_loop({to.read(x, Layout::Plain), to.write(y, Layout::Plain)},
              [outer, size, inner, threads, indices = call.at.ints[1]](Pointers p) {
                auto count = static_cast<int64_t>(indices.size());
                auto bytes = static_cast<size_t>(inner) * sizeof(float);
                parallel_loop(outer * count, outer * count * inner, threads, [&](int64_t row) {
                  int64_t from = row / count * size + indices[static_cast<size_t>(row % count)];
                  std::memcpy(p[1] + row * inner, p[0] + from * inner, bytes);
                });
              });
  return {};
}

}  // namespace regraft::cost::cpu
