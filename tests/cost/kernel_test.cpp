#include "cost/model/kernel.h"

#include "cost/model/memory.h"
#include "cost/model/roofline.h"
#include "ir/graph/eval.h"
#include "tests/cost/graphs.h"

namespace regraft::cost {
namespace {

const std::string kFire =
    "%0 = input : float32[1,32,8,8]\n"
    "%1 = input : float32[16,32,1,1]\n"
    "%2 = input : float32[16]\n"
    "%3 = conv %0 %1 %2 : float32[1,16,8,8]\n"
    "%4 = relu %3 : float32[1,16,8,8]\n"
    "%5 = input : float32[32,16,3,3]\n"
    "%6 = conv %4 %5 pads=1,1,1,1 : float32[1,32,8,8]\n"
    "%7 = add %6 %0 : float32[1,32,8,8]\n"
    "%8 = relu %7 : float32[1,32,8,8]\n"
    "outputs %8\n";

KernelPlan plan(const Graph& g, std::string_view runtime) {
  return plan_kernels(g, *find_runtime(runtime));
}

/// The operators of each kernel: "conv relu", "reorder".
std::vector<std::string> operators(const KernelPlan& p) {
  std::vector<std::string> all;
  for (const KernelCall& c : p.calls) {
    std::string s;
    for (int32_t id : full_order(c.kernel.graph)) {
      const Node& n = c.kernel.graph.node(id);
      if (n.kind == NodeKind::Call && !n.inputs.empty())
        s += (s.empty() ? "" : " ") + std::string(n.op->name);
    }
    all.push_back(c.nodes.empty() ? "reorder" : s);
  }
  return all;
}

using Names = std::vector<std::string>;

TEST(Plan, AConvolutionTakesWhatFollowsAndItsLayout) {
  EXPECT_EQ(operators(plan(graph_of(kFire, {1, 2, 5}), "onnxruntime")),
            (Names{"reorder", "conv relu", "conv add relu", "reorder"}));
}

TEST(Plan, WithoutFusionEachCallIsAKernel) {
  EXPECT_EQ(operators(plan(graph_of(kFire, {1, 2, 5}), "single")),
            (Names{"conv", "relu", "conv", "add", "relu"}));
}

TEST(Plan, OddChannelsStayPlain) {
  std::string odd =
      "%0 = input : float32[1,17,8,8]\n%1 = input : float32[5,17,1,1]\n"
      "%2 = conv %0 %1 : float32[1,5,8,8]\n%3 = maxpool %2 kernel=2,2 : float32[1,5,7,7]\n"
      "outputs %3\n";
  EXPECT_EQ(operators(plan(graph_of(odd, {1}), "onnxruntime")), (Names{"conv", "maxpool"}));
}

TEST(Plan, AValueReadElsewhereEndsAKernel) {
  std::string shared =
      "%0 = input : float32[4,8]\n%1 = input : float32[8,8]\n%2 = matmul %0 %1 : float32[4,8]\n"
      "%3 = relu %2 : float32[4,8]\n%4 = tanh %2 : float32[4,8]\noutputs %3 %4\n";
  EXPECT_EQ(operators(plan(graph_of(shared, {1}), "onnxruntime")),
            (Names{"matmul", "relu", "tanh"}));
}

/// x / sqrt(2), erf, + 1, * x, * half
Graph gelu(double half) {
  Graph g;
  Value x = g.add_input({DType::F32, Shape{Poly(4), Poly(8)}});
  auto number = [&](double v) { return g.add_constant(make_constant(DType::F32, {}, {v})); };
  auto call = [&](const char* op, std::vector<Value> operands) {
    return Value{*g.add_call(*find_op(op), std::move(operands), {}), 0};
  };
  Value e = call("erf", {call("div", {x, number(1.4142135)})});
  Value y = call("mul", {x, call("add", {e, number(1)})});
  g.set_outputs({call("mul", {y, number(half)})});
  return g;
}

TEST(Plan, AnErfGeluIsOneKernelWithItsHalfOnly) {
  EXPECT_EQ(operators(plan(gelu(0.5), "onnxruntime")), (Names{"div erf add mul mul"}));
  EXPECT_EQ(operators(plan(gelu(0.25), "onnxruntime")).size(), 5U);
}

TEST(Plan, CallsThatAreFusedAreMarked) {
  Graph marked = with_fusions(gelu(0.5), *find_runtime("onnxruntime"));
  int together = 0;
  for (int32_t id : full_order(marked)) {
    const Node& n = marked.node(id);
    EXPECT_EQ(n.together >= 0, n.kind == NodeKind::Call);
    together += n.together >= 0 && n.together_count == 5;
  }
  EXPECT_EQ(together, 5);
  Graph other = with_fusions(gelu(0.25), *find_runtime("onnxruntime"));
  for (int32_t id : full_order(other)) EXPECT_LT(other.node(id).together, 0);
}

TEST(Plan, AGateIsOneKernelAndTakesNothingElse) {
  std::string gate =
      "%0 = input : float32[4,8]\n%1 = sigmoid %0 : float32[4,8]\n"
      "%2 = mul %0 %1 : float32[4,8]\n%3 = tanh %2 : float32[4,8]\noutputs %3\n";
  EXPECT_EQ(operators(plan(graph_of(gate), "onnxruntime")), (Names{"sigmoid mul", "tanh"}));
}

TEST(Plan, TheLastOfTwoConvolutionsTakesTheirSum) {
  std::string both =
      "%0 = input : float32[1,16,8,8]\n%1 = input : float32[16,16,1,1]\n"
      "%2 = conv %0 %1 : float32[1,16,8,8]\n%3 = conv %0 %1 : float32[1,16,8,8]\n"
      "%4 = add %2 %3 : float32[1,16,8,8]\noutputs %4\n";
  EXPECT_EQ(operators(plan(graph_of(both, {1}), "onnxruntime")),
            (Names{"reorder", "conv", "conv add", "reorder"}));
}

TEST(Plan, EveryRunningCallIsInOneKernelAndOperandsComeFirst) {
  Graph g = graph_of(kFire, {1, 2, 5});
  for (const char* runtime : {"onnxruntime", "cpu", "cuda", "single"}) {
    KernelPlan p = plan(g, runtime);
    std::vector<int32_t> nodes;
    std::set<Value> there(g.inputs().begin(), g.inputs().end());
    for (const KernelCall& c : p.calls) {
      nodes.insert(nodes.end(), c.nodes.begin(), c.nodes.end());
      for (size_t k = 0; k < c.operands.size(); ++k)
        EXPECT_TRUE(c.kernel.weights[k] || there.count(c.operands[k])) << runtime;
      there.insert(c.results.begin(), c.results.end());
    }
    std::sort(nodes.begin(), nodes.end());
    EXPECT_EQ(nodes, (std::vector<int32_t>{3, 4, 6, 7, 8})) << runtime;
  }
}

TEST(Signature, ReadsBackAsItWasWritten) {
  for (const char* runtime : {"onnxruntime", "cpu", "cuda", "single"})
    for (const KernelCall& c : plan(graph_of(kFire, {1, 2, 5}), runtime).calls) {
      auto parsed = parse_signature(c.signature);
      ASSERT_TRUE(parsed.has_value()) << c.signature << parsed.error().message;
      EXPECT_EQ(signature(*parsed), c.signature);
    }
}

TEST(Signature, RefusesNonsense) {
  EXPECT_FALSE(parse_signature("").has_value());
  EXPECT_FALSE(parse_signature("conv").has_value());
  EXPECT_FALSE(parse_signature("%0 = input : float32[2] | outputs %0 | weights 7").has_value());
  EXPECT_FALSE(parse_signature("%0 = input : float32[2] | outputs %0 | weights x").has_value());
}

TEST(Signature, DoesNotTellWhatIsFoldedIntoWeights) {
  std::string normalised =
      "%0 = input : float32[1,32,8,8]\n%1 = input : float32[16,32,1,1]\n"
      "%2 = conv %0 %1 : float32[1,16,8,8]\n%3 = input : float32[16]\n"
      "%4 = batchnorm %2 %3 %3 %3 %3 : float32[1,16,8,8]\n%5 = relu %4 : float32[1,16,8,8]\n"
      "outputs %5\n";
  std::string plain =
      "%0 = input : float32[1,32,8,8]\n%1 = input : float32[16,32,1,1]\n%2 = input : float32[16]\n"
      "%3 = conv %0 %1 %2 : float32[1,16,8,8]\n%4 = relu %3 : float32[1,16,8,8]\noutputs %4\n";
  auto a = plan(graph_of(normalised, {1, 3}), "onnxruntime");
  auto b = plan(graph_of(plain, {1, 2}), "onnxruntime");
  ASSERT_EQ(a.calls.size(), b.calls.size());
  for (size_t k = 0; k < a.calls.size(); ++k) EXPECT_EQ(a.calls[k].signature, b.calls[k].signature);
}

TEST(Standalone, HasWeightsAndWrapsWhatLiesBlocked) {
  for (const KernelCall& c : plan(graph_of(kFire, {1, 2, 5}), "onnxruntime").calls) {
    Graph g = standalone(c.kernel, 1);
    EXPECT_TRUE(bool(validate(g)));
    int wraps = 0, running = 0;
    auto constant = constant_nodes(g);
    for (int32_t id = 0; id < g.id_bound(); ++id) {
      wraps += !g.node(id).names.empty() && g.node(id).names[0].starts_with("wrap_");
      running += g.node(id).kind == NodeKind::Call && !constant[static_cast<size_t>(id)];
    }
    EXPECT_EQ(running - wraps, static_cast<int>(c.nodes.size()));
    EXPECT_GE(wraps, 1);
  }
}

TEST(AtSizes, SymbolsBecomeNumbers) {
  Graph g = graph_of("%0 = input : float32[N,4]\n%1 = relu %0 : float32[N,4]\noutputs %1\n");
  EXPECT_EQ(numeric(at_sizes(g).shape({1, 0})), (std::vector<int64_t>{8, 4}));
}

/// What the importer carries where a model computes with its sizes.
Value computed_size(Graph& g, const Poly& p) {
  Node n;
  n.kind = NodeKind::Opaque;
  n.types = {{DType::I64, Shape{Poly(2)}}};
  n.sizes = std::make_shared<const SizeTensor>(SizeTensor{DType::I64, {2}, {{p}, {Poly(-1)}}});
  return {g.add_node(std::move(n)), 0};
}

TEST(Runnable, WhatFollowsFromSizesIsAConstant) {
  Graph g = graph_of("%0 = input : float32[N,4]\n%1 = relu %0 : float32[N,4]\noutputs %1\n");
  Value size = computed_size(g, g.shape({0, 0})[0] - Poly(10));
  Value moved{*g.add_call(*find_op("cast"), {size}, {{{Poly(1)}}, {}}), 0};
  g.set_outputs({{1, 0}, size, moved});
  auto r = runnable(g);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(numeric(r->shape(r->outputs()[0])), (std::vector<int64_t>{8, 4}));
  for (size_t k : {1, 2}) {
    const Node& n = r->node(r->outputs()[k].node);
    ASSERT_EQ(n.kind, NodeKind::Constant) << k;
    EXPECT_EQ(*n.constant->reals(), (std::vector<double>{-2, -1}));
  }
}

int64_t peak(const Graph& g) { return schedule(plan(g, "single"), g).peak_bytes; }

TEST(Memory, AChainHoldsTwoTensors) {
  EXPECT_EQ(peak(graph_of("%0 = input : float32[100]\n%1 = relu %0 : float32[100]\n"
                          "%2 = tanh %1 : float32[100]\n%3 = exp %2 : float32[100]\noutputs %3\n")),
            2 * 400);
}

TEST(Memory, AValueThatIsReadLaterStays) {
  EXPECT_EQ(peak(graph_of("%0 = input : float32[100]\n%1 = relu %0 : float32[100]\n"
                          "%2 = tanh %1 : float32[100]\n%3 = add %1 %2 : float32[100]\n"
                          "outputs %3\n")),
            3 * 400);
}

TEST(Memory, AReshapeSharesItsOperand) {
  EXPECT_EQ(peak(graph_of("%0 = input : float32[100]\n%1 = relu %0 : float32[100]\n"
                          "%2 = reshape %1 shape=10,10 : float32[10,10]\noutputs %2\n")),
            2 * 400);
}

TEST(Memory, TheFrugalOrderShrinksBranchesFirst) {
  // Each branch grows to 1000 and shrinks to 10; both grown at once would be 2000.
  Graph g = graph_of(
      "%0 = input : float32[10]\n"
      "%1 = pad %0 pads=0,990 : float32[1000]\n%2 = pad %0 pads=990,0 : float32[1000]\n"
      "%3 = slice %1 sizes=10 : float32[10]\n%4 = slice %2 sizes=10 : float32[10]\n"
      "%5 = add %3 %4 : float32[10]\noutputs %5\n");
  EXPECT_LT(peak(g), 4 * 1100);
}

TEST(Roofline, AFittedRateStandsInPlaceOfTheGeneralOne) {
  Machine m;
  m.rates[static_cast<size_t>(Kind::Product)] = {10, 1};
  EXPECT_DOUBLE_EQ(microseconds(m, Kind::Product, 1e6, 0), m.launch_microseconds + 100);
  EXPECT_DOUBLE_EQ(microseconds(m, Kind::Product, 0, 1e6), m.launch_microseconds + 1000);
  EXPECT_LT(microseconds(m, Kind::DenseConv, 0, 1e6), m.launch_microseconds + 100);
}

}  // namespace
}  // namespace regraft::cost
