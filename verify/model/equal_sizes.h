#pragma once
// Sizes of the second model that turn out to be sizes of the first one.
#include <optional>
#include <set>

#include "ir/graph/graph.h"
#include "verify/model/pair.h"

namespace regraft::verify {

/// What symbols that only the second model has are, as far as values that equal the first one's
/// say. One that they say different things of is none of these. Not thread-safe.
class EqualSizes {
 public:
  explicit EqualSizes(const Pair& pair) : g_(pair.graph), own_(pair.own_sizes) {}
  /// Forgets what was noted, but not which symbols were contradicted.
  void clear();
  /// The two values are equal: so are their sizes.
  void note(Value b, Value a);
  /// Whether a symbol was contradicted since the last clear: what rested on it must be done anew.
  bool contradicted() const { return contradicted_; }
  const Substitution& known() const { return known_; }
  /// The values of the second model that known() follows from.
  const std::set<Value>& reasons() const { return reasons_; }
  /// The node with sizes of the first model; nullopt: it names none that are known.
  std::optional<Node> rewritten(const Node& n) const;

 private:
  const Graph& g_;
  const std::set<Var, SymbolLess>& own_;
  Substitution known_;
  std::set<Value> reasons_;
  std::set<Var, SymbolLess> ambiguous_;
  bool contradicted_ = false;
};

/// Attributes with sizes replaced. An exception: PolyOverflow.
Attrs<Poly> with_sizes(Attrs<Poly> attrs, const Substitution& sizes);

}  // namespace regraft::verify
