#pragma once
// How operations are recorded; for the files that define Tape's operations only.
#include "base/check.h"
#include "rl/nn/tape.h"

namespace regraft::rl::nn {

/// Records how y's gradient goes to the inputs, if any of them wants it.
template <class S>
template <class Inputs, class F>
Var Tape<S>::link(Var y, const Inputs& inputs, F&& backward) {
  if (into_ == nullptr) return y;
  Node& node = nodes_[y.id];
  for (Var v : inputs) node.needs = node.needs || needs(v);
  if (node.needs) node.backward = std::forward<F>(backward);
  return y;
}

template <class S>
template <class F>
Var Tape<S>::link(Var y, std::initializer_list<Var> inputs, F&& backward) {
  return link<std::initializer_list<Var>, F>(y, inputs, std::forward<F>(backward));
}

/// Adds to a gradient; the expression is not evaluated when nobody wants it.
template <class S>
template <class E>
void Tape<S>::flow(Var to, const Eigen::MatrixBase<E>& expression) {
  Node& node = nodes_[to.id];
  if (!node.needs) return;
  if (node.touched)
    node.gradient->noalias() += expression;
  else
    node.gradient->noalias() = expression;
  node.touched = true;
}

/// The same with a matrix that nobody else needs.
template <class S>
void Tape<S>::flow(Var to, Matrix<S>&& matrix) {
  Node& node = nodes_[to.id];
  if (node.touched || !node.needs) return flow(to, std::as_const(matrix));
  *node.gradient = std::move(matrix);
  node.touched = true;
}

}  // namespace regraft::rl::nn
