#include "ir/graph/cone.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupts.h"

namespace regraft {

namespace {

constexpr double kRounding = 1e-5;  ///< what roundings of float32 make of a result

bool makes_integers(const Node& call) {
  return std::ranges::any_of(call.types, [](const TensorType& t) {
    return t.dtype == DType::I64 || t.dtype == DType::I32;
  });
}

bool makes_floats(const Node& call) {
  return std::ranges::all_of(call.types, [](const TensorType& t) { return is_real(t.dtype); });
}

/// It would wrap around, or is no exact double.
bool is_too_large(const std::vector<double>& numbers, DType type) {
  const double most = type == DType::I32 ? double{INT32_MAX} : static_cast<double>(kLargestInteger);
  return std::ranges::any_of(numbers,
                             [most](double x) { return std::isfinite(x) && std::abs(x) > most; });
}

/// Up to `tolerance` of the largest magnitude; what is not finite is the same.
bool agree(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  double largest = 0;
  for (double x : a)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  return std::ranges::equal(a, b, [&](double x, double y) {
    bool same = x == y || (std::isnan(x) && std::isnan(y));
    return same || std::abs(x - y) <= tolerance * largest;
  });
}

}  // namespace

void Cone::add(int32_t id, Step step) {
  places_[id] = static_cast<int32_t>(steps_.size());
  steps_.push_back(std::move(step));
}

void Cone::add_call(int32_t id, NodePtr node, bool decides) {
  std::vector<Value> operands;
  for (Value v : node->inputs) operands.push_back({places_.at(v.node), v.output});
  const bool floats = makes_floats(*node);
  add(id, {std::move(node), {}, {}, std::move(operands), floats});
  decides_ = decides_ || decides;
  counts_ = counts_ || makes_integers(*steps_.back().node);
}

void Cone::round_to_float(std::vector<double>& numbers, Rounding way) {
  if (way == Rounding::None) return;
  for (double& x : numbers) {
    auto f = static_cast<float>(x);
    if (way == Rounding::Down && f > x) f = std::nextafter(f, -INFINITY);
    if (way == Rounding::Up && f < x) f = std::nextafter(f, INFINITY);
    x = f;
  }
}

Result<std::vector<Array<double>>> Cone::read(const Step& step) {
  if (step.unrounded) return *step.unrounded;
  std::vector<Array<double>> outputs;
  for (const auto& c : step.leaf) {
    ASSIGN_OR_RETURN(std::vector<double> data, c->reals());
    outputs.push_back({c->dims(), std::move(data)});
  }
  return outputs;
}

Result<std::vector<Array<double>>> Cone::call(const Step& step, const Values& values,
                                              const Stop& stop) {
  std::vector<const Array<double>*> operands;
  for (Value v : step.operands)
    operands.push_back(&values[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)]);
  return evaluate_reals(*step.node->op, operands, *numeric(step.node->attrs), stop);
}

Result<std::vector<Array<double>>> Cone::evaluate(const Stop& stop, Rounding way,
                                                  bool* too_large) const {
  std::vector<int64_t> uses(steps_.size(), 0);
  for (const Step& step : steps_)
    for (Value v : step.operands) ++uses[static_cast<size_t>(v.node)];
  Values values(steps_.size());
  for (size_t k = 0; k < steps_.size(); ++k) {
    if (stop.must_end()) return error(stop.reason());
    const Step& step = steps_[k];
    ASSIGN_OR_RETURN(values[k], step.node ? call(step, values, stop) : read(step));
    for (size_t output = 0; output < values[k].size(); ++output) {
      std::vector<double>& data = values[k][output].data;
      if (step.floats) round_to_float(data, way);
      if (too_large && step.node && makes_integers(*step.node))
        *too_large = *too_large || is_too_large(data, step.node->types[output].dtype);
    }
    for (Value v : step.operands)
      if (--uses[static_cast<size_t>(v.node)] == 0) values[static_cast<size_t>(v.node)] = {};
  }
  return std::move(values.back());
}

Result<bool> Cone::is_decided(const Stop& stop) const {
  if (!decides_ && !counts_) return true;
  bool too_large = false;
  ASSIGN_OR_RETURN(auto exact, evaluate(stop, Rounding::None, &too_large));
  const bool floats = makes_floats(*steps_.back().node);
  for (Rounding way : {Rounding::Down, Rounding::Up}) {
    if (too_large) return false;
    ASSIGN_OR_RETURN(auto other, evaluate(stop, way, &too_large));
    for (size_t k = 0; k < exact.size(); ++k)
      if (!agree(exact[k].data, other[k].data, floats ? kRounding : 0)) return false;
  }
  return !too_large;
}

Result<std::vector<Array<double>>> evaluated_whole(const Cone& cone) {
  const Uninterrupted whole;
  return cone.evaluate(Stop());
}

}  // namespace regraft
