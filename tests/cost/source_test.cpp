// Generated kernels, compiled by the host's compiler and run, against the operators' formulas. A
// block is four threads that meet at a barrier.
#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/rng.h"
#include "ir/eval.h"
#include "tests/cost/sources.h"

namespace regraft::cost::cuda {
namespace {

// Once for all kernels.
constexpr const char* kTeam = R"(
#include <barrier>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>
#include <vector>
constexpr int kTeam = 4;
thread_local int block_, part_, thread_;
std::barrier<> meeting(kTeam);
template <class T> T shared[kTeam];
template <class T, class Merge> T over_team(T x, Merge merge) {
  shared<T>[thread_] = x;
  meeting.arrive_and_wait();
  x = shared<T>[0];
  for (int k = 1; k < kTeam; ++k) x = merge(x, shared<T>[k]);
  meeting.arrive_and_wait();
  return x;
}
template <class... P, std::size_t... K>
void call(void (*f)(P...), void** args, std::index_sequence<K...>) { f((P)args[K]...); }
template <class... P>
void launch(void (*f)(P...), void** args, int blocks, int parts) {
  std::vector<std::thread> team;
  for (int t = 0; t < kTeam; ++t)
    team.emplace_back([=] {
      thread_ = t;
      for (part_ = 0; part_ < parts; ++part_)
        for (block_ = 0; block_ < blocks; ++block_)
          call(f, args, std::make_index_sequence<sizeof...(P)>());
    });
  for (auto& t : team) t.join();
}
#define KERNEL(name) static void name
#define TABLE const
#define BLOCK block_
#define PART part_
#define THREAD thread_
#define INFINITE std::numeric_limits<real>::infinity()
#define LOWEST (std::numeric_limits<real>::lowest())
)";
// After each kernel's types.
constexpr const char* kLibrary = R"(
#undef THREADS
#define THREADS kTeam
[[maybe_unused]] static index floor_div(index a, index b) { return a / b - (a % b < 0); }
[[maybe_unused]] static real real_exp(real x) { return std::exp(x); }
[[maybe_unused]] static real real_tanh(real x) { return std::tanh(x); }
[[maybe_unused]] static real real_sqrt(real x) { return std::sqrt(x); }
[[maybe_unused]] static real real_erf(real x) { return std::erf(x); }
[[maybe_unused]] static real block_sum(real x) {
  return over_team(x, [](real a, real b) { return a + b; });
}
[[maybe_unused]] static real block_max(real x) {
  return over_team(x, [](real a, real b) { return a < b ? b : a; });
}
)";

struct Compiled {
  Case test;
  Source source;
};

std::vector<Compiled> all_sources() {
  std::vector<Compiled> all;
  for (const Case& c : source_cases())
    for (Share share : {Share::Threads, Share::Blocks}) {
      auto source = write_source(c.graph, c.graph.outputs(), {}, share);
      EXPECT_TRUE(source || share == Share::Blocks) << c.name << source.error().message;
      if (source) all.push_back({c, *source});
    }
  return all;
}

/// Compiles all into one library; the handle of it.
void* build(const std::vector<Compiled>& all) {
  auto folder =
      std::filesystem::temp_directory_path() / ("regraft_source_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "kernels.cpp");
  out << kTeam;
  for (size_t k = 0; k < all.size(); ++k) {
    const Source& s = all[k].source;
    out << "namespace unit" << k << " {\n"
        << s.types << kLibrary << s.body << "}\n"
        << "extern \"C\" void run_" << k << "(void** args, int blocks, int parts) {\n"
        << "launch(unit" << k << "::" << s.name << ", args, blocks, parts);\n}\n";
  }
  out.close();
  std::string library = (folder / "kernels.so").string();
  std::string command = std::string(REGRAFT_CXX) + " -std=c++20 -O1 -w -shared -fPIC -pthread -o " +
                        library + " " + (folder / "kernels.cpp").string();
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  std::filesystem::remove_all(folder);
  return handle;
}

/// Elements as a tensor of the type lies in memory.
struct Buffer {
  DType type;
  std::vector<std::byte> bytes;
  Buffer(DType t, size_t n) : type(t), bytes(n * size_of(t)) {}
  template <class F>
  auto visit(F&& f) {
    if (type == DType::F64) return f(reinterpret_cast<double*>(bytes.data()));
    return f(reinterpret_cast<float*>(bytes.data()));
  }
  void set(size_t k, double x) {
    visit([&](auto* p) { p[k] = static_cast<std::remove_reference_t<decltype(*p)>>(x); });
  }
  double get(size_t k) {
    return visit([&](auto* p) { return static_cast<double>(p[k]); });
  }
};

size_t count_of(const Graph& g, Value v) {
  auto dims = *numeric(g.shape(v));
  size_t n = 1;
  for (int64_t d : dims) n *= static_cast<size_t>(d);
  return n;
}

void expect_right(const Compiled& c, void* handle, size_t k) {
  const Graph& g = c.test.graph;
  std::map<Value, Buffer> buffers;
  std::map<Value, Array<double>> inputs;
  Rng rng(7);
  for (Value v : g.inputs()) {
    Buffer& b = buffers.emplace(v, Buffer(g.type(v).dtype, count_of(g, v))).first->second;
    Array<double>& a = inputs[v] = {*numeric(g.shape(v)), {}};
    for (size_t e = 0; e < count_of(g, v); ++e) {
      b.set(e, rng.unit() + 0.1);
      a.data.push_back(b.get(e));
    }
  }
  Reals alg;
  auto expected = evaluate_graph<Reals>(alg, g, {}, [&](int input, const std::vector<int64_t>&) {
    return inputs.at(g.inputs()[static_cast<size_t>(input)]);
  });
  ASSERT_TRUE(expected);
  std::vector<void*> args;
  for (Value v : c.source.reads) args.push_back(buffers.at(v).bytes.data());
  std::vector<Buffer> results;
  for (Value v : c.source.writes) results.emplace_back(g.type(v).dtype, count_of(g, v));
  for (Buffer& b : results) args.push_back(b.bytes.data());
  auto run = reinterpret_cast<void (*)(void**, int, int)>(
      dlsym(handle, ("run_" + std::to_string(k)).c_str()));
  ASSERT_NE(run, nullptr);
  auto blocks = c.source.rounds > 0 ? c.source.blocks : c.source.blocks * c.source.threads / 4;
  run(args.data(), static_cast<int>(blocks), static_cast<int>(results.size()));
  for (size_t r = 0; r < results.size(); ++r)
    for (size_t e = 0; e < (*expected)[r].data.size(); ++e) {
      double want = (*expected)[r].data[e];
      ASSERT_NEAR(results[r].get(e), want, 2e-5 * (1 + std::abs(want)))
          << c.test.name << " rounds " << c.source.rounds << " output " << r << " element " << e
          << "\n"
          << c.source.types << c.source.body;
    }
}

TEST(Source, ComputesWhatTheFormulasSay) {
  auto all = all_sources();
  void* handle = build(all);
  ASSERT_NE(handle, nullptr);
  size_t shared = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    expect_right(all[k], handle, k);
    shared += all[k].source.rounds > 0;
  }
  EXPECT_GE(shared, 15U);
  EXPECT_EQ(dlclose(handle), 0);
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
