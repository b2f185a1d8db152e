#pragma once
// How the libraries and generated kernels may do what a Kernel says. Knows no CUDA.
#include <string>
#include <variant>
#include <vector>

#include "cost/runtime/cuda/source.h"

namespace regraft::cost::cuda {

/// y = convolution(x, w) + bias + added, then relu. Operands: x, w, bias, added, y. Everything
/// plain; at least two spatial axes.
struct Convolution {
  DType type = DType::F32;
  std::vector<int> x, w, y;                   ///< dimensions
  std::vector<int> pads, strides, dilations;  ///< of the spatial axes; the same at both ends
  int group = 1;
  bool bias = false, added = false, relu = false;
};

/// y = alpha * a * b + bias + added, then relu, row-major. Operands: a, b, bias, added, y.
struct Product {
  DType type = DType::F32;
  int64_t rows = 0, columns = 0, inner = 0;  ///< of y: rows * columns
  bool transposed_a = false, transposed_b = false;
  int64_t batch = 1, stride_a = 0, stride_b = 0;  ///< elements from matrix to matrix
  double alpha = 1;
  bool bias = false, added = false, relu = false;  ///< the bias has an element for each column
};

/// exp(x) / sum of exp(x) over the middle of three axes. Operands: x, y.
struct Softmax {
  DType type = DType::F32;
  int outer = 1, size = 1, inner = 1;
};

using Work = std::variant<Source, Convolution, Product, Softmax>;

/// One launch.
struct Step {
  std::vector<Work> options;  ///< ways to do it, all with these operands
  std::vector<Value> reads, writes;
};

/// Launches in order. The graph has the kernel's inputs and outputs in its order; it may say in
/// other calls what the kernel's says.
struct Program {
  std::string name;
  Graph graph;
  std::vector<Step> once;   ///< what depends on weights alone: before the first run
  std::vector<Step> steps;  ///< of each run
};

/// All programs that are worth trying; at least one. `weights` marks inputs that are known before
/// the first run, and may be shorter. Scales that follow a convolution become part of its weights.
/// REQUIRES: sizes and attributes are numbers. An Error names a type or operator that has no
/// kernel.
Result<std::vector<Program>> lower(const Graph& kernel, const std::vector<char>& weights);

}  // namespace regraft::cost::cuda
