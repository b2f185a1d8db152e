#include "enclosure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/algebra/trace.h"

namespace regraft::verify {
namespace {

using Real80 = long double;
constexpr Real80 kInfinity = std::numeric_limits<Real80>::infinity();
constexpr int64_t kMaxElements = 4000;
constexpr size_t kMaxSteps = 4'000'000;  // of one call

Real80 below(Real80 x, int steps = 1) {
  for (int k = 0; k < steps; ++k) x = std::nextafter(x, -kInfinity);
  return x;
}
Real80 above(Real80 x, int steps = 1) { return -below(-x, steps); }

/// The result is exact, or off by less than a unit in the last place.
Enclosed rounded(Real80 low, bool low_exact, Real80 high, bool high_exact, Residue image,
                 Defined defined) {
  Enclosed e{low_exact ? low : below(low), high_exact ? high : above(high), image, defined};
  if (std::isnan(e.low)) e.low = -kInfinity;
  if (std::isnan(e.high)) e.high = kInfinity;
  return e;
}

Enclosed anything(Residue image, Defined defined) {
  return {-kInfinity, kInfinity, image, defined};
}

struct Rounded {
  Real80 value;
  bool exact;
};
/// The error of a sum is found exactly (Knuth's TwoSum).
Rounded plus(Real80 a, Real80 b) {
  Real80 s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t) == 0};
}
Rounded times(Real80 a, Real80 b) {
  Real80 p = a * b;
  bool underflow = p != 0 && std::abs(p) < 1e-4900L;
  return {p, !underflow && !(p == 0 && a != 0 && b != 0) && std::fma(a, b, -p) == 0};
}

Enclosed add(const Enclosed& a, const Enclosed& b) {
  Rounded low = plus(a.low, b.low), high = plus(a.high, b.high);
  return rounded(low.value, low.exact, high.value, high.exact, a.image + b.image,
                 std::max(a.defined, b.defined));
}

Enclosed mul(const Enclosed& a, const Enclosed& b) {
  Residue image = a.image * b.image;
  Defined defined = std::max(a.defined, b.defined);
  Rounded low{kInfinity, true}, high{-kInfinity, true};
  for (Real80 x : {a.low, a.high})
    for (Real80 y : {b.low, b.high}) {
      Rounded p = times(x, y);
      if (std::isnan(p.value)) return anything(image, defined);
      if (p.value < low.value || (p.value == low.value && !p.exact)) low = p;
      if (p.value > high.value || (p.value == high.value && !p.exact)) high = p;
    }
  return rounded(low.value, low.exact, high.value, high.exact, image, defined);
}

/// It is 0 for certain: within the interval, and its image is.
bool is_zero(const Enclosed& x) {
  bool point = x.low == 0 && x.high == 0;
  return point || (x.low <= 0 && x.high >= 0 && is_defined(x.image) && x.image.v == 0);
}

Enclosed reciprocal(const Enclosed& x, Residue image) {
  if (is_zero(x)) return anything(image, Defined::No);
  if (x.low <= 0 && x.high >= 0) return anything(image, std::max(x.defined, Defined::Maybe));
  Rounded low{1 / x.high, false}, high{1 / x.low, false};
  low.exact = std::fma(low.value, x.high, -1.0L) == 0;
  high.exact = std::fma(high.value, x.low, -1.0L) == 0;
  return rounded(low.value, low.exact, high.value, high.exact, image, x.defined);
}

Enclosed square_root(const Enclosed& x, Residue image) {
  if (x.high < 0) return anything(image, Defined::No);
  bool zero = is_zero(x);
  Defined defined = x.low < 0 && !zero ? std::max(x.defined, Defined::Maybe) : x.defined;
  if (zero) return {0, 0, image, defined};
  Rounded low{std::sqrt(std::max<Real80>(x.low, 0)), false}, high{std::sqrt(x.high), false};
  low.exact = std::fma(low.value, low.value, -std::max<Real80>(x.low, 0)) == 0;
  high.exact = std::fma(high.value, high.value, -x.high) == 0;
  return rounded(low.value, low.exact, high.value, high.exact, image, defined);
}

/// An increasing function of the C library, whose last bits are not trusted, with this range.
template <class F>
Enclosed increasing(const Enclosed& x, Residue image, Real80 least, Real80 most, F&& f) {
  constexpr int kTrust = 16;  // units in the last place
  Real80 low = below(f(x.low), kTrust), high = above(f(x.high), kTrust);
  if (std::isnan(low)) low = least;
  if (std::isnan(high)) high = most;
  return {std::max(low, least), std::min(high, most), image, x.defined};
}

Enclosed apply(Fn f, const Enclosed& x, Field& field) {
  Residue image = field.apply(f, x.image);
  if (x.low == 0 && x.high == 0 && facts(f).zero_at_zero) return {0, 0, image, x.defined};
  switch (f) {
    case Fn::Relu:
      return {std::max<Real80>(x.low, 0), std::max<Real80>(x.high, 0), image, x.defined};
    case Fn::Exp:
      if (x.low == 0 && x.high == 0) return {1, 1, image, x.defined};
      return increasing(x, image, 0, kInfinity, [](Real80 y) { return std::exp(y); });
    case Fn::Sigmoid:
      return increasing(x, image, 0, 1, [](Real80 y) { return 1 / (1 + std::exp(-y)); });
    case Fn::Tanh:
      return increasing(x, image, -1, 1, [](Real80 y) { return std::tanh(y); });
    case Fn::Erf:
      return increasing(x, image, -1, 1, [](Real80 y) { return std::erf(y); });
    case Fn::Sqrt:
      return square_root(x, image);
    case Fn::Recip:
      return reciprocal(x, image);
    default:
      return anything(image, x.defined);
  }
}

Enclosed number(const Tape::Number& n, Field& field) {
  if (n.d == 0) return enclosed(n.real);
  if (n.d == 1) return {static_cast<Real80>(n.n), static_cast<Real80>(n.n), residue_of(n.n), {}};
  Real80 q = static_cast<Real80>(n.n) / static_cast<Real80>(n.d);
  bool exact = std::fma(q, static_cast<Real80>(n.d), -static_cast<Real80>(n.n)) == 0;
  return rounded(q, exact, q, exact, field.constant(n.n, n.d), Defined::Yes);
}

/// The values of all steps of a tape.
class Run {
 public:
  Run(const Tape& tape, const std::vector<const Array<Enclosed>*>& operands, Field& field)
      : tape_(tape), operands_(operands), field_(field) {}

  std::vector<Enclosed> all() && {
    for (const Tape::Step& s : tape_.steps) values_.push_back(value(s));
    return std::move(values_);
  }

 private:
  const Enclosed& at(int32_t step) const { return values_[static_cast<size_t>(step)]; }

  Enclosed value(const Tape::Step& s) {
    switch (s.kind) {
      case Tape::Constant:
        return number(tape_.numbers[static_cast<size_t>(s.a)], field_);
      case Tape::Read:
        return operands_[static_cast<size_t>(s.a)]->data[static_cast<size_t>(s.b)];
      case Tape::Add:
        return add(at(s.a), at(s.b));
      case Tape::Mul:
        return mul(at(s.a), at(s.b));
      case Tape::Apply:
        return apply(s.fn, at(s.a), field_);
      case Tape::Clip:
        return clip(at(s.a), tape_.bounds[static_cast<size_t>(s.b)]);
      case Tape::Max:
        return maximum(s);
      case Tape::Choose: {
        auto argument = [&](int32_t k) {
          return at(tape_.arguments[static_cast<size_t>(s.a + k)]);
        };
        return choice(argument(0), argument(1), argument(2));
      }
    }
    return {};
  }
  /// c a + (1 - c) b; of c = 1 and c = 0, a and b themselves.
  static Enclosed choice(const Enclosed& c, const Enclosed& a, const Enclosed& b) {
    if (c.low == 1 && c.high == 1 && c.defined == Defined::Yes) return a;
    if (c.low == 0 && c.high == 0 && c.defined == Defined::Yes) return b;
    return add(mul(c, a), mul(add(enclosed(1), mul(enclosed(-1), c)), b));
  }
  Enclosed clip(const Enclosed& x, const std::array<Real, 2>& bounds) {
    auto cut = [&](Real80 y) {
      return std::min<Real80>(std::max<Real80>(y, bounds[0].value), bounds[1].value);
    };
    return {cut(x.low), cut(x.high), field_.clip(x.image, bounds[0], bounds[1]), x.defined};
  }
  Enclosed maximum(const Tape::Step& s) {
    Enclosed m{-kInfinity, -kInfinity, {}, Defined::Yes};
    std::vector<Residue> images;
    for (int32_t k = s.a; k < s.b; ++k) {
      const Enclosed& x = at(tape_.arguments[static_cast<size_t>(k)]);
      m.low = std::max(m.low, x.low);
      m.high = std::max(m.high, x.high);
      m.defined = std::max(m.defined, x.defined);
      images.push_back(x.image);
    }
    m.image = field_.maximum(images);
    return m;
  }

  const Tape& tape_;
  const std::vector<const Array<Enclosed>*>& operands_;
  Field& field_;
  std::vector<Enclosed> values_;
};

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d < 1 || n > kMaxElements ? kMaxElements + 1 : d;
  return n;
}

/// The elements of one output of a call. An element is not defined where a step of its formula is
/// not, also one that a factor 0 takes away, or asks for what is not there, such as a maximum of
/// nothing.
std::optional<Array<Enclosed>> output_of(const OpDef& op, const Attrs<int64_t>& attrs,
                                         const std::vector<const Array<Enclosed>*>& operands,
                                         const std::vector<int64_t>& shape, int output,
                                         Field& field) {
  Tape tape;
  Trace trace(tape);
  std::vector<std::vector<Traced>> inputs;
  std::vector<NumTensor<Traced>> views;
  for (const auto* a : operands) {
    inputs.emplace_back();
    for (size_t e = 0; e < a->data.size(); ++e)
      inputs.back().push_back(
          trace.element(static_cast<int>(inputs.size()) - 1, static_cast<int64_t>(e)));
  }
  for (size_t k = 0; k < operands.size(); ++k)
    views.emplace_back(operands[k]->shape, inputs[k].data());
  struct Result80 {
    int32_t value;
    size_t first, last;  // steps that were made for it
    bool ok;
  };
  std::vector<Result80> results;
  for (int64_t e = 0; e < count_of(shape); ++e) {
    Traced one;
    trace.ok = true;
    size_t first = tape.steps.size();
    op.fill_trace(trace, views, attrs, shape, output, e, {&one, 1});
    results.push_back({one.step, first, tape.steps.size(), trace.ok});
    if (tape.steps.size() > kMaxSteps) return std::nullopt;
  }
  std::vector<Enclosed> values = Run(tape, operands, field).all();
  Array<Enclosed> out{shape, {}};
  for (const Result80& r : results) {
    Enclosed e = values[static_cast<size_t>(r.value)];
    for (size_t k = r.first; k < r.last; ++k) e.defined = std::max(e.defined, values[k].defined);
    if (!r.ok) e = anything({}, Defined::No);
    out.data.push_back(e);
  }
  return out;
}

enum class Form : uint8_t { Good, Ill, TooLarge };

/// One side at given sizes and inputs.
class Side80 {
 public:
  Side80(const Graph& g, const Valuation& sizes, const Inputs& inputs) : g_(g) {
    values_.resize(static_cast<size_t>(g.id_bound()));
    for (size_t k = 0; k < inputs.size(); ++k) {
      Array<Enclosed> a{inputs[k].shape, {}};
      bool truths = g.type(g.inputs()[k]).dtype == DType::Bool;
      for (double x : inputs[k].data)
        a.data.push_back(enclosed(truths ? facts(Fn::Step).value(x) : x));
      values_[static_cast<size_t>(g.inputs()[k].node)].push_back(std::move(a));
    }
    auto order = topological_order(g);
    CHECK(order.has_value());
    for (int32_t id : *order)
      if (form_ == Form::Good && g.node(id).kind == NodeKind::Call) add(id, sizes);
  }
  Form form() const { return form_; }
  const Array<Enclosed>& output(size_t k) const { return at(g_.outputs()[k]); }

 private:
  const Array<Enclosed>& at(Value v) const {
    return values_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
  }
  void add(int32_t id, const Valuation& sizes) {
    const Node& n = g_.node(id);
    std::vector<const Array<Enclosed>*> operands;
    Shapes<Reals> shapes;
    for (Value v : n.inputs) {
      operands.push_back(&at(v));
      shapes.push_back(at(v).shape);
    }
    Attrs<int64_t> attrs = evaluate(n.attrs, sizes);
    Reals reals;
    auto out = n.op->reals_semantics.infer(reals, shapes, attrs);
    if (!out || !reals.ok) return set(Form::Ill);
    for (size_t k = 0; k < out->size(); ++k) {
      const auto& shape = (*out)[k];
      if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 1; }))
        return set(Form::Ill);
      if (count_of(shape) > kMaxElements) return set(Form::TooLarge);
      auto a = output_of(*n.op, attrs, operands, shape, static_cast<int>(k), field_);
      if (!a) return set(Form::TooLarge);
      values_[static_cast<size_t>(id)].push_back(*std::move(a));
    }
  }
  void set(Form f) { form_ = f; }

  const Graph& g_;
  Field field_{2026};
  std::vector<std::vector<Array<Enclosed>>> values_;
  Form form_ = Form::Good;
};

std::optional<std::string> difference(size_t output, size_t element, const Enclosed& a,
                                      const Enclosed& b) {
  if (a.defined != Defined::Yes) return std::nullopt;
  auto numbers = fmt::format("output {} element {}: left in [{:.9g}, {:.9g}], right ", output,
                             element, static_cast<double>(a.low), static_cast<double>(a.high));
  if (b.defined == Defined::No) return numbers + "not defined";
  if (b.defined != Defined::Yes || (a.low <= b.high && b.low <= a.high)) return std::nullopt;
  return numbers + fmt::format("in [{:.9g}, {:.9g}]", static_cast<double>(b.low),
                               static_cast<double>(b.high));
}

}  // namespace

Enclosed enclosed(double x) { return {x, x, residue_of(x), Defined::Yes}; }

std::optional<std::string> certain_difference(const RuleInstance& instance, const Valuation& sizes,
                                              const Inputs& inputs) {
  Side80 left(instance.lhs, sizes, inputs);
  if (left.form() != Form::Good) return std::nullopt;
  Side80 right(instance.rhs, sizes, inputs);
  if (right.form() == Form::TooLarge) return std::nullopt;
  if (right.form() == Form::Ill) return "the right side is ill formed";
  for (size_t k = 0; k < instance.lhs.outputs().size(); ++k) {
    const auto &a = left.output(k), &b = right.output(k);
    if (a.shape != b.shape) return "the shapes differ";
    for (size_t e = 0; e < a.data.size(); ++e)
      if (auto d = difference(k, e, a.data[e], b.data[e])) return d;
  }
  return std::nullopt;
}

}  // namespace regraft::verify
