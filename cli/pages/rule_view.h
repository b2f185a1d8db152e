#pragma once
// A rule as a reader sees it: as a formula and as drawings.
#include <string>
#include <vector>

#include "cli/pages/drawing.h"
#include "ir/rule/rule.h"

namespace regraft::cli {

enum class Marking : uint8_t { Plain, Html };

/// The outputs of a side: "matmul(a + b, c)"; arithmetic stands between its operands, attributes
/// at their fallback are left out. Html: operators in <b>, attributes in <i>.
std::string side_formula(const Rule& rule, const Pattern& side, Marking marking);
/// "a.1 = b.1, s = 2": what `where` says; empty where it says nothing.
std::string conditions_of(const Rule& rule);
/// "a[n,n] b[n,1]".
std::string signature_text(const Rule& rule, const Signature& signature);
/// One side as a graph.
Drawing draw_side(const Rule& rule, const Pattern& side, const std::string& title);
/// Both sides, as two figures side by side. `id`: as to_svg has it.
std::string draw_rule(const Rule& rule, const std::string& id);
/// Formula and conditions in a box.
std::string formula_box(const Rule& rule);
/// Names of the operators of both sides, sorted, each once.
std::vector<std::string> operators_of(const Rule& rule);
/// badge() for a verdict, for numerics.
std::string verdict_badge(const Verdict& verdict);
std::string numerics_badge(Numerics numerics);

}  // namespace regraft::cli
