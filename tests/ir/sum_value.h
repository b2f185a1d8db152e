#pragma once
// The value of a symbolic element over the field, by going through its bound variables one by one.
#include <optional>

#include "ir/algebra/symbolic.h"
#include "ir/graph/eval.h"

namespace regraft {

/// Elements of the input tensors, sizes of the symbols, and a bound above every loop's extent.
struct SumValue {
  Field& field;
  const std::vector<Array<Residue>>& tensors;
  int64_t extent;

  Residue of(const Sum& sum, const Valuation& values) {
    Residue total{0};
    for (const Product& p : sum.products)
      total = total + over(p.bound, 0, values, [&](const Valuation& v) -> std::optional<Residue> {
                if (!evaluate(p.guard, v)) return std::nullopt;
                Residue x = field.constant(p.coefficient.n, p.coefficient.d);
                for (const Atom& a : p.atoms) x = x * of(a, v);
                return x;
              });
    return total;
  }

 private:
  template <class F>
  Residue over(const std::vector<Var>& bound, size_t k, const Valuation& values, F&& body) {
    if (k == bound.size()) return body(values).value_or(Residue{0});
    Residue total{0};
    Valuation v = values;
    for (int64_t x = 0; x < extent; ++x) {
      v[bound[k]] = x;
      total = total + over(bound, k + 1, v, body);
    }
    return total;
  }

  Residue of(const Atom& a, const Valuation& v) {
    switch (a.kind) {
      case Atom::Read:
        return read(a, v);
      case Atom::Recip:
        return field.recip(evaluate(a.positions[0], v));
      case Atom::Number:
        return residue_of(evaluate(a.positions[0], v));
      case Atom::Apply:
        return field.apply(static_cast<Fn>(a.head), of(*a.argument, v));
      case Atom::Clip:
        return field.clip(of(*a.argument, v), a.reals[0], a.reals[1]);
      case Atom::Opaque:
        return field.real(a.reals[0]);
      case Atom::Max:
        break;
    }
    std::vector<Residue> seen;
    over(a.bound, 0, v, [&](const Valuation& w) -> std::optional<Residue> {
      if (evaluate(a.guard, w)) seen.push_back(of(*a.argument, w));
      return std::nullopt;
    });
    return field.maximum(seen);
  }

  Residue read(const Atom& a, const Valuation& v) {
    const Array<Residue>& t = tensors[static_cast<size_t>(a.head)];
    int64_t flat = 0;
    for (size_t d = 0; d < t.shape.size(); ++d) {
      int64_t at = evaluate(a.positions[d], v);
      CHECK(at >= 0 && at < t.shape[d]);  // a guard must keep reads inside
      flat = flat * t.shape[d] + at;
    }
    return t.data[static_cast<size_t>(flat)];
  }
};

/// An input tensor of the symbolic algebra.
inline SymbolicTensor input_tensor(Symbolic& alg, int number, Shape shape) {
  return {std::move(shape),
          [&alg, number](std::span<const Poly> i) { return alg.element(number, i); }};
}

}  // namespace regraft
