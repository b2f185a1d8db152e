#include "rewrite/compare/run.h"

#include <algorithm>
#include <cmath>

#include "ir/graph/eval.h"

namespace regraft::rewrite {

namespace {

using Tensor = Array<double>;

/// A float32 that is no round number.
bool may_be_rounded(double v) {
  return std::abs(v) <= format_of(DType::F32).largest && static_cast<float>(v) == v &&
         v * 1024 != std::floor(v * 1024);
}

/// No multiple of 1/1024, which constants that are no results of rounding mostly are; of a format
/// of few digits, none that has fewer than half of them behind the point.
bool may_be_result(const Format& format, double v) {
  double steps = std::min(1024.0, std::ldexp(1, -std::ilogb(format.roundoff) / 2));
  return v * steps != std::floor(v * steps);
}

class JointRun {
 public:
  JointRun(const JointProgram& program, const SizeAssignment& sizes, const RunOptions& options,
           const Stop& stop)
      : p_(program),
        sizes_(sizes),
        options_(options),
        stop_(stop),
        values_(program.joint.nodes.size()),
        uses_(uses_of(program, options.side)) {
    result_.ran.resize(values_.size(), 0);
  }

  Result<RunResult> run(const Answer& answer) {
    for (size_t n : p_.order) {
      if (stop_.must_end()) end(stop_.reason());
      if (uses_[n] > 0 && !fits(n)) end(too_large(n));
      if (result_.end != RunEnd::Done) return std::move(result_);
      RETURN_IF_ERROR(give(n, answer));
      if (uses_[n] == 0) continue;
      RETURN_IF_ERROR(evaluate_node(n));
      if (options_.progress) options_.progress->add();
    }
    if (result_.end == RunEnd::Done) RETURN_IF_ERROR(give(p_.joint.nodes.size(), answer));
    return std::move(result_);
  }

 private:
  const Valuation& sizes(const JointNode& n) const { return sizes_.values[p_.graph_of(n)]; }

  void end(std::string reason) {
    result_.end = RunEnd::Stopped;
    result_.reason = std::move(reason);
  }

  /// The node's values fit into the memory that is left.
  bool fits(size_t index) const {
    constexpr double kSmall = 1 << 16;
    const JointNode& n = p_.joint.nodes[index];
    double most = 0;
    for (const TensorType& t : n.node->types) {
      double count = 1;
      for (const Poly& p : t.shape.value_or(Shape{}))
        count *= static_cast<double>(evaluate(p, sizes(n)));
      most = std::max(most, count);
    }
    return most <= kSmall || most * sizeof(double) <= static_cast<double>(stop_.memory_left());
  }
  std::string too_large(size_t index) const {
    const JointNode& n = p_.joint.nodes[index];
    return "'" + name_of(n, "a value") +
           "' is too large for the memory that is left: " + to_string(n.node->types[0]);
  }

  Status evaluate_node(size_t n) {
    switch (p_.joint.nodes[n].node->kind) {
      case NodeKind::Call:
        return call(n);
      case NodeKind::Constant:
        return {};  // read when it is needed
      default:
        draw(n);
        return {};
    }
  }

  /// Inputs, and what opaque nodes make; what one of a single graph makes is not known.
  void draw(size_t index) {
    const JointNode& n = p_.joint.nodes[index];
    if (n.node->kind == NodeKind::Opaque && !(n.in[0] && n.in[1])) return;
    uint64_t key = n.input >= 0 ? static_cast<uint64_t>(n.input) : index + (uint64_t{1} << 32);
    if (n.input >= 0 && options_.inputs) {
      values_[index].emplace_back((*options_.inputs)[static_cast<size_t>(n.input)]);
      result_.ran[index] = 1;
      return;
    }
    for (size_t k = 0; k < n.node->types.size(); ++k) {
      const TensorType& type = n.node->types[k];
      auto& output = values_[index].emplace_back();
      if (!type.shape) continue;
      std::vector<int64_t> shape;
      for (const Poly& d : *type.shape) shape.push_back(evaluate(d, sizes(n)));
      if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; }))
        return fail_at(index, "a size is negative");
      output = random_tensor(type.dtype, std::move(shape), options_.regime,
                             Rng(combine(combine(options_.seed, key), k)));
      // Most opaque results that models take roots of or subtract from 1 are not negative.
      if (n.node->kind == NodeKind::Opaque && options_.regime == Regime::Unit)
        for (double& x : output->data) x = std::abs(x);
      disturb_value(index, k, type.dtype, *output);
    }
    result_.ran[index] = 1;
  }

  Status call(size_t index) {
    const JointNode& n = p_.joint.nodes[index];
    std::vector<const Tensor*> operands;
    for (Value v : n.inputs) {
      ASSIGN_OR_RETURN(const Tensor* x, read(v));
      operands.push_back(x);
    }
    if (std::find(operands.begin(), operands.end(), nullptr) == operands.end()) {
      auto results = evaluate_reals(*n.node->op, operands, attributes(index), stop_);
      if (results)
        keep(index, *std::move(results));
      else if (stop_.must_end())
        end(stop_.reason());
      else
        fail_at(index, results.error().message);
    }
    for (Value v : n.inputs) release(v);
    return {};
  }

  /// Real attributes of one graph's calls are disturbed, as a model's file has them in float32.
  Attrs<int64_t> attributes(size_t index) const {
    const JointNode& n = p_.joint.nodes[index];
    Attrs<int64_t> attrs = evaluate(n.node->attrs, sizes(n));
    if (!options_.noise || n.in[0] == n.in[1]) return attrs;
    Rng rng(combine(combine(*options_.noise, index), uint64_t{1} << 32));
    for (Real& r : attrs.reals)
      if (may_be_rounded(r.value))
        disturb(std::span(&r.value, 1), format_of(DType::F32).roundoff, 0, Rng(rng.next()));
    return attrs;
  }

  void keep(size_t index, std::vector<Tensor> results) {
    const JointNode& n = p_.joint.nodes[index];
    Range range = options_.unbounded ? Range::Unbounded
                  : !options_.wide   ? Range::Bounded
                  : n.in[0]          ? Range::Unbounded
                                     : Range::NoOverflow;
    for (size_t k = 0; k < results.size(); ++k) {
      DType type = n.node->types[k].dtype;
      disturb_value(index, k, type, results[k]);
      result_.out_of_range += keep_in(format_of(type), range, results[k].data);
      if (options_.seen) options_.seen(index, k, results[k]);
      values_[index].push_back(std::move(results[k]));
    }
    result_.ran[index] = 1;
  }

  void fail_at(size_t index, const std::string& why) {
    const JointNode& n = p_.joint.nodes[index];
    std::string reason =
        name_of(n, n.node->op ? std::string(n.node->op->name) : "a node") + ": " + why;
    if (n.in[0]) {
      result_.end = RunEnd::Infeasible;
      result_.reason = std::move(reason);
    } else if (result_.second_failed.empty()) {
      result_.second_failed = std::move(reason);
      result_.second_failed_at = index;
    }
  }

  void disturb_value(size_t index, size_t output, DType type, Tensor& x) const {
    if (!options_.noise || !is_real(type)) return;
    const JointNode& n = p_.joint.nodes[index];
    bool rounded = n.node->kind == NodeKind::Constant && n.in[0] != n.in[1];
    Format f = format_of(type);
    if (options_.rounding > 0) return round_value(index, output, f, rounded, x);
    disturb(x.data, rounded ? std::max(f.roundoff, kEvaluationLevel) : kEvaluationLevel,
            rounded ? f.smallest / 2 : 0, Rng(combine(combine(*options_.noise, index), output)));
  }

  /// Shared constants and drawn values are what they are.
  void round_value(size_t index, size_t output, const Format& f, bool folded, Tensor& x) const {
    const JointNode& n = p_.joint.nodes[index];
    if (n.node->kind != NodeKind::Call && !folded) return;
    const double level = std::max(f.roundoff, kEvaluationLevel);
    Rng rng(combine(combine(*options_.noise, index), output));
    for (double& v : x.data)
      if (folded || level == kEvaluationLevel ? may_be_result(f, v) : !holds(f, v))
        disturb(std::span(&v, 1), options_.rounding * level, 0, Rng(rng.next()));
  }

  /// The value, or nullptr when it could not be run.
  Result<const Tensor*> read(Value v) {
    auto index = static_cast<size_t>(v.node), k = static_cast<size_t>(v.output);
    auto& outputs = values_[index];
    const Node& node = *p_.joint.nodes[index].node;
    if (node.kind == NodeKind::Constant && outputs.empty()) {
      result_.ran[index] = 1;
      DType type = node.constant->dtype();
      auto data =
          type == DType::Text ? Result<std::vector<double>>(error("text")) : node.constant->reals();
      if (!data && is_real(type)) return data.error();
      if (data) {
        outputs.push_back(Tensor{node.constant->dims(), *std::move(data)});
        disturb_value(index, 0, type, *outputs[0]);
      }
    }
    if (k >= outputs.size() || !outputs[k]) return static_cast<const Tensor*>(nullptr);
    return static_cast<const Tensor*>(&*outputs[k]);
  }

  void release(Value v) {
    if (--uses_[static_cast<size_t>(v.node)] == 0) values_[static_cast<size_t>(v.node)] = {};
  }

  Status give(size_t when, const Answer& answer) {
    for (size_t k : p_.due[when]) {
      const Question& q = p_.questions[k];
      const Tensor *x = nullptr, *y = nullptr;
      if (options_.side != Side::Second) {
        ASSIGN_OR_RETURN(x, read(q.first));
      }
      if (options_.side != Side::First) {
        ASSIGN_OR_RETURN(y, read(q.second));
      }
      answer(k, x, y);
      if (options_.side != Side::Second) release(q.first);
      if (options_.side != Side::First) release(q.second);
    }
    return {};
  }

  const JointProgram& p_;
  const SizeAssignment& sizes_;
  const RunOptions& options_;
  const Stop& stop_;
  std::vector<std::vector<std::optional<Tensor>>> values_;  // by joint number, by output
  std::vector<int64_t> uses_;                               // still to come
  RunResult result_;
};

}  // namespace

Result<RunResult> run_once(const JointProgram& program, const SizeAssignment& sizes,
                           const RunOptions& options, const Answer& answer, const Stop& stop) {
  return JointRun(program, sizes, options, stop).run(answer);
}

}  // namespace regraft::rewrite
