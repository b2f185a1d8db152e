#pragma once
// A floating point algorithm run at many points at once.
#include <cstdint>
#include <span>
#include <vector>

#include "verify/numerics/float_program.h"

namespace regraft::verify {

/// What tensors hold. Operators compute in float32 and store their results in the format: what
/// runtimes do with float16, too.
enum class Format : uint8_t { F32, F16 };

/// The nearest number of the format, ties to even; beyond the largest one an infinity.
float rounded(float x, Format format);
void round_all(std::span<float> values, Format format);  ///< each to rounded()
/// "Bits of error" as Herbie counts them: the logarithm to base 2 of one more than the number of
/// floats of the format from one to the other. What is not finite is as wrong as can be.
double bits_of_error(float value, double exact, Format format);
double largest(Format format);    ///< finite number
double most_bits(Format format);  ///< of error

/// Points: inputs[k][row * count + point] is an element of variable k, a number of the format.
struct Points {
  size_t count = 0;
  std::vector<std::vector<float>> inputs;
  /// The row of each element, -1 of one that is left out. Empty: all have their own, in order.
  std::vector<std::vector<int32_t>> rows = {};

  /// An element at all points.
  const float* of(int32_t input, int32_t element) const {
    const auto k = static_cast<size_t>(input), e = static_cast<size_t>(element);
    return inputs[k].data() + (rows.empty() ? e : static_cast<size_t>(rows[k][e])) * count;
  }
};

/// The steps that elements of outputs are, on either side: the place of each step among them, -1 of
/// the others.
std::vector<int32_t> rows_of_elements(const FloatProgram& p);

/// What elements of outputs are at each point. Only steps that are such elements may be asked for.
struct FloatRun {
  size_t count = 0;           ///< points
  std::vector<int32_t> rows;  ///< rows_of_elements()
  std::vector<float> values;  ///< [row * count + point]
  std::vector<uint8_t> fails;

  float value(int32_t step, size_t point) const { return values[place(step, point)]; }
  /// Whether the step or one that it needs is not finite.
  bool broken(int32_t step, size_t point) const { return fails[place(step, point)] != 0; }

 private:
  size_t place(int32_t step, size_t point) const {
    return static_cast<size_t>(rows[static_cast<size_t>(step)]) * count + point;
  }
};
FloatRun run_floats(const FloatProgram& p, const Points& points, Format format);

}  // namespace regraft::verify
