#pragma once
// The roofline model: an operator takes as long as its arithmetic or its memory traffic, whichever
// is longer, plus a fixed time for each call. Williams, Waterman, Patterson, "Roofline", CACM
// 52(4), 2009.
#include <array>
#include <memory>
#include <string>

#include "cost/model/cost_model.h"
#include "cost/model/kinds.h"

namespace regraft::cost {

/// A machine. The defaults describe one core of a server CPU with AVX-512 at 2.5 GHz: two fused
/// multiply-adds of 16 lanes a cycle, its share of the memory bandwidth, and the dispatch time of
/// an ONNX runtime.
struct Machine {
  double peak_gflops = 160;
  double bandwidth_gbytes = 12;    ///< 10^9 bytes a second
  double launch_microseconds = 2;  ///< for each call
  /// Fractions of the peak that real kernels reach. In between, the fraction grows linearly with
  /// the arithmetic intensity (operations for each byte moved).
  double low_efficiency = 0.1;   ///< up to low_intensity: elementwise, depthwise, pooling
  double high_efficiency = 0.7;  ///< from high_intensity on: large contractions
  double low_intensity = 2;
  double high_intensity = 16;
  /// By Kind. Where one is not 0, it stands in place of the general figures above.
  std::array<Rate, static_cast<size_t>(Kind::kCount)> rates{};
};

/// A graphics card of a server, by its data sheet: NVIDIA's A100 with 40 GB, in float32. What
/// stands for a device that nothing was measured on.
inline constexpr Machine kGraphicsCard{.peak_gflops = 19500, .bandwidth_gbytes = 1555};

/// Operations are counted on the operator's own formula, so a new operator needs no entry here.
/// Remembers what it computed; thread-safe.
class Roofline final : public CostModel {
 public:
  explicit Roofline(Machine machine = {});
  ~Roofline() override;
  Cost cost(const Node& node, std::span<const TensorType> operands) const override;
  std::string description() const override;

 private:
  struct Memo;
  Machine machine_;
  std::unique_ptr<Memo> memo_;
};

struct Kernel;
/// Of the first call that does arithmetic on an operand; Reorder for a move between layouts.
Kind kind_of(const Kernel& kernel);
/// Of a kernel: the work of its calls, and the bytes that enter and leave it.
Cost estimate(const Machine& machine, const Kernel& kernel);
/// Time of so much work at the machine's rates, with one launch.
double microseconds(const Machine& machine, Kind kind, double flops, double bytes);

/// Equal for nodes that do the same to operands of the same types.
uint64_t call_hash(const Node& node, std::span<const TensorType> operands);
/// Value of a size whose symbols are as large as is typical (Symbol::typical); at least 0.
int64_t typical(const Poly& size);
/// The same of a number that may be negative.
int64_t value_at(const Poly& p);

}  // namespace regraft::cost
