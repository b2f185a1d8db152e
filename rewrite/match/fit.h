#pragma once
// Whether the shapes, attributes and conditions of a rule hold at a place, and what its right side
// is there.
#include "rewrite/match/binding.h"
#include "rewrite/match/discrimination_tree.h"
#include "rewrite/match/ids_map.h"

namespace regraft::rewrite {

/// A rule at given sizes. The same for all places of equal types, attributes and data.
struct Fit {
  const CompiledRule* rule = nullptr;
  const RuleInstance* instance = nullptr;
  Binding binding;
  struct Call {
    FormId form = -1;
    const CallFacts* facts = nullptr;
  };
  std::vector<Call> calls;  ///< by pattern node of the right side
};

/// Remembers all it was asked. Not thread-safe.
class Fitter {
 public:
  /// Both outlive this.
  Fitter(const RuleIndex& rules, Interner& interner) : rules_(rules), interner_(interner) {}
  /// nullptr: the rule does not apply at these sizes (or where some of them are 0, see
  /// zero_sizes.h), or its right side has no form there. The first instance that fits; all of them
  /// have the same right side.
  const Fit* fit(const LiveGraph& g, const Place& place);

 private:
  std::unique_ptr<Fit> make(const LiveGraph& g, const Place& place);
  std::optional<Binding> bind(const LiveGraph& g, const RuleInstance& instance, const Place& place);
  bool makes(const Node& maker, int32_t data, Binding& b);

  const RuleIndex& rules_;
  Interner& interner_;
  IdsMap<std::unique_ptr<Fit>> known_;
  std::map<std::pair<FormId, int32_t>, bool> made_;  // a maker and data: are they equal?
  std::vector<int32_t> key_;
};

/// Evaluates both sides over a finite field at small sizes that satisfy the rule's conditions, the
/// rule's symbols in `empty` being 0. nullopt when no such sizes are found, or the left side has no
/// value there; where nothing is empty, also when the right side has none. False is a bug in the
/// rule or the matcher, unless something is empty.
std::optional<bool> sides_agree(const Fit& fit, const std::set<Var>& empty = {});

}  // namespace regraft::rewrite
