#include "verify/numerics/numerics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/hash.h"
#include "base/resources.h"
#include "ir/rule/text.h"
#include "verify/numerics/exact.h"
#include "verify/numerics/float_range.h"
#include "verify/numerics/points.h"
#include "verify/numerics/settings.h"
#include "verify/numerics/small_sizes.h"

namespace regraft::verify {
namespace {

constexpr size_t kElements = 4;         // looked at, of each setting
constexpr size_t kPoints = 252;         // compared with exact values, of each setting
constexpr size_t kLimitedPoints = 768;  // looked at for what fails
constexpr double kMeanBits = 2, kTailBits = 8;
constexpr double kTail = 0.999;
constexpr size_t kSimplified = 64;  // elements of inputs that are made 0 or 1 one by one

enum class Way : uint8_t { Forward, Backward };

/// A setting with the elements that are looked at: such as are not the same step on both sides.
struct Looked {
  const Setting* setting = nullptr;
  FloatProgram program;
  Wanted reads = {};  ///< elements of inputs
};

Wanted reads_of(const FloatProgram& p) {
  Wanted r;
  for (const auto& shape : p.inputs) r.emplace_back(elements_of(shape), 0);
  for (const FloatProgram::Step& s : p.steps)
    if (s.kind == FloatProgram::Read) r[static_cast<size_t>(s.a)][static_cast<size_t>(s.b)] = 1;
  return r;
}

using Element = FloatProgram::Element;
int32_t from(const Element& e, Way way) { return way == Way::Forward ? e.left : e.right; }
int32_t to(const Element& e, Way way) { return way == Way::Forward ? e.right : e.left; }

/// "0*3 1 2.5": equal neighbours are counted.
std::string run_lengths(const std::vector<float>& x) {
  std::string s;
  for (size_t k = 0; k < x.size();) {
    size_t n = 1;
    while (k + n < x.size() && x[k + n] == x[k]) ++n;
    s += fmt::format("{}{:.9g}", s.empty() ? "" : " ", x[k]);
    if (n > 1) s += fmt::format("*{}", n);
    k += n;
  }
  return s;
}

/// One point at which a rule does harm.
class Witness {
 public:
  Witness(const Looked& looked, size_t element, Format format, Way way)
      : looked_(looked), element_(element), format_(format), way_(way) {}

  /// The point, with inputs that are 0 or 1 where `harmful` stays true.
  template <class F>
  std::string simplified(const Points& points, size_t point, F&& harmful) {
    one_.count = 1;
    for (const auto& input : points.inputs) {
      auto& x = one_.inputs.emplace_back(input.size() / points.count);
      for (size_t e = 0; e < x.size(); ++e) x[e] = input[e * points.count + point];
    }
    size_t left = kSimplified;
    for (auto& input : one_.inputs)
      for (float& x : input)
        for (float simple : {0.0f, 1.0f}) {
          if (x == simple || left == 0) break;
          left -= simple == 1 ? 1 : 0;
          float before = std::exchange(x, simple);
          if (harmful(run(), one_)) break;
          x = before;
        }
    return text();
  }

 private:
  FloatRun run() const { return run_floats(looked_.program, one_, format_); }
  std::string text() const {
    const Element& e = looked_.program.elements[element_];
    FloatRun r = run();
    auto value = [&](int32_t step) { return r.value(step, 0); };
    std::string s =
        fmt::format("{} {}: output {} at [{}] is {:.9g} before and {:.9g} after",
                    format_ == Format::F32 ? "float32" : "float16", describe(*looked_.setting),
                    e.output, fmt::join(e.position, ","), value(from(e, way_)), value(to(e, way_)));
    if (auto exact = ExactValues(looked_.program, one_, std::nullopt).value(e, 0))
      s += fmt::format(", exactly {:.9g}", *exact + 0.0);  // no -0
    const auto& inputs = looked_.setting->instance->lhs.inputs();
    for (size_t k = 0; k < one_.inputs.size(); ++k) {
      const Node& n = looked_.setting->instance->lhs.node(inputs[k].node);
      s +=
          fmt::format("; {}=({})", n.names.empty() ? "x" : n.names[0], run_lengths(one_.inputs[k]));
    }
    return s;
  }

  const Looked& looked_;
  size_t element_;
  Format format_;
  Way way_;
  Points one_;
};

/// The value that `rank` of these are at least as large as; 0 of few.
double from_top(std::vector<double> values, size_t rank) {
  if (values.empty()) return 0;
  auto place = values.begin() + static_cast<std::ptrdiff_t>(std::min(rank, values.size()) - 1);
  std::nth_element(values.begin(), place, values.end(), std::greater<>());
  return *place;
}

/// How much larger the 99.9th percentile is, as far as that is clear of chance: of so few samples
/// the rank of a percentile is known to two standard deviations, and the elements of a point are no
/// independent samples.
double tail_growth(const std::vector<double>& before, const std::vector<double>& after) {
  double rank = std::max(1.0, (1 - kTail) * static_cast<double>(before.size()));
  double doubt = 2 * std::sqrt(rank * static_cast<double>(kElements));
  return from_top(after, static_cast<size_t>(rank + doubt)) -
         from_top(before, static_cast<size_t>(rank));
}

double mean(const std::vector<double>& values) {
  double total = 0;
  for (double x : values) total += x;
  return values.empty() ? 0 : total / static_cast<double>(values.size());
}

/// One format.
class FormatJudge {
 public:
  FormatJudge(const std::vector<Looked>& looked, Format format, uint64_t seed,
              NumericsReport& report)
      : looked_(looked), format_(format), seed_(seed), report_(report), limited_(looked.size()) {}

  /// Empty: nothing wrong.
  struct Harm {
    std::string forward, backward;
    bool forward_proved = true, backward_proved = true;
  };
  Harm run(bool both) {
    look_for_failures(Way::Forward);
    if (both) look_for_failures(Way::Backward);
    bool done = !harm_.forward.empty() && (!both || !harm_.backward.empty());
    if (done) return std::move(harm_);
    measure_errors();
    compare(Way::Forward);
    if (both) compare(Way::Backward);
    return std::move(harm_);
  }

 private:
  std::string& harm(Way way) { return way == Way::Forward ? harm_.forward : harm_.backward; }
  bool& proved(Way way) {
    return way == Way::Forward ? harm_.forward_proved : harm_.backward_proved;
  }

  static bool fails(const FloatRun& r, const Element& e, Way way, size_t point) {
    return r.broken(to(e, way), point) && !r.broken(from(e, way), point);
  }

  static bool chooses(const FloatProgram& p) {
    return std::any_of(p.steps.begin(), p.steps.end(),
                       [](const auto& s) { return s.kind == FloatProgram::Choose; });
  }
  void look_for_failures(Way way) {
    for (size_t k = 0; k < looked_.size() && harm(way).empty(); ++k) {
      const FloatProgram& p = looked_[k].program;
      auto cleared = cleared_steps(p, format_, magnitude_limit(format_));
      bool all = std::all_of(p.elements.begin(), p.elements.end(), [&](const Element& e) {
        return fails_no_more(p, cleared, from(e, way), to(e, way));
      });
      if (all && !chooses(p)) continue;
      proved(way) = false;
      if (!limited_[k]) limited_[k] = run_floats(p, limited_points(k, looked_[k].reads), format_);
      harm(way) = first_failure(k, *limited_[k], way);
    }
  }
  Points limited_points(size_t k, const Wanted& wanted) const {
    const FloatProgram& p = looked_[k].program;
    Points points =
        draw_limited_points(p.inputs, format_, combine(seed_, 1000 + k), kLimitedPoints, wanted);
    return chooses(p) ? with_infinities(std::move(points), combine(seed_, 2000 + k)) : points;
  }
  std::string first_failure(size_t k, const FloatRun& r, Way way) const {
    const Looked& looked = looked_[k];
    for (size_t d = 0; d < kLimitedPoints; ++d)
      for (size_t e = 0; e < looked.program.elements.size(); ++e)
        if (fails(r, looked.program.elements[e], way, d))
          return Witness(looked, e, format_, way)
              .simplified(limited_points(k, {}), d, [&](const FloatRun& one, const Points&) {
                return fails(one, looked.program.elements[e], way, 0);
              });
    return {};
  }

  void measure_errors() {
    for (size_t k = 0; k < looked_.size(); ++k) {
      const FloatProgram& p = looked_[k].program;
      Points points = draw_points(p.inputs, format_, combine(seed_, k), kPoints, looked_[k].reads);
      FloatRun r = run_floats(p, points, format_);
      ExactValues exact(p, points, format_);
      for (size_t e = 0; e < p.elements.size(); ++e)
        for (size_t d = 0; d < points.count; ++d) add(k, e, d, r, exact);
      report_.multiprecision_runs += exact.multiprecision_runs();
    }
    report_.samples +=
        std::max(errors(Way::Forward).before.size(), errors(Way::Backward).before.size());
  }

  void add(size_t k, size_t e, size_t d, const FloatRun& r, ExactValues& exact) {
    const Element& element = looked_[k].program.elements[e];
    const float left = r.value(element.left, d), right = r.value(element.right, d);
    if (!std::isfinite(left) && !std::isfinite(right)) return;
    auto real = exact.value(element, d);
    if (!real || !std::isfinite(rounded(static_cast<float>(*real), format_))) return;
    const double bits[] = {bits_of_error(left, *real, format_),
                           bits_of_error(right, *real, format_)};
    for (Way way : {Way::Forward, Way::Backward}) {
      const size_t before = way == Way::Forward ? 0 : 1;
      if (!has_value(from(element, way), d, r, exact)) continue;
      Errors& all = errors(way);
      all.before.push_back(bits[before]);
      all.after.push_back(bits[1 - before]);
      note(all.worst, bits[1 - before] - bits[before], {k, e, d});
    }
  }

  /// A side that is not defined at a point makes no error there that the other could be measured
  /// by.
  static bool has_value(int32_t side, size_t point, const FloatRun& r, ExactValues& exact) {
    return std::isfinite(r.value(side, point)) || exact.value({.left = side, .right = side}, point);
  }

  struct Place {
    size_t looked = 0, element = 0, point = 0;
  };
  /// Where the error grows most: among inputs within the limit, and among all.
  struct Worst {
    double usual_bits = 0, bits = 0;
    Place usual, any;
    std::pair<double, Place> shown() const {
      return usual_bits >= kTailBits ? std::pair(usual_bits, usual) : std::pair(bits, any);
    }
  };
  /// In bits, at the points where the side before has a value.
  struct Errors {
    std::vector<double> before, after;
    Worst worst;
  };
  Errors& errors(Way way) { return way == Way::Forward ? forward_ : backward_; }
  static void note(Worst& worst, double bits, Place place) {
    bool within = !is_unlimited(place.point);
    if (within && bits > worst.usual_bits + 1) {
      worst.usual_bits = bits;
      worst.usual = place;
    }
    if (bits > worst.bits + 1) {
      worst.bits = bits;
      worst.any = place;
    }
  }

  void compare(Way way) {
    if (!harm(way).empty()) return;
    const Errors& all = errors(way);
    double more = mean(all.after) - mean(all.before);
    double tail = tail_growth(all.before, all.after);
    if (more <= kMeanBits && tail <= kTailBits) return;
    auto [bits, worst] = all.worst.shown();
    const Looked& looked = looked_[worst.looked];
    const Element& e = looked.program.elements[worst.element];
    Points points =
        draw_points(looked.program.inputs, format_, combine(seed_, worst.looked), kPoints);
    std::string at =
        Witness(looked, worst.element, format_, way)
            .simplified(points, worst.point, [&, bits = bits](const FloatRun& r, const Points& p) {
              auto real = ExactValues(looked.program, p, format_).value(e, 0);
              return real && error_of(r, to(e, way), *real) - error_of(r, from(e, way), *real) >=
                                 0.75 * bits;
            });
    harm(way) = fmt::format("{} ({:+.1f} bits on the mean, {:+.1f} at the 99.9th percentile)", at,
                            more, tail);
  }
  double error_of(const FloatRun& r, int32_t step, double real) const {
    return bits_of_error(r.value(step, 0), real, format_);
  }

  const std::vector<Looked>& looked_;
  Format format_;
  uint64_t seed_;
  NumericsReport& report_;
  std::vector<std::optional<FloatRun>> limited_;  // at limited_points, of those looked at so far
  Harm harm_;
  Errors forward_, backward_;
};

bool is_exact(const Settings& settings) {
  return std::all_of(settings.all.begin(), settings.all.end(), [](const Setting& s) {
    return std::all_of(s.program.elements.begin(), s.program.elements.end(),
                       [](const Element& e) { return e.left == e.right; });
  });
}

std::vector<Looked> looked_at(const Settings& settings) {
  std::vector<Looked> all;
  for (const Setting& s : settings.all) {
    std::vector<size_t> differing, chosen;
    for (size_t e = 0; e < s.program.elements.size(); ++e)
      if (s.program.elements[e].left != s.program.elements[e].right) differing.push_back(e);
    size_t wanted = std::min(differing.size(), kElements);
    for (size_t k = 0; k < wanted; ++k) chosen.push_back(differing[k * differing.size() / wanted]);
    if (wanted == 0) continue;
    all.push_back({&s, pruned(s.program, chosen)});
    all.back().reads = reads_of(all.back().program);
  }
  return all;
}

NumericVerdict verdict(std::string single, std::string half) {
  if (!single.empty()) return {Numerics::Unsafe, std::move(single)};
  if (!half.empty()) return {Numerics::RoundingF32, std::move(half)};
  return {Numerics::Rounding, {}};
}

enum class Directions : uint8_t { Forward, Both };

void judge(const Settings& settings, Directions directions, uint64_t seed, NumericsReport& report) {
  bool both = directions == Directions::Both;
  if (settings.all.empty()) return;
  if (is_exact(settings)) {
    report.forward.kind = report.backward.kind = Numerics::Exact;
    report.forward_range_proved = report.backward_range_proved = true;
    return;
  }
  std::vector<Looked> looked = looked_at(settings);
  auto single = FormatJudge(looked, Format::F32, seed, report).run(both);
  FormatJudge::Harm half;
  bool none_safe = !single.forward.empty() && (!both || !single.backward.empty());
  if (!none_safe) half = FormatJudge(looked, Format::F16, combine(seed, 16), report).run(both);
  report.forward = verdict(std::move(single.forward), std::move(half.forward));
  report.backward = verdict(std::move(single.backward), std::move(half.backward));
  report.forward_range_proved = single.forward_proved && half.forward_proved;
  report.backward_range_proved = single.backward_proved && half.backward_proved;
}

}  // namespace

NumericsReport judge_numerics(const Rule& rule, uint64_t seed) {
  // One direction of a reversible rule has the verdict that its line has.
  if (!rule.both && rule.name.ends_with('~') && is_reversible(rule)) {
    Rule line = reversed(rule);
    line.both = true;
    NumericsReport r = judge_numerics(line, seed);
    std::swap(r.forward, r.backward);
    std::swap(r.forward_range_proved, r.backward_range_proved);
    r.backward = {};
    return r;
  }
  double start = thread_seconds();
  NumericsReport report;
  judge(settings_of(rule, seed), rule.both ? Directions::Both : Directions::Forward, seed, report);
  if (!rule.both) report.backward = {};
  report.milliseconds = 1e3 * (thread_seconds() - start);
  return report;
}

NumericsReport judge_numerics(const RuleInstance& instance, uint64_t seed) {
  double start = thread_seconds();
  NumericsReport report;
  Settings settings = settings_of(instance, seed);
  if (settings.all.empty())
    if (auto small = with_small_sizes(instance, seed)) settings = settings_of(*small, seed);
  judge(settings, Directions::Forward, seed, report);
  report.backward = {};
  report.milliseconds = 1e3 * (thread_seconds() - start);
  return report;
}

}  // namespace regraft::verify
