#include "cli/pages/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace regraft::cli {
namespace {

constexpr double kMargin = 4, kHead = 6;

/// Counts of numbers, of which those above one can be asked (Fenwick 1994).
class Counts {
 public:
  explicit Counts(size_t n) : sums_(n + 1, 0) {}
  void add(size_t k) {
    ++all_;
    for (++k; k < sums_.size(); k += k & (~k + 1)) ++sums_[k];
  }
  uint64_t above(size_t k) const {
    uint64_t up_to = 0;
    for (++k; k > 0; k -= k & (~k + 1)) up_to += sums_[k];
    return all_ - up_to;
  }

 private:
  std::vector<uint64_t> sums_;
  uint64_t all_ = 0;
};

}  // namespace

std::string pixels(double x) { return fmt::format("{}", std::lround(x)); }

Layout::Layout(const std::vector<BoxSize>& boxes, std::vector<BoxEdge> edges,
               const LayoutOptions& options)
    : edges_(std::move(edges)), options_(options) {
  for (const BoxSize& b : boxes) items_.push_back({.width = b.width, .height = b.height});
  connect(depths());
  number_operands();
  order();
  place();
}

/// Every box after all that read it.
std::vector<size_t> Layout::readers_first() const {
  std::vector<size_t> unread(items_.size(), 0), order;
  std::vector<std::vector<size_t>> reads(items_.size());
  for (const BoxEdge& e : edges_) {
    ++unread[e.from];
    reads[e.to].push_back(e.from);
  }
  for (size_t k = 0; k < items_.size(); ++k)
    if (unread[k] == 0) order.push_back(k);
  for (size_t at = 0; at < order.size(); ++at)
    for (size_t from : reads[order[at]])
      if (--unread[from] == 0) order.push_back(from);
  CHECK(order.size() == items_.size());  // no cycle
  return order;
}

/// The layer of each box: below all that it reads. What reads nothing is just above its first
/// reader, and so is what reads only such boxes, each of which nothing else reads.
std::vector<size_t> Layout::depths() const {
  const size_t n = items_.size();
  std::vector<size_t> depth(n, 0), first(n, SIZE_MAX), readers(n, 0);
  std::vector<std::vector<size_t>> read_by(n);
  for (const BoxEdge& e : edges_) {
    read_by[e.from].push_back(e.to);
    ++readers[e.from];
  }
  const auto order = readers_first();
  std::vector<char> loose(n, 1);  // hangs from its readers alone
  for (size_t k = n; k-- > 0;) {
    size_t at = order[k];
    for (size_t to : read_by[at]) {
      depth[to] = std::max(depth[to], depth[at] + 1);
      if (!loose[at] || readers[at] > 1) loose[to] = 0;
    }
  }
  for (size_t at : order) {
    for (size_t to : read_by[at]) first[at] = std::min(first[at], depth[to]);
    if (loose[at] && first[at] != SIZE_MAX) depth[at] = first[at] - 1;
  }
  return depth;
}

/// The item that an edge is drawn from, and its layer: a stub where the edge is too long.
size_t Layout::start_of(size_t edge, const std::vector<size_t>& depth, size_t& layer) {
  const BoxEdge& e = edges_[edge];
  layer = depth[e.from];
  if (depth[e.to] - layer <= options_.longest) return e.from;
  layer = depth[e.to] - 1;
  stubs_.push_back({edge, items_.size()});
  layers_[layer].push_back(items_.size());
  items_.push_back({.width = options_.stub.width, .height = options_.stub.height, .layer = layer});
  return items_.size() - 1;
}

/// Links and the items that edges pass, layer by layer, each in the order of a walk from the
/// outputs, operands from left to right.
void Layout::connect(const std::vector<size_t>& depth) {
  size_t count = depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end()) + 1;
  layers_.resize(count);
  std::vector<char> seen(depth.size(), 0), read(depth.size(), 0);
  std::vector<std::vector<size_t>> into(depth.size());
  for (size_t e = 0; e < edges_.size(); ++e) {
    into[edges_[e].to].push_back(e);
    read[edges_[e].from] = 1;
  }
  paths_.resize(edges_.size());
  auto join = [&](size_t e) {
    const size_t node = edges_[e].to;
    size_t layer = 0, upper = start_of(e, depth, layer);
    for (++layer; layer <= depth[node]; ++layer) {
      size_t lower = node;
      if (layer < depth[node]) {
        lower = items_.size();
        items_.push_back({.width = options_.passing, .layer = layer, .passes = true});
        layers_[layer].push_back(lower);
      }
      paths_[e].push_back(links_.size());
      links_.push_back({upper, lower});
      upper = lower;
    }
  };
  auto visit = [&](auto& self, size_t node) -> void {
    if (std::exchange(seen[node], 1)) return;
    items_[node].layer = depth[node];
    for (size_t e : into[node]) {
      self(self, edges_[e].from);
      join(e);
    }
    layers_[depth[node]].push_back(node);
  };
  for (size_t k = 0; k < depth.size(); ++k)
    if (!read[k]) visit(visit, k);
}

/// Where edges enter a box: side by side, in their order. They leave at its middle.
void Layout::number_operands() {
  up_.resize(items_.size());
  down_.resize(items_.size());
  for (size_t k = 0; k < links_.size(); ++k) {
    down_[links_[k].upper].push_back(k);
    up_[links_[k].lower].push_back(k);
  }
  for (size_t item = 0; item < items_.size(); ++item) {
    auto n = static_cast<double>(up_[item].size());
    for (size_t k = 0; k < up_[item].size(); ++k)
      links_[up_[item][k]].end =
          items_[item].width * ((static_cast<double>(k) + 1) / (n + 1) - 0.5);
  }
}

void Layout::number_places() {
  places_.resize(items_.size());
  for (const auto& layer : layers_)
    for (size_t k = 0; k < layer.size(); ++k) places_[layer[k]] = k;
}

uint64_t Layout::crossings() const {
  uint64_t count = 0;
  for (const auto& layer : layers_) {
    // Operands stand in their order, so a walk over the lower ends needs no comparison of `end`.
    std::vector<std::pair<size_t, size_t>> ends;  // places above and below, from left to right
    for (size_t item : layer)
      for (size_t l : up_[item]) ends.emplace_back(places_[links_[l].upper], places_[item]);
    size_t most = 0;
    for (const auto& [above, below] : ends) most = std::max(most, above);
    Counts counts(most + 1);
    for (const auto& [above, below] : ends) {
      count += counts.above(above);
      counts.add(above);
    }
  }
  return count;
}

/// By the mean place of the neighbours above, or below.
void Layout::sort_layer(size_t layer, bool by_upper) {
  std::vector<std::pair<double, size_t>> keys;
  for (size_t item : layers_[layer]) {
    double sum = 0;
    const auto& near = by_upper ? up_[item] : down_[item];
    for (size_t l : near) {
      const Link& link = links_[l];
      double width = std::max(items_[link.lower].width, 1.0);
      sum += by_upper ? static_cast<double>(places_[link.upper])
                      : static_cast<double>(places_[link.lower]) + 0.9 * link.end / width;
    }
    double mean =
        near.empty() ? static_cast<double>(places_[item]) : sum / static_cast<double>(near.size());
    keys.emplace_back(mean, item);
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t k = 0; k < keys.size(); ++k) {
    layers_[layer][k] = keys[k].second;
    places_[keys[k].second] = k;
  }
}

void Layout::order() {
  constexpr int kSweeps = 6;
  number_places();
  auto best = layers_;
  uint64_t least = crossings();
  for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
    bool upwards = sweep % 2 == 0;
    for (size_t k = 0; k < layers_.size(); ++k)
      sort_layer(upwards ? layers_.size() - 1 - k : k, !upwards);
    if (uint64_t now = crossings(); now < least) least = now, best = layers_;
  }
  layers_ = best;
  number_places();
}

/// Long edges are kept straight, then chains; where one meets the other, the chain stays.
double Layout::weight(const Link& link) const {
  bool above = items_[link.upper].passes, below = items_[link.lower].passes;
  if (above != below) return 0.5;
  return above ? 8 : 4;
}

/// The places nearest to the wanted ones, straight below the neighbours above, or else straight
/// above those below (least squares), that keep the order and the distances: isotonic regression,
/// by pooling adjacent violators.
void Layout::align(size_t layer, bool by_upper) {
  const auto& row = layers_[layer];
  struct Block {
    double mean, weight;
    size_t count;
  };
  std::vector<Block> blocks;
  std::vector<double> offset(row.size(), 0);
  for (size_t k = 0; k < row.size(); ++k) {
    if (k > 0)
      offset[k] =
          offset[k - 1] + (items_[row[k - 1]].width + items_[row[k]].width) / 2 + options_.apart;
    double sum = 0, all = 0;
    auto want = [&](const Link& link, double x) { sum += weight(link) * x, all += weight(link); };
    if (up_[row[k]].empty() || (!by_upper && !down_[row[k]].empty()))
      for (size_t l : down_[row[k]]) want(links_[l], items_[links_[l].lower].x + links_[l].end);
    else
      for (size_t l : up_[row[k]]) want(links_[l], items_[links_[l].upper].x - links_[l].end);
    double wanted = all > 0 ? sum / all : items_[row[k]].x;
    blocks.push_back({wanted - offset[k], std::max(all, 1.0), 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean > blocks.back().mean) {
      Block b = blocks.back();
      blocks.pop_back();
      Block& a = blocks.back();
      double both = a.weight + b.weight;
      a = {(a.mean * a.weight + b.mean * b.weight) / both, both, a.count + b.count};
    }
  }
  size_t k = 0;
  for (const Block& b : blocks)
    for (size_t j = 0; j < b.count; ++j, ++k) items_[row[k]].x = b.mean + offset[k];
}

/// Layers below each other.
void Layout::stack() {
  double y = kMargin;
  for (const auto& row : layers_) {
    double tallest = 0;
    for (size_t item : row) tallest = std::max(tallest, items_[item].height);
    for (size_t item : row) {
      if (items_[item].passes) items_[item].height = tallest;
      items_[item].y = y + (tallest - items_[item].height) / 2;
    }
    y += tallest + options_.layers;
  }
  height_ = items_.empty() ? 0 : y - options_.layers + kMargin;
}

void Layout::place() {
  constexpr int kSweeps = 9;  // the last one goes down: straight lines start at the top
  stack();
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (size_t k = 0; k < layers_.size(); ++k)
      if (sweep % 2 == 0)
        align(k, true);
      else
        align(layers_.size() - 1 - k, false);
  double left = HUGE_VAL, right = -HUGE_VAL;
  for (const Item& i : items_) {
    left = std::min(left, i.x - i.width / 2);
    right = std::max(right, i.x + i.width / 2);
  }
  for (Item& i : items_) i.x += kMargin - left;
  width_ = items_.empty() ? 0 : right - left + 2 * kMargin;
}

double Layout::start_x(size_t edge) const { return items_[links_[paths_[edge][0]].upper].x; }
double Layout::start_y(size_t edge) const {
  const Item& from = items_[links_[paths_[edge][0]].upper];
  return from.y + from.height;
}

std::string Layout::line(size_t edge) const {
  const auto& path = paths_[edge];
  std::string curve = "M" + pixels(start_x(edge)) + " " + pixels(start_y(edge));
  for (size_t k = 0; k < path.size(); ++k) {
    const Link& link = links_[path[k]];
    const Item &a = items_[link.upper], &b = items_[link.lower];
    const bool last = k + 1 == path.size();
    const double x = a.x, y = a.y + a.height, to = b.x + link.end;
    const double end = b.y - (last ? kHead : 0), middle = (y + end) / 2;
    if (std::lround(x) == std::lround(to)) {  // a line down is one step, through all its layers
      if (last) curve += "V" + pixels(end);
      continue;
    }
    if (k > 0) curve += "V" + pixels(y);
    curve += fmt::format("C{} {} {} {} {} {}", pixels(x), pixels(middle), pixels(to),
                         pixels(middle), pixels(to), pixels(end));
  }
  return curve;
}

std::string Layout::head(size_t edge) const {
  const Link& link = links_[paths_[edge].back()];
  return fmt::format("M{} {}l-3-7h6z", pixels(items_[link.lower].x + link.end),
                     pixels(items_[link.lower].y));
}

}  // namespace regraft::cli
