#include "rewrite/refute/judge.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace regraft::rewrite {

namespace {

/// How many times what rounding explains a difference is at least.
constexpr double kMargin = 2;
/// No sample explains a difference that is so large after the first few in so many of the elements.
/// In a few it may be a step (floor, a comparison), which few samples take.
constexpr double kFar = 1e3, kMany = 0.5;
constexpr int kQuickSamples = 4, kEnoughSamples = 8, kThoroughSamples = 20;
/// Samples are disturbed by as much as they may explain, for the sake of steps; but for two.
constexpr int kSmallSamples = 2;
constexpr double kModerate = 8;

bool is_moderate(const std::vector<Array<double>>& inputs) {
  for (const Array<double>& x : inputs)
    for (double v : x.data)
      if (std::abs(v) > kModerate) return false;
  return true;
}

/// What is not finite becomes what the first has.
Array<double> without_infinities(const Array<double>& first, Array<double> second) {
  if (first.shape == second.shape)
    for (size_t i = 0; i < second.data.size(); ++i)
      if (!std::isfinite(second.data[i])) second.data[i] = first.data[i];
  return second;
}

std::vector<int64_t> position_of(size_t index, const std::vector<int64_t>& shape) {
  std::vector<int64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = static_cast<int64_t>(index) % shape[axis];
    index /= static_cast<size_t>(shape[axis]);
  }
  return position;
}

/// By joint number: an opaque node is below it, or it is one.
std::vector<char> find_opaque(const Joint& joint) {
  std::vector<char> behind(joint.nodes.size(), 0);
  for (size_t n = 0; n < behind.size(); ++n) {
    behind[n] = joint.nodes[n].node->kind == NodeKind::Opaque;
    for (Value v : joint.nodes[n].inputs) behind[n] |= behind[static_cast<size_t>(v.node)];
  }
  return behind;
}

}  // namespace

struct Judge::Comparisons {
  struct One {
    Comparison comparison;
    std::vector<int64_t> shapes[2];
  };
  std::vector<std::optional<One>> by_question;

  double worst() const {
    double worst = 0;
    for (const auto& c : by_question)
      if (c) worst = std::max(worst, c->comparison.ratio());
    return worst;
  }
  /// Some value is far off in many of its elements.
  bool hopeless() const {
    for (const auto& c : by_question) {
      if (!c) continue;
      auto many = kMany * static_cast<double>(c->comparison.compared());
      if (c->comparison.other_shape() ||
          static_cast<double>(c->comparison.count_above(kFar)) > many)
        return true;
    }
    return false;
  }
  Answer adder(double times) {
    return [this, times](size_t q, const Array<double>* x, const Array<double>* y) {
      auto& one = by_question[q];
      if (!one || one->comparison.other_shape()) return;
      if (x && x->shape == one->shapes[0]) one->comparison.sample_first(*x, times);
      if (y && y->shape == one->shapes[1]) one->comparison.sample_second(*y, times);
    };
  }
};

RunOptions run_options(const Trial& trial) {
  RunOptions options;
  options.seed = trial.seed;
  options.inputs = &trial.inputs;
  options.unbounded = true;
  return options;
}

Judge::Judge(const JointProgram& program)
    : p_(program), behind_(find_opaque(program.joint)), order_(program.questions.size()) {
  std::vector<int> rank;
  for (const Question& q : p_.questions) {
    bool opaque = q.output < 0 || behind_[static_cast<size_t>(q.first.node)] ||
                  behind_[static_cast<size_t>(q.second.node)];
    opaque_.push_back(opaque);
    rank.push_back(q.output < 0 ? 2 : opaque);
  }
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](size_t x, size_t y) { return rank[x] < rank[y]; });
}

Status Judge::sample(const Trial& trial, Care care, Comparisons& found, Verdict& verdict,
                     const Stop& stop) const {
  int samples = care == Care::Quick ? kQuickSamples : kThoroughSamples;
  for (int k = 0; k <= samples; ++k) {
    if (found.worst() <= kMargin || (k > kEnoughSamples && found.hopeless())) return {};
    RunOptions options = run_options(trial);
    if (k == 0) {
      options.unbounded = false;  // what a range decides differs from what the reals say
    } else {
      options.side = k % 2 == 0 ? Side::First : Side::Second;
      options.noise = combine(trial.seed, static_cast<uint64_t>(k));
      options.rounding = k > kSmallSamples ? kTolerance : 1;
    }
    Answer add = found.adder(std::max(1.0, options.rounding));
    ASSIGN_OR_RETURN(RunResult run, run_once(p_, trial.sizes, options, add, stop));
    if (run.end == RunEnd::Stopped) {
      if (k > kQuickSamples && found.hopeless()) return {};
      verdict.end = run.end;
      verdict.reason = run.reason;
      return {};
    }
  }
  return {};
}

void Judge::name(const Comparisons& found, Verdict& verdict) const {
  for (size_t q : order_) {
    const auto& one = found.by_question[q];
    if (!one) continue;
    Difference d;
    d.question = q;
    for (size_t s = 0; s < 2; ++s) d.shapes[s] = one->shapes[s];
    if (auto place = one->comparison.first_above(kMargin)) {
      d.position = position_of(place->index, one->shapes[0]);
      d.first = place->first;
      d.second = place->second;
      d.allowed = place->allowed;
    } else if (!one->comparison.other_shape()) {
      continue;
    }
    verdict.difference = std::move(d);
    return;
  }
}

Result<Verdict> Judge::judge(const Trial& trial, Care care, std::optional<size_t> only,
                             const Stop& stop, const Stop& sampling) const {
  Verdict verdict;
  Comparisons found;
  found.by_question.resize(p_.questions.size());
  verdict.compared.resize(p_.questions.size(), 0);
  bool moderate = is_moderate(trial.inputs);
  auto compare = [&](size_t k, const Array<double>* x, const Array<double>* y) {
    const Question& q = p_.questions[k];
    if (!x || !y) return;
    verdict.compared[k] = 1;
    if (only && *only != k) return;
    double level = std::max(q.level, format_of(q.type).roundoff);
    Comparison c = moderate ? Comparison(*x, *y, q.type, level)
                            : Comparison(*x, without_infinities(*x, *y), q.type, level);
    if (c.ratio() > kMargin)
      found.by_question[k].emplace(Comparisons::One{std::move(c), {x->shape, y->shape}});
  };
  ASSIGN_OR_RETURN(RunResult run, run_once(p_, trial.sizes, run_options(trial), compare, stop));
  verdict.end = run.end;
  verdict.reason = run.reason;
  if (run.end != RunEnd::Done) return verdict;
  if (!run.second_failed.empty()) {
    verdict.difference.emplace();
    verdict.difference->question = only.value_or(order_.empty() ? 0 : order_[0]);
    verdict.difference->failure = run.second_failed;
    verdict.difference->failed_at = run.second_failed_at;
    return verdict;
  }
  RETURN_IF_ERROR(sample(trial, care, found, verdict, sampling));
  if (verdict.end == RunEnd::Done) name(found, verdict);
  return verdict;
}

}  // namespace regraft::rewrite
