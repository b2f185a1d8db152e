// Generated kernels and lowered programs, run on the host, against the operators' formulas.
#include <cmath>

#include "base/rng.h"
#include "cost/runtime/cuda/lower.h"
#include "ir/graph/eval.h"
#include "tests/cost/host_kernels.h"
#include "tests/cost/reference.h"
#include "tests/cost/sources.h"

namespace regraft::cost::cuda {
namespace {

using Tensors = std::map<Value, HostTensor>;

Tensors random_inputs(const Graph& g) {
  Tensors tensors;
  Rng rng(7);
  for (Value v : g.inputs()) {
    HostTensor& t = tensors.emplace(v, host_tensor(g.type(v))).first->second;
    for (size_t e = 0; e < t.count(); ++e) t.set(e, random_element(t.type, rng));
  }
  return tensors;
}

void expect_outputs(const std::string& name, const Graph& kernel, const Graph& g,
                    Tensors& tensors) {
  Reals alg;
  auto expected =
      evaluate_graph<Reals>(alg, kernel, {}, [&](int k, const std::vector<int64_t>& dims) {
        HostTensor& t = tensors.at(g.inputs()[static_cast<size_t>(k)]);
        Array<double> a{dims, {}};
        for (size_t e = 0; e < t.count(); ++e) a.data.push_back(t.get(e));
        return a;
      });
  ASSERT_TRUE(expected);
  for (size_t r = 0; r < expected->size(); ++r)
    for (size_t e = 0; e < (*expected)[r].data.size(); ++e) {
      double want = (*expected)[r].data[e];
      ASSERT_NEAR(tensors.at(g.outputs()[r]).get(e), want, 2e-5 * (1 + std::abs(want)))
          << name << " output " << r << " element " << e;
    }
}

template <class T>
void run_library(const Work& work, const std::vector<HostTensor*>& operands) {
  Operands<T> o;
  for (HostTensor* t : operands) o.push_back(reinterpret_cast<T*>(t->bytes.data()));
  if (const auto* c = std::get_if<Convolution>(&work)) execute(*c, o);
  if (const auto* p = std::get_if<Product>(&work)) execute(*p, o);
  if (const auto* s = std::get_if<Softmax>(&work)) execute(*s, o);
}

void run(const Work& work, const std::vector<HostTensor*>& operands, HostKernels& kernels) {
  if (const auto* s = std::get_if<Source>(&work)) {
    std::vector<void*> args;
    for (HostTensor* t : operands) args.push_back(t->bytes.data());
    kernels.run(*s, args);
  } else if (operands[0]->type == DType::F64) {
    run_library<double>(work, operands);
  } else {
    run_library<float>(work, operands);
  }
}

/// Each step does what its option of that number says, or its last.
void expect_right(const Case& c, const Program& p, size_t option, HostKernels& kernels) {
  Tensors tensors = random_inputs(p.graph);
  std::vector<Step> steps = p.once;
  steps.insert(steps.end(), p.steps.begin(), p.steps.end());
  for (const Step& step : steps) {
    std::vector<HostTensor*> operands;
    for (Value v : step.reads) operands.push_back(&tensors.at(v));
    for (Value v : step.writes)
      operands.push_back(&tensors.insert_or_assign(v, host_tensor(p.graph.type(v))).first->second);
    run(step.options[std::min(option, step.options.size() - 1)], operands, kernels);
  }
  expect_outputs(c.name + " " + p.name, c.graph, p.graph, tensors);
}

TEST(Lower, ProgramsComputeWhatTheFormulasSay) {
  HostKernels kernels;
  std::vector<std::pair<Case, Program>> programs;
  size_t shared = 0;
  for (const Case& c : source_cases()) {
    auto lowered = lower(c.graph, c.weights);
    ASSERT_TRUE(lowered) << c.name << lowered.error().message;
    for (const Program& p : *lowered) programs.emplace_back(c, p);
    // Everything generated as well, also what a library does better.
    for (Share share : {Share::Threads, Share::Blocks}) {
      auto s = write_source(c.graph, c.graph.outputs(), {}, share);
      EXPECT_TRUE(s || share == Share::Blocks) << c.name << s.error().message;
      if (!s) continue;
      shared += share == Share::Blocks;
      programs.push_back({c, {"generated", c.graph, {}, {{{*s}, s->reads, s->writes}}}});
    }
  }
  for (const auto& [c, p] : programs)
    for (const auto* steps : {&p.once, &p.steps})
      for (const Step& step : *steps)
        for (const Work& work : step.options)
          if (const auto* s = std::get_if<Source>(&work)) kernels.add(*s);
  kernels.build();
  for (const auto& [c, p] : programs)
    for (size_t option : {0, 1}) expect_right(c, p, option, kernels);
  EXPECT_GE(shared, 15U);
}

std::vector<Program> programs_of(std::string_view text) {
  auto p = lower(parsed(text), {});
  EXPECT_TRUE(p) << p.error().message;
  return p ? *std::move(p) : std::vector<Program>();
}

TEST(Lower, TakesBiasSumAndReluIntoAConvolution) {
  auto p = programs_of(
      "%0 = input : float32[2,4,7,6]\n%1 = input : float32[6,4,3,3]\n%2 = input : float32[6,1,1]\n"
      "%3 = input : float32[2,6,7,6]\n%4 = conv %0 %1 pads=1,1,1,1\n%5 = add %3 %4\n"
      "%6 = add %5 %2\n%7 = relu %6\noutputs %7\n");
  ASSERT_EQ(p[0].steps.size(), 1U);
  const auto& c = std::get<Convolution>(p[0].steps[0].options[0]);
  EXPECT_TRUE(c.bias && c.added && c.relu);
  ASSERT_GE(p.size(), 2U);
  EXPECT_EQ(p[1].steps.size(), 2U);  // the library, and a kernel for what follows
}

TEST(Lower, ScalesByWeightsAreInTheWeights) {
  for (const Case& c : source_cases()) {
    if (c.name != "conv-norm" && c.name != "conv-bias-norm") continue;
    auto known = lower(c.graph, c.weights), unknown = lower(c.graph, {});
    ASSERT_TRUE(known && unknown);
    ASSERT_EQ((*known)[0].steps.size(), 2U);  // the pads differ, so one step pads
    const auto& conv = std::get<Convolution>((*known)[0].steps[1].options[0]);
    EXPECT_TRUE(conv.bias && conv.relu);
    EXPECT_EQ((*known)[0].once.size(), 2U);
    EXPECT_TRUE((*unknown)[0].once.empty());
    EXPECT_EQ((*unknown)[0].steps.size(), 3U);
  }
}

TEST(Lower, LeavesWhatIsReadElsewhere) {
  auto p = programs_of(
      "%0 = input : float32[5,8]\n%1 = input : float32[8,6]\n%2 = matmul %0 %1\n%3 = relu %2\n"
      "outputs %2 %3\n");
  EXPECT_FALSE(std::get<Product>(p[0].steps[0].options[0]).relu);
  EXPECT_EQ(p[0].steps.size(), 2U);
}

TEST(Lower, KeepsTheNaiveLoopsFromLargeWork) {
  auto large = programs_of(
      "%0 = input : float32[512,1024]\n%1 = input : float32[1024,1024]\n%2 = matmul %0 %1\n"
      "outputs %2\n");
  EXPECT_EQ(large.size(), 1U);
  auto spread = programs_of(
      "%0 = input : float32[1000,1000]\n%1 = reduce-sum %0 axes=0,1\n%2 = div %0 %1\noutputs %2\n");
  for (const Work& w : spread[0].steps[0].options)
    EXPECT_EQ(std::get<Source>(w).share, Share::Blocks);
}

Source source_of(std::string_view text, Share share) {
  Graph g = parsed(text);
  auto s = write_source(g, g.outputs(), {}, share);
  EXPECT_TRUE(s) << s.error().message;
  return s ? *s : Source();
}

TEST(Source, ReadsAndWritesInOrderWhereItCan) {
  auto s = source_of(
      "%0 = input : float32[2,3,4]\n%1 = relu %0\n%2 = reshape %1 shape=6,4\n"
      "%3 = reshape %2 shape=3,8\noutputs %3\n",
      Share::Threads);
  EXPECT_NE(s.body.find("in0[e]"), std::string::npos) << s.body;
  EXPECT_NE(s.body.find("out0[e]"), std::string::npos) << s.body;
}

TEST(Source, SharesASumAmongTheThreadsOfABlock) {
  auto s = source_of("%0 = input : float32[8,4,100]\n%1 = softmax %0 axis=-1\noutputs %1\n",
                     Share::Blocks);
  EXPECT_EQ(s.blocks, 32);
  EXPECT_EQ(s.threads, 128);
  EXPECT_EQ(s.rounds, 100);
  EXPECT_NE(s.body.find("block_sum"), std::string::npos);
}

TEST(Source, ComputesAValueOnceThatIsReadTwice) {
  std::string text = "%0 = input : float32[8]\n";
  for (int k = 1; k <= 40; ++k)
    text += "%" + std::to_string(k) + " = mul %" + std::to_string(k - 1) + " %" +
            std::to_string(k - 1) + "\n";
  auto s = source_of(text + "outputs %40\n", Share::Threads);
  EXPECT_LT(s.body.size(), 2500U);
}

TEST(Source, IsTheSameEachTime) {
  for (const Case& c : source_cases()) {
    auto a = write_source(c.graph, c.graph.outputs(), {}, Share::Threads);
    auto b = write_source(c.graph, c.graph.outputs(), {}, Share::Threads);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->body, b->body);
    EXPECT_EQ(a->name, b->name);
  }
}

TEST(Source, NamesWhatItCannotDo) {
  Graph g = parsed("%0 = input : string[3]\noutputs %0\n");
  auto s = write_source(g, g.outputs(), {}, Share::Threads);
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().message.find("string"), std::string::npos) << s.error().message;
  Graph plain = parsed("%0 = input : float32[3]\n%1 = relu %0\noutputs %1\n");
  EXPECT_FALSE(write_source(plain, plain.outputs(), {}, Share::Blocks));
}

}  // namespace
}  // namespace regraft::cost::cuda
