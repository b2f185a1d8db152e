#pragma once
// Loops over float arrays, vectorised by the compiler for the machine's instruction set.
#include <cstdint>
#include <vector>

namespace regraft::cost::cpu {

/// y[k] = f(x[k]) for k < n. Errors below 3e-7 of max(1, |f|), exp: of f.
using UnaryLoop = void (*)(const float* x, float* y, int64_t n, float a, float b);
/// y[k] = l[k] op r[k] for k < n.
using BinaryLoop = void (*)(const float* l, const float* r, float* y, int64_t n);

void relu_loop(const float* x, float* y, int64_t n, float, float);
void clip_loop(const float* x, float* y, int64_t n, float low, float high);
void hard_sigmoid_loop(const float* x, float* y, int64_t n, float alpha, float beta);
void sigmoid_loop(const float* x, float* y, int64_t n, float, float);
void tanh_loop(const float* x, float* y, int64_t n, float, float);
void exp_loop(const float* x, float* y, int64_t n, float, float);
void sqrt_loop(const float* x, float* y, int64_t n, float, float);
void erf_loop(const float* x, float* y, int64_t n, float, float);
void neg_loop(const float* x, float* y, int64_t n, float, float);
void linear_loop(const float* x, float* y, int64_t n, float scale, float shift);
void quotient_loop(const float* x, float* y, int64_t n, float dividend, float);
void add_loop(const float* l, const float* r, float* y, int64_t n);
void sub_loop(const float* l, const float* r, float* y, int64_t n);
void mul_loop(const float* l, const float* r, float* y, int64_t n);
void div_loop(const float* l, const float* r, float* y, int64_t n);
void max_loop(const float* l, const float* r, float* y, int64_t n);
/// y[k] = (1 - w) l[k] + w r[k]
void blend_loop(const float* l, const float* r, float w, float* y, int64_t n);
/// Sum, and maximum, of n >= 1 elements.
float sum_of(const float* x, int64_t n);
float max_of(const float* x, int64_t n);

/// Elements of an array with strides, which may be 0 or negative.
struct Strided {
  std::vector<int64_t> dims, strides;
  int64_t offset = 0;
};
/// Without axes of one, and with neighbouring axes as one where both lie so.
void merge_axes(Strided& a, Strided& b);
/// to[i] = from[i] for all positions. REQUIRES: equal dims, merged.
void copy_strided(const Strided& from, const float* source, const Strided& to, float* target,
                  int threads);
/// Elements first .. first+n-1 (row-major) of x, into y.
void gather_run(const Strided& x, const float* source, int64_t first, float* y, int64_t n);

/// body(0) .. body(n-1) on the threads, if there is work for more than one.
template <class F>
void parallel_loop(int64_t n, int64_t work, int threads, F&& body) {
  constexpr int64_t kWorth = 1 << 14;  // elements that pay for waking a thread
  const bool several = threads > 1 && n > 1 && work > kWorth;
#pragma omp parallel for num_threads(threads) if (several) schedule(static)
  for (int64_t k = 0; k < n; ++k) body(k);
}

}  // namespace regraft::cost::cpu
