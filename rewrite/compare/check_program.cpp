#include "rewrite/compare/check_program.h"

#include <algorithm>
#include <numeric>

namespace regraft::rewrite {

namespace {

size_t number(Value v) { return static_cast<size_t>(v.node); }

DType type_of(const JointProgram& p, Value v) {
  const auto& types = p.joint.nodes[number(v)].node->types;
  auto k = static_cast<size_t>(v.output);
  return k < types.size() ? types[k].dtype : DType::Undefined;
}

std::vector<double> levels_of(const Joint& joint) {
  std::vector<double> levels(joint.nodes.size(), kEvaluationLevel);
  for (size_t n = 0; n < levels.size(); ++n) {
    const JointNode& node = joint.nodes[n];
    if (node.node->kind == NodeKind::Constant && node.in[0] != node.in[1])
      levels[n] = std::max(levels[n], format_of(node.node->constant->dtype()).roundoff);
    if (node.node->kind == NodeKind::Call)
      for (Value v : node.inputs) levels[n] = std::max(levels[n], levels[number(v)]);
  }
  return levels;
}

void ask(JointProgram& p, const std::vector<double>& levels, size_t when, Value a, Value b,
         std::string place, int32_t output = -1) {
  if (a == b) return;
  p.due[when].push_back(p.questions.size());
  p.questions.push_back({a, b, std::move(place), type_of(p, a),
                         std::max(levels[number(a)], levels[number(b)]), output, when});
}

void ask_all(JointProgram& p) {
  std::vector<double> levels = levels_of(p.joint);
  const auto& nodes = p.joint.nodes;
  p.due.resize(nodes.size() + 1);
  for (size_t k = 0; k < p.joint.outputs[0].size(); ++k)
    ask(p, levels, nodes.size(), p.joint.outputs[0][k], p.joint.outputs[1][k],
        "output " + std::to_string(k), static_cast<int32_t>(k));
  for (size_t n = 0; n < nodes.size(); ++n)
    for (size_t k = 0; k < nodes[n].partner.size(); ++k)
      ask(p, levels, n, nodes[n].inputs[k], nodes[n].partner[k],
          "operand " + std::to_string(k) + " of " + name_of(nodes[n], "an opaque node"));
}

void put_in_order(JointProgram& p) {
  const auto& nodes = p.joint.nodes;
  std::vector<int> depth(nodes.size(), 0);
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const auto* list : {&nodes[n].inputs, &nodes[n].partner})
      for (Value v : *list) depth[n] = std::max(depth[n], depth[number(v)] + 1);
  p.order.resize(nodes.size());
  std::iota(p.order.begin(), p.order.end(), size_t{0});
  std::stable_sort(p.order.begin(), p.order.end(),
                   [&](size_t x, size_t y) { return depth[x] < depth[y]; });
}

}  // namespace

std::string name_of(const JointNode& n, std::string otherwise) {
  bool named = !n.node->names.empty() && !n.node->names[0].empty();
  return named ? n.node->names[0] : otherwise;
}

Result<JointProgram> make_program(const Graph& a, const Graph& b) {
  JointProgram p;
  p.graphs[0] = &a;
  p.graphs[1] = &b;
  ASSIGN_OR_RETURN(p.joint, join(a, b));
  ask_all(p);
  put_in_order(p);
  for (const JointNode& n : p.joint.nodes) p.opaque += n.node->kind == NodeKind::Opaque;
  return p;
}

std::vector<int64_t> uses_of(const JointProgram& p, Side side) {
  std::vector<int64_t> uses(p.joint.nodes.size(), 0);
  for (const Question& q : p.questions) {
    if (side != Side::Second) ++uses[number(q.first)];
    if (side != Side::First) ++uses[number(q.second)];
  }
  for (size_t n = uses.size(); n-- > 0;)
    if (uses[n] > 0 && p.joint.nodes[n].node->kind == NodeKind::Call)
      for (Value v : p.joint.nodes[n].inputs) ++uses[number(v)];
  return uses;
}

namespace {

/// Shapes of the values that are evaluated, at given sizes, and what they take.
class Estimate {
 public:
  Estimate(const JointProgram& p, const SizeAssignment& sizes)
      : p_(p), sizes_(sizes), uses_(uses_of(p, Side::Both)), held_(uses_.size(), 0) {}

  Effort run() {
    for (size_t n : p_.order) {
      answer(n);
      const JointNode& node = p_.joint.nodes[n];
      if (uses_[n] == 0 || node.node->kind == NodeKind::Constant) continue;
      bool call = node.node->kind == NodeKind::Call;
      if (call)
        for (Value v : node.inputs) read(v);
      hold(n);
      if (!call) continue;
      effort_.operations += operations(node) + bytes_of(n) / sizeof(double);
      for (Value v : node.inputs) release(v);
    }
    answer(p_.joint.nodes.size());
    return effort_;
  }

 private:
  std::optional<std::vector<int64_t>> shape_of(Value v) const {
    const JointNode& n = p_.joint.nodes[number(v)];
    if (n.node->kind == NodeKind::Constant) return n.node->constant->dims();
    auto k = static_cast<size_t>(v.output);
    if (k >= n.node->types.size() || !n.node->types[k].shape) return std::nullopt;
    std::vector<int64_t> shape;
    for (const Poly& d : *n.node->types[k].shape)
      shape.push_back(evaluate(d, sizes_.values[p_.graph_of(n)]));
    return shape;
  }

  double bytes_of(size_t n) const {
    double bytes = 0;
    for (size_t k = 0; k < p_.joint.nodes[n].node->types.size(); ++k) {
      double size = sizeof(double);
      auto shape = shape_of({static_cast<int32_t>(n), static_cast<int32_t>(k)});
      for (int64_t d : shape.value_or(std::vector<int64_t>{0})) size *= static_cast<double>(d);
      bytes += size;
    }
    return bytes;
  }

  /// With the operands' shapes as the node's own graph has them: those of opaque nodes that stand
  /// for each other may differ.
  double operations(const JointNode& n) const {
    std::vector<std::vector<int64_t>> shapes;
    for (Value v : n.node->inputs) {
      const auto& shape = n.graph->type(v).shape;
      if (!shape) return 0;
      auto& numbers = shapes.emplace_back();
      for (const Poly& d : *shape) numbers.push_back(evaluate(d, sizes_.values[p_.graph_of(n)]));
    }
    return operation_count(*n.node->op, shapes,
                           evaluate(n.node->attrs, sizes_.values[p_.graph_of(n)]));
  }

  void hold(size_t n) {
    if (held_[n]) return;
    held_[n] = 1;
    alive_ += bytes_of(n);
    effort_.peak_bytes = std::max(effort_.peak_bytes, alive_);
  }
  /// Constants are held from their first use on.
  void read(Value v) {
    if (p_.joint.nodes[number(v)].node->kind == NodeKind::Constant) hold(number(v));
  }
  void release(Value v) {
    if (--uses_[number(v)] == 0) alive_ -= bytes_of(number(v));
  }
  void answer(size_t when) {
    for (size_t q : p_.due[when]) {
      read(p_.questions[q].first);
      read(p_.questions[q].second);
      release(p_.questions[q].first);
      release(p_.questions[q].second);
    }
  }

  const JointProgram& p_;
  const SizeAssignment& sizes_;
  std::vector<int64_t> uses_;
  std::vector<char> held_;
  double alive_ = 0;
  Effort effort_;
};

}  // namespace

Effort effort_of(const JointProgram& program, const SizeAssignment& sizes) {
  return Estimate(program, sizes).run();
}

}  // namespace regraft::rewrite
