#include "cost/model/kernel.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"
#include "cost/model/roofline.h"
#include "ir/graph/fold.h"
#include "ir/rule/text.h"

namespace regraft::cost {
namespace {

constexpr std::string_view kSeparator = " | ";
constexpr std::string_view kWeights = "weights", kOperands = "blocked-operands",
                           kResults = "blocked-results";

void append_marks(std::string& s, std::string_view name, const std::vector<char>& marks) {
  if (std::none_of(marks.begin(), marks.end(), [](char m) { return m != 0; })) return;
  s += kSeparator;
  s += name;
  for (size_t k = 0; k < marks.size(); ++k)
    if (marks[k]) s += " " + std::to_string(k);
}

std::vector<char> blocked(const std::vector<Layout>& layouts) {
  std::vector<char> marks;
  for (Layout l : layouts) marks.push_back(l == Layout::Blocked);
  return marks;
}

/// "0 2" as marks of `count` things.
Result<std::vector<char>> read_marks(std::string_view numbers, size_t count) {
  std::vector<char> marks(count, 0);
  while (!numbers.empty()) {
    size_t end = std::min(numbers.find(' '), numbers.size());
    size_t k = 0;
    for (char c : numbers.substr(0, end)) {
      if (c < '0' || c > '9' || k >= count) return error("kernel: not a number of an operand");
      k = k * 10 + static_cast<size_t>(c - '0');
    }
    if (k >= count) return error("kernel: no operand or result " + std::to_string(k));
    marks[k] = 1;
    numbers.remove_prefix(std::min(end + 1, numbers.size()));
  }
  return marks;
}

std::vector<Layout> layouts_of(const std::vector<char>& marks) {
  std::vector<Layout> layouts;
  for (char m : marks) layouts.push_back(m ? Layout::Blocked : Layout::Plain);
  return layouts;
}

TensorType at_sizes(const TensorType& t) {
  if (!t.shape) return t;
  TensorType r{t.dtype, Shape()};
  for (const Poly& d : *t.shape) r.shape->push_back(Poly(typical(d)));
  return r;
}

bool has_numbers_only(const Node& node) {
  auto is_number = [](const Poly& p) { return p.is_constant(); };
  for (const TensorType& t : node.types)
    if (t.shape && !std::all_of(t.shape->begin(), t.shape->end(), is_number)) return false;
  for (const auto& list : node.attrs.ints)
    if (!std::all_of(list.begin(), list.end(), is_number)) return false;
  return true;
}

/// Uniform in +-1 over the square root of how many elements meet in one of the result; between 0.5
/// and 1.5 for vectors, which may be variances.
std::vector<float> random_weights(const std::vector<int64_t>& dims, int64_t count, Rng& rng) {
  std::vector<float> data(static_cast<size_t>(count));
  bool vector = dims.size() < 2;
  double meeting = vector ? 1 : static_cast<double>(count) / static_cast<double>(dims[0]);
  for (float& x : data)
    x = static_cast<float>(vector ? 0.5 + rng.unit() : (2 * rng.unit() - 1) / std::sqrt(meeting));
  return data;
}

std::shared_ptr<const Constant> random_constant(const TensorType& t, Rng& rng) {
  auto dims = *numeric(*t.shape);
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  if (t.dtype == DType::F32) return Constant::of_floats(dims, random_weights(dims, count, rng));
  std::vector<std::byte> zeros(static_cast<size_t>(count) * size_of(t.dtype));
  return std::make_shared<const Constant>(t.dtype, dims, std::move(zeros));
}

}  // namespace

std::string signature(const Kernel& kernel) {
  std::string text = to_string(kernel.graph), s;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char c : text)
    if (c == '\n')
      s += kSeparator;
    else
      s += c;
  append_marks(s, kWeights, kernel.weights);
  append_marks(s, kOperands, blocked(kernel.operand_layouts));
  append_marks(s, kResults, blocked(kernel.result_layouts));
  return s;
}

Result<Kernel> parse_signature(std::string_view text) {
  std::string lines;
  std::map<std::string_view, std::string_view> marks;
  while (!text.empty()) {
    size_t end = text.find(kSeparator);
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + kSeparator.size());
    size_t space = line.find(' ');
    std::string_view word = line.substr(0, space);
    if (word == kWeights || word == kOperands || word == kResults)
      marks[word] = space == line.npos ? std::string_view() : line.substr(space + 1);
    else
      (lines += line) += '\n';
  }
  Kernel k;
  ASSIGN_OR_RETURN(k.graph, parse_graph(lines));
  if (k.graph.outputs().empty()) return error("kernel: it has no output");
  ASSIGN_OR_RETURN(k.weights, read_marks(marks[kWeights], k.graph.inputs().size()));
  ASSIGN_OR_RETURN(auto operands, read_marks(marks[kOperands], k.graph.inputs().size()));
  ASSIGN_OR_RETURN(auto results, read_marks(marks[kResults], k.graph.outputs().size()));
  k.operand_layouts = layouts_of(operands);
  k.result_layouts = layouts_of(results);
  return k;
}

Graph at_sizes(const Graph& g) {
  Graph sized = g;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || has_numbers_only(g.node(id))) continue;
    Node node = g.node(id);
    for (TensorType& t : node.types) t = at_sizes(t);
    for (auto& list : node.attrs.ints)
      for (Poly& p : list) p = p.is_constant() ? p : Poly(typical(p));
    sized.replace_node(id, std::move(node));
  }
  return sized;
}

Result<Graph> runnable(const Graph& g) {
  Graph known = at_sizes(g);
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || g.node(id).kind != NodeKind::Opaque || !g.node(id).sizes) continue;
    SizeTensor t = *g.node(id).sizes;
    for (SizeElement& e : t.elements) e.value = Poly(value_at(e.value));
    replace_uses(known, {id, 0}, known.add_constant(constant_of(t)));
  }
  remove_dead(known);
  return fold_constants(known);
}

Graph with_data(const Kernel& kernel, const std::vector<std::shared_ptr<const Constant>>& data) {
  Graph g;
  std::vector<Value> now(static_cast<size_t>(kernel.graph.id_bound()));
  const auto& inputs = kernel.graph.inputs();
  for (size_t k = 0; k < inputs.size(); ++k)
    now[static_cast<size_t>(inputs[k].node)] =
        kernel.weights[k] ? g.add_constant(data[k]) : g.add_input(kernel.graph.type(inputs[k]));
  auto moved = [&](Value v) { return Value{now[static_cast<size_t>(v.node)].node, v.output}; };
  for (int32_t id : full_order(kernel.graph)) {
    Node node = kernel.graph.node(id);
    if (node.kind != NodeKind::Call) continue;
    for (Value& v : node.inputs) v = moved(v);
    now[static_cast<size_t>(id)] = {g.add_node(std::move(node)), 0};
  }
  std::vector<Value> outputs;
  for (Value v : kernel.graph.outputs()) outputs.push_back(moved(v));
  g.set_outputs(std::move(outputs));
  return g;
}

Graph with_weights(const Kernel& kernel, uint64_t seed) {
  Rng rng(combine(seed, hash_text(signature(kernel))));
  std::vector<std::shared_ptr<const Constant>> data(kernel.weights.size());
  for (size_t k = 0; k < data.size(); ++k)
    if (kernel.weights[k])
      data[k] = random_constant(kernel.graph.type(kernel.graph.inputs()[k]), rng);
  return with_data(kernel, data);
}

namespace {

/// Takes the operand as it is to one that some node made: a pooling of single elements keeps the
/// blocked layout.
int32_t add_wrap(Graph& g, Value x, Layout layout) {
  if (layout == Layout::Plain) return *g.add_call(*find_op("neg"), {x}, {});
  const OpDef& pool = *find_op("maxpool");
  Attrs<Poly> attrs;
  for (const IntAttr& a : pool.ints)
    attrs.ints.push_back(a.length == Length::TwiceSpatial ? std::vector<Poly>(4, Poly(0))
                                                          : std::vector<Poly>(2, Poly(1)));
  return *g.add_call(pool, {x}, std::move(attrs));
}

bool only_renames(const Kernel& kernel) {
  int calls = 0, renames = 0;
  for (int32_t id = 0; id < kernel.graph.id_bound(); ++id) {
    const Node& node = kernel.graph.node(id);
    if (node.kind != NodeKind::Call) continue;
    ++calls;
    renames += node.op->view;
  }
  return calls == renames;
}

}  // namespace

Graph standalone(const Kernel& kernel, uint64_t seed) {
  Graph g = with_weights(kernel, seed);
  size_t operand = 0;
  int wraps = 0;
  std::vector<Value> inputs = g.inputs();
  for (size_t k = 0; k < kernel.weights.size(); ++k) {
    if (kernel.weights[k]) continue;
    Value x = inputs[operand++];
    bool blocked = kernel.operand_layouts[k] == Layout::Blocked || kernel.is_reorder();
    if (!blocked && (!only_renames(kernel) || g.type(x).dtype != DType::F32)) continue;
    int32_t wrap = add_wrap(g, x, blocked ? Layout::Blocked : Layout::Plain);
    Node named = g.node(wrap);
    replace_uses(g, x, {wrap, 0});
    named.names = {"wrap_" + std::to_string(wraps++)};
    g.replace_node(wrap, std::move(named));
  }
  return g;
}

}  // namespace regraft::cost
