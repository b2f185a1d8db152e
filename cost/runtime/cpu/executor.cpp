#include "cost/runtime/cpu/executor.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <numeric>

#include "base/rng.h"
#include "cost/runtime/cpu/arena.h"
#include "cost/runtime/cpu/program.h"
#include "cost/runtime/cpu/stopwatch.h"

namespace regraft::cost::cpu {

namespace {

using Place = std::pair<Value, Layout>;
using Data = std::shared_ptr<const Constant>;

std::string name_of(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  return n.names.empty() ? "%" + std::to_string(id) : "'" + n.names[0] + "'";
}

/// Which buffer each value has, and how long that lives.
class Buffers {
 public:
  int id(const Place& p, size_t floats) {
    auto [it, made] = of_.try_emplace(p, static_cast<int>(parent_.size()));
    if (made) {
      parent_.push_back(it->second);
      lives_.push_back({floats, INT_MAX, -1});
    }
    return root(it->second);
  }
  int find(const Place& p) const {
    auto it = of_.find(p);
    return it == of_.end() ? -1 : root(it->second);
  }
  void use(int buffer, int call) {
    Lifetime& l = lives_[static_cast<size_t>(root(buffer))];
    l.first = std::min(l.first, call);
    l.last = std::max(l.last, call);
  }
  void unite(int into, int from) {
    into = root(into), from = root(from);
    if (into == from) return;
    parent_[static_cast<size_t>(from)] = into;
    Lifetime &a = lives_[static_cast<size_t>(into)], &b = lives_[static_cast<size_t>(from)];
    a = {std::max(a.floats, b.floats), std::min(a.first, b.first), std::max(a.last, b.last)};
    b = {0, 0, 0};
  }
  int last(int buffer) const { return lives_[static_cast<size_t>(root(buffer))].last; }
  const std::vector<Lifetime>& lifetimes() const { return lives_; }

 private:
  int root(int b) const {
    while (parent_[static_cast<size_t>(b)] != b) b = parent_[static_cast<size_t>(b)];
    return b;
  }
  std::map<Place, int> of_;
  std::vector<int> parent_;
  std::vector<Lifetime> lives_;
};

}  // namespace

struct Executor::State {
  ExecutorOptions options;
  Graph graph;  ///< numbers for sizes, constants folded
  KernelPlan plan;
  std::vector<Compiled> kernels;
  std::vector<std::vector<size_t>> arguments;  ///< of each call: operands that are no weights
  Buffers buffers;
  std::unique_ptr<Buffer> arena, scratch;
  std::vector<float*> at;  ///< of each buffer
  std::vector<Launch> launches;

  struct Feed {
    int input;  ///< of the graph; -1: of an opaque node
    Value value;
    float* to;
  };
  std::vector<Feed> feeds;

  Dims dims(Value v) const { return *numeric(graph.shape(v)); }
  bool is_constant(Value v) const { return graph.node(v.node).kind == NodeKind::Constant; }
  size_t floats(Value v, Layout layout) const { return tensor_floats(dims(v), layout); }

  Status check_opaque() const {
    if (options.skip_opaque || plan.opaque.empty()) return {};
    return error("cpu: node " + name_of(graph, plan.opaque[0]) +
                 " is of an operator that regraft does not know");
  }
  Status compile_all();
  void plan_buffers();
  void share_accumulators();
  void bind();
  void add_feeds();
  void feed(const std::vector<const float*>& inputs);
  std::vector<const float*> random_inputs(uint64_t seed);
  Array<float> output(Value v) const;

  uint64_t pattern_seed = 0;
  std::vector<float> pattern;
};

Status Executor::State::compile_all() {
  for (const KernelCall& call : plan.calls) {
    std::vector<Data> data(call.operands.size());
    std::vector<Layout> layouts;
    std::vector<size_t> brought;
    for (size_t k = 0; k < call.operands.size(); ++k) {
      if (call.kernel.weights[k]) {
        if (!is_constant(call.operands[k]))
          return error("cpu: a weight cannot be computed before the run");
        data[k] = graph.node(call.operands[k].node).constant;
      } else {
        layouts.push_back(call.kernel.operand_layouts[k]);
        brought.push_back(k);
      }
    }
    auto compiled = cpu::compile(with_data(call.kernel, data), layouts, call.kernel.result_layouts,
                                 options.compile);
    if (!compiled) {
      std::string where = call.nodes.empty() ? "" : "node " + name_of(graph, call.nodes[0]) + ": ";
      return error(where + compiled.error().message);
    }
    kernels.push_back(*std::move(compiled));
    arguments.push_back(std::move(brought));
  }
  return {};
}

void Executor::State::plan_buffers() {
  int end = static_cast<int>(plan.calls.size());
  auto place_of = [&](const KernelCall& call, size_t k, bool result) {
    return result ? Place{call.results[k], call.kernel.result_layouts[k]}
                  : Place{call.operands[k], call.kernel.operand_layouts[k]};
  };
  auto touch = [&](const Place& p, int call) {
    int b = buffers.id(p, floats(p.first, p.second));
    buffers.use(b, call);
    return b;
  };
  for (int c = 0; c < end; ++c) {
    const KernelCall& call = plan.calls[static_cast<size_t>(c)];
    for (size_t k : arguments[static_cast<size_t>(c)]) {
      Place p = place_of(call, k, false);
      if (buffers.find(p) < 0) touch(p, -1);  // an input, there from the start
      touch(p, c);
    }
    for (size_t k = 0; k < call.results.size(); ++k) {
      int b = touch(place_of(call, k, true), c);
      int a = kernels[static_cast<size_t>(c)].alias(k);
      if (a < 0) continue;
      size_t operand = arguments[static_cast<size_t>(c)][static_cast<size_t>(a)];
      buffers.unite(buffers.find(place_of(call, operand, false)), b);
    }
  }
  for (Value v : graph.outputs())
    if (buffers.find({v, Layout::Plain}) >= 0) touch({v, Layout::Plain}, end);
  share_accumulators();
}

/// What a kernel adds onto goes into the result's buffer, when nothing reads it later.
void Executor::State::share_accumulators() {
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    const KernelCall& call = plan.calls[c];
    int a = kernels[c].accumulator();
    if (a < 0) continue;
    size_t operand = arguments[c][static_cast<size_t>(a)];
    int from = buffers.find({call.operands[operand], call.kernel.operand_layouts[operand]});
    bool only = buffers.last(from) == static_cast<int>(c);
    for (size_t k : arguments[c])
      if (k != operand)
        only = only && buffers.find({call.operands[k], call.kernel.operand_layouts[k]}) != from;
    if (only) buffers.unite(from, buffers.find({call.results[0], call.kernel.result_layouts[0]}));
  }
}

void Executor::State::bind() {
  Placement placed = place(buffers.lifetimes());
  arena = std::make_unique<Buffer>(placed.floats);
  size_t most = 0;
  for (const Compiled& k : kernels) most = std::max(most, k.scratch_floats());
  scratch = std::make_unique<Buffer>(most);
  auto address = [&](Value v, Layout layout) {
    auto b = static_cast<size_t>(buffers.find({v, layout}));
    return arena->data() + placed.offsets[b];
  };
  for (size_t c = 0; c < plan.calls.size(); ++c) {
    const KernelCall& call = plan.calls[c];
    std::vector<float*> in, out;
    for (size_t k : arguments[c])
      in.push_back(address(call.operands[k], call.kernel.operand_layouts[k]));
    for (size_t k = 0; k < call.results.size(); ++k)
      out.push_back(address(call.results[k], call.kernel.result_layouts[k]));
    launches.emplace_back(kernels[c], in, out, scratch->data());
  }
  at.clear();
  for (size_t offset : placed.offsets) at.push_back(arena->data() + offset);
}

void Executor::State::add_feeds() {
  auto add = [&](int input, Value v) {
    int b = buffers.find({v, Layout::Plain});
    if (b >= 0) feeds.push_back({input, v, at[static_cast<size_t>(b)]});
  };
  for (size_t k = 0; k < graph.inputs().size(); ++k) add(static_cast<int>(k), graph.inputs()[k]);
  for (int32_t id : plan.opaque)
    for (size_t out = 0; out < graph.node(id).types.size(); ++out)
      add(-1, {id, static_cast<int32_t>(out)});
}

void Executor::State::feed(const std::vector<const float*>& from) {
  for (size_t k = 0; k < feeds.size(); ++k)
    std::memcpy(feeds[k].to, from[k], floats(feeds[k].value, Layout::Plain) * sizeof(float));
}

std::vector<const float*> Executor::State::random_inputs(uint64_t seed) {
  size_t most = 1;
  for (const Feed& f : feeds) most = std::max(most, floats(f.value, Layout::Plain));
  if (pattern.empty() || pattern_seed != seed) {
    Rng rng(seed);
    pattern.resize(most);
    for (float& x : pattern) x = static_cast<float>(2 * rng.unit() - 1);
    pattern_seed = seed;
  }
  return std::vector<const float*>(feeds.size(), pattern.data());
}

Array<float> Executor::State::output(Value v) const {
  Dims shape = dims(v);
  Array<float> a{shape, std::vector<float>(static_cast<size_t>(product(shape)), 0)};
  int b = buffers.find({v, Layout::Plain});
  if (is_constant(v)) {
    auto data = graph.node(v.node).constant->reals();
    if (data) a.data.assign(data->begin(), data->end());
  } else if (b >= 0) {
    std::copy_n(at[static_cast<size_t>(b)], a.data.size(), a.data.begin());
  }
  return a;
}

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

Result<Executor> Executor::compile(const Graph& graph, const ExecutorOptions& options) {
  auto s = std::make_unique<State>();
  s->options = options;
  ASSIGN_OR_RETURN(s->graph, runnable(graph));
  s->plan = plan_kernels(s->graph, runtime());
  RETURN_IF_ERROR(s->check_opaque());
  RETURN_IF_ERROR(s->compile_all());
  s->plan_buffers();
  s->bind();
  s->add_feeds();
  return Executor(std::move(s));
}

Result<std::vector<Array<float>>> Executor::run(const std::vector<Array<float>>& inputs) {
  State& s = *state_;
  if (inputs.size() != s.graph.inputs().size())
    return error("cpu: " + std::to_string(inputs.size()) + " inputs for a graph of " +
                 std::to_string(s.graph.inputs().size()));
  std::vector<const float*> from = s.random_inputs(1);
  for (size_t k = 0; k < s.feeds.size(); ++k) {
    if (s.feeds[k].input < 0) continue;
    const Array<float>& given = inputs[static_cast<size_t>(s.feeds[k].input)];
    if (given.shape != s.dims(s.feeds[k].value))
      return error("cpu: input " + std::to_string(s.feeds[k].input) + " has another shape");
    from[k] = given.data.data();
  }
  s.feed(from);
  for (Launch& l : s.launches) l.run();
  std::vector<Array<float>> outputs;
  for (Value v : s.graph.outputs()) {
    auto input = std::find(s.graph.inputs().begin(), s.graph.inputs().end(), v);
    if (input == s.graph.inputs().end())
      outputs.push_back(s.output(v));
    else
      outputs.push_back(inputs[static_cast<size_t>(input - s.graph.inputs().begin())]);
  }
  return outputs;
}

double Executor::time_once(uint64_t seed) {
  state_->feed(state_->random_inputs(seed));
  Stopwatch watch(state_->options.compile.threads);
  for (Launch& l : state_->launches) l.run();
  return watch.microseconds();
}

std::vector<Timing> Executor::time_calls(int runs) {
  std::vector<std::vector<double>> times(state_->launches.size());
  for (int r = 0; r < runs; ++r) {
    state_->feed(state_->random_inputs(1));
    for (size_t k = 0; k < times.size(); ++k) {
      Stopwatch watch(state_->options.compile.threads);
      state_->launches[k].run();
      times[k].push_back(watch.microseconds());
    }
  }
  std::vector<Timing> timings;
  for (auto& t : times) timings.push_back(summarise(std::move(t)));
  return timings;
}

const KernelPlan& Executor::plan() const { return state_->plan; }
size_t Executor::activation_bytes() const { return state_->arena->size() * sizeof(float); }
size_t Executor::weight_bytes() const {
  size_t floats = 0;
  for (const Compiled& k : state_->kernels)
    for (const auto& b : k.program().packed)
      if (b) floats += b->size();
  return floats * sizeof(float);
}

Result<std::vector<Timing>> time_graphs(std::span<const Graph* const> graphs,
                                        const ExecutorOptions& executor,
                                        const TimeOptions& options) {
  std::vector<Executor> ready;
  for (size_t k = 0; k < graphs.size(); ++k) {
    auto e = Executor::compile(*graphs[k], executor);
    if (!e) return error("graph " + std::to_string(k) + ": " + e.error().message);
    ready.push_back(*std::move(e));
  }
  std::vector<std::function<double()>> run;
  for (Executor& e : ready) run.push_back([&e, &options] { return e.time_once(options.seed); });
  return interleaved(run, options);
}

}  // namespace regraft::cost::cpu
