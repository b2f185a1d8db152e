#include "cli/optimization/page/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/pages/text.h"

namespace regraft::cli {
namespace {

constexpr double kLetterWidth = 7.3, kSmallLetterWidth = 6.1;  // pixels, at 12 and 10 px
constexpr double kBoxHeight = 36, kStubHeight = 16;
constexpr size_t kMostLetters = 20, kMostSmall = 22, kMostInStub = 14;
constexpr size_t kMostPassed = 14;  // layers that an edge is drawn through

/// Of long names the end says most.
std::string end_of(const std::string& name, size_t most) {
  if (letters(name) <= most) return name;
  std::string shown = cut(name, SIZE_MAX);  // printable
  size_t from = shown.size() - std::min(shown.size(), most - 1);
  while (from < shown.size() && (static_cast<unsigned char>(shown[from]) & 0xC0) == 0x80) ++from;
  return "…" + shown.substr(from);
}

std::string label_of(const ViewBox& box) {
  return box.kind == ViewBox::Input ? end_of(box.label, kMostLetters)
                                    : cut(box.label, kMostLetters);
}
std::string detail_of(const ViewBox& box) {
  return box.kind == ViewBox::Output ? end_of(box.detail, kMostSmall) : cut(box.detail, kMostSmall);
}

BoxSize size_of_box(const ViewBox& box) {
  constexpr double kAround = 20, kLeast = 44;
  double text = std::max(kLetterWidth * static_cast<double>(letters(label_of(box))),
                         kSmallLetterWidth * static_cast<double>(letters(detail_of(box))));
  double tag = box.region ? 8 : 0;
  return {std::max(kLeast, text + kAround + 2 * tag), kBoxHeight};
}

std::string colour_class(size_t region) { return fmt::format("c{}", region % kRegionColours); }

std::string classes_of(const ViewBox& box) {
  static const char* const kKinds[] = {"op", "op ca", "va", "ou", "op sk"};
  std::string s = kKinds[box.kind];
  if (box.region)
    s += " " + colour_class(*box.region);
  else if (box.changed)
    s += " gone";
  return s;
}

std::string links_of(const ViewBox& box) {
  std::string s;
  if (box.node >= 0) s += fmt::format(" data-n=\"{}\"", box.node);
  if (box.region) s += fmt::format(" data-r=\"{}\"", *box.region);
  std::string near;
  for (size_t r : box.near) near += (near.empty() ? "" : " ") + std::to_string(r);
  if (!near.empty()) s += " data-a=\"" + near + "\"";
  return s;
}

std::string box_svg(const ViewBox& box, const Layout::Item& at, double dearest) {
  const double left = at.x - at.width / 2;
  std::string detail = detail_of(box);
  std::string s = fmt::format(
      R"(<g class="{}"{}><title>{}</title><rect x="{}" y="{}" width="{}" height="{}"/>)",
      classes_of(box), links_of(box), escape_html(box.full), pixels(left), pixels(at.y),
      pixels(at.width), pixels(at.height));
  s += fmt::format(R"(<text x="{}" y="{}">{}</text>)", pixels(at.x),
                   pixels(at.y + (detail.empty() ? 22 : 16)), escape_html(label_of(box)));
  if (!detail.empty())
    s += fmt::format(R"(<text class="de" x="{}" y="{}">{}</text>)", pixels(at.x), pixels(at.y + 28),
                     escape_html(detail));
  if (box.region)
    s += fmt::format(R"(<text class="rn" x="{}" y="{}">{}</text>)", pixels(left + 3),
                     pixels(at.y + 11), *box.region + 1);
  const bool one = box.kind != ViewBox::Stretch;  // a stretch has many kernels
  double share = one && dearest > 0 ? box.microseconds / dearest : 0;
  if (share >= 0.02)
    s += fmt::format(R"(<rect class="ht" x="{}" y="{}" width="{}" height="3"/>)", pixels(left + 4),
                     pixels(at.y + at.height - 4), pixels(std::max(1.0, share * (at.width - 8))));
  return s + "</g>";
}

/// Where an edge comes from that is too long to be drawn.
std::string stub_svg(const ViewBox& from, const Layout::Item& at) {
  std::string name = from.kind == ViewBox::Input ? from.label : from.label + " " + from.detail;
  return fmt::format(R"(<g class="st"{}><title>from {}</title><rect x="{}" y="{}" width="{}" )"
                     R"(height="{}"/><text class="de" x="{}" y="{}">↑ {}</text></g>)",
                     from.node >= 0 ? fmt::format(" data-n=\"{}\"", from.node) : "",
                     escape_html(from.full), pixels(at.x - at.width / 2), pixels(at.y),
                     pixels(at.width), pixels(at.height), pixels(at.x), pixels(at.y + 11),
                     escape_html(cut(name, kMostInStub)));
}

/// Edges within a region have its colour.
std::string edges_svg(const View& view, const Layout& layout) {
  std::map<std::optional<size_t>, std::pair<std::string, std::string>> paths;
  for (size_t k = 0; k < view.edges.size(); ++k) {
    const auto &from = view.boxes[view.edges[k].from].region,
               &to = view.boxes[view.edges[k].to].region;
    auto& [lines, heads] = paths[from == to ? from : std::nullopt];
    lines += layout.line(k);
    heads += layout.head(k);
  }
  std::string s;
  for (const auto& [region, drawn] : paths) {
    std::string colour = region ? " " + colour_class(*region) : "";
    s += fmt::format(R"(<path class="ed{}" d="{}"/><path class="he{}" d="{}"/>)", colour,
                     drawn.first, colour, drawn.second);
  }
  return s;
}

/// Boxes of a region that are close to each other are one mark.
std::string marks_of(const View& view, const Layout& layout) {
  constexpr double kClose = 0.01;  // of the height
  std::map<size_t, std::vector<std::pair<double, double>>> spans;
  std::vector<size_t> order;
  for (size_t k = 0; k < view.boxes.size(); ++k)
    if (view.boxes[k].region) order.push_back(k);
  std::ranges::stable_sort(order, {}, [&](size_t k) { return layout.box(k).y; });
  for (size_t k : order) {
    const Layout::Item& at = layout.box(k);
    double top = at.y / layout.height(), bottom = (at.y + at.height) / layout.height();
    auto& list = spans[*view.boxes[k].region];
    if (list.empty() || top > list.back().second + kClose)
      list.emplace_back(top, bottom);
    else
      list.back().second = std::max(list.back().second, bottom);
  }
  std::string s;
  for (const auto& [region, list] : spans)
    for (const auto& [top, bottom] : list)
      s += fmt::format(R"(<i class="{}" data-r="{}" style="top:{:.2f}%;height:{:.2f}%"></i>)",
                       colour_class(region), region, 100 * top, 100 * (bottom - top));
  return s;
}

}  // namespace

Picture picture_of(const View& view, const std::string& title, const std::string& id) {
  std::vector<BoxSize> sizes;
  double dearest = 0;
  for (const ViewBox& b : view.boxes) {
    sizes.push_back(size_of_box(b));
    if (b.kind != ViewBox::Stretch) dearest = std::max(dearest, b.microseconds);
  }
  LayoutOptions options;
  options.apart = 10;
  options.layers = 20;
  options.longest = kMostPassed;
  options.stub = {kSmallLetterWidth * (kMostInStub + 3), kStubHeight};
  Layout layout(sizes, view.edges, options);
  std::string s =
      fmt::format(R"(<svg class="graph whole" role="img" aria-labelledby="{0}-t" width="{1}" )"
                  R"(height="{2}" viewBox="0 0 {1} {2}"><title id="{0}-t">{3}</title>)"
                  R"(<desc>Each box is a node; lines lead from what makes a tensor down to what )"
                  R"(reads it. The list of changes says what differs.</desc>)",
                  id, pixels(layout.width()), pixels(layout.height()), escape_html(title));
  s += edges_svg(view, layout);
  for (const Layout::Stub& stub : layout.stubs())
    s += stub_svg(view.boxes[view.edges[stub.edge].from], layout.item(stub.item));
  for (size_t k = 0; k < view.boxes.size(); ++k)
    s += box_svg(view.boxes[k], layout.box(k), dearest);
  return {s + "</svg>", marks_of(view, layout)};
}

std::string picture_style() {
  static const char* const kHues[kRegionColours] = {"25", "145", "265", "330",
                                                    "85", "195", "0",   "300"};
  std::string s = R"(
svg.whole .op rect{fill:var(--back);stroke:var(--line)}
svg.whole .op.ca rect{stroke-dasharray:5 3}
svg.whole .op.sk rect{stroke-dasharray:2 3;rx:14px}
svg.whole .op.gone rect{fill:var(--const);stroke:var(--const-line)}
svg.whole g .ht{fill:var(--op-line)!important;stroke:none!important;rx:1px}
svg.whole .st rect{fill:var(--paper);stroke:var(--rule);rx:8px}
.whole text.rn{font-size:9px;font-weight:700;text-anchor:start}
.whole g[data-r],.whole g[data-n]{cursor:pointer}
)";
  for (size_t k = 0; k < kRegionColours; ++k)
    s += fmt::format(
        ".c{0}{{--tint:hsl({1} 85% 90%);--edge:hsl({1} 75% 38%)}}\n"
        "@media (prefers-color-scheme:dark){{.c{0}{{--tint:hsl({1} 45% 20%);"
        "--edge:hsl({1} 75% 66%)}}}}\n"
        "svg.whole g.c{0}>rect{{fill:var(--tint);stroke:var(--edge);stroke-width:2}}\n"
        "svg.whole .ed.c{0}{{stroke:var(--edge);stroke-width:2}}"
        "svg.whole .he.c{0}{{fill:var(--edge)}}.whole .c{0} .rn{{fill:var(--edge)}}\n",
        k, kHues[k]);
  return s + R"(
svg.whole g.near>rect{stroke:var(--mark);stroke-width:4;stroke-dasharray:6 3}
svg.whole g.same>rect{stroke:var(--op-line);stroke-width:4}
svg.whole g.hot>rect{stroke:var(--mark);stroke-width:5}
)";
}

}  // namespace regraft::cli
