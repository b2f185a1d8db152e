#include "verify/numerics/float_run.h"

#include <immintrin.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

namespace regraft::verify {
namespace {

using K = FloatProgram::Kind;

/// The place of a finite number among those of the format, 0 being 0.
int64_t ordinal(float x, Format format) {
  float magnitude = std::abs(x);
  auto n = format == Format::F16 ? int64_t{Eigen::half(magnitude).x}
                                 : int64_t{std::bit_cast<uint32_t>(magnitude)};
  return std::signbit(x) ? -n : n;
}

/// Through double: of a square root, too, that rounds once.
float value_of(Fn f, float x) { return static_cast<float>(facts(f).value(x)); }

/// The same as by Eigen::half, eight at a time; returns how many were rounded.
[[gnu::target("avx2,f16c")]] size_t round_to_half(float* x, size_t n) {
  size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(x + k), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_ps(x + k, _mm256_cvtph_ps(half));
  }
  return k;
}

bool is_row(int32_t row) { return row >= 0; }

constexpr size_t kBlock = 64;  // points side by side: all steps of them fit into a cache

/// Runs the steps one after the other, each at all points of a block.
class Machine {
 public:
  Machine(const FloatProgram& p, const Points& points, Format format)
      : p_(p), points_(points), format_(format) {
    values_ = std::make_unique_for_overwrite<float[]>(p.steps.size() * kBlock);
    broken_ = std::make_unique_for_overwrite<uint8_t[]>(p.steps.size() * kBlock);
    whole_.resize(p.steps.size());
    run_.count = points.count;
    run_.rows = rows_of_elements(p);
    const auto kept = static_cast<size_t>(std::ranges::count_if(run_.rows, is_row));
    run_.values.resize(kept * points.count);
    run_.fails.resize(kept * points.count);
  }

  FloatRun run() {
    for (first_ = 0; first_ < points_.count; first_ += kBlock) {
      n_ = std::min(kBlock, points_.count - first_);
      for (size_t k = 0; k < p_.steps.size(); ++k) {
        step(k);
        whole_[k] = is_whole(k);
        if (whole_[k] != 0)
          std::fill_n(broken_.get() + k * kBlock, kBlock, uint8_t{0});
        else
          breakage(k);
        keep(k);
      }
    }
    return std::move(run_);
  }

 private:
  void keep(size_t k) {
    if (run_.rows[k] < 0) return;
    const size_t to = static_cast<size_t>(run_.rows[k]) * points_.count + first_;
    std::copy_n(values_.get() + k * kBlock, n_, run_.values.data() + to);
    std::copy_n(broken_.get() + k * kBlock, n_, run_.fails.data() + to);
  }

  const float* row(int32_t step) const {
    return values_.get() + static_cast<size_t>(step) * kBlock;
  }

  const float* argument(const FloatProgram::Step& s, int32_t k) const {
    return row(p_.arguments[static_cast<size_t>(s.a + k)]);
  }

  template <class F>
  void each(float* out, F&& f) {
    for (size_t d = 0; d < n_; ++d) out[d] = f(d);
  }

  void step(size_t k) {
    const FloatProgram::Step& s = p_.steps[k];
    float* out = values_.get() + k * kBlock;
    const float *a = nullptr, *b = nullptr;
    bool listed = s.kind == K::Max || s.kind == K::Choose;
    if (s.kind != K::Constant && s.kind != K::Read && !listed) a = row(s.a);
    if (s.kind == K::Add || s.kind == K::Mul || s.kind == K::Div) b = row(s.b);
    switch (s.kind) {
      case K::Constant: {
        const Tape::Number& c = p_.numbers[static_cast<size_t>(s.a)];
        double x = c.d == 0 ? c.real : static_cast<double>(c.n) / static_cast<double>(c.d);
        return each(out, [&](size_t) { return static_cast<float>(x); });
      }
      case K::Read: {
        const float* in = points_.of(s.a, s.b) + first_;
        return each(out, [&](size_t d) { return in[d]; });
      }
      case K::Add:
        return each(out, [&](size_t d) { return a[d] + b[d]; });
      case K::Mul:
        return each(out, [&](size_t d) { return a[d] * b[d]; });
      case K::Div:
        return each(out, [&](size_t d) { return a[d] / b[d]; });
      case K::Apply:
        return each(out, [&](size_t d) { return value_of(s.fn, a[d]); });
      case K::Clip: {
        auto [low, high] = p_.bounds[static_cast<size_t>(s.b)];
        float l = rounded(static_cast<float>(low), format_);
        float h = rounded(static_cast<float>(high), format_);
        return each(out, [&](size_t d) {
          return std::isnan(a[d]) ? a[d] : std::min(std::max(a[d], l), h);
        });
      }
      case K::Max:
        return maximum(s, out);
      case K::Choose: {
        const float *c = argument(s, 0), *yes = argument(s, 1), *no = argument(s, 2);
        return each(out, [&](size_t d) { return chosen(c[d], yes[d], no[d]); });
      }
      case K::Round:
        std::copy_n(a, n_, out);
        return round_all({out, n_}, format_);
    }
  }

  void maximum(const FloatProgram::Step& s, float* out) {
    const float* first = row(p_.arguments[static_cast<size_t>(s.a)]);
    std::copy(first, first + n_, out);
    for (int32_t k = s.a + 1; k < s.b; ++k) {
      const float* x = row(p_.arguments[static_cast<size_t>(k)]);
      each(out, [&](size_t d) { return x[d] > out[d] || std::isnan(x[d]) ? x[d] : out[d]; });
    }
  }

  /// Nothing is broken at any point of the block, neither here nor in what it needs.
  uint8_t is_whole(size_t k) const {
    const float* x = values_.get() + k * kBlock;
    if (p_.steps[k].kind == K::Constant) return 1;
    constexpr uint32_t kExponent = 0x7f800000;  // all ones: infinite, or not a number
    uint32_t other = 0;
    for (size_t d = 0; d < n_; ++d)
      other |= (std::bit_cast<uint32_t>(x[d]) & kExponent) == kExponent ? 1 : 0;
    uint8_t whole = other == 0 ? 1 : 0;
    for_each_operand(p_, p_.steps[k],
                     [&](int32_t operand) { whole &= whole_[static_cast<size_t>(operand)]; });
    return whole;
  }

  void breakage(size_t k) {
    uint8_t* out = broken_.get() + k * kBlock;
    const float* x = values_.get() + k * kBlock;
    for (size_t d = 0; d < n_; ++d) out[d] = !std::isfinite(x[d]);
    if (p_.steps[k].kind == K::Choose) return breakage_of_choice(p_.steps[k], out);
    for_each_operand(p_, p_.steps[k], [&](int32_t operand) {
      if (whole_[static_cast<size_t>(operand)] != 0) return;
      const uint8_t* in = broken_.get() + static_cast<size_t>(operand) * kBlock;
      for (size_t d = 0; d < n_; ++d) out[d] |= in[d];
    });
  }

  /// What it leaves out may be broken.
  void breakage_of_choice(const FloatProgram::Step& s, uint8_t* out) {
    auto broken = [&](int32_t k) {
      return broken_.get() +
             static_cast<size_t>(p_.arguments[static_cast<size_t>(s.a + k)]) * kBlock;
    };
    const float* c = argument(s, 0);
    const uint8_t *of = broken(0), *yes = broken(1), *no = broken(2);
    for (size_t d = 0; d < n_; ++d) {
      out[d] |= of[d];
      if (c[d] != 0) out[d] |= yes[d];
      if (c[d] != 1) out[d] |= no[d];
    }
  }

  const FloatProgram& p_;
  const Points& points_;
  Format format_;
  size_t first_ = 0, n_ = 0;           ///< points of the block
  std::unique_ptr<float[]> values_;    // [step * kBlock + point of the block]
  std::unique_ptr<uint8_t[]> broken_;  // the same
  std::vector<uint8_t> whole_;         // by step: is_whole()
  FloatRun run_;
};

}  // namespace

float rounded(float x, Format format) {
  return format == Format::F32 ? x : static_cast<float>(Eigen::half(x));
}

void round_all(std::span<float> values, Format format) {
  if (format == Format::F32) return;
  static const bool wide = __builtin_cpu_supports("avx2");  // whatever has it has f16c
  size_t done = wide ? round_to_half(values.data(), values.size()) : 0;
  for (float& x : values.subspan(done)) x = rounded(x, format);
}

double largest(Format format) {
  return format == Format::F32 ? std::numeric_limits<float>::max() : 65504;
}
double most_bits(Format format) { return format == Format::F32 ? 32 : 16; }

double bits_of_error(float value, double exact, Format format) {
  float right = rounded(static_cast<float>(exact), format);
  if (!std::isfinite(value) || !std::isfinite(right)) return most_bits(format);
  auto apart = std::abs(ordinal(value, format) - ordinal(right, format));
  return apart == 0 ? 0 : std::log2(1 + static_cast<double>(apart));
}

std::vector<int32_t> rows_of_elements(const FloatProgram& p) {
  std::vector<int32_t> rows(p.steps.size(), -1);
  int32_t next = 0;
  for (const FloatProgram::Element& e : p.elements)
    for (int32_t step : {e.left, e.right})
      if (int32_t& row = rows[static_cast<size_t>(step)]; row < 0) row = next++;
  return rows;
}

FloatRun run_floats(const FloatProgram& p, const Points& points, Format format) {
  return Machine(p, points, format).run();
}

}  // namespace regraft::verify
