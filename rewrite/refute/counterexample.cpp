#include "rewrite/refute/counterexample.h"

#include <algorithm>
#include <set>

#include "rewrite/compare/compare.h"
#include "rewrite/refute/locate.h"

namespace regraft::rewrite {

namespace {

/// The ways in which inputs are chosen, the most telling first; taken at the first two sizes in
/// turn, and twice, with other numbers.
constexpr Probe kProbes[] = {
    {Probe::Drawn, Regime::Unit},     {Probe::Drawn, Regime::Mixed},
    {Probe::Indices, Regime::Unit},   {Probe::Indices, Regime::Mixed},
    {Probe::Tiny, Regime::Unit},      {Probe::Drawn, Regime::Magnitudes},
    {Probe::Drawn, Regime::Integers}, {Probe::Drawn, Regime::Logits},
    {Probe::Drawn, Regime::Positive}, {Probe::Drawn, Regime::Offset},
    {Probe::Drawn, Regime::Negative}, {Probe::Drawn, Regime::Sparse},
    {Probe::Drawn, Regime::Equal},    {Probe::Ones, Regime::Unit},
    {Probe::Zeros, Regime::Unit},
};
/// At the other sizes.
constexpr size_t kElsewhere = 2;
constexpr size_t kMain = 2;
/// After so many runs at which the first graph could not be evaluated, sizes are passed over.
constexpr int kTries = 4;

/// Those that inputs have; others follow from them, or from what opaque nodes make.
std::map<std::string, int64_t> sizes_of_inputs(const Graph& g, const SizeAssignment& sizes) {
  std::map<std::string, int64_t> result;
  for (Value v : g.inputs())
    for (const Poly& d : g.type(v).shape.value_or(Shape{}))
      for (const auto& [monomial, coefficient] : d.terms())
        for (Var symbol : monomial)
          if (auto it = sizes.by_name.find(symbol->name); it != sizes.by_name.end())
            result.insert(*it);
  return result;
}

double operations_at(const JointProgram& program, const SizeAssignment& s) {
  try {
    return effort_of(program, s).operations;
  } catch (const PolyOverflow&) {
    return std::numeric_limits<double>::infinity();
  }
}

/// The first ones tell most; where they take long, those that take least come first.
std::vector<SizeAssignment> all_sizes(const JointProgram& program, bool zero) {
  constexpr double kLong = 1e9;
  const Graph &a = *program.graphs[0], &b = *program.graphs[1];
  std::vector<SizeAssignment> sizes = sizes_to_try(a, b);
  if (!zero) std::erase_if(sizes, [](const SizeAssignment& s) { return s.zero; });
  if (sizes.empty()) return sizes;
  for (int64_t each : {1, 3}) {
    auto by_name = sizes[0].by_name;
    for (auto& entry : by_name) entry.second = each;
    auto s = assign_sizes(a, b, by_name);
    auto known = [&](const SizeAssignment& other) { return other.by_name == by_name; };
    if (s && std::none_of(sizes.begin(), sizes.end(), known)) sizes.push_back(*std::move(s));
  }
  if (operations_at(program, sizes[0]) > kLong) {
    std::vector<std::pair<double, SizeAssignment>> by_effort;
    for (SizeAssignment& s : sizes) {
      double operations = operations_at(program, s);
      by_effort.emplace_back(operations, std::move(s));
    }
    std::stable_sort(by_effort.begin(), by_effort.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    for (size_t k = 0; k < sizes.size(); ++k) sizes[k] = std::move(by_effort[k].second);
  }
  return sizes;
}

/// What takes many times as long as the first sizes comes last.
std::vector<std::pair<size_t, Probe>> plan_for(const JointProgram& program,
                                               const std::vector<SizeAssignment>& sizes,
                                               uint64_t seed) {
  constexpr double kManyTimes = 8;
  std::vector<std::pair<size_t, Probe>> plan;
  if (sizes.empty()) return plan;
  auto add = [&](size_t at, Probe probe) {
    probe.seed = combine(seed, plan.size());
    plan.emplace_back(at, probe);
  };
  const size_t main = std::min(kMain, sizes.size()), probes = std::size(kProbes);
  const double most = kManyTimes * operations_at(program, sizes[0]);
  auto add_others = [&](bool large) {
    for (size_t s = kMain; s < sizes.size(); ++s)
      for (size_t k = 0; k < kElsewhere && large == (operations_at(program, sizes[s]) > most); ++k)
        add(s, kProbes[k]);
  };
  for (size_t k = 0; k < probes; ++k) add(k % main, kProbes[k]);
  add_others(false);
  for (size_t k = 0; k < probes; ++k) add((k + 1) % main, kProbes[k]);
  add_others(true);
  return plan;
}

}  // namespace

struct CounterexampleFinder::State {
  /// Which sizes, and how inputs are chosen.
  using Planned = std::pair<size_t, Probe>;

  State(JointProgram joint, const CounterexampleOptions& o)
      : options(o),
        program(std::move(joint)),
        judge(program),
        progress("refute", "runs", 0, o.verbosity),
        compared(program.questions.size(), 0),
        sizes(all_sizes(program, o.zero_sizes)),
        failed(sizes.size(), 0),
        plan(plan_for(program, sizes, o.seed)) {}

  bool affordable(const SizeAssignment& s, const Stop& stop) const {
    try {
      return effort_of(program, s).peak_bytes <=
             std::min(options.max_bytes, static_cast<double>(stop.memory_left()));
    } catch (const PolyOverflow&) {
      return false;
    }
  }

  Trial trial_of(const Planned& planned) const {
    const SizeAssignment& s = sizes[planned.first];
    return {s, inputs_of(*program.graphs[0], s, planned.second), planned.second.seed};
  }

  /// A difference at what is planned, judged with all care.
  Result<std::optional<Found>> look(const Planned& planned, const Stop& stop,
                                    const Stop& sampling) {
    if (failed[planned.first] >= kTries) return std::optional<Found>();
    if (!affordable(sizes[planned.first], stop)) {
      failed[planned.first] = kTries;
      reason = "the values take too much memory";
      return std::optional<Found>();
    }
    Found found{trial_of(planned), planned.second, {}};
    ASSIGN_OR_RETURN(Verdict verdict,
                     judge.judge(found.trial, Care::Thorough, std::nullopt, stop, sampling));
    if (verdict.end == RunEnd::Infeasible) {
      ++failed[planned.first];
      reason = "the first model cannot be evaluated: " + verdict.reason;
    }
    if (verdict.end != RunEnd::Done) return std::optional<Found>();
    ++runs;
    progress.add();
    for (size_t q = 0; q < compared.size(); ++q) compared[q] |= verdict.compared[q];
    if (!verdict.difference) return std::optional<Found>();
    found.difference = *std::move(verdict.difference);
    return std::optional(std::move(found));
  }

  Result<std::optional<Found>> look_on(const Stop& stop) {
    unfinished.clear();
    if (program.questions.empty()) return std::optional<Found>();
    constexpr double kFirst = 4;
    Stop limited = Stop::within(stop, options.seconds);
    Stop longer = Stop::within(stop, kFirst * options.seconds);
    while (next < plan.size()) {
      const Stop& until = runs == 0 ? longer : limited;
      if (until.must_end()) {
        unfinished = until.reason();
        break;
      }
      if (runs >= options.runs) break;
      ASSIGN_OR_RETURN(auto found,
                       look(plan[next++], until, Stop::within(stop, options.sample_seconds)));
      if (found) return found;
    }
    if (runs == 0 && unfinished.empty()) unfinished = reason;
    return std::optional<Found>();
  }

  /// The outputs that the question is about: those that may depend on what an opaque node makes of
  /// its operands.
  std::vector<size_t> outputs_of(const Question& q) const {
    if (q.output >= 0) return {static_cast<size_t>(q.output)};
    std::vector<char> behind(program.joint.nodes.size(), 0);
    for (size_t n = 0; n < behind.size(); ++n) {
      behind[n] = n == q.when;
      for (Value v : program.joint.nodes[n].inputs)
        behind[n] |= behind[static_cast<size_t>(v.node)];
    }
    std::vector<size_t> result;
    const auto& outputs = program.joint.outputs[1];
    for (size_t k = 0; k < outputs.size(); ++k)
      if (behind[static_cast<size_t>(outputs[k].node)]) result.push_back(k);
    return result;
  }

  ModelCounterexample present(const Found& found) const {
    ModelCounterexample c;
    const Difference& d = found.difference;
    const Question& q = program.questions[d.question];
    c.sizes = sizes_of_inputs(*program.graphs[0], found.trial.sizes);
    c.inputs = found.trial.inputs;
    c.inputs_are = to_string(found.probe);
    auto outputs = outputs_of(q);
    c.output = outputs.empty() ? 0 : outputs[0];
    c.failure = d.failure;
    c.first_shape = d.shapes[0];
    c.second_shape = d.shapes[1];
    c.position = d.position;
    c.first = d.first;
    c.second = d.second;
    c.allowed = d.allowed;
    c.needs_replay =
        d.failure.empty() ? judge.opaque(d.question) : judge.behind_opaque(d.failed_at);
    c.place = q.place;
    return c;
  }

  Result<DifferenceStart> start_of(const Found& found, const Stop& stop) const {
    double bytes = std::min(options.max_bytes, static_cast<double>(stop.memory_left()) / 4);
    Stop limited = Stop::within(stop, options.locate_seconds);
    return locate(judge, found, bytes, limited);
  }

  CounterexampleOptions options;
  JointProgram program;
  Judge judge;
  Progress progress;
  std::vector<char> compared;  // by question: in some run
  std::vector<SizeAssignment> sizes;
  std::vector<int> failed;  // by sizes: how often the first graph could not be evaluated
  std::vector<Planned> plan;
  size_t next = 0;  // in the plan
  int runs = 0;
  std::string unfinished, reason;
};

CounterexampleFinder::CounterexampleFinder(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
CounterexampleFinder::CounterexampleFinder(CounterexampleFinder&&) noexcept = default;
CounterexampleFinder::~CounterexampleFinder() = default;

Result<CounterexampleFinder> CounterexampleFinder::make(const Graph& a, const Graph& b,
                                                        const CounterexampleOptions& options) {
  RETURN_IF_ERROR(check_interfaces(a, b));
  ASSIGN_OR_RETURN(JointProgram program, make_program(a, b));
  return CounterexampleFinder(std::make_unique<State>(std::move(program), options));
}

Result<std::optional<ModelCounterexample>> CounterexampleFinder::next(const Stop& stop,
                                                                      const Shows& shows) {
  ASSIGN_OR_RETURN(std::optional<Found> found, state_->look_on(stop));
  if (!found) return std::optional<ModelCounterexample>();
  std::function<Result<bool>(const Found&)> shown;
  if (shows) shown = [&](const Found& f) { return shows(state_->present(f)); };
  bool simplify = true;
  if (shows) {
    ASSIGN_OR_RETURN(simplify, shown(*found));
  }
  if (simplify) {
    Stop limited = Stop::within(stop, state_->options.reduce_seconds);
    Stop sampling = Stop::within(stop, state_->options.sample_seconds);
    ASSIGN_OR_RETURN(found, reduce(state_->judge, *std::move(found), shown, limited, sampling));
  }
  ModelCounterexample c = state_->present(*found);
  ASSIGN_OR_RETURN(c.start, state_->start_of(*found, stop));
  return std::optional(std::move(c));
}

CounterexampleSearch CounterexampleFinder::search() const {
  CounterexampleSearch s{state_->program.questions.empty(), state_->runs, state_->unfinished, {}};
  std::set<size_t> open;
  for (size_t q = 0; q < state_->compared.size(); ++q)
    if (!state_->compared[q])
      for (size_t output : state_->outputs_of(state_->program.questions[q])) open.insert(output);
  s.not_compared.assign(open.begin(), open.end());
  return s;
}

ModelCounterexample CounterexampleFinder::trial(int k) const {
  constexpr Probe kTrials[] = {
      {Probe::Indices, Regime::Integers},   {Probe::Drawn, Regime::Unit},
      {Probe::Indices, Regime::Magnitudes}, {Probe::Drawn, Regime::Mixed},
      {Probe::Drawn, Regime::Integers},     {Probe::Indices, Regime::Logits},
      {Probe::Drawn, Regime::Positive},
  };
  ModelCounterexample c;
  std::vector<size_t> work;  // sizes
  for (size_t s = 0; s < state_->failed.size(); ++s)
    if (state_->failed[s] < kTries) work.push_back(s);
  if (work.empty()) return c;
  auto total = [&](size_t s) {
    int64_t sum = 0;
    for (const auto& entry : state_->sizes[s].by_name) sum += entry.second;
    return sum;
  };
  size_t smallest = *std::min_element(work.begin(), work.end(),
                                      [&](size_t x, size_t y) { return total(x) < total(y); });
  auto number = static_cast<size_t>(k);
  State::Planned planned{number % 2 == 0 ? smallest : work[0],
                         kTrials[number / 2 % std::size(kTrials)]};
  planned.second.seed = combine(state_->options.seed, number + state_->plan.size());
  Trial trial = state_->trial_of(planned);
  c.sizes = sizes_of_inputs(*state_->program.graphs[0], trial.sizes);
  c.inputs = std::move(trial.inputs);
  c.inputs_are = to_string(planned.second);
  c.needs_replay = true;
  return c;
}

Result<std::optional<ModelCounterexample>> find_counterexample(const Graph& a, const Graph& b,
                                                               const CounterexampleOptions& options,
                                                               const Stop& stop) {
  ASSIGN_OR_RETURN(CounterexampleFinder finder, CounterexampleFinder::make(a, b, options));
  return finder.next(stop);
}

}  // namespace regraft::rewrite
