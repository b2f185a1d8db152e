#include "io/shapes/assumptions.h"

#include <algorithm>

namespace regraft::io {
namespace {

void collect(const Poly& p, std::vector<Var>& sizes) {
  for (const auto& term : p.terms())
    for (Var v : term.monomial) {
      if (v->kind == SymbolKind::Size && v->may_be_zero && std::ranges::count(sizes, v) == 0)
        sizes.push_back(v);
      if (!v->numerator) continue;
      collect(*v->numerator, sizes);
      collect(*v->denominator, sizes);
    }
}

bool runs(const Node& call, const std::vector<TensorType>& operands, const Substitution& at,
          Opset opset) {
  Attrs<Poly> attrs = call.attrs;
  for (auto& list : attrs.ints)
    for (Poly& p : list) p = substitute(p, at);
  std::vector<TensorType> types = operands;
  for (TensorType& t : types)
    for (Poly& p : *t.shape) p = substitute(p, at);
  return call.op->to_onnx(attrs, types, opset).has_value();
}

}  // namespace

void assume_sizes(SymbolPool& pool, const Node& call, const std::vector<TensorType>& operands,
                  const std::vector<Formula>& required, Opset opset) {
  if (call.op->work != Work::Convolution) return;
  for (const Formula& f : required)
    if (f.kind == Formula::NonNegative) pool.assume_non_negative(f.poly);
  std::vector<Var> sizes;
  for (const TensorType& t : operands)
    for (const Poly& p : *t.shape) collect(p, sizes);
  if (sizes.empty() || !runs(call, operands, {}, opset)) return;
  for (Var v : sizes)
    if (!runs(call, operands, {{v, Poly(0)}}, opset)) pool.assume_not_zero(v);
}

}  // namespace regraft::io
