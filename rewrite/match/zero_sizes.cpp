#include "rewrite/match/zero_sizes.h"

#include <algorithm>

namespace regraft::rewrite {

namespace {

using Symbols = std::set<Var, SymbolLess>;
constexpr size_t kMaxOpen = 4;    ///< symbols whose every subset is tried
constexpr int kNewestOpset = 26;  ///< where no opset is asked for

void collect(const Poly& p, Symbols& found) {
  for (const auto& term : p.terms())
    for (Var v : term.monomial) {
      if (v->kind == SymbolKind::Size) found.insert(v);
      if (!v->numerator) continue;
      collect(*v->numerator, found);
      collect(*v->denominator, found);
    }
}

bool has_empty(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Poly& d) { return d.is_zero(); });
}

/// The place where some symbols are 0. A call is vague there when it is refused though its result
/// has elements (a sum over nothing): some runtimes run it, and not all with the value of the
/// formula.
class Emptied {
 public:
  Emptied(const LiveGraph& g, const Place& place, const Fit& fit, const Symbols& all,
          const Symbols& zero)
      : g_(g), place_(place), fit_(fit), interner_(g.interner()) {
    for (Var v : all) sizes_.emplace(v, zero.contains(v) ? Poly(0) : Poly::symbol(v));
  }

  /// Does the left side run? A call that is accepted at other sizes must be so here, or be vague.
  bool left_runs() {
    return std::all_of(place_.nodes.begin(), place_.nodes.end(), [&](int32_t id) {
      const LiveGraph::Slot& s = g_.slot(id);
      if (s.kind != NodeKind::Call) return true;
      std::vector<TensorType> before, after, now, results;
      for (Value v : s.inputs) before.push_back(interner_.type(g_.type(v)));
      for (TypeId t : s.types) after.push_back(interner_.type(t));
      if (!empty_all(before, now) || !empty_all(after, results)) return false;
      const Attrs<Poly>& attrs = interner_.form(s.form).attrs;
      auto here = emptied(attrs);
      if (!here) return false;
      if (accepted(*s.op, *here, now) || !accepted(*s.op, attrs, before)) return true;
      left_is_vague_ = left_is_vague_ || has_elements(results);
      return has_elements(results);
    });
  }

  bool outputs_are_empty() const {
    const auto& outputs = fit_.rule->rule.lhs.outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](PatternRef out) {
      Value v{place_.nodes[static_cast<size_t>(out.node)], out.output};
      auto type = emptied(interner_.type(g_.type(v)));
      return type && has_empty(*type->shape);
    });
  }

  /// REQUIRES: left_runs(). A call may be vague where the left side has one that is.
  bool right_runs() const {
    const Pattern& rhs = fit_.rule->rule.rhs;
    std::vector<std::vector<TensorType>> results;
    for (size_t j = 0; j < rhs.nodes.size(); ++j) {
      const Form& form = interner_.form(fit_.calls[j].form);
      std::vector<TensorType> operands;
      for (PatternRef r : rhs.nodes[j].inputs) {
        auto type = is_variable(r)
                        ? emptied(variable(r))
                        : results[static_cast<size_t>(r.node)][static_cast<size_t>(r.output)];
        if (!type) return false;
        operands.push_back(*std::move(type));
      }
      auto attrs = emptied(form.attrs);
      if (!attrs) return false;
      std::vector<TensorType> after;
      for (TypeId t : fit_.calls[j].facts->types) after.push_back(interner_.type(t));
      auto& types = results.emplace_back();
      if (!empty_all(after, types)) return false;
      bool runs = !fit_.calls[j].facts->writable || accepted(*form.op, *attrs, operands);
      if (!runs && !(left_is_vague_ && has_elements(types))) return false;
    }
    return true;
  }

  /// Are both sides the same numbers at small sizes? What is vague and has no value need not agree.
  bool values_agree() const {
    std::set<Var> empty;
    for (const auto& [symbol, size] : fit_.binding.sizes) {
      auto here = translate(size, sizes_, interner_.pool());
      if (!here) return false;
      if (here->is_zero() && !size.is_zero()) empty.insert(symbol);
    }
    return empty.empty() || sides_agree(fit_, empty).value_or(left_is_vague_);
  }

 private:
  const TensorType& variable(PatternRef r) const {
    return interner_.type(g_.type(place_.variables[static_cast<size_t>(variable_of(r))]));
  }
  /// nullopt: a size is below 0, or divided by 0.
  std::optional<TensorType> emptied(const TensorType& t) const {
    TensorType type{t.dtype, Shape{}};
    for (const Poly& d : *t.shape) {
      auto size = translate(d, sizes_, interner_.pool());
      if (!size || (size->is_constant() && size->constant() < 0)) return std::nullopt;
      type.shape->push_back(*std::move(size));
    }
    return type;
  }
  std::optional<Attrs<Poly>> emptied(const Attrs<Poly>& attrs) const {
    return translate(attrs, Binding{sizes_, {}}, interner_.pool());
  }
  static bool has_elements(const std::vector<TensorType>& types) {
    return std::any_of(types.begin(), types.end(), [](auto& t) { return !has_empty(*t.shape); });
  }
  bool empty_all(const std::vector<TensorType>& types, std::vector<TensorType>& now) const {
    for (const TensorType& t : types) {
      auto type = emptied(t);
      if (!type) return false;
      now.push_back(*std::move(type));
    }
    return true;
  }
  bool accepted(const OpDef& op, const Attrs<Poly>& attrs,
                const std::vector<TensorType>& operands) const {
    Opset opset = interner_.options().opset;
    return op.to_onnx(attrs, operands, opset == 0 ? Opset(kNewestOpset) : opset).has_value();
  }

  const LiveGraph& g_;
  const Place& place_;
  const Fit& fit_;
  Interner& interner_;
  Substitution sizes_;
  bool left_is_vague_ = false;
};

/// The set of those symbols whose bits are set.
Symbols subset(const std::vector<Var>& symbols, size_t bits) {
  Symbols s;
  for (size_t k = 0; k < symbols.size(); ++k)
    if (bits >> k & 1) s.insert(symbols[k]);
  return s;
}

}  // namespace

bool holds_for_empty(const LiveGraph& g, const Place& place, const Fit& fit) {
  Symbols all;
  for (const auto& [symbol, size] : fit.binding.sizes) collect(size, all);
  Symbols running;        // the left side runs when they are 0
  std::vector<Var> open;  // and it has elements then
  for (Var v : all) {
    if (!v->may_be_zero) continue;
    Emptied at(g, place, fit, all, {v});
    if (!at.left_runs()) continue;
    if (!at.right_runs()) return false;
    running.insert(v);
    if (!at.outputs_are_empty()) open.push_back(v);
  }
  // More sizes that are 0 make more tensors empty: what runs then runs with fewer.
  if (running.size() > 1) {
    Emptied at(g, place, fit, all, running);
    if (at.left_runs() && !at.right_runs()) return false;
  }
  if (open.size() > kMaxOpen) return false;
  for (size_t bits = 1; bits < size_t{1} << open.size(); ++bits) {
    Emptied at(g, place, fit, all, subset(open, bits));
    if (at.left_runs() && !at.outputs_are_empty() && !at.values_agree()) return false;
  }
  return true;
}

}  // namespace regraft::rewrite
