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

const Constant* constant_at(const Imported& m, const Capture* capture) {
  if (!capture) return nullptr;
  const Node& node = m.graph.node(capture->value.node);
  return node.kind == NodeKind::Constant ? node.constant.get() : nullptr;
}

/// Captured values that stand for each other; nullptr: only one body captures the other one.
struct Match {
  const Capture *left = nullptr, *right = nullptr;
};

/// What `all` has under no name of `others`, and is no constant.
std::vector<const Capture*> alone(const Imported& m, const std::vector<Capture>& all,
                                  const std::vector<Capture>& others) {
  std::vector<const Capture*> found;
  for (const Capture& c : all)
    if (std::ranges::find(others, c.name, &Capture::name) == others.end() && !constant_at(m, &c))
      found.push_back(&c);
  return found;
}

struct Matches {
  std::vector<Match> all;
  bool certain = false;  ///< each by its name
};

Matches match(const Imported& a, const std::vector<Capture>& x, const Imported& b,
              const std::vector<Capture>& y) {
  Matches found;
  for (const Capture& c : x)
    if (auto at = std::ranges::find(y, c.name, &Capture::name); at != y.end())
      found.all.push_back({&c, &*at});
  auto left = alone(a, x, y), right = alone(b, y, x);
  found.certain = left.empty() && right.empty();
  if (left.size() == right.size()) {
    for (size_t k = 0; k < left.size(); ++k) found.all.push_back({left[k], right[k]});
  } else {
    for (const Capture* c : left) found.all.push_back({c, nullptr});
    for (const Capture* c : right) found.all.push_back({nullptr, c});
  }
  return found;
}

std::optional<BodyPair> pair_of(const Imported& a, const BodyPlace& x, const Imported& b,
                                const BodyPlace& y, NodePair& nodes) {
  auto read_a = captures(a, x), read_b = captures(b, y);
  Matches matches = match(a, read_a, b, read_b);
  std::vector<OuterInput> left, right;
  for (const Match& m : matches.all) {
    if (m.left && m.right) nodes.captured.emplace_back(m.left->name, m.right->name);
    const Constant *c = constant_at(a, m.left), *d = constant_at(b, m.right);
    if (c && d && same(*c, *d)) continue;  // a constant of both
    const TensorType& type = m.left ? a.graph.type(m.left->value) : b.graph.type(m.right->value);
    std::string unused = "unused " + std::to_string(left.size());
    left.push_back({m.left ? m.left->name : unused, type});
    right.push_back({m.right ? m.right->name : unused, type});
  }
  auto first = body_model(a, x, left), second = body_model(b, y, right);
  if (!first || !second) return std::nullopt;
  return BodyPair{describe(a, x), *std::move(first), *std::move(second), matches.certain};
}

/// The operands of the node for its inputs.
std::vector<Value> formal_operands(const Imported& m, const Node& node) {
  auto formal = m.model->imprints[static_cast<size_t>(node.origin)].inputs.size();
  return {node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(formal)};
}

/// The operand for what it captures under that name.
Value captured_operand(const Imported& m, const Node& node, const std::string& name) {
  const Imprint& imprint = m.model->imprints[static_cast<size_t>(node.origin)];
  auto at = std::ranges::find(imprint.captured, name) - imprint.captured.begin();
  return node.inputs[imprint.inputs.size() + static_cast<size_t>(at)];
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
    NodePair pair{id, partner, {}, {}};
    for (const BodyPlace& x : places) {
      auto y = std::ranges::find(right.at(partner), x.attribute, &BodyPlace::attribute);
      if (auto bodies = pair_of(a, x, b, *y, pair)) pair.bodies.push_back(*std::move(bodies));
    }
    if (pair.bodies.size() == places.size()) pairs.push_back(std::move(pair));
  }
  return pairs;
}

void equate(const Imported& a, const Imported& b, const NodePair& pair, Graph& first,
            Graph& second) {
  Node x = a.graph.node(pair.first), y = b.graph.node(pair.second);
  x.inputs = formal_operands(a, x);
  y.inputs = formal_operands(b, y);
  for (const auto& [left, right] : pair.captured) {
    x.inputs.push_back(captured_operand(a, a.graph.node(pair.first), left));
    y.inputs.push_back(captured_operand(b, b.graph.node(pair.second), right));
  }
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
