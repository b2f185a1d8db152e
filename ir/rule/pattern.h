#pragma once
// Inside ir: walking over the names that a rule's patterns use.
#include <functional>

#include "ir/rule/rule.h"

namespace regraft {

/// The list variable of integer attribute k, or "".
const std::string& list_variable(const PatternNode& n, size_t k);
/// The real variable, or the expression, of real attribute k, or "".
const std::string& real_variable(const PatternNode& n, size_t k);
/// What a rule asks of real attributes: what it says, and that a symbol is not 0 where 0 means a
/// default. Proofs do not need the latter: they hold for all numbers, with 0 as one of them.
std::vector<RealCondition> real_conditions_of(const Rule& rule);
/// The expression of axes that integer attribute k is, or nullptr.
const AxisTerm* axis_term(const PatternNode& n, size_t k);
/// Calls `visit` for each symbol of p, also those inside quotients and lookups.
void for_each_symbol(const Poly& p, const std::function<void(Var)>& visit);
/// p over another pool; `symbol` gives the value of each symbol that is no quotient. nullopt when a
/// divisor becomes a constant below 1. Throws PolyOverflow.
std::optional<Poly> moved(const Poly& p, SymbolPool& pool, const std::function<Poly(Var)>& symbol);
/// Number of outputs of a pattern node, or nullopt when a list variable decides it.
std::optional<int> known_outputs(const PatternNode& n);
bool same(const PatternNode& a, const PatternNode& b);
/// The variables in the order in which a walk over the side meets them.
std::vector<int> first_uses(const Pattern& side);
/// Error unless the node at `position` is a well-formed call of earlier nodes.
Status check_pattern_node(const Rule& rule, const Pattern& side, size_t position);

/// How pattern text names variables and orders the operands of commutative operators.
struct PatternStyle {
  enum Operands : uint8_t {
    AsTheyAre,
    Commuted,  ///< of commutative operators sorted by their text
    Chained,   ///< and those of a chain of an associative operator as if of one call
    Blind,     ///< Chained, with variables that have no names
  } operands = AsTheyAre;
  std::map<size_t, std::vector<PatternRef>> chains;  ///< AsTheyAre: operands of nodes, if others
  std::map<std::string, std::string> names;  ///< new names of variables; the others keep theirs
};
/// The operands of a node; of an associative operator those of the whole chain of its calls.
std::vector<PatternRef> chain_of(const Pattern& side, size_t node);
/// How many of its first operands a call of `op` with n operands may exchange.
inline size_t movable(const OpDef& op, size_t n) {
  return op.associative ? n : op.commutative && n >= 2 ? 2 : 0;
}
/// "(matmul ?a ?b)": the text of one value of a side, as parse_rule reads it.
std::string pattern_text(const Rule& rule, const Pattern& side, PatternRef value,
                         const PatternStyle& style);

/// "?j<?k,v.2=w.2,v.3=w.3": the conditions, as parse_rule reads them.
std::string where_text(const Rule& rule, const PatternStyle& style);

}  // namespace regraft
