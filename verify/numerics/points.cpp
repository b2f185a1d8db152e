#include "verify/numerics/points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace regraft::verify {
namespace {

/// The least usual magnitude, and that of what a point or an input has in common.
double least_usual(Format format) { return format == Format::F32 ? 1e-6 : 1e-3; }
constexpr double kLeastCommon = 1e-2;

/// How many times as large as the least magnitude the largest one is, as a power of 2.
struct Octaves {
  double usual, common;
  explicit Octaves(Format format)
      : usual(std::log2(magnitude_limit(format) / least_usual(format))),
        common(std::log2(magnitude_limit(format) / 4 / kLeastCommon)) {}
};
const Octaves& octaves_of(Format format) {
  static const Octaves kSingle(Format::F32), kHalf(Format::F16);
  return format == Format::F32 ? kSingle : kHalf;
}

/// Draws the elements of one point.
class Drawer {
 public:
  Drawer(Stress stress, Format format, uint64_t seed)
      : stress_(stress),
        format_(format),
        limit_(magnitude_limit(format)),
        least_(least_usual(format)),
        octaves_(octaves_of(format)),
        rng_(seed) {
    const bool cancels = stress == Stress::Cancelling, spreads = stress == Stress::Offset;
    drawn(cancels, 1, [&] { common_ = common(); });
    drawn(cancels || spreads, 1,
          [&] { spread_ = std::exp2(-rng_.unit() * (format == Format::F32 ? 22 : 9)); });
  }

  /// Before the elements of an input are drawn.
  void begin_input() {
    drawn(stress_ == Stress::Offset, 2, [&] {
      const double one = sign();
      input_ = one * common();
    });
    constexpr double kSingle[] = {1e4, 1, 0, 1e-3, 1e-10, 1e-30, 1e-40};
    constexpr double kHalf[] = {1e2, 1, 0, 1e-2, 1e-3, 0x1p-14, 0x1p-24};
    auto k = rng_.below(std::size(kSingle));
    class_ = format_ == Format::F32 ? kSingle[k] : kHalf[k];
  }

  /// The wanted ones of so many elements of an input, `stride` apart, not yet rounded to the
  /// format.
  void input(const std::vector<size_t>& wanted, size_t elements, float* to, size_t stride) {
    constexpr double kTies[] = {0, 1, -1, 0.5, 2, 1};
    const double logits = format_ == Format::F32 ? 200 : 100;
    auto each = [&](uint64_t draws, auto number) {
      const Rng first = rng_;
      for (size_t e : wanted) {
        rng_ = first;
        rng_.skip(draws * e);
        *to = within_limit(number());
        to += stride;
      }
      rng_ = first;
      rng_.skip(draws * elements);
    };
    auto signed_by = [&](auto number) {
      const double one = sign();
      return one * number();
    };
    switch (stress_) {
      case Stress::AllExponents:
        return in_order(wanted, elements, to, stride, [&] { return any_number(); });
      case Stress::Usual:
        return each(2, [&] { return signed_by([&] { return usual(); }); });
      case Stress::Positive:
        return each(1, [&] { return usual(); });
      case Stress::Logits:
        return each(1, [&] { return (2 * rng_.unit() - 1) * logits; });
      case Stress::Offset:
        return each(1, [&] { return input_ * (1 + spread_ * (rng_.unit() - 0.5)); });
      case Stress::Cancelling:
        return each(
            2, [&] { return signed_by([&] { return common_ * (1 + spread_ * rng_.unit()); }); });
      case Stress::Ties:
        return each(1, [&] { return kTies[rng_.below(std::size(kTies))]; });
      case Stress::Subnormal:
        return each(3, [&] {
          return signed_by([&] { return rng_.below(2) == 0 ? subnormal() : usual(); });
        });
      case Stress::Extremes:
        return in_order(wanted, elements, to, stride, [&] { return within_limit(extreme()); });
    }
  }

 private:
  /// What draws so many numbers; where nothing uses them they are left out.
  template <class F>
  void drawn(bool used, uint64_t numbers, F&& draw) {
    if (used)
      draw();
    else
      rng_.skip(numbers);
  }
  // Without branches, which nothing could foresee.
  double sign() { return 1 - 2 * static_cast<double>(rng_.below(2)); }
  double extreme() {
    const double x = sign() * class_;
    const bool smaller = rng_.below(4) == 0;
    const double part = Rng(rng_).unit();
    rng_.skip(smaller ? 1 : 0);
    return x * (smaller ? part : 1);
  }
  double above(double least, double octaves) { return least * std::exp2(rng_.unit() * octaves); }
  double usual() { return above(least_, octaves_.usual); }
  double common() { return above(kLeastCommon, octaves_.common); }

  float within_limit(double x) const { return static_cast<float>(std::clamp(x, -limit_, limit_)); }
  /// Elements of which each draws as many numbers as it comes to.
  template <class F>
  static void in_order(const std::vector<size_t>& wanted, size_t elements, float* to, size_t stride,
                       F&& number) {
    size_t next = 0;
    for (size_t e : wanted) {
      for (; next < e; ++next) number();
      *to = static_cast<float>(number());
      to += stride;
      next = e + 1;
    }
    for (; next < elements; ++next) number();
  }

  double any_number() {
    if (format_ == Format::F32)
      for (;;) {
        auto x = std::bit_cast<float>(static_cast<uint32_t>(rng_.next()));
        if (std::isfinite(x)) return x;
      }
    // A half: 5 bits of exponent, all but the last value of them, and 10 of fraction.
    auto exponent = static_cast<int>(rng_.below(31));
    double fraction = static_cast<double>(rng_.below(1024)) / 1024;
    double x = exponent == 0 ? fraction * 0x1p-14 : std::exp2(exponent - 15) * (1 + fraction);
    return sign() * x;
  }
  double subnormal() {
    double least = format_ == Format::F32 ? 0x1p-149 : 0x1p-24;
    return least * static_cast<double>(1 + rng_.below(format_ == Format::F32 ? 1 << 23 : 1 << 10));
  }

  Stress stress_;
  Format format_;
  double limit_, least_;
  const Octaves& octaves_;
  Rng rng_;
  double common_ = 1, spread_ = 1;  ///< of the point
  double input_ = 1, class_ = 1;    ///< of the input
};

/// The elements of each input that are wanted.
std::vector<std::vector<size_t>> listed(const std::vector<std::vector<int64_t>>& shapes,
                                        const Wanted& wanted) {
  std::vector<std::vector<size_t>> all(shapes.size());
  for (size_t k = 0; k < shapes.size(); ++k)
    for (size_t e = 0; e < elements_of(shapes[k]); ++e)
      if (wanted.empty() || wanted[k][e] != 0) all[k].push_back(e);
  return all;
}

constexpr size_t kTogether = 16;  // points that are drawn before their elements go to the rows

template <class F>
Points drawn(const std::vector<std::vector<int64_t>>& shapes, Format format, uint64_t seed,
             size_t count, const Wanted& wanted, F&& stress) {
  Points points;
  points.count = count;
  const auto elements = listed(shapes, wanted);
  size_t all = 0;
  for (size_t k = 0; k < shapes.size(); ++k) {
    all += elements[k].size();
    points.inputs.emplace_back(elements[k].size() * count);
    auto& rows = points.rows.emplace_back(elements_of(shapes[k]), -1);
    for (size_t row = 0; row < elements[k].size(); ++row)
      rows[elements[k][row]] = static_cast<int32_t>(row);
  }
  std::vector<float> some(all * kTogether);  // [element * kTogether + point]
  for (size_t first = 0; first < count; first += kTogether) {
    const size_t n = std::min(kTogether, count - first);
    for (size_t d = 0; d < n; ++d) {
      Drawer draw(stress(first + d), format, combine(seed, first + d));
      float* to = some.data() + d;
      for (size_t k = 0; k < shapes.size(); ++k) {
        draw.begin_input();
        draw.input(elements[k], points.rows[k].size(), to, kTogether);
        to += elements[k].size() * kTogether;
      }
    }
    round_all(some, format);
    const float* from = some.data();
    for (size_t k = 0; k < shapes.size(); ++k)
      for (size_t row = 0; row < elements[k].size(); ++row, from += kTogether)
        std::copy_n(from, n, points.inputs[k].data() + row * count + first);
  }
  return points;
}

}  // namespace

double magnitude_limit(Format format) { return format == Format::F32 ? 1e4 : 1e2; }

Points draw_points(const std::vector<std::vector<int64_t>>& shapes, Format format, uint64_t seed,
                   size_t count, const Wanted& wanted) {
  return drawn(shapes, format, seed, count, wanted,
               [](size_t d) { return static_cast<Stress>(d % static_cast<size_t>(kStresses)); });
}

bool is_unlimited(size_t point) {
  return point % static_cast<size_t>(kStresses) == static_cast<size_t>(Stress::AllExponents);
}

Points draw_limited_points(const std::vector<std::vector<int64_t>>& shapes, Format format,
                           uint64_t seed, size_t count, const Wanted& wanted) {
  return drawn(shapes, format, seed, count, wanted, [](size_t d) {
    if (d % 2 == 0) return Stress::Extremes;
    return static_cast<Stress>(1 + d / 2 % static_cast<size_t>(kStresses - 2));
  });
}

Points with_infinities(Points points, uint64_t seed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Rng rng(seed);
  for (size_t k = 0; k < points.inputs.size(); ++k)
    for (int32_t row : points.rows[k])
      for (size_t d = 1; d < points.count; d += 2) {
        if (rng.below(8) != 0) continue;
        const float drawn = rng.below(4) == 0 ? kInfinity : -kInfinity;
        if (row >= 0) points.inputs[k][static_cast<size_t>(row) * points.count + d] = drawn;
      }
  return points;
}

}  // namespace regraft::verify
