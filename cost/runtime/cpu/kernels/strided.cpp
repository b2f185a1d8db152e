#include "cost/runtime/cpu/kernels/strided.h"

namespace regraft::cost::cpu {

Strided strided(const Dims& shape, Layout layout) {
  Strided s;
  s.dims = shape;
  if (layout == Layout::Blocked) {
    int64_t width = block_width();
    s.dims[1] = (shape[1] + width - 1) / width;
    s.dims.push_back(width);
  }
  s.strides.assign(s.dims.size(), 1);
  for (size_t d = s.dims.size(); d-- > 1;) s.strides[d - 1] = s.strides[d] * s.dims[d];
  return s;
}

std::pair<int, Strided> broadcast_place(Lowering& to, Value v, const Dims& shape, Layout layout) {
  Dims own = to.dims(v), dims(shape.size() - own.size(), 1);
  dims.insert(dims.end(), own.begin(), own.end());
  bool blocked = layout == Layout::Blocked && dims[1] != 1;
  int slot = -1;
  if (!blocked) {
    slot = to.read(v, Layout::Plain);
  } else if (own.size() == dims.size()) {
    slot = to.read(v, Layout::Blocked);
  } else if (auto data = to.constant(v)) {
    slot = to.packed(data, plain_desc(dims), desc_of(dims, Layout::Blocked));
  } else {
    int plain = to.view(to.read(v, Layout::Plain), plain_desc(dims));
    slot = to.scratch(desc_of(dims, Layout::Blocked));
    to.reorder(plain, slot);
  }
  Strided s = strided(dims, blocked ? Layout::Blocked : Layout::Plain),
          full = strided(shape, layout);
  if (layout == Layout::Blocked && !blocked) {
    s.dims.push_back(1);
    s.strides.push_back(0);
  }
  for (size_t d = 0; d < s.dims.size(); ++d) {
    if (s.dims[d] == 1) s.strides[d] = 0;
    s.dims[d] = full.dims[d];
  }
  Strided twin = s;
  merge_axes(s, twin);
  return {slot, s};
}

}  // namespace regraft::cost::cpu
