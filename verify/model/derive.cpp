#include "verify/model/derive.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/check.h"
#include "ir/graph/eval.h"
#include "verify/model/constants.h"
#include "verify/model/fits.h"
#include "verify/model/numbers.h"
#include "verify/model/window.h"

namespace regraft::verify::fits {
namespace {

using Tensor = Array<double>;
using Make = std::function<Value()>;

constexpr int64_t kMost = 1 << 24;        ///< elements of a constant that is looked at
constexpr int64_t kMostOfCall = 1 << 20;  ///< elements of a constant expression that is a source
constexpr int64_t kCached = 1 << 26;      ///< elements kept at once
constexpr double kWork = 2e9;             ///< multiplications in search of products, in all
constexpr size_t kMostAxes = 4;
constexpr int kRounds = 2;
constexpr double kStep = 0x1p-10;  ///< relative: to see what a shift depends on
constexpr double kRoundings = 64, kMostDeviation = 1e-2;  ///< relative: of a hypothesis that fits

int64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}
std::vector<Poly> polys(const Dims& dims) { return {dims.begin(), dims.end()}; }
Dims without_ones(Dims dims) {
  std::erase(dims, 1);
  return dims;
}

/// A constant of the first model, or an expression over some that may be added to it.
struct Source {
  DType dtype;
  Dims dims;
  Value value;  ///< node -1: `make` adds it
  Make make;
  std::shared_ptr<Data> data;   ///< where it is kept
  std::shared_ptr<Data> terms;  ///< magnitudes of what the data is a sum of; nullptr: the data's
  double terms_at(size_t k) const { return terms ? (*terms)[k] : (*data)[k]; }
};
using SourcePtr = std::shared_ptr<Source>;

/// An operator that scales and shifts each channel by constants.
struct Affine {
  int32_t id;
  Data shift, scale;
  Data terms;  ///< of the shift: how much it changes with each of its numbers
};

class Deriver {
 public:
  Deriver(Pair& pair, const Stop& stop) : pair_(pair), g_(pair.graph), stop_(stop) {}

  Status run() {
    pair_.first_derived = g_.id_bound();
    ASSIGN_OR_RETURN(auto order, topological_order(g_));
    std::vector<int32_t> wanted;
    for (int32_t id : order)
      if (id >= pair_.first_b && is_wanted(g_.node(id))) wanted.push_back(id);
    if (wanted.empty()) return {};
    RETURN_IF_ERROR(collect(order));
    std::ranges::stable_sort(wanted, {}, [&](int32_t id) { return g_.node(id).constant->count(); });
    for (int round = 0; round < kRounds && !wanted.empty(); ++round) {
      std::vector<int32_t> left;
      for (int32_t id : wanted) {
        if (stop_.must_end()) return {};
        ASSIGN_OR_RETURN(bool found, find(id));
        if (!found) left.push_back(id);
      }
      wanted = std::move(left);
    }
    return {};
  }

 private:
  static bool is_wanted(const Node& n) {
    return n.kind == NodeKind::Constant && is_real(n.constant->dtype()) &&
           n.constant->count() >= 2 && n.constant->count() <= kMost;
  }

  // What there is.

  Status collect(const std::vector<int32_t>& order) {
    auto constant = constant_nodes(g_);
    auto number = numbers_of(g_);
    for (int32_t id : order) {
      if (id >= pair_.first_b) continue;
      const NodePtr n = g_.node_ptr(id);
      if (auto x = number[static_cast<size_t>(id)]) numbers_.insert(*x);
      if (is_wanted(*n))
        add_source({n->constant->dtype(), n->constant->dims(), {id, 0}, {}, {}, {}});
      if (n->kind != NodeKind::Call) continue;
      for (const Real& r : n->attrs.reals)
        if (!r.symbol) numbers_.insert(r.value);
      if (constant[static_cast<size_t>(id)] != 0)
        add_expression(id);
      else if (n->op->channel_affine)
        RETURN_IF_ERROR(add_affine(id, constant));
    }
    return {};
  }
  void add_source(Source s) {
    int64_t n = count_of(s.dims);
    sources_[n].push_back(std::make_shared<Source>(std::move(s)));
  }
  void add_expression(int32_t id) {
    const Node& n = g_.node(id);
    if (n.types.size() != 1 || !n.types[0].shape || !is_real(n.types[0].dtype)) return;
    Dims dims;
    for (const Poly& p : *n.types[0].shape) {
      if (!p.is_constant()) return;
      dims.push_back(p.constant());
    }
    int64_t count = count_of(dims);
    if (count >= 2 && count <= kMostOfCall)
      add_source({n.types[0].dtype, dims, {id, 0}, {}, {}, {}});
  }

  Status add_affine(int32_t id, const std::vector<char>& constant) {
    const Node& n = g_.node(id);
    std::vector<Tensor> operands(1);
    for (size_t k = 1; k < n.inputs.size(); ++k) {
      if (constant[static_cast<size_t>(n.inputs[k].node)] == 0) return {};
      ASSIGN_OR_RETURN(auto t, evaluated(n.inputs[k]));
      if (!t) return {};
      operands.push_back(*std::move(t));
    }
    auto attrs = numeric(n.attrs);
    const auto& shape = g_.type(n.inputs[0]).shape;
    if (!attrs || !shape || shape->size() < 2 || !(*shape)[1].is_constant()) return {};
    int64_t c = (*shape)[1].constant();
    auto of = [&](double x) -> std::optional<Data> {
      operands[0] = {{1, c}, Data(static_cast<size_t>(c), x)};
      std::vector<const Tensor*> all;
      for (const Tensor& t : operands) all.push_back(&t);
      auto r = evaluate_reals(*n.op, all, *attrs, stop_);
      return r ? std::optional(std::move(r->front().data)) : std::nullopt;
    };
    auto shift = of(0), scale = of(1);
    if (!shift || !scale) return {};
    Data terms(shift->size(), 0);
    for (size_t k = 1; k < operands.size(); ++k) {
      const Tensor exact = operands[k];
      for (double& x : operands[k].data) x *= 1 + kStep;
      auto other = of(0);
      operands[k] = exact;
      if (!other) return {};
      for (size_t e = 0; e < terms.size(); ++e) {
        terms[e] += std::abs((*other)[e] - (*shift)[e]) / kStep;
        if (k == 1) terms[e] += std::abs((*shift)[e]);
      }
    }
    for (size_t k = 0; k < scale->size(); ++k) (*scale)[k] -= (*shift)[k];
    affines_[c].push_back({id, *shift, *scale, terms});
    DType type = n.types[0].dtype;
    auto make_shift = [this, id, c, type] { return applied(id, full(c, 0, type)); };
    auto make_scale = [this, id, c, type, make_shift] {
      Value of_one = applied(id, full(c, 1, type));
      return call("sub", {of_one, make_shift()});
    };
    if (c < 2) return {};
    add_source({type,
                {1, c},
                {},
                make_shift,
                std::make_shared<Data>(*std::move(shift)),
                std::make_shared<Data>(std::move(terms))});
    add_source({type, {1, c}, {}, make_scale, std::make_shared<Data>(*std::move(scale)), {}});
    return {};
  }

  Result<std::optional<Tensor>> evaluated(Value v) {
    const Node& n = g_.node(v.node);
    if (n.kind == NodeKind::Constant) {
      if (n.constant->count() > kMost) return std::optional<Tensor>();
      ASSIGN_OR_RETURN(auto data, n.constant->reals());
      return std::optional(Tensor{n.constant->dims(), std::move(data)});
    }
    auto attrs = numeric(n.attrs);
    if (n.kind != NodeKind::Call || !attrs) return std::optional<Tensor>();
    std::vector<Tensor> operands;
    for (Value o : n.inputs) {
      ASSIGN_OR_RETURN(auto t, evaluated(o));
      if (!t) return t;
      operands.push_back(*std::move(t));
    }
    std::vector<const Tensor*> all;
    for (const Tensor& t : operands) all.push_back(&t);
    auto r = evaluate_reals(*n.op, all, *attrs, stop_);
    if (!r || static_cast<size_t>(v.output) >= r->size()) return std::optional<Tensor>();
    return std::optional(std::move((*r)[static_cast<size_t>(v.output)]));
  }

  /// nullptr: it cannot be evaluated.
  Result<std::shared_ptr<Data>> data_of(const SourcePtr& s) {
    if (s->data) return s->data;
    ASSIGN_OR_RETURN(auto t, evaluated(s->value));
    if (!t) return std::shared_ptr<Data>();
    s->data = std::make_shared<Data>(std::move(t->data));
    auto n = static_cast<int64_t>(s->data->size());
    if (n <= kVector) return s->data;
    for (cached_ += n; cached_ > kCached && !large_.empty(); large_.erase(large_.begin())) {
      cached_ -= static_cast<int64_t>(large_.front()->data->size());
      large_.front()->data = nullptr;
    }
    large_.push_back(s);
    return s->data;
  }

  /// All of this many elements and this type, with their data.
  Result<std::vector<std::pair<SourcePtr, std::shared_ptr<Data>>>> vectors(int64_t n, DType type) {
    std::vector<std::pair<SourcePtr, std::shared_ptr<Data>>> r;
    auto it = sources_.find(n);
    if (it == sources_.end() || n > kVector) return r;
    for (const SourcePtr& s : it->second) {
      if (s->dtype != type) continue;
      ASSIGN_OR_RETURN(auto data, data_of(s));
      if (data) r.emplace_back(s, std::move(data));
    }
    return r;
  }

  // Calls of the first model.

  Value call(const char* op, std::vector<Value> operands, Attrs<Poly> attrs = {}) {
    auto id = g_.add_call(*find_op(op), std::move(operands), std::move(attrs));
    CHECK(id);
    return {*id, 0};
  }
  Value full(int64_t channels, double x, DType type) {
    Value v = call("full", {}, {{{Poly(1), Poly(channels)}}, {{x, nullptr}}});
    Node n = g_.node(v.node);
    n.types[0].dtype = type;
    g_.replace_node(v.node, std::move(n));
    return v;
  }
  Value applied(int32_t id, Value operand) {
    const NodePtr n = g_.node_ptr(id);
    std::vector<Value> operands = n->inputs;
    operands[0] = operand;
    auto made = g_.add_call(*n->op, std::move(operands), n->attrs);
    CHECK(made);
    return {*made, 0};
  }
  Value reshaped(Value v, const Dims& dims) {
    const Shape& shape = g_.shape(v);
    bool same = shape.size() == dims.size();
    for (size_t d = 0; same && d < dims.size(); ++d)
      same = shape[d].is_constant() && shape[d].constant() == dims[d];
    return same ? v : call("reshape", {v}, {{polys(dims)}, {}});
  }
  Value value_of(const SourcePtr& s) {
    if (s->value.node < 0) s->value = s->make();
    return s->value;
  }
  Value number(const NumberExpression& e, DType type) {
    return build(g_, e, [&](double x) { return g_.add_constant(make_constant(type, {}, {x})); });
  }

  /// Over one or two numbers of the first model.
  std::optional<NumberExpression> explained(double x, DType type) {
    auto [it, fresh] = explained_.emplace(std::pair(x, type), std::nullopt);
    if (!fresh) return it->second;
    for (double y : numbers_)
      if (auto e = explain(x, {y}, type)) return it->second = e;
    constexpr size_t kMostPairs = 48;
    if (numbers_.size() <= kMostPairs)
      for (double y : numbers_)
        for (double z : numbers_)
          if (y < z)
            if (auto e = explain(x, {y, z}, type)) return it->second = e;
    return std::nullopt;
  }

  // Hypotheses. Each gives the expression with any shape of the target's count.

  Result<bool> find(int32_t id) {
    const NodePtr n = g_.node_ptr(id);
    Target t{n->constant->dtype(), n->constant->dims(), {}, 0};
    t.tolerance = std::min(kRoundings * roundoff(t.dtype), kMostDeviation);
    ASSIGN_OR_RETURN(t.data, n->constant->reals());
    if (std::ranges::any_of(t.data, [](double x) { return !std::isfinite(x); })) return false;
    if (std::ranges::all_of(t.data, [](double x) { return x == 0; })) return false;
    ASSIGN_OR_RETURN(bool there, is_there(t));
    if (there) return true;
    std::optional<Value> found;
    if (is_vector(t.dims)) {
      ASSIGN_OR_RETURN(found, as_vector(t));
      if (!found) found = as_affine(t);
      if (!found) {
        ASSIGN_OR_RETURN(found, as_product(t));
      }
    } else {
      ASSIGN_OR_RETURN(found, as_scaled(t));
    }
    if (!found) return false;
    Value a = reshaped(*found, t.dims), b{id, 0};
    ASSIGN_OR_RETURN(auto d, deviation(g_, a, b, stop_));
    if (!d || !d->explained()) return false;
    pair_.derived.push_back({b, a, *d});
    add_source({t.dtype, t.dims, a, {}, {}, {}});
    return true;
  }
  /// Whether the first model computes it: then it needs no expression.
  Result<bool> is_there(const Target& t) {
    auto it = sources_.find(static_cast<int64_t>(t.data.size()));
    if (it == sources_.end()) return false;
    for (const SourcePtr& s : it->second) {
      if (s->dims != t.dims || s->dtype != t.dtype || s->value.node < 0) continue;
      if (g_.node(s->value.node).kind != NodeKind::Call) continue;
      ASSIGN_OR_RETURN(auto u, data_of(s));
      if (u && agrees(t, [&](size_t k) { return Sum{(*u)[k], (*u)[k]}; })) return true;
    }
    return false;
  }
  static bool is_vector(const Dims& dims) {
    return std::ranges::count_if(dims, [](int64_t d) { return d != 1; }) <= 1 &&
           count_of(dims) <= kVector;
  }
  Value flat(const SourcePtr& s) { return reshaped(value_of(s), {count_of(s->dims)}); }

  /// The numbers of one source, of two, or of one times a number.
  Result<std::optional<Value>> as_vector(const Target& t) {
    using Found = std::optional<Value>;
    auto n = static_cast<int64_t>(t.data.size());
    ASSIGN_OR_RETURN(auto all, vectors(n, t.dtype));
    auto one = [&] { return number({NumberExpression::Itself, 1, 0, 1, "1"}, t.dtype); };
    for (const auto& [s, u] : all) {
      auto plain = [&, s = s, u = u](size_t k) { return Sum{(*u)[k], s->terms_at(k)}; };
      auto inverse = [&, u = u](size_t k) { return Sum{1 / (*u)[k], 1 / (*u)[k]}; };
      if (agrees(t, plain)) return Found(flat(s));
      if (agrees(t, inverse)) return Found(call("div", {one(), flat(s)}));
      auto x = ratio(t, [&, u = u](size_t k) { return (*u)[k]; });
      if (!x) continue;
      if (auto e = explained(*x, t.dtype))
        return Found(call("mul", {flat(s), number(*e, t.dtype)}));
    }
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = 0; j < all.size(); ++j) {
        const SourcePtr &r = all[i].first, &s = all[j].first;
        const auto &x = *all[i].second, &y = *all[j].second;
        auto product = [&](size_t k) { return Sum{x[k] * y[k], x[k] * y[k]}; };
        auto quotient = [&](size_t k) { return Sum{x[k] / y[k], x[k] / y[k]}; };
        auto sum = [&](size_t k) { return Sum{x[k] + y[k], std::abs(x[k]) + std::abs(y[k])}; };
        if (i <= j && agrees(t, product)) return Found(call("mul", {flat(r), flat(s)}));
        if (i <= j && agrees(t, sum)) return Found(call("add", {flat(r), flat(s)}));
        if (i != j && agrees(t, quotient)) return Found(call("div", {flat(r), flat(s)}));
      }
    return Found();
  }

  /// What an affine operator makes of a vector.
  std::optional<Value> as_affine(const Target& t) {
    auto c = static_cast<int64_t>(t.data.size());
    auto it = affines_.find(c);
    auto all = vectors(c, t.dtype);
    if (it == affines_.end() || !all) return std::nullopt;
    for (const Affine& f : it->second)
      for (const auto& [s, u] : *all) {
        auto of = [&, u = u](size_t k) {
          double x = (*u)[k] * f.scale[k];
          return Sum{x + f.shift[k], std::abs(x) + f.terms[k]};
        };
        if (agrees(t, of)) return applied(f.id, reshaped(value_of(s), {1, c}));
      }
    return std::nullopt;
  }

  /// A source in any order, as it is, or times a number, or times numbers along one axis.
  Result<std::optional<Value>> as_scaled(const Target& t) {
    using Found = std::optional<Value>;
    auto it = sources_.find(static_cast<int64_t>(t.data.size()));
    if (it == sources_.end()) return Found();
    const std::vector<SourcePtr> all = it->second;
    for (const SourcePtr& s : all) {
      if (s->dtype != t.dtype) continue;
      ASSIGN_OR_RETURN(auto data, data_of(s));
      if (!data) continue;
      std::vector<int> perm(s->dims.size());
      std::iota(perm.begin(), perm.end(), 0);
      do {
        if (moves_only_ones(s->dims, perm)) continue;
        Order order(s->dims, perm);
        auto of = [&](size_t k) { return (*data)[order.place(static_cast<int64_t>(k))]; };
        auto moved = [&] {
          Value v = value_of(s);
          if (!std::ranges::is_sorted(perm))
            v = call("transpose", {v}, {{{perm.begin(), perm.end()}}, {}});
          return reshaped(v, t.dims);
        };
        if (auto x = ratio(t, of)) {
          if (t.near(*x, 1)) return Found(moved());
          if (auto e = explained(*x, t.dtype))
            return Found(call("mul", {moved(), number(*e, t.dtype)}));
        }
        for (size_t axis = 0; axis < t.dims.size(); ++axis) {
          auto scaling = scaling_along(t, axis, of);
          if (!scaling) continue;
          ASSIGN_OR_RETURN(auto v, as_vector(*scaling));
          if (!v) continue;
          Dims dims(t.dims.size(), 1);
          dims[axis] = t.dims[axis];
          return Found(call("mul", {moved(), reshaped(*v, dims)}));
        }
      } while (s->dims.size() <= kMostAxes && std::next_permutation(perm.begin(), perm.end()));
    }
    return Found();
  }
  /// A vector times a matrix, plus a vector.
  Result<std::optional<Value>> as_product(const Target& t) {
    using Found = std::optional<Value>;
    auto m = static_cast<int64_t>(t.data.size());
    ASSIGN_OR_RETURN(auto addends, vectors(m, t.dtype));
    const auto counts = sources_;
    for (const auto& [count, all] : counts) {
      if (count % m != 0 || count / m < 2 || count / m > kVector) continue;
      int64_t k = count / m;
      ASSIGN_OR_RETURN(auto factors, vectors(k, t.dtype));
      if (factors.empty()) continue;
      for (const SourcePtr& s : all) {
        Dims dims = without_ones(s->dims);
        bool by_rows = dims == Dims{k, m}, by_columns = dims == Dims{m, k};
        if (s->dtype != t.dtype || (!by_rows && !by_columns)) continue;
        ASSIGN_OR_RETURN(auto matrix, data_of(s));
        if (!matrix) continue;
        for (bool turned : {false, true}) {
          if (turned ? !by_columns : !by_rows) continue;
          for (const auto& [f, u] : factors) {
            auto step = turned ? 1 : m, row = turned ? k : 1;
            auto dot = [&, u = u](size_t j) {
              Sum sum{0, 0};
              work_ += static_cast<double>(k);
              for (int64_t i = 0; i < k; ++i) {
                double x = (*u)[static_cast<size_t>(i)] *
                           (*matrix)[static_cast<size_t>(i * step + static_cast<int64_t>(j) * row)];
                sum.value += x;
                sum.terms += std::abs(x);
              }
              return sum;
            };
            if (work_ > kWork) return Found();
            auto make = [&, f = f] {
              Value w = reshaped(value_of(s), turned ? Dims{m, k} : Dims{k, m});
              if (turned) w = call("transpose", {w}, {{{Poly(1), Poly(0)}}, {}});
              return call("matmul", {reshaped(value_of(f), {1, k}), w});
            };
            if (agrees(t, dot)) return Found(make());
            Sum first = dot(0), last = dot(static_cast<size_t>(m) - 1);
            for (const auto& [a, v] : addends) {
              auto near = [&, v = v](size_t j, const Sum& sum) {
                double x = (*v)[j];
                return t.near(sum.value + x, t.data[j], sum.terms + std::abs(x));
              };
              if (!near(0, first) || !near(static_cast<size_t>(m) - 1, last)) continue;
              auto sum = [&, v = v](size_t j) {
                Sum product = dot(j);
                return Sum{product.value + (*v)[j], product.terms + std::abs((*v)[j])};
              };
              if (agrees(t, sum))
                return Found(call("add", {make(), reshaped(value_of(a), {1, m})}));
            }
          }
        }
      }
    }
    return Found();
  }

  Pair& pair_;
  Graph& g_;
  const Stop& stop_;
  std::set<double> numbers_ = {1, 2};                  // and the first model's
  std::map<int64_t, std::vector<SourcePtr>> sources_;  // by elements
  std::map<int64_t, std::vector<Affine>> affines_;     // by channels
  std::map<std::pair<double, DType>, std::optional<NumberExpression>> explained_;
  std::vector<SourcePtr> large_;  // whose data is kept
  int64_t cached_ = 0;
  double work_ = 0;
};

}  // namespace
}  // namespace regraft::verify::fits

namespace regraft::verify {

Status derive_constants(Pair& pair, const Stop& stop) { return fits::Deriver(pair, stop).run(); }

}  // namespace regraft::verify
