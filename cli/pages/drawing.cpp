#include "cli/pages/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "cli/pages/text.h"

namespace regraft::cli {
namespace {

constexpr double kLetter = 7.3, kSmallLetter = 6.1;  // pixels of a letter, at 12 and 10 px
constexpr double kLabelLine = 16, kDetailLine = 12, kPadding = 8;
constexpr double kApart = 14, kLayersApart = 30, kBend = 10, kMargin = 4;
constexpr size_t kLongestLabel = 24, kLongestDetail = 28, kMostDetails = 4;

/// A box, or a place where an edge passes a layer.
struct Item {
  int node = -1;                                   ///< -1: an edge passes
  double width = kBend, height = 0, x = 0, y = 0;  ///< x: of its middle, y: of its top
  size_t layer = 0;
};
/// Two items of neighbouring layers that an edge joins; `start` and `end` are where it leaves and
/// enters, from the items' middles.
struct Link {
  size_t upper, lower;
  double start = 0, end = 0;
};

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

class Layout {
 public:
  explicit Layout(const Drawing& drawing);
  std::vector<Item> items;                 ///< those of the drawing's nodes first
  std::vector<std::vector<size_t>> paths;  ///< of each edge: the links that it consists of
  std::vector<Link> links;
  double width = 0, height = 0;

 private:
  std::vector<size_t> depths() const;
  void connect(const std::vector<size_t>& depth);
  void number_operands();
  void order();
  uint64_t crossings() const;
  void sort_layer(size_t layer, bool by_upper);
  void place();
  void align(size_t layer, bool by_upper, bool by_lower);
  double wanted(size_t item, bool by_upper, bool by_lower) const;

  const Drawing& drawing_;
  std::vector<std::vector<size_t>> layers_;     ///< items from left to right
  std::vector<std::vector<size_t>> up_, down_;  ///< of each item: links
};

Layout::Layout(const Drawing& drawing) : drawing_(drawing) {
  for (size_t k = 0; k < drawing.nodes.size(); ++k) {
    const DrawnNode& n = drawing.nodes[k];
    items.push_back({static_cast<int>(k), width_of(n), height_of(n), 0, 0, 0});
  }
  connect(depths());
  number_operands();
  order();
  place();
}

/// The layer of each node: below all that it reads; what reads nothing is just above its first
/// reader.
std::vector<size_t> Layout::depths() const {
  size_t n = drawing_.nodes.size();
  std::vector<size_t> depth(n, 0), first(n, SIZE_MAX);
  std::vector<char> reads(n, 0);
  for (const DrawnEdge& e : drawing_.edges) reads[e.to] = 1;
  bool changed = true;
  for (size_t round = 0; changed; ++round) {
    CHECK(round <= n);  // no cycle
    changed = false;
    for (const DrawnEdge& e : drawing_.edges)
      if (depth[e.to] < depth[e.from] + 1) depth[e.to] = depth[e.from] + 1, changed = true;
  }
  for (const DrawnEdge& e : drawing_.edges) first[e.from] = std::min(first[e.from], depth[e.to]);
  for (size_t k = 0; k < n; ++k)
    if (!reads[k] && first[k] != SIZE_MAX) depth[k] = first[k] - 1;
  return depth;
}

/// Links and the items that edges pass, layer by layer, each in the order of a walk from the
/// outputs, operands from left to right.
void Layout::connect(const std::vector<size_t>& depth) {
  size_t count = depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end()) + 1;
  layers_.resize(count);
  std::vector<char> seen(depth.size(), 0), read(depth.size(), 0);
  std::vector<std::vector<size_t>> into(depth.size());
  for (size_t e = 0; e < drawing_.edges.size(); ++e) {
    into[drawing_.edges[e].to].push_back(e);
    read[drawing_.edges[e].from] = 1;
  }
  paths.resize(drawing_.edges.size());
  auto visit = [&](auto& self, size_t node) -> void {
    if (std::exchange(seen[node], 1)) return;
    items[node].layer = depth[node];
    for (size_t e : into[node]) {
      size_t from = drawing_.edges[e].from, upper = from;
      self(self, from);
      for (size_t layer = depth[from] + 1; layer <= depth[node]; ++layer) {
        size_t lower = node;
        if (layer < depth[node]) {
          lower = items.size();
          items.push_back({.layer = layer});
          layers_[layer].push_back(lower);
        }
        paths[e].push_back(links.size());
        links.push_back({upper, lower});
        upper = lower;
      }
    }
    layers_[depth[node]].push_back(node);
  };
  for (size_t k = 0; k < depth.size(); ++k)
    if (!read[k]) visit(visit, k);
}

/// Where edges enter a box: side by side, in their order. They leave at its middle.
void Layout::number_operands() {
  up_.resize(items.size());
  down_.resize(items.size());
  for (size_t k = 0; k < links.size(); ++k) {
    down_[links[k].upper].push_back(k);
    up_[links[k].lower].push_back(k);
  }
  for (size_t item = 0; item < items.size(); ++item) {
    auto n = static_cast<double>(up_[item].size());
    for (size_t k = 0; k < up_[item].size(); ++k)
      links[up_[item][k]].end = items[item].width * ((static_cast<double>(k) + 1) / (n + 1) - 0.5);
  }
}

uint64_t Layout::crossings() const {
  std::vector<size_t> place(items.size());
  for (const auto& layer : layers_)
    for (size_t k = 0; k < layer.size(); ++k) place[layer[k]] = k;
  uint64_t count = 0;
  for (size_t i = 0; i < links.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Link &a = links[i], &b = links[j];
      if (items[a.upper].layer != items[b.upper].layer) continue;
      auto above = std::pair(place[a.upper], place[b.upper]);
      std::pair low(std::pair(place[a.lower], a.end), std::pair(place[b.lower], b.end));
      count += (above.first < above.second && low.second < low.first) ||
               (above.second < above.first && low.first < low.second);
    }
  return count;
}

/// By the mean place of the neighbours above, or below.
void Layout::sort_layer(size_t layer, bool by_upper) {
  std::vector<size_t> place(items.size());
  for (const auto& l : layers_)
    for (size_t k = 0; k < l.size(); ++k) place[l[k]] = k;
  std::vector<std::pair<double, size_t>> keys;
  for (size_t item : layers_[layer]) {
    double sum = 0;
    const auto& near = by_upper ? up_[item] : down_[item];
    for (size_t l : near) {
      const Link& link = links[l];
      sum += by_upper ? static_cast<double>(place[link.upper])
                      : static_cast<double>(place[link.lower]) +
                            0.9 * link.end / items[link.lower].width;
    }
    double mean =
        near.empty() ? static_cast<double>(place[item]) : sum / static_cast<double>(near.size());
    keys.emplace_back(mean, item);
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t k = 0; k < keys.size(); ++k) layers_[layer][k] = keys[k].second;
}

void Layout::order() {
  constexpr int kSweeps = 6;
  auto best = layers_;
  uint64_t least = crossings();
  for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
    bool upwards = sweep % 2 == 0;
    for (size_t k = 0; k < layers_.size(); ++k)
      sort_layer(upwards ? layers_.size() - 1 - k : k, !upwards);
    if (uint64_t now = crossings(); now < least) least = now, best = layers_;
  }
  layers_ = best;
}

/// Where an item would lie straight above and below its neighbours.
double Layout::wanted(size_t item, bool by_upper, bool by_lower) const {
  double sum = 0, count = 0;
  if (by_upper)
    for (size_t l : up_[item])
      sum += items[links[l].upper].x + links[l].start - links[l].end, ++count;
  if (by_lower)
    for (size_t l : down_[item])
      sum += items[links[l].lower].x + links[l].end - links[l].start, ++count;
  return count > 0 ? sum / count : items[item].x;
}

/// The places nearest to the wanted ones (least squares) that keep the order and the distances:
/// isotonic regression, by pooling adjacent violators.
void Layout::align(size_t layer, bool by_upper, bool by_lower) {
  const auto& row = layers_[layer];
  struct Block {
    double mean;
    size_t count;
  };
  std::vector<Block> blocks;
  std::vector<double> offset(row.size(), 0);
  for (size_t k = 0; k < row.size(); ++k) {
    if (k > 0)
      offset[k] = offset[k - 1] + (items[row[k - 1]].width + items[row[k]].width) / 2 + kApart;
    blocks.push_back({wanted(row[k], by_upper, by_lower) - offset[k], 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean > blocks.back().mean) {
      Block b = blocks.back();
      blocks.pop_back();
      Block& a = blocks.back();
      auto n = static_cast<double>(a.count), m = static_cast<double>(b.count);
      a = {(a.mean * n + b.mean * m) / (n + m), a.count + b.count};
    }
  }
  size_t k = 0;
  for (const Block& b : blocks)
    for (size_t j = 0; j < b.count; ++j, ++k) items[row[k]].x = b.mean + offset[k];
}

void Layout::place() {
  constexpr int kSweeps = 8;
  double y = kMargin;
  for (const auto& row : layers_) {
    double tallest = 0;
    for (size_t item : row) tallest = std::max(tallest, items[item].height);
    for (size_t item : row) {
      if (items[item].node < 0) items[item].height = tallest;
      items[item].y = y + (tallest - items[item].height) / 2;
    }
    y += tallest + kLayersApart;
  }
  for (size_t k = 0; k < layers_.size(); ++k) align(k, true, false);
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (size_t k = 0; k < layers_.size(); ++k)
      align(sweep % 2 == 0 ? layers_.size() - 1 - k : k, true, true);
  double left = HUGE_VAL, right = -HUGE_VAL;
  for (const Item& i : items) {
    left = std::min(left, i.x - i.width / 2);
    right = std::max(right, i.x + i.width / 2);
  }
  for (Item& i : items) i.x += kMargin - left;
  width = items.empty() ? 0 : right - left + 2 * kMargin;
  height = items.empty() ? 0 : y - kLayersApart + kMargin;
}

std::string number(double x) { return fmt::format("{}", std::lround(x)); }

const char* class_of(const DrawnNode& n) {
  static const char* const kClasses[] = {"op", "va", "co", "ou"};
  return kClasses[n.kind];
}

std::string box(const DrawnNode& n, const Item& at) {
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
    lines += fmt::format("<text class=\"de\" x=\"{}\" y=\"{}\">{}</text>", number(at.x),
                         number(y + kDetailLine * static_cast<double>(k + 1)), escape_html(line));
  }
  std::string s = fmt::format("<g class=\"{}{}\">", class_of(n), n.marked ? " mk" : "");
  if (hidden) s += "<title>" + escape_html(full) + "</title>";
  s += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"/>)", number(at.x - at.width / 2),
                   number(at.y), number(at.width), number(at.height));
  return s +
         fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", number(at.x), number(y),
                     escape_html(label)) +
         lines + "</g>";
}

/// The line of an edge, and its head.
struct Line {
  std::string curve, head, label;
};
Line line_of(const DrawnEdge& edge, const std::vector<size_t>& path, const Layout& at) {
  Line line;
  for (size_t k = 0; k < path.size(); ++k) {
    const Link& link = at.links[path[k]];
    const Item &a = at.items[link.upper], &b = at.items[link.lower];
    bool last = k + 1 == path.size();
    double x = a.x + link.start, y = a.y + a.height, to = b.x + link.end;
    double end = b.y - (last ? 6 : 0), middle = (y + end) / 2;
    if (k == 0) {
      line.curve = "M" + number(x) + " " + number(y);
      if (!edge.label.empty())
        line.label = fmt::format("<text class=\"de\" x=\"{}\" y=\"{}\">{}</text>", number(x + 10),
                                 number(y + 11), escape_html(edge.label));
    } else {
      line.curve += "V" + number(y);
    }
    if (std::lround(x) == std::lround(to))
      line.curve += "V" + number(end);
    else
      line.curve += fmt::format("C{} {} {} {} {} {}", number(x), number(middle), number(to),
                                number(middle), number(to), number(end));
    if (last) line.head = fmt::format("M{} {}l-3-7h6z", number(to), number(b.y));
  }
  return line;
}

}  // namespace

std::string to_svg(const Drawing& drawing, const std::string& id) {
  Layout at(drawing);
  std::string s =
      fmt::format(R"(<svg class="graph" role="img" aria-labelledby="{0}-t {0}-d" )"
                  R"(width="{1}" height="{2}" viewBox="0 0 {1} {2}"><title id="{0}-t">{3}</title>)"
                  R"(<desc id="{0}-d">{4}</desc>)",
                  id, number(at.width), number(at.height), escape_html(drawing.title),
                  escape_html(drawing.description));
  std::string labels;
  for (bool marked : {false, true}) {
    std::string curves, heads;
    for (size_t k = 0; k < drawing.edges.size(); ++k) {
      if (drawing.edges[k].marked != marked) continue;
      Line line = line_of(drawing.edges[k], at.paths[k], at);
      curves += line.curve;
      heads += line.head;
      labels += line.label;
    }
    const char* mark = marked ? " mk" : "";
    if (curves.empty()) continue;
    s += fmt::format(R"(<path class="ed{}" d="{}"/><path class="he{}" d="{}"/>)", mark, curves,
                     mark, heads);
  }
  for (size_t k = 0; k < drawing.nodes.size(); ++k) s += box(drawing.nodes[k], at.items[k]);
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
