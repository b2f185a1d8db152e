#include "cost/runtime/cpu/compiled.h"

#include <cstring>

#include "cost/runtime/cpu/lower.h"
#include "cost/runtime/cpu/pointwise.h"
#include "cost/runtime/cpu/prepare.h"

namespace regraft::cost::cpu {

namespace {

Status check_operands(const Graph& g) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Opaque) return error("cpu: an opaque node cannot be compiled");
    for (const TensorType& t : n.types) {
      if (t.dtype != DType::F32)
        return error("cpu: tensors of type " + to_string(t.dtype) + " are not supported");
      if (!t.shape || !numeric(*t.shape)) return error("cpu: a tensor's shape is not known");
      if (product(*numeric(*t.shape)) == 0) return error("cpu: a tensor is empty");
    }
    if (n.kind != NodeKind::Constant) continue;
    auto data = n.constant->reals();
    if (!data) return data.error();
  }
  return {};
}

Status check_layouts(const Graph& g, const std::vector<Value>& values,
                     std::span<const Layout> layouts) {
  if (values.size() != layouts.size()) return error("cpu: a layout is missing");
  for (size_t k = 0; k < values.size(); ++k) {
    size_t rank = g.shape(values[k]).size();
    if (layouts[k] == Layout::Blocked && (rank < 3 || rank > 5))
      return error("cpu: the blocked layout needs 3 to 5 axes");
  }
  return {};
}

struct Entry {
  std::string_view op;
  Lower* lower;
};
constexpr Entry kLowerings[] = {
    {"maxpool", lower_max_pool},
    {"avgpool", lower_average_pool},
    {"global-avgpool", lower_global_average_pool},
    {"batchnorm", lower_batch_norm},
    {"layernorm", lower_layer_norm},
    {"softmax", lower_softmax},
    {"resize-nearest", lower_resize_nearest},
    {"resize-linear", lower_resize_linear},
    {"reduce-sum", lower_reduce_sum},
    {"reduce-mean", lower_reduce_mean},
    {"reduce-max", lower_reduce_max},
    {"transpose", lower_transpose},
    {"reshape", lower_reshape},
    {"concat", lower_concat},
    {"split", lower_split},
    {"slice", lower_slice},
    {"gather", lower_gather},
    {"pad", lower_pad},
};

Status lower_unit(Lowering& to, const Unit& unit) {
  const Node& n = to.graph.node(unit.nodes[0]);
  if (is_contraction(*n.op)) return lower_contraction(to, unit);
  if (pointwise(*n.op)) return lower_elementwise(to, unit.nodes);
  for (const Entry& e : kLowerings)
    if (e.op == n.op->name) return e.lower(to, {unit.nodes[0], n, *numeric(n.attrs)});
  return lower_formula(to, {unit.nodes[0], n, *numeric(n.attrs)});
}

Status lower_all(Lowering& to) {
  auto order = topological_order(to.graph);
  if (!order) return order.error();
  for (const Unit& unit : units(to.graph, *order)) {
    std::string op(to.graph.node(unit.nodes[0]).op->name);
    try {
      if (Status s = lower_unit(to, unit); !s)
        return error("cpu: " + op + ": " + s.error().message);
    } catch (const dnnl::error& e) {
      return error("cpu: " + op + ": oneDNN: " + e.message);
    }
  }
  to.finish();
  return {};
}

}  // namespace

size_t tensor_floats(const std::vector<int64_t>& shape, Layout layout) {
  return desc_of(shape, layout).get_size() / sizeof(float);
}

Runtime runtime() {
  Runtime r = *find_runtime("cpu");
  r.block = block_width();
  return r;
}

size_t Compiled::operands() const { return static_cast<size_t>(program_->operands); }
size_t Compiled::results() const { return program_->result_types.size(); }
size_t Compiled::scratch_floats() const { return program_->scratch_floats(); }
int Compiled::accumulator() const { return program_->accumulator; }
int Compiled::alias(size_t result) const { return program_->alias[result]; }
bool Compiled::is_free() const { return program_->steps.empty(); }

Result<Compiled> compile(const Graph& graph, std::span<const Layout> operand_layouts,
                         std::span<const Layout> result_layouts, const CompileOptions& options) {
  ASSIGN_OR_RETURN(Graph g, prepared(graph));
  RETURN_IF_ERROR(check_operands(g));
  RETURN_IF_ERROR(check_layouts(g, g.inputs(), operand_layouts));
  RETURN_IF_ERROR(check_layouts(g, g.outputs(), result_layouts));
  ThreadCount threads(options.threads);
  Lowering to(g, operand_layouts, result_layouts, options);
  try {
    RETURN_IF_ERROR(lower_all(to));
    to.program.pack();
  } catch (const dnnl::error& e) {
    return error(std::string("oneDNN: ") + e.message);
  }
  return Compiled(std::make_shared<const Program>(std::move(to.program)));
}

Result<Compiled> compile(const Kernel& kernel, uint64_t seed, const CompileOptions& options) {
  std::vector<Layout> layouts;
  for (size_t k = 0; k < kernel.operand_layouts.size(); ++k)
    if (!kernel.weights[k]) layouts.push_back(kernel.operand_layouts[k]);
  return compile(with_weights(kernel, seed), layouts, kernel.result_layouts, options);
}

struct Launch::State {
  std::shared_ptr<const Program> program;
  struct Copy {
    float* to;
    const float* from;
    size_t bytes;
  };
  std::vector<Copy> before, after;
  Bound bound;
};

namespace {

size_t operand_bytes(const Program& p, int operand) {
  for (size_t k = 0; k < p.slots.size(); ++k)
    if (p.slots[k].kind == Slot::Kind::Operand && p.slots[k].index == operand)
      return p.slots[k].desc.get_size();
  return 0;
}

}  // namespace

Launch::Launch(const Compiled& kernel, std::span<float* const> operands,
               std::span<float* const> results, float* scratch)
    : state_(
          new State{kernel.shared(), {}, {}, Bound(kernel.program(), operands, results, scratch)}) {
  const Program& p = kernel.program();
  if (p.accumulator >= 0 && results[0] != operands[static_cast<size_t>(p.accumulator)])
    state_->before.push_back({results[0], operands[static_cast<size_t>(p.accumulator)],
                              operand_bytes(p, p.accumulator)});
  for (size_t k = 0; k < p.alias.size(); ++k)
    if (p.alias[k] >= 0 && results[k] != operands[static_cast<size_t>(p.alias[k])])
      state_->after.push_back(
          {results[k], operands[static_cast<size_t>(p.alias[k])], operand_bytes(p, p.alias[k])});
}
Launch::Launch(Launch&&) noexcept = default;
Launch::~Launch() = default;

void Launch::run() {
  ThreadCount threads(state_->program->threads);
  for (const auto& c : state_->before) std::memcpy(c.to, c.from, c.bytes);
  state_->bound.run();
  for (const auto& c : state_->after) std::memcpy(c.to, c.from, c.bytes);
}

namespace {

void convert(const float* from, const Desc& have, float* into, const Desc& want) {
  dnnl::stream stream(engine());
  dnnl::memory a(have, engine(), const_cast<float*>(from)), b(want, engine(), into);
  dnnl::reorder(a, b).execute(stream, a, b);
  stream.wait();
}

}  // namespace

Result<std::vector<Array<float>>> run_once(const Compiled& kernel,
                                           const std::vector<Array<float>>& operands) {
  const Program& p = kernel.program();
  if (operands.size() != kernel.operands()) return error("cpu: wrong number of operands");
  std::vector<std::unique_ptr<Buffer>> in, out;
  std::vector<float*> in_at, out_at;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Desc& want = p.slots[k].desc;  // operands are the first slots
    Dims shape = operands[k].shape.empty() ? Dims{1} : operands[k].shape;
    if (shape != want.dims())
      return error("cpu: operand " + std::to_string(k) + " has another shape");
    in.push_back(std::make_unique<Buffer>(want.get_size() / sizeof(float)));
    in_at.push_back(in.back()->data());
    convert(operands[k].data.data(), plain_desc(shape), in_at.back(), want);
  }
  for (const Program::ResultType& r : p.result_types) {
    out.push_back(std::make_unique<Buffer>(tensor_floats(r.shape, r.layout)));
    out_at.push_back(out.back()->data());
  }
  Buffer scratch(kernel.scratch_floats());
  Launch(kernel, in_at, out_at, scratch.data()).run();
  std::vector<Array<float>> results;
  for (size_t k = 0; k < out.size(); ++k) {
    const Program::ResultType& r = p.result_types[k];
    Array<float> a{r.shape, std::vector<float>(static_cast<size_t>(product(r.shape)))};
    convert(out_at[k], desc_of(r.shape, r.layout), a.data.data(), plain_desc(r.shape));
    results.push_back(std::move(a));
  }
  return results;
}

}  // namespace regraft::cost::cpu
