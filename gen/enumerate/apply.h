#pragma once
// Applies every instance to the classes known so far, for one size of terms.
#include "gen/enumerate/enumerate.h"

namespace regraft::gen {

/// The values of classes on the witness inputs, for the levels that are kept.
struct Store {
  Channels channels = Channels::Plain;
  std::vector<uint64_t> v, w;
  std::vector<double> r;
  std::vector<size_t> begin;  ///< of each class that is kept, in the arrays above; ids from 0
  bool keeps(ClassId c) const { return c < begin.size(); }
  /// Room for `elements` more; the class becomes the next one kept.
  void add(size_t elements);
  View view(ClassId c, size_t elements) const;
};

/// An application and the key of its value.
struct Found {
  uint64_t key = 0;
  Application application;
  auto operator<=>(const Found&) const = default;
};
/// One of an instance with more than two operands; `rest` are those from the second.
struct FoundWide {
  uint64_t key = 0;
  int instance = 0, output = 0;
  ClassId a = 0;
  std::array<ClassId, kMaxArity - 1> rest{};
};

/// What one worker found, by the upper bits of the key.
struct Sink {
  static constexpr size_t kShards = 256;
  std::array<std::vector<Found>, kShards> shards;
  std::vector<FoundWide> wide;
  uint64_t evaluations = 0, entries = 0;
  void put(uint64_t key, Application a) {
    ++entries;
    shards[key >> 56].push_back({key, a});
  }
  uint64_t bytes() const { return entries * sizeof(Found) + wide.size() * sizeof(FoundWide); }
};

/// Where classes are found by level and shape, and by the calls that they need.
class ClassIndex {
 public:
  /// For terms of one more call than `limit`.
  ClassIndex(const ValueGraph& graph, int limit);
  /// Shapes of the classes of a level, with the classes, in order.
  const std::map<ShapeId, std::vector<ClassId>>& of_level(int level) const {
    return by_level_[static_cast<size_t>(level)];
  }
  /// Candidates for operands that need some call that c needs; sorted.
  std::vector<ClassId> sharing(const ValueGraph& graph, ClassId c) const;

 private:
  int limit_;
  std::vector<std::map<ShapeId, std::vector<ClassId>>> by_level_;
  std::unordered_map<uint64_t, std::vector<std::pair<ClassId, uint32_t>>> by_subset_;
};

/// Applies instances for one level. One for each thread.
class Worker {
 public:
  Worker(const ValueGraph& graph, const Store& store, const ClassIndex& index, int level,
         uint64_t seed, Sink& out);
  /// Applications without operands.
  void nullary();
  /// Applications that class c is responsible for; over all classes each is made at least once.
  void from(ClassId c);
  /// Fills `out` with the value of an application; false when it is undefined.
  bool value(Application a, Values& out);

 private:
  struct Move {
    const ShapedOp* plan = nullptr;
    size_t output = 0, slot = 0;
    ClassId partner = kNoClass;
    uint64_t leaves = 0;
    std::vector<uint64_t> functional;  ///< empty: evaluate
  };
  using PlanList = std::vector<const ShapedOp*>;

  const ShapeInfo& info(ShapeId shape);
  const PlanList& plans(std::initializer_list<ShapeId> shapes);
  View view(ClassId c, Values& buffer);
  bool admissible(uint64_t leaves) const;
  bool usable(const ShapedOp& plan) const;
  /// The classes that an instance's operand may be; without operands when it may be any.
  struct Place {
    ClassId first = 0, last = kNoClass;
  };
  void find_places();
  bool may_be(size_t instance, size_t operand, ClassId c) const {
    const auto& places = places_[instance];
    return places.empty() || (c >= places[operand].first && c < places[operand].last);
  }
  /// The instance may be applied to these: kinds of operands, Scope::Once.
  bool in_scope(const ShapedOp& plan, const Operands& operands) const;
  /// The same call with commuted operands is made elsewhere.
  bool is_mirrored(const ShapedOp& plan, ClassId a, ClassId b);
  const std::vector<Move>& moves(ShapeId shape);
  void add_moves(std::vector<Move>& list, const PlanList& plans, size_t slot, ClassId partner);
  void lone(ClassId c);
  void disjoint(ClassId fixed, int level);
  void disjoint_shape(ClassId fixed, ShapeId shape, const std::vector<ClassId>& others);
  void apply_fixed(const ShapedOp& plan, ClassId fixed, size_t slot,
                   const std::vector<ClassId>& others);
  void sharing(ClassId c);
  /// Both operands are c.
  void twice(ClassId c);
  void pair(ClassId a, ClassId b);
  void wide(ClassId c);
  void extend(int instance, const Operands& operands);
  bool may_repeat(int instance, const Operands& operands, ClassId c) const;
  void extend_by(int instance, Operands operands, ClassId c);
  /// Evaluates and puts all outputs.
  void apply(const ShapedOp& plan, const Operands& operands);
  bool evaluate(const ShapedOp& plan, size_t output, std::span<const View> operands, Values& out);

  const ValueGraph& graph_;
  const Store& store_;
  const ClassIndex& index_;
  int level_, limit_, allowed_gaps_;
  size_t max_arity_ = 0;
  std::vector<std::vector<Place>> places_;  ///< of each instance; empty: anything
  Field algebra_;
  Sink& out_;
  Kernel::Scratch scratch_;
  Values inner_, result_, owner_buffer_, buffers_[kMaxArity];
  ClassId owner_ = kNoClass;  ///< whose value is in owner_buffer_
  std::unordered_map<uint64_t, const PlanList*> plan_cache_;
  std::vector<const ShapeInfo*> infos_;
  std::vector<std::unique_ptr<std::vector<Move>>> moves_;
};

}  // namespace regraft::gen
