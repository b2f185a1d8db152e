#include <limits>
#include <vector>

#include "rl/nn/product.h"
#include "tests/rl/differences.h"

namespace regraft::rl::nn {
namespace {

using T = Tape<double>;
using M = Matrix<double>;

/// a: 5 x 4, b: 5 x 4, w: 4 x 3, row: 1 x 4, column: 5 x 1, bias: 1 x 3, positive: 5 x 4.
struct Inputs {
  Parameters<double> p;
  int a, b, w, row, column, bias, positive;
};

Inputs inputs() {
  Inputs in;
  Rng rng(7);
  auto put = [&](const char* name, int64_t rows, int64_t cols, double low) {
    int i = in.p.add(name, rows, cols);
    in.p.value(i) = random_matrix(rows, cols, rng, low, 1.5);
    return i;
  };
  in.a = put("a", 5, 4, -1.5);
  in.b = put("b", 5, 4, -1.5);
  in.w = put("w", 4, 3, -1.5);
  in.row = put("row", 1, 4, -1.5);
  in.column = put("column", 5, 1, -1.5);
  in.bias = put("bias", 1, 3, -1.5);
  in.positive = put("positive", 5, 4, 0.3);
  return in;
}

struct Case {
  const char* name;
  std::function<Var(T&, const Inputs&)> op;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Indices kUnsorted = std::vector<int32_t>{2, 0, 2, 4, 0};  // segments 1 and 3 are empty
const Indices kRows = std::vector<int32_t>{3, 1, 3, 0, 1};

std::vector<Case> cases() {
#define OP(name, expression)                                  \
  {                                                           \
    name, [](T& t, const Inputs& in) { return t.expression; } \
  }
#define P(x) t.parameter(in.x)
  return {OP("matmul", matmul(P(a), P(w))),
          OP("linear", linear(P(a), P(w), P(bias))),
          OP("transpose", transpose(P(a))),
          OP("add", add(P(a), P(b))),
          OP("sub", sub(P(a), P(b))),
          OP("mul", mul(P(a), P(b))),
          OP("mul_itself", mul(P(a), P(a))),
          OP("minimum", minimum(P(a), P(b))),
          OP("maximum", maximum(P(a), P(b))),
          OP("scale", scale(P(a), -2.5)),
          OP("add_scalar", mul(t.add_scalar(P(a), 0.7), P(b))),
          OP("relu", relu(P(a))),
          OP("tanh", tanh(P(a))),
          OP("sigmoid", sigmoid(P(a))),
          OP("softplus", softplus(t.scale(P(a), 3))),
          OP("exp", exp(P(a))),
          OP("log", log(P(positive))),
          OP("square", square(P(a))),
          OP("abs", abs(P(a))),
          OP("huber", huber(P(a), 0.6)),
          OP("clamp", clamp(P(a), -0.5, 0.6)),
          OP("add_row", add_row(P(a), P(row))),
          OP("mul_row", mul_row(P(a), P(row))),
          OP("add_column", add_column(P(a), P(column))),
          OP("mul_column", mul_column(P(a), P(column))),
          OP("concat_columns", concat_columns({P(a), P(column), P(b), P(column)})),
          OP("concat_rows", concat_rows({P(a), P(row), P(b), P(row)})),
          OP("slice_columns", slice_columns(P(a), 1, 2)),
          OP("slice_rows", slice_rows(P(a), 2, 3)),
          OP("gather_columns", gather_columns(P(a), std::vector<int32_t>{3, 1, 1, 0})),
          OP("gather_rows", gather_rows(P(a), std::vector<int32_t>{4, 1, 1, 0, 4, 4, 2})),
          OP("segment_sum", segment_sum(P(a), kUnsorted, 5)),
          OP("segment_mean", segment_mean(P(a), kUnsorted, 5)),
          OP("segment_max", segment_max(P(a), kUnsorted, 5)),
          OP("segment_sum_of_rows", segment_sum(P(a), kRows, kUnsorted, 5)),
          OP("segment_mean_of_rows", segment_mean(P(a), kRows, kUnsorted, 5)),
          OP("weighted_segment_sum",
             weighted_segment_sum(P(a), kRows, {2, -1, 0.5, 3, 1}, kUnsorted, 5)),
          OP("segment_max_of_rows", segment_max(P(a), kRows, kUnsorted, 5)),
          OP("sum", square(t.sum(P(a)))),
          OP("mean", square(t.mean(P(a)))),
          OP("row_sum", row_sum(P(a))),
          OP("column_sum", column_sum(P(a))),
          OP("column_mean", column_mean(P(a))),
          OP("column_max", column_max(P(a))),
          OP("rms_norm", rms_norm(P(a), 1e-3)),
          OP("log_softmax", log_softmax(P(column))),
          OP("segment_log_softmax", segment_log_softmax(P(column), kUnsorted, 5)),
          OP("log_softmax_rows", log_softmax_rows(P(a))),
          OP("row_log_sum_exp", row_log_sum_exp(P(a)))};
#undef P
#undef OP
}

class Operation : public testing::TestWithParam<Case> {};

TEST_P(Operation, GradientIsTheCentralDifference) {
  const Inputs in = inputs();
  EXPECT_LT(worst_error(in.p, [&](T& t) { return weighted(t, GetParam().op(t, in)); }), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Tape, Operation, testing::ValuesIn(cases()),
                         [](const auto& param) { return std::string(param.param.name); });

M row_of(std::vector<double> v) { return Eigen::Map<M>(v.data(), 1, v.size()); }
M column_of(std::vector<double> v) { return Eigen::Map<M>(v.data(), v.size(), 1); }

/// The value of one operation on a constant.
template <class F>
M on(const M& m, F f) {
  const Parameters<double> none;
  T t(none, nullptr);
  return t.value(f(t, t.constant(m)));
}

TEST(Tape, PointwiseValues) {
  const M x = row_of({-2, -0.5, 0, 3});
  EXPECT_EQ(on(x, [](T& t, Var v) { return t.relu(v); }), row_of({0, 0, 0, 3}));
  EXPECT_EQ(on(x, [](T& t, Var v) { return t.abs(v); }), row_of({2, 0.5, 0, 3}));
  EXPECT_EQ(on(x, [](T& t, Var v) { return t.clamp(v, -1, 1); }), row_of({-1, -0.5, 0, 1}));
  EXPECT_EQ(on(x, [](T& t, Var v) { return t.huber(v, 1); }), row_of({1.5, 0.125, 0, 2.5}));
  EXPECT_TRUE(on(x, [](T& t, Var v) { return t.sigmoid(v); })
                  .isApprox(row_of({1 / (1 + std::exp(2.0)), 1 / (1 + std::exp(0.5)), 0.5,
                                    1 / (1 + std::exp(-3.0))})));
  EXPECT_TRUE(on(x, [](T& t, Var v) { return t.softplus(v); })
                  .isApprox(row_of({std::log1p(std::exp(-2.0)), std::log1p(std::exp(-0.5)),
                                    std::log(2.0), std::log1p(std::exp(3.0))})));
  EXPECT_EQ(on(row_of({1000, -1000}), [](T& t, Var v) { return t.softplus(v); }),
            row_of({1000, 0}));
  EXPECT_EQ(on(row_of({1000, -1000}), [](T& t, Var v) { return t.sigmoid(v); }), row_of({1, 0}));
}

TEST(Tape, SegmentsWithoutRowsAreZero) {
  M m(5, 2);
  m << -1, 2, -3, 4, -5, 6, -7, 8, -9, 10;
  M sum(5, 2), mean(5, 2), max(5, 2);
  sum << -12, 14, 0, 0, -6, 8, 0, 0, -7, 8;
  mean << -6, 7, 0, 0, -3, 4, 0, 0, -7, 8;
  max << -3, 10, 0, 0, -1, 6, 0, 0, -7, 8;
  EXPECT_EQ(on(m, [](T& t, Var v) { return t.segment_sum(v, kUnsorted, 5); }), sum);
  EXPECT_EQ(on(m, [](T& t, Var v) { return t.segment_mean(v, kUnsorted, 5); }), mean);
  EXPECT_EQ(on(m, [](T& t, Var v) { return t.segment_max(v, kUnsorted, 5); }), max);
  const M none(0, 2), zero = M::Zero(1, 2);
  EXPECT_EQ(on(none, [](T& t, Var v) { return t.column_max(v); }), zero);
  EXPECT_EQ(on(none, [](T& t, Var v) { return t.column_mean(v); }), zero);
  EXPECT_EQ(on(none, [](T& t, Var v) { return t.column_sum(v); }), zero);
}

TEST(Tape, SoftmaxesSumToOneAlsoFarFromZero) {
  const M column = column_of({1000, 998, -1000, 3, 2});
  const M logs = on(column, [](T& t, Var v) { return t.segment_log_softmax(v, kUnsorted, 5); });
  EXPECT_NEAR(std::exp(logs(0, 0)) + std::exp(logs(2, 0)), 1, 1e-12);
  EXPECT_NEAR(std::exp(logs(1, 0)) + std::exp(logs(4, 0)), 1, 1e-12);
  EXPECT_NEAR(logs(2, 0), -2000, 1e-9);
  EXPECT_EQ(logs(3, 0), 0);
  EXPECT_NEAR(on(column, [](T& t, Var v) { return t.log_softmax(v); }).array().exp().sum(), 1,
              1e-12);
  const M row = column.transpose();
  EXPECT_NEAR(on(row, [](T& t, Var v) { return t.row_log_sum_exp(v); })(0, 0),
              1000 + std::log1p(std::exp(-2.0)), 1e-9);
  EXPECT_NEAR(on(row, [](T& t, Var v) { return t.log_softmax_rows(v); })(0, 1),
              -2 - std::log1p(std::exp(-2.0)), 1e-9);
}

TEST(Tape, UsesOfOneValueAddUp) {
  const Inputs in = inputs();
  EXPECT_LT(worst_error(in.p,
                        [&](T& t) {
                          Var h = t.tanh(t.matmul(t.parameter(in.a), t.parameter(in.w)));
                          Var again = t.matmul(t.parameter(in.b), t.parameter(in.w));
                          return weighted(t, t.add(t.mul(h, h), t.mul(h, again)));
                        }),
            1e-6);
}

TEST(Tape, NothingFlowsThroughStopGradient) {
  const Inputs in = inputs();
  Gradients<double> g(in.p);
  T t(in.p, &g);
  Var a = t.parameter(in.a);
  t.backward(t.sum(t.mul(t.stop_gradient(a), a)));
  EXPECT_EQ(g.value(in.a), in.p.value(in.a));
  EXPECT_TRUE(g.value(in.b).isZero(0));
}

TEST(Tape, BackwardAddsAndResetStartsAnew) {
  const Inputs in = inputs();
  Gradients<double> g(in.p), once(in.p);
  T t(in.p, &g);
  auto run = [&](T& tape) {
    tape.reset();
    tape.backward(weighted(tape, tape.relu(tape.linear(tape.parameter(in.a), tape.parameter(in.w),
                                                       tape.parameter(in.bias)))));
  };
  T first(in.p, &once);
  run(first);
  run(t);
  run(t);
  once.add(Gradients<double>(once));
  for (int i = 0; i < g.size(); ++i) EXPECT_LT((g.value(i) - once.value(i)).norm(), 1e-12);
  T inference(in.p, nullptr);
  Var y = inference.matmul(inference.parameter(in.a), inference.parameter(in.w));
  EXPECT_TRUE(inference.value(y).isApprox(in.p.value(in.a) * in.p.value(in.w)));
}

template <class S>
void expect_products() {
  Rng rng(4);
  for (int64_t rows : {0, 1, 3, 4, 9})
    for (int64_t inner : {0, 1, 7})
      for (int64_t width : {0, 1, 3, 4, 8, 13, 16, 21, 36, 41}) {
        const Matrix<S> a = random_matrix(rows, inner, rng).cast<S>();
        const Matrix<S> b = random_matrix(inner, width, rng).cast<S>();
        Matrix<S> expected = Matrix<S>::Zero(rows, width);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < width; ++j)
            for (int64_t k = 0; k < inner; ++k) expected(i, j) += a(i, k) * b(k, j);
        for (const Matrix<S>& found : {product(a, b), transposed_product<S>(a.transpose(), b)}) {
          ASSERT_EQ(found.rows(), rows);
          ASSERT_EQ(found.cols(), width);
          ASSERT_LT((found - expected).norm(), 100 * std::numeric_limits<S>::epsilon());
        }
      }
}

TEST(Product, IsTheSumOfAllSizes) {
  expect_products<float>();
  expect_products<double>();
}

TEST(Gradients, ClipKeepsTheDirection) {
  Parameters<float> p;
  p.add("x", 1, 2);
  p.add("y", 1, 1);
  EXPECT_EQ(p.count(), 3);
  EXPECT_EQ(p.find("y"), 1);
  EXPECT_EQ(p.find("z"), -1);
  Gradients<float> g(p);
  g.value(0) << 3, 0;
  g.value(1) << 4;
  EXPECT_DOUBLE_EQ(g.clip(10), 5);
  EXPECT_EQ(g.value(1)(0, 0), 4);
  EXPECT_DOUBLE_EQ(g.clip(0.5), 5);
  EXPECT_FLOAT_EQ(g.value(0)(0, 0), 0.3F);
  EXPECT_FLOAT_EQ(g.value(1)(0, 0), 0.4F);
  g.zero();
  EXPECT_EQ(g.norm(), 0);
}

}  // namespace
}  // namespace regraft::rl::nn
