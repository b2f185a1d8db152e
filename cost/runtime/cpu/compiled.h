#pragma once
// Kernels made ready to run on this machine's CPU with oneDNN 2.6.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/model/kernel.h"
#include "ir/graph/eval.h"

namespace regraft::cost::cpu {

/// Channels in a block of Layout::Blocked here: 16 with AVX-512, else 8. The layouts are oneDNN's
/// nCw16c, nChw16c and nCdhw16c (or 8); channels beyond the last are 0.
int64_t block_width();
/// Floats of a tensor in a layout, padding included. REQUIRES: rank 3 to 5 for Layout::Blocked.
size_t tensor_floats(const std::vector<int64_t>& shape, Layout layout);

/// The runtime "cpu" with the block of this machine.
Runtime runtime();

struct CompileOptions {
  int threads = 1;  ///< of OpenMP, for timing the candidates and for each run
  /// Times the library's implementations and algorithms for convolutions and products and takes the
  /// fastest; what was found is remembered for the process. Otherwise the library's first choice.
  bool tune = true;
  bool winograd = true;  ///< a candidate for convolutions; errors of about 1e-4 of the magnitude
};

struct Program;
/// A kernel that is ready to run. Immutable and cheap to copy; safe to use from several threads.
class Compiled {
 public:
  explicit Compiled(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  size_t operands() const;
  size_t results() const;
  size_t scratch_floats() const;  ///< to be lent for a run
  /// The operand whose buffer result 0 may share, as the kernel adds onto it; -1: none. Where they
  /// differ a run copies first.
  int accumulator() const;
  /// The operand that is this result, bit for bit, so that nothing has to run for it; -1: none.
  int alias(size_t result) const;
  /// Nothing to run but aliases.
  bool is_free() const;
  const Program& program() const { return *program_; }
  const std::shared_ptr<const Program>& shared() const { return program_; }

 private:
  std::shared_ptr<const Program> program_;
};

/// Compiles a kernel whose graph has constants in place of its weights: its inputs are what the run
/// brings, with these layouts. Float32 only; an operator without a kernel is computed by its
/// formula. An Error names what is not supported, or the operand that is not float32 or has no
/// numeric shape.
Result<Compiled> compile(const Graph& graph, std::span<const Layout> operand_layouts,
                         std::span<const Layout> result_layouts, const CompileOptions& options);
/// The same with random weights.
Result<Compiled> compile(const Kernel& kernel, uint64_t seed, const CompileOptions& options);

/// A compiled kernel on buffers of the caller, each at the start of a cache line, of tensor_floats
/// floats. Blocked operands must be 0 beyond the last channel. Runs with the threads of the
/// compilation. Not thread-safe.
class Launch {
 public:
  /// `scratch` holds scratch_floats() floats.
  Launch(const Compiled& kernel, std::span<float* const> operands, std::span<float* const> results,
         float* scratch);
  Launch(Launch&&) noexcept;
  ~Launch();
  void run();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs once on row-major arrays, converting layouts; for tests and checks.
Result<std::vector<Array<float>>> run_once(const Compiled& kernel,
                                           const std::vector<Array<float>>& operands);

}  // namespace regraft::cost::cpu
