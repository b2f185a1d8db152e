#include "verify/arithmetic/budget.h"

#include <algorithm>

namespace regraft::verify {

Limits limits_for(uint64_t effort) {
  auto scale = static_cast<int64_t>(std::clamp<uint64_t>(effort, 1, 1000));
  Limits l;
  l.steps *= scale;
  l.splits *= scale;
  l.solver_runs *= scale;
  l.solver_work *= scale;
  l.run_linear *= scale;
  l.run_nonlinear *= scale;
  l.run_brief *= scale;
  l.open_ends *= scale;
  return l;
}

void Budget::step() {
  if (--left_.steps < 0) throw OutOfBudget{"steps used up"};
  if (left_.steps % 64 == 0 && must_end(stop_)) throw OutOfBudget{"interrupted"};
}

bool Budget::split() { return left_.splits > 0 && left_.splits-- > 0; }

void Budget::run() {
  if (--left_.solver_runs < 0) throw OutOfBudget{"solver runs used up"};
  if (left_.solver_work < 0) throw OutOfBudget{"solver work used up"};
  if (must_end(stop_)) throw OutOfBudget{"interrupted"};
}

}  // namespace regraft::verify
