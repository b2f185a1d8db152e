// Operators that have no kernel here: their formula in double precision. Correct, and slow.
#include <algorithm>

#include "cost/runtime/cpu/lower.h"
#include "ir/graph/eval.h"

namespace regraft::cost::cpu {

Status lower_formula(Lowering& to, const Lowering::Call& call) {
  std::vector<int> slots;
  std::vector<Dims> shapes;
  for (Value v : call.node.inputs) {
    slots.push_back(to.read(v, Layout::Plain));
    shapes.push_back(to.dims(v));
  }
  auto outputs = static_cast<int32_t>(call.node.types.size());
  for (int32_t k = 0; k < outputs; ++k) slots.push_back(to.write({call.id, k}, Layout::Plain));
  to.add_loop(std::move(slots), [op = call.node.op, at = call.at, shapes](Pointers p) {
    std::vector<Array<double>> operands;
    for (size_t k = 0; k < shapes.size(); ++k)
      operands.push_back({shapes[k], {p[k], p[k] + product(shapes[k])}});
    std::vector<const Array<double>*> given;
    for (const auto& operand : operands) given.push_back(&operand);
    auto results = evaluate_reals(*op, given, at);
    CHECK(results.has_value());  // the shapes were inferred
    for (size_t k = 0; k < results->size(); ++k) {
      const auto& data = (*results)[k].data;
      std::transform(data.begin(), data.end(), p[shapes.size() + k],
                     [](double x) { return static_cast<float>(x); });
    }
  });
  return {};
}

}  // namespace regraft::cost::cpu
