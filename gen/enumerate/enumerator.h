#pragma once
// How an enumeration is made, level by level; the last level in one process or in parts.
#include "base/process/task.h"
#include "base/rng.h"
#include "gen/enumerate/apply.h"

namespace regraft::gen {

/// Applications of one value, in `applications[begin .. end)`.
struct Bucket {
  ClassId known = kNoClass;
  uint64_t key = 0;
  size_t begin = 0, end = 0;
};
/// The buckets of the keys with the same upper bits.
struct Shard {
  std::vector<Application> applications;
  std::vector<Bucket> buckets;
};

/// Builds a ValueGraph level by level.
class Enumerator {
 public:
  Enumerator(ShapedOps& plans, const EnumerateOptions& options, Bank& bank, const Stop& stop)
      : options_(options), bank_(bank), stop_(stop), plans_(plans) {
    result_.graph = std::make_unique<ValueGraph>(plans, options.max_size, options.seed);
    graph_ = result_.graph.get();
  }
  Result<Enumeration> run();

  // Parts of the last level, for others. All but the first need run_below_last().

  /// All levels but the last.
  Status run_below_last();
  /// What every `of`-th class from number `share` on gives: sorted runs, an object for each
  /// partition of the keys.
  Result<std::string> share(size_t number, size_t of, const Objects& objects);
  /// The groups of a partition, of all its runs.
  Result<std::string> merge(size_t partition, const std::vector<std::string>& runs,
                            const Objects& objects);
  /// The tuples of operands that occur at the last level only.
  Status set_last_tuples(std::string_view bytes);
  ValueGraph& graph() { return *graph_; }

 private:
  size_t elements(ShapeId shape) const { return plans_.info(shape).weights.size(); }
  Status add_leaves();
  void add_leaf(const LeafKind& kind, size_t kind_index, int number, int bit);
  Status add_free();
  std::optional<ClassId> add_free_class(int instance, const Operands& operands);
  void run_level(int level, Progress& progress);
  Status run_last_by_others();
  Status merge_by_others(std::vector<std::vector<std::string>> runs);
  Status take_groups(std::string_view merged);
  void make_rooted(size_t at, size_t n, Role role);
  void make_truths(size_t at, size_t n);
  void make_ties(size_t at, size_t n, size_t number);
  void round(size_t at, size_t n);
  void meet_bounds(size_t at, size_t n);
  std::vector<Sink> apply_level(int level, Progress& progress);
  void place_wide(std::vector<Sink>& sinks);
  std::vector<Shard> sort_shards(std::vector<Sink>& sinks);
  Shard to_shard(std::vector<Found> found) const;
  void keep_level(int level, std::vector<Shard> shards);
  void keep_groups(std::vector<Shard> shards);
  void add_classes(int level, std::vector<Shard>& shards);
  void add_tokens(const std::vector<Shard>& shards);
  void add_supports(ClassId first, const std::vector<Shard>& shards,
                    const std::vector<std::pair<uint32_t, uint32_t>>& fresh);
  std::vector<Support> supports_of(std::span<const Application> applications, ClassId c) const;
  void store_values(ClassId first);
  void index_nodes();

  EnumerateOptions options_;
  Bank& bank_;
  const Stop& stop_;
  ShapedOps& plans_;
  ValueGraph* graph_ = nullptr;
  Store store_;
  Enumeration result_;
  std::unique_ptr<ClassIndex> index_;  ///< for the last level
  size_t first_tuple_ = 0;             ///< of those of the last level
};

}  // namespace regraft::gen
