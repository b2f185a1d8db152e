#include "verify/numerics/small_sizes.h"

#include <functional>
#include <map>
#include <set>

#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

constexpr int64_t kSmall = 4;   // a number that stays as it is
constexpr size_t kSamples = 3;  // sizes at which the sides are compared
constexpr int64_t kFirsts[] = {5, 3,
                               2};  // that replace the least large number, one after the other

/// What replaces each large number.
using Replaced = std::map<int64_t, int64_t>;

/// The number that a size is, or is a multiple of; 0: it is a sum.
int64_t factor_of(const Poly& p) {
  if (p.is_constant()) return p.constant();
  return p.constant() == 0 && p.terms().size() == 1 ? p.terms()[0].coefficient : 0;
}

std::set<int64_t> large_numbers(const RuleInstance& instance) {
  std::set<int64_t> numbers;
  auto note = [&](const Poly& p) {
    if (int64_t n = factor_of(p); n > kSmall) numbers.insert(n);
  };
  for (Value in : instance.lhs.inputs())
    for (const Poly& p : instance.lhs.shape(in)) note(p);
  for (const Graph* g : {&instance.lhs, &instance.rhs})
    for (int32_t id = 0; id < g->id_bound(); ++id) {
      const Node& n = g->node(id);
      if (n.kind != NodeKind::Call) continue;
      for (size_t k = 0; k < n.attrs.ints.size(); ++k)
        if (!n.op->ints[k].structural)
          for (const Poly& p : n.attrs.ints[k]) note(p);
    }
  return numbers;
}

/// Numbers from `first` on for those that are no products of others.
Replaced replacements(const std::set<int64_t>& numbers, int64_t first) {
  Replaced small;
  int64_t next = first;
  for (int64_t n : numbers) {
    std::optional<int64_t> product;
    for (auto it = small.rbegin(); it != small.rend() && !product; ++it)
      if (n % it->first == 0) {
        int64_t rest = n / it->first;
        auto other = small.find(rest);
        if (rest <= kSmall) product = it->second * rest;
        if (other != small.end()) product = it->second * other->second;
      }
    small[n] = product ? *product : next++;
  }
  return small;
}

Poly replaced(const Poly& p, const Replaced& by) {
  auto it = by.find(factor_of(p));
  if (it == by.end()) return p;
  return p.is_constant() ? Poly(it->second) : Poly::product(p.terms()[0].monomial, it->second);
}

/// Both sides built anew.
class Rebuilder {
 public:
  Rebuilder(const RuleInstance& from, const Replaced& by) : from_(from), by_(by) {}

  std::optional<RuleInstance> run() {
    RuleInstance r;
    r.lhs = Graph(from_.lhs.shared_pool());
    r.rhs = Graph(from_.lhs.shared_pool());
    r.sizes = from_.sizes;
    bool built = side(from_.lhs, r.lhs, [&](const Formula& f) { add(r.requires_lhs, f); }) &&
                 side(from_.rhs, r.rhs, [&](const Formula& f) { r.requires_rhs.push_back(f); });
    if (!built || plainly_false(r.requires_lhs)) return std::nullopt;
    for (size_t k = 0; k < r.lhs.outputs().size(); ++k)
      if (!same(r.lhs.type(r.lhs.outputs()[k]), r.rhs.type(r.rhs.outputs()[k])))
        return std::nullopt;
    return r;
  }

 private:
  std::vector<Poly> list(std::vector<Poly> all) const {
    for (Poly& p : all) p = replaced(p, by_);
    return all;
  }
  bool side(const Graph& from, Graph& to, const std::function<void(const Formula&)>& require) {
    std::map<int32_t, int32_t> place;
    for (Value in : from.inputs()) {
      TensorType type = from.type(in);
      type.shape = list(*type.shape);
      const Node& n = from.node(in.node);
      place[in.node] = to.add_input(type, n.names.empty() ? "" : n.names[0]).node;
    }
    for (int32_t id : full_order(from)) {
      const Node& n = from.node(id);
      if (n.kind == NodeKind::Input) continue;
      if (n.kind != NodeKind::Call) return false;
      std::vector<Value> operands;
      for (Value v : n.inputs) operands.push_back({place.at(v.node), v.output});
      Attrs<Poly> attrs = n.attrs;
      for (size_t k = 0; k < attrs.ints.size(); ++k)
        if (!n.op->ints[k].structural) attrs.ints[k] = list(std::move(attrs.ints[k]));
      auto call = to.add_call(*n.op, std::move(operands), std::move(attrs), require);
      if (!call) return false;
      place[id] = *call;
      // Numbers have the element type of the constants that they are.
      Node made = to.node(*call);
      for (size_t k = 0; k < made.types.size(); ++k) made.types[k].dtype = n.types[k].dtype;
      to.replace_node(*call, std::move(made));
    }
    std::vector<Value> outputs;
    for (Value v : from.outputs()) outputs.push_back({place.at(v.node), v.output});
    to.set_outputs(std::move(outputs));
    return true;
  }

  const RuleInstance& from_;
  const Replaced& by_;
};

bool agrees(const RuleInstance& instance, uint64_t seed) {
  auto sizes = sample_sizes(instance, seed, kSamples);
  return !sizes.empty() &&
         !check_numbers(instance, sizes, seed, Counterexamples::Any).counterexample;
}

}  // namespace

std::optional<RuleInstance> with_small_sizes(const RuleInstance& instance, uint64_t seed) {
  std::set<int64_t> numbers = large_numbers(instance);
  if (numbers.empty()) return std::nullopt;
  try {
    for (int64_t first : kFirsts) {
      Replaced by = replacements(numbers, first);
      auto small = Rebuilder(instance, by).run();
      if (small && agrees(*small, seed)) return small;
    }
  } catch (const PolyOverflow&) {  // of a size
  }
  return std::nullopt;
}

}  // namespace regraft::verify
