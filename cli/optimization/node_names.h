#pragma once
// What people know the nodes of a model by.
#include <string>
#include <vector>

#include "io/coverage/coverage.h"

namespace regraft::cli {

/// Of graphs that were made from a model's.
class NodeNames {
 public:
  explicit NodeNames(const io::Imported& model);
  /// "Conv 'layer1/conv'": the ONNX type and the name of the node, or of its first output; of a new
  /// node the type that it will have, and the name of the value that it makes, if that has one.
  std::string operator()(const Graph& g, int32_t id) const;
  /// Why an opaque node is not understood: what regraft does not know of it.
  std::string unknown(int32_t id) const;

 private:
  const io::NodeCoverage* of(int32_t id) const;
  std::vector<io::NodeCoverage> nodes_;  ///< of the file
  std::vector<int32_t> by_id_;           ///< index into `nodes_`; -1: none
};

}  // namespace regraft::cli
