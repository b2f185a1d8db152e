#pragma once
// Reverse-mode differentiation over row-major matrices (Linnainmaa 1976).
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "rl/nn/parameters.h"

namespace regraft::rl::nn {

/// A value on a tape, valid until its reset().
struct Var {
  int32_t id = -1;
};

/// Row or segment numbers, shared and never changed.
class Indices {
 public:
  Indices(std::vector<int32_t> list)  // NOLINT: implicit by design
      : list_(std::make_shared<const std::vector<int32_t>>(std::move(list))) {}
  int64_t size() const { return static_cast<int64_t>(list_->size()); }
  int32_t operator[](int64_t i) const { return (*list_)[i]; }
  auto begin() const { return list_->begin(); }
  auto end() const { return list_->end(); }

 private:
  std::shared_ptr<const std::vector<int32_t>> list_;
};

/// Operations compute at once; backward() walks them in reverse. Wrong shapes are CHECKs. "Column"
/// means n x 1, "row" 1 x n, "scalar" 1 x 1. At kinks: the slope of relu, abs at 0 is 0; of equal
/// values the first is the minimum or maximum. Not thread-safe: one tape per thread.
template <class S>
class Tape {
 public:
  /// Gradients are added to *into, shaped as the parameters; nullptr: values only, nothing is
  /// recorded. Both must outlive the tape; parameters may change only before a reset().
  Tape(const Parameters<S>& parameters, Gradients<S>* into);
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  const Matrix<S>& value(Var v) const { return *nodes_[v.id].value; }
  int64_t rows(Var v) const { return value(v).rows(); }
  int64_t cols(Var v) const { return value(v).cols(); }
  /// REQUIRES: v is a scalar.
  S scalar(Var v) const;
  /// Adds d loss / d parameter to the gradients. REQUIRES: a scalar; a tape that records.
  void backward(Var loss);
  /// Forgets all values; keeps their memory for values of the same sizes.
  void reset() { used_ = 0; }

  Var constant(Matrix<S> m);
  Var parameter(int index);
  Var stop_gradient(Var a);

  Var matmul(Var a, Var b);
  /// x w + b, with b a row.
  Var linear(Var x, Var w, Var b);
  Var transpose(Var a);

  Var add(Var a, Var b);
  Var sub(Var a, Var b);
  Var mul(Var a, Var b);
  Var minimum(Var a, Var b);
  Var maximum(Var a, Var b);
  Var scale(Var a, S factor);
  Var add_scalar(Var a, S term);
  Var relu(Var a);
  Var tanh(Var a);
  Var sigmoid(Var a);
  Var softplus(Var a);
  Var exp(Var a);
  Var log(Var a);
  Var square(Var a);
  Var abs(Var a);
  /// x^2 / 2 up to |x| = delta, linear beyond.
  Var huber(Var a, S delta);
  /// No slope outside of [low, high].
  Var clamp(Var a, S low, S high);

  /// Each row of a with the row; each column of a with the column.
  Var add_row(Var a, Var row);
  Var mul_row(Var a, Var row);
  Var add_column(Var a, Var column);
  Var mul_column(Var a, Var column);

  Var concat_columns(const std::vector<Var>& parts);
  Var concat_rows(const std::vector<Var>& parts);
  Var slice_columns(Var a, int64_t start, int64_t count);
  Var slice_rows(Var a, int64_t start, int64_t count);
  /// Row i of the result is row indices[i] of a; the same of columns.
  Var gather_rows(Var a, const Indices& indices);
  Var gather_columns(Var a, const Indices& indices);

  /// n rows: sums of the rows of a with that segment number. An empty segment gives zeros.
  Var segment_sum(Var a, const Indices& segment_of_row, int64_t n);
  Var segment_mean(Var a, const Indices& segment_of_row, int64_t n);
  Var segment_max(Var a, const Indices& segment_of_row, int64_t n);
  /// The same of gather_rows(a, rows), which is not made.
  Var segment_sum(Var a, const Indices& rows, const Indices& segments, int64_t n);
  Var segment_mean(Var a, const Indices& rows, const Indices& segments, int64_t n);
  Var segment_max(Var a, const Indices& rows, const Indices& segments, int64_t n);
  /// Each of these rows times a weight.
  Var weighted_segment_sum(Var a, const Indices& rows, std::vector<S> weights,
                           const Indices& segments, int64_t n);

  Var sum(Var a);
  Var mean(Var a);
  Var row_sum(Var a);     ///< a column
  Var column_sum(Var a);  ///< a row; so are the next two, zeros if a has no rows
  Var column_mean(Var a);
  Var column_max(Var a);

  /// Rows divided by sqrt(mean of squares + epsilon) (Zhang & Sennrich 2019). The gain is mul_row.
  Var rms_norm(Var a, S epsilon = S(1e-6));
  Var log_softmax(Var column);
  Var segment_log_softmax(Var column, const Indices& segment_of_row, int64_t n);
  Var log_softmax_rows(Var a);
  Var row_log_sum_exp(Var a);  ///< a column

 private:
  struct Node {
    const Matrix<S>* value = nullptr;
    Matrix<S>* gradient = nullptr;
    bool needs = false;    // depends on a parameter
    bool touched = false;  // the gradient has been begun
    std::function<void(Tape&, Var)> backward;
    Matrix<S> own_value, own_gradient;
  };
  struct Fresh {
    Var id;
    Matrix<S>& value;  // the caller fills it
  };

  Node& next_node();
  Fresh fresh(int64_t rows, int64_t cols);
  template <class Inputs, class F>
  Var link(Var y, const Inputs& inputs, F&& backward);
  template <class F>
  Var link(Var y, std::initializer_list<Var> inputs, F&& backward);
  bool needs(Var v) const { return nodes_[v.id].needs; }
  const Matrix<S>& gradient(Var v) const { return *nodes_[v.id].gradient; }
  Matrix<S>& gradient_of(Var v);
  template <class E>
  void flow(Var to, const Eigen::MatrixBase<E>& expression);
  void flow(Var to, Matrix<S>&& matrix);
  template <class F, class D>
  Var unary(Var a, F f, D derivative);
  template <class F>
  Var choose(Var a, Var b, F first);
  bool same_shape(Var a, Var b) const { return rows(a) == rows(b) && cols(a) == cols(b); }

  const Parameters<S>* parameters_;
  Gradients<S>* into_;
  std::deque<Node> nodes_;
  int32_t used_ = 0;
};

}  // namespace regraft::rl::nn
