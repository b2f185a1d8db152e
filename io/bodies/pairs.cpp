#include "io/bodies/pairs.h"

#include <algorithm>
#include <map>
#include <optional>

#include "io/content.h"
#include "io/proto.h"

namespace regraft::io {
namespace {

std::string first_name(const Node& node) { return node.names.empty() ? "" : node.names[0]; }

/// The nodes that have bodies, by their ids in the graph.
std::map<int32_t, std::vector<BodyPlace>> places_by_id(const Imported& m) {
  std::map<int32_t, std::vector<BodyPlace>> found;
  for (BodyPlace& place : body_places(m)) {
    int32_t id = m.model->ids[static_cast<size_t>(place.node)];
    if (m.graph.node(id).kind == NodeKind::Opaque) found[id].push_back(std::move(place));
  }
  return found;
}

/// All of a node but its bodies; nothing: it cannot be read.
std::optional<Digest> outside_of(const Imported& m, const BodyPlace& place) {
  onnx::NodeProto node = *m.model->nodes[static_cast<size_t>(place.node)];
  for (auto& a : *node.mutable_attribute()) a.clear_g();
  auto content = Contents(m.model).of(node);
  if (!content) return std::nullopt;
  return content->digest;
}

bool alike(const Imported& a, const std::vector<BodyPlace>& x, const Imported& b,
           const std::vector<BodyPlace>& y) {
  if (x.size() != y.size()) return false;
  for (size_t k = 0; k < x.size(); ++k)
    if (std::ranges::none_of(y, [&](auto& p) { return p.attribute == x[k].attribute; }))
      return false;
  auto left = outside_of(a, x[0]), right = outside_of(b, y[0]);
  return left && right && *left == *right;
}

const Capture* find(const std::vector<Capture>& all, const std::string& name) {
  auto found = std::ranges::find(all, name, &Capture::name);
  return found == all.end() ? nullptr : &*found;
}

const Constant* constant_at(const Imported& m, const Capture* capture) {
  if (!capture) return nullptr;
  const Node& node = m.graph.node(capture->value.node);
  return node.kind == NodeKind::Constant ? node.constant.get() : nullptr;
}

/// What the two bodies are given from outside: all that either captures, but for constants that
/// only one of them captures or that are the same.
std::vector<OuterInput> inputs_of(const Imported& a, const std::vector<Capture>& x,
                                  const Imported& b, const std::vector<Capture>& y) {
  std::vector<OuterInput> inputs;
  auto add = [&](const std::string& name) {
    if (std::ranges::find(inputs, name, &OuterInput::name) != inputs.end()) return;
    const Capture *left = find(x, name), *right = find(y, name);
    const Constant *c = constant_at(a, left), *d = constant_at(b, right);
    if ((c || !left) && (d || !right) && (!c || !d || same(*c, *d))) return;
    inputs.push_back({name, left ? a.graph.type(left->value) : b.graph.type(right->value)});
  };
  for (const Capture& c : x) add(c.name);
  for (const Capture& c : y) add(c.name);
  return inputs;
}

std::optional<BodyPair> pair_of(const Imported& a, const BodyPlace& x, const Imported& b,
                                const BodyPlace& y) {
  auto inputs = inputs_of(a, captures(a, x), b, captures(b, y));
  auto first = body_model(a, x, inputs), second = body_model(b, y, inputs);
  if (!first || !second) return std::nullopt;
  return BodyPair{describe(a, x), *std::move(first), *std::move(second)};
}

/// The operands of the node for its inputs, then for what it captures of `names`.
std::vector<Value> operands(const Imported& m, const Node& node,
                            const std::vector<std::string>& names) {
  const Imprint& imprint = m.model->imprints[static_cast<size_t>(node.origin)];
  auto formal = imprint.inputs.size();
  std::vector<Value> values(node.inputs.begin(),
                            node.inputs.begin() + static_cast<std::ptrdiff_t>(formal));
  for (const std::string& name : names) {
    auto at = std::ranges::find(imprint.captured, name) - imprint.captured.begin();
    values.push_back(node.inputs[formal + static_cast<size_t>(at)]);
  }
  return values;
}

}  // namespace

std::vector<NodePair> differing_bodies(const Imported& a, const Imported& b) {
  auto left = places_by_id(a), right = places_by_id(b);
  std::map<std::string, int32_t> by_name;
  std::map<int32_t, int32_t> by_origin;
  for (const auto& [id, places] : right) {
    by_name.emplace(first_name(b.graph.node(id)), id);
    by_origin.emplace(b.graph.node(id).origin, id);
  }
  std::vector<NodePair> pairs;
  for (const auto& [id, places] : left) {
    const Node& node = a.graph.node(id);
    auto found = by_name.find(first_name(node));
    auto partner = found != by_name.end() ? found->second : -1;
    if (auto o = by_origin.find(node.origin); partner < 0 && o != by_origin.end())
      partner = o->second;
    if (partner < 0 || same_opaque(node, b.graph.node(partner))) continue;
    if (!alike(a, places, b, right.at(partner))) continue;
    NodePair pair{id, partner, {}};
    for (const BodyPlace& x : places) {
      auto y = std::ranges::find(right.at(partner), x.attribute, &BodyPlace::attribute);
      if (auto bodies = pair_of(a, x, b, *y)) pair.bodies.push_back(*std::move(bodies));
    }
    if (pair.bodies.size() == places.size()) pairs.push_back(std::move(pair));
  }
  return pairs;
}

void equate(const Imported& a, const Imported& b, const NodePair& pair, Graph& first,
            Graph& second) {
  Node x = a.graph.node(pair.first), y = b.graph.node(pair.second);
  const auto& captured = a.model->imprints[static_cast<size_t>(x.origin)].captured;
  const auto& others = b.model->imprints[static_cast<size_t>(y.origin)].captured;
  std::vector<std::string> names;
  for (const std::string& name : captured)
    if (std::ranges::find(others, name) != others.end()) names.push_back(name);
  x.inputs = operands(a, x, names);
  y.inputs = operands(b, y, names);
  // No other node has this content.
  x.content = y.content = Sha256()
                              .text("compared")
                              .digest(x.content)
                              .number(static_cast<uint64_t>(pair.first))
                              .finish();
  first.replace_node(pair.first, std::move(x));
  second.replace_node(pair.second, std::move(y));
}

}  // namespace regraft::io
