#include "verify/model/equal_sizes.h"

#include <algorithm>

#include "verify/arithmetic/walk.h"

namespace regraft::verify {
void EqualSizes::clear() {
  known_.clear();
  reasons_.clear();
  contradicted_ = false;
}

void EqualSizes::note(Value b, Value a) {
  if (own_.empty()) return;
  const auto &x = g_.type(a).shape, &y = g_.type(b).shape;
  if (!x || !y || x->size() != y->size()) return;
  for (size_t d = 0; d < x->size(); ++d) {
    Var v = symbol_of((*y)[d]);
    if (!v || own_.count(v) == 0 || ambiguous_.count(v) > 0) continue;
    const Poly& p = (*x)[d];
    bool own = any_symbol(p, [&](Var w) { return own_.count(w) > 0; });
    if (own) continue;
    auto [it, fresh] = known_.emplace(v, p);
    if (fresh) reasons_.insert(b);
    if (same(it->second, p)) continue;
    ambiguous_.insert(v);
    contradicted_ = true;
  }
}

std::optional<Node> EqualSizes::rewritten(const Node& n) const {
  if (known_.empty()) return std::nullopt;
  auto names = [&](const Poly& p) {
    return any_symbol(p, [&](Var v) { return known_.count(v) > 0; });
  };
  auto element_names = [&](const SizeElement& e) { return names(e.value); };
  bool any = n.sizes && std::ranges::any_of(n.sizes->elements, element_names);
  for (const auto& list : n.attrs.ints) any = any || std::ranges::any_of(list, names);
  if (!any) return std::nullopt;
  try {
    Node r = n;
    r.attrs = with_sizes(std::move(r.attrs), known_);
    if (r.sizes) {
      SizeTensor t = *r.sizes;
      for (SizeElement& e : t.elements) e.value = substitute(e.value, known_);
      r.sizes = std::make_shared<const SizeTensor>(std::move(t));
    }
    return r;
  } catch (const PolyOverflow&) {
    return std::nullopt;
  }
}

Attrs<Poly> with_sizes(Attrs<Poly> attrs, const Substitution& sizes) {
  for (auto& list : attrs.ints)
    for (Poly& p : list)
      if (!p.is_constant()) p = substitute(p, sizes);
  return attrs;
}

}  // namespace regraft::verify
