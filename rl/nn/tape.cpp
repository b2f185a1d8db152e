// The tape itself, and products.
#include "rl/nn/tape.h"

#include "rl/nn/product.h"
#include "rl/nn/tape_impl.h"

namespace regraft::rl::nn {

template <class S>
Tape<S>::Tape(const Parameters<S>& parameters, Gradients<S>* into)
    : parameters_(&parameters), into_(into) {
  CHECK(into == nullptr || into->size() == parameters.size());
}

template <class S>
typename Tape<S>::Node& Tape<S>::next_node() {
  if (used_ == static_cast<int32_t>(nodes_.size())) nodes_.emplace_back();
  Node& node = nodes_[used_++];
  node.value = &node.own_value;
  node.gradient = &node.own_gradient;
  node.needs = node.touched = false;
  node.backward = nullptr;
  return node;
}

template <class S>
typename Tape<S>::Fresh Tape<S>::fresh(int64_t rows, int64_t cols) {
  Node& node = next_node();
  node.own_value.resize(rows, cols);
  return {Var{used_ - 1}, node.own_value};
}

/// For adding to a part of it: zeros if nothing has been added before.
template <class S>
Matrix<S>& Tape<S>::gradient_of(Var v) {
  Node& node = nodes_[v.id];
  if (!node.touched) node.gradient->setZero(node.value->rows(), node.value->cols());
  node.touched = true;
  return *node.gradient;
}

template <class S>
S Tape<S>::scalar(Var v) const {
  CHECK(value(v).size() == 1);
  return value(v)(0, 0);
}

template <class S>
void Tape<S>::backward(Var loss) {
  CHECK(into_ != nullptr && value(loss).size() == 1);
  flow(loss, Matrix<S>::Ones(1, 1));
  for (int32_t id = loss.id; id >= 0; --id) {
    Node& node = nodes_[id];
    if (!node.touched || !node.backward) continue;
    node.backward(*this, Var{id});
    node.touched = false;
  }
}

template <class S>
Var Tape<S>::constant(Matrix<S> m) {
  next_node().own_value = std::move(m);
  return {used_ - 1};
}

template <class S>
Var Tape<S>::parameter(int index) {
  Node& node = next_node();
  node.value = &parameters_->value(index);
  if (into_ != nullptr) {
    node.needs = node.touched = true;
    node.gradient = &into_->value(index);
  }
  return {used_ - 1};
}

template <class S>
Var Tape<S>::stop_gradient(Var a) {
  Node& node = next_node();
  node.value = nodes_[a.id].value;
  return {used_ - 1};
}

template <class S>
Var Tape<S>::matmul(Var a, Var b) {
  CHECK(cols(a) == rows(b));
  auto [y, out] = fresh(rows(a), cols(b));
  out = product<S>(value(a), value(b));
  return link(y, {a, b}, [a, b](Tape& t, Var self) {
    if (t.needs(a)) t.flow(a, product<S>(t.gradient(self), t.value(b).transpose()));
    if (t.needs(b)) t.flow(b, transposed_product<S>(t.value(a), t.gradient(self)));
  });
}

template <class S>
Var Tape<S>::linear(Var x, Var w, Var b) {
  CHECK(cols(x) == rows(w) && cols(b) == cols(w) && rows(b) == 1);
  auto [y, out] = fresh(rows(x), cols(w));
  out = product<S>(value(x), value(w));
  for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) += value(b).row(0);
  return link(y, {x, w, b}, [x, w, b](Tape& t, Var self) {
    const Matrix<S>& g = t.gradient(self);
    if (t.needs(x)) t.flow(x, product<S>(g, t.value(w).transpose()));
    if (t.needs(w)) t.flow(w, transposed_product<S>(t.value(x), g));
    if (!t.needs(b)) return;
    Matrix<S>& sums = t.gradient_of(b);
    for (Eigen::Index i = 0; i < g.rows(); ++i) sums.row(0) += g.row(i);
  });
}

template <class S>
Var Tape<S>::transpose(Var a) {
  auto [y, out] = fresh(cols(a), rows(a));
  out = value(a).transpose();
  return link(y, {a}, [a](Tape& t, Var self) { t.flow(a, t.gradient(self).transpose()); });
}

template class Tape<float>;
template class Tape<double>;

}  // namespace regraft::rl::nn
