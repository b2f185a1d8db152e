#pragma once
// What is tried in place of a pair's witness sizes and numbers, and whether it holds.
#include "gen/generalise/side.h"
#include "gen/generalise/space.h"
#include "gen/generalise/term_template.h"

namespace regraft::gen {

/// A size of a leaf or an attribute number of the left side.
struct PairSymbol {
  Var var = nullptr;
  TermId leaf = -1;  ///< of a size
  int axis = 0;
  int number = -1;  ///< position in left().numbers of a number
  int64_t witness = 0;
  bool fixed = false;  ///< a number 1 that decides what is broadcast
  bool is_size() const { return number < 0; }
};

/// A claim: where the sizes and numbers of the left side are these, both sides are equal.
/// Polynomials over the variables of the symbols.
struct Hypothesis {
  std::vector<Poly> left;   ///< each symbol: itself (open), a number, or by other symbols
  std::vector<Poly> right;  ///< each number of the right side
};

/// Which axes a sample may have.
enum class Axes : uint8_t {
  Any,
  Long,  ///< longer than 1 wherever the witness is
};

/// A well-formed left side.
struct Sample {
  Point point;
  ShapeList shapes;  ///< of the leaves
  std::vector<int64_t> shape;
  std::shared_ptr<SideValues> values;   ///< nullptr until they are needed
  std::optional<Array<Residue>> value;  ///< of the left side
  uint64_t key = 0;
};

/// A pair with all its numbers open. Not thread-safe; any number of them may use one Bank.
class HypothesisTester {
 public:
  /// nullopt when the left side has no symbolic form at which the witness is well-formed.
  static std::optional<HypothesisTester> make(const Bank& bank, TermId lhs, TermId rhs,
                                              uint64_t seed);
  /// From now on a sample at which the right side is not well-formed says nothing.
  void leave_out_ill_formed() { leaves_out_ = true; }
  bool leaves_out() const { return leaves_out_; }
  const Side& left() const { return left_; }
  const Side& right() const { return right_; }
  const std::vector<TermId>& leaves() const { return leaves_; }
  const std::vector<PairSymbol>& symbols() const { return symbols_; }
  /// With a letter 1 where the witness broadcasts.
  const Signature& signature() const { return signature_; }
  const Point& witness() const { return witness_; }
  int size_symbol(size_t leaf, size_t axis) const;  ///< -1: an extent of 1 that is broadcast
  int index_of(Var v) const { return index_[v->id]; }
  int number_symbol(int number) const { return first_number_ + number; }

  /// The points where the left side is well-formed and as `h` says.
  Space space(const Hypothesis& h) const;
  /// The numbers that h's left side determines by sizes alone.
  Substitution by_sizes(const Hypothesis& h) const;
  /// Up to `count` samples; in the first ones a symbol of `moving` differs from the witness. None
  /// when that is not found.
  std::vector<Sample> samples(const Space& space, const std::vector<int>& moving, int count);
  /// Some well-formed left side, long along every axis on which the witness is, differs from it in
  /// these symbols, extents and what they determine, and in no other number.
  bool move_alone(const Space& space, const std::vector<int>& symbols);
  /// h without variables that can only be what they are at the witness, on long axes at least: the
  /// begin of a slice of a whole axis, and its step.
  Hypothesis closed(Hypothesis h, Axes axes);
  /// Up to `count` samples near the witness, long along every axis on which the witness is, in all
  /// of which two symbols of a pair differ.
  std::vector<Sample> samples_apart(const Space& space,
                                    const std::vector<std::pair<int, int>>& pairs, int count);
  /// Both sides are equal there, or too large to tell.
  bool agrees(const Hypothesis& h, Sample& s) const;
  /// A sample at which h is false: one of `samples`, one of their neighbours, or one that refuted
  /// an earlier hypothesis. REQUIRES: space is space(h).
  std::optional<Sample> refuting(const Hypothesis& h, const Space& space,
                                 std::vector<Sample>& samples);
  /// Keeps a sample for later hypotheses.
  void remember(Sample s) { remembered_.push_back(std::move(s)); }
  int64_t value(const Poly& p, const Point& at) const;
  /// Combines two or more attribute variables.
  bool is_composed(const Poly& p) const;

 private:
  HypothesisTester() = default;
  bool choose_signature(const Bank& bank, TermId lhs);
  bool instantiate_left(const Bank& bank, const TemplatePair& open, const Signature& signature);
  std::optional<Sample> sample_at(Point p);
  bool can_move(const Space& space, int symbol, Axes axes);
  bool has_moved(const Point& p, const std::vector<int>& symbols) const;
  bool is_rich(const Sample& s) const;
  bool same_shape(const Hypothesis& h, const Sample& s) const;
  Substitution given(const Hypothesis& h) const;
  std::vector<int64_t> right_numbers(const Hypothesis& h, const Sample& s) const;

  Side left_, right_;
  std::vector<TermId> leaves_;
  std::shared_ptr<RuleInstance> instance_;
  std::vector<PairSymbol> symbols_;
  std::vector<SpaceSymbol> space_symbols_;
  std::vector<int> index_;  // by id of the symbol
  int first_number_ = 0;
  Signature signature_;
  Point witness_;
  ShapeList witness_shapes_;            ///< of the leaves
  std::vector<int64_t> witness_shape_;  ///< of the result
  std::vector<Sample> remembered_;
  bool leaves_out_ = false;
  Compare compare_ = Compare::Residues;
  int64_t most_elements_ = 0;  ///< of a leaf, a value of the left side or its result
  Rng rng_{0};
};

}  // namespace regraft::gen
