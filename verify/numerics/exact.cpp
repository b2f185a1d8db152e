#include "verify/numerics/exact.h"

#define MPFR_USE_NO_MACRO  // functions, which take what converts to their arguments
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace regraft::verify {
namespace {

using K = FloatProgram::Kind;
using Ball = ExactValues::Ball;

constexpr double kUnit = 0x1p-52;    // error of an operation on doubles, with room
constexpr double kEnough = 0x1p-30;  // relative error of nine digits
constexpr double kNothing = 1e-60;   // far below the smallest number of any format
constexpr double kTiny = 1e-250;     // below, errors of doubles may be no doubles
constexpr double kLost = 1e-260;     // above what one operation loses there
constexpr mpfr_prec_t kPrecisions[] = {128, 512, 2048};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// The value when the bound for its error is small enough: all numbers within it are rounded alike.
std::optional<double> settled(double value, double error, std::optional<Format> format) {
  if (format) {
    const float low = rounded(static_cast<float>(value - error), *format);
    const float high = rounded(static_cast<float>(value + error), *format);
    return low == high ? std::optional(value) : std::nullopt;
  }
  if (std::abs(value) + error < kNothing) return value;
  if (!(error <= std::abs(value) * kEnough) || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A multiprecision number that frees itself.
class Number {
 public:
  explicit Number(mpfr_prec_t bits) { mpfr_init2(x_, bits); }
  ~Number() { mpfr_clear(x_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return x_; }
  operator mpfr_srcptr() const { return x_; }

 private:
  mpfr_t x_;
};

struct Interval {
  Number low, high;
  bool defined = true;
  explicit Interval(mpfr_prec_t bits) : low(bits), high(bits) {}
};

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/// 1 / (1 + exp(-x)), rounded towards `rnd`.
int sigmoid(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t rnd) {
  mpfr_rnd_t other = rnd == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
  mpfr_neg(out, x, MPFR_RNDN);
  mpfr_exp(out, out, other);
  mpfr_add_ui(out, out, 1, other);
  return mpfr_ui_div(out, 1, out, rnd);
}

/// 1 where x > 0, else 0.
int step(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t rnd) {
  return mpfr_set_si(out, mpfr_sgn(x) > 0 ? 1 : 0, rnd);
}
/// A function of doubles that increases, rounded towards `rnd`.
template <Fn F>
int by_doubles(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t rnd) {
  return mpfr_set_d(out, facts(F).value(mpfr_get_d(x, rnd)), rnd);
}
/// 0: no number is what it tells.
int never(mpfr_ptr out, mpfr_srcptr, mpfr_rnd_t rnd) { return mpfr_set_si(out, 0, rnd); }

Function function(Fn f) {
  constexpr Function none = nullptr;
  constexpr Function half = by_doubles<Fn::Half>;
  constexpr Function brain = by_doubles<Fn::Brain>;
  constexpr Function single = by_doubles<Fn::Single>;
#define REGRAFT_FUNCTION(id, mpfr, ...) mpfr,
  static constexpr Function kExact[] = {
#include "ir/algebra/functions.def"
  };
#undef REGRAFT_FUNCTION
  return kExact[static_cast<size_t>(f)];
}

/// One element, in intervals of a given precision.
class Precise {
 public:
  /// Of the last of these steps, which are all that it needs, in order.
  Precise(const FloatProgram& p, const Points& points, const std::vector<int32_t>& steps,
          mpfr_prec_t bits)
      : p_(p), points_(points), bits_(bits), steps_(steps), scratch_(bits) {
    place_.assign(static_cast<size_t>(steps.back()) + 1, -1);
    for (int32_t k : steps) {
      place_[static_cast<size_t>(k)] = static_cast<int32_t>(values_.size());
      values_.emplace_back(bits);
    }
  }

  std::optional<double> at(size_t point, std::optional<Format> format) {
    point_ = point;
    for (size_t k = 0; k < steps_.size(); ++k) {
      Interval& out = values_[k];
      out.defined = true;
      evaluate(p_.steps[static_cast<size_t>(steps_[k])], out);
      out.defined = out.defined && !mpfr_nan_p(out.low) && !mpfr_nan_p(out.high);
      if (!out.defined) return std::nullopt;
    }
    const Interval& r = values_.back();
    mpfr_sub(scratch_, r.high, r.low, MPFR_RNDU);
    return settled(mpfr_get_d(r.low, MPFR_RNDN), mpfr_get_d(scratch_, MPFR_RNDU), format);
  }

 private:
  Interval& of(int32_t step) {
    return values_[static_cast<size_t>(place_[static_cast<size_t>(step)])];
  }
  static void set(Interval& out, double x) {
    mpfr_set_d(out.low, x, MPFR_RNDD);
    mpfr_set_d(out.high, x, MPFR_RNDU);
  }
  static void set(Interval& out, mpfr_srcptr low, mpfr_srcptr high) {
    mpfr_set(out.low, low, MPFR_RNDD);
    mpfr_set(out.high, high, MPFR_RNDU);
  }

  void evaluate(const FloatProgram::Step& s, Interval& out) {
    switch (s.kind) {
      case K::Constant:
        return constant(p_.numbers[static_cast<size_t>(s.a)], out);
      case K::Read:
        return set(out, points_.of(s.a, s.b)[point_]);
      case K::Add:
        mpfr_add(out.low, of(s.a).low, of(s.b).low, MPFR_RNDD);
        mpfr_add(out.high, of(s.a).high, of(s.b).high, MPFR_RNDU);
        return;
      case K::Mul:
        return s.a == s.b ? square(of(s.a), out) : product(of(s.a), of(s.b), out);
      case K::Div:
        out.defined = mpfr_sgn(of(s.b).low) * mpfr_sgn(of(s.b).high) > 0;
        if (out.defined) quotient(of(s.a), of(s.b), out);
        return;
      case K::Apply:
        return apply(s.fn, of(s.a), out);
      case K::Clip:
        return clip(of(s.a), p_.bounds[static_cast<size_t>(s.b)], out);
      case K::Max: {
        const Interval& first = of(p_.arguments[static_cast<size_t>(s.a)]);
        set(out, first.low, first.high);
        for (int32_t k = s.a + 1; k < s.b; ++k) {
          const Interval& x = of(p_.arguments[static_cast<size_t>(k)]);
          mpfr_max(out.low, out.low, x.low, MPFR_RNDD);
          mpfr_max(out.high, out.high, x.high, MPFR_RNDU);
        }
        return;
      }
      case K::Choose:
        return choose(s, out);
      case K::Round:
        return set(out, of(s.a).low, of(s.a).high);
    }
  }

  /// An increasing function by its ends, another by how far it is from its value at one of them.
  void apply(Fn f, const Interval& x, Interval& out) {
    bool increasing = facts(f).increasing;
    function(f)(out.low, x.low, MPFR_RNDD);
    function(f)(out.high, increasing ? x.high : x.low, MPFR_RNDU);
    if (increasing) return;
    mpfr_sub(scratch_, x.high, x.low, MPFR_RNDU);
    double spread = facts(f).spread(0, 0, mpfr_get_d(scratch_, MPFR_RNDU));
    mpfr_sub_d(out.low, out.low, spread, MPFR_RNDD);
    mpfr_add_d(out.high, out.high, spread, MPFR_RNDU);
  }

  /// c a + (1 - c) b
  void choose(const FloatProgram::Step& s, Interval& out) {
    auto argument = [&](int32_t k) -> const Interval& {
      return of(p_.arguments[static_cast<size_t>(s.a + k)]);
    };
    const Interval &c = argument(0), &a = argument(1), &b = argument(2);
    auto is = [&](unsigned long n) { return !mpfr_cmp_ui(c.low, n) && !mpfr_cmp_ui(c.high, n); };
    if (is(1)) return set(out, a.low, a.high);
    if (is(0)) return set(out, b.low, b.high);
    Interval rest(bits_), other(bits_);
    mpfr_ui_sub(rest.low, 1, c.high, MPFR_RNDD);
    mpfr_ui_sub(rest.high, 1, c.low, MPFR_RNDU);
    product(c, a, out);
    product(rest, b, other);
    mpfr_add(out.low, out.low, other.low, MPFR_RNDD);
    mpfr_add(out.high, out.high, other.high, MPFR_RNDU);
  }

  static void constant(const Tape::Number& n, Interval& out) {
    if (n.d == 0) return set(out, n.real);
    for (auto [end, rnd] : {std::pair<mpfr_ptr, mpfr_rnd_t>(out.low, MPFR_RNDD),
                            std::pair<mpfr_ptr, mpfr_rnd_t>(out.high, MPFR_RNDU)}) {
      mpfr_set_si(end, static_cast<long>(n.n), rnd);
      mpfr_div_si(end, end, static_cast<long>(n.d), rnd);
    }
  }

  void square(const Interval& a, Interval& out) {
    mpfr_sqr(out.low, a.low, MPFR_RNDD);
    mpfr_sqr(out.high, a.high, MPFR_RNDU);
    if (mpfr_sgn(a.low) >= 0) return;
    if (mpfr_sgn(a.high) > 0) {
      mpfr_sqr(scratch_, a.low, MPFR_RNDU);
      mpfr_max(out.high, out.high, scratch_, MPFR_RNDU);
      mpfr_set_zero(out.low, 1);
      return;
    }
    mpfr_sqr(out.low, a.high, MPFR_RNDD);
    mpfr_sqr(out.high, a.low, MPFR_RNDU);
  }

  /// 1 or -1: all of it is at least, at most 0; 0: neither, or an end is not finite.
  static int side(const Interval& x) {
    if (!mpfr_number_p(x.low) || !mpfr_number_p(x.high)) return 0;
    return mpfr_sgn(x.low) >= 0 ? 1 : mpfr_sgn(x.high) <= 0 ? -1 : 0;
  }
  /// Where both keep to a side of 0 the ends with the extremes are known.
  void product(const Interval& a, const Interval& b, Interval& out) {
    const int x = side(a), y = side(b);
    if (x == 0 || y == 0) return extremes(mpfr_mul, a, b, out);
    mpfr_mul(out.low, y > 0 ? a.low : a.high, x > 0 ? b.low : b.high, MPFR_RNDD);
    mpfr_mul(out.high, y > 0 ? a.high : a.low, x > 0 ? b.high : b.low, MPFR_RNDU);
  }
  /// b is on one side of 0.
  void quotient(const Interval& a, const Interval& b, Interval& out) {
    const int x = side(a), y = side(b);
    if (x == 0 || y == 0) return extremes(mpfr_div, a, b, out);
    mpfr_div(out.low, y > 0 ? a.low : a.high, x > 0 ? b.high : b.low, MPFR_RNDD);
    mpfr_div(out.high, y > 0 ? a.high : a.low, x > 0 ? b.low : b.high, MPFR_RNDU);
  }
  /// Of an operation that is monotone in each operand: its extremes are at the ends.
  template <class Op>
  void extremes(Op op, const Interval& a, const Interval& b, Interval& out) {
    op(out.low, a.low, b.low, MPFR_RNDD);
    op(out.high, a.low, b.low, MPFR_RNDU);
    for (auto [x, y] : {std::pair<mpfr_srcptr, mpfr_srcptr>(a.low, b.high),
                        std::pair<mpfr_srcptr, mpfr_srcptr>(a.high, b.low),
                        std::pair<mpfr_srcptr, mpfr_srcptr>(a.high, b.high)}) {
      op(scratch_, x, y, MPFR_RNDD);
      mpfr_min(out.low, out.low, scratch_, MPFR_RNDD);
      op(scratch_, x, y, MPFR_RNDU);
      mpfr_max(out.high, out.high, scratch_, MPFR_RNDU);
    }
  }

  static void clip(const Interval& x, const std::array<double, 2>& bounds, Interval& out) {
    set(out, x.low, x.high);
    for (mpfr_ptr end : {static_cast<mpfr_ptr>(out.low), static_cast<mpfr_ptr>(out.high)}) {
      if (mpfr_cmp_d(end, bounds[0]) < 0) mpfr_set_d(end, bounds[0], MPFR_RNDN);
      if (mpfr_cmp_d(end, bounds[1]) > 0) mpfr_set_d(end, bounds[1], MPFR_RNDN);
    }
  }

  const FloatProgram& p_;
  const Points& points_;
  size_t point_ = 0;
  mpfr_prec_t bits_;
  std::vector<int32_t> steps_;
  Number scratch_;
  std::deque<Interval> values_;  // of steps_
  std::vector<int32_t> place_;   // by step: in values_
};

}  // namespace

/// An element by whichever side needs fewer steps.
struct ExactValues::Multiprecision {
  Multiprecision(const FloatProgram& program, const Points& drawn,
                 const FloatProgram::Element& element)
      : p(program), points(drawn), steps(cone(program, element.left)) {
    if (auto right = cone(p, element.right); right.size() < steps.size()) steps = std::move(right);
  }
  std::optional<double> at(size_t point, std::optional<Format> format) {
    for (size_t k = 0; k < std::size(kPrecisions); ++k) {
      if (tried.size() == k)
        tried.push_back(std::make_unique<Precise>(p, points, steps, kPrecisions[k]));
      if (auto v = tried[k]->at(point, format)) return v;
    }
    return std::nullopt;
  }
  const FloatProgram& p;
  const Points& points;
  std::vector<int32_t> steps;
  std::vector<std::unique_ptr<Precise>> tried;  ///< by precision
};

ExactValues::~ExactValues() = default;

ExactValues::ExactValues(const FloatProgram& p, const Points& points, std::optional<Format> format)
    : p_(p), points_(points), format_(format), rows_(rows_of_elements(p)) {
  evaluate();
}

namespace {

/// Below kTiny an operation loses more than its relative error says, but far less than kNothing.
Ball sure(Ball r) {
  if (!std::isfinite(r.value)) return {r.value, kUnknown};
  return std::abs(r.value) < kTiny ? Ball{r.value, r.error + kLost} : r;
}

bool is_zero(Ball x) { return x.value == 0 && x.error == 0; }

/// A bound for what was added up in doubles to `error`, which is none if that is 0.
double bound(double error) { return error * (1 + 8 * kUnit); }

/// The error of the sum itself is known (Knuth, TwoSum).
Ball sum(Ball a, Ball b) {
  double v = a.value + b.value, part = v - a.value;
  double lost = (a.value - (v - part)) + (b.value - part);
  return {v, bound(a.error + b.error + std::abs(lost))};
}

/// a and b in halves whose products are exact (Dekker, Veltkamp).
double lost_by_product(double a, double b, double product) {
  constexpr double kSplit = 0x1p27 + 1;
  const double ta = kSplit * a, tb = kSplit * b;
  const double ah = ta - (ta - a), al = a - ah, bh = tb - (tb - b), bl = b - bh;
  return ((ah * bh - product) + ah * bl + al * bh) + al * bl;
}

Ball product(Ball a, Ball b) {
  double v = a.value * b.value;
  double e = bound(std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error +
                   std::abs(lost_by_product(a.value, b.value, v)));
  return is_zero(a) || is_zero(b) ? Ball{v, e} : sure({v, e});
}

Ball quotient(Ball a, Ball b) {
  double v = a.value / b.value, least = std::abs(b.value) - b.error, back = v * b.value;
  double rest = (a.value - back) - lost_by_product(v, b.value, back);
  double e = bound((a.error + std::abs(v) * b.error + std::abs(rest)) / least);
  if (!(least > 0)) return {v, kUnknown};
  return is_zero(a) ? Ball{v, e} : sure({v, e});
}

Ball image(const FnFacts& f, Ball x) {
  const double y = f.value(x.value), e = f.spread(x.value, y, x.error);
  if (f.units == 0) return std::isfinite(y) ? Ball{y, e} : Ball{y, kUnknown};
  return sure({y, e + f.units * kUnit * std::abs(y)});
}

Ball larger(Ball a, Ball b) {
  bool known = a.error >= 0 && b.error >= 0;
  return {std::max(a.value, b.value), known ? std::max(a.error, b.error) : kUnknown};
}

Ball choice(Ball c, Ball yes, Ball no) {
  bool clear = c.error == 0 && (c.value == 0 || c.value == 1);
  return clear ? (c.value == 1 ? yes : no) : Ball{0, kUnknown};
}

Ball exactly(const Tape::Number& c) {
  if (c.d == 0) return {c.real, 0};
  double x = static_cast<double>(c.n) / static_cast<double>(c.d);
  return {x, c.d == 1 ? 0 : std::abs(x) * kUnit};
}

constexpr size_t kBlockOfBalls = 32;  // points side by side: all steps of them fit into a cache

/// One step at all points of a block.
struct BallRow {
  double* value;
  double* error;
  Ball operator[](size_t d) const { return {value[d], error[d]}; }
};

/// Steps in doubles, each at all points of a block.
class Doubles {
 public:
  Doubles(const FloatProgram& p, const Points& points)
      : p_(p), points_(points), numbers_(2 * p.steps.size() * kBlockOfBalls) {}

  /// At `count` points from `first` on.
  void run(size_t first, size_t count) {
    first_ = first;
    count_ = count;
    for (size_t k = 0; k < p_.steps.size(); ++k) evaluate(k);
  }
  BallRow row(size_t step) {
    double* values = numbers_.data() + 2 * step * kBlockOfBalls;
    return {values, values + kBlockOfBalls};
  }

 private:
  void evaluate(size_t k) {
    const FloatProgram::Step& s = p_.steps[k];
    const BallRow out = row(k);
    auto of = [&](int32_t step) { return row(static_cast<size_t>(step)); };
    auto argument = [&](int32_t n) { return of(p_.arguments[static_cast<size_t>(s.a + n)]); };
    auto each = [&](auto f) {
      double* __restrict values = out.value, * __restrict errors = out.error;  // no operand's
      for (size_t d = 0; d < count_; ++d) {
        const Ball r = f(d);
        values[d] = r.value;
        errors[d] = r.error;
      }
    };
    switch (s.kind) {
      case K::Constant:
        return each([c = exactly(p_.numbers[static_cast<size_t>(s.a)])](size_t) { return c; });
      case K::Read: {
        const float* in = points_.of(s.a, s.b) + first_;
        return each([&](size_t d) { return Ball{in[d], 0}; });
      }
      case K::Add:
        return each([a = of(s.a), b = of(s.b)](size_t d) { return sum(a[d], b[d]); });
      case K::Mul:
        return each([a = of(s.a), b = of(s.b)](size_t d) { return product(a[d], b[d]); });
      case K::Div:
        return each([a = of(s.a), b = of(s.b)](size_t d) { return quotient(a[d], b[d]); });
      case K::Apply:
        return each([a = of(s.a), &f = facts(s.fn)](size_t d) { return image(f, a[d]); });
      case K::Clip: {
        auto [low, high] = p_.bounds[static_cast<size_t>(s.b)];
        return each([a = of(s.a), low = low, high = high](size_t d) {
          return Ball{std::min(std::max(a[d].value, low), high), a[d].error};
        });
      }
      case K::Max: {
        each([a = argument(0)](size_t d) { return a[d]; });
        for (int32_t n = 1; n < s.b - s.a; ++n)
          for (size_t d = 0; d < count_; ++d) {
            const Ball r = larger(out[d], argument(n)[d]);
            out.value[d] = r.value;
            out.error[d] = r.error;
          }
        return;
      }
      case K::Choose:
        return each([c = argument(0), yes = argument(1), no = argument(2)](size_t d) {
          return choice(c[d], yes[d], no[d]);
        });
      case K::Round:
        return each([a = of(s.a)](size_t d) { return a[d]; });
    }
  }

  const FloatProgram& p_;
  const Points& points_;
  size_t first_ = 0, count_ = 0;
  std::vector<double> numbers_;  // by step: values at the points of the block, then errors
};

}  // namespace

void ExactValues::evaluate() {
  const auto kept = std::ranges::count_if(rows_, [](int32_t row) { return row >= 0; });
  balls_.resize(static_cast<size_t>(kept) * points_.count);
  Doubles doubles(p_, points_);
  for (size_t first = 0; first < points_.count; first += kBlockOfBalls) {
    const size_t count = std::min(kBlockOfBalls, points_.count - first);
    doubles.run(first, count);
    for (size_t k = 0; k < rows_.size(); ++k) {
      if (rows_[k] < 0) continue;
      const BallRow from = doubles.row(k);
      Ball* to = balls_.data() + static_cast<size_t>(rows_[k]) * points_.count + first;
      for (size_t d = 0; d < count; ++d) to[d] = from[d];
    }
  }
}

std::optional<double> ExactValues::value(const FloatProgram::Element& element, size_t point) {
  for (int32_t side : {element.left, element.right}) {
    const Ball& b = at(side, point);
    if (auto v = settled(b.value, b.error, format_)) return v;
  }
  ++runs_;
  auto& precise = precise_[{element.left, element.right}];
  if (!precise) precise = std::make_unique<Multiprecision>(p_, points_, element);
  return precise->at(point, format_);
}

}  // namespace regraft::verify
