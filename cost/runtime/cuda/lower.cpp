#include "cost/runtime/cuda/lower.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace regraft::cost::cuda {
namespace {

constexpr double kSlow = 1e10;  // operations that one naive launch may take
constexpr int64_t kWorthOwnRows = 16, kMostRows = 1 << 20;

using Dims = std::vector<int64_t>;

int64_t product(Dims::const_iterator from, Dims::const_iterator to) {
  int64_t n = 1;
  for (; from != to; ++from) n *= *from;
  return n;
}
std::vector<int> ints(const Dims& d) { return {d.begin(), d.end()}; }

Dims attribute(const Node& node, std::string_view name) {
  Dims r;
  for (const Poly& p : node.attrs.ints[static_cast<size_t>(node.op->int_attr(name))])
    r.push_back(p.constant());
  return r;
}
double real_attribute(const Node& node, std::string_view name) {
  return node.attrs.reals[static_cast<size_t>(node.op->real_attr(name))].value;
}

// --- one way of saying things ---

/// Convolutions pad both ends alike, gemm has two operands, and what normalises the result of a
/// convolution by weights is in its weights.
class Normaliser {
 public:
  Normaliser(const Graph& from, const std::vector<char>& fixed)
      : from_(from), fixed_(fixed), uses_(consumers(from)) {}

  Result<Graph> run() {
    for (Value v : from_.inputs()) now_[v] = g_.add_input(from_.type(v));
    ASSIGN_OR_RETURN(auto order, topological_order(from_));
    for (int32_t id : order) {
      const Node& node = from_.node(id);
      if (node.kind == NodeKind::Input) continue;
      if (node.kind == NodeKind::Constant) {
        now_[{id, 0}] = g_.add_constant(node.constant);
      } else if (node.kind == NodeKind::Call) {
        RETURN_IF_ERROR(add(id, node));
      } else {
        return error("cuda: a node that is no operator call");
      }
    }
    std::vector<Value> outputs;
    for (Value v : from_.outputs()) outputs.push_back(now_.at(v));
    g_.set_outputs(std::move(outputs));
    remove_dead(g_);
    return std::move(g_);
  }

 private:
  Result<Value> call(std::string_view op, std::vector<Value> operands, Attrs<Poly> attrs) {
    ASSIGN_OR_RETURN(int32_t id, g_.add_call(*find_op(op), std::move(operands), std::move(attrs)));
    return Value{id, 0};
  }

  Status add(int32_t id, const Node& node) {
    std::vector<Value> operands;
    for (Value v : node.inputs) operands.push_back(now_.at(v));
    bool fuses = node.op->fusion == Fusion::Anchor;
    bool product = fuses && node.op->work == regraft::Work::Product;
    if (fuses && node.op->work == regraft::Work::Convolution)
      return add_conv(id, node, std::move(operands));
    if (node.op->channel_affine && folds(node)) return fold(id, node, operands);
    if (product && operands.size() == 3) return add_gemm(id, node, std::move(operands));
    ASSIGN_OR_RETURN(Value v, call(node.op->name, std::move(operands), node.attrs));
    for (size_t k = 0; k < node.types.size(); ++k)
      now_[{id, static_cast<int32_t>(k)}] = {v.node, static_cast<int32_t>(k)};
    return {};
  }

  Status add_conv(int32_t id, const Node& node, std::vector<Value> operands) {
    Dims pads = attribute(node, "pads");
    size_t axes = pads.size() / 2;
    Attrs<Poly> attrs = node.attrs;
    if (!std::equal(pads.begin(), pads.begin() + static_cast<int64_t>(axes),
                    pads.begin() + static_cast<int64_t>(axes))) {
      std::vector<Poly> all(2 * (axes + 2), Poly(0));
      for (size_t d = 0; d < axes; ++d) {
        all[d + 2] = Poly(pads[d]);
        all[axes + 2 + d + 2] = Poly(pads[axes + d]);
      }
      ASSIGN_OR_RETURN(operands[0], call("pad", {operands[0]}, {{all}, {{0, nullptr}}}));
      for (Poly& p : attrs.ints[static_cast<size_t>(node.op->int_attr("pads"))]) p = Poly(0);
    }
    ASSIGN_OR_RETURN((now_[{id, 0}]), call("conv", std::move(operands), std::move(attrs)));
    return {};
  }

  Status add_gemm(int32_t id, const Node& node, std::vector<Value> operands) {
    Value c = operands[2];
    operands.pop_back();
    double beta = real_attribute(node, "beta");
    if (beta != 1) {
      ASSIGN_OR_RETURN(Value factor, call("full", {}, {{{Poly(1)}}, {{beta, nullptr}}}));
      ASSIGN_OR_RETURN(c, call("mul", {c, factor}, {}));
    }
    ASSIGN_OR_RETURN(Value y, call("gemm", std::move(operands), node.attrs));
    ASSIGN_OR_RETURN((now_[{id, 0}]), call("add", {y, c}, {}));
    return {};
  }

  bool is_fixed(Value v) const { return fixed_[static_cast<size_t>(v.node)] != 0; }

  /// The result of a convolution that is used nowhere else, and all else is known before the run.
  bool folds(const Node& norm) const {
    Value x = norm.inputs[0];
    const Node& conv = from_.node(x.node);
    if (conv.kind != NodeKind::Call || conv.op->work != regraft::Work::Convolution ||
        conv.op->fusion != Fusion::Anchor)
      return false;
    const auto& outputs = from_.outputs();
    if (norm.types[0].dtype != DType::F32) return false;  // constants are made as floats
    bool alone = uses_[static_cast<size_t>(x.node)].size() == 1 &&
                 std::find(outputs.begin(), outputs.end(), x) == outputs.end();
    auto fixed = [&](Value v) { return is_fixed(v); };
    return alone && std::all_of(conv.inputs.begin() + 1, conv.inputs.end(), fixed) &&
           std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), fixed);
  }

  /// conv(x, w * s) + (bias + (b - mean) * s) with s = scale / sqrt(variance + epsilon)
  Status fold(int32_t id, const Node& node, const std::vector<Value>& operands) {
    const Node conv = g_.node(operands[0].node);
    Value w = conv.inputs[1];
    std::vector<Poly> channels(g_.shape(w).size(), Poly(1));
    channels[0] = g_.shape(w)[0];
    Real epsilon = node.attrs.reals[static_cast<size_t>(node.op->real_attr("epsilon"))];
    ASSIGN_OR_RETURN(Value e, call("full", {}, {{{Poly(1)}}, {epsilon}}));
    ASSIGN_OR_RETURN(Value variance, call("add", {operands[4], e}, {}));
    ASSIGN_OR_RETURN(Value deviation, call("sqrt", {variance}, {}));
    ASSIGN_OR_RETURN(Value s, call("div", {operands[1], deviation}, {}));
    ASSIGN_OR_RETURN(Value factors, call("reshape", {s}, {{channels}, {}}));
    ASSIGN_OR_RETURN(Value weights, call("mul", {w, factors}, {}));
    Value shift = operands[3];
    if (conv.inputs.size() == 3) {
      ASSIGN_OR_RETURN(shift, call("sub", {shift, conv.inputs[2]}, {}));
    }
    ASSIGN_OR_RETURN(Value scaled, call("mul", {shift, s}, {}));
    ASSIGN_OR_RETURN(Value bias, call("sub", {operands[2], scaled}, {}));
    ASSIGN_OR_RETURN((now_[{id, 0}]), call("conv", {conv.inputs[0], weights, bias}, conv.attrs));
    return {};
  }

  const Graph& from_;
  const std::vector<char>& fixed_;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> uses_;
  Graph g_;
  std::map<Value, Value> now_;
};

/// By id: what depends on at least one weight and on no other input.
std::vector<char> fixed_nodes(const Graph& g, const std::vector<char>& weights) {
  enum : char { Literal, Fixed, Varies };
  std::vector<char> state(static_cast<size_t>(g.id_bound()), Literal);
  for (size_t k = 0; k < g.inputs().size(); ++k)
    state[static_cast<size_t>(g.inputs()[k].node)] =
        k < weights.size() && weights[k] ? Fixed : Varies;
  for (int32_t id : full_order(g))
    for (Value v : g.node(id).inputs)
      state[static_cast<size_t>(id)] =
          std::max(state[static_cast<size_t>(id)], state[static_cast<size_t>(v.node)]);
  for (char& s : state) s = s == Fixed;
  return state;
}

// --- what a library does ---

/// A call of a library: what it computes, last, and what of the calls after it is part of it.
struct Anchor {
  Value result;
  Work work;
  std::vector<Value> reads;
};

bool all_ones(const Dims& d, size_t count) {
  return std::all_of(d.begin(), d.begin() + static_cast<int64_t>(count),
                     [](int64_t n) { return n == 1; });
}

std::optional<Work> convolution(const Graph& g, const Node& node) {
  Dims x = dims_of(g, node.inputs[0]), w = dims_of(g, node.inputs[1]);
  Dims y = *numeric(*node.types[0].shape);
  if (x.size() > 5) return std::nullopt;
  Dims pads = attribute(node, "pads"), strides = attribute(node, "strides"),
       dilations = attribute(node, "dilations");
  pads.resize(pads.size() / 2);
  if (x.size() == 3) {
    for (Dims* d : {&x, &w, &y}) d->insert(d->begin() + 2, 1);
    pads.insert(pads.begin(), 0);
    for (Dims* d : {&strides, &dilations}) d->insert(d->begin(), 1);
  }
  auto too_large = [](const Dims& d) { return count_of(d) > INT32_MAX; };
  if (too_large(x) || too_large(w) || too_large(y)) return std::nullopt;
  return Convolution{node.types[0].dtype,
                     ints(x),
                     ints(w),
                     ints(y),
                     ints(pads),
                     ints(strides),
                     ints(dilations),
                     static_cast<int>(attribute(node, "group")[0]),
                     node.inputs.size() == 3,
                     false,
                     false};
}

/// nullopt: the batches broadcast in a way that no stride expresses.
std::optional<Work> matrix_product(const Graph& g, const Node& node) {
  Dims a = dims_of(g, node.inputs[0]), b = dims_of(g, node.inputs[1]);
  Product p;
  p.type = node.types[0].dtype;
  if (!node.attrs.reals.empty()) {  // gemm: matmul has no attributes
    p.transposed_a = attribute(node, "transA")[0] != 0;
    p.transposed_b = attribute(node, "transB")[0] != 0;
    p.alpha = real_attribute(node, "alpha");
    p.rows = a[p.transposed_a ? 1 : 0];
    p.inner = a[p.transposed_a ? 0 : 1];
    p.columns = b[p.transposed_b ? 0 : 1];
    return p;
  }
  p.rows = a[a.size() - 2], p.inner = a.back(), p.columns = b.back();
  size_t batch_a = a.size() - 2, batch_b = b.size() - 2;
  if (all_ones(b, batch_b)) {
    p.rows = product(a.begin(), a.end() - 1);
    return p;
  }
  Dims y = *numeric(*node.types[0].shape);
  p.batch = product(y.begin(), y.end() - 2);
  auto whole = [&](const Dims& d) { return product(d.begin(), d.end() - 2) == p.batch; };
  if (!whole(b) || !(whole(a) || all_ones(a, batch_a))) return std::nullopt;
  p.stride_a = whole(a) ? p.rows * p.inner : 0;
  p.stride_b = p.inner * p.columns;
  return p;
}

std::optional<Work> softmax(const Graph& g, const Node& node) {
  Dims x = dims_of(g, node.inputs[0]);
  if (count_of(x) > INT32_MAX) return std::nullopt;
  int64_t axis = attribute(node, "axis")[0];
  if (axis < 0) axis += static_cast<int64_t>(x.size());
  auto at = x.begin() + axis;
  return Softmax{node.types[0].dtype, static_cast<int>(product(x.begin(), at)),
                 static_cast<int>(*at), static_cast<int>(product(at + 1, x.end()))};
}

std::optional<Work> library_work(const Graph& g, const Node& node) {
  static constexpr std::pair<std::string_view, decltype(&softmax)> kLibraries[] = {
      {"conv", convolution},
      {"matmul", matrix_product},
      {"gemm", matrix_product},
      {"softmax", softmax}};
  for (auto [op, work] : kLibraries)
    if (op == node.op->name) return work(g, node);
  return std::nullopt;
}

struct Flags {
  bool *bias, *added, *relu;
};
std::optional<Flags> flags_of(Work& work) {
  if (auto* c = std::get_if<Convolution>(&work)) return Flags{&c->bias, &c->added, &c->relu};
  if (auto* p = std::get_if<Product>(&work)) return Flags{&p->bias, &p->added, &p->relu};
  return std::nullopt;
}

/// The operand has an element for each channel (column), and is otherwise broadcast.
bool is_bias(const Work& work, const Dims& d, const Dims& whole) {
  size_t axis = std::holds_alternative<Convolution>(work) ? 1 : whole.size() - 1;
  if (d.size() > whole.size() || d.size() + axis < whole.size()) return false;
  size_t skipped = whole.size() - d.size();
  for (size_t k = 0; k < d.size(); ++k)
    if (d[k] != (k + skipped == axis ? whole[axis] : 1)) return false;
  return true;
}

// --- programs ---

enum class Use : uint8_t { Fused, Plain, Own };

class Lowering {
 public:
  Lowering(const Graph& g, const std::vector<char>& fixed, Use use)
      : g_(g), fixed_(fixed), uses_(consumers(g)) {
    program_.graph = g;
    program_.name = use == Use::Fused ? "fused" : use == Use::Plain ? "plain" : "own";
    for (int32_t id : full_order(g)) {
      const Node& node = g.node(id);
      if (node.kind != NodeKind::Call) continue;
      auto work = library_work(g, node);
      bool stable = work && std::holds_alternative<Softmax>(*work);
      if (!work || (use == Use::Own && !stable)) continue;
      Anchor a{{id, 0}, *std::move(work), node.inputs};
      if (use == Use::Fused) absorb(a);
      anchors_.emplace(a.result, std::move(a));
    }
  }
  bool has_anchors() const { return !anchors_.empty(); }

  Result<Program> run() {
    std::vector<Value> own;
    for (Value v : g_.outputs()) {
      if (anchors_.count(v))
        RETURN_IF_ERROR(make(v));
      else if (std::find(own.begin(), own.end(), v) == own.end())
        own.push_back(v);
    }
    if (!own.empty()) RETURN_IF_ERROR(generate(own));
    return std::move(program_);
  }

 private:
  bool is_output(Value v) const {
    return std::find(g_.outputs().begin(), g_.outputs().end(), v) != g_.outputs().end();
  }

  /// Takes in the calls that follow, as far as they are a bias, a sum and a relu.
  void absorb(Anchor& a) {
    static const OpDef* const activation = find_op("relu");  // the libraries' epilogue
    auto flags = flags_of(a.work);
    if (!flags) return;
    std::optional<Value> bias, added;
    if (*flags->bias) bias = a.reads[2], a.reads.pop_back();
    while (!*flags->relu && !is_output(a.result)) {
      const auto& users = uses_[static_cast<size_t>(a.result.node)];
      if (users.size() != 1) break;
      const Node& user = g_.node(users[0].first);
      if (user.op == activation) {
        *flags->relu = true;
      } else if (user.op->arithmetic == Arithmetic::Sum) {
        Value other = user.inputs[static_cast<size_t>(1 - users[0].second)];
        Dims whole = dims_of(g_, a.result), d = dims_of(g_, other);
        if (!bias && is_bias(a.work, d, whole))
          bias = other;
        else if (!added && d == whole)
          added = other;
        else
          break;
      } else {
        break;
      }
      a.result = {users[0].first, 0};
    }
    if (bias) a.reads.push_back(*bias);
    if (added) a.reads.push_back(*added);
    *flags->bias = bias.has_value();
    *flags->added = added.has_value();
  }

  bool is_fixed(Value v) const { return fixed_[static_cast<size_t>(v.node)] != 0; }

  /// What is in memory before a value is computed from it: results of libraries and, for one of
  /// each run, what was computed before the first.
  void frontier(Value v, bool of_each_run, std::set<Value>& seen, std::vector<Value>& found) const {
    if (!seen.insert(v).second) return;
    bool before = of_each_run && is_fixed(v) && g_.node(v.node).kind == NodeKind::Call;
    if (anchors_.count(v) || before) {
      found.push_back(v);
      return;
    }
    for (Value operand : g_.node(v.node).inputs) frontier(operand, of_each_run, seen, found);
  }
  std::vector<Step>& list_of(const std::vector<Value>& results) {
    bool once = std::all_of(results.begin(), results.end(), [&](Value v) { return is_fixed(v); });
    return once ? program_.once : program_.steps;
  }

  /// A step that leaves the value in memory, unless there is one.
  Status make(Value v) {
    if (g_.node(v.node).kind == NodeKind::Input || !made_.insert(v).second) return {};
    auto at = anchors_.find(v);
    if (at == anchors_.end()) return generate({v});
    for (Value operand : at->second.reads) RETURN_IF_ERROR(make(operand));
    list_of({v}).push_back({{at->second.work}, at->second.reads, {v}});
    return {};
  }

  Status generate(const std::vector<Value>& results) {
    std::set<Value> seen;
    std::vector<Value> given;
    for (Value v : results) frontier(v, !is_fixed(v), seen, given);
    for (Value v : given) RETURN_IF_ERROR(make(v));
    ASSIGN_OR_RETURN(Source threads, write_source(g_, results, given, Share::Threads));
    Step step{{}, threads.reads, results};
    auto blocks = write_source(g_, results, given, Share::Blocks);
    bool shares = blocks && blocks->rounds >= kWorthOwnRows && blocks->blocks <= kMostRows;
    bool slow = static_cast<double>(threads.blocks) * threads.threads *
                    static_cast<double>(threads.rounds) >
                kSlow;
    if (!shares || !slow) step.options.push_back(std::move(threads));
    if (shares) step.options.push_back(*std::move(blocks));
    list_of(results).push_back(std::move(step));
    return {};
  }

  const Graph& g_;
  const std::vector<char>& fixed_;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> uses_;
  std::map<Value, Anchor> anchors_;  // by result
  std::set<Value> made_;
  Program program_;
};

/// Naive loops may win where a library has nothing for the shape.
bool worth_own(const Graph& g) {
  double work = 0;
  bool grouped = false;
  for (int32_t id : full_order(g)) {
    const Node& node = g.node(id);
    if (node.kind != NodeKind::Call) continue;
    std::vector<Dims> shapes;
    for (Value v : node.inputs) shapes.push_back(dims_of(g, v));
    work += operation_count(*node.op, shapes, *numeric(node.attrs));
    grouped =
        grouped || (node.op->work == regraft::Work::Convolution && attribute(node, "group")[0] > 1);
  }
  return work < (grouped ? kSlow : kSlow / 100);
}

size_t launches_of_library(const Program& p) {
  return static_cast<size_t>(std::count_if(p.steps.begin(), p.steps.end(), [](const Step& s) {
    return !std::holds_alternative<Source>(s.options[0]);
  }));
}

}  // namespace

Result<std::vector<Program>> lower(const Graph& kernel, const std::vector<char>& weights) {
  for (Value v : kernel.outputs())
    if (kernel.node(v.node).kind != NodeKind::Call)
      return error("cuda: a kernel with an output that no call computes");
  ASSIGN_OR_RETURN(Graph g, Normaliser(kernel, fixed_nodes(kernel, weights)).run());
  const std::vector<char> fixed = fixed_nodes(g, weights);
  std::vector<Program> programs;
  ASSIGN_OR_RETURN(Program fused, Lowering(g, fixed, Use::Fused).run());
  bool anchored = launches_of_library(fused) > 0;
  programs.push_back(std::move(fused));
  if (!anchored) return programs;
  ASSIGN_OR_RETURN(Program plain, Lowering(g, fixed, Use::Plain).run());
  if (plain.steps.size() != programs[0].steps.size()) programs.push_back(std::move(plain));
  if (worth_own(g)) {
    ASSIGN_OR_RETURN(Program own, Lowering(g, fixed, Use::Own).run());
    if (launches_of_library(own) < launches_of_library(programs[0]))
      programs.push_back(std::move(own));
  }
  return programs;
}

}  // namespace regraft::cost::cuda
