#include "cost/runtime/cpu/prepare.h"

#include <cmath>

#include "base/check.h"
#include "ir/graph/eval.h"
#include "ir/graph/fold.h"

namespace regraft::cost::cpu {

namespace {

Value call(Graph& g, std::string_view op, Value left, Value right) {
  auto id = g.add_call(*find_op(op), {left, right}, {});
  CHECK(id.has_value());  // a vector along the channels fits what a normalisation took
  return {*id, 0};
}

/// x * scale + shift for the normalisation `id`, if its parameters are constants.
Status expand(Graph& g, int32_t id) {
  const Node n = g.node(id);
  std::vector<double> p[5];
  for (size_t k = 1; k < 5; ++k) {
    const Node& parameter = g.node(n.inputs[k].node);
    if (parameter.kind != NodeKind::Constant) return {};
    ASSIGN_OR_RETURN(p[k], parameter.constant->reals());
  }
  std::vector<double> scale = p[1], shift = p[2];
  for (size_t c = 0; c < scale.size(); ++c) {
    scale[c] /= std::sqrt(p[4][c] + n.attrs.reals[0].value);
    shift[c] -= p[3][c] * scale[c];
  }
  std::vector<int64_t> dims(n.types[0].shape->size() - 1, 1);
  dims[0] = static_cast<int64_t>(scale.size());
  DType type = n.types[0].dtype;
  Value product = call(g, "mul", n.inputs[0], g.add_constant(make_constant(type, dims, scale)));
  replace_uses(g, {id, 0},
               call(g, "add", product, g.add_constant(make_constant(type, dims, shift))));
  return {};
}

}  // namespace

Result<Graph> prepared(const Graph& graph) {
  ASSIGN_OR_RETURN(Graph g, fold_constants(graph));
  for (int32_t id = 0, bound = g.id_bound(); id < bound; ++id) {
    if (!g.contains(id) || g.node(id).kind != NodeKind::Call) continue;
    if (g.node(id).op->channel_affine) RETURN_IF_ERROR(expand(g, id));
  }
  remove_dead(g);
  return g;
}

}  // namespace regraft::cost::cpu
