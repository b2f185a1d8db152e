#pragma once
// A whole model as a drawing.
#include <string>

#include "cli/optimization/page/view.h"

namespace regraft::cli {

/// How many colours regions have; with more regions they are used again.
inline constexpr size_t kRegionColours = 8;

/// SVG text, well-formed XML. Boxes have what the page's script looks for: data-n, the node, and
/// data-r, the region; data-a has the regions that were beside it. `id` is not used twice on a
/// page.
struct Picture {
  std::string svg;
  std::string marks;  ///< HTML: where in its height the regions are, for a strip beside it
};
Picture picture_of(const View& view, const std::string& title, const std::string& id);

/// Its rules of CSS.
std::string picture_style();

}  // namespace regraft::cli
