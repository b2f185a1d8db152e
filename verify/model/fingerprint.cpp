#include "verify/model/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/hash.h"
#include "base/rng.h"
#include "ir/graph/eval.h"
#include "ir/rule/pattern.h"

namespace regraft::verify {
namespace {

using Tensor = Array<double>;

constexpr double kNaN = 0.7310, kPlusInfinity = 1.9137, kMinusInfinity = -2.3719;
constexpr double kNoise = 0x1p-36;  // of evaluation in double precision, with some cancellation

constexpr double kRoundings = 64;  // that may add up, of all constants on the way

double counted(double x) {
  if (std::isnan(x)) return kNaN;
  if (std::isinf(x)) return x > 0 ? kPlusInfinity : kMinusInfinity;
  return x;
}

Fingerprint fingerprint_of(const Tensor& t) {
  Fingerprint f{true, t.shape, 0, 0, 0};
  uint64_t state = 0x2545f4914f6cdd1dULL;
  for (double x : t.data) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    double weight = std::ldexp(static_cast<double>(static_cast<int64_t>(state)), -63);
    double term = weight * counted(x);
    f.sum += term;
    f.magnitude += std::abs(term);
    f.largest = std::max(f.largest, std::abs(counted(x)));
  }
  return f;
}

class Evaluation {
 public:
  Evaluation(const Graph& g, const Valuation& sizes, uint64_t seed, Evaluated which,
             const Stop& stop)
      : g_(g),
        sizes_(with_all_sizes(g, sizes)),
        seed_(seed),
        which_(which),
        stop_(stop),
        values_(static_cast<size_t>(g.id_bound())),
        uses_(static_cast<size_t>(g.id_bound()), 0),
        prints_(static_cast<size_t>(g.id_bound())) {}

  Result<std::vector<std::vector<Fingerprint>>> run() {
    ASSIGN_OR_RETURN(auto order, topological_order(g_));
    for (int32_t id : order) {
      prints_[static_cast<size_t>(id)].resize(g_.node(id).types.size());
      for (Value v : g_.node(id).inputs) ++uses_[static_cast<size_t>(v.node)];
    }
    std::vector<char> wanted(prints_.size(), 1);
    if (which_ == Evaluated::Constants) wanted = constant_nodes(g_);
    for (int32_t id : order) {
      if (stop_.must_end()) break;
      if (wanted[static_cast<size_t>(id)] == 0) continue;
      RETURN_IF_ERROR(evaluate_node(id));
      note(id);
    }
    return std::move(prints_);
  }

 private:
  std::vector<std::optional<Tensor>>& values(int32_t id) {
    return values_[static_cast<size_t>(id)];
  }
  void note(int32_t id) {
    auto& prints = prints_[static_cast<size_t>(id)];
    for (size_t k = 0; k < values(id).size() && k < prints.size(); ++k)
      if (values(id)[k]) prints[k] = fingerprint_of(*values(id)[k]);
    for (Value v : g_.node(id).inputs)
      if (--uses_[static_cast<size_t>(v.node)] == 0) values(v.node) = {};
    if (uses_[static_cast<size_t>(id)] == 0) values(id) = {};
  }

  Status evaluate_node(int32_t id) {
    const Node& n = g_.node(id);
    switch (n.kind) {
      case NodeKind::Constant:
        return read(id, *n.constant);
      case NodeKind::Call:
        call(id);
        return {};
      case NodeKind::Opaque:
        if (n.sizes)
          compute(id, *n.sizes);
        else
          draw(id);
        return {};
      case NodeKind::Input:
        draw(id);
        return {};
      case NodeKind::Absent:
        return {};
    }
    return {};
  }

  Status read(int32_t id, const Constant& c) {
    if (!is_real(c.dtype()) && !is_integer(c.dtype())) return {};
    if (!fits(c.count())) return {};
    ASSIGN_OR_RETURN(auto data, c.reals());
    values(id).push_back(Tensor{c.dims(), std::move(data)});
    return {};
  }

  bool fits(int64_t count) const {
    return count <= (1 << 16) ||
           static_cast<double>(count) * sizeof(double) < static_cast<double>(stop_.memory_left());
  }

  /// nullopt: not known, or none that a tensor may have.
  std::optional<std::vector<int64_t>> shape_of(const TensorType& t) const {
    if (!t.shape) return std::nullopt;
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (const Poly& p : *t.shape) {
      shape.push_back(evaluate(p, sizes_));
      if (shape.back() < 0 || __builtin_mul_overflow(count, shape.back(), &count))
        return std::nullopt;
    }
    return fits(count) ? std::optional(shape) : std::nullopt;
  }

  void call(int32_t id) {
    const Node& n = g_.node(id);
    std::vector<const Tensor*> operands;
    for (Value v : n.inputs) {
      auto k = static_cast<size_t>(v.output);
      if (k >= values(v.node).size() || !values(v.node)[k]) return;
      operands.push_back(&*values(v.node)[k]);
    }
    for (const TensorType& t : n.types)
      if (!shape_of(t)) return;
    auto results = evaluate_reals(*n.op, operands, evaluate(n.attrs, sizes_), stop_);
    if (!results) return;
    for (Tensor& t : *results) values(id).emplace_back(std::move(t));
  }

  /// What a pure opaque node makes follows from its content and its operands.
  uint64_t seed_of(int32_t id) const {
    const Node& n = g_.node(id);
    const auto own = combine(seed_, static_cast<uint64_t>(id));
    if (n.kind != NodeKind::Opaque || !n.pure || n.constant) return own;
    uint64_t h = combine(seed_, short_hash(n.content));
    for (Value v : n.inputs) {
      if (g_.node(v.node).kind == NodeKind::Absent) continue;
      const auto& prints = prints_[static_cast<size_t>(v.node)];
      const auto k = static_cast<size_t>(v.output);
      if (k < prints.size() && prints[k].known)
        h = combine(h, outline(prints[k]));
      else
        h = combine(combine(h, static_cast<uint64_t>(v.node)), k);
    }
    return h;
  }
  /// So coarse that rounding of constants hardly shows.
  static uint64_t outline(const Fingerprint& f) {
    constexpr double kSteps = 64;
    if (f.magnitude == 0) return 0;
    auto number = [](double x) { return static_cast<uint64_t>(std::llround(kSteps * x)); };
    return combine(number(f.sum / f.magnitude), number(std::log2(f.magnitude)));
  }

  void draw(int32_t id) {
    const Node& n = g_.node(id);
    const uint64_t seed = seed_of(id);
    for (size_t k = 0; k < n.types.size(); ++k) {
      auto& value = values(id).emplace_back();
      auto shape = shape_of(n.types[k]);
      if (!shape) continue;
      int64_t count = 1;
      for (int64_t d : *shape) count *= d;
      Rng rng(combine(seed, k));
      value.emplace(Tensor{*shape, std::vector<double>(static_cast<size_t>(count))});
      bool truth = n.types[k].dtype == DType::Bool;
      for (double& x : value->data)
        x = is_real(n.types[k].dtype) ? 2 * rng.unit() - 1
                                      : static_cast<double>(rng.below(truth ? 2 : 4));
      // Most opaque results that models take roots of are not negative.
      if (n.kind == NodeKind::Opaque)
        for (double& x : value->data) x = std::abs(x);
    }
  }

  void compute(int32_t id, const SizeTensor& s) {
    Tensor t{s.dims, {}};
    for (const SizeElement& e : s.elements)
      t.data.push_back(static_cast<double>(evaluate(e.value, sizes_)) /
                       static_cast<double>(e.divisor));
    values(id).emplace_back(std::move(t));
  }

  const Graph& g_;
  const Valuation sizes_;
  uint64_t seed_;
  Evaluated which_;
  const Stop& stop_;
  std::vector<std::vector<std::optional<Tensor>>> values_;
  std::vector<int64_t> uses_;  // still to come
  std::vector<std::vector<Fingerprint>> prints_;
};

}  // namespace

Valuation with_all_sizes(const Graph& g, Valuation sizes) {
  auto note = [&](const Poly& p) {
    for_each_symbol(p, [&](Var v) {
      if (v->kind == SymbolKind::Size) sizes.emplace(v, std::max<int64_t>(v->min, 3));
    });
  };
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const Node& n = g.node(id);
    for (const TensorType& t : n.types)
      for (const Poly& p : t.shape.value_or(Shape{})) note(p);
    for (const auto& list : n.attrs.ints)
      for (const Poly& p : list) note(p);
    if (n.sizes)
      for (const SizeElement& e : n.sizes->elements) note(e.value);
  }
  return sizes;
}

bool close(const Fingerprint& a, const Fingerprint& b, double roundoff) {
  if (!a.known || !b.known || a.shape != b.shape) return false;
  double allowed = (kRoundings * roundoff + kNoise) * std::max(a.magnitude, b.magnitude);
  return std::abs(a.sum - b.sum) <= allowed && std::abs(a.magnitude - b.magnitude) <= allowed;
}

Result<std::vector<std::vector<Fingerprint>>> fingerprints(const Graph& g, const Valuation& sizes,
                                                           uint64_t seed, Evaluated which,
                                                           const Stop& stop) {
  return Evaluation(g, sizes, seed, which, stop).run();
}

}  // namespace regraft::verify
