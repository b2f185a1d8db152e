#pragma once
// The result of an enumeration: classes of equal values and the applications that compute them.
#include <atomic>
#include <unordered_map>

#include "gen/enumerate/shaped.h"
#include "gen/enumerate/supports.h"
#include "gen/grammar/terms.h"

namespace regraft::gen {

using ClassId = uint32_t;
constexpr ClassId kNoClass = (1u << 26) - 1;
constexpr int kMaxArity = 5;

constexpr Token kCallToken = 1u << 31;  ///< tokens from here on are not classes

/// One output of an instance applied to classes, in 64 bits. The order of `bits` is the order in
/// which applications are preferred as the first term of a class.
struct Application {
  uint64_t bits = 0;
  static Application of(int instance, int output, ClassId a, ClassId b) {
    auto call = static_cast<uint64_t>(instance + 1) * 4 + static_cast<uint64_t>(output);
    return {call << 52 | static_cast<uint64_t>(a) << 26 | b};
  }
  int instance() const { return static_cast<int>(bits >> 54) - 1; }
  int output() const { return static_cast<int>(bits >> 52 & 3); }
  ClassId a() const { return static_cast<ClassId>(bits >> 26) & kNoClass; }
  /// The second operand, or with more than two the number of the tuple of operands from the second.
  ClassId b() const { return static_cast<ClassId>(bits) & kNoClass; }
  auto operator<=>(const Application&) const = default;
};
constexpr size_t kMaxInstances = 1000;
constexpr int kMaxOutputs = 4;

/// Operand classes, up to kMaxArity.
struct Operands {
  std::array<ClassId, kMaxArity> ids{};
  size_t count = 0;
  const ClassId* begin() const { return ids.data(); }
  const ClassId* end() const { return ids.data() + count; }
  void push_back(ClassId c) { ids[count++] = c; }
};

/// Applications that have one value, at least one more than the first known.
struct Group {
  ClassId known = kNoClass;               ///< class of a smaller size, or kNoClass
  std::vector<Application> applications;  ///< of the largest size; sorted
};

/// Classes in order of level; within a level in the order of their first application. Level 0:
/// leaves, then constants that cost nothing.
class ValueGraph {
 public:
  ValueGraph(ShapedOps& plans, int max_size, uint64_t seed);

  ShapedOps& plans() const { return plans_; }
  int max_size() const { return max_size_; }
  size_t size() const { return shapes_.size(); }
  size_t leaf_count() const { return leaf_count_; }
  bool is_leaf(ClassId c) const { return c < leaf_count_; }
  ShapeId shape(ClassId c) const { return shapes_[c]; }
  /// Extents, once the enumeration is done.
  const Dims& dims(ClassId c) const { return *dims_[shapes_[c]]; }
  /// The instance may be applied to operands of these shapes, as far as it says; likewise.
  bool fits(int instance, const Operands& operands) const;
  int level(ClassId c) const { return levels_[c]; }
  uint64_t leaves(ClassId c) const { return leaves_[c]; }  ///< of the first term; a bit for each
  uint64_t key(ClassId c) const { return keys_[c]; }
  Application first(ClassId c) const { return first_[c]; }  ///< REQUIRES: not a leaf
  SupportList supports(ClassId c) const { return supports_.of(c); }

  Operands operands(Application a) const;
  uint64_t leaves(Application a) const;
  /// The smallest union of the operands' supports.
  int operand_union(Application a) const;
  /// The application of `instance` (operands of commutative operators are put in order); nullopt
  /// when a tuple of operands was never applied.
  std::optional<Application> application(int instance, int output, const Operands& operands) const;
  /// The same call followed by `then` (nullptr: by nothing); nullopt when the grammar has none.
  std::optional<Application> sibling(Application a, const OpDef* then) const;
  /// Class of an application of a stored level.
  std::optional<ClassId> find(Application a) const;
  struct Below {
    bool stored = false;       ///< the application is of a stored level
    ClassId known = kNoClass;  ///< its class, where it has fewer than so many calls
  };
  Below find_below(Application a, int size) const;
  /// All applications of stored levels that compute c, the smallest first.
  std::span<const Application> nodes(ClassId c) const;
  /// Those of them that have fewer than `size` calls.
  std::span<const Application> nodes_below(ClassId c, int size) const;
  /// The classes that a call of several outputs computes. REQUIRES: token >= kCallToken.
  const std::vector<ClassId>& classes_of(Token token) const {
    return token_classes_[token - (1u << 31)];
  }
  /// Missing variables below used ones, over all kinds.
  int gaps(uint64_t leaves) const;
  bool without_gaps(uint64_t leaves) const { return ((leaves & ~first_bits_) >> 1 & ~leaves) == 0; }

  /// A term of class c with its calls in `within`; -1 when there is none. Not thread-safe.
  TermId extract(Bank& bank, ClassId c, const Support& within) const;
  TermId extract(Bank& bank, Application a) const;  ///< a smallest term
  TermId extract(Bank& bank, ClassId c) const;      ///< the first term

  std::vector<Group> groups;  ///< of the largest size, in the order of their first application
  uint64_t bytes() const;

 private:
  friend class Enumerator;
  TermId extract_within(Bank& bank, Application a, const Support& within) const;
  Token token_of(Application a, ClassId c) const;
  void index_applications();
  size_t slot_of(Application a) const { return mix(a.bits) & (slots_.size() - 1); }
  /// Position in by_application_; nullopt: of no stored level.
  std::optional<size_t> position_of(Application a) const;

  ShapedOps& plans_;
  int max_size_;
  uint64_t seed_;
  size_t leaf_count_ = 0;
  uint64_t first_bits_ = 0;  ///< the first variable of each kind
  std::vector<TermId> leaf_terms_;
  std::vector<ShapeId> shapes_;
  std::vector<const Dims*> dims_;  ///< by ShapeId
  /// By instance and the shapes of up to two operands: 0, not looked at; 1, no; 2, yes.
  mutable std::vector<std::atomic<uint8_t>> fits_;
  std::vector<uint8_t> levels_;
  std::vector<uint64_t> leaves_, keys_;
  std::vector<Application> first_;
  SupportTable supports_;
  std::vector<std::array<ClassId, kMaxArity - 1>> tuples_;  ///< sorted within a level
  std::map<std::array<ClassId, kMaxArity - 1>, ClassId> tuple_ids_;
  std::vector<std::pair<ClassId, Application>> nodes_;  ///< sorted once the enumeration is done
  std::vector<size_t> node_begin_;
  std::vector<Application> node_list_;
  std::vector<uint8_t> node_sizes_;  ///< of node_list_: calls of the smallest term; 0: it is free
  std::vector<std::pair<Application, ClassId>> by_application_;  ///< in the order of node_list_
  std::vector<uint32_t> slots_;  ///< of a hash table over by_application_; 1 + position, or 0
  std::unordered_map<uint64_t, Token> call_tokens_;  ///< of calls of several outputs, by output 0
  std::vector<std::vector<ClassId>> token_classes_;  ///< of those tokens
};

}  // namespace regraft::gen
