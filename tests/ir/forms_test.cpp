// What operators say of their ONNX forms. tests/io/forms_test.py asks onnxruntime.
#include <cmath>

#include "tests/ir/graphs.h"

namespace regraft {
namespace {

Result<OnnxExport> form(const char* name, const Attrs<int64_t>& attrs,
                        const std::vector<std::vector<int64_t>>& shapes, DType type = DType::F32,
                        int opset = 18) {
  std::vector<TensorType> operands;
  for (const auto& s : shapes) operands.push_back({type, shape_of(s)});
  return find_op(name)->to_onnx(symbolic(attrs), operands, opset);
}

std::string refusal(const Result<OnnxExport>& form) { return form ? "" : form.error().message; }

double input(const OnnxExport& form, size_t k) { return form.inputs[k].constant->reals()->front(); }

TEST(Forms, PadsAsLargeAsTheKernelAreRefused) {
  for (int64_t pad : {1, 2}) {
    Attrs<int64_t> at{{{2, 2}, {1, 1}, {0, 0, pad, 0}, {1, 1}}, {}};
    auto max = form("maxpool", at, {{1, 1, 4, 4}});
    at.ints.push_back({0});
    auto average = form("avgpool", at, {{1, 1, 4, 4}});
    EXPECT_EQ(max.has_value(), pad < 2) << refusal(max);
    EXPECT_EQ(average.has_value(), pad < 2) << refusal(average);
  }
}

TEST(Forms, TypesAreThoseOfTheTable) {
  Attrs<int64_t> none;
  EXPECT_TRUE(form("relu", none, {{2}}, DType::BF16, 13));
  EXPECT_EQ(refusal(form("relu", none, {{2}}, DType::BF16, 12)),
            "Relu on bfloat16 is newer than the model's opset 12");
  EXPECT_EQ(refusal(form("erf", none, {{2}}, DType::F32, 8)),
            "Erf on float32 is newer than the model's opset 8");
  EXPECT_TRUE(find_op("conv")->runs_on(DType::F32, 7));
  EXPECT_FALSE(find_op("conv")->runs_on(DType::F64, 26));
  EXPECT_TRUE(find_op("batchnorm")->runs_on(DType::F64, 7));
  EXPECT_FALSE(find_op("clip")->runs_on(DType::F64, 11));
  EXPECT_TRUE(find_op("concat")->runs_on(DType::BF16, 13));
  EXPECT_FALSE(find_op("full")->runs_on(DType::F32, 26));
}

TEST(Forms, EveryRowHasATypeOfTheTable) {
  for (const OpDef* op : all_ops()) {
    bool some = std::any_of(op->types.begin(), op->types.end(),
                            [](const TypeSupport& t) { return t.specified <= 26; });
    bool standard = std::any_of(op->onnx.begin(), op->onnx.end(), [](std::string_view type) {
      return type.find(':') == std::string_view::npos;
    });
    EXPECT_EQ(some, standard) << op->name;
  }
}

TEST(Forms, OperatorsOfTheRuntimeNeedItsOperatorSet) {
  auto written = [](const char* op, Opset opset) {
    std::vector<TensorType> operands = {{DType::F32, Shape{2, 3}}};
    auto r = find_op(op)->to_onnx({}, operands, opset);
    return r ? r->type : r.error().message;
  };
  EXPECT_EQ(written("gelu", 20), "Gelu");
  EXPECT_EQ(written("gelu", 17), "Gelu on float32 is newer than the model's opset 17");
  EXPECT_EQ(written("gelu", Opset(17, true)), "com.microsoft:Gelu");
  EXPECT_EQ(written("gelu-tanh", Opset(17, true)), "com.microsoft:FastGelu");
  EXPECT_FALSE(find_op("gelu")->runs_on(DType::F32, 17));
  EXPECT_TRUE(find_op("gelu")->runs_on(DType::F32, Opset(17, true)));
  EXPECT_FALSE(find_op("gelu")->runs_on(DType::F16, Opset(17, true)));
  EXPECT_FALSE(find_op("fused-matmul")->runs_on(DType::F32, 26));
  EXPECT_TRUE(find_op("fused-matmul")->runs_on(DType::F64, Opset(7, true)));
}

TEST(Forms, BoundsHaveTheTypeOfWhatIsCut) {
  Attrs<int64_t> tenth{{}, {{-0.1, nullptr}, {1e300, nullptr}}};
  auto f64 = form("clip", tenth, {{2}}, DType::F64);
  ASSERT_TRUE(f64) << refusal(f64);
  EXPECT_EQ(input(*f64, 1), -0.1);
  EXPECT_EQ(input(*f64, 2), 1e300);
  EXPECT_EQ(f64->inputs[1].constant->dtype(), DType::F64);
  EXPECT_EQ(refusal(form("clip", tenth, {{2}})), "min = -0.1 is no float32 number");
  EXPECT_EQ(refusal(form("clip", tenth, {{2}}, DType::F64, 10)),
            "attribute max = 1e+300 is no float32 number");
  Attrs<int64_t> half{{}, {{-0.5, nullptr}, {6, nullptr}}};
  for (DType type : {DType::F32, DType::F16, DType::BF16}) {
    auto made = form("clip", half, {{2}}, type);
    ASSERT_TRUE(made) << refusal(made);
    EXPECT_EQ(made->inputs[1].constant->dtype(), type);
    EXPECT_EQ(input(*made, 1), -0.5);
  }
}

TEST(Forms, NoBoundIsLeftOut) {
  constexpr double kFloat = std::numeric_limits<float>::max(),
                   kDouble = std::numeric_limits<double>::max();
  auto inputs = [&](double bound, DType type) {
    auto made = form("clip", {{}, {{0, nullptr}, {bound, nullptr}}}, {{2}}, type);
    EXPECT_TRUE(made) << refusal(made);
    return made && made->inputs[2].constant != nullptr;
  };
  for (DType type : {DType::F32, DType::F16, DType::BF16}) EXPECT_FALSE(inputs(kFloat, type));
  EXPECT_TRUE(inputs(kFloat, DType::F64));  // a bound like any other
  EXPECT_FALSE(inputs(kDouble, DType::F64));
  for (DType type : {DType::F32, DType::F64}) EXPECT_TRUE(inputs(INFINITY, type));
}

TEST(Forms, AttributesAreFloatsOrRefused) {
  auto gemm = [](double alpha) {
    return form("gemm", {{{0}, {0}}, {{alpha, nullptr}, {1, nullptr}}}, {{2, 3}, {3, 4}});
  };
  EXPECT_TRUE(gemm(0.75));
  EXPECT_TRUE(gemm(static_cast<double>(0.1F)));
  EXPECT_EQ(refusal(gemm(0.1)), "attribute alpha = 0.1 is no float32 number");
  for (const OpDef* op : all_ops())
    for (const RealAttr& a : op->reals)
      EXPECT_EQ(static_cast<double>(static_cast<float>(a.fallback)), a.fallback)
          << op->name << " " << a.name;
}

TEST(Forms, WhatNoRuntimeTakesIsRefused) {
  EXPECT_FALSE(
      form("gemm", {{{0}, {0}}, {{1, nullptr}, {1, nullptr}}}, {{2, 3}, {3, 4}}, DType::F32, 10));
  EXPECT_FALSE(form("reduce-sum", {{{}, {1}}, {}}, {{2, 3}}));  // no axis would mean all
  EXPECT_FALSE(form("global-avgpool", {}, {{1, 1, 2, 2, 2, 2}}));
  EXPECT_FALSE(form("resize-linear", {{{2, 2, 2, 2}, {1}}, {}}, {{1, 1, 2, 2, 2, 2}}));
  EXPECT_FALSE(form("pad", {{{}}, {{0, nullptr}}}, {{}}));
  // Of nothing:
  EXPECT_FALSE(form("layernorm", {{{-1}}, {{1, nullptr}}}, {{2, 0}, {1}}));
  EXPECT_TRUE(form("layernorm", {{{-1}}, {{1, nullptr}}}, {{0, 2}, {1}}));
  EXPECT_FALSE(form("global-avgpool", {}, {{1, 1, 0, 2}}));
  EXPECT_TRUE(form("global-avgpool", {}, {{0, 1, 2, 2}}));
  Attrs<int64_t> plain{{{1}, {0, 0}, {1}, {1}}, {}}, padded{{{1}, {1, 0}, {1}, {1}}, {}};
  EXPECT_FALSE(form("conv", plain, {{1, 2, 0}, {3, 2, 1}}));
  EXPECT_TRUE(form("conv", padded, {{1, 2, 0}, {3, 2, 1}}));
  EXPECT_FALSE(form("conv", padded, {{1, 0, 4}, {3, 0, 1}}));
  EXPECT_TRUE(form("conv", plain, {{0, 2, 4}, {3, 2, 1}}));
}

TEST(Forms, AxesAreWrittenFromTheFront) {
  auto made = form("concat", {{{-1}}, {}}, {{2, 3}, {2, 3}}, DType::F32, 7);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->attrs.at("axis").ints, std::vector<int64_t>{1});
}

TEST(Forms, ReshapeToACopiedAndAnInferredSizeIsRefused) {
  SymbolPool pool;
  Poly n = Poly::symbol(pool.named("n")), m = Poly::symbol(pool.named("m"));
  const OpDef& op = *find_op("reshape");
  auto to = [&](std::vector<Poly> shape, Shape x) {
    return op.to_onnx({{std::move(shape)}, {}}, {{DType::F32, std::move(x)}}, 18).has_value();
  };
  EXPECT_TRUE(to({n, Poly(2), m}, {n, Poly(2), m}));
  EXPECT_TRUE(to({Poly(2) * n, Poly(2)}, {n, Poly(4)}));
  EXPECT_FALSE(to({n, Poly(2) * m}, {n, m, Poly(2)}));  // with n = 0 nothing says what m is
}

}  // namespace
}  // namespace regraft
