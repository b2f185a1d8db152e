#pragma once
// Where the boxes of a graph lie, in layers from top to bottom, and how its edges run. Layers as of
// Sugiyama, Tagawa and Toda 1981; crossings are reduced by the means of neighbours' places.
#include <cstdint>
#include <string>
#include <vector>

namespace regraft::cli {

/// Pixels.
struct BoxSize {
  double width = 0, height = 0;
};
/// From a box to another.
struct BoxEdge {
  size_t from = 0, to = 0;
};

struct LayoutOptions {
  double apart = 14;    ///< pixels between boxes of a layer
  double layers = 30;   ///< pixels between layers
  double passing = 10;  ///< width of an edge that passes a layer
  /// Layers that an edge may pass. A longer one is not drawn through: it starts at a stub, a box of
  /// its own in the layer above where it ends.
  size_t longest = SIZE_MAX;
  BoxSize stub = {};
};

/// Edges enter a box side by side, from left to right in their order.
class Layout {
 public:
  /// REQUIRES: no cycle. Deterministic; some thousand boxes take less than a second.
  Layout(const std::vector<BoxSize>& boxes, std::vector<BoxEdge> edges,
         const LayoutOptions& options = {});

  /// A box, a stub, or a place where an edge passes a layer.
  struct Item {
    double width = 0, height = 0, x = 0, y = 0;  ///< x: of its middle, y: of its top
    size_t layer = 0;
    bool passes = false;
  };
  /// An edge with a stub.
  struct Stub {
    size_t edge, item;
  };
  const Item& box(size_t k) const { return items_[k]; }
  const Item& item(size_t k) const { return items_[k]; }
  const std::vector<Stub>& stubs() const { return stubs_; }
  double width() const { return width_; }
  double height() const { return height_; }

  /// Of the k-th edge, as text of SVG paths: its line, and the head where it ends.
  std::string line(size_t edge) const;
  std::string head(size_t edge) const;
  /// Where the line starts.
  double start_x(size_t edge) const;
  double start_y(size_t edge) const;

 private:
  /// Two items of neighbouring layers that an edge joins; `end` is where it enters, from the lower
  /// one's middle.
  struct Link {
    size_t upper, lower;
    double end = 0;
  };
  std::vector<size_t> readers_first() const;
  std::vector<size_t> depths() const;
  void connect(const std::vector<size_t>& depth);
  size_t start_of(size_t edge, const std::vector<size_t>& depth, size_t& layer);
  void number_operands();
  void order();
  void number_places();
  uint64_t crossings() const;
  void sort_layer(size_t layer, bool by_upper);
  void place();
  void stack();
  void align(size_t layer, bool by_upper);
  double weight(const Link& link) const;

  const std::vector<BoxEdge> edges_;
  const LayoutOptions options_;
  std::vector<Item> items_;                 ///< those of the boxes first
  std::vector<std::vector<size_t>> paths_;  ///< of each edge: the links that it consists of
  std::vector<Link> links_;
  std::vector<Stub> stubs_;
  std::vector<std::vector<size_t>> layers_;     ///< items from left to right
  std::vector<size_t> places_;                  ///< of each item, in its layer
  std::vector<std::vector<size_t>> up_, down_;  ///< of each item: links
  double width_ = 0, height_ = 0;
};

/// A number of pixels, as text.
std::string pixels(double x);

}  // namespace regraft::cli
