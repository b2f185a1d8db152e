#include "io/defaults.h"

#include "io/content.h"
#include "io/tensors.h"

namespace regraft::io {

std::map<std::string, std::shared_ptr<const Constant>> defaults(const Imported& imported) {
  const Model& model = *imported.model;
  std::map<std::string, std::shared_ptr<const Constant>> found;
  for (size_t k = 0; k < model.initialisers.size(); ++k) {
    if (model.ids[model.nodes.size() + k] >= 0) continue;  // a constant
    const onnx::TensorProto& t = *model.initialisers[k];
    auto data = constant_of(t, imported.model);
    found[t.name()] = data ? std::move(data) : carried_data(t, imported.model);
  }
  return found;
}

std::string differing_default(const Imported& a, const Imported& b) {
  auto left = defaults(a), right = defaults(b);
  for (const auto& [name, data] : left) {
    auto other = right.find(name);
    if (other == right.end() || !same(*data, *other->second)) return name;
  }
  for (const auto& [name, data] : right)
    if (!left.count(name)) return name;
  return {};
}

}  // namespace regraft::io
