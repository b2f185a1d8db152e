#include "rewrite/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rewrite/compare/comparison.h"
#include "rewrite/compare/run.h"

namespace regraft::rewrite {

namespace {

/// Which samples are taken of suspect elements, until all are explained: first one without bounds
/// of range, then disturbed ones.
enum class Sample : uint8_t { Wide, First, Second };
constexpr Sample kSamples[] = {Sample::Wide,   Sample::Second, Sample::First, Sample::Second,
                               Sample::First,  Sample::Second, Sample::First, Sample::Second,
                               Sample::Second, Sample::Second, Sample::First};
/// A difference as large as this after that many samples is no rounding. A disturbed difference of
/// near numbers is one of about a thousand values: of many elements, some are the same in one
/// sample, none in three.
constexpr double kHopeless = 1e3;
constexpr size_t kEnough = 6;

/// The comparisons of one run, by question; none where a side could not be run.
using Comparisons = std::vector<std::optional<Comparison>>;

class Checker {
 public:
  Checker(const JointProgram& program, const CheckOptions& options, const Stop& stop)
      : p_(program),
        options_(options),
        stop_(stop),
        progress_("check", "values", 0, options.verbosity),
        compared_(program.questions.size(), 0) {
    report_.opaque = program.opaque;
  }

  Result<CheckReport> run(const std::vector<SizeAssignment>& sizes) {
    if (p_.questions.empty()) return std::move(report_);
    RETURN_IF_ERROR(run_all(sizes));
    for (char c : compared_) ++(c ? report_.outputs_compared : report_.outputs_not_compared);
    if (report_.runs == 0 && report_.unfinished.empty()) report_.unfinished = too_large_;
    bool ran = report_.runs > 0 || !report_.unfinished.empty();
    if (!ran) report_.not_compared_because = infeasible_;
    return std::move(report_);
  }

 private:
  /// Runs at the first sizes that work, two of them in turn; then once at some that are 0.
  Status run_all(const std::vector<SizeAssignment>& sizes) {
    std::vector<const SizeAssignment*> used;
    int runs = 1;
    for (const SizeAssignment& s : sizes) {
      if (s.zero || used.size() == 2 || static_cast<int>(used.size()) >= runs) continue;
      ASSIGN_OR_RETURN(bool done, run_at(s, static_cast<int>(used.size())));
      if (!done) continue;
      used.push_back(&s);
      if (used.size() == 1) runs = std::max(runs_at(s), sizes.size() > 1 ? 2 : 1);
    }
    for (int r = static_cast<int>(used.size()); !used.empty() && r < runs; ++r) {
      ASSIGN_OR_RETURN(bool done, run_at(*used[static_cast<size_t>(r) % used.size()], r));
      if (!done) break;
    }
    for (const SizeAssignment& s : sizes) {
      if (!s.zero) continue;
      ASSIGN_OR_RETURN([[maybe_unused]] bool done, run_at(s, 0));
    }
    return {};
  }

  int runs_at(const SizeAssignment& sizes) const {
    double each = std::max(1.0, effort_of(p_, sizes).operations);
    auto cheap = static_cast<int>(std::min<double>(kRegimes, options_.cheap_operations / each));
    return std::max(options_.runs, cheap);
  }

  /// True when the first graph could be evaluated. Does nothing once a difference was found or the
  /// check is to stop.
  Result<bool> run_at(const SizeAssignment& sizes, int number) {
    if (!report_.agrees || !report_.unfinished.empty() || !affordable(sizes)) return false;
    RunOptions options;
    options.seed = combine(options_.seed, static_cast<uint64_t>(number));
    options.regime = static_cast<Regime>(number % kRegimes);
    options.progress = &progress_;
    Comparisons comparisons(p_.questions.size());
    auto compare_both = [&](size_t k, const Array<double>* x, const Array<double>* y) {
      const Question& q = p_.questions[k];
      if (x && y) comparisons[k].emplace(*x, *y, q.type, q.level);
    };
    ASSIGN_OR_RETURN(RunResult result, run_once(p_, sizes, options, compare_both, stop_));
    if (result.end == RunEnd::Infeasible && infeasible_.empty()) infeasible_ = result.reason;
    if (result.end == RunEnd::Stopped) report_.unfinished = result.reason;
    if (result.end != RunEnd::Done) return false;
    RETURN_IF_ERROR(explain(sizes, options, result, comparisons));
    if (!report_.unfinished.empty()) return false;
    record(sizes, options, result, comparisons);
    return true;
  }

  /// There is memory for all that is alive at once.
  bool affordable(const SizeAssignment& sizes) {
    double limit = std::min(options_.max_bytes, static_cast<double>(stop_.memory_left()));
    std::string why;
    try {
      double bytes = effort_of(p_, sizes).peak_bytes;
      if (bytes > limit) why = fmt::format("it takes {:.3g} bytes of memory", bytes);
    } catch (const PolyOverflow&) {
      why = "sizes are too large for this memory";
    }
    if (too_large_.empty()) too_large_ = why;
    return why.empty();
  }

  static double worst_of(const Comparisons& comparisons) {
    double worst = 0;
    for (const auto& c : comparisons)
      if (c) worst = std::max(worst, c->ratio());
    return worst;
  }

  /// Samples until every suspect element is explained, no sample is left, or there is no time.
  Status explain(const SizeAssignment& sizes, const RunOptions& run, const RunResult& result,
                 Comparisons& comparisons) {
    for (size_t k = 0; k < std::size(kSamples); ++k) {
      double worst = worst_of(comparisons);
      if (worst <= 1 || (k > kEnough && worst > kHopeless)) return {};
      RunOptions options = run;
      if (kSamples[k] == Sample::Wide) {
        if (result.out_of_range == 0) continue;
        options.wide = true;
      } else {
        options.side = kSamples[k] == Sample::First ? Side::First : Side::Second;
        options.noise = combine(options_.seed, k);
      }
      auto add = [&](size_t q, const Array<double>* x, const Array<double>* y) {
        if (x && comparisons[q]) comparisons[q]->sample_first(*x);
        if (y && comparisons[q]) comparisons[q]->sample_second(*y);
      };
      ASSIGN_OR_RETURN(RunResult sample, run_once(p_, sizes, options, add, stop_));
      if (sample.end == RunEnd::Stopped) report_.unfinished = sample.reason;
      if (sample.end != RunEnd::Done) return {};
    }
    return {};
  }

  void record(const SizeAssignment& sizes, const RunOptions& options, const RunResult& result,
              const Comparisons& comparisons) {
    ++report_.runs;
    report_.regimes.emplace_back(to_string(options.regime));
    if (!sizes.by_name.empty() &&
        std::find(report_.sizes.begin(), report_.sizes.end(), sizes.by_name) == report_.sizes.end())
      report_.sizes.push_back(sizes.by_name);
    for (size_t k = 0; k < comparisons.size(); ++k)
      if (comparisons[k])
        add(*comparisons[k], k,
            fmt::format("{}, {} inputs", p_.questions[k].place, to_string(options.regime)));
    if (!result.second_failed.empty()) {
      report_.agrees = false;
      report_.worst = "the second model cannot be evaluated: " + result.second_failed;
    }
    count(result);
  }

  void add(const Comparison& c, size_t question, std::string place) {
    if (c.compared() > 0 || c.empty()) compared_[question] = 1;
    report_.elements_compared += c.compared();
    report_.elements_unclaimed += c.unclaimed();
    report_.max_absolute = std::max(report_.max_absolute, c.max_absolute());
    report_.max_relative = std::max(report_.max_relative, c.max_relative());
    if (c.ratio() > report_.max_ratio || report_.worst.empty()) report_.worst = std::move(place);
    report_.max_ratio = std::max(report_.max_ratio, c.ratio());
    report_.agrees = report_.agrees && c.agrees();
  }

  void count(const RunResult& result) {
    report_.values_run = report_.values_shared = report_.values_not_run = 0;
    for (size_t n = 0; n < result.ran.size(); ++n) {
      const JointNode& node = p_.joint.nodes[n];
      bool both = node.in[0] && node.in[1];
      report_.values_run += result.ran[n];
      report_.values_shared += result.ran[n] && both;
      report_.values_not_run += !result.ran[n] && !both && node.node->kind == NodeKind::Call;
    }
  }

  const JointProgram& p_;
  const CheckOptions& options_;
  const Stop& stop_;
  Progress progress_;
  CheckReport report_;
  std::string infeasible_, too_large_;  // why sizes were passed over
  std::vector<char> compared_;          // by question: in some run, at some element
};

using Values = std::vector<Value>;
using SameType = bool (*)(const TensorType& x, const TensorType& y);

bool same_text(const TensorType& x, const TensorType& y) { return to_string(x) == to_string(y); }

bool same_elements(const TensorType& x, const TensorType& y) {
  return x.dtype == y.dtype || x.dtype == DType::Undefined || y.dtype == DType::Undefined;
}

Status same_types(const std::string& what, const Graph& a, const Values& in_a, const Graph& b,
                  const Values& in_b, SameType same_type) {
  if (in_a.size() != in_b.size())
    return error("the graphs have different numbers of " + what + "s");
  for (size_t k = 0; k < in_a.size(); ++k)
    if (!same_type(a.type(in_a[k]), b.type(in_b[k])))
      return error(fmt::format("{} {} has type {} in one graph and {} in the other", what, k,
                               to_string(a.type(in_a[k])), to_string(b.type(in_b[k]))));
  return {};
}

}  // namespace

Status check_interfaces(const Graph& a, const Graph& b) {
  RETURN_IF_ERROR(same_types("input", a, a.inputs(), b, b.inputs(), same_text));
  return same_types("output", a, a.outputs(), b, b.outputs(), same_elements);
}

std::string incomplete(const CheckReport& r) {
  if (!r.unfinished.empty()) return "not finished: " + r.unfinished;
  if (!r.not_compared_because.empty())
    return "the first model cannot be evaluated: " + r.not_compared_because;
  if (r.outputs_not_compared > 0)
    return fmt::format("{} outputs not compared", r.outputs_not_compared);
  return {};
}

Result<CheckReport> compare(const Graph& a, const Graph& b, const CheckOptions& options,
                            const Stop& stop) {
  RETURN_IF_ERROR(check_interfaces(a, b));
  ASSIGN_OR_RETURN(JointProgram program, make_program(a, b));
  return Checker(program, options, stop).run(sizes_to_try(a, b));
}

}  // namespace regraft::rewrite
