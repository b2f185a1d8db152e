#include "rewrite/compare/comparison.h"

#include <algorithm>
#include <cmath>

namespace regraft::rewrite {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 0 for equal values, infinite when one is not finite.
double distance(double x, double y) {
  double d = x == y ? 0 : std::abs(x - y);
  return std::isfinite(d) ? d : kInfinity;
}

}  // namespace

Comparison::Comparison(const Array<double>& first, const Array<double>& second, DType type,
                       double level)
    : other_shape_(first.shape != second.shape) {
  if (other_shape_) return;
  Format format = format_of(type);
  for (size_t i = 0; i < first.data.size(); ++i)
    compare(i, first.data[i], second.data[i], format, is_real(type) ? level : 0);
}

void Comparison::compare(size_t index, double x, double y, const Format& format, double level) {
  bool edge = !std::isfinite(y) && std::abs(x) > format.largest / 2;
  if (!std::isfinite(x) || edge) {
    ++unclaimed_;
    return;
  }
  ++compared_;
  double d = distance(x, y), magnitude = std::max(std::abs(x), std::isfinite(y) ? std::abs(y) : 0);
  max_absolute_ = std::max(max_absolute_, d);
  scale_ = std::max(scale_, magnitude);
  double least = kTolerance * level * magnitude + format.smallest;
  if (d > least)
    suspects_.push_back({index, x, y, least, 0});
  else if (d > 0)
    calm_ratio_ = std::max(calm_ratio_, d / least);
}

void Comparison::sample_first(const Array<double>& x, double times) {
  for (Suspect& s : suspects_)
    s.spread = std::max(s.spread, distance(x.data[s.index], s.first) / times);
}

void Comparison::sample_second(const Array<double>& y, double times) {
  for (Suspect& s : suspects_)
    if (std::isfinite(s.second))
      s.spread = std::max(s.spread, distance(y.data[s.index], s.second) / times);
}

double Comparison::Suspect::allowed() const { return least + kTolerance * spread; }

double Comparison::Suspect::ratio() const {
  if (std::isinf(allowed())) return 0;
  return allowed() > 0 ? distance(first, second) / allowed() : kInfinity;
}

std::optional<Comparison::Place> Comparison::first_above(double limit) const {
  for (const Suspect& s : suspects_)
    if (s.ratio() > limit) return Place{s.index, s.first, s.second, s.allowed()};
  return std::nullopt;
}

int64_t Comparison::count_above(double limit) const {
  return std::count_if(suspects_.begin(), suspects_.end(),
                       [&](const Suspect& s) { return s.ratio() > limit; });
}

double Comparison::ratio() const {
  double worst = other_shape_ ? kInfinity : calm_ratio_;
  for (const Suspect& s : suspects_) worst = std::max(worst, s.ratio());
  return worst;
}

double Comparison::max_relative() const {
  return max_absolute_ == 0 ? 0 : max_absolute_ / std::max(scale_, 1e-9);
}

}  // namespace regraft::rewrite
