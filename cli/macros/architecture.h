#pragma once
// Which models are alike but for their sizes: what is learned of one says nothing of learning.
#include <cstddef>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace regraft::cli {

/// For each graph the number of its architecture, from 0. Two graphs are of one architecture when
/// most kinds of places are in both, or both are like a third: a place is an operator with those
/// that it reads from and is read by; sizes, attributes and constants do not count.
std::vector<size_t> architectures_of(std::span<const Graph* const> graphs);

}  // namespace regraft::cli
