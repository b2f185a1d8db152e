// The choice of algorithms, the executor and its memory, on a device made of host functions. A
// program of its own: it replaces the libraries.
#include "tests/cost/fake_device.h"

#include <cmath>

#include "base/rng.h"
#include "cost/runtime/cuda/tune.h"
#include "ir/graph/eval.h"
#include "tests/cost/sources.h"

namespace regraft::cost::cuda {
namespace {

struct FakeDevice : ::testing::Test {
  FakeDevice() { replace_api(fake_api()); }
  ~FakeDevice() override { EXPECT_EQ(fake_counts().objects, before) << "something is left over"; }
  int before = fake_counts().objects;
};

using Inputs = std::vector<std::shared_ptr<const Constant>>;

Inputs random_inputs(const Graph& g, uint64_t seed) {
  Rng rng(seed);
  Inputs inputs;
  for (Value v : g.inputs()) {
    auto dims = *numeric(g.shape(v));
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    std::vector<double> values(static_cast<size_t>(count));
    DType type = g.type(v).dtype;
    for (double& x : values) x = is_integer(type) ? random_element(type, rng) : rng.unit() - 0.4;
    inputs.push_back(make_constant(type, dims, values));
  }
  return inputs;
}

void expect_right(const Graph& g, const Executor& e, uint64_t seed) {
  Inputs inputs = random_inputs(g, seed);
  auto outputs = e.run(inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  Reals alg;
  auto expected = evaluate_graph<Reals>(alg, g, {}, [&](int k, const std::vector<int64_t>& dims) {
    return Array<double>{dims, *inputs[static_cast<size_t>(k)]->reals()};
  });
  ASSERT_TRUE(expected);
  for (size_t r = 0; r < outputs->size(); ++r) {
    auto values = *(*outputs)[r]->reals();
    for (size_t k = 0; k < values.size(); ++k) {
      double want = (*expected)[r].data[k];
      ASSERT_NEAR(values[k], want, 1e-4 * (1 + std::abs(want))) << "output " << r << " at " << k;
    }
  }
}

/// A graph input turned into a constant of random numbers.
Graph with_constants(const Graph& from, const std::vector<size_t>& inputs) {
  Graph g = from;
  Inputs data = random_inputs(from, 77);
  for (size_t k : inputs) replace_uses(g, g.inputs()[k], g.add_constant(data[k]));
  return g;
}

const char* kNetwork =
    "%0 = input : float32[1,8,6,6]\n%1 = input : float32[8,8,3,3]\n%2 = input : float32[8]\n"
    "%3 = input : float32[8,8,3,3]\n%4 = input : float32[5,8]\n%5 = input : float32[5]\n"
    "%6 = conv %0 %1 %2 pads=1,1,1,1\n%7 = relu %6\n%8 = conv %7 %3 pads=1,0,1,2\n"
    "%9 = add %8 %7\n%10 = relu %9\n%11 = sigmoid %10\n%12 = mul %11 %10\n"
    "%13 = global-avgpool %12\n%14 = reshape %13 shape=1,8\n%15 = gemm %14 %4 %5 transB=1\n"
    "%16 = softmax %15 axis=-1\noutputs %16 %12\n";

TEST_F(FakeDevice, AGraphRunsAsOneCudaGraph) {
  Graph g = with_constants(parsed(kNetwork), {1, 2, 3, 4, 5});
  auto e = Executor::compile(g, {});
  ASSERT_TRUE(e) << e.error().message;
  int eager = fake_counts().eager_launches, graphs = fake_counts().graph_launches;
  expect_right(g, *e, 1);
  expect_right(g, *e, 2);
  EXPECT_EQ(fake_counts().eager_launches, eager);
  EXPECT_EQ(fake_counts().graph_launches, graphs + 2);
  EXPECT_GE(e->launches(), 6U);
}

TEST_F(FakeDevice, ScalesByWeightsAreComputedOnce) {
  for (const Case& c : source_cases()) {
    if (c.name != "conv-bias-norm") continue;
    Graph g = with_constants(c.graph, {1, 2, 3, 4, 6});
    Value variance = g.add_constant(Constant::of_floats({6}, {1, 2, 1, 2, 1, 2}));
    replace_uses(g, g.inputs()[5], variance);
    auto e = Executor::compile(g, {});
    ASSERT_TRUE(e) << e.error().message;
    EXPECT_LE(e->launches(), 2U);  // at most a pad and a convolution
    expect_right(g, *e, 5);
    expect_right(g, *e, 6);
  }
}

TEST_F(FakeDevice, SessionsShareWhatWasCompiled) {
  Graph g = parsed("%0 = input : float32[3,5]\n%1 = sin %0\n%2 = exp %1\noutputs %2\n");
  ASSERT_TRUE(Executor::compile(g, {}));
  int once = fake_counts().compilations;
  auto again = Executor::compile(g, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(fake_counts().compilations, once);
  expect_right(g, *again, 1);
}

TEST_F(FakeDevice, BuffersAreReused) {
  std::string text = "%0 = input : float32[64,64]\n";
  for (int k = 1; k <= 12; ++k)
    text += "%" + std::to_string(k) + " = softmax %" + std::to_string(k - 1) +
            " axis=" + std::to_string(k % 2) + "\n";
  Graph g = parsed(text + "outputs %12\n");
  auto e = Executor::compile(g, {});
  ASSERT_TRUE(e) << e.error().message;
  EXPECT_EQ(e->memory_bytes(), 3U * 64 * 64 * 4);  // the input, and two in turns
  expect_right(g, *e, 3);
}

TEST_F(FakeDevice, BranchesLiveUntilTheyMeet) {
  Graph g = parsed(
      "%0 = input : float32[4,8]\n%1 = input : float32[8,8]\n%2 = matmul %0 %1\n"
      "%3 = matmul %2 %1\n%4 = matmul %3 %1\n%5 = matmul %2 %1\n%6 = concat %3 %4 %5 %2 axis=0\n"
      "%7 = reduce-max %6 axes=1\noutputs %7 %4\n");
  auto e = Executor::compile(g, {});
  ASSERT_TRUE(e) << e.error().message;
  expect_right(g, *e, 4);
}

const char* kEmbedding =
    "%0 = input : int64[2,6]\n%1 = input : float32[9,8]\n%2 = input : bool[2,6,1]\n"
    "%3 = input : float32[8,8]\n%4 = gather-at %1 %0 axis=0\n%5 = matmul %4 %3\n"
    "%6 = where %2 %5 %4\noutputs %6\n";

TEST_F(FakeDevice, IntegersArePositionsAndMasks) {
  Graph g = with_constants(parsed(kEmbedding), {1, 3});
  auto e = Executor::compile(g, {});
  ASSERT_TRUE(e) << e.error().message;
  expect_right(g, *e, 1);
  expect_right(g, *e, 2);
}

TEST_F(FakeDevice, PositionsAreInRangeWhileKernelsAreTimed) {
  auto session = Session::open(false);
  ASSERT_TRUE(session);
  Scratch scratch(**session);
  Kernel k;
  k.graph = parsed(kEmbedding);
  auto c = tune(**session, scratch, k);
  ASSERT_TRUE(c) << c.error().message;
  std::vector<Placement> placements;
  ASSERT_TRUE(lay_out(**session, scratch, {*c, *c}, placements));
  ASSERT_TRUE(enqueue(*c, placements[0], scratch.data()));
  ASSERT_TRUE(enqueue(*c, placements[1], scratch.data()));
  for (size_t input : {0, 2}) {
    Value v = c->program->graph.inputs()[input];
    const std::byte* at = scratch.data() + placements[0].offsets.at(v);
    for (size_t b = 0; b < bytes_of(c->program->graph.type(v)); ++b)
      EXPECT_EQ(at[b], std::byte{0}) << "input " << input;
  }
}

TEST_F(FakeDevice, TheFastestAlgorithmIsTaken) {
  auto session = Session::open(false);
  ASSERT_TRUE(session);
  Scratch scratch(**session);
  Graph g = parsed(
      "%0 = input : float32[1,8,12,12]\n%1 = input : float32[8,8,3,3]\n"
      "%2 = conv %0 %1 pads=1,1,1,1\n%3 = relu %2\noutputs %3\n");
  Kernel kernel;
  kernel.graph = g;
  auto c = tune(**session, scratch, kernel);
  ASSERT_TRUE(c) << c.error().message;
  EXPECT_EQ(c->program->name, "fused");
  EXPECT_EQ(c->launches[0].what, "convolution of cuDNN, algorithm 6");
}

TEST_F(FakeDevice, TimesAreThoseOfTheClock) {
  Kernel k;
  k.graph = parsed(
      "%0 = input : float32[64,64]\n%1 = input : float32[64,64]\n%2 = matmul %0 %1\noutputs "
      "%2\n");
  k.weights = {0, 0};
  Kernel blocked = k;
  blocked.operand_layouts = {cost::Layout::Blocked, cost::Layout::Plain};
  std::vector<Kernel> kernels{k, blocked};
  for (bool cold : {false, true}) {
    TimingOptions options;
    options.cold = cold;
    options.rounds = 6;
    options.warm_up = 1;
    auto t = time_kernels(kernels, options);
    ASSERT_TRUE(t) << t.error().message;
    ASSERT_TRUE((*t)[0]) << (*t)[0].error().message;
    EXPECT_NEAR((*t)[0]->microseconds, 4, 0.01);  // the second algorithm of the fake
    EXPECT_EQ((*t)[0]->runs, 6);
    EXPECT_FALSE((*t)[1]);
  }
}

TEST_F(FakeDevice, GraphsAreTimedInTurns) {
  Graph g = parsed("%0 = input : float32[8,8]\n%1 = softmax %0 axis=-1\noutputs %1\n");
  Graph h = parsed(
      "%0 = input : float32[8,8]\n%1 = softmax %0 axis=-1\n%2 = softmax %1 axis=0\noutputs %2\n");
  std::vector<Executor> executors;
  for (const Graph* graph : {&g, &h}) {
    auto e = Executor::compile(*graph, {});
    ASSERT_TRUE(e) << e.error().message;
    executors.push_back(*e);
  }
  TimingOptions options;
  options.rounds = 5;
  auto t = time_graphs(executors, options);
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_NEAR((*t)[0].microseconds, 3, 0.01);
  EXPECT_NEAR((*t)[1].microseconds, 6, 0.01);
  EXPECT_EQ((*t)[0].runs, 5);
}

TEST_F(FakeDevice, WhatCannotRunIsNamed) {
  Graph g = parsed("%0 = input : float32[2,2]\noutputs %0\n");
  Node opaque;
  opaque.kind = NodeKind::Opaque;
  opaque.inputs = {g.inputs()[0]};
  opaque.types = {g.type(g.inputs()[0])};
  opaque.names = {"strange"};
  g.set_outputs({{g.add_node(opaque), 0}});
  auto e = Executor::compile(g, {});
  ASSERT_FALSE(e);
  EXPECT_NE(e.error().message.find("strange"), std::string::npos) << e.error().message;
  Graph fine = parsed("%0 = input : float32[2,2]\n%1 = relu %0\noutputs %1\n");
  auto runs = Executor::compile(fine, {});
  ASSERT_TRUE(runs);
  EXPECT_FALSE(runs->run({}));
  EXPECT_FALSE(runs->run({Constant::of_floats({4}, {1, 2, 3, 4})}));
  EXPECT_TRUE(runs->run({Constant::of_floats({2, 2}, {1, 2, 3, 4})}));
}

TEST_F(FakeDevice, AFailedCaptureEndsTheCapture) {
  auto session = Session::open(false);
  ASSERT_TRUE(session);
  int calls = 0;
  auto failed = capture(**session, [&]() -> Status {
    if (++calls == 2) return error("refused");
    return {};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "refused");
  EXPECT_TRUE((*session)->finish());
}

TEST_F(FakeDevice, ItsNameAndVersionsAreFiled) {
  auto d = device();
  ASSERT_TRUE(d);
  ProfileKey key = profile_key(*d);
  EXPECT_EQ(key.runtime, "cuda");
  EXPECT_EQ(key.device, "fake");
  EXPECT_EQ(key.driver, "13.0");
  EXPECT_EQ(key.runtime_version, "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0");
}

}  // namespace
}  // namespace regraft::cost::cuda
