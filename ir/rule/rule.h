#pragma once
// A substitution: two patterns over the same variables, the shapes it holds for, and its verdict.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/rule/axes.h"
#include "ir/rule/condition.h"

namespace regraft {

/// What a symbol of a rule's pool stands for, told by its name: "?e" is the attribute variable e,
/// "x.-1" is the size of tensor variable x at axis -1, "x.?k" its size at axis ?k.
struct SizeName {
  std::string variable;
  int axis = 0;
};
std::optional<SizeName> size_name(const Symbol& s);
struct SizeAtAxis {
  std::string variable, axis;
};
std::optional<SizeAtAxis> size_at_axis(const Symbol& s);
std::optional<std::string> number_name(const Symbol& s);  ///< "e" of "?e"

/// In a pattern: an output of a pattern node, or (node < 0) variable number ~node.
using PatternRef = Value;
inline PatternRef variable_ref(int variable) { return {~variable, 0}; }
inline bool is_variable(PatternRef r) { return r.node < 0; }
inline int variable_of(PatternRef r) { return ~r.node; }

/// An operator call in a pattern. Integer attributes are polynomials over symbols of the rule's
/// pool: attribute variables "?e" (one number) and sizes of tensor variables "x.0", "x.-1".
struct PatternNode {
  const OpDef* op = nullptr;
  Attrs<Poly> attrs;
  std::vector<std::string> list_vars;  ///< for each integer attribute: "s" when it is the list ?s
  /// For each real attribute: "e" when it is ?e, "=?e/?c" when it is that expression. A left side
  /// has expressions of numbers alone: such an attribute is the float or double next to it,
  /// and attrs.reals has its value; of others it has NaN.
  std::vector<std::string> real_vars;
  /// For each integer attribute, or empty: what it is in a family of rules (family.h). Its numbers
  /// are empty then.
  std::vector<std::optional<AxisTerm>> axes;
  std::vector<PatternRef> inputs;
};
struct Pattern {
  std::vector<PatternNode> nodes;  ///< operands first, no two equal
  std::vector<PatternRef> outputs;
};

/// Shapes of the variables that a rule is meant or proved for: for each variable a word over {n,
/// 1}, a letter for each axis: any size, or exactly 1 (broadcast). A scalar (rank 0) is "-". In the
/// words of a family, ".." stands for any number of axes n, the same number in all words, and "**"
/// for as many, each n or 1; "..4" for at most 4.
using Signature = std::vector<std::string>;

enum class VerdictKind : uint8_t {
  Unknown,
  Refuted,
  Tested,
  ProvedBounded,
  ProvedSolver,    ///< for all sizes, by the provers; some proof has no derivation
  ProvedAllSizes,  ///< for all sizes; the kernel accepted a derivation of every proof
};
constexpr bool is_proved(VerdictKind k) { return k >= VerdictKind::ProvedBounded; }
constexpr bool is_for_all_sizes(VerdictKind k) { return k >= VerdictKind::ProvedSolver; }
/// A prover's answer. The scope is real arithmetic.
struct Verdict {
  VerdictKind kind = VerdictKind::Unknown;
  std::string
      detail;  ///< Unknown: the reason. Refuted: the counterexample. ProvedBounded: the shapes.
};
std::string to_string(VerdictKind k);  ///< "proved:all-sizes", "proved:solver", "tested", ...
std::optional<VerdictKind> verdict_kind_of(std::string_view text);

/// What a rule does to a model in floating point, from worst to best. verify/numerics/numerics.h
/// finds it and says what each promises.
enum class Numerics : uint8_t {
  Unknown,      ///< not judged; counts as unsafe
  Unsafe,       ///< a finite result may become NaN, infinite, or much less accurate
  RoundingF32,  ///< as Rounding in float32 (and wider formats), unsafe in float16
  Rounding,     ///< no new overflow or invalid operation, about the same error, in both formats
  Exact,        ///< bit for bit: data is moved, or the same operations are done in the same order
};
struct NumericVerdict {
  Numerics kind = Numerics::Unknown;
  std::string witness;  ///< Unsafe, RoundingF32: format, sizes, inputs and both values
};
std::string to_string(Numerics n);  ///< "unsafe", "rounding-f32", "rounding", "exact", "unknown"
std::optional<Numerics> numerics_of(std::string_view text);

struct Rule {
  std::string name;
  bool both =
      false;  ///< `lhs <=> rhs`: it reads from right to left as well, at the same signatures
  std::shared_ptr<SymbolPool> pool = std::make_shared<SymbolPool>();
  std::vector<std::string> variables;  ///< tensor variables in order of first use on the left
  Pattern lhs, rhs;
  std::vector<Condition> where;           ///< beside the shapes
  std::vector<RealCondition> real_where;  ///< of real attributes: "?a" <= "?b"
  std::vector<AxisCondition> axis_where;  ///< of a family: which axes it is meant for
  std::vector<Signature> domain;          ///< empty in a candidate: the verifier finds it
  Verdict verdict;
  NumericVerdict numerics;           ///< of a proved rule from left to right
  NumericVerdict numerics_back;      ///< and from right to left, when it is reversible
  std::string origin = "generated";  ///< or "hand"
};

/// A rule at one signature: two graphs over the same symbols with inputs = the rule's variables.
struct RuleInstance {
  Graph lhs, rhs;            ///< share a pool
  Conjunction requires_lhs;  ///< what the left side's well-formedness and `where` say of the sizes
  std::vector<Formula> requires_rhs;  ///< what the right side needs, to be implied by the former
  std::map<std::string, std::vector<Var>> list_symbols;  ///< symbols of each list variable
  std::map<std::string, Var> real_symbols;
  std::vector<RealCondition> real_conditions;  ///< over the symbols of the pool
  std::vector<std::vector<std::optional<Var>>>
      sizes;                     ///< symbol of variable v, axis d; nullopt = 1
  std::vector<int32_t> lhs_ids;  ///< graph node of each pattern node of the left side
  std::vector<int32_t> rhs_ids;
};

/// Builds both graphs. An Error when a side has no such form (rank, axis, arity): the signature
/// does not apply to the rule.
Result<RuleInstance> instantiate(const Rule& rule, const Signature& signature);

/// What every rule must satisfy, proved or not: known operators, arity, acyclic, as many outputs on
/// both sides, every variable of the right bound on the left. Of a reversible rule each side binds
/// all variables, attribute variables where they stand alone.
Status validate(const Rule& rule);
/// Text that is equal exactly for rules equal up to names of variables, commuted operands, the
/// grouping of chains of associative operators and the order of outputs. Direction matters, except
/// for reversible rules. (Beyond 4096 orders of operands that look alike a rule may have several.)
std::string canonical_key(const Rule& rule);
/// The tensor variables of a directed rule in an order that rules of one key share.
std::vector<std::string> canonical_variables(const Rule& rule);
/// Both sides are the same text up to commuted operands.
bool is_trivial(const Rule& rule);
/// True when the rule would be valid as a reversible one.
bool is_reversible(const Rule& rule);
/// The rule from right to left, directed if it was; "~" is added to its name or taken away.
/// REQUIRES: is_reversible(rule).
Rule reversed(const Rule& rule);
/// The directed rules that a rule stands for: itself, or both directions of a reversible one.
std::vector<Rule> directions(const Rule& rule);
/// Canonical names ?a ?b ... for tensors, in order of first use; keeps everything else.
Rule renamed(const Rule& rule);
/// Number of calls on a side.
inline size_t size(const Pattern& p) { return p.nodes.size(); }

}  // namespace regraft
