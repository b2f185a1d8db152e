#pragma once
// Search in a part of a graph.
#include "base/parallel.h"
#include "rewrite/search/paths.h"

namespace regraft::rewrite {

/// The nodes near some place, and what moves make of them. Not thread-safe.
class Region {
 public:
  explicit Region(const Engine& engine) : engine_(engine) {}
  /// The nodes within `radius` edges of `centre`, either way, leaving out constants and inputs and
  /// not going past nodes with more than kMaxUses uses; at most kMaxNodes of them.
  void grow(int32_t centre, int radius);
  /// These nodes.
  void take(std::span<const int32_t> ids);
  /// All nodes of the match are in the region, or new since it was grown.
  bool contains(const Match& m) const;
  /// Nodes of the region that are there now, new ones too, operands first.
  const std::vector<int32_t>& nodes();
  /// Of what the region computes, from what is outside.
  uint64_t identity();
  /// Equal for regions that are alike wherever they lie: same calls in the same order, read as
  /// often, of outside values of the same types.
  uint64_t likeness();
  /// Of a match whose nodes are near: the same with its rule, and where in the region it is.
  uint64_t likeness(const Match& m);
  /// The values that it reads, in an order that is the same in regions that are alike.
  const std::vector<Value>& outside() const {
    return outside_;
  }  ///< REQUIRES: likeness() came last

  static constexpr int32_t kMaxUses = 8;
  static constexpr size_t kMaxNodes = 64;

 private:
  bool inside(int32_t id) const {
    return id >= first_new_ ||
           (static_cast<size_t>(id) < stamps_.size() && stamps_[static_cast<size_t>(id)] == stamp_);
  }
  void clear();
  void add(int32_t id);
  uint64_t outside(Value v);

  const Engine& engine_;
  std::vector<int32_t> original_, present_, stamps_;
  std::vector<uint64_t> hashes_;  // by id, those of `present_` only
  std::vector<Value> outside_;
  int32_t stamp_ = 0, first_new_ = 0;
};

struct WindowLimits {
  int expansions = 1;
  uint64_t candidates = 0;  ///< successors to look at
  double calls = 0;         ///< that the engine's graph may have
};

struct WindowReport {
  bool pays = false;
  uint64_t looked = 0;    ///< successors whose cost was looked at
  uint64_t expanded = 0;  ///< graphs
  size_t peak_queue = 0;
};

/// Expands the cheapest of the graphs that moves inside the region lead to, and leaves the engine
/// at the cheapest graph found if it costs less than the present one (it pays), else where it was.
WindowReport search_window(Engine& engine, Region& region, const WindowLimits& limits,
                           const Stop& stop);

}  // namespace regraft::rewrite
