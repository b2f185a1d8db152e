// Computes a model's outputs from the operators' formulas: what the tests compare with other
// evaluators.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/host.h"
#include "base/printable.h"
#include "cli/support/commands.h"
#include "io/model.h"
#include "io/tensor_file.h"
#include "ir/graph/eval.h"

namespace regraft::cli {
namespace {

/// Binds a declared shape to the dimensions of actual data.
Status bind(const TensorType& type, const std::vector<int64_t>& dims, Valuation& sizes) {
  if (!type.shape || type.shape->size() != dims.size()) return error("an input has another rank");
  for (size_t d = 0; d < dims.size(); ++d) {
    const Poly& p = (*type.shape)[d];
    if (p.is_constant() ? p.constant() != dims[d] : false)
      return error("an input has another shape");
    if (!p.is_constant() && p.terms().size() == 1 && p.terms()[0].monomial.size() == 1)
      sizes.emplace(p.terms()[0].monomial[0], dims[d]);
  }
  return {};
}

Result<std::string> evaluate_model(const std::string& path, const std::string& in,
                                   const std::string& out) {
  ASSIGN_OR_RETURN(auto imported, io::load(path));
  const Graph& g = imported.graph;
  ASSIGN_OR_RETURN(auto order, topological_order(g));
  int calls = 0, opaque = 0;
  for (int32_t id : order) {
    calls += g.node(id).kind == NodeKind::Call;
    opaque += g.node(id).kind == NodeKind::Opaque;
  }
  if (opaque > 0) return fmt::format("opaque {} of {}", opaque, opaque + calls);
  Valuation sizes;
  std::vector<std::vector<Array<double>>> values(static_cast<size_t>(g.id_bound()));
  for (size_t k = 0; k < g.inputs().size(); ++k) {
    ASSIGN_OR_RETURN(auto data, io::read_tensor(fmt::format("{}/input_{}.pb", in, k)));
    RETURN_IF_ERROR(bind(g.type(g.inputs()[k]), data->dims(), sizes));
    ASSIGN_OR_RETURN(auto reals, data->reals());
    values[static_cast<size_t>(g.inputs()[k].node)] = {{data->dims(), std::move(reals)}};
  }
  for (int32_t id : order) {
    const Node& n = g.node(id);
    auto& value = values[static_cast<size_t>(id)];
    if (n.kind == NodeKind::Constant) {
      ASSIGN_OR_RETURN(auto reals, n.constant->reals());
      value = {{n.constant->dims(), std::move(reals)}};
    } else if (n.kind == NodeKind::Call) {
      std::vector<const Array<double>*> operands;
      for (Value v : n.inputs)
        operands.push_back(&values[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)]);
      ASSIGN_OR_RETURN(value, evaluate_reals(*n.op, operands, evaluate(n.attrs, sizes), Stop()));
    }
  }
  for (size_t k = 0; k < g.outputs().size(); ++k) {
    Value v = g.outputs()[k];
    const auto& array = values[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
    DType type = g.type(v).dtype;
    if (!is_real(type) && !is_integer(type)) return std::string("opaque output type");
    RETURN_IF_ERROR(io::write_tensor(fmt::format("{}/output_{}.pb", out, k),
                                     *make_constant(type, array.shape, array.data)));
  }
  return fmt::format("ok {} {}", calls, opaque);
}

}  // namespace

int run_eval(const EvalFlags& flags) {
  if (flags.list.empty()) {
    auto status = evaluate_model(flags.model, flags.inputs, flags.outputs);
    if (!status) return bad_input(status.error());
    fmt::print(results(), "{}\n", *status);
    return kDone;
  }
  std::ifstream list(flags.list);
  if (!list) return bad_input(error(flags.list + ": cannot be read"));
  for (std::string line; std::getline(list, line);) {
    size_t a = line.find('\t'), b = line.find('\t', a + 1);
    if (a == std::string::npos || b == std::string::npos)
      return bad_input(error(flags.list + ": a line without two tabs"));
    auto status =
        evaluate_model(line.substr(0, a), line.substr(a + 1, b - a - 1), line.substr(b + 1));
    fmt::print(results(), "{}\n", status ? *status : "error " + one_line(status.error().message));
    std::fflush(results());
    if (Stop::was_interrupted()) return kInterrupted;
  }
  return kDone;
}

}  // namespace regraft::cli
