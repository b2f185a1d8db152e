#include "cli/pages/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/pages/layout.h"
#include "cli/pages/text.h"

namespace regraft::cli {
namespace {

constexpr double kLetter = 7.3, kSmallLetter = 6.1;  // pixels of a letter, at 12 and 10 px
constexpr double kLabelLine = 16, kDetailLine = 12, kPadding = 8;
constexpr size_t kLongestLabel = 24, kLongestDetail = 28, kMostDetails = 4;

double width_of(const DrawnNode& n) {
  double width = kLetter * static_cast<double>(std::min(letters(n.label), kLongestLabel));
  for (size_t k = 0; k < std::min(n.details.size(), kMostDetails); ++k)
    width = std::max(
        width, kSmallLetter * static_cast<double>(std::min(letters(n.details[k]), kLongestDetail)));
  return std::max(30.0, width + 2 * kPadding);
}
double height_of(const DrawnNode& n) {
  auto lines = static_cast<double>(std::min(n.details.size(), kMostDetails));
  return kLabelLine + kPadding + kDetailLine * lines;
}

Layout lay_out(const Drawing& drawing) {
  std::vector<BoxSize> boxes;
  std::vector<BoxEdge> edges;
  for (const DrawnNode& n : drawing.nodes) boxes.push_back({width_of(n), height_of(n)});
  for (const DrawnEdge& e : drawing.edges) edges.push_back({e.from, e.to});
  return {boxes, std::move(edges)};
}

const char* class_of(const DrawnNode& n) {
  static const char* const kClasses[] = {"op", "va", "co", "ou"};
  return kClasses[n.kind];
}

std::string box(const DrawnNode& n, const Layout::Item& at) {
  std::string label = cut(n.label, kLongestLabel);
  std::string full = n.label, lines;
  bool hidden = label != n.label || n.details.size() > kMostDetails;
  double y = at.y + kPadding / 2 + kLabelLine - 4;
  for (size_t k = 0; k < n.details.size(); ++k) {
    full += (k == 0 ? ": " : " ") + n.details[k];
    if (k >= kMostDetails) continue;
    std::string line = k + 1 == kMostDetails && n.details.size() > kMostDetails
                           ? fmt::format("and {} more", n.details.size() - k)
                           : cut(n.details[k], kLongestDetail);
    hidden = hidden || line != n.details[k];
    lines += fmt::format("<text class=\"de\" x=\"{}\" y=\"{}\">{}</text>", pixels(at.x),
                         pixels(y + kDetailLine * static_cast<double>(k + 1)), escape_html(line));
  }
  std::string s = fmt::format("<g class=\"{}{}\">", class_of(n), n.marked ? " mk" : "");
  if (hidden) s += "<title>" + escape_html(full) + "</title>";
  s += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"/>)", pixels(at.x - at.width / 2),
                   pixels(at.y), pixels(at.width), pixels(at.height));
  return s +
         fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", pixels(at.x), pixels(y),
                     escape_html(label)) +
         lines + "</g>";
}

/// Beside the start of an edge.
std::string label_of(const DrawnEdge& edge, double x, double y) {
  if (edge.label.empty()) return {};
  return fmt::format("<text class=\"de\" x=\"{}\" y=\"{}\">{}</text>", pixels(x + 10),
                     pixels(y + 11), escape_html(edge.label));
}

}  // namespace

std::string to_svg(const Drawing& drawing, const std::string& id) {
  Layout at = lay_out(drawing);
  std::string s =
      fmt::format(R"(<svg class="graph" role="img" aria-labelledby="{0}-t {0}-d" )"
                  R"(width="{1}" height="{2}" viewBox="0 0 {1} {2}"><title id="{0}-t">{3}</title>)"
                  R"(<desc id="{0}-d">{4}</desc>)",
                  id, pixels(at.width()), pixels(at.height()), escape_html(drawing.title),
                  escape_html(drawing.description));
  std::string labels;
  for (bool marked : {false, true}) {
    std::string curves, heads;
    for (size_t k = 0; k < drawing.edges.size(); ++k) {
      if (drawing.edges[k].marked != marked) continue;
      curves += at.line(k);
      heads += at.head(k);
      labels += label_of(drawing.edges[k], at.start_x(k), at.start_y(k));
    }
    const char* mark = marked ? " mk" : "";
    if (curves.empty()) continue;
    s += fmt::format(R"(<path class="ed{}" d="{}"/><path class="he{}" d="{}"/>)", mark, curves,
                     mark, heads);
  }
  for (size_t k = 0; k < drawing.nodes.size(); ++k) s += box(drawing.nodes[k], at.box(k));
  return s + labels + "</svg>";
}

std::string drawing_style() {
  return R"(
svg.graph{flex:none;display:block}
svg.graph text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;
text-anchor:middle;fill:var(--ink)}
svg.graph text.de{font-size:10px;fill:var(--soft)}
svg.graph rect{stroke-width:1.2;rx:4px}
svg.graph .va rect,svg.graph .ou rect{rx:12px}
svg.graph .op rect{fill:var(--op);stroke:var(--op-line)}
svg.graph .op text:not(.de){font-weight:600}
svg.graph .va rect{fill:var(--paper);stroke:var(--line)}
svg.graph .co rect{fill:var(--const);stroke:var(--const-line)}
svg.graph .ou rect{fill:var(--paper);stroke:var(--line);stroke-dasharray:2 2}
svg.graph .mk rect{stroke:var(--mark);stroke-width:3;stroke-dasharray:6 3}
svg.graph .ed{fill:none;stroke:var(--soft);stroke-width:1.2}
svg.graph .he{fill:var(--soft)}
svg.graph .ed.mk{stroke:var(--mark);stroke-width:2.4}
svg.graph .he.mk{fill:var(--mark)}
)";
}

}  // namespace regraft::cli
