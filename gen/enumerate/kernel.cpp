#include "gen/enumerate/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gen/enumerate/modular.h"

namespace regraft::gen {
namespace {

constexpr size_t kMaxProducts = 200'000;
constexpr size_t kSideBySide = 4;  // trials that are evaluated together
constexpr Residue undefined{0, 0, std::numeric_limits<double>::quiet_NaN()};

Residue value_of(const Tape::Number& n) {
  if (n.d == 0) return residue_of(n.real);
  return n.d == 1 ? residue_of(n.n) : residue_of(n.n) * inverse(residue_of(n.d));
}

Tape::Number times(const Tape::Number& a, const Tape::Number& b) {
  if (a.d == 1 && a.n == 1) return b;
  if (b.d == 1 && b.n == 1) return a;
  return {a.n * b.n, a.d * b.d, 0};
}

}  // namespace

std::unique_ptr<const Kernel> Kernel::compile(const Label& label,
                                              const std::vector<std::vector<int64_t>>& operands,
                                              const std::vector<int64_t>& shape, int output,
                                              Compare compare) {
  auto kernel = std::make_unique<Kernel>();
  Kernel& k = *kernel;
  k.compare_ = compare;
  Trace trace(k.tape_);
  std::vector<std::vector<Traced>> inputs;
  size_t base = 1;
  for (const auto& dims : operands) {
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    k.sizes_.push_back(static_cast<size_t>(count));
    k.base_.push_back(base);
    base += static_cast<size_t>(count);
    std::vector<Traced> elements;
    for (int64_t e = 0; e < count; ++e)
      elements.push_back(trace.element(static_cast<int>(inputs.size()), e));
    inputs.push_back(std::move(elements));
  }
  std::vector<NumTensor<Traced>> views;
  for (size_t o = 0; o < operands.size(); ++o) views.emplace_back(operands[o], inputs[o].data());
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  std::vector<Traced> results(static_cast<size_t>(count));
  label.op->fill_trace(trace, views, label.attrs, shape, output, 0, results);
  if (!trace.ok) return nullptr;
  for (const Traced& t : results) k.outputs_.push_back(t.step);
  for (const Tape::Step& s : k.tape_.steps)
    if (s.kind == Tape::Apply) {
      bool partial = facts(s.fn).domain != Domain::Everywhere;
      k.partial_ = k.partial_ || partial;
      k.exponentials_ = k.exponentials_ || (!facts(s.fn).idempotent && !partial);
    }
  for (const Tape::Number& n : k.tape_.numbers) k.constants_.push_back(value_of(n));
  k.bilinear_ = k.to_products();
  if (!k.bilinear_) k.to_stages();
  return kernel;
}

void Kernel::collect(int32_t step, Tape::Number scale, std::vector<Product>& out, bool& fits) {
  const Tape::Step& s = tape_.steps[static_cast<size_t>(step)];
  auto emit = [&](uint32_t i, uint32_t j, const Tape::Number& c) {
    int32_t index = -1;
    if (!(c.d == 1 && c.n == 1)) {
      index = static_cast<int32_t>(coefficients_.size());
      coefficients_.push_back(value_of(c));
    }
    out.push_back({i, j, index});
    fits = fits && products_.size() + out.size() < kMaxProducts;
  };
  auto position = [&](const Tape::Step& read) {
    return static_cast<uint32_t>(base_[static_cast<size_t>(read.a)] + static_cast<size_t>(read.b));
  };
  if (!fits) return;
  if (s.kind == Tape::Read) return emit(position(s), 0, scale);
  if (s.kind == Tape::Constant) {
    const Tape::Number& n = tape_.numbers[static_cast<size_t>(s.a)];
    fits = fits && n.d != 0 && scale.d != 0;
    if (fits && n.n != 0) emit(0, 0, times(scale, n));
    return;
  }
  if (s.kind == Tape::Add) {
    collect(s.a, scale, out, fits);
    return collect(s.b, scale, out, fits);
  }
  if (s.kind != Tape::Mul) {
    fits = false;
    return;
  }
  const Tape::Step& a = tape_.steps[static_cast<size_t>(s.a)];
  const Tape::Step& b = tape_.steps[static_cast<size_t>(s.b)];
  if (a.kind == Tape::Read && b.kind == Tape::Read) return emit(position(a), position(b), scale);
  for (auto [number, other] : {std::pair{&a, s.b}, std::pair{&b, s.a}})
    if (number->kind == Tape::Constant) {
      const Tape::Number& n = tape_.numbers[static_cast<size_t>(number->a)];
      fits = fits && n.d != 0;
      if (fits) collect(other, times(scale, n), out, fits);
      return;
    }
  fits = false;
}

bool Kernel::to_products() {
  bool fits = true;
  for (int32_t step : outputs_) {
    begin_.push_back(static_cast<uint32_t>(products_.size()));
    std::vector<Product> out;
    collect(step, {1, 1, 0}, out, fits);
    if (!fits) {
      products_.clear();
      return false;
    }
    products_.insert(products_.end(), out.begin(), out.end());
  }
  begin_.push_back(static_cast<uint32_t>(products_.size()));
  return true;
}

bool Kernel::is_linear_in(size_t slot) const {
  if (!bilinear_ || compare_ == Compare::Doubles) return false;
  auto inside = [&](uint32_t i) { return i >= base_[slot] && i < base_[slot] + sizes_[slot]; };
  return std::none_of(products_.begin(), products_.end(),
                      [&](const Product& p) { return inside(p.i) && inside(p.j); });
}

void Kernel::to_stages() {
  std::vector<size_t> stage(tape_.steps.size(), 0);
  for (size_t k = 0; k < tape_.steps.size(); ++k) {
    const Tape::Step& s = tape_.steps[k];
    auto after = [&](int32_t step) {
      stage[k] = std::max(stage[k], stage[static_cast<size_t>(step)]);
    };
    if (s.kind == Tape::Add || s.kind == Tape::Mul) after(s.a), after(s.b);
    if (s.kind == Tape::Apply || s.kind == Tape::Clip) after(s.a);
    int32_t last = s.kind == Tape::Max ? s.b : s.kind == Tape::Choose ? s.a + 3 : s.a;
    for (int32_t a = s.a; a < last; ++a) after(tape_.arguments[static_cast<size_t>(a)]);
    if (stages_.size() <= stage[k]) stages_.resize(stage[k] + 1);
    bool quotient = s.kind == Tape::Apply && is_reciprocal(s.fn);
    Stage& own = stages_[stage[k]];
    (quotient ? own.quotients : own.steps).push_back(static_cast<int32_t>(k));
    stage[k] += quotient;
  }
}

/// The elements of `count` trials from `first` on, those of kSideBySide trials beside each other.
void Kernel::lay_out(std::span<const View> operands, size_t first, size_t count, Channels channels,
                     Scratch& s) const {
  size_t total = 1;
  for (size_t size : sizes_) total += size;
  auto lay = [&](auto& to, auto of) {
    to.resize(total * kSideBySide);
    if (count < kSideBySide) std::ranges::fill(to, 0);
    std::fill_n(to.begin(), kSideBySide, 1);
    for (size_t o = 0; o < operands.size(); ++o) {
      auto* place = to.data() + base_[o] * kSideBySide;
      const auto* from = of(operands[o]).data() + first * sizes_[o];
      for (size_t t = 0; t < count; ++t, from += sizes_[o])
        for (size_t e = 0; e < sizes_[o]; ++e) place[e * kSideBySide + t] = from[e];
    }
  };
  lay(s.v, [](const View& x) { return x.v; });
  lay(s.r, [](const View& x) { return x.r; });
  if (channels == Channels::Exponents)
    lay(s.w, [](const View& x) { return x.w; });
  else
    s.w.clear();
}

/// The sum of products of the elements x, as they are laid side by side, one for each trial.
template <bool kScaled>
auto Kernel::sum_residues(size_t output, const std::vector<uint64_t>& x, uint64_t Residue::*channel,
                          uint64_t (*reduce)(uint128_t)) const {
  std::array<uint128_t, kSideBySide> sums{};
  const Product *p = products_.data() + begin_[output],
                *last = products_.data() + begin_[output + 1];
  while (p < last) {
    for (const Product* end = p + std::min<ptrdiff_t>(last - p, kLazy); p < end; ++p) {
      const uint64_t *a = &x[p->i * kSideBySide], *b = &x[p->j * kSideBySide];
      if (kScaled && p->coefficient >= 0) {
        uint64_t c = coefficients_[static_cast<size_t>(p->coefficient)].*channel;
        for (size_t t = 0; t < kSideBySide; ++t)
          sums[t] += static_cast<uint128_t>(reduce(static_cast<uint128_t>(a[t]) * c)) * b[t];
      } else {
        for (size_t t = 0; t < kSideBySide; ++t) sums[t] += static_cast<uint128_t>(a[t]) * b[t];
      }
    }
    for (uint128_t& sum : sums) sum = reduce(sum);
  }
  return sums;
}

template <bool kScaled>
auto Kernel::sum_doubles(size_t output, const std::vector<double>& x) const {
  std::array<double, kSideBySide> sums{};
  for (size_t e = begin_[output]; e < begin_[output + 1]; ++e) {
    const Product& p = products_[e];
    const double *a = &x[p.i * kSideBySide], *b = &x[p.j * kSideBySide];
    double c =
        kScaled && p.coefficient >= 0 ? coefficients_[static_cast<size_t>(p.coefficient)].r : 1;
    for (size_t t = 0; t < kSideBySide; ++t) sums[t] += kScaled ? a[t] * b[t] * c : a[t] * b[t];
  }
  return sums;
}

template <bool kScaled>
void Kernel::evaluate_products(const Scratch& s, size_t first, size_t count, Values& out) const {
  size_t n = outputs_.size();
  for (size_t k = 0; k < n; ++k) {
    auto put = [&](auto& to, const auto& sums) {
      for (size_t t = 0; t < count; ++t)
        to[(first + t) * n + k] = static_cast<std::decay_t<decltype(to[0])>>(sums[t]);
    };
    put(out.v, sum_residues<kScaled>(k, s.v, &Residue::v, mod_p));
    put(out.r, sum_doubles<kScaled>(k, s.r));
    if (!out.w.empty()) put(out.w, sum_residues<kScaled>(k, s.w, &Residue::w, mod_q));
  }
}

/// The value of a step in the trials side by side.
void Kernel::run_step(size_t number, size_t count, Scratch& s, Field& algebra) const {
  const Tape::Step& step = tape_.steps[number];
  auto at = [&](int32_t k, size_t t) { return s.steps[static_cast<size_t>(k) * kSideBySide + t]; };
  auto each = [&](auto value) {
    for (size_t t = 0; t < count; ++t) s.steps[number * kSideBySide + t] = value(t);
  };
  switch (step.kind) {
    case Tape::Constant:
      return each([&](size_t) { return constants_[static_cast<size_t>(step.a)]; });
    case Tape::Read: {
      size_t from = base_[static_cast<size_t>(step.a)] + static_cast<size_t>(step.b);
      from *= kSideBySide;
      return each([&](size_t t) -> Residue {
        return {s.v[from + t], s.w.empty() ? 0 : s.w[from + t], s.r[from + t]};
      });
    }
    case Tape::Add:
      return each([&](size_t t) { return at(step.a, t) + at(step.b, t); });
    case Tape::Mul:
      return each([&](size_t t) { return at(step.a, t) * at(step.b, t); });
    case Tape::Apply:
      return each([&](size_t t) {
        Residue x = at(step.a, t);
        if (s.w.empty()) x.w = 1;  // not computed: never the reason why a value is undefined
        return algebra.apply(step.fn, x);
      });
    case Tape::Clip: {
      const auto& bounds = tape_.bounds[static_cast<size_t>(step.b)];
      return each([&](size_t t) { return algebra.clip(at(step.a, t), bounds[0], bounds[1]); });
    }
    case Tape::Max:
      return each([&](size_t t) {
        Residue best = at(tape_.arguments[static_cast<size_t>(step.a)], t);
        for (int32_t k = step.a + 1; k < step.b; ++k) {
          Residue x = at(tape_.arguments[static_cast<size_t>(k)], t);
          if (!decided(x.r, best.r) && !(x == best)) return undefined;
          if (x.r > best.r) best = x;
        }
        return best;
      });
    case Tape::Choose:
      return each([&](size_t t) {
        auto argument = [&](int32_t k) {
          return at(tape_.arguments[static_cast<size_t>(step.a + k)], t);
        };
        return algebra.choose(
            argument(0), [&] { return argument(1); }, [&] { return argument(2); });
      });
  }
}

bool Kernel::evaluate_tape(Scratch& s, size_t first, size_t count, Field& algebra,
                           Values& out) const {
  s.steps.resize(tape_.steps.size() * kSideBySide);
  algebra.ok = true;
  for (const Stage& stage : stages_) {
    for (int32_t step : stage.steps) run_step(static_cast<size_t>(step), count, s, algebra);
    s.divisors.clear();
    for (int32_t step : stage.quotients) {
      auto divisor = static_cast<size_t>(tape_.steps[static_cast<size_t>(step)].a);
      for (size_t t = 0; t < count; ++t) {
        s.divisors.push_back(s.steps[divisor * kSideBySide + t]);
        if (s.w.empty()) s.divisors.back().w = 1;  // not computed
      }
    }
    if (!stage.quotients.empty()) invert(s.divisors);
    for (size_t k = 0; k < stage.quotients.size(); ++k)
      for (size_t t = 0; t < count; ++t)
        s.steps[static_cast<size_t>(stage.quotients[k]) * kSideBySide + t] =
            s.divisors[k * count + t];
  }
  size_t n = outputs_.size();
  for (size_t k = 0; k < n; ++k)
    for (size_t t = 0; t < count; ++t) {
      const Residue& x = s.steps[static_cast<size_t>(outputs_[k]) * kSideBySide + t];
      const size_t to = (first + t) * n + k;
      out.v[to] = x.v;
      out.r[to] = x.r;
      if (!out.w.empty()) out.w[to] = x.w;
      if (!std::isfinite(x.r)) return false;
    }
  return algebra.ok;
}

bool Kernel::evaluate(std::span<const View> operands, int trials, Channels channels, Field& algebra,
                      Scratch& s, Values& out) const {
  out.resize(static_cast<size_t>(trials) * outputs_.size(), channels);
  auto all = static_cast<size_t>(trials);
  for (size_t first = 0; first < all; first += kSideBySide) {
    size_t count = std::min(all - first, kSideBySide);
    lay_out(operands, first, count, channels, s);
    if (bilinear_ && coefficients_.empty())
      evaluate_products<false>(s, first, count, out);
    else if (bilinear_)
      evaluate_products<true>(s, first, count, out);
    else if (!evaluate_tape(s, first, count, algebra, out))
      return false;
  }
  if (compare_ == Compare::Doubles) round(out);
  return true;
}

/// Residues that stand for the doubles.
void Kernel::round(Values& values) {
  for (size_t k = 0; k < values.v.size(); ++k) {
    Residue x = residue_of_rounded(values.r[k]);
    values.v[k] = x.v;
    if (!values.w.empty()) values.w[k] = x.w;
  }
}

std::vector<uint64_t> Kernel::functional(size_t slot, std::span<const View> operands, int trials,
                                         std::span<const uint64_t> weights) const {
  size_t n = sizes_[slot], outputs = outputs_.size();
  std::vector<uint64_t> f(static_cast<size_t>(trials) * n + 1, 0);
  auto add = [](uint64_t& to, uint64_t x) {
    to += x;
    if (to >= Residue::kPrime) to -= Residue::kPrime;
  };
  auto inside = [&](uint32_t i) { return i >= base_[slot] && i < base_[slot] + n; };
  auto value = [&](uint32_t i, size_t t) -> uint64_t {
    if (i == 0) return 1;
    size_t o = 0;
    while (o + 1 < base_.size() && i >= base_[o + 1]) ++o;
    return operands[o].v[t * sizes_[o] + i - base_[o]];
  };
  for (size_t t = 0; t < static_cast<size_t>(trials); ++t)
    for (size_t k = 0; k < outputs; ++k)
      for (uint32_t e = begin_[k]; e < begin_[k + 1]; ++e) {
        const Product& p = products_[e];
        uint64_t weight = weights[t * outputs + k];
        if (p.coefficient >= 0)
          weight = times_p(weight, coefficients_[static_cast<size_t>(p.coefficient)].v);
        if (inside(p.i))
          add(f[t * n + p.i - base_[slot]], times_p(weight, value(p.j, t)));
        else if (inside(p.j))
          add(f[t * n + p.j - base_[slot]], times_p(weight, value(p.i, t)));
        else
          add(f.back(), times_p(weight, times_p(value(p.i, t), value(p.j, t))));
      }
  return f;
}

bool Kernel::compares() const {
  return std::ranges::any_of(tape_.steps, [](const Tape::Step& s) {
    return s.kind == Tape::Clip || s.kind == Tape::Max || s.kind == Tape::Choose ||
           (s.kind == Tape::Apply && facts(s.fn).idempotent);
  });
}

std::unique_ptr<const Kernel> kernel_of(const OpDef& op) {
  Sample sample = op.samples().front();
  Label label{&op, sample.attrs, {}, 1};
  Field algebra;
  auto outputs = op.field_semantics.infer(algebra, sample.shapes, sample.attrs);
  CHECK(outputs && algebra.ok);
  return Kernel::compile(label, sample.shapes, outputs->front(), 0);
}

}  // namespace regraft::gen
