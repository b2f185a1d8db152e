#pragma once
// What a library does, in plain loops over dense operands.
#include <cmath>
#include <vector>

#include "cost/runtime/cuda/lower.h"

namespace regraft::cost::cuda {

template <class T>
using Operands = std::vector<T*>;

/// A sum with the bias of its channel and the other tensor, and relu.
template <class T>
T finished(double x, const Operands<T>& o, bool bias, int64_t channel, bool added, int64_t at,
           bool relu) {
  size_t next = 2;
  if (bias) x += o[next++][channel];
  if (added) x += o[next][at];
  return static_cast<T>(relu && x < 0 ? 0 : x);
}

template <class T>
void execute(const Convolution& c, const Operands<T>& o) {
  auto three_axes = [](std::vector<int> d, size_t rank, int filler) {
    d.resize(rank, filler);
    return d;
  };
  auto x = three_axes(c.x, 5, 1), w = three_axes(c.w, 5, 1), y = three_axes(c.y, 5, 1);
  auto pads = three_axes(c.pads, 3, 0), strides = three_axes(c.strides, 3, 1),
       dilations = three_axes(c.dilations, 3, 1);
  int taps = w[1] * w[2] * w[3] * w[4];
  int64_t at = 0;
  for (int n = 0; n < y[0]; ++n)
    for (int channel = 0; channel < y[1]; ++channel)
      for (int p = 0; p < y[2] * y[3] * y[4]; ++p, ++at) {
        int place[3] = {p / (y[3] * y[4]), p / y[4] % y[3], p % y[4]};
        double sum = 0;
        for (int k = 0; k < taps; ++k) {
          int tap[3] = {k / (w[3] * w[4]) % w[2], k / w[4] % w[3], k % w[4]};
          int in = k / (w[2] * w[3] * w[4]) + channel / (y[1] / c.group) * w[1];
          int flat = n * x[1] + in;
          bool inside = true;
          for (size_t d = 0; d < 3; ++d) {
            int q = place[d] * strides[d] + tap[d] * dilations[d] - pads[d];
            inside = inside && 0 <= q && q < x[d + 2];
            flat = flat * x[d + 2] + q;
          }
          if (inside) sum += static_cast<double>(o[0][flat]) * o[1][channel * taps + k];
        }
        o.back()[at] = finished(sum, o, c.bias, channel, c.added, at, c.relu);
      }
}

template <class T>
void execute(const Product& p, const Operands<T>& o) {
  int64_t at = 0;
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t j = 0; j < p.columns; ++j, ++at) {
        double sum = 0;
        for (int64_t k = 0; k < p.inner; ++k) {
          int64_t x = b * p.stride_a + (p.transposed_a ? k * p.rows + i : i * p.inner + k);
          int64_t y = b * p.stride_b + (p.transposed_b ? j * p.inner + k : k * p.columns + j);
          sum += static_cast<double>(o[0][x]) * o[1][y];
        }
        o.back()[at] = finished(p.alpha * sum, o, p.bias, j, p.added, at, p.relu);
      }
}

template <class T>
void execute(const Softmax& s, const Operands<T>& o) {
  for (int a = 0; a < s.outer; ++a)
    for (int b = 0; b < s.inner; ++b) {
      auto at = [&](int k) { return (a * s.size + k) * s.inner + b; };
      double sum = 0;
      for (int k = 0; k < s.size; ++k) sum += std::exp(o[0][at(k)]);
      for (int k = 0; k < s.size; ++k) o[1][at(k)] = static_cast<T>(std::exp(o[0][at(k)]) / sum);
    }
}

}  // namespace regraft::cost::cuda
