#include "io/interface.h"

#include "io/proto.h"

namespace regraft::io {

Interface interface_of(const Imported& model) {
  Interface all;
  const Graph& g = model.graph;
  for (Value v : g.inputs()) {
    const auto& names = g.node(v.node).names;
    all.inputs.push_back({names.empty() ? std::string() : names[0], g.type(v)});
  }
  const auto& declared = model.model->shell.graph().output();
  for (size_t k = 0; k < g.outputs().size(); ++k) {
    bool named = k < static_cast<size_t>(declared.size());
    all.outputs.push_back(
        {named ? declared[static_cast<int>(k)].name() : std::string(), g.type(g.outputs()[k])});
  }
  return all;
}

}  // namespace regraft::io
