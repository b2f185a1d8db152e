#include "cost/runtime/cuda/tune.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace regraft::cost::cuda {
namespace {

constexpr size_t kPattern = size_t{1} << 20;  // bytes that repeat
constexpr int kTrials = 7;
constexpr double kWorstRatio = 4;  // a launch so much slower is given up after one trial

/// Floats between 0.5 and 1.5: no arithmetic is easier for being on zeros.
std::vector<float> pattern() {
  Rng rng(1);
  std::vector<float> v(kPattern / sizeof(float));
  for (float& x : v) x = static_cast<float>(0.5 + rng.unit());
  return v;
}

Status fill(const Session& session, std::byte* to, size_t bytes) {
  static const std::vector<float> numbers = pattern();
  RETURN_IF_ERROR(session.copy(to, numbers.data(), std::min(bytes, kPattern)));
  for (size_t done = kPattern; done < bytes; done *= 2)
    RETURN_IF_ERROR(session.copy(to + done, to, std::min(done, bytes - done)));
  return {};
}

}  // namespace

size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

size_t bytes_of(const TensorType& t) {
  size_t n = size_of(t.dtype);
  auto dims = numeric(*t.shape);
  CHECK(dims.has_value());
  for (int64_t d : *dims) n *= static_cast<size_t>(d);
  return n;
}

size_t Chosen::workspace() const {
  size_t most = 0;
  for (const auto* list : {&once, &launches})
    for (const Launch& l : *list) most = std::max(most, l.workspace);
  return most;
}

Status Scratch::release() {
  RETURN_IF_ERROR(session_.finish());
  memory_.reset();
  bytes_ = 0;
  return {};
}

Status Scratch::reserve(size_t bytes) {
  if (bytes <= bytes_) return {};
  RETURN_IF_ERROR(release());
  ASSIGN_OR_RETURN(memory_, allocate(bytes));
  bytes_ = bytes;
  RETURN_IF_ERROR(fill(session_, data(), bytes));
  return {};
}

Placement place(const Chosen& c) {
  Placement p;
  auto add = [&](Value v) {
    if (!p.offsets.emplace(v, p.bytes).second) return;
    p.bytes += aligned(bytes_of(c.program->graph.type(v)));
  };
  for (Value v : c.program->graph.inputs()) add(v);
  for (const auto* steps : {&c.program->once, &c.program->steps})
    for (const Step& s : *steps) {
      for (Value v : s.reads) add(v);
      for (Value v : s.writes) add(v);
    }
  p.workspace = p.bytes;
  p.bytes += aligned(c.workspace());
  return p;
}

Status lay_out(Session& session, Scratch& scratch, const std::vector<Chosen>& all,
               std::vector<Placement>& placements) {
  size_t shared = 0, zeros = 0;
  for (const Chosen& c : all) shared = std::max(shared, placements.emplace_back(place(c)).bytes);
  for (size_t k = 0; k < all.size(); ++k) {
    const Graph& g = all[k].program->graph;
    size_t own = 0;
    for (Value v : g.inputs()) {
      if (!is_integer(g.type(v).dtype)) continue;
      placements[k].offsets[v] = shared + own;
      own += aligned(bytes_of(g.type(v)));
    }
    zeros = std::max(zeros, own);
  }
  RETURN_IF_ERROR(scratch.reserve(shared + zeros));
  return session.clear(scratch.data() + shared, zeros);
}

namespace {

std::vector<void*> operands(const Step& s, const Placement& p, std::byte* memory) {
  std::vector<void*> r;
  for (Value v : s.reads) r.push_back(memory + p.offsets.at(v));
  for (Value v : s.writes) r.push_back(memory + p.offsets.at(v));
  return r;
}

Status enqueue_all(const std::vector<Step>& steps, const std::vector<Launch>& launches,
                   const Placement& p, std::byte* memory) {
  for (size_t k = 0; k < launches.size(); ++k)
    RETURN_IF_ERROR(launches[k].run(operands(steps[k], p, memory), memory + p.workspace));
  return {};
}

}  // namespace

Status enqueue_once(const Chosen& c, const Placement& p, std::byte* memory) {
  return enqueue_all(c.program->once, c.once, p, memory);
}
Status enqueue(const Chosen& c, const Placement& p, std::byte* memory) {
  return enqueue_all(c.program->steps, c.launches, p, memory);
}

// --- candidates ---

namespace {

Result<std::vector<Launch>> all_launches(Session& session, const Step& step) {
  std::vector<Launch> launches;
  for (const Work& work : step.options) {
    ASSIGN_OR_RETURN(auto more, prepare(session, work));
    std::move(more.begin(), more.end(), std::back_inserter(launches));
  }
  return launches;
}

/// nullopt: the libraries have nothing for one of the steps.
Result<std::optional<Candidate>> candidate(Session& session, Program program) {
  Candidate c;
  for (const Step& step : program.once) {
    ASSIGN_OR_RETURN(auto launches, all_launches(session, step));
    if (launches.empty()) return std::optional<Candidate>();
    c.once.push_back(launches[0]);
  }
  for (const Step& step : program.steps) {
    ASSIGN_OR_RETURN(auto launches, all_launches(session, step));
    if (launches.empty()) return std::optional<Candidate>();
    c.launches.push_back(std::move(launches));
  }
  c.program = std::make_shared<const Program>(std::move(program));
  return std::optional(std::move(c));
}

/// Microseconds of each launch of one step; infinite for one that fails.
std::vector<double> trials(Stopwatch& watch, const std::vector<Launch>& launches,
                           const std::vector<void*>& operands, void* workspace) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> times(launches.size(), kNever);
  double best = kNever;
  for (size_t k = 0; k < launches.size(); ++k) {
    std::vector<Stopwatch::Enqueue> work{[&] { return launches[k].run(operands, workspace); }};
    std::vector<double> samples;
    for (int trial = 0; trial < kTrials; ++trial) {
      auto sample = watch.round(work);
      if (!sample) break;
      samples.push_back((*sample)[0]);
      if (samples[0] > kWorstRatio * best) break;
    }
    if (samples.empty()) continue;
    std::sort(samples.begin(), samples.end());
    times[k] = samples[samples.size() / 2];
    best = std::min(best, times[k]);
  }
  return times;
}

/// The number of the fastest launch that a graph can capture, and its microseconds; infinite when
/// there is none.
std::pair<size_t, double> fastest(Session& session, Stopwatch& watch,
                                  const std::vector<Launch>& launches,
                                  const std::vector<void*>& operands, void* workspace) {
  auto times = trials(watch, launches, operands, workspace);
  for (;;) {
    auto best = std::min_element(times.begin(), times.end());
    auto k = static_cast<size_t>(best - times.begin());
    if (std::isinf(*best)) return {k, *best};
    if (capture(session, [&] { return launches[k].run(operands, workspace); })) return {k, *best};
    *best = std::numeric_limits<double>::infinity();
  }
}

}  // namespace

Result<std::vector<Candidate>> candidates(Session& session, const Kernel& kernel) {
  ASSIGN_OR_RETURN(auto programs, lower(kernel.graph, kernel.weights));
  std::vector<Candidate> all;
  Error failure = error("cuda: the libraries have no algorithm for this kernel");
  for (Program& program : programs) {
    auto c = candidate(session, std::move(program));
    if (!c)
      failure = c.error();
    else if (*c)
      all.push_back(**std::move(c));
  }
  if (all.empty()) return failure;
  return all;
}

Result<Chosen> tune(Session& session, Scratch& scratch, const Kernel& kernel) {
  ASSIGN_OR_RETURN(auto all, candidates(session, kernel));
  ASSIGN_OR_RETURN(Stopwatch watch, Stopwatch::make(session, false));
  Chosen best;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& c : all) {
    Chosen everything{c.program, c.once, {}};  // for the largest workspace
    for (const auto& list : c.launches)
      everything.launches.insert(everything.launches.end(), list.begin(), list.end());
    std::vector<Placement> placements;
    RETURN_IF_ERROR(lay_out(session, scratch, {everything}, placements));
    const Placement& p = placements[0];
    Chosen chosen{c.program, c.once, {}};
    double total = 0;
    for (size_t k = 0; k < c.launches.size(); ++k) {
      auto addresses = operands(c.program->steps[k], p, scratch.data());
      auto [launch, time] =
          fastest(session, watch, c.launches[k], addresses, scratch.data() + p.workspace);
      total += time;
      chosen.launches.push_back(c.launches[k][launch]);
    }
    if (total < least) least = total, best = std::move(chosen);
  }
  if (!best.program) return error("cuda: every algorithm for this kernel failed");
  return best;
}

}  // namespace regraft::cost::cuda
