#pragma once
// E-matching: where one side of a rule lies in an e-graph, with any value of a class as operand and
// several outputs together. Source: de Moura and Bjorner, Efficient E-matching (CADE 2007), without
// their code trees.
#include "ir/egraph/egraph.h"
#include "ir/rule/rule.h"

namespace regraft {

/// A side of a rule in the order in which it is matched: each output, then what it reads. Points
/// into the side.
struct EPattern {
  explicit EPattern(const Pattern& side);

  struct Step {
    PatternRef ref;  ///< an output of a call; or of the side, a variable alone
    const PatternNode* node = nullptr;
    /// No earlier step reads it: it may lie anywhere.
    bool is_root = false;
    /// For each operand the number of a variable, or ~ that of a step.
    std::vector<int32_t> operands;
  };
  std::vector<Step> steps;
  std::vector<int32_t> outputs;  ///< as operands

 private:
  int32_t slot(PatternRef r) const;
  void add(const Pattern& side, PatternRef r, bool is_root);
};

/// One run of a pattern over an e-graph that is rebuilt and does not change. The client has
///   bool more()                  false: no more candidates are wanted
///   bool enter(step, value)      the step may be this value, by is_call() or otherwise
///   void leave(step)             takes back what `enter` bound
///   bool found()                 everything is placed. False: no more matches are wanted
///   const vector<EValue>& anything()   what an output that is a variable may stand for
/// and may have
///   bool may_be(step, value)     false: `enter` would refuse all values of this one's class
/// All of them may read the bindings. Operands that commute are tried both ways. In which order
/// calls are looked at, and which, is said by Self, which derives from this:
///   bool root(step)              a call that may lie anywhere
///   bool member(step)            a call of the class classes_[step]
/// Both place the call by value() and return false when no more is wanted.
template <class Self, class Client>
class EMatching {
 public:
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
    ENodeId n = g_.node_of(v);
    return g_.symbol(n).op == s.node->op && g_.output_of(v) == s.ref.output &&
           g_.operands(n).size() == s.operands.size();
  }

 protected:
  EMatching(const EGraph& g, const EPattern& pattern, size_t variables, Client& client)
      : g_(g), pattern_(pattern), client_(client), values_(pattern.steps.size(), kUnbound) {
    variables_.assign(variables, kUnbound);
    classes_ = values_;
  }

  bool value(size_t s, EValue v) {
    if (!client_.enter(s, v)) return true;
    values_[s] = v;
    std::span<const EValue> operands;  // none where the client takes a call for a maker
    if (!pattern_.steps[s].operands.empty()) operands = g_.operands(g_.node_of(v));
    bool more = operand(s, operands, 0, false);
    bool commutes = pattern_.steps[s].node->op->commutative && operands.size() >= 2;
    if (more && commutes && !g_.equal(operands[0], operands[1]))
      more = operand(s, operands, 0, true);
    values_[s] = kUnbound;
    client_.leave(s);
    return more;
  }
  /// The users of an operand that is bound; nullptr: none is.
  const std::vector<ENodeId>* users_of_bound(const EPattern::Step& s) const {
    for (int32_t operand : s.operands)
      if (at(operand) != kUnbound) return &g_.users(at(operand));
    return nullptr;
  }

  const EGraph& g_;
  const EPattern& pattern_;
  Client& client_;
  std::vector<EValue> variables_, classes_, values_;

 private:
  EValue& slot(int32_t k) {
    return k >= 0 ? variables_[static_cast<size_t>(k)] : classes_[static_cast<size_t>(~k)];
  }

  /// Step s and those after it. False, here and below: no more is wanted.
  bool step(size_t s) {
    if (s == pattern_.steps.size()) return client_.found();
    if (is_variable(pattern_.steps[s].ref)) return variable(s);
    auto& self = static_cast<Self&>(*this);
    return pattern_.steps[s].is_root ? self.root(s) : self.member(s);
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

  bool operand(size_t s, std::span<const EValue> operands, size_t k, bool exchanged) {
    if (k == operands.size()) return step(s + 1);
    EValue given = operands[exchanged && k < 2 ? 1 - k : k];
    const int32_t wanted = pattern_.steps[s].operands[k];
    EValue& place = slot(wanted);
    if (place != kUnbound) return !g_.equal(place, given) || operand(s, operands, k + 1, exchanged);
    if constexpr (requires { client_.may_be(size_t{}, given); })
      if (wanted < 0 && !client_.may_be(static_cast<size_t>(~wanted), given)) return true;
    place = given;
    bool more = operand(s, operands, k + 1, exchanged);
    place = kUnbound;
    return more;
  }
};

/// Looks at all calls, in the order in which they were added.
template <class Client>
class EMatcher : public EMatching<EMatcher<Client>, Client> {
  using Base = EMatching<EMatcher<Client>, Client>;
  friend Base;

 public:
  EMatcher(const EGraph& g, const EPattern& pattern, size_t variables, Client& client)
      : Base(g, pattern, variables, client) {}

 private:
  using Base::classes_, Base::client_, Base::g_, Base::pattern_;

  bool member(size_t s) {
    for (EValue v : g_.members(classes_[s]))
      if (!client_.more() || !this->value(s, v)) return false;
    return true;
  }

  bool root(size_t s) {
    const EPattern::Step& wanted = pattern_.steps[s];
    const std::vector<ENodeId>* users = this->users_of_bound(wanted);
    bool more = true;
    for (ENodeId n : users ? *users : g_.calls_of(*wanted.node->op)) {
      bool fits = g_.symbol(n).op == wanted.node->op && g_.has_output(n, wanted.ref.output);
      if (!fits || g_.is_duplicate(n)) continue;
      classes_[s] = g_.value(n, wanted.ref.output);
      more = client_.more() && this->value(s, classes_[s]);
      if (!more) break;
    }
    classes_[s] = Base::kUnbound;
    return more;
  }
};

}  // namespace regraft
