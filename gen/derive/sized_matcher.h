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

/// One run of a pattern, as EMatcher's and with the same client (ir/egraph/ematch.h). A match is a
/// term: where it lies in a class, its size beyond that of the class's smallest term counts.
template <class Client>
class SizedMatcher {
 public:
  SizedMatcher(const SizedEGraph& graph, const TermSizes& sizes, const EPattern& pattern,
               size_t variables, int32_t whole, Client& client)
      : g_(graph.classes()),
        sizes_(sizes),
        pattern_(pattern),
        whole_(whole),
        client_(client),
        values_(pattern.steps.size(), kUnbound) {
    variables_.assign(variables, kUnbound);
    classes_ = values_;
  }
  /// False: the client wanted no more.
  bool run() { return step(0); }

  static constexpr EValue kUnbound = -1;
  const std::vector<EValue>& variables() const { return variables_; }
  /// A value of the class that was wanted for a step, and the one that it is matched with.
  EValue wanted(size_t step) const { return classes_[step]; }
  EValue matched(size_t step) const { return values_[step]; }
  /// What a variable or a step stands for.
  EValue at(int32_t slot) const {
    return slot >= 0 ? variables_[static_cast<size_t>(slot)] : classes_[static_cast<size_t>(~slot)];
  }
  bool is_call(size_t step, EValue v) const {
    const EPattern::Step& s = pattern_.steps[step];
    return g_.symbol(v).op == s.node->op && g_.output_of(v) == s.ref.output &&
           g_.operands(v).size() == s.operands.size();
  }

 private:
  EValue& slot(int32_t k) {
    return k >= 0 ? variables_[static_cast<size_t>(k)] : classes_[static_cast<size_t>(~k)];
  }

  /// Step s and those after it. False, here and below: no more is wanted.
  bool step(size_t s) {
    if (s == pattern_.steps.size()) return client_.found();
    if (is_variable(pattern_.steps[s].ref)) return variable(s);
    if (pattern_.steps[s].is_root) return root(s);
    int32_t least = sizes_.size(classes_[s]), before = spare_;
    bool more = true;
    for (const TermSizes::Call& c : sizes_.calls(classes_[s], *pattern_.steps[s].node->op)) {
      if (c.size - least > before) break;
      spare_ = before - (c.size - least);
      more = client_.more() && value(s, c.value);
      if (!more) break;
    }
    spare_ = before;
    return more;
  }

  bool variable(size_t s) {
    EValue& bound = variables_[static_cast<size_t>(variable_of(pattern_.steps[s].ref))];
    EValue before = bound;
    bool more = true;
    for (EValue v : client_.anything()) {
      if (before != kUnbound && !g_.equal(before, v)) continue;
      bound = before != kUnbound ? before : v;
      more = client_.more() && step(s + 1);
      bound = before;
      if (!more) break;
    }
    return more;
  }

  bool root(size_t s) {
    const EPattern::Step& wanted = pattern_.steps[s];
    int32_t before = spare_;
    bool more = true;
    auto look = [&](EValue v, int32_t whole) {
      classes_[s] = v;
      spare_ = whole_ - whole;
      more = client_.more() && value(s, v);
      return more;
    };
    if (const std::vector<ENodeId>* users = users_of_bound(wanted)) {
      for (ENodeId n : *users) {
        if (g_.symbol(n).op != wanted.node->op || g_.is_duplicate(n)) continue;
        int32_t whole = sizes_.around(n) + sizes_.size(n);  // of this call or a smaller one
        if (whole <= whole_ && !look(n, whole)) break;
      }
    } else {
      for (const TermSizes::Call& c : sizes_.calls(*wanted.node->op))
        if (c.whole > whole_ || !look(c.value, c.whole)) break;
    }
    classes_[s] = kUnbound;
    spare_ = before;
    return more;
  }
  /// nullptr: no operand is bound.
  const std::vector<ENodeId>* users_of_bound(const EPattern::Step& s) const {
    for (int32_t operand : s.operands)
      if (at(operand) != kUnbound) return &g_.users(at(operand));
    return nullptr;
  }

  bool value(size_t s, EValue v) {
    if (!client_.enter(s, v)) return true;
    values_[s] = v;
    std::span<const EValue> operands = g_.operands(v);
    bool more = operand(s, operands, 0, false);
    bool commutes = pattern_.steps[s].node->op->commutative && operands.size() >= 2;
    if (more && commutes && !g_.equal(operands[0], operands[1]))
      more = operand(s, operands, 0, true);
    values_[s] = kUnbound;
    client_.leave(s);
    return more;
  }

  bool operand(size_t s, std::span<const EValue> operands, size_t k, bool exchanged) {
    if (k == operands.size()) return step(s + 1);
    EValue given = operands[exchanged && k < 2 ? 1 - k : k];
    EValue& place = slot(pattern_.steps[s].operands[k]);
    if (place != kUnbound) return !g_.equal(place, given) || operand(s, operands, k + 1, exchanged);
    place = given;
    bool more = operand(s, operands, k + 1, exchanged);
    place = kUnbound;
    return more;
  }

  const EGraph& g_;
  const TermSizes& sizes_;
  const EPattern& pattern_;
  int32_t whole_;
  int32_t spare_ = 0;  ///< by how much a term of the present root may grow
  Client& client_;
  std::vector<EValue> variables_, classes_, values_;
};

}  // namespace regraft::gen
