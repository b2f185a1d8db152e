#include "verify/prove/lowering.h"

#include <algorithm>

#include "verify/arithmetic/budget.h"

namespace regraft::verify {
namespace {

constexpr size_t kMostProducts = 4000;  // of one element

/// Factors of a sum, those of arguments included; counts no further than `most`.
int64_t factors_of(const Sum& sum, int64_t most) {
  int64_t n = 0;
  for (const Product& p : sum.products) {
    ++n;
    for (const Atom& a : p.atoms) {
      ++n;
      if (n > most) return n;
      if (a.argument) n += factors_of(*a.argument, most - n);
    }
  }
  return n;
}

}  // namespace

bool Lowering::supported() const {
  for (int32_t id = 0; id < graph_.id_bound(); ++id) {
    if (!graph_.contains(id)) continue;
    const Node& n = graph_.node(id);
    if (n.kind != NodeKind::Input && n.kind != NodeKind::Call) return false;
    for (const auto& t : n.types)
      if (!t.shape) return false;
  }
  return true;
}

SymbolicTensor Lowering::tensor(Value v) {
  SymbolicTensor t;
  t.shape = graph_.shape(v);
  t.at = [this, v](std::span<const Poly> position) { return element(v, position); };
  return t;
}

Sum Lowering::element(Value v, std::span<const Poly> position) {
  const Node& n = graph_.node(v.node);
  if (n.kind == NodeKind::Input) {
    const auto& inputs = graph_.inputs();
    auto it = std::find(inputs.begin(), inputs.end(), v);
    Sum x = algebra_.element(static_cast<int>(it - inputs.begin()), position);
    return graph_.type(v).dtype == DType::Bool ? algebra_.apply(Fn::Step, std::move(x)) : x;
  }
  std::vector<SymbolicTensor> operands;
  for (Value in : n.inputs) operands.push_back(tensor(in));
  if (++depth_ > 100) throw OutOfBudget{"graph too deep"};
  Sum s = n.op->symbolic_semantics.element(algebra_, operands, n.attrs, position, v.output);
  --depth_;
  if (s.products.size() > kMostProducts) throw OutOfBudget{"formula too large"};
  left_ -= factors_of(s, left_);
  if (left_ < 0) throw OutOfBudget{"formula too large"};
  return s;
}

}  // namespace regraft::verify
