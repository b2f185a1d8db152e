#pragma once
// Whether the shapes, attributes and conditions of a rule hold at a place, and what its right side
// is there.
#include "rewrite/match/binding.h"
#include "rewrite/match/discrimination_tree.h"
#include "rewrite/match/ids_map.h"
#include "rewrite/match/misfit.h"

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
  const RuleIndex& rules() const { return rules_; }
  /// nullptr: the rule does not apply at these sizes (or where some of them are 0, see
  /// zero_sizes.h), or its right side has no form there. The first instance that fits; all of them
  /// have the same right side.
  const Fit* fit(const LiveGraph& g, const Place& place);
  /// What stopped it there; Misfit::None: it fits.
  Misfit misfit(const LiveGraph& g, const Place& place);

 private:
  struct Judged {
    std::unique_ptr<Fit> fit;  ///< nullptr: it does not fit
    Misfit why;
  };
  struct Bound {
    std::optional<Binding> binding;
    Misfit why;
  };
  void find_key(const LiveGraph& g, const Place& place);
  Judged judge(const LiveGraph& g, const Place& place);
  Judged make(const LiveGraph& g, const Place& place);
  static Judged refused(Misfit::Kind kind);
  Bound bind(const LiveGraph& g, const RuleInstance& instance, const Place& place);
  Misfit bind_calls(const LiveGraph& g, const RuleInstance& instance, const Place& place,
                    Binding& b);
  Misfit bind_family(const LiveGraph& g, const Rule& rule, const Place& place, AxisValues& values);
  const RuleInstance* instance(const LiveGraph& g, const CompiledRule& rule, size_t k,
                               const std::vector<int>& ranks, const Place& place,
                               const AxisValues& values);
  bool makes(const Node& maker, int32_t data, Binding& b);

  const RuleIndex& rules_;
  Interner& interner_;
  IdsMap<std::unique_ptr<Fit>> known_;
  IdsMap<Misfit> misfits_;                           // of places that were asked for it
  std::map<std::pair<FormId, int32_t>, bool> made_;  // a maker and data: are they equal?
  std::vector<int32_t> key_;
};

/// Evaluates both sides over a finite field at small sizes that satisfy the rule's conditions, the
/// rule's symbols in `empty` being 0. nullopt when no such sizes are found, or the left side has no
/// value there; where nothing is empty, also when the right side has none. False is a bug in the
/// rule or the matcher, unless something is empty.
std::optional<bool> sides_agree(const Fit& fit, const std::set<Var>& empty = {});

}  // namespace regraft::rewrite
