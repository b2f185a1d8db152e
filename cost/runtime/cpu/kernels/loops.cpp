#include "cost/runtime/cpu/kernels/loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

// One version for each width of vectors, chosen when the program starts; sanitizers cannot follow
// that choice.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define REGRAFT_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define REGRAFT_WIDE
#endif

namespace regraft::cost::cpu {

namespace {

/// exp by 2^n e^r with |r| <= ln(2) / 2 and Taylor's polynomial of degree 7 for e^r.
inline __attribute__((always_inline)) float exponential(float x) {
  x = x < -87.0F ? -87.0F : x;
  float over = x > 88.7F ? 1.0F : 0.0F;
  float clipped = x > 88.7F ? 88.7F : x;
  float n = clipped * 1.44269504F;
  auto whole = static_cast<int32_t>(n + (n < 0 ? -0.5F : 0.5F));
  auto w = static_cast<float>(whole);
  float r = clipped - w * 0.693145752F - w * 1.42860677e-6F;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  // In two factors, as 2^128 is no float.
  auto half = whole / 2;
  float y = p * std::bit_cast<float>((half + 127) << 23) *
            std::bit_cast<float>((whole - half + 127) << 23);
  return over != 0.0F ? x * 1e38F * 10.0F : y;
}

}  // namespace

REGRAFT_WIDE void relu_loop(const float* x, float* y, int64_t n, float, float) {
  for (int64_t k = 0; k < n; ++k) y[k] = x[k] < 0 ? 0 : x[k];
}
REGRAFT_WIDE void clip_loop(const float* x, float* y, int64_t n, float low, float high) {
  for (int64_t k = 0; k < n; ++k) {
    float v = x[k] < low ? low : x[k];
    y[k] = v > high ? high : v;
  }
}
REGRAFT_WIDE void hard_sigmoid_loop(const float* x, float* y, int64_t n, float alpha, float beta) {
  for (int64_t k = 0; k < n; ++k) {
    float v = alpha * x[k] + beta;
    v = v < 0 ? 0 : v;
    y[k] = v > 1 ? 1 : v;
  }
}
REGRAFT_WIDE void sigmoid_loop(const float* x, float* y, int64_t n, float, float) {
  for (int64_t k = 0; k < n; ++k) y[k] = 1 / (1 + exponential(-x[k]));
}
REGRAFT_WIDE void tanh_loop(const float* x, float* y, int64_t n, float, float) {
  for (int64_t k = 0; k < n; ++k) {
    float v = x[k] > 10 ? 10 : x[k];
    v = v < -10 ? -10 : v;
    y[k] = 1 - 2 / (1 + exponential(2 * v));
  }
}
REGRAFT_WIDE void exp_loop(const float* x, float* y, int64_t n, float, float) {
  for (int64_t k = 0; k < n; ++k) y[k] = exponential(x[k]);
}
REGRAFT_WIDE void sqrt_loop(const float* x, float* y, int64_t n, float, float) {
  for (int64_t k = 0; k < n; ++k) y[k] = std::sqrt(x[k]);
}
/// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: error below 1.5e-7.
REGRAFT_WIDE void erf_loop(const float* x, float* y, int64_t n, float, float) {
  for (int64_t k = 0; k < n; ++k) {
    float a = std::fabs(x[k]);
    float t = 1 / (1 + 0.3275911F * a);
    float p = 1.061405429F * t - 1.453152027F;
    p = p * t + 1.421413741F;
    p = p * t - 0.284496736F;
    p = p * t + 0.254829592F;
    y[k] = std::copysign(1 - p * t * exponential(-a * a), x[k]);
  }
}
REGRAFT_WIDE void neg_loop(const float* x, float* y, int64_t n, float, float) {
  for (int64_t k = 0; k < n; ++k) y[k] = -x[k];
}
REGRAFT_WIDE void linear_loop(const float* x, float* y, int64_t n, float scale, float shift) {
  for (int64_t k = 0; k < n; ++k) y[k] = scale * x[k] + shift;
}
REGRAFT_WIDE void quotient_loop(const float* x, float* y, int64_t n, float dividend, float) {
  for (int64_t k = 0; k < n; ++k) y[k] = dividend / x[k];
}
REGRAFT_WIDE void add_loop(const float* l, const float* r, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = l[k] + r[k];
}
REGRAFT_WIDE void sub_loop(const float* l, const float* r, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = l[k] - r[k];
}
REGRAFT_WIDE void mul_loop(const float* l, const float* r, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = l[k] * r[k];
}
REGRAFT_WIDE void div_loop(const float* l, const float* r, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = l[k] / r[k];
}
REGRAFT_WIDE void max_loop(const float* l, const float* r, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = l[k] < r[k] ? r[k] : l[k];
}
REGRAFT_WIDE void blend_loop(const float* l, const float* r, float w, float* y, int64_t n) {
  for (int64_t k = 0; k < n; ++k) y[k] = (1 - w) * l[k] + w * r[k];
}

namespace {

constexpr int64_t kLanes = 32;

}  // namespace

// Partial results for each lane, so that neighbours can be taken at once.
REGRAFT_WIDE float sum_of(const float* x, int64_t n) {
  float lanes[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] += x[k + j];
  float total = 0;
  for (float v : lanes) total += v;
  for (; k < n; ++k) total += x[k];
  return total;
}
REGRAFT_WIDE float max_of(const float* x, int64_t n) {
  float lanes[kLanes];
  for (float& v : lanes) v = x[0];
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = lanes[j] < x[k + j] ? x[k + j] : lanes[j];
  float most = x[0];
  for (float v : lanes) most = most < v ? v : most;
  for (; k < n; ++k) most = most < x[k] ? x[k] : most;
  return most;
}

void merge_axes(Strided& a, Strided& b) {
  Strided x{{}, {}, a.offset}, y{{}, {}, b.offset};
  for (size_t d = 0; d < a.dims.size(); ++d) {
    int64_t n = a.dims[d];
    if (n == 1) continue;
    if (!x.dims.empty() && x.strides.back() == a.strides[d] * n &&
        y.strides.back() == b.strides[d] * n) {
      x.dims.back() *= n;
      x.strides.back() = a.strides[d];
      y.strides.back() = b.strides[d];
    } else {
      x.dims.push_back(n);
      x.strides.push_back(a.strides[d]);
      y.strides.push_back(b.strides[d]);
    }
  }
  y.dims = x.dims;
  a = std::move(x);
  b = std::move(y);
}

namespace {

REGRAFT_WIDE void copy_row(const float* from, int64_t from_step, float* to, int64_t to_step,
                           int64_t n) {
  if (from_step == 1 && to_step == 1)
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  else if (from_step == 0 && to_step == 1)
    std::fill_n(to, n, *from);
  else
    for (int64_t k = 0; k < n; ++k) to[k * to_step] = from[k * from_step];
}

/// Fills y[0 .. n] with its first `period` elements; returns n.
int64_t repeat(float* y, int64_t period, int64_t n) {
  for (int64_t done = period; done < n; done *= 2)
    std::memcpy(y + done, y, static_cast<size_t>(std::min(done, n - done)) * sizeof(float));
  return n;
}

}  // namespace

void copy_strided(const Strided& from, const float* source, const Strided& to, float* target,
                  int threads) {
  size_t rank = from.dims.size();
  int64_t inner = rank == 0 ? 1 : from.dims.back(), rows = 1;
  for (size_t d = 0; d + 1 < rank; ++d) rows *= from.dims[d];
  parallel_loop(rows, rows * inner, threads, [&](int64_t row) {
    int64_t a = from.offset, b = to.offset;
    for (size_t d = rank; d-- > 1;) {
      int64_t i = row % from.dims[d - 1];
      row /= from.dims[d - 1];
      a += i * from.strides[d - 1];
      b += i * to.strides[d - 1];
    }
    copy_row(source + a, rank == 0 ? 1 : from.strides.back(), target + b,
             rank == 0 ? 1 : to.strides.back(), inner);
  });
}

void gather_run(const Strided& x, const float* source, int64_t first, float* y, int64_t n) {
  size_t rank = x.dims.size();
  if (rank == 0) {
    std::fill_n(y, n, source[x.offset]);
    return;
  }
  int64_t inner = x.dims.back(), step = x.strides.back();
  while (n > 0) {
    int64_t row = first / inner, column = first % inner, run = std::min(n, inner - column);
    int64_t row_in_axis = rank > 1 ? row % x.dims[rank - 2] : 0, at = x.offset;
    for (size_t d = rank - 1; d-- > 0;) {
      at += row % x.dims[d] * x.strides[d];
      row /= x.dims[d];
    }
    copy_row(source + at + column * step, step, y, 1, run);
    if (run == inner && rank > 1 && x.strides[rank - 2] == 0)  // the rows that follow are equal
      run = repeat(y, inner, std::min(n, (x.dims[rank - 2] - row_in_axis) * inner));
    first += run;
    y += run;
    n -= run;
  }
}

}  // namespace regraft::cost::cpu
