#pragma once
// E-matching that looks at small terms first and at none that is too large, in counted work.
#include "gen/derive/term_sizes.h"
#include "ir/egraph/ematch.h"

namespace regraft::gen {

/// How much work matching may do.
struct MatchLimits {
  int32_t whole = 0;   ///< size of the root's term in which a match lies
  uint64_t steps = 0;  ///< calls looked at
  size_t matches = 0;  ///< that are taken
};

/// A match is a term: where it lies in a class, its size beyond that of the class's smallest term
/// counts.
template <class Client>
class SizedMatcher : public EMatching<SizedMatcher<Client>, Client> {
  using Base = EMatching<SizedMatcher<Client>, Client>;
  friend Base;

 public:
  SizedMatcher(const SizedEGraph& graph, const TermSizes& sizes, const EPattern& pattern,
               size_t variables, int32_t whole, Client& client)
      : Base(graph.classes(), pattern, variables, client), sizes_(sizes), whole_(whole) {}

  /// Everything is where an earlier run had it: see Placements.
  void place(std::span<const EValue> placement, const std::vector<int32_t>& variables) {
    size_t steps = classes_.size();
    for (size_t s = 0; s < steps; ++s) {
      classes_[s] = placement[2 * s];
      this->values_[s] = placement[2 * s + 1];
    }
    for (size_t k = 0; k < variables.size(); ++k)
      this->variables_[static_cast<size_t>(variables[k])] = placement[2 * steps + k];
  }

 private:
  using Base::classes_, Base::client_, Base::g_, Base::pattern_;

  bool member(size_t s) {
    int32_t least = sizes_.size(classes_[s]), before = spare_;
    bool more = true;
    for (const TermSizes::Call& c : sizes_.calls(classes_[s], *pattern_.steps[s].node->op)) {
      if (c.size - least > before) break;
      spare_ = before - (c.size - least);
      more = client_.more() && this->value(s, c.value);
      if (!more) break;
    }
    spare_ = before;
    return more;
  }

  bool root(size_t s) {
    const EPattern::Step& wanted = pattern_.steps[s];
    int32_t before = spare_;
    bool more = true;
    auto look = [&](EValue v, int32_t whole) {
      classes_[s] = v;
      spare_ = whole_ - whole;
      more = client_.more() && this->value(s, v);
      return more;
    };
    if (const std::vector<ENodeId>* users = this->users_of_bound(wanted)) {
      for (ENodeId n : *users) {
        if (g_.symbol(n).op != wanted.node->op || g_.is_duplicate(n)) continue;
        int32_t whole = sizes_.around(n) + sizes_.size(n);  // of this call or a smaller one
        if (whole <= whole_ && !look(n, whole)) break;
      }
    } else {
      for (const TermSizes::Call& c : sizes_.calls(*wanted.node->op))
        if (c.whole > whole_ || !look(c.value, c.whole)) break;
    }
    classes_[s] = Base::kUnbound;
    spare_ = before;
    return more;
  }

  const TermSizes& sizes_;
  int32_t whole_;
  int32_t spare_ = 0;  ///< by how much a term of the present root may grow
};

}  // namespace regraft::gen
