#pragma once
// The text form of rules and graphs; parse(print(x)) == x.
#include <span>
#include <string>
#include <string_view>

#include "ir/rule/rule.h"

namespace regraft {

/// One rule on one line:
///   name  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn | a:nnn
///   b:nn c:nn  proved:all-sizes
/// A rule that reads in both directions has <=> between its sides.
/// Conditions stand between the sides and the shapes, of integers or of real attributes:
/// where v.2=w.2,?b+?n<=x.1,?a>=0. Real attributes of the right side may be expressions:
/// epsilon=?e/(?c*?c) max=min(?a,?b) value=1/x.1
/// Several outputs are separated by ';'. Attributes follow the operands: strides=1,2 or strides=?s
/// or sizes=x.-1,2*x.0+1; those at their fallback are left out. Output k > 0 of a node is
/// written (split ...)#k. Equal sub-expressions are one node. `origin:hand` marks a hand-written
/// rule; a verdict's detail follows it in brackets: unknown[timeout].
std::string to_string(const Rule& rule);
/// The same without name, verdicts and origin, for these signatures.
std::string content_text(const Rule& rule, std::span<const Signature> domain);
/// An Error names the column and what was expected.
Result<Rule> parse_rule(std::string_view line);

/// A graph, a line for each node: "%3 = conv %0 %1 strides=2,2 : float32[N,64,56,56]".
/// Constants print their type and hash; opaque nodes print their digest: a graph with either is
/// readable but parses only if `constants` are generated anew, so parse_graph refuses it.
std::string to_string(const Graph& g);
Result<Graph> parse_graph(std::string_view text);

}  // namespace regraft
