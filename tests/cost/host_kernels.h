#pragma once
// Generated kernels on the host: compiled by the host's compiler and run, a block as four threads
// that meet at a barrier.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "cost/runtime/cuda/source.h"

namespace regraft::cost::cuda {

// Once for all kernels.
inline constexpr const char* kTeam = R"(
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
inline constexpr const char* kLibrary = R"(
#undef THREADS
#define THREADS kTeam
[[maybe_unused]] static index floor_div(index a, index b) { return a / b - (a % b < 0); }
[[maybe_unused]] static index place_of(real x, index n) {
  if (!(x >= -n && x < n)) return -1;
  index p = (index)x;
  return (real)p != x ? -1 : p < 0 ? p + n : p;
}
[[maybe_unused]] static real real_exp(real x) { return std::exp(x); }
[[maybe_unused]] static real real_log(real x) { return std::log(x); }
[[maybe_unused]] static real real_tanh(real x) { return std::tanh(x); }
[[maybe_unused]] static real real_sqrt(real x) { return std::sqrt(x); }
[[maybe_unused]] static real real_erf(real x) { return std::erf(x); }
[[maybe_unused]] static real real_sin(real x) { return std::sin(x); }
[[maybe_unused]] static real real_cos(real x) { return std::cos(x); }
[[maybe_unused]] static real real_floor(real x) { return std::floor(x); }
[[maybe_unused]] static real real_trunc(real x) { return std::trunc(x); }
[[maybe_unused]] static real real_round(real x) { return std::rint(x); }
[[maybe_unused]] static real nearest(real x, int bits, int least, double largest) {
  if (!(x - x == 0) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = (exponent < least ? least : exponent) - bits;
  real y = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return y > largest ? INFINITE : y < -largest ? -INFINITE : y;
}
[[maybe_unused]] static real real_half(real x) { return nearest(x, 11, -13, 65504); }
[[maybe_unused]] static real real_brain(real x) { return nearest(x, 8, -125, 0x1.fep127); }
[[maybe_unused]] static real real_single(real x) { return nearest(x, 24, -125, 0x1.fffffep127); }
[[maybe_unused]] static real block_sum(real x) {
  return over_team(x, [](real a, real b) { return a + b; });
}
[[maybe_unused]] static real block_max(real x) {
  return over_team(x, [](real a, real b) { return a < b ? b : a; });
}
)";

/// Elements as a tensor of the type lies in memory: those of runs_on_host.
struct HostTensor {
  DType type = DType::F32;
  std::vector<std::byte> bytes;
  HostTensor(DType t, size_t n) : type(t), bytes(n * size_of(t)) {}
  size_t count() const { return bytes.size() / size_of(type); }
  template <class F>
  auto visit(F&& f) {
    if (type == DType::F64) return f(reinterpret_cast<double*>(bytes.data()));
    if (type == DType::I64) return f(reinterpret_cast<int64_t*>(bytes.data()));
    if (type == DType::I32) return f(reinterpret_cast<int32_t*>(bytes.data()));
    if (type == DType::Bool) return f(reinterpret_cast<uint8_t*>(bytes.data()));
    return f(reinterpret_cast<float*>(bytes.data()));
  }
  void set(size_t k, double x) {
    visit([&](auto* p) { p[k] = static_cast<std::remove_reference_t<decltype(*p)>>(x); });
  }
  double get(size_t k) {
    return visit([&](auto* p) { return static_cast<double>(p[k]); });
  }
};
inline HostTensor host_tensor(const TensorType& t) {
  auto dims = *numeric(*t.shape);
  size_t n = 1;
  for (int64_t d : dims) n *= static_cast<size_t>(d);
  return {t.dtype, n};
}

/// A library of kernels. Add all, build, run.
class HostKernels {
 public:
  void add(const Source& s) { numbers_.emplace(s.name, std::pair(numbers_.size(), s)); }

  void build() {
    auto folder =
        std::filesystem::temp_directory_path() / ("regraft_kernels_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream out(folder / "kernels.cpp");
    out << kTeam;
    for (const auto& [name, entry] : numbers_) {
      const auto& [k, s] = entry;
      out << "namespace unit" << k << " {\n"
          << s.types << kLibrary << s.body << "}\n"
          << "extern \"C\" void run_" << name << "(void** args, int blocks, int parts) {\n"
          << "launch(unit" << k << "::" << name << ", args, blocks, parts);\n}\n";
    }
    out.close();
    std::string library = (folder / "kernels.so").string();
    std::string command = std::string(REGRAFT_CXX) +
                          " -std=c++20 -O1 -w -shared -fPIC -pthread -o " + library + " " +
                          (folder / "kernels.cpp").string();
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle_, nullptr) << dlerror();
    std::filesystem::remove_all(folder);
  }

  void run(const Source& s, std::vector<void*> args) {
    auto f =
        reinterpret_cast<void (*)(void**, int, int)>(dlsym(handle_, ("run_" + s.name).c_str()));
    ASSERT_NE(f, nullptr);
    auto blocks = s.share == Share::Blocks ? s.blocks : s.blocks * s.threads / 4;
    f(args.data(), static_cast<int>(blocks), static_cast<int>(s.writes.size()));
  }

 private:
  std::map<std::string, std::pair<size_t, Source>> numbers_;
  void* handle_ = nullptr;
};

}  // namespace regraft::cost::cuda
