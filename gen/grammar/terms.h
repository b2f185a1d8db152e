#pragma once
// Terms over labels and leaves, hash-consed, with their values on the witness inputs.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "gen/grammar/op_sets.h"
#include "ir/graph/eval.h"

namespace regraft::gen {

using TermId = int32_t;

/// A leaf (a variable with a witness shape), or one output of an operator call.
struct TermNode {
  int label = -1;  ///< index of the label; -1: a leaf
  int output = 0;
  int call = -1;  ///< the same for all outputs of one call; -1 for a leaf
  std::vector<TermId> operands;
  std::vector<int64_t> shape;  ///< of a leaf
  bool is_leaf() const { return label < 0; }
};

/// Two terms that have the same value.
struct Pair {
  TermId lhs = -1, rhs = -1;
  auto operator<=>(const Pair&) const = default;
};

/// How many random points a fingerprint has: each decides all comparisons once.
constexpr int kPoints = 8;

/// What the order channels of a tensor's elements are.
enum class Signs : uint8_t { Mixed, Plus, Minus };
/// x with squares in the moduli, negated where x is negative: what is positive is a square and
/// nothing else is, as among the reals. So the root of a square is the absolute value.
Residue rooted(Residue x);
/// Appends random elements, rooted.
void append_random(Rng& rng, Signs signs, size_t count, std::vector<Residue>& to);

/// Output `output` of a call at each point. `operands` and `values` hold kPoints tensors of the
/// same shape, one after another; the operands' views show the first. False when it is not
/// well-formed, or elements have no value at nearly all points.
bool evaluate_points(Field& algebra, const Label& label, Tensors<Field> operands,
                     std::span<const int64_t> shape, int output, std::span<Residue> values);

/// Owner of terms: equal ids mean equal terms. Operands of commutative operators are sorted.
/// Not thread-safe.
class Bank {
 public:
  explicit Bank(uint64_t seed, Compare compare = Compare::Residues)
      : seed_(seed), compare_(compare), algebra_(mix(seed)) {}
  Compare compare() const { return compare_; }
  /// The number of a label; equal labels have one number.
  int add_label(const Label& label);
  const Label& label(int id) const { return labels_[static_cast<size_t>(id)]; }
  /// Leaf number `number` of that shape.
  TermId leaf(const std::vector<int64_t>& shape, int number, Role role = Role::Data);
  /// Tensors with these extents from axis 2 on are kernels.
  void add_kernel_extents(std::vector<int64_t> extents) { kernels_.insert(std::move(extents)); }
  bool is_kernel(TermId leaf) const;
  TermId call(int label, std::vector<TermId> operands, int output = 0);
  const TermNode& node(TermId t) const { return nodes_[static_cast<size_t>(t)]; }

  /// The value on the witness inputs: its shape, and its elements at each of kPoints points, one
  /// point after another. nullptr when some call of the term is not well-formed, or has values at
  /// hardly any point.
  const Array<Residue>* value(TermId t);
  /// At the points where both have values, which are some.
  bool same_value(TermId a, TermId b);

  /// Number of calls.
  size_t size(TermId t) const;
  std::set<TermId> leaves(TermId t) const;
  /// A rule may be read from lhs to rhs: lhs is a call and has all leaves of rhs.
  bool binds(TermId lhs, TermId rhs) const;
  /// All sub-terms, t itself included.
  std::set<TermId> subterms(TermId t) const;
  /// t with sub-terms replaced.
  TermId replace(TermId t, const std::map<TermId, TermId>& by);
  /// Hash that does not see which leaf is which.
  uint64_t blind_hash(TermId t) const;

 private:
  std::optional<Array<Residue>> computed(TermId t);
  void round(std::vector<Residue>& values) const;
  uint64_t seed_;
  Compare compare_;
  Field algebra_;
  std::vector<Label> labels_;
  std::set<std::vector<int64_t>> kernels_;
  std::map<std::string, int> label_ids_;
  std::vector<TermNode> nodes_;
  std::map<std::vector<int64_t>, TermId> ids_;
  std::map<std::vector<int64_t>, int> calls_;
  std::vector<uint64_t> blind_;
  std::unordered_map<TermId, std::optional<Array<Residue>>> values_;
};

/// A number for each: equal exactly for pairs that are equal up to names of leaves, the order of
/// commuted operands and of the two sides. Extents of leaves do not count, ranks do.
std::vector<int64_t> renaming_key(const Bank& bank, Pair p);
/// The same without exchanging the sides.
std::vector<int64_t> directed_key(const Bank& bank, TermId lhs, TermId rhs);

}  // namespace regraft::gen
