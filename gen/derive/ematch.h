#pragma once
// Patterns of rules matched against the classes of an e-graph, and applied there.
#include <functional>
#include <mutex>

#include "gen/derive/sized_matcher.h"
#include "ir/rule/family.h"

namespace regraft::gen {

/// What the variables of a rule stand for; by number of the variable.
struct Match {
  std::vector<EValue> tensors;  ///< -1: not bound
  std::vector<std::optional<std::vector<int64_t>>> lists;
  std::vector<std::optional<int64_t>> numbers;
  std::vector<std::optional<double>> reals;
  AxisValues axes;            ///< of a family of rules
  std::vector<EValue> roots;  ///< what each output matched
  std::vector<std::pair<EValue, EValue>> premises;
};

/// What one run found.
struct Matches {
  std::vector<Match> found;
  uint64_t steps = 0;
  bool cut = false;  ///< a limit ended it
};

/// Where a pattern lies, for all matches of a run: of each match the class that was wanted and the
/// value that it is matched with for each step, then the variables by their first use.
struct Placements {
  std::vector<EValue> values;
  size_t count = 0;
  uint64_t steps = 0;
  void clear() {
    values.clear();
    count = 0, steps = 0;
  }
};
constexpr uint64_t kFoundSteps = 8;  ///< what it costs to look at all calls together, in steps

/// A rule made ready for matching at given sizes, in both directions. Const use is thread-safe.
class Matchable {
 public:
  enum Direction : uint8_t { Forward, Backward };

  explicit Matchable(const Rule& rule);
  const Rule& rule() const { return rule_; }
  /// The side that is matched binds all that the other side needs.
  bool usable(Direction d) const { return sides_[d].binds_all; }
  /// The operator of the first output of the side that is matched; nullptr: a variable.
  const OpDef* root(Direction d) const;

  using Accept = std::function<bool(const Match&)>;
  /// The matches that `accept` takes. `anything` are the classes (sorted) that a variable alone may
  /// stand for, and several calls side by side.
  Matches matches(const SizedEGraph& graph, const TermSizes& sizes, Direction d,
                  const std::vector<EValue>& anything, const MatchLimits& limits,
                  const Accept& accept) const;
  /// The same where it is known where the side lies. REQUIRES: no limit ends it.
  Matches matches_at(const Placements& placements, const SizedEGraph& graph, const TermSizes& sizes,
                     Direction d, const Accept& accept) const;
  /// What an e-graph must have for a match, as hashes: operators, calls with a call as operand,
  /// attributes that are given. In the order of the calls.
  std::vector<uint64_t> features(Direction d) const;
  /// The rule holds for the sizes and attributes of the match.
  bool applies(const SizedEGraph& graph, const Match& match) const;
  /// The least size of a root's term that has an output of the other side as a part.
  int32_t result_size(const TermSizes& sizes, Direction d, const Match& match) const;
  /// The outputs of a side, and the equalities by which calls that were there already are its own.
  struct Made {
    std::vector<EValue> outputs;
    std::vector<std::pair<EValue, EValue>> premises;
  };
  /// Adds the other side's outputs. nullopt: they are not well-formed.
  std::optional<Made> result(SizedEGraph& graph, Direction d, const Match& match) const;

 private:
  friend class SideMatcher;
  friend class PatternTrie;
  friend class TrieMatcher;
  /// A number of an attribute list: a given one, a variable, or an expression.
  struct Number {
    enum Kind : uint8_t { Given, Variable, Expression } kind = Given;
    int64_t value = 0;  ///< Variable: its number
    const Poly* poly = nullptr;
    std::vector<size_t> unknowns;  ///< Expression: the number variables in it
  };
  struct Ints {
    int list = -1;  ///< number of the list variable
    const AxisTerm* axes = nullptr;
    std::vector<Number> numbers;
  };
  struct Call {
    const PatternNode* node = nullptr;
    std::vector<Ints> ints;
    std::vector<int> reals;  ///< number of the real variable, or -1
  };
  struct Side {
    const Pattern* pattern = nullptr;
    EPattern order;
    std::vector<Call> calls;
    std::vector<int32_t> variables;  ///< by their first use
    std::vector<PatternRef> made;    ///< outputs of calls that are read, operands first
    bool binds_all = false;
  };
  struct SizeSymbol {
    Var symbol;
    size_t variable;
    int axis;
    std::string axis_variable;  ///< or ""
  };
  /// A rule at a signature; nullptr: no such form.
  struct Form {
    RuleInstance instance;
    std::vector<Var> numbers;  ///< symbol of each number variable
  };
  using Names = std::vector<std::string>;

  static size_t number_of(Names& names, const std::string& name);
  Side compile(const Pattern& pattern);
  void note_size(Var v);
  Ints compile_ints(const PatternNode& node, size_t k);
  void find_bound(Side& side) const;
  /// Values of the symbols in the rule's pool; nullopt: an axis does not exist.
  std::optional<Valuation> valuation(const SizedEGraph& graph, const Match& match) const;
  Attrs<int64_t> attributes(const Call& call, int rank, const Match& match,
                            const Valuation& values) const;
  double value_of_expression(const std::string& text, SymbolPool& pool, const Match& match,
                             const Valuation& values) const;
  std::vector<Signature> signatures(const SizedEGraph& graph, const Match& match) const;
  std::vector<Signature> members(const SizedEGraph& graph, const Match& match) const;
  std::unique_ptr<const Form> make_form(const Signature& signature, const AxisValues& axes) const;
  const Form* form(const Signature& signature, const AxisValues& axes) const;
  const Form* form_of_domain(size_t k) const;
  bool holds(const Form& form, const SizedEGraph& graph, const Match& match) const;

  Rule rule_;
  bool family_;
  Names lists_, numbers_, reals_;
  std::vector<SizeSymbol> sizes_;
  std::vector<Var> number_symbols_;  ///< in the rule's pool; nullptr: only in lists' place
  std::vector<Side> sides_;          ///< by direction
  mutable std::mutex mutex_;
  mutable std::vector<std::optional<std::unique_ptr<const Form>>> domain_forms_;  // no family's
  mutable std::map<std::pair<Signature, AxisValues>, std::unique_ptr<const Form>> forms_;
};

}  // namespace regraft::gen
