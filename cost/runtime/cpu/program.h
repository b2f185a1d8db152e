#pragma once
// What a kernel compiles to: oneDNN primitives and loops over buffers. Internal to cost/cpu: the
// only headers with oneDNN's types are this and lower.h.
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <vector>

#include "cost/model/kernel.h"
#include "cost/runtime/cpu/buffer.h"

namespace regraft::cost::cpu {

using Desc = dnnl::memory::desc;
using Dims = std::vector<int64_t>;
constexpr auto kFloat = dnnl::memory::data_type::f32;

/// The process's CPU engine.
const dnnl::engine& engine();
/// Row-major; a scalar is a vector of one.
Desc plain_desc(const Dims& shape);
/// REQUIRES: rank 3 to 5 for Layout::Blocked.
Desc desc_of(const Dims& shape, Layout layout);
int64_t product(std::span<const int64_t> dims);

/// OpenMP's number of threads for as long as it lives; oneDNN reads it when it makes and when it
/// runs a primitive.
class ThreadCount {
 public:
  explicit ThreadCount(int threads);
  ~ThreadCount();
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

/// A tensor of a program.
struct Slot {
  enum class Kind : uint8_t {
    Operand,
    Result,
    Packed,   ///< constant
    Scratch,  ///< lives within a run
    View,     ///< another slot's memory, described otherwise
  };
  Kind kind = Kind::Scratch;
  int index = 0;  ///< of the operand or result; View: of the slot
  Desc desc;
  Desc source;                                     ///< Packed: how `data` lies
  std::shared_ptr<const std::vector<float>> data;  ///< Packed
};

/// Pointers of a step's slots, in the order of its arguments.
using Pointers = std::span<float* const>;

/// A primitive, or a loop.
struct Step {
  dnnl::primitive primitive;
  std::vector<std::pair<int, int>> args;  ///< oneDNN's number of the argument (loops: 0), slot
  std::function<void(Pointers)> loop;
};

struct Program {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  int threads = 1;
  struct ResultType {
    Dims shape;
    Layout layout;
  };
  std::vector<ResultType> result_types;
  int operands = 0;
  /// The operand that the only result is added onto, in place when both are one buffer; -1: none.
  int accumulator = -1;
  std::vector<int> alias;  ///< of each result: the operand that it is, or -1

  /// The slot whose memory this one is.
  int base(int slot) const;
  size_t floats(int slot) const {
    return (slots[static_cast<size_t>(slot)].desc.get_size() + 3) / 4;
  }
  std::vector<char> used() const;  ///< of each slot: a step names it, or a view of it
  size_t scratch_floats() const;
  /// Brings the used constants into their layouts; drops the others' data.
  void pack();
  std::vector<std::shared_ptr<Buffer>> packed;  ///< by slot
};

/// A program with its buffers. Not thread-safe; the program must outlive it.
class Bound {
 public:
  Bound(const Program& program, std::span<float* const> operands, std::span<float* const> results,
        float* scratch);
  /// `pointers` are those of all slots that steps use.
  Bound(const Program& program, std::span<float* const> pointers);
  void run();

 private:
  struct Call {
    const Step* step;
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> args;
    std::vector<float*> pointers;
  };
  void bind(const Program& program, std::span<float* const> pointers);
  dnnl::stream stream_;
  std::vector<Call> calls_;
};

}  // namespace regraft::cost::cpu
