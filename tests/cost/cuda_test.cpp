// The CUDA libraries, as far as they work without a device; and with one, all kernels and graphs
// against the operators' formulas.
#include "cost/runtime/cuda/cuda.h"

#include <cmath>

#include "base/rng.h"
#include "cost/runtime/cuda/tune.h"
#include "ir/graph/eval.h"
#include "tests/cost/sources.h"

namespace regraft::cost::cuda {
namespace {

#define SKIP_WITHOUT_LIBRARIES() \
  if (auto loaded = load_api(); !loaded) GTEST_SKIP() << loaded.error().message
#define SKIP_WITHOUT_DEVICE() \
  if (auto found = device(); !found) GTEST_SKIP() << found.error().message

/// All of a list in one text: the compiler's start takes longer than a kernel.
std::string together(const std::vector<Source>& sources) {
  std::string text;
  for (size_t k = 0; k < sources.size(); ++k)
    text += "namespace unit" + std::to_string(k) + " {\n" + device_text(sources[k]) + "}\n";
  return text;
}

/// nullopt where a constant maker, which makes floats, would meet the other type.
std::optional<Graph> with_type(const Graph& g, DType type) {
  if (type == DType::F32) return g;
  std::string text = to_string(g), name = to_string(type);
  if (text.find("full ") != text.npos) return std::nullopt;
  for (size_t at = text.find("float32"); at != text.npos; at = text.find("float32", at))
    text.replace(at, 7, name);
  auto changed = parse_graph(text);
  return changed ? std::optional(*std::move(changed)) : std::nullopt;
}

std::vector<Source> all_sources(DType type) {
  std::map<std::string, Source> sources;
  for (const Case& c : source_cases())
    for (Share share : {Share::Threads, Share::Blocks}) {
      auto g = with_type(c.graph, type);
      if (!g) continue;
      auto s = write_source(*g, g->outputs(), {}, share);
      if (s) sources.emplace(s->name, *s);
    }
  std::vector<Source> list;
  for (auto& [name, s] : sources) list.push_back(std::move(s));
  return list;
}

TEST(Cuda, EveryFunctionIsInTheLibraries) {
  auto loaded = load_api();
  if (!loaded && loaded.error().message.find("is missing") != std::string::npos)
    GTEST_SKIP() << loaded.error().message;
  EXPECT_TRUE(loaded) << loaded.error().message;
}

TEST(Cuda, TheCompilerTakesEveryKernel) {
  SKIP_WITHOUT_LIBRARIES();
  auto sources = all_sources(DType::F32);
  EXPECT_GT(sources.size(), 150U);
  for (int capability : {80, 90}) {
    auto code = compile(together(sources), capability);
    ASSERT_TRUE(code) << code.error().message.substr(0, 3000);
    EXPECT_EQ(code->substr(1, 3), "ELF");
    EXPECT_NE(code->find(sources.back().name), std::string::npos);
  }
}

TEST(Cuda, TheCompilerTakesOtherTypes) {
  SKIP_WITHOUT_LIBRARIES();
  for (DType type : {DType::F16, DType::BF16}) {
    auto sources = all_sources(type);
    EXPECT_GT(sources.size(), 100U);
    auto code = compile(together(sources), 90);
    ASSERT_TRUE(code) << to_string(type) << code.error().message.substr(0, 3000);
  }
}

TEST(Cuda, AnUnknownDeviceGetsTheNearestCode) {
  SKIP_WITHOUT_LIBRARIES();
  auto source = all_sources(DType::F32)[0];
  auto code = compile(device_text(source), 999);
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_NE(code->find(".target"), std::string::npos);  // PTX, for the driver to translate
  auto wrong = compile("this is no program", 80);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("nvrtcCompileProgram: "), std::string::npos);
  EXPECT_NE(wrong.error().message.find("error"), std::string::npos);
}

TEST(Cuda, NoDeviceIsAnErrorThatSaysWhy) {
  if (device()) GTEST_SKIP() << "there is one";
  Kernel kernel;
  auto starts_well = [](const Error& e) { return e.message.rfind("no CUDA device: ", 0) == 0; };
  EXPECT_TRUE(starts_well(device().error())) << device().error().message;
  EXPECT_TRUE(starts_well(time_kernels({&kernel, 1}).error()));
  EXPECT_TRUE(starts_well(probe().error()));
  EXPECT_TRUE(starts_well(Executor::compile(Graph(), {}).error()));
}

// --- on a device ---

std::shared_ptr<const Constant> random_input(const TensorType& t, Rng& rng) {
  auto dims = *numeric(*t.shape);
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<double> values(static_cast<size_t>(count));
  for (double& x : values) x = random_element(t.dtype, rng);
  return make_constant(t.dtype, dims, values);
}

std::vector<std::shared_ptr<const Constant>> random_inputs(const Graph& g) {
  Rng rng(3);
  std::vector<std::shared_ptr<const Constant>> inputs;
  for (Value v : g.inputs()) inputs.push_back(random_input(g.type(v), rng));
  return inputs;
}

void expect_equal(const std::string& name, const Graph& g,
                  const std::vector<std::shared_ptr<const Constant>>& inputs,
                  const std::vector<std::vector<double>>& outputs, double tolerance) {
  Reals alg;
  auto expected = evaluate_graph<Reals>(alg, g, {}, [&](int k, const std::vector<int64_t>& dims) {
    return Array<double>{dims, *inputs[static_cast<size_t>(k)]->reals()};
  });
  ASSERT_TRUE(expected);
  for (size_t r = 0; r < outputs.size(); ++r)
    for (size_t e = 0; e < outputs[r].size(); ++e) {
      double want = (*expected)[r].data[e];
      ASSERT_NEAR(outputs[r][e], want, tolerance * (1 + std::abs(want)))
          << name << " output " << r << " element " << e;
    }
}

/// What a choice of launches computes.
Result<std::vector<std::vector<double>>> execute(
    const Session& session, Scratch& scratch, const Chosen& c,
    const std::vector<std::shared_ptr<const Constant>>& inputs) {
  Placement p = place(c);
  RETURN_IF_ERROR(scratch.reserve(p.bytes));
  const Graph& g = c.program->graph;
  for (size_t k = 0; k < inputs.size(); ++k) {
    auto bytes = *inputs[k]->bytes();
    RETURN_IF_ERROR(
        session.copy(scratch.data() + p.offsets.at(g.inputs()[k]), bytes.data(), bytes.size()));
  }
  RETURN_IF_ERROR(enqueue_once(c, p, scratch.data()));
  RETURN_IF_ERROR(enqueue(c, p, scratch.data()));
  std::vector<std::vector<double>> outputs;
  for (Value v : g.outputs()) {
    std::vector<std::byte> bytes(bytes_of(g.type(v)));
    RETURN_IF_ERROR(session.copy(bytes.data(), scratch.data() + p.offsets.at(v), bytes.size()));
    RETURN_IF_ERROR(session.finish());
    ASSIGN_OR_RETURN(auto values,
                     Constant(g.type(v).dtype, *numeric(g.shape(v)), std::move(bytes)).reals());
    outputs.push_back(std::move(values));
  }
  return outputs;
}

/// Every program with every launch of each step in turn, the others being the first.
void expect_all_right(Session& session, Scratch& scratch, const Case& c, double tolerance) {
  auto inputs = random_inputs(c.graph);
  Kernel kernel;
  kernel.graph = c.graph;
  kernel.weights = c.weights;
  auto all = candidates(session, kernel);
  ASSERT_TRUE(all) << c.name << ": " << all.error().message;
  for (const Candidate& candidate : *all)
    for (size_t step = 0; step < candidate.launches.size(); ++step)
      for (const Launch& launch : candidate.launches[step]) {
        Chosen chosen{candidate.program, candidate.once, {}};
        for (const auto& list : candidate.launches) chosen.launches.push_back(list[0]);
        chosen.launches[step] = launch;
        auto outputs = execute(session, scratch, chosen, inputs);
        if (!outputs) continue;  // an algorithm that refuses this shape when it is called
        expect_equal(c.name + ", " + candidate.program->name + ", " + launch.what, c.graph, inputs,
                     *outputs, tolerance);
      }
}

TEST(CudaDevice, EveryAlgorithmComputesWhatTheFormulasSay) {
  SKIP_WITHOUT_DEVICE();
  auto session = Session::open(false);
  ASSERT_TRUE(session) << session.error().message;
  Scratch scratch(**session);
  for (const Case& c : source_cases()) expect_all_right(**session, scratch, c, 1e-4);
}

TEST(CudaDevice, ShorterTypesComputeWhatTheFormulasSay) {
  SKIP_WITHOUT_DEVICE();
  auto session = Session::open(false);
  ASSERT_TRUE(session) << session.error().message;
  Scratch scratch(**session);
  for (const Case& c : source_cases())
    if (auto g = with_type(c.graph, DType::F16))
      expect_all_right(**session, scratch, {c.name, *g, c.weights}, 3e-2);
}

Graph small_model() {
  return parsed(
      "%0 = input : float32[1,8,16,16]\n%1 = input : float32[16,8,3,3]\n%2 = input : float32[16]\n"
      "%3 = input : float32[16,16,3,3]\n%4 = input : float32[16,10]\n%5 = input : float32[10]\n"
      "%6 = conv %0 %1 %2 pads=1,1,1,1\n%7 = relu %6\n%8 = conv %7 %3 pads=1,1,1,1\n"
      "%9 = add %8 %7\n%10 = relu %9\n%11 = global-avgpool %10\n%12 = reshape %11 shape=1,16\n"
      "%13 = gemm %12 %4 %5\n%14 = softmax %13 axis=-1\noutputs %14 %11\n");
}

TEST(CudaDevice, AGraphRunsAsOneCudaGraph) {
  SKIP_WITHOUT_DEVICE();
  Graph g = small_model();
  auto e = Executor::compile(g, {});
  ASSERT_TRUE(e) << e.error().message;
  auto inputs = random_inputs(g);
  for (int round = 0; round < 2; ++round) {
    auto outputs = e->run(inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    std::vector<std::vector<double>> values;
    for (const auto& o : *outputs) values.push_back(*o->reals());
    expect_equal("small model", g, inputs, values, 1e-3);
  }
  EXPECT_GE(e->launches(), 5U);
  inputs.pop_back();
  EXPECT_FALSE(e->run(inputs));
}

TEST(CudaDevice, MoreWorkTakesLonger) {
  SKIP_WITHOUT_DEVICE();
  auto kernel = [](int64_t n) {
    Kernel k;
    std::string size = std::to_string(n);
    k.graph = parsed("%0 = input : float32[" + size + "," + size + "]\n%1 = input : float32[" +
                     size + "," + size + "]\n%2 = matmul %0 %1\noutputs %2\n");
    k.weights = {0, 0};
    return k;
  };
  std::vector<Kernel> kernels{kernel(512), kernel(2048)};
  auto timings = time_kernels(kernels, {});
  ASSERT_TRUE(timings) << timings.error().message;
  ASSERT_TRUE((*timings)[0] && (*timings)[1]);
  const Timing &small = *(*timings)[0], &large = *(*timings)[1];
  EXPECT_GT(small.microseconds, 0);
  EXPECT_GT(large.microseconds, 3 * small.microseconds);
  EXPECT_GE(large.runs, 5);
  EXPECT_LT(large.noise, 0.5);
}

TEST(CudaDevice, RatesAreThoseOfAGraphicsCard) {
  SKIP_WITHOUT_DEVICE();
  auto p = probe();
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_GT(p->bandwidth_gbytes, 50);
  EXPECT_GT(p->peak_gflops, 500);
  EXPECT_GT(p->launch_microseconds, 0.1);
  EXPECT_LT(p->graph_launch_microseconds, p->launch_microseconds + 5);
}

}  // namespace
}  // namespace regraft::cost::cuda
