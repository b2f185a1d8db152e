#pragma once
// Inside io/ only: digests of what the graph carries without understanding it.
#include <memory>

#include "io/proto.h"

namespace regraft::io {

/// The data of a tensor that has no constant (text, 4-bit and other types without a number here),
/// to be compared only. Read when asked for; `owner` keeps the message alive.
std::shared_ptr<const Constant> carried_data(const onnx::TensorProto& tensor,
                                             const std::shared_ptr<const Model>& owner);

/// What an opaque node is: all of it but its name and the names of its inputs and outputs. Tensors
/// count by their content, wherever it lies.
class Contents {
 public:
  explicit Contents(std::shared_ptr<const Model> model);
  struct Content {
    Digest digest;
    bool pure = false;  ///< equal contents and operands mean equal outputs
  };
  /// An Error: a tensor in the node cannot be read.
  Result<Content> of(const onnx::NodeProto& node);
  Result<Digest> of(const onnx::SparseTensorProto& tensor) const;
  bool calls_function(const onnx::NodeProto& node) const;

 private:
  Result<Digest> surroundings();

  std::shared_ptr<const Model> model_;
  std::optional<Digest> surroundings_;  ///< what nodes that are not pure may depend on
};

}  // namespace regraft::io
