#include "verify/model/pair.h"

#include <map>
#include <set>

#include "ir/rule/pattern.h"
#include "verify/model/congruence.h"

namespace regraft::verify {
namespace {

/// visit(size of the first model's input, size of the second one's) for each matched dimension.
template <class Visit>
void for_matched_sizes(const Graph& a, const Graph& b, const Matching& matching, Visit&& visit) {
  for (size_t k = 0; k < matching.inputs.size(); ++k) {
    if (matching.inputs[k] < 0) continue;
    const auto& x = a.type(a.inputs()[static_cast<size_t>(matching.inputs[k])]).shape;
    const auto& y = b.type(b.inputs()[k]).shape;
    if (!x || !y || x->size() != y->size()) continue;
    for (size_t d = 0; d < x->size(); ++d) visit((*x)[d], (*y)[d]);
  }
}

using Symbols = std::set<Var, SymbolLess>;

class Joiner {
 public:
  Joiner(const Graph& a, const Graph& b, const Matching& matching, Symbols ambiguous)
      : a_(a), b_(b), matching_(matching), known_(out_.graph), ambiguous_(std::move(ambiguous)) {
    out_.graph = a;
    out_.first_b = a.id_bound();
    out_.from_b.assign(static_cast<size_t>(b.id_bound()), -1);
  }

  /// Symbols that stand for several sizes of the first model: then the pair is not right yet.
  const Symbols& ambiguous() const { return ambiguous_; }

  Result<Pair> run() {
    ASSIGN_OR_RETURN(auto of_a, topological_order(a_));
    ASSIGN_OR_RETURN(auto of_b, topological_order(b_));
    note_needed(of_b);
    for (int32_t id : of_a) {
      known_.add(id, a_.node(id).inputs);
      if (is_impure(a_.node(id))) impure_.emplace(a_.node(id).content, id);
    }
    for_matched_sizes(a_, b_, matching_,
                      [&](const Poly& x, const Poly& y) { note_symbol(symbol_of(y), x); });
    try {
      for (size_t k = 0; k < b_.inputs().size(); ++k) add_input(k);
      for (int32_t id : of_b)
        if (b_.node(id).kind != NodeKind::Input) add(id);
    } catch (const PolyOverflow&) {
      return error("sizes of the two models are too large to be computed with");
    }
    for (size_t k = 0; k < matching_.outputs.size(); ++k) {
      if (matching_.outputs[k] < 0) continue;
      out_.a.push_back(a_.outputs()[k]);
      out_.b.push_back(mapped(b_.outputs()[static_cast<size_t>(matching_.outputs[k])]));
    }
    std::vector<Value> all = out_.a;
    all.insert(all.end(), out_.b.begin(), out_.b.end());
    out_.graph.set_outputs(std::move(all));
    return std::move(out_);
  }

 private:
  static bool is_impure(const Node& n) { return n.kind == NodeKind::Opaque && !n.pure && !n.sizes; }
  Value mapped(Value v) const { return {out_.from_b[static_cast<size_t>(v.node)], v.output}; }

  /// A symbol that stands for several sizes of the first model stands for none of them: what the
  /// second model computes from it may be any.
  void note_symbol(Var s, const Poly& of_a) {
    if (s && ambiguous_.count(s) == 0 && !same(symbols_.emplace(s, of_a).first->second, of_a))
      ambiguous_.insert(s);
  }

  /// Symbols that no input gives are the second model's own.
  Poly moved_symbol(Var v) {
    auto it = symbols_.find(v);
    if (it == symbols_.end()) {
      std::string name = v->name + "'" + std::to_string(symbols_.size());  // unlike all others
      Var own = out_.graph.pool().fresh(name, SymbolKind::Size, v->min);
      if (ambiguous_.count(v) == 0) out_.own_sizes.insert(own);
      it = symbols_.emplace(v, Poly::symbol(own)).first;
    }
    return it->second;
  }
  Poly moved_size(const Poly& p) {
    if (p.is_constant()) return p;
    auto q = moved(p, out_.graph.pool(), [&](Var v) { return moved_symbol(v); });
    if (!q) throw PolyOverflow{};
    return *q;
  }
  Attrs<Poly> moved_attrs(const Attrs<Poly>& at) {
    Attrs<Poly> r = at;
    for (auto& list : r.ints)
      for (Poly& p : list) p = moved_size(p);
    return r;
  }
  std::vector<TensorType> moved_types(const std::vector<TensorType>& types) {
    std::vector<TensorType> r = types;
    for (TensorType& t : r)
      if (t.shape)
        for (Poly& p : *t.shape) p = moved_size(p);
    return r;
  }
  SizeTensorPtr moved_sizes(const SizeTensor& s) {
    SizeTensor r = s;
    for (SizeElement& e : r.elements) e.value = moved_size(e.value);
    return std::make_shared<const SizeTensor>(std::move(r));
  }

  void add_input(size_t k) {
    int32_t id = b_.inputs()[k].node;
    int of_a = matching_.inputs[k];
    const Node& n = b_.node(id);
    out_.from_b[static_cast<size_t>(id)] =
        of_a >= 0
            ? a_.inputs()[static_cast<size_t>(of_a)].node
            : out_.graph.add_input(moved_types(n.types)[0], n.names.empty() ? "" : n.names[0]).node;
  }

  /// How many outputs of each node of the second model something reads.
  void note_needed(const std::vector<int32_t>& order) {
    needed_.assign(static_cast<size_t>(b_.id_bound()), 1);
    auto note = [&](Value v) {
      auto& n = needed_[static_cast<size_t>(v.node)];
      n = std::max(n, static_cast<size_t>(v.output) + 1);
    };
    for (int32_t id : order)
      for (Value v : b_.node(id).inputs) note(v);
    for (Value v : b_.outputs()) note(v);
  }

  void add(int32_t id) {
    Node n = b_.node(id);
    if (n.kind == NodeKind::Opaque)
      n.types.resize(std::min(n.types.size(), needed_[static_cast<size_t>(id)]));
    n.origin = -1;
    for (Value& v : n.inputs) v = mapped(v);
    if (n.kind == NodeKind::Call) n.attrs = moved_attrs(n.attrs);
    if (n.sizes) n.sizes = moved_sizes(*n.sizes);
    int32_t same = is_impure(n) ? take_impure(n) : known_.find(n, n.inputs);
    if (same >= 0) {
      note_symbols(n.types, out_.graph.node(same).types);
    } else {
      n.types = types_of(n);
      std::vector<Value> operands = n.inputs;
      same = out_.graph.add_node(std::move(n));
      known_.add(same, std::move(operands));
    }
    out_.from_b[static_cast<size_t>(id)] = same;
  }

  /// As the operator infers them of these operands; where it cannot, as the model has them.
  std::vector<TensorType> types_of(const Node& n) {
    if (n.kind == NodeKind::Call && !n.inputs.empty()) {
      std::vector<TensorType> operands;
      for (Value v : n.inputs) operands.push_back(out_.graph.type(v));
      if (auto types = infer_call(out_.graph.pool(), *n.op, operands, n.attrs)) return *types;
    }
    return moved_types(n.types);
  }

  /// The next opaque node of the first model with that content, where its operands are the same.
  int32_t take_impure(const Node& n) {
    auto it = impure_.find(n.content);
    if (it == impure_.end()) return -1;
    int32_t id = it->second;
    const Node& other = out_.graph.node(id);
    if (!same_opaque(other, n) || other.inputs != n.inputs) return -1;
    impure_.erase(it);
    return id;
  }

  /// What depends on data is the same size in both models.
  void note_symbols(const std::vector<TensorType>& b, const std::vector<TensorType>& a) {
    for (size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
      if (!a[k].shape || !b[k].shape || a[k].shape->size() != b[k].shape->size()) continue;
      for (size_t d = 0; d < a[k].shape->size(); ++d)
        note_symbol(symbol_of((*b[k].shape)[d]), (*a[k].shape)[d]);
    }
  }

  const Graph &a_, &b_;
  const Matching& matching_;
  Pair out_;
  Congruence known_;
  Symbols ambiguous_;  // of the second model
  std::vector<size_t> needed_;
  Substitution symbols_;                   // of the second model
  std::multimap<Digest, int32_t> impure_;  // nodes of the first model that were not taken
};

}  // namespace

std::vector<FixedSize> sizes_fixed(const Graph& a, const Graph& b, const Matching& matching) {
  std::vector<FixedSize> fixed;
  for_matched_sizes(a, b, matching, [&](const Poly& x, const Poly& y) {
    Var s = symbol_of(x);
    if (s && y.is_constant()) fixed.push_back({s->name, y.constant()});
  });
  return fixed;
}

Result<Pair> join(const Graph& a, const Graph& b, const Matching& matching) {
  Symbols ambiguous;
  for (;;) {
    Joiner joiner(a, b, matching, ambiguous);
    auto pair = joiner.run();
    if (!pair || joiner.ambiguous().size() == ambiguous.size()) return pair;
    ambiguous = joiner.ambiguous();
  }
}

}  // namespace regraft::verify
