#pragma once
// What a runtime launches: calls fused into kernels, and tensors moved between layouts.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"

namespace regraft::cost {

/// How a tensor lies in memory.
enum class Layout : uint8_t {
  Plain,    ///< row-major
  Blocked,  ///< channels (axis 1) in blocks of the runtime's width, innermost: nChw16c
};

/// A small graph that a runtime runs in one go. All sizes and attributes are numbers; its nodes are
/// inputs, calls and makers of constants (`full`). One-element constants are part of the graph,
/// larger ones are inputs marked as weights. A kernel whose output is its input moves a tensor from
/// one layout to another.
struct Kernel {
  Graph graph;
  std::vector<char> weights;  ///< of each graph input: known before the run
  std::vector<Layout> operand_layouts, result_layouts;  ///< of each graph input, each output

  bool is_reorder() const { return graph.outputs()[0] == graph.inputs()[0]; }
};

/// The kernel in one line of text; equal for kernels that are equal up to ids and names.
///   %0 = input : float32[1,64,56,56] ; %1 = input : .. ; %2 = conv %0 %1 : .. ; outputs %2 |
///   weights 1 | blocked %0 %2
std::string signature(const Kernel& kernel);
/// Inverse of signature.
Result<Kernel> parse_signature(std::string_view text);

/// How a runtime groups and lays out what it runs. Constant: a description of software, not of a
/// machine.
struct Runtime {
  std::string_view name;
  /// Channels in a block of the blocked layout; 0: the runtime has none.
  int64_t block = 0;
  /// The last block may have fewer channels.
  bool pads = false;
  /// Channels of what a convolution reads and makes may be any multiple of this; 0: of the block.
  int64_t conv_step = 0;
  /// Convolutions and products take a sum with another tensor into themselves.
  bool sums = false;
  /// Calls of one element each are fused with each other, not only into convolutions and products.
  bool chains = false;
  /// A sum and the layer normalisation that follows are one kernel, with both results.
  bool sum_norm = false;
  /// No fusion at all.
  bool single = false;
  /// It runs on this machine's processor: its profiles are kept by the processor's name.
  bool on_processor = false;
  /// Its kernels can compute a graph on given inputs, in float32, wherever regraft runs.
  bool evaluates = false;
  /// Whose kernels, with their timings, stand for its own, which are not timed; empty: it has its
  /// own.
  std::string_view priced_as = {};
  /// Whose rows of fusions.def hold for it; empty: its own.
  std::string_view fuses_as = {};
  /// The Python worker (python/regraft) runs it; what is optimised for it is confirmed there.
  bool in_worker = false;
  /// It has operators beside ONNX's own (com.microsoft), which a result for it may hold.
  bool own_operators = false;
  /// A result for it gets no operators but ONNX's own, whatever the model has.
  bool standard_only = false;
  /// The versions of ONNX's operator set that it reads; 0: any.
  int first_opset = 0, last_opset = 0;
  /// Known from what is written of it: it was never run.
  bool described = false;

  bool times_kernels() const { return priced_as.empty() && !described; }
};
/// Those of runtimes.def, in their order.
std::span<const Runtime> runtimes();
/// Plain loops, each call by itself: what a machine is calibrated with that has no runtime.
inline constexpr std::string_view kPlainLoops = "single";
/// One of runtimes(), or kPlainLoops; nullptr for other names.
const Runtime* find_runtime(std::string_view name);
/// Whose kernels and timings a graph is priced with; nullptr for nullptr.
const Runtime* priced_as(const Runtime* runtime);

/// The kernel as it is timed: runtimes fold what scales or shifts the channels of a convolution
/// into its weights, and a bias costs them nothing, so every convolution has one and none of the
/// others.
Kernel normalised(Kernel kernel);

/// A kernel in a graph.
struct KernelCall {
  Kernel kernel;
  std::string signature;        ///< of the normalised kernel
  std::vector<Value> operands;  ///< of the graph, one for each input of the kernel
  std::vector<Value> results;   ///< of the graph, one for each output of the kernel
  std::vector<int32_t> nodes;   ///< of the graph, in order; empty: moves a tensor
};

/// What runs, in order. A value may exist in both layouts after a reorder.
struct KernelPlan {
  std::vector<KernelCall> calls;
  std::vector<int32_t> opaque;  ///< nodes that no kernel runs
};

/// Groups the graph's calls; those that depend on constants alone are not run. Symbolic sizes are
/// those that are typical (Symbol::typical). Without signatures, which take a third of the time,
/// these are empty. REQUIRES: g is acyclic.
KernelPlan plan_kernels(const Graph& g, const Runtime& runtime, bool signatures = true);

/// The graph with a mark on the calls that the runtime computes together without an anchor (an
/// erf-GELU, a layer normalisation written out): Node::together. Nodes keep their ids.
Graph with_fusions(const Graph& g, const Runtime& runtime);

/// The graph with its typical number for each symbolic size. Nodes keep their ids.
Graph at_sizes(const Graph& g);
/// The same with a constant for all that follows from sizes and constants: what a runtime runs.
Result<Graph> runnable(const Graph& g);

/// The kernel's graph with constants in place of its weights: one for each input, empty where that
/// is no weight.
Graph with_data(const Kernel& kernel, const std::vector<std::shared_ptr<const Constant>>& data);

/// The kernel's graph with random weights in place of the inputs that are marked so; integers are
/// 0. Weights are small, so that long chains stay finite.
Graph with_weights(const Kernel& kernel, uint64_t seed);

/// The kernel as a model that a runtime can load: random weights, and each operand that lies
/// blocked, or that a runtime would hand on without a copy, made by a node of its own, which is no
/// part of the kernel; its output is named wrap_0, wrap_1, ..
Graph standalone(const Kernel& kernel, uint64_t seed);

}  // namespace regraft::cost
