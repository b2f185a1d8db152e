#pragma once
// CUDA C for the parts of a kernel that no library does: the operators' formulas, fused.
#include <string>
#include <vector>

#include "cost/model/kernel.h"

namespace regraft::cost::cuda {

/// Who computes an element of the output.
enum class Share : uint8_t {
  Threads,  ///< each thread one, with all its loops
  Blocks,   ///< each block a row: all elements that share the same sums, which it computes together
};

/// One launch of a generated kernel. Thread-safe to read.
struct Source {
  std::string types;  ///< `index`, `real` and THREADS, the threads in a block
  std::string body;   ///< the function `name`; needs the types and a library before it
  std::string name;
  std::vector<Value> reads, writes;  ///< of the graph: the parameters, in this order
  int64_t blocks = 1;                ///< in x; in y as many as `writes` has
  int threads = 32;                  ///< in a block, a multiple of 32
  Share share = Share::Threads;
  int64_t rounds = 0;  ///< of the longest loop
};

/// Writes `results`, values of a graph whose sizes are numbers, from the values in `given` and the
/// graph's inputs. An Error names the operator that has no such form; Share::Blocks needs a sum.
/// Deterministic. The body uses KERNEL(name), the beginning of a function; BLOCK, PART and THREAD,
/// the numbers of the block in x and y and of the thread; from_f16, to_f16, from_bf16, to_bf16; and
/// what ir/algebra/code.h names.
Result<Source> write_source(const Graph& g, const std::vector<Value>& results,
                            const std::vector<Value>& given, Share share);

/// The whole translation unit, for the device compiler.
std::string device_text(const Source& source);

/// The extents of a value whose shape is numbers, and how many elements such a tensor has.
std::vector<int64_t> dims_of(const Graph& g, Value v);
int64_t count_of(const std::vector<int64_t>& dims);

}  // namespace regraft::cost::cuda
