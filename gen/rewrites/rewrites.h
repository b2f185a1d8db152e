#pragma once
// Rules applied to applications of a ValueGraph: what one step at the top makes of them.
#include <atomic>
#include <deque>
#include <mutex>
#include <set>

#include "base/function_ref.h"
#include "gen/enumerate/values.h"
#include "gen/rewrites/rule_code.h"

namespace regraft::gen {

/// How a rule met an application.
enum class MatchKind : uint8_t {
  Renaming,  ///< every variable stands for a different variable of its kind
  Instance,  ///< some variable stands for a call, or two for the same
};

/// What a rule gives: an application, and its class when that is stored.
struct Rewritten {
  ClassId known = kNoClass;
  Application application;  ///< no bits when it is a variable of the rule
  MatchKind match = MatchKind::Renaming;
};

/// Rules read from left to right, and from right to left where the right side binds everything;
/// indexed by operator. `at` is thread-safe while no rule is added.
class Rewrites {
 public:
  explicit Rewrites(const ValueGraph& graph);
  /// Rules of several outputs are left out. At other ranks than those where the rule was found, or
  /// with extents of 1 elsewhere, it is used where it holds at random shapes like these.
  void add(const Rule& rule, const std::vector<Signature>& found);
  size_t size() const { return rules_.size(); }
  /// What add() was given, in order.
  struct Added {
    std::shared_ptr<const Rule> rule;
    std::vector<Signature> found;
  };
  const std::vector<Added>& added() const { return added_; }
  /// The number of a rule in added(), and shapes at which it met an application.
  using Places = std::set<std::pair<size_t, Signature>>;
  /// Where rules meet applications is told from now on, by one thread; nullptr: no longer.
  void tell(Places* places) { places_ = places; }

  /// Calls `visit` for each way to rewrite `a` with rules `first` and on until it returns true.
  /// What stands below its root, and below that of what it is rewritten into, has fewer than `size`
  /// calls: equalities of so many are known when terms of `size` calls are to be explained.
  void at(Application a, size_t first, int size, FunctionRef<bool(const Rewritten&)> visit) const;

 private:
  friend class RewriteMatcher;
  static constexpr uint32_t kNoWord = ~uint32_t{0};
  using OperandOps = std::array<uint64_t, kMaxArity>;  ///< for each operand bits of operators
  /// At which ranks and extents of 1 a rule holds. Thread-safe.
  struct KnownShapes {
    struct LookedUp {
      uint64_t words;  ///< their hash
      bool holds;
      const LookedUp* next;
    };
    std::atomic<const LookedUp*> first = nullptr;  ///< read without the mutex
    std::mutex mutex;
    std::deque<LookedUp> looked_up;
    std::map<Signature, bool> holds;
    const bool* find(uint64_t words) const;
  };
  struct Directed {
    std::shared_ptr<const Rule> rule;
    std::shared_ptr<const RuleCode> code;
    const Pattern* from = nullptr;
    const Pattern* to = nullptr;
    OperandOps wanted{};                      ///< of the root
    std::vector<uint64_t> from_ops;           ///< of each node of `from` the operator's bit
    std::vector<std::vector<int>> instances;  ///< that nodes of the other side may be
    std::shared_ptr<KnownShapes> shapes;
    size_t number = 0;  ///< in added_
  };
  /// Rules that wish the same of a root's operands, in order.
  struct Bucket {
    OperandOps wanted{};
    std::vector<size_t> rules;
  };
  /// An operator's bit; some share one.
  static uint64_t bit_of(const OpDef* op) { return uint64_t{1} << mix(hash_text(op->name)) % 64; }
  OperandOps operand_ops(Application a) const;
  void add_directed(Directed d);
  void add_word(ShapeId shape, std::map<std::string, uint32_t>& words);
  bool may_be(const PatternNode& node, const Label& label) const;
  std::vector<int> instances_of(const PatternNode& node) const;
  /// REQUIRES: all variables are bound.
  bool holds_at(const Directed& rule, const std::vector<ClassId>& variables) const;
  Signature signature(const std::vector<ClassId>& variables) const {
    Signature r;
    for (ClassId c : variables) r.push_back(word_list_[words_[graph_.shape(c)]]);
    return r;
  }
  const ValueGraph& graph_;
  std::vector<uint64_t> instance_ops_;  ///< the operator of the root
  std::vector<uint64_t> class_ops_;     ///< those that compute the class
  std::vector<Directed> rules_;
  std::vector<Added> added_;
  Places* places_ = nullptr;
  std::vector<std::vector<Bucket>> by_root_;  ///< by the instance of the root
  std::vector<std::string> word_list_;        ///< ranks and extents of 1: "n1n"
  std::vector<uint32_t> words_;               ///< of each shape, in word_list_
};

}  // namespace regraft::gen
