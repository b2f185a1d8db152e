#include "cost/runtime/cpu/compiled.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "cost/runtime/cpu/buffer.h"
#include "tests/cost/cpu_support.h"

namespace regraft::cost::cpu {
namespace {

std::vector<Layout> layouts(const Graph& g, const std::vector<Value>& values, Layout layout) {
  std::vector<Layout> all;
  for (Value v : values) {
    size_t rank = g.shape(v).size();
    all.push_back(rank >= 3 && rank <= 5 ? layout : Layout::Plain);
  }
  return all;
}

void check(const Graph& g, std::vector<Array<float>> inputs, Layout in, Layout out,
           const std::string& what, CompileOptions options = {}, double tolerance = 2e-5) {
  auto want = reference(g, inputs);
  auto kernel = compile(g, layouts(g, g.inputs(), in), layouts(g, g.outputs(), out), options);
  ASSERT_TRUE(kernel) << what << ": " << kernel.error().message;
  auto got = run_once(*kernel, inputs);
  ASSERT_TRUE(got) << what << ": " << got.error().message;
  expect_near(*got, want, tolerance, what);
}

/// All layouts; operands given at the run, and known before.
void check_everyhow(const Graph& g, const std::string& what, bool negative = true,
                    double tolerance = 2e-5) {
  auto inputs = random_inputs(g, 7, negative);
  for (Layout in : {Layout::Plain, Layout::Blocked})
    for (Layout out : {Layout::Plain, Layout::Blocked}) {
      std::string how = what + (in == Layout::Plain ? " plain" : " blocked") + " to" +
                        (out == Layout::Plain ? " plain" : " blocked");
      check(g, inputs, in, out, how, {}, tolerance);
      if (inputs.size() < 2) continue;
      auto some = inputs;
      Graph known = with_constants(g, some, 1);
      check(known, some, in, out, how + ", constants", {}, tolerance);
    }
}

Graph sample_graph(const OpDef& op, const Sample& sample) {
  Graph g;
  std::vector<Value> operands;
  for (const auto& shape : sample.shapes)
    operands.push_back(g.add_input({DType::F32, Shape(shape.begin(), shape.end())}));
  auto id = g.add_call(op, operands, symbolic(sample.attrs));
  EXPECT_TRUE(id) << op.name;
  std::vector<Value> outputs;
  for (size_t k = 0; k < g.node(*id).types.size(); ++k)
    outputs.push_back({*id, static_cast<int32_t>(k)});
  g.set_outputs(outputs);
  return g;
}

TEST(Cpu, EveryOperatorComputesItsSamples) {
  const std::set<std::string_view> positive = {"sqrt",  "batchnorm",  "div",           "log",
                                               "power", "reciprocal", "reduce-log-sum"};
  for (const OpDef* op : all_ops())
    for (const Sample& sample : op->samples()) {
      if (sample.shapes.empty()) continue;  // constants: folded
      Graph g = sample_graph(*op, sample);
      if (g.type(g.outputs()[0]).dtype != DType::F32) continue;  // kernels have float32 only
      check_everyhow(g, std::string(op->name), !positive.contains(op->name));
    }
}

struct Fused {
  const char* name;
  const char* text;
  bool negative = true;  ///< numbers of both signs
};
const Fused kFused[] = {
    {"convolution, batchnorm, sum, relu", R"(%0 = input : float32[2,32,9,7]
%1 = input : float32[48,32,3,3]
%2 = input : float32[48]
%3 = input : float32[48]
%4 = input : float32[48]
%5 = input : float32[48]
%6 = input : float32[48]
%7 = input : float32[2,48,5,4]
%8 = conv %0 %1 %2 strides=2,2 pads=1,1,1,1 : float32[2,48,5,4]
%9 = batchnorm %8 %3 %4 %5 %6 : float32[2,48,5,4]
%10 = add %9 %7 : float32[2,48,5,4]
%11 = relu %10 : float32[2,48,5,4]
outputs %11
)",
     false},
    {"grouped, dilated, hard sigmoid, channels after", R"(%0 = input : float32[1,32,12,12]
%1 = input : float32[32,16,3,3]
%2 = input : float32[32,1,1]
%3 = conv %0 %1 pads=2,2,2,2 dilations=2,2 group=2 : float32[1,32,12,12]
%4 = hard-sigmoid %3 : float32[1,32,12,12]
%5 = mul %4 %2 : float32[1,32,12,12]
%6 = sub %2 %5 : float32[1,32,12,12]
outputs %6
)"},
    {"depthwise, uneven pads, clip", R"(%0 = input : float32[1,16,10,8]
%1 = input : float32[16,1,3,3]
%2 = conv %0 %1 pads=0,1,2,1 group=16 : float32[1,16,10,8]
%3 = clip %2 min=0 max=0.3 : float32[1,16,10,8]
outputs %3
)"},
    {"the sum is also what is convolved", R"(%0 = input : float32[1,16,8,8]
%1 = input : float32[16,16,1,1]
%2 = conv %0 %1 : float32[1,16,8,8]
%3 = add %2 %0 : float32[1,16,8,8]
%4 = tanh %3 : float32[1,16,8,8]
outputs %4
)"},
    {"odd channels", R"(%0 = input : float32[1,19,8,8]
%1 = input : float32[21,19,3,3]
%2 = input : float32[1,21,8,8]
%3 = conv %0 %1 pads=1,1,1,1 : float32[1,21,8,8]
%4 = sigmoid %3 : float32[1,21,8,8]
%5 = add %4 %2 : float32[1,21,8,8]
%6 = exp %5 : float32[1,21,8,8]
outputs %6
)"},
    {"product, bias, gelu", R"(%0 = input : float32[2,5,24]
%1 = input : float32[24,40]
%2 = input : float32[40]
%3 = matmul %0 %1 : float32[2,5,40]
%4 = add %3 %2 : float32[2,5,40]
%5 = full shape=1 value=0.70710678 : float32[1]
%6 = mul %4 %5 : float32[2,5,40]
%7 = erf %6 : float32[2,5,40]
%8 = full shape=1 value=1 : float32[1]
%9 = add %7 %8 : float32[2,5,40]
%10 = mul %9 %4 : float32[2,5,40]
outputs %10
)"},
    {"gemm onto a matrix, transposed", R"(%0 = input : float32[20,6]
%1 = input : float32[30,20]
%2 = input : float32[6,1]
%3 = input : float32[30]
%4 = gemm %0 %1 %2 transA=1 transB=1 alpha=0.5 beta=3 : float32[6,30]
%5 = add %4 %3 : float32[6,30]
%6 = relu %5 : float32[6,30]
outputs %6
)"},
    {"gemm with a bias, scaled", R"(%0 = input : float32[6,20]
%1 = input : float32[20,30]
%2 = input : float32[30]
%3 = input : float32[6,30]
%4 = gemm %0 %1 %2 alpha=0.5 beta=3 : float32[6,30]
%5 = mul %4 %2 : float32[6,30]
%6 = add %5 %3 : float32[6,30]
outputs %6
)"},
    {"batched products", R"(%0 = input : float32[2,3,7,8]
%1 = input : float32[2,3,8,7]
%2 = matmul %0 %1 : float32[2,3,7,7]
%3 = softmax %2 axis=-1 : float32[2,3,7,7]
%4 = softmax %2 axis=1 : float32[2,3,7,7]
outputs %3 %4
)"},
    {"layer normalisation in parts", R"(%0 = input : float32[3,40]
%1 = reduce-mean %0 axes=-1 keepdims=1 : float32[3,1]
%2 = sub %0 %1 : float32[3,40]
%3 = mul %2 %2 : float32[3,40]
%4 = reduce-mean %3 axes=-1 keepdims=1 : float32[3,1]
%5 = sqrt %4 : float32[3,1]
%6 = div %2 %5 : float32[3,40]
outputs %6
)"},
    {"elementwise, broadcast every way", R"(%0 = input : float32[2,32,3,5]
%1 = input : float32[32,1,1]
%2 = input : float32[2,32,1,1]
%3 = input : float32[1,1,3,5]
%4 = input : float32[5]
%5 = add %0 %1 : float32[2,32,3,5]
%6 = mul %5 %2 : float32[2,32,3,5]
%7 = sub %3 %6 : float32[2,32,3,5]
%8 = mul %7 %4 : float32[2,32,3,5]
%9 = sigmoid %8 : float32[2,32,3,5]
%10 = mul %8 %9 : float32[2,32,3,5]
outputs %10 %7
)"},
    {"blocks that channels do not fill", R"(%0 = input : float32[2,21,3,5]
%1 = input : float32[2,21,3,5]
%2 = input : float32[37,21,1,1]
%3 = exp %0 : float32[2,21,3,5]
%4 = div %1 %3 : float32[2,21,3,5]
%5 = conv %4 %2 : float32[2,37,3,5]
%6 = sigmoid %5 : float32[2,37,3,5]
%7 = mul %6 %5 : float32[2,37,3,5]
%8 = maxpool %7 kernel=2,2 : float32[2,37,2,4]
%9 = concat %8 %8 axis=3 : float32[2,37,2,8]
outputs %9 %4
)"},
    {"normalised before", R"(%0 = input : float32[2,32,6,5]
%1 = input : float32[32]
%2 = input : float32[32]
%3 = input : float32[32]
%4 = input : float32[32]
%5 = batchnorm %0 %1 %2 %3 %4 : float32[2,32,6,5]
%6 = relu %5 : float32[2,32,6,5]
outputs %6
)",
     false},
    {"movement in blocks", R"(%0 = input : float32[2,48,6,5]
%1 = split %0 axis=1 sizes=16,32 : float32[2,16,6,5] ; float32[2,32,6,5]
%2 = slice %1#1 begins=0,16,1,4 sizes=2,16,3,2 steps=1,1,2,-3 : float32[2,16,3,2]
%3 = pad %2 pads=0,0,1,1,0,0,2,2 value=0.5 : float32[2,16,6,5]
%4 = concat %3 %1#0 %0 axis=1 : float32[2,80,6,5]
%5 = concat %4 %4 axis=2 : float32[2,80,12,5]
outputs %5
)"},
    {"reductions of axes apart", R"(%0 = input : float32[3,4,5,6]
%1 = reduce-max %0 axes=0,2 keepdims=1 : float32[1,4,1,6]
%2 = reduce-sum %0 axes=1 keepdims=0 : float32[3,5,6]
%3 = reduce-mean %0 axes=0,1 keepdims=0 : float32[5,6]
outputs %1 %2 %3
)"},
    {"a reshape and nothing else", R"(%0 = input : float32[2,3,4,5]
%1 = reshape %0 shape=6,20 : float32[6,20]
outputs %1
)"},
};

TEST(Cpu, FusedKernelsComputeWhatTheirCallsDo) {
  for (const Fused& f : kFused) check_everyhow(graph_of(f.text), f.name, f.negative, 2e-4);
}

TEST(Cpu, ThreadsDoNotChangeResults) {
  CompileOptions options;
  options.threads = kMostThreads;
  for (const Fused& f : kFused) {
    Graph g = graph_of(f.text);
    check(g, random_inputs(g, 3, f.negative), Layout::Blocked, Layout::Blocked, f.name, options,
          2e-4);
  }
}

TEST(Cpu, FirstChoicesAreRightToo) {
  CompileOptions options;
  options.tune = false;
  options.winograd = false;
  for (const Fused& f : kFused) {
    Graph g = graph_of(f.text);
    check(g, random_inputs(g, 3, f.negative), Layout::Plain, Layout::Plain, f.name, options);
  }
}

TEST(Cpu, LayoutsRoundTrip) {
  for (const char* shape : {"2,5,3", "2,35,4,3", "1,16,2,3,4"}) {
    Graph g = graph_of("%0 = input : float32[" + std::string(shape) + "]\noutputs %0\n");
    auto inputs = random_inputs(g, 1);
    Layout p = Layout::Plain, b = Layout::Blocked;
    for (auto [in, out] : {std::pair{p, b}, {b, p}, {p, p}, {b, b}}) {
      auto kernel = compile(g, std::vector{in}, std::vector{out}, CompileOptions{});
      ASSERT_TRUE(kernel);
      EXPECT_EQ(kernel->is_free(), in == out);
      auto got = run_once(*kernel, inputs);
      ASSERT_TRUE(got);
      EXPECT_EQ((*got)[0].data, inputs[0].data);
    }
  }
}

TEST(Cpu, ResultsAreZeroBeyondTheLastChannel) {
  Graph g =
      graph_of("%0 = input : float32[2,21,3,5]\n%1 = exp %0 : float32[2,21,3,5]\noutputs %1\n");
  std::vector<Layout> blocked(1, Layout::Blocked);
  auto kernel = compile(g, blocked, blocked, CompileOptions{});
  ASSERT_TRUE(kernel);
  Buffer in(tensor_floats({2, 21, 3, 5}, Layout::Blocked)), out(in.size());
  std::fill_n(out.data(), out.size(), 7.0F);
  float *from = in.data(), *to = out.data();
  Launch(*kernel, std::span(&from, 1), std::span(&to, 1), nullptr).run();
  int64_t width = block_width(), blocks = (21 + width - 1) / width;
  for (int64_t k = 0; k < static_cast<int64_t>(out.size()); ++k) {
    int64_t channel = k / (15 * width) % blocks * width + k % width;
    ASSERT_NEAR(out.data()[k], channel < 21 ? 1 : 0, 1e-6) << k;
  }
}

TEST(Cpu, ASumIsMadeInPlace) {
  Graph swapped = graph_of(R"(%0 = input : float32[2,48,5,4]
%1 = input : float32[2,48,5,4]
%2 = input : float32[48,48,1,1]
%3 = conv %0 %2 : float32[2,48,5,4]
%4 = add %1 %3 : float32[2,48,5,4]
outputs %4
)");
  auto brought = random_inputs(swapped, 9);
  auto sums = reference(swapped, brought);
  Graph known = with_constants(swapped, brought, 2);
  std::vector<Layout> blocked(2, Layout::Blocked), one(1, Layout::Blocked);
  auto kernel = compile(known, blocked, one, CompileOptions{});
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->accumulator(), 1);
  auto got = run_once(*kernel, brought);
  ASSERT_TRUE(got);
  expect_near(*got, sums, 2e-5, "sum");
}

TEST(Cpu, WhatCannotRunIsAnError) {
  Graph half;
  Value x = half.add_input({DType::F16, Shape{Poly(2)}});
  half.set_outputs({{*half.add_call(*find_op("relu"), {x}, {}), 0}});
  std::vector<Layout> plain(1, Layout::Plain), blocked(1, Layout::Blocked);
  auto r = compile(half, plain, plain, CompileOptions{});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("float16"), std::string::npos) << r.error().message;

  Graph flat = graph_of("%0 = input : float32[2,3]\n%1 = relu %0 : float32[2,3]\noutputs %1\n");
  EXPECT_FALSE(compile(flat, blocked, plain, CompileOptions{}));
  EXPECT_FALSE(compile(flat, {}, plain, CompileOptions{}));

  Graph deep = graph_of(
      "%0 = input : float32[1,1,2,2,2,2]\n%1 = global-avgpool %0 : float32[1,1,1,1,1,1]\noutputs "
      "%1\n");
  r = compile(deep, plain, plain, CompileOptions{});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("global-avgpool"), std::string::npos) << r.error().message;

  auto fine = compile(flat, plain, plain, CompileOptions{});
  ASSERT_TRUE(fine);
  EXPECT_FALSE(run_once(*fine, {}));
  EXPECT_FALSE(run_once(*fine, {random_array({3, 2}, 1, true)}));
}

}  // namespace
}  // namespace regraft::cost::cpu
