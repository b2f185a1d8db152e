#include "ir/graph/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/interrupts.h"
#include "ir/graph/cone.h"
#include "ir/graph/eval.h"

namespace regraft {

namespace {

constexpr int64_t kTooMuch = std::numeric_limits<int64_t>::max();
constexpr int64_t kUnbounded = kTooMuch / 2;
constexpr int64_t kEffort = 200;      ///< nodes looked at, for each of the graph
constexpr int64_t kSmall = 1 << 20;   ///< bytes to compute a value
constexpr int64_t kSpare = 64 << 20;  ///< bytes of such, all together, when time is up
constexpr int64_t kEager = 1 << 16;   ///< bytes; larger values may be computed when asked for

int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooMuch : sum;
}

/// Elements, or kTooMuch; -1: the shape is not known in numbers.
int64_t count_of(const TensorType& t) {
  auto dims = t.shape ? numeric(*t.shape) : std::nullopt;
  if (!dims) return -1;
  int64_t n = 1;
  for (int64_t d : *dims)
    if (__builtin_mul_overflow(n, d, &n)) return kTooMuch;
  return n;
}

int64_t bytes_of(const TensorType& t) {
  int64_t n = count_of(t);
  bool fits = !__builtin_mul_overflow(n, static_cast<int64_t>(size_of(t.dtype)), &n);
  return fits ? n : kTooMuch;
}

int64_t bytes_of(const std::vector<TensorType>& types) {
  int64_t bytes = 0;
  for (const TensorType& t : types) bytes = plus(bytes, bytes_of(t));
  return bytes;
}

/// Does the type have the numbers? Integers do not wrap around, and doubles have them.
bool has_numbers(DType type, const std::vector<double>& values) {
  if (!is_integer(type)) return true;
  bool is_signed = type == DType::I8 || type == DType::I16 || type == DType::I32;
  double count = type == DType::Bool ? 2 : std::ldexp(1.0, static_cast<int>(8 * size_of(type)));
  double least = is_signed ? -count / 2 : 0, below = least + count;
  if (type == DType::I64) {
    least = -static_cast<double>(kLargestInteger);
    below = 1 - least;
  }
  return std::ranges::all_of(
      values, [&](double x) { return x >= least && x < below && x == std::floor(x); });
}

/// When values of large constants that replace others are computed.
enum class Large : uint8_t { WhenRead, AtOnce };

class Folder {
 public:
  Folder(const Graph& g, int64_t growth, const Stop& stop, Large large = Large::WhenRead)
      : graph_(g),
        growth_(growth),
        large_(large),
        stop_(stop),
        constant_(constant_nodes(g)),
        possible_(constant_.size(), 0),
        tried_(constant_.size(), 0),
        folded_(constant_.size()),
        uses_(constant_.size(), 0),
        effort_(kEffort * g.id_bound() + kEffort) {}

  Result<FoldReport> run() {
    ASSIGN_OR_RETURN(std::vector<int32_t> order, topological_order(graph_));
    start(order);
    for (int32_t id : order)
      if (is_constant_call(id) && (wanted_[static_cast<size_t>(id)] || shared(id)))
        RETURN_IF_ERROR(fold(id));
    return finish();
  }

  Result<FoldReport> run_again(const std::vector<int32_t>& calls) {
    ASSIGN_OR_RETURN(std::vector<int32_t> order, topological_order(graph_));
    start(order);
    for (int32_t id : calls) {
      bool exists = id >= 0 && id < graph_.id_bound() && graph_.contains(id);
      if (!exists || !is_constant_call(id) || is_folded(id))
        return error("node " + std::to_string(id) + " is no call on constants");
      ASSIGN_OR_RETURN(bool done, fold_one(id));
      if (!done) return error("node " + std::to_string(id) + " cannot be folded");
    }
    return finish();
  }

 private:
  void start(const std::vector<int32_t>& order) {
    note_uses(order);
    for (int32_t id : order) possible_[static_cast<size_t>(id)] = is_possible(id);
    result_.graph = graph_;
  }
  FoldReport finish() {
    redirect();
    remove_dead(result_.graph);
    return std::move(result_);
  }

  bool is_constant_call(int32_t id) const {
    return constant_[static_cast<size_t>(id)] && graph_.node(id).kind == NodeKind::Call;
  }
  /// Several calls on constants read it: computed once, if it is small.
  bool shared(int32_t id) const {
    return uses_[static_cast<size_t>(id)] > 1 && bytes_of(graph_.node(id).types) <= kEager;
  }

  /// All that it is made of has sizes and attributes that are numbers; doubles hold its values.
  bool is_possible(int32_t id) const {
    const Node& n = graph_.node(id);
    bool known = std::ranges::all_of(n.types, [](auto& t) { return count_of(t) >= 0; });
    bool exact = std::ranges::all_of(
        n.types, [](auto& t) { return fits_double(t.dtype) || t.dtype == DType::I64; });
    if (n.kind == NodeKind::Constant) return known && exact && is_readable(*n.constant);
    return known && exact && is_constant_call(id) && numeric(n.attrs) &&
           std::ranges::all_of(n.inputs,
                               [&](Value v) { return possible_[static_cast<size_t>(v.node)]; });
  }

  /// Integers of 64 bits are few, and such as doubles have.
  static bool is_readable(const Constant& c) {
    if (c.dtype() != DType::I64) return true;
    if (c.count() > kEager) return false;
    auto values = c.integers();
    return values &&
           std::ranges::all_of(*values, [](int64_t x) { return std::abs(x) <= kLargestInteger; });
  }

  void note_uses(const std::vector<int32_t>& order) {
    wanted_.assign(uses_.size(), 0);
    for (int32_t id : order)
      for (Value v : graph_.node(id).inputs) {
        ++uses_[static_cast<size_t>(v.node)];
        wanted_[static_cast<size_t>(v.node)] |= !constant_[static_cast<size_t>(id)];
      }
    for (Value v : graph_.outputs()) {
      ++uses_[static_cast<size_t>(v.node)];
      wanted_[static_cast<size_t>(v.node)] = 1;
    }
  }

  struct Plan {
    std::shared_ptr<Cone> cone = std::make_shared<Cone>();
    int64_t working = 0;  // bytes to compute it, at most
    int64_t made = 0;     // bytes of the result
    int64_t freed = 0;    // bytes of constants that nothing else reads
    bool grows() const { return made > freed; }
    bool late() const { return !grows() && made > kEager; }
  };

  /// What `root` is made of, as far as it is not folded yet.
  Plan plan(int32_t root) {
    Plan p;
    std::vector<int32_t> stack{root};
    while (!stack.empty()) {
      int32_t id = stack.back();
      bool leaf = graph_.node(id).kind == NodeKind::Constant || is_folded(id);
      bool ready = true;
      for (Value v : graph_.node(id).inputs)
        if (!leaf && !p.cone->contains(v.node)) {
          stack.push_back(v.node);
          ready = false;
        }
      if (!ready) continue;
      stack.pop_back();
      if (!p.cone->contains(id)) add(p, id, leaf);
    }
    p.cone->close();
    p.made = bytes_of(graph_.node(root).types);
    p.freed = freed_by(root);
    return p;
  }

  void add(Plan& p, int32_t id, bool leaf) {
    --effort_;
    for (const TensorType& t : graph_.node(id).types)
      for (size_t k = 0; k < sizeof(double); ++k) p.working = plus(p.working, count_of(t));
    if (!leaf)
      p.cone->add_call(id, graph_.node_ptr(id), decides(id));
    else if (auto it = unrounded_.find(id); it != unrounded_.end())
      p.cone->add_leaf(id, it->second, is_real(graph_.node(id).types[0].dtype));
    else
      p.cone->add_leaf(id, is_folded(id) ? folded_[static_cast<size_t>(id)]
                                         : Constants{graph_.node(id).constant});
  }

  bool decides(int32_t id) const {
    const Node& n = graph_.node(id);
    auto is_float = [](const TensorType& t) { return is_real(t.dtype); };
    return !std::ranges::all_of(n.types, is_float) &&
           std::ranges::any_of(n.inputs, [&](Value v) { return is_float(graph_.type(v)); });
  }
  bool is_folded(int32_t id) const { return !folded_[static_cast<size_t>(id)].empty(); }

  /// What the file has of a node's outputs.
  int64_t stored(int32_t id) const {
    const Node& n = graph_.node(id);
    if (is_folded(id)) return bytes_of(n.types);
    return n.kind == NodeKind::Constant ? n.constant->stored_bytes() : 0;
  }

  /// visit(id) for what nothing reads once `root` reads nothing; `uses` are counted down.
  template <class Uses, class Visit>
  void release(int32_t root, Uses&& uses, Visit&& visit) const {
    std::vector<int32_t> stack{root};
    while (!stack.empty()) {
      int32_t id = stack.back();
      stack.pop_back();
      if (is_folded(id)) continue;  // what it was made of is released
      for (Value v : graph_.node(id).inputs) {
        if (--uses(v.node) > 0) continue;
        visit(v.node);
        stack.push_back(v.node);
      }
    }
  }

  int64_t freed_by(int32_t root) const {
    std::unordered_map<int32_t, int64_t> left;
    int64_t bytes = 0;
    auto uses = [&](int32_t id) -> int64_t& {
      return left.emplace(id, uses_[static_cast<size_t>(id)]).first->second;
    };
    release(root, uses, [&](int32_t id) { bytes = plus(bytes, stored(id)); });
    return bytes;
  }

  /// Folds the call; if that cannot be, what it is made of.
  Status fold(int32_t root) {
    std::vector<int32_t> stack{root};
    while (!stack.empty()) {
      int32_t id = stack.back();
      stack.pop_back();
      if (is_folded(id) || std::exchange(tried_[static_cast<size_t>(id)], 1)) continue;
      ASSIGN_OR_RETURN(bool done, fold_one(id));
      if (done || std::exchange(undecided_, false)) continue;
      result_.calls_left += wanted_[static_cast<size_t>(id)];
      for (Value v : graph_.node(id).inputs) {
        if (!is_constant_call(v.node)) continue;
        wanted_[static_cast<size_t>(v.node)] = 1;
        tried_[static_cast<size_t>(v.node)] = 0;
        stack.push_back(v.node);
      }
    }
    return {};
  }

  Result<bool> fold_one(int32_t root) {
    const Node& node = graph_.node(root);
    bool maker = node.inputs.empty();  // it cannot be written otherwise
    if (!possible_[static_cast<size_t>(root)] || (!maker && effort_ < 0)) return false;
    Plan p = plan(root);
    bool room = maker || !p.grows() || p.made - p.freed <= growth_;
    if (!room || p.working > stop_.memory_left() / 2) return false;
    ASSIGN_OR_RETURN(bool decided, is_decided(p));
    if (!decided) return false;
    ASSIGN_OR_RETURN(auto constants, constants_of(root, p));
    if (!constants) return false;
    result_.calls_folded += wanted_[static_cast<size_t>(root)];
    growth_ -= p.made - p.freed;
    result_.folded.push_back(root);
    put(root, *std::move(constants));
    return true;
  }

  /// Time is up, but this takes none to speak of: a model whose weights are left as small graphs is
  /// slow, and not what runtimes expect.
  bool is_spared(const Plan& p) {
    if (!stop_.must_end() || p.working > std::min(kSmall, spare_)) return false;
    spare_ -= p.working;
    return true;
  }

  /// What a runtime's rounding would decide stays for it to compute, with all that it is made of.
  Result<bool> is_decided(const Plan& p) {
    auto decided = p.cone->is_decided(stop_);
    if (!decided && !stop_.must_end()) return decided.error();
    undecided_ = !decided || !*decided;
    return !undecided_;
  }

  /// The outputs; nothing when there is no time for them and they make the model larger.
  Result<std::optional<Constants>> constants_of(int32_t root, const Plan& p) {
    const std::vector<TensorType>& types = graph_.node(root).types;
    const bool whole = graph_.node(root).inputs.empty() || is_spared(p);
    Constants constants;
    bool late = p.late() && is_real(types[0].dtype);
    if ((large_ == Large::AtOnce || !late) && (whole || !stop_.must_end())) {
      auto values = whole ? evaluated_whole(*p.cone) : p.cone->evaluate(stop_);
      if (!values && (whole || !stop_.must_end())) return values.error();
      for (size_t k = 0; values && k < types.size(); ++k)
        if (!has_numbers(types[k].dtype, (*values)[k].data)) return std::optional<Constants>();
      for (size_t k = 0; values && k < types.size(); ++k)
        constants.push_back(make_constant(types[k].dtype, (*values)[k].shape, (*values)[k].data));
      if (values && shared(root))  // what is made of it is rounded once
        unrounded_[root] = std::make_shared<const std::vector<Array<double>>>(*std::move(values));
      if (!constants.empty()) return std::optional(std::move(constants));
    }
    if (p.grows() || !is_real(types[0].dtype)) return std::optional<Constants>();
    for (size_t k = 0; k < types.size(); ++k) constants.push_back(computed_late(p.cone, root, k));
    return std::optional(std::move(constants));
  }

  /// Output k of the cone, computed each time that it is asked for: only one is in memory then.
  std::shared_ptr<const Constant> computed_late(const std::shared_ptr<const Cone>& cone,
                                                int32_t root, size_t k) const {
    const TensorType& type = graph_.node(root).types[k];
    auto read = [cone, k, dtype = type.dtype](const Constant::Visit& visit) -> Status {
      ASSIGN_OR_RETURN(auto results, evaluated_whole(*cone));
      auto data = make_constant(dtype, results[k].shape, results[k].data);
      results.clear();
      return data->read(visit);
    };
    return std::make_shared<const Constant>(type.dtype, *numeric(*type.shape), read);
  }

  /// A node with one output becomes a constant in its place; others are redirected to new ones.
  void put(int32_t root, Constants constants) {
    release(
        root, [&](int32_t id) -> int64_t& { return uses_[static_cast<size_t>(id)]; },
        [](int32_t) {});
    const Node& old = graph_.node(root);
    for (size_t k = 0; k < constants.size(); ++k) {
      std::string name = k < old.names.size() ? old.names[k] : std::string{};
      Node constant;
      constant.kind = NodeKind::Constant;
      constant.types = {old.types[k]};
      constant.constant = constants[k];
      if (!name.empty()) constant.names = {name};
      if (constants.size() == 1)
        result_.graph.replace_node(root, std::move(constant));
      else
        moved_[{root, static_cast<int32_t>(k)}] = {result_.graph.add_node(std::move(constant)), 0};
    }
    folded_[static_cast<size_t>(root)] = std::move(constants);
  }

  /// Lets all readers of outputs that moved read them where they are now.
  void redirect() {
    if (moved_.empty()) return;
    auto to = [&](Value v) {
      auto it = moved_.find(v);
      return it == moved_.end() ? v : it->second;
    };
    Graph& g = result_.graph;
    for (int32_t id = 0; id < g.id_bound(); ++id) {
      bool reads = g.contains(id) && std::ranges::any_of(g.node(id).inputs, [&](Value v) {
                     return moved_.count(v) > 0;
                   });
      if (!reads) continue;
      Node n = g.node(id);
      std::ranges::transform(n.inputs, n.inputs.begin(), to);
      g.replace_node(id, std::move(n));
    }
    std::vector<Value> outputs = g.outputs();
    std::ranges::transform(outputs, outputs.begin(), to);
    g.set_outputs(std::move(outputs));
  }

  const Graph& graph_;
  int64_t growth_;  // what is left of it
  Large large_;
  int64_t spare_ = kSpare;  // what is left of it
  bool undecided_ = false;  // the last that was tried
  const Stop& stop_;
  std::vector<char> constant_, possible_, tried_, wanted_;
  std::vector<Constants> folded_;           // by id
  std::map<int32_t, Unrounded> unrounded_;  // of these, what others are made of; small
  std::vector<int64_t> uses_;               // by id, of what is not folded
  int64_t effort_;  // nodes to look at while planning: bounds the time for large graphs
  std::map<Value, Value> moved_;
  FoldReport result_;
};

}  // namespace

Result<FoldReport> fold(const Graph& g, int64_t growth, const Stop& stop) {
  return Folder(g, growth, stop).run();
}

Result<Graph> fold_constants(const Graph& g) {
  const Stop never;
  ASSIGN_OR_RETURN(FoldReport report, Folder(g, kUnbounded, never, Large::AtOnce).run());
  return std::move(report.graph);
}

Result<Graph> fold_calls(const Graph& g, const std::vector<int32_t>& calls) {
  const Uninterrupted whole;
  const Stop never;
  ASSIGN_OR_RETURN(FoldReport report, Folder(g, kUnbounded, never).run_again(calls));
  return std::move(report.graph);
}

}  // namespace regraft
