#pragma once
// TASO's file of substitutions (graph_subst.pb, protobuf): read as candidates in our operators.
#include <string>
#include <vector>

#include "substitutions/rule_db.h"

namespace regraft::substitutions {

struct TasoRules {
  RuleFile file;  ///< candidates "taso.000" ..., numbered as in the file, for the ranks it means
  std::vector<std::string> skipped;  ///< "taso.007: why it has no counterpart"
};

/// A fused activation becomes a call after the convolution or product, enlarge a pad, SAME padding
/// the pads that it means for the kernel named. A split gets the sizes of the last concatenation it
/// undoes, or free sizes. Elementwise operators have operands of one shape. An Error names the file
/// and the byte when the file is malformed.
Result<TasoRules> read_taso(const std::string& path);

}  // namespace regraft::substitutions
