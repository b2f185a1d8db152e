#pragma once
// A floating point algorithm run at many points at once.
#include <cstdint>
#include <vector>

#include "verify/numerics/float_program.h"

namespace regraft::verify {

/// What tensors hold. Operators compute in float32 and store their results in the format: what
/// runtimes do with float16, too.
enum class Format : uint8_t { F32, F16 };

/// The nearest number of the format, ties to even; beyond the largest one an infinity.
float rounded(float x, Format format);
/// "Bits of error" as Herbie counts them: the logarithm to base 2 of one more than the number of
/// floats of the format from one to the other. What is not finite is as wrong as can be.
double bits_of_error(float value, double exact, Format format);
double largest(Format format);    ///< finite number
double most_bits(Format format);  ///< of error

/// Points: input[k][element * points + point] is an element of variable k, a number of the format.
struct Points {
  size_t count = 0;
  std::vector<std::vector<float>> inputs;
};

/// value[step * points + point], and whether the step or one that it needs is not finite there.
struct FloatRun {
  std::vector<float> values;
  std::vector<uint8_t> broken;
};
FloatRun run_floats(const FloatProgram& p, const Points& points, Format format);

}  // namespace regraft::verify
