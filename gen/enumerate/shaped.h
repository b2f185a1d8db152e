#pragma once
// What operator instances do at operand shapes, worked out once for each combination.
#include <deque>
#include <map>
#include <mutex>

#include "gen/enumerate/kernel.h"

namespace regraft::gen {

using Dims = std::vector<int64_t>;
int64_t count_of(const Dims& dims);  ///< elements
using ShapeId = uint32_t;

/// An instance at operand shapes.
struct ShapedOp {
  int instance = -1;
  std::vector<ShapeId> outputs;
  std::vector<std::unique_ptr<const Kernel>> kernels;  ///< of each output
  std::vector<std::unique_ptr<const Kernel>> then;     ///< what follows at no cost; or empty
  std::vector<std::vector<char>> linear;               ///< [output][slot]: a functional exists
};

/// A shape with its element type, the random weights that make a tensor of it a key (for each trial
/// and element), and what distinguishes it from others with the same sum. So truth values never
/// pass for the numbers 1 and 0.
struct ShapeInfo {
  Dims dims;
  DType type = DType::F32;  ///< F32 stands for any real type
  std::vector<uint64_t> weights;
  uint64_t salt = 0;
  uint64_t key(uint64_t sum) const { return mix(sum ^ salt); }
};

/// Shapes, the random weights that make a tensor a key, and plans. Thread-safe; what it returns
/// stays.
class ShapedOps {
 public:
  /// `trials`: how many there are at least; a grammar that compares values has more.
  ShapedOps(const Grammar& grammar, int trials, uint64_t seed);
  /// An Error names the instance and the attribute that is wrong.
  Status load();

  const Grammar& grammar() const { return grammar_; }
  int trials() const { return trials_; }
  const Label& label(size_t instance) const { return labels_[instance]; }
  /// What follows the instance at no cost; nullptr: nothing.
  const Label* then(size_t instance) const {
    return then_[instance].op ? &then_[instance] : nullptr;
  }
  /// The operator that computes the instance's output.
  const OpDef* root(size_t instance) const {
    return then(instance) ? then(instance)->op : label(instance).op;
  }

  /// The instance of the same call followed by `then` (nullptr: by nothing); -1 when there is none.
  int sibling(int instance, const OpDef* then) const;
  /// True when the instance reads exponents: exp, sigmoid or tanh somewhere in its formula.
  bool has_exponentials(size_t instance) const;
  /// True when an instance compares values.
  bool compares() const;
  /// True when an instance makes truth values of numbers.
  bool tells_apart() const;
  /// Magnitudes of the numbers that instances may compare values with: their real attributes.
  std::vector<double> bounds() const;

  ShapeId shape(const Dims& dims, DType type = DType::F32);
  const ShapeInfo& info(ShapeId shape) const;

  /// Instances that are complete with operands of these shapes and well-formed.
  const std::vector<const ShapedOp*>& complete(std::span<const ShapeId> shapes);
  /// Instances of more operands whose first operands may have these shapes.
  const std::vector<int>& partial(std::span<const ShapeId> shapes);

 private:
  struct Entry {
    std::vector<const ShapedOp*> complete;
    std::vector<int> partial;
  };
  const Entry& entry(std::span<const ShapeId> shapes);
  Entry make_entry(std::span<const ShapeId> shapes);
  const ShapedOp* make_plan(int instance, std::span<const ShapeId> operands);
  ShapeId shape_locked(const Dims& dims, DType type);

  const Grammar& grammar_;
  int trials_;
  uint64_t seed_;
  std::vector<Label> labels_, then_;
  /// Of each instance those of the same call, with what follows.
  std::vector<std::vector<std::pair<const OpDef*, int>>> siblings_;
  mutable std::mutex mutex_;
  Field algebra_;  ///< for shapes only
  std::deque<ShapeInfo> shapes_;
  std::map<std::pair<DType, Dims>, ShapeId> shape_ids_;
  std::deque<ShapedOp> plans_;
  std::map<std::vector<ShapeId>, Entry> entries_;
};

}  // namespace regraft::gen
