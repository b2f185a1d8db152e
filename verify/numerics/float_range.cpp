#include "verify/numerics/float_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace regraft::verify {
namespace {

using K = FloatProgram::Kind;

constexpr double kLeastDivisor = 0x1p-120;

struct Bounds {
  double low = 0, high = 0;
};

double magnitude_of(Bounds b) { return std::max(std::abs(b.low), std::abs(b.high)); }

class Ranges {
 public:
  Ranges(const FloatProgram& p, Format format, double magnitude)
      : p_(p), format_(format), magnitude_(magnitude) {}

  std::vector<char> run() {
    std::vector<char> cleared;
    for (const FloatProgram::Step& s : p_.steps) {
      fails_ = false;
      Bounds b = of(s);
      double most = largest(s.kind == K::Round ? format_ : Format::F32);
      if (!(magnitude_of(b) <= most)) fails_ = true;
      // What did not fail is finite.
      if (fails_) b = {std::max(b.low, -most), std::min(b.high, most)};
      if (std::isnan(b.low) || std::isnan(b.high)) b = {-most, most};
      ranges_.push_back(b);
      cleared.push_back(!fails_);
    }
    return cleared;
  }

 private:
  Bounds at(int32_t step) const { return ranges_[static_cast<size_t>(step)]; }

  /// Room for the roundings of a step.
  static Bounds widened(Bounds b, double relative) {
    double room = relative * magnitude_of(b);
    return {b.low - room, b.high + room};
  }
  static Bounds hull(std::initializer_list<double> all) { return {std::min(all), std::max(all)}; }

  Bounds of(const FloatProgram::Step& s) {
    constexpr double kRoom = 0x1p-22;
    switch (s.kind) {
      case K::Constant: {
        const Tape::Number& c = p_.numbers[static_cast<size_t>(s.a)];
        double x = c.d == 0 ? c.real : static_cast<double>(c.n) / static_cast<double>(c.d);
        return widened({x, x}, kRoom);
      }
      case K::Read:
        return {-magnitude_, magnitude_};
      case K::Add:
        return widened(sum(s), kRoom);
      case K::Mul:
        return widened(product(s), kRoom);
      case K::Div:
        return widened(quotient(at(s.a), at(s.b)), kRoom);
      case K::Apply:
        return widened(applied(s.fn, at(s.a)), kRoom);
      case K::Clip: {
        auto [low, high] = p_.bounds[static_cast<size_t>(s.b)];
        auto clipped = [low = low, high = high](double x) {
          return std::min(std::max(x, low), high);
        };
        return {clipped(at(s.a).low), clipped(at(s.a).high)};
      }
      case K::Max: {
        Bounds r = at(p_.arguments[static_cast<size_t>(s.a)]);
        for (int32_t k = s.a + 1; k < s.b; ++k) {
          Bounds x = at(p_.arguments[static_cast<size_t>(k)]);
          r = {std::max(r.low, x.low), std::max(r.high, x.high)};
        }
        return r;
      }
      case K::Choose: {
        auto argument = [&](int32_t k) { return at(p_.arguments[static_cast<size_t>(s.a + k)]); };
        Bounds c = argument(0), yes = argument(1), no = argument(2);
        if (c.low < 0 || c.high > 1) fails_ = true;  // mixed in any proportion
        return widened({std::min(yes.low, no.low), std::max(yes.high, no.high)}, kRoom);
      }
      case K::Round:
        return format_ == Format::F32 ? at(s.a) : widened(at(s.a), 0x1p-10);
    }
    return {};
  }

  /// x - max(.., x, ..) is at most 0.
  Bounds sum(const FloatProgram::Step& s) const {
    Bounds a = at(s.a), b = at(s.b), r = {a.low + b.low, a.high + b.high};
    if (below_maximum(s.a, s.b) || below_maximum(s.b, s.a)) r.high = 0;
    return r;
  }
  bool below_maximum(int32_t x, int32_t negated) const {
    const FloatProgram::Step& n = p_.steps[static_cast<size_t>(negated)];
    if (n.kind != K::Mul) return false;
    for (auto [minus, largest] : {std::pair(n.a, n.b), std::pair(n.b, n.a)}) {
      const FloatProgram::Step &c = p_.steps[static_cast<size_t>(minus)],
                               &m = p_.steps[static_cast<size_t>(largest)];
      if (c.kind != K::Constant || m.kind != K::Max) continue;
      const Tape::Number& number = p_.numbers[static_cast<size_t>(c.a)];
      if (number.d != 1 || number.n != -1) continue;
      auto first = p_.arguments.begin() + m.a, last = p_.arguments.begin() + m.b;
      if (std::find(first, last, x) != last) return true;
    }
    return false;
  }

  Bounds product(const FloatProgram::Step& s) const {
    Bounds a = at(s.a), b = at(s.b);
    Bounds r = hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    if (s.a == s.b) r.low = std::max(r.low, 0.0);
    return r;
  }

  Bounds quotient(Bounds a, Bounds b) {
    double least = b.low > 0 ? b.low : b.high < 0 ? -b.high : 0;
    if (least < kLeastDivisor) {
      fails_ = true;
      double most = largest(Format::F32);
      return {-most, most};
    }
    return hull({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
  }

  Bounds applied(Fn f, Bounds x) {
    const FnFacts& of = facts(f);
    if (of.domain == Domain::NotNegative || of.domain == Domain::Positive) {
      double least = of.domain == Domain::Positive ? std::numeric_limits<double>::min() : 0;
      fails_ = x.low < least;
      x = {std::max(x.low, least), std::max(x.high, least)};
    }
    if (of.range) return {double(of.range->low), double(of.range->high)};
    if (of.beyond_reals) return {0, 1};
    CHECK(of.increasing);  // a function without either would need its own bounds
    double low = of.value(x.low);
    return {low - 1e-6 * std::abs(low), of.value(x.high)};
  }

  const FloatProgram& p_;
  Format format_;
  double magnitude_;
  bool fails_ = false;
  std::vector<Bounds> ranges_;
};

}  // namespace

std::vector<char> cleared_steps(const FloatProgram& p, Format format, double magnitude) {
  return Ranges(p, format, magnitude).run();
}

bool fails_no_more(const FloatProgram& p, const std::vector<char>& cleared, int32_t from,
                   int32_t to) {
  std::vector<int32_t> known = cone(p, from);
  for (int32_t step : cone(p, to)) {
    bool shared = std::binary_search(known.begin(), known.end(), step);
    if (!shared && !cleared[static_cast<size_t>(step)]) return false;
  }
  return true;
}

}  // namespace regraft::verify
