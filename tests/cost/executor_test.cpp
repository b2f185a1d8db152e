#include "cost/runtime/cpu/executor.h"

#include <gtest/gtest.h>

#include "cost/runtime/cpu/arena.h"
#include "tests/cost/cpu_support.h"

namespace regraft::cost::cpu {
namespace {

/// A network with what networks have: branches, a sum, a concatenation, pooling, a classifier.
const char* const kNetwork = R"(%0 = input : float32[1,3,32,32]
%1 = input : float32[32,3,3,3]
%2 = input : float32[32]
%3 = conv %0 %1 %2 strides=2,2 pads=1,1,1,1 : float32[1,32,16,16]
%4 = relu %3 : float32[1,32,16,16]
%5 = input : float32[16,32,1,1]
%6 = conv %4 %5 : float32[1,16,16,16]
%7 = input : float32[32,32,3,3]
%8 = conv %4 %7 pads=1,1,1,1 : float32[1,32,16,16]
%9 = input : float32[32]
%10 = input : float32[32]
%11 = input : float32[32]
%12 = input : float32[32]
%13 = batchnorm %8 %9 %10 %11 %12 : float32[1,32,16,16]
%14 = add %13 %4 : float32[1,32,16,16]
%15 = relu %14 : float32[1,32,16,16]
%16 = maxpool %15 kernel=3,3 strides=1,1 pads=1,1,1,1 : float32[1,32,16,16]
%17 = concat %6 %16 %15 axis=1 : float32[1,80,16,16]
%18 = input : float32[20,80,1,1]
%19 = conv %17 %18 : float32[1,20,16,16]
%20 = sigmoid %19 : float32[1,20,16,16]
%21 = mul %19 %20 : float32[1,20,16,16]
%22 = global-avgpool %21 : float32[1,20,1,1]
%23 = reshape %22 shape=1,20 : float32[1,20]
%24 = input : float32[20,10]
%25 = gemm %23 %24 : float32[1,10]
%26 = softmax %25 : float32[1,10]
outputs %26 %21
)";

/// One block of a transformer.
const char* const kAttention = R"(%0 = input : float32[1,12,32]
%1 = input : float32[32]
%2 = input : float32[32]
%3 = layernorm %0 %1 %2 : float32[1,12,32]
%4 = input : float32[32,32]
%5 = input : float32[32]
%6 = matmul %3 %4 : float32[1,12,32]
%7 = add %6 %5 : float32[1,12,32]
%8 = reshape %7 shape=1,12,4,8 : float32[1,12,4,8]
%9 = transpose %8 perm=0,2,1,3 : float32[1,4,12,8]
%10 = transpose %8 perm=0,2,3,1 : float32[1,4,8,12]
%11 = matmul %9 %10 : float32[1,4,12,12]
%12 = softmax %11 : float32[1,4,12,12]
%13 = matmul %12 %9 : float32[1,4,12,8]
%14 = transpose %13 perm=0,2,1,3 : float32[1,12,4,8]
%15 = reshape %14 shape=1,12,32 : float32[1,12,32]
%16 = add %15 %0 : float32[1,12,32]
%17 = erf %16 : float32[1,12,32]
%18 = mul %17 %16 : float32[1,12,32]
outputs %18
)";

struct Model {
  Graph graph;
  std::vector<Array<float>> inputs;
  std::vector<Array<double>> outputs;
};
Model model_of(const char* text) {
  Graph whole = graph_of(text);
  auto inputs = random_inputs(whole, 11, false);
  for (auto& a : inputs)
    if (a.shape.size() > 1)
      for (float& x : a.data) x = x - 0.55F;  // both signs, but for variances
  auto outputs = reference(whole, inputs);
  Graph known = with_constants(whole, inputs, 1);
  return {std::move(known), std::move(inputs), std::move(outputs)};
}

TEST(Executor, ComputesWhatTheGraphDoes) {
  for (const char* text : {kNetwork, kAttention}) {
    Model m = model_of(text);
    for (int threads = 1; threads <= kMostThreads; ++threads) {
      ExecutorOptions options;
      options.compile.threads = threads;
      auto e = Executor::compile(m.graph, options);
      ASSERT_TRUE(e) << e.error().message;
      for (int run = 0; run < 2; ++run) {  // buffers are used again
        auto got = e->run(m.inputs);
        ASSERT_TRUE(got) << got.error().message;
        expect_near(*got, m.outputs, 2e-4, text);
      }
      EXPECT_GT(e->time_once(3), 0);
      auto after = e->run(m.inputs);
      ASSERT_TRUE(after);
      expect_near(*after, m.outputs, 2e-4, "after a timing");
    }
  }
}

TEST(Executor, SharesBuffers) {
  std::string text = "%0 = input : float32[64,64]\n";
  for (int k = 1; k <= 20; ++k)
    text += "%" + std::to_string(k) + " = transpose %" + std::to_string(k - 1) +
            " perm=1,0 : float32[64,64]\n";
  auto e = Executor::compile(graph_of(text + "outputs %20\n"), {});
  ASSERT_TRUE(e) << e.error().message;
  EXPECT_EQ(e->plan().calls.size(), 20U);
  EXPECT_LE(e->activation_bytes(), 3U * 64 * 64 * 4);
}

TEST(Executor, PassesInputsAndConstantsThrough) {
  Graph g = graph_of("%0 = input : float32[2]\n%1 = input : float32[3]\noutputs %0 %1 %0\n");
  auto inputs = random_inputs(g, 1);
  Graph known = with_constants(g, inputs, 1);
  auto want = reference(known, inputs);
  auto e = Executor::compile(known, {});
  ASSERT_TRUE(e) << e.error().message;
  auto got = e->run(inputs);
  ASSERT_TRUE(got);
  expect_near(*got, want, 1e-7, "constants");
}

TEST(Executor, NamesWhatItCannotRun) {
  Graph g;
  Value x = g.add_input({DType::F32, Shape{Poly(2), Poly(3)}});
  Node opaque;
  opaque.kind = NodeKind::Opaque;
  opaque.inputs = {x};
  opaque.types = {g.type(x)};
  opaque.names = {"mystery"};
  Value y{g.add_node(opaque), 0};
  g.set_outputs({{*g.add_call(*find_op("relu"), {y}, {}), 0}});
  auto e = Executor::compile(g, {});
  ASSERT_FALSE(e);
  EXPECT_NE(e.error().message.find("'mystery'"), std::string::npos) << e.error().message;
  ExecutorOptions skip;
  skip.skip_opaque = true;
  auto rest = Executor::compile(g, skip);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->plan().calls.size(), 1U);
  EXPECT_GT(rest->time_once(1), 0);
}

TEST(Executor, RefusesInputsThatDoNotFit) {
  Model m = model_of(kAttention);
  auto e = Executor::compile(m.graph, {});
  ASSERT_TRUE(e);
  EXPECT_FALSE(e->run({}));
  EXPECT_FALSE(e->run({random_array({1, 12, 31}, 1, true)}));
}

TEST(Arena, TensorsThatLiveTogetherLieApart) {
  Rng rng(5);
  std::vector<Lifetime> tensors;
  for (int k = 0; k < 200; ++k) {
    int first = static_cast<int>(rng.below(100));
    tensors.push_back({1 + rng.below(500), first, first + static_cast<int>(rng.below(10))});
  }
  Placement p = place(tensors);
  size_t total = 0;
  for (size_t a = 0; a < tensors.size(); ++a) {
    total += tensors[a].floats;
    EXPECT_LE(p.offsets[a] + tensors[a].floats, p.floats);
    EXPECT_EQ(p.offsets[a] % 16, 0U);
    for (size_t b = 0; b < a; ++b) {
      bool together = tensors[a].first <= tensors[b].last && tensors[b].first <= tensors[a].last;
      bool apart = p.offsets[a] + tensors[a].floats <= p.offsets[b] ||
                   p.offsets[b] + tensors[b].floats <= p.offsets[a];
      EXPECT_TRUE(!together || apart) << a << " " << b;
    }
  }
  EXPECT_LT(p.floats, total / 4);
}

Kernel product_kernel(int64_t n) {
  Graph g;
  Shape square{Poly(n), Poly(n)};
  Value x = g.add_input({DType::F32, square}), w = g.add_input({DType::F32, square});
  g.set_outputs({{*g.add_call(*find_op("matmul"), {x, w}, {}), 0}});
  return {std::move(g), {0, 1}, {Layout::Plain, Layout::Plain}, {Layout::Plain}};
}

TEST(Timing, ASlowerKernelIsMeasuredSlower) {
  TimeOptions options;
  options.seconds = 2;
  std::vector<Kernel> kernels = {product_kernel(64), product_kernel(192), product_kernel(64)};
  auto times = time_kernels(kernels, options);
  ASSERT_EQ(times.size(), 3U);
  for (auto& t : times) {
    ASSERT_TRUE(t) << t.error().message;
    EXPECT_GE(t->runs, options.least_runs);
    EXPECT_GT(t->microseconds, 0);
    EXPECT_GE(t->noise, 0);
  }
  // 27 times the work, and the same work.
  EXPECT_GT(times[1]->microseconds, 4 * times[0]->microseconds);
  EXPECT_LT(times[2]->microseconds, 3 * times[0]->microseconds);
  EXPECT_LT(times[0]->microseconds, 3 * times[2]->microseconds);
}

TEST(Timing, AKernelThatCannotRunDoesNotStopTheOthers) {
  Kernel half = product_kernel(8);
  Graph g;
  Value x = g.add_input({DType::F16, Shape{Poly(4)}});
  g.set_outputs({{*g.add_call(*find_op("relu"), {x}, {}), 0}});
  half = {std::move(g), {0}, {Layout::Plain}, {Layout::Plain}};
  Graph renamed = graph_of(
      "%0 = input : float32[6]\n%1 = reshape %0 shape=2,3 : float32[2,3]\n"
      "outputs %1\n");
  Kernel nothing{renamed, {0}, {Layout::Plain}, {Layout::Plain}};
  auto times = time_kernels(std::vector{half, nothing, product_kernel(8)}, {});
  ASSERT_EQ(times.size(), 3U);
  ASSERT_FALSE(times[0]);
  EXPECT_NE(times[0].error().message.find("float16"), std::string::npos);
  ASSERT_TRUE(times[1] && times[2]);
  EXPECT_EQ(times[1]->microseconds, 0);  // only another name for its operand
  EXPECT_GT(times[2]->microseconds, 0);
}

TEST(Timing, LaunchesTakeLittle) {
  Timing t = launch_overhead({});
  EXPECT_GT(t.microseconds, 0);
  EXPECT_LT(t.microseconds, 100);
}

TEST(Timing, SummariesAreMediansWithIntervals) {
  std::vector<double> us;
  for (int k = 1; k <= 100; ++k) us.push_back(k);
  us.push_back(1e9);  // one disturbed run changes nothing
  Timing t = summarise(us);
  EXPECT_EQ(t.microseconds, 51);
  EXPECT_EQ(t.runs, 101);
  EXPECT_NEAR(t.noise, 10.0 / 51, 2.0 / 51);
  EXPECT_EQ(summarise({}).runs, 0);
  EXPECT_EQ(summarise({7}).microseconds, 7);
  EXPECT_EQ(summarise({4, 2}).microseconds, 3);
}

TEST(Timing, SumsOfKernelsAreNearWholeGraphs) {
  Model m = model_of(kNetwork);
  auto e = Executor::compile(m.graph, {});
  ASSERT_TRUE(e);
  std::vector<Kernel> kernels;
  for (const KernelCall& c : e->plan().calls) kernels.push_back(normalised(c.kernel));
  TimeOptions options;
  options.seconds = 2;
  double sum = 0;
  for (auto& t : time_kernels(kernels, options)) {
    ASSERT_TRUE(t) << t.error().message;
    sum += t->microseconds;
  }
  const Graph* graphs[] = {&m.graph};
  auto whole = time_graphs(graphs, {}, options);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_LT(sum, 3 * (*whole)[0].microseconds);
  EXPECT_GT(3 * sum, (*whole)[0].microseconds);
}

}  // namespace
}  // namespace regraft::cost::cpu
