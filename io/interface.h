#pragma once
// What a model takes and gives, by name.
#include <string>
#include <vector>

#include "io/model.h"

namespace regraft::io {

struct Port {
  std::string name;
  TensorType type;
};
/// In the order of the graph's inputs and outputs.
struct Interface {
  std::vector<Port> inputs, outputs;
};
Interface interface_of(const Imported& model);

}  // namespace regraft::io
