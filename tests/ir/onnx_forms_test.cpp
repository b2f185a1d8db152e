// What operators make of ONNX nodes, and which forms they refuse to write.
#include "tests/ir/graphs.h"

namespace regraft {
namespace {

OnnxNode node(const char* type, int opset, const std::vector<std::vector<int64_t>>& shapes) {
  OnnxNode n;
  n.type = type;
  n.opset = opset;
  for (const auto& s : shapes)
    n.inputs.push_back({true, {DType::F32, shape_of(s)}, nullptr, nullptr});
  return n;
}
void add_constant(OnnxNode& n, std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  auto c = Constant::of_ints(dims, values);
  n.inputs.push_back({true, {DType::I64, shape_of(dims)}, c, nullptr});
}
void add_ints(OnnxNode& n, const char* name, std::vector<int64_t> values) {
  n.attrs[name].ints = std::move(values);
}
std::vector<int64_t> list(const std::optional<OnnxImport>& import, size_t k) {
  std::vector<int64_t> r;
  if (!import) return {-99};
  for (const Poly& p : import->attrs.ints[k]) r.push_back(p.constant());
  return r;
}
using List = std::vector<int64_t>;

std::optional<OnnxImport> read(const char* op, const OnnxNode& n) {
  return find_op(op)->from_onnx(n);
}
Result<OnnxExport> write(const char* op, const Attrs<int64_t>& at,
                         const std::vector<std::vector<int64_t>>& shapes, int opset,
                         DType type = DType::F32) {
  std::vector<TensorType> operands;
  for (const auto& s : shapes) operands.push_back({type, shape_of(s)});
  return find_op(op)->to_onnx(symbolic(at), operands, opset);
}

TEST(OnnxForms, LogSoftmaxBeforeOpset13IsOverAllAxesFromTheGivenOneOn) {
  EXPECT_EQ(list(read("log-softmax", node("LogSoftmax", 12, {{2, 3, 4}})), 1), List{1});
  EXPECT_EQ(list(read("log-softmax", node("LogSoftmax", 12, {{2, 3}})), 1), List{0});
  EXPECT_EQ(list(read("log-softmax", node("LogSoftmax", 13, {{2, 3, 4}})), 1), List{0});
  Attrs<int64_t> inner{{{1}, {0}}, {}}, flat{{{1}, {1}}, {}};
  EXPECT_FALSE(write("log-softmax", inner, {{2, 3, 4}}, 12));
  EXPECT_TRUE(write("log-softmax", inner, {{2, 3, 4}}, 13));
  EXPECT_TRUE(write("log-softmax", flat, {{2, 3, 4}}, 12));
  EXPECT_FALSE(write("log-softmax", flat, {{2, 3, 4}}, 13));
}

std::optional<OnnxImport> einsum(const char* equation, std::vector<std::vector<int64_t>> shapes) {
  OnnxNode n = node("Einsum", 12, shapes);
  n.attrs["equation"].text = equation;
  return read("einsum", n);
}

TEST(OnnxForms, EinsumNumbersItsLettersInOrder) {
  auto product = einsum("bij, bkj -> bik", {{2, 3, 4}, {2, 5, 4}});
  EXPECT_EQ(list(product, 0), (List{0, 1, 2}));
  EXPECT_EQ(list(product, 1), (List{0, 3, 2}));
  EXPECT_EQ(list(product, 2), (List{0, 1, 3}));
  EXPECT_EQ(list(einsum("ba", {{2, 3}}), 2), (List{1, 0}));  // implied: in alphabetical order
  EXPECT_EQ(list(einsum("ii", {{2, 2}}), 2), List{});
  EXPECT_EQ(list(einsum("...a,a->...", {{2, 3, 4}, {4}}), 2), (List{0, 1}));
  EXPECT_EQ(list(einsum("...a,...b->b...a", {{5, 2}, {6, 5, 3}}), 1), (List{2, 0, 3}));
  EXPECT_FALSE(einsum("ij->ik", {{2, 3}}));
  EXPECT_FALSE(einsum("ij->i", {{2, 3, 4}}));
  EXPECT_FALSE(einsum("i,i,i->", {{2}, {2}, {2}}));
  EXPECT_FALSE(einsum("", {{2}}));
  EXPECT_FALSE(einsum("i.j->i", {{2, 3}}));
}

TEST(OnnxForms, AVectorInAMatMulIsAnEinsum) {
  auto letters = [](std::vector<std::vector<int64_t>> shapes) {
    return list(read("einsum", node("MatMul", 13, shapes)), 2);
  };
  EXPECT_EQ(letters({{3}, {3}}), List{});
  EXPECT_EQ(letters({{2, 4, 3}, {3}}), (List{0, 1}));
  EXPECT_EQ(letters({{3}, {2, 3, 5}}), (List{1, 2}));
  EXPECT_FALSE(read("einsum", node("MatMul", 13, {{2, 3}, {3, 4}})));
}

TEST(OnnxForms, TransposedConvolutionsPadToAMultipleOfTheSize) {
  OnnxNode n = node("ConvTranspose", 11, {{1, 1, 4, 4}, {1, 1, 4, 4}});
  add_ints(n, "strides", {2, 1});
  n.attrs["auto_pad"].text = "SAME_LOWER";
  EXPECT_EQ(list(read("conv-transpose", n), 1), (List{1, 2, 1, 1}));
  add_ints(n, "strides", {5, 1});  // would need pads below 0
  EXPECT_FALSE(read("conv-transpose", n));
  OnnxNode shaped = node("ConvTranspose", 11, {{1, 1, 4, 4}, {1, 1, 4, 4}});
  add_ints(shaped, "output_shape", {6, 7});
  EXPECT_EQ(list(read("conv-transpose", shaped), 1), (List{1, 0, 0, 0}));
  add_ints(shaped, "output_shape", {8, 9});  // more than there is
  EXPECT_EQ(list(read("conv-transpose", shaped), 4), (List{1, 2}));
  for (int64_t more : {1, 2}) {
    Attrs<int64_t> at{{{2}, {0, 0}, {3}, {1}, {more}}, {}};
    EXPECT_EQ(write("conv-transpose", at, {{1, 1, 4}, {1, 1, 2}}, 11).has_value(), more < 2);
  }
}

TEST(OnnxForms, CompressIsAGather) {
  OnnxNode n = node("Compress", 11, {{4, 3}});
  add_constant(n, {3}, {1, 0, 1});
  EXPECT_FALSE(read("gather", n));  // of the flat data
  add_ints(n, "axis", {-1});
  EXPECT_EQ(list(read("gather", n), 1), (List{0, 2}));
  EXPECT_EQ(list(read("gather", n), 2), List{2});
  OnnxNode none = node("Compress", 11, {{4}});
  add_constant(none, {2}, {0, 0});
  EXPECT_FALSE(read("gather", none));
}

TEST(OnnxForms, IndicesCountFromTheBack) {
  OnnxNode n = node("GatherND", 13, {{4, 3}});
  add_constant(n, {2, 2}, {-1, 0, 1, -3});
  EXPECT_EQ(list(read("gather-nd", n), 1), (List{3, 0, 1, 0}));
  OnnxNode e = node("GatherElements", 13, {{4, 3}});
  add_constant(e, {1, 3}, {-4, 0, -1});
  EXPECT_EQ(list(read("gather-elements", e), 1), (List{0, 0, 3}));
}

TEST(OnnxForms, ScatteringToOnePlaceTwiceIsAFormOnlyWhereItAdds) {
  SymbolPool pool;
  auto fits = [&](const char* op, const Attrs<int64_t>& at, List updates) {
    return infer_call(pool, *find_op(op),
                      {{DType::F32, shape_of({3, 2})}, {DType::F32, shape_of(updates)}},
                      symbolic(at))
        .has_value();
  };
  for (int64_t add : {0, 1}) {
    EXPECT_EQ(fits("scatter-nd", {{{1, 1}, {1}, {add}}, {}}, {2, 2}), add == 1);
    EXPECT_EQ(fits("scatter-elements", {{{0}, {1, 0, 1, 2}, {2, 2}, {add}}, {}}, {2, 2}), add == 1);
    EXPECT_TRUE(fits("scatter-nd", {{{1, 0}, {1}, {add}}, {}}, {2, 2}));
    EXPECT_TRUE(fits("scatter-elements", {{{0}, {1, 0, 2, 1}, {2, 2}, {add}}, {}}, {2, 2}));
    EXPECT_FALSE(fits("scatter-nd", {{{3, 0}, {1}, {add}}, {}}, {2, 2}));  // outside
  }
}

TEST(OnnxForms, ExpandToASizeOfTheModel) {
  SymbolPool pool;
  Poly n = Poly::symbol(pool.named("n"));
  OnnxNode e = node("Expand", 13, {{1, 3}});
  auto sizes = std::make_shared<SizeTensor>();
  sizes->dims = {2};
  sizes->elements = {{n}, {Poly(1)}};
  e.inputs.push_back({true, {DType::I64, shape_of({2})}, nullptr, sizes});
  auto read_back = read("expand", e);
  ASSERT_TRUE(read_back);
  EXPECT_TRUE(same(read_back->attrs.ints[0][0], n));
  EXPECT_TRUE(same(read_back->attrs.ints[0][1], Poly(3)));
  e.inputs[0].type.shape = Shape{Poly::symbol(pool.named("m")), Poly(3)};
  EXPECT_FALSE(read("expand", e));  // either may be 1
}

TEST(OnnxForms, WhatRuntimesDoNotTakeIsRefused) {
  Attrs<int64_t> group{{{2}, {1}}, {{1, nullptr}}}, channel{{{2}, {0}}, {{1, nullptr}}};
  EXPECT_FALSE(write("groupnorm", group, {{1, 4, 3}, {2}, {2}}, 18));
  EXPECT_FALSE(write("groupnorm", channel, {{1, 4, 3}, {4}, {4}}, 20));
  EXPECT_TRUE(write("groupnorm", channel, {{1, 4, 3}, {4}, {4}}, 21));
  EXPECT_FALSE(write("mean-variance-norm", {{{0}}, {}}, {{2, 3}}, 13));
  EXPECT_TRUE(write("mean-variance-norm", {{{0}}, {}}, {{2, 3}}, 9));
  Attrs<int64_t> wrap{{{1, 1}, {2}}, {}}, edge{{{1, 1}, {1}}, {}};
  EXPECT_FALSE(write("pad-inside", wrap, {{3}}, 18));
  EXPECT_TRUE(write("pad-inside", wrap, {{3}}, 19));
  EXPECT_TRUE(write("pad-inside", edge, {{3}}, 7));
  Attrs<int64_t> causal{{{0}, {0}, {1}}, {{0, nullptr}, {0, nullptr}}};
  std::vector<List> heads(3, List{1, 2, 3, 4});
  EXPECT_TRUE(write("attention", causal, heads, 23));
  EXPECT_FALSE(write("attention", causal, heads, 23, DType::F64));
}

}  // namespace
}  // namespace regraft
