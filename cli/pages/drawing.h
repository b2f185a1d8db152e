#pragma once
// Small graphs as drawings: nodes in layers from top to bottom, as SVG text for a page of page.h.
#include <cstdint>
#include <string>
#include <vector>

namespace regraft::cli {

/// A box of a drawing. Texts are plain, of any length and any bytes: what is too long is cut, and
/// stands in full in the box's <title>.
struct DrawnNode {
  enum Kind : uint8_t { Operator, Variable, Constant, Output } kind = Operator;
  std::string label;                 ///< in the first line
  std::vector<std::string> details;  ///< smaller, below it: attributes, a type
  bool marked = false;               ///< stands out, also without colours
};

/// From an output of a node to an operand of another.
struct DrawnEdge {
  size_t from = 0, to = 0;  ///< places in Drawing::nodes
  std::string label;        ///< beside its start: "#1"; mostly empty
  bool marked = false;
};

/// Operands of a node enter it from left to right in the order of the edges. Up to some hundred
/// nodes are drawn in reasonable time; some sixty can be read.
struct Drawing {
  std::string title;        ///< what it shows, in a few words
  std::string description;  ///< the same as its content, for who does not see it
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;  ///< REQUIRES: no cycle
};

/// "<svg ...>...</svg>", well-formed XML. `id` is not used twice on a page: letters, digits and
/// hyphens. Deterministic; layout.h says how.
std::string to_svg(const Drawing& drawing, const std::string& id);

/// The rules of CSS that drawings on a page need; page.h includes them.
std::string drawing_style();

}  // namespace regraft::cli
