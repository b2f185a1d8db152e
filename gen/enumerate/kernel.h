#pragma once
// An operator's formula at given operand shapes, compiled once and evaluated many times.
#include <memory>
#include <span>
#include <vector>

#include "gen/grammar/op_sets.h"
#include "ir/algebra/trace.h"

namespace regraft::gen {

/// Which channels of Residue are computed: the exponents only where exp or the like occur.
enum class Channels : uint8_t { Plain, Exponents };

/// A tensor at several independent assignments ("trials") of the inputs; trial-major, row-major.
/// Does not own its elements.
struct View {
  std::span<const uint64_t> v, w;  ///< residues modulo p and q; w is empty where nothing needs it
  std::span<const double> r;       ///< order channel
};
/// The same, owning.
struct Values {
  std::vector<uint64_t> v, w;
  std::vector<double> r;
  View view() const { return {v, w, r}; }
  void resize(size_t elements, Channels channels) {
    v.resize(elements);
    r.resize(elements);
    w.resize(channels == Channels::Exponents ? elements : 0);
  }
};

/// One output of an operator. Thread-safe when const.
class Kernel {
 public:
  /// Compiles output `output`; nullptr when the formula is undefined at these shapes.
  static std::unique_ptr<const Kernel> compile(const Label& label,
                                               const std::vector<std::vector<int64_t>>& operands,
                                               const std::vector<int64_t>& shape, int output,
                                               Compare compare = Compare::Residues);

  /// Every output element is a sum of products of at most two operand elements.
  bool is_bilinear() const { return bilinear_; }
  /// It is_bilinear in residues, and no product has two elements of operand `slot`.
  bool is_linear_in(size_t slot) const;
  /// True when exp, sigmoid or tanh occur, which read the exponent channel.
  bool has_exponentials() const { return exponentials_; }
  /// The order of elements decides: a maximum, a choice, a bound.
  bool compares() const;
  /// Quotients or roots of elements: not defined for all inputs.
  bool is_partial() const { return partial_; }
  size_t elements() const { return outputs_.size(); }

  /// Memory that evaluation reuses; one for each thread.
  struct Scratch {
    std::vector<uint64_t> v, w;
    std::vector<double> r;
    std::vector<Residue> steps, divisors;
  };
  /// Fills `out` (sized by the callee); false when a value is undefined (division by zero).
  bool evaluate(std::span<const View> operands, int trials, Channels channels, Field& algebra,
                Scratch& scratch, Values& out) const;

  /// The linear function of operand `slot` that `weights` (for each trial and output element) makes
  /// of the outputs, the other operands fixed: a weight for each trial and element, and last the
  /// constant. REQUIRES: is_linear_in(slot).
  std::vector<uint64_t> functional(size_t slot, std::span<const View> operands, int trials,
                                   std::span<const uint64_t> weights) const;

 private:
  /// coefficient * element i * element j of the operands laid end to end behind a 1.
  struct Product {
    uint32_t i = 0, j = 0;
    int32_t coefficient = -1;  ///< -1: one
  };
  /// Steps that need no other quotients than those before, then quotients side by side.
  struct Stage {
    std::vector<int32_t> steps, quotients;
  };
  bool to_products();
  void to_stages();
  void collect(int32_t step, Tape::Number scale, std::vector<Product>& out, bool& fits);
  template <bool kScaled>
  auto sum_residues(size_t output, const std::vector<uint64_t>& x, uint64_t Residue::*channel,
                    uint64_t (*reduce)(uint128_t)) const;
  template <bool kScaled>
  auto sum_doubles(size_t output, const std::vector<double>& x) const;
  template <bool kScaled>
  void evaluate_products(const Scratch& s, size_t first, size_t count, Values& out) const;
  static void round(Values& values);
  bool evaluate_tape(Scratch& s, size_t first, size_t count, Field& algebra, Values& out) const;
  void lay_out(std::span<const View> operands, size_t first, size_t count, Channels channels,
               Scratch& s) const;
  void run_step(size_t number, size_t count, Scratch& s, Field& algebra) const;

  Tape tape_;
  std::vector<Stage> stages_;         ///< of the tape
  std::vector<int32_t> outputs_;      ///< step of each output element
  std::vector<size_t> sizes_, base_;  ///< elements of each operand; where it starts
  bool bilinear_ = false, exponentials_ = false, partial_ = false;
  Compare compare_ = Compare::Residues;
  std::vector<Product> products_;
  std::vector<uint32_t> begin_;  ///< of each output element in products_; one more at the end
  std::vector<Residue> coefficients_, constants_;  ///< constants_: of the tape's numbers
};

/// Output 0 of the operator's first sample; nullptr when it has no kernel.
std::unique_ptr<const Kernel> kernel_of(const OpDef& op);

}  // namespace regraft::gen
