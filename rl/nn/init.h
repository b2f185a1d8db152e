#pragma once
// Random numbers and first weights.
#include "base/rng.h"
#include "rl/nn/parameters.h"

namespace regraft::rl::nn {

/// Standard normal (Box & Muller 1958); takes two numbers of the stream.
double normal(Rng& rng);

/// Orthonormal rows or columns, whichever are fewer, times the gain (Saxe et al. 2014).
Matrix<double> orthogonal(int64_t rows, int64_t cols, double gain, Rng& rng);

/// Normal with standard deviation gain / sqrt(rows): rows are what is summed over.
Matrix<double> scaled_normal(int64_t rows, int64_t cols, double gain, Rng& rng);

}  // namespace regraft::rl::nn
