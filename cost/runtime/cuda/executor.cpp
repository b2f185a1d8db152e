#include <algorithm>
#include <optional>

#include "cost/runtime/cuda/tune.h"
#include "ir/graph/eval.h"

namespace regraft::cost::cuda {

Result<Handle<cudaGraphExec_t>> capture(Session& session, const Stopwatch::Enqueue& work) {
  RETURN_IF_ERROR(work());
  RETURN_IF_ERROR(session.finish());
  cudaStream_t stream = session.stream.get();
  CUDA_CALL(cudaStreamBeginCapture, stream, cudaStreamCaptureModeThreadLocal);
  Status enqueued = work();
  cudaGraph_t raw = nullptr;  // the capture must end, also after a failure
  Status ended = checked("cudaStreamEndCapture", api().cudaStreamEndCapture(stream, &raw));
  auto graph = own(raw, [](cudaGraph_t x) { api().cudaGraphDestroy(x); });
  RETURN_IF_ERROR(enqueued);
  RETURN_IF_ERROR(ended);
  cudaGraphExec_t ready = nullptr;
  CUDA_CALL(cudaGraphInstantiate, &ready, raw, 0);
  auto result = own(ready, [](cudaGraphExec_t x) { api().cudaGraphExecDestroy(x); });
  CUDA_CALL(cudaGraphUpload, ready, stream);
  return result;
}

Status launch(Session& session, const Handle<cudaGraphExec_t>& graph) {
  CUDA_CALL(cudaGraphLaunch, graph.get(), session.stream.get());
  return {};
}

namespace {

/// A tensor while it is needed: from the launch that writes it to the last that reads it.
struct Buffer {
  size_t bytes = 0, offset = 0;
  int first = 0, last = 0;
};

/// Offsets such that buffers of overlapping lifetimes do not overlap, the largest placed first;
/// the total.
size_t assign_offsets(std::vector<Buffer>& buffers) {
  std::vector<Buffer*> order;
  for (Buffer& b : buffers) order.push_back(&b);
  std::stable_sort(order.begin(), order.end(),
                   [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  size_t total = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    Buffer& b = *order[k];
    std::vector<const Buffer*> alive;
    for (size_t j = 0; j < k; ++j)
      if (order[j]->first <= b.last && b.first <= order[j]->last) alive.push_back(order[j]);
    std::sort(alive.begin(), alive.end(),
              [](const Buffer* x, const Buffer* y) { return x->offset < y->offset; });
    for (const Buffer* other : alive) {
      if (b.offset + b.bytes <= other->offset) break;
      b.offset = std::max(b.offset, other->offset + other->bytes);
    }
    total = std::max(total, b.offset + b.bytes);
  }
  return total;
}

/// A launch with the numbers of its buffers.
struct Bound {
  Launch launch;
  std::vector<size_t> buffers;
};

}  // namespace

struct Executor::State {
  std::shared_ptr<Session> session;
  Graph graph;  // sizes are numbers, constants are folded
  std::vector<Buffer> buffers;
  std::map<Value, size_t> numbers;    // the buffers of the graph's values
  std::vector<Bound> once, launches;  // before the first run; in each
  std::shared_ptr<void> memory;
  size_t bytes = 0, workspace = 0;  // of the memory; where the workspace begins
  Handle<cudaGraphExec_t> ready;

  std::byte* address(size_t buffer) const {
    return static_cast<std::byte*>(memory.get()) + buffers[buffer].offset;
  }
  Status enqueue(const std::vector<Bound>& list) const {
    auto* base = static_cast<std::byte*>(memory.get());
    for (const Bound& b : list) {
      std::vector<void*> operands;
      for (size_t k : b.buffers) operands.push_back(address(k));
      RETURN_IF_ERROR(b.launch.run(operands, base + workspace));
    }
    return {};
  }
};

namespace {

constexpr int kAlways = 1 << 30;

/// Fills an executor's state.
template <class State>
class Compiler {
 public:
  explicit Compiler(State& s) : s_(s), scratch_(*s.session) {}

  Status run() {
    KernelPlan plan = plan_kernels(s_.graph, *find_runtime("cuda"));
    if (!plan.opaque.empty()) return error(opaque_node(plan.opaque[0]));
    for (Value v : s_.graph.inputs()) keep(v);
    for (const KernelCall& call : plan.calls) RETURN_IF_ERROR(add(call));
    for (Value v : s_.graph.outputs()) RETURN_IF_ERROR(keep_output(v));
    return allocate_all();
  }

 private:
  std::string opaque_node(int32_t id) const {
    const Node& node = s_.graph.node(id);
    std::string name = node.names.empty() ? "%" + std::to_string(id) : node.names[0];
    return "cuda: the node of '" + name + "' is of no operator that can run here";
  }

  size_t new_buffer(const TensorType& t, int first, int last) {
    s_.buffers.push_back({aligned(std::max<size_t>(bytes_of(t), 1)), 0, first, last});
    return s_.buffers.size() - 1;
  }
  void keep(Value v) {
    if (!s_.numbers.count(v)) s_.numbers[v] = new_buffer(s_.graph.type(v), 0, kAlways);
  }
  /// The buffer of an operand; that of a constant is made here.
  Result<size_t> operand(Value v) {
    if (s_.graph.node(v.node).kind == NodeKind::Constant) keep(v);
    auto at = s_.numbers.find(v);
    if (at == s_.numbers.end()) return error("cuda: an operand that nothing computes");
    Buffer& b = s_.buffers[at->second];
    b.last = std::max(b.last, static_cast<int>(s_.launches.size()));
    return at->second;
  }
  Status keep_output(Value v) {
    ASSIGN_OR_RETURN(size_t number, operand(v));
    s_.buffers[number].last = kAlways;
    return {};
  }

  Result<const Chosen*> chosen(const KernelCall& call) {
    if (auto it = known_.find(call.signature); it != known_.end()) return &it->second;
    ASSIGN_OR_RETURN(Chosen c, tune(*s_.session, scratch_, call.kernel));
    return &known_.emplace(call.signature, std::move(c)).first->second;
  }

  Status add(const KernelCall& call) {
    ASSIGN_OR_RETURN(const Chosen* c, chosen(call));
    const Program& p = *c->program;
    std::map<Value, size_t> numbers;  // of the program's values
    auto now = static_cast<int>(s_.launches.size());
    int end = now + static_cast<int>(p.steps.size()) - 1;
    for (size_t k = 0; k < call.operands.size(); ++k) {
      ASSIGN_OR_RETURN(size_t number, operand(call.operands[k]));
      numbers[p.graph.inputs()[k]] = number;
      s_.buffers[number].last = std::max(s_.buffers[number].last, end);
    }
    for (size_t k = 0; k < call.results.size(); ++k) {
      auto [at, is_new] = s_.numbers.emplace(call.results[k], 0);
      if (is_new) at->second = new_buffer(s_.graph.type(call.results[k]), now, end);
      numbers[p.graph.outputs()[k]] = at->second;
    }
    // What is computed once stays.
    bind(p, p.once, c->once, numbers, 0, kAlways, s_.once);
    bind(p, p.steps, c->launches, numbers, now, end, s_.launches);
    return {};
  }
  void bind(const Program& p, const std::vector<Step>& steps, const std::vector<Launch>& launches,
            std::map<Value, size_t>& numbers, int first, int last, std::vector<Bound>& to) {
    for (size_t k = 0; k < steps.size(); ++k) {
      Bound bound{launches[k], {}};
      for (const auto* list : {&steps[k].reads, &steps[k].writes})
        for (Value v : *list) {
          if (!numbers.count(v)) numbers[v] = new_buffer(p.graph.type(v), first, last);
          bound.buffers.push_back(numbers[v]);
        }
      to.push_back(std::move(bound));
    }
  }

  Status allocate_all() {
    size_t most = 0;
    for (const auto* list : {&s_.once, &s_.launches})
      for (const Bound& b : *list) most = std::max(most, b.launch.workspace);
    s_.workspace = aligned(assign_offsets(s_.buffers));
    s_.bytes = s_.workspace + most;
    RETURN_IF_ERROR(scratch_.release());
    ASSIGN_OR_RETURN(s_.memory, allocate(s_.bytes));
    for (Value v : s_.graph.inputs())  // positions and masks that are right when nothing is given
      if (is_integer(s_.graph.type(v).dtype))
        RETURN_IF_ERROR(s_.session->clear(s_.address(s_.numbers[v]), bytes_of(s_.graph.type(v))));
    for (const auto& [v, number] : s_.numbers) {
      const Node& node = s_.graph.node(v.node);
      if (node.kind != NodeKind::Constant) continue;
      ASSIGN_OR_RETURN(auto bytes, node.constant->bytes());
      RETURN_IF_ERROR(s_.session->copy(s_.address(number), bytes.data(), bytes.size()));
    }
    RETURN_IF_ERROR(s_.enqueue(s_.once));
    if (s_.launches.empty()) return s_.session->finish();
    ASSIGN_OR_RETURN(s_.ready, capture(*s_.session, [this] { return s_.enqueue(s_.launches); }));
    return s_.session->finish();
  }

  State& s_;
  Scratch scratch_;
  std::map<std::string, Chosen> known_;
};

}  // namespace

Result<Executor> Executor::compile(const Graph& g, const Options& options) {
  Executor e;
  e.state_ = std::make_shared<State>();
  ASSIGN_OR_RETURN(e.state_->session, Session::open(options.tf32));
  ASSIGN_OR_RETURN(e.state_->graph, runnable(g));
  RETURN_IF_ERROR(Compiler<State>(*e.state_).run());
  return e;
}

Result<std::vector<std::shared_ptr<const Constant>>> Executor::run(
    const std::vector<std::shared_ptr<const Constant>>& inputs) const {
  const Graph& g = state_->graph;
  if (inputs.size() != g.inputs().size())
    return error("cuda: the graph has " + std::to_string(g.inputs().size()) + " inputs");
  for (size_t k = 0; k < inputs.size(); ++k) {
    const TensorType& t = g.type(g.inputs()[k]);
    if (inputs[k]->dtype() != t.dtype || inputs[k]->dims() != *numeric(*t.shape))
      return error("cuda: input " + std::to_string(k) + " is not of type " + to_string(t));
    ASSIGN_OR_RETURN(auto bytes, inputs[k]->bytes());
    void* to = state_->address(state_->numbers.at(g.inputs()[k]));
    RETURN_IF_ERROR(state_->session->copy(to, bytes.data(), bytes.size()));
  }
  if (state_->ready) RETURN_IF_ERROR(launch(*state_->session, state_->ready));
  std::vector<std::shared_ptr<const Constant>> outputs;
  for (Value v : g.outputs()) {
    const TensorType& t = g.type(v);
    std::vector<std::byte> bytes(bytes_of(t));
    void* from = state_->address(state_->numbers.at(v));
    RETURN_IF_ERROR(state_->session->copy(bytes.data(), from, bytes.size()));
    RETURN_IF_ERROR(state_->session->finish());
    outputs.push_back(std::make_shared<const Constant>(t.dtype, *numeric(*t.shape), bytes));
  }
  return outputs;
}

size_t Executor::launches() const { return state_->launches.size(); }
size_t Executor::memory_bytes() const { return state_->bytes; }

Result<std::vector<Timing>> time_graphs(std::span<const Executor> executors,
                                        const TimingOptions& options) {
  if (executors.empty()) return std::vector<Timing>();
  std::vector<Stopwatch> watches;  // events belong to the stream of each
  std::vector<std::vector<double>> samples(executors.size());
  for (const Executor& e : executors) {
    ASSIGN_OR_RETURN(Stopwatch w, Stopwatch::make(*e.state_->session, options.cold));
    watches.push_back(std::move(w));
  }
  Rounds rounds(options);
  while (rounds.next()) {
    for (size_t e = 0; e < executors.size(); ++e) {
      const Executor::State& s = *executors[e].state_;
      std::vector<Stopwatch::Enqueue> work{[&s]() -> Status {
        if (!s.ready) return {};
        return launch(*s.session, s.ready);
      }};
      ASSIGN_OR_RETURN(auto sample, watches[e].round(work));
      if (rounds.counts()) samples[e].push_back(sample[0]);
    }
  }
  std::vector<Timing> timings;
  for (auto& list : samples) timings.push_back(summarise(std::move(list)));
  return timings;
}

}  // namespace regraft::cost::cuda
