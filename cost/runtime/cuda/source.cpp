#include "cost/runtime/cuda/source.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "ir/algebra/code.h"

namespace regraft::cost::cuda {
namespace {

constexpr int64_t kWorthSharing = 8;           // rounds of a loop
constexpr int64_t kNarrow = int64_t{1} << 29;  // elements up to which positions have 32 bits
constexpr int kThreads = 256;

// Each thread of a block calls block_sum and block_max, and all get the result.
constexpr const char* kDeviceLibrary = R"(
#define KERNEL(name) extern "C" __global__ void __launch_bounds__(THREADS) name
#define TABLE __device__ const
#define BLOCK blockIdx.x
#define PART blockIdx.y
#define THREAD threadIdx.x
__device__ inline float as_real(float) { return __int_as_float(0x7f800000); }
__device__ inline double as_real(double) { return __longlong_as_double(0x7ff0000000000000LL); }
#define INFINITE as_real(real())
#define LOWEST (-INFINITE)
__device__ inline index floor_div(index a, index b) { return a / b - (a % b < 0); }
__device__ inline index place_of(real x, index n) {
  if (!(x >= -n && x < n)) return -1;
  index p = (index)x;
  return (real)p != x ? -1 : p < 0 ? p + n : p;
}
__device__ inline float real_exp(float x) { return expf(x); }
__device__ inline double real_exp(double x) { return exp(x); }
__device__ inline float real_log(float x) { return logf(x); }
__device__ inline double real_log(double x) { return log(x); }
__device__ inline float real_tanh(float x) { return tanhf(x); }
__device__ inline double real_tanh(double x) { return tanh(x); }
__device__ inline float real_sqrt(float x) { return sqrtf(x); }
__device__ inline double real_sqrt(double x) { return sqrt(x); }
__device__ inline float real_erf(float x) { return erff(x); }
__device__ inline double real_erf(double x) { return erf(x); }
__device__ inline float real_sin(float x) { return sinf(x); }
__device__ inline double real_sin(double x) { return sin(x); }
__device__ inline float real_cos(float x) { return cosf(x); }
__device__ inline double real_cos(double x) { return cos(x); }
__device__ inline float real_floor(float x) { return floorf(x); }
__device__ inline double real_floor(double x) { return floor(x); }
__device__ inline float real_trunc(float x) { return truncf(x); }
__device__ inline double real_trunc(double x) { return trunc(x); }
__device__ inline float real_round(float x) { return rintf(x); }
__device__ inline double real_round(double x) { return rint(x); }
__device__ inline float from_bf16(unsigned short h) { return __uint_as_float((unsigned)h << 16); }
__device__ inline float from_f16(unsigned short h) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
  return x;
}
__device__ inline unsigned short to_f16(float x) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}
__device__ inline unsigned short to_bf16(float x) {
  unsigned bits = __float_as_uint(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
__device__ inline real real_single(real x) { return (float)x; }
__device__ inline real real_half(real x) { return from_f16(to_f16((float)x)); }
__device__ inline real real_brain(real x) { return from_bf16(to_bf16((float)x)); }
__device__ inline real merge_sum(real a, real b) { return a + b; }
__device__ inline real merge_max(real a, real b) { return a < b ? b : a; }
template <real (*merge)(real, real)>
__device__ real over_block(real x) {
  for (int o = 16; o > 0; o /= 2) x = merge(x, __shfl_xor_sync(0xffffffffu, x, o));
  if (THREADS == 32) return x;
  __shared__ real warps[32];
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  x = warps[0];
  for (int w = 1; w < THREADS / 32; ++w) x = merge(x, warps[w]);
  return x;
}
__device__ real block_sum(real x) { return over_block<merge_sum>(x); }
__device__ real block_max(real x) { return over_block<merge_max>(x); }
)";

struct ElementType {
  DType type;
  const char* c;          // in memory
  const char *from, *to;  // conversions to and from `real`; nullptr: C's own
};
constexpr ElementType kTypes[] = {
    {DType::F32, "float", nullptr, nullptr},
    {DType::F64, "double", nullptr, nullptr},
    {DType::F16, "unsigned short", "from_f16", "to_f16"},
    {DType::BF16, "unsigned short", "from_bf16", "to_bf16"},
    {DType::I64, "long long", nullptr, nullptr},
    {DType::I32, "int", nullptr, nullptr},
    {DType::I8, "signed char", nullptr, nullptr},
    {DType::U8, "unsigned char", nullptr, nullptr},
    {DType::Bool, "unsigned char", nullptr, nullptr},
};

const ElementType* find_type(DType t) {
  auto at = std::find_if(std::begin(kTypes), std::end(kTypes),
                         [t](const ElementType& e) { return e.type == t; });
  return at == std::end(kTypes) ? nullptr : at;
}

Attrs<CodeIndex> attributes(const Attrs<Poly>& at) {
  Attrs<CodeIndex> r;
  for (const auto& list : at.ints) {
    auto& out = r.ints.emplace_back();
    for (const Poly& p : list) out.emplace_back(p.constant());
  }
  r.reals = at.reals;
  return r;
}

/// Position of element `flat` of a box.
std::vector<CodeIndex> position(Code& code, CodeIndex flat, const std::vector<int64_t>& dims) {
  std::vector<CodeIndex> i(dims.size());
  for (size_t d = dims.size(); d-- > 1;) {
    CodeIndex q = code.floordiv(flat, dims[d]);
    i[d] = flat - q * dims[d];
    flat = q;
  }
  if (!dims.empty()) i[0] = flat;
  return i;
}

/// The values that a kernel reads from memory and those it writes, with the types of the text.
struct Frame {
  const Graph& g;
  std::set<Value> given;
  std::vector<Value> reads, writes;

  bool is_read(Value v) const { return given.count(v) || g.node(v.node).kind == NodeKind::Input; }
  static std::string place(const std::vector<Value>& list, Value v, const char* prefix) {
    auto at = std::find(list.begin(), list.end(), v);
    return prefix + std::to_string(at - list.begin());
  }
  std::string read_name(Value v) const { return place(reads, v, "in"); }
  const ElementType& element(Value v) const { return *find_type(g.type(v).dtype); }
};

/// All that the results depend on, up to what is given.
Status visit(Frame& f, Value v, std::set<Value>& seen, bool is_result) {
  if (!seen.insert(v).second) return {};
  const Node& node = f.g.node(v.node);
  if (!find_type(f.g.type(v).dtype))
    return error("cuda: no kernels for elements of type " + to_string(f.g.type(v).dtype));
  if (f.is_read(v) && !is_result) {
    f.reads.push_back(v);
    return {};
  }
  if (node.kind == NodeKind::Input) return f.reads.push_back(v), Status();
  if (node.kind == NodeKind::Constant && node.constant->count() == 1) return {};
  if (node.kind != NodeKind::Call) return error("cuda: a node that is no operator call");
  for (Value operand : node.inputs) RETURN_IF_ERROR(visit(f, operand, seen, false));
  return {};
}

/// Elements of values, calls inlined into each other.
class Inliner {
 public:
  Inliner(const Frame& f, Code& code) : f_(f), code_(code) {}

  CodeScalar element(Value v, std::span<const CodeIndex> i, bool is_result = false) {
    const Node& node = f_.g.node(v.node);
    if (node.kind == NodeKind::Input || (f_.given.count(v) && !is_result)) return load(v, i);
    if (node.kind == NodeKind::Constant) return code_.real({(*node.constant->reals())[0], nullptr});
    std::string key = std::to_string(v.node) + "." + std::to_string(v.output) + "@";
    for (const CodeIndex& x : i) key += x.text() + ",";
    if (const CodeScalar* x = code_.known(key)) return *x;
    std::vector<CodeTensor> operands;
    for (Value operand : node.inputs)
      operands.push_back({dims_of(f_.g, operand), [this, operand](std::span<const CodeIndex> j) {
                            return element(operand, j);
                          }});
    CodeScalar x = node.op->code_element(code_, operands, attributes(node.attrs), i,
                                         static_cast<int>(v.output));
    code_.remember(key, x);
    return x;
  }

 private:
  CodeScalar load(Value v, std::span<const CodeIndex> i) {
    auto dims = dims_of(f_.g, v);
    CodeIndex flat(0);
    for (size_t d = 0; d < i.size(); ++d) flat = flat * CodeIndex(dims[d]) + i[d];
    std::string text = f_.read_name(v) + "[" + flat.text() + "]";
    if (const char* from = f_.element(v).from) text = std::string(from) + "(" + text + ")";
    return code_.bind(text, flat.on());
  }
  const Frame& f_;
  Code& code_;
};

/// Which axes of a result its sums depend on: those that tell rows apart.
struct Rows {
  uint64_t axes = 0;
  int64_t rounds = 0;  // of the longest loop
};

constexpr uint64_t kAllAxes = (uint64_t{1} << kMaxRank) - 1;

Rows rows_of(const Frame& f, Value result) {
  auto dims = dims_of(f.g, result);
  Code code(kAllAxes);
  std::vector<CodeIndex> i;
  for (size_t d = 0; d < dims.size(); ++d)
    i.emplace_back(CodeIndex::Variable{"i" + std::to_string(d), 0, dims[d] - 1, uint64_t{1} << d});
  code.name_of(Inliner(f, code).element(result, i, true));
  Rows rows;
  for (auto [on, rounds] : code.outer_loops()) rows.rounds = std::max(rows.rounds, rounds);
  for (auto [on, rounds] : code.outer_loops())
    if (rounds >= std::min(kWorthSharing, rows.rounds)) rows.axes |= on;
  return rows;
}

/// The text for one result, and its launch.
struct Part {
  std::string tables, body;
  int64_t blocks = 1, wanted_threads = kThreads, rounds = 0;
};

class Writer {
 public:
  Writer(const Frame& f, Share share) : f_(f), share_(share) {}

  Result<Part> write(Value result) {
    Rows rows = rows_of(f_, result);
    if (share_ == Share::Blocks && rows.rounds == 0) return error("cuda: nothing to share");
    auto part = share_ == Share::Blocks ? by_rows(result, rows) : by_elements(result);
    if (part) part->rounds = rows.rounds;
    return part;
  }

 private:
  /// The element at position i, stored at `flat`.
  Status finish(Code& code, Value result, const std::vector<CodeIndex>& i, std::string& store) {
    std::string value = code.name_of(Inliner(f_, code).element(result, i, true));
    if (!code.ok)
      return error("cuda: " + std::string(f_.g.node(result.node).op->name) +
                   " has no kernel for these operands");
    if (const char* to = f_.element(result).to) value = std::string(to) + "(" + value + ")";
    CodeIndex flat(0);
    auto dims = dims_of(f_.g, result);
    for (size_t d = 0; d < i.size(); ++d) flat = flat * CodeIndex(dims[d]) + i[d];
    store = Frame::place(f_.writes, result, "out") + "[" + flat.text() + "] = " + value + ";\n";
    return {};
  }

  Result<Part> by_elements(Value result) {
    auto dims = dims_of(f_.g, result);
    int64_t n = count_of(dims);
    Code code(kAllAxes);
    auto i = position(code, CodeIndex::Variable{"e", 0, n - 1, kAllAxes}, dims);
    std::string store;
    RETURN_IF_ERROR(finish(code, result, i, store));
    Part part;
    part.tables = code.tables();
    part.body = code.rows() + "const index e = index(BLOCK) * THREADS + THREAD;\nif (e < " +
                std::to_string(n) + ") {\n" + code.elements() + store + "}\n";
    part.blocks = n;  // divided by the threads later
    return part;
  }

  Result<Part> by_rows(Value result, const Rows& rows) {
    auto dims = dims_of(f_.g, result);
    std::vector<int64_t> row_dims, element_dims;
    auto is_row = [&](size_t d) { return (rows.axes >> d & 1) != 0; };
    for (size_t d = 0; d < dims.size(); ++d)
      (is_row(d) ? row_dims : element_dims).push_back(dims[d]);
    int64_t row_count = count_of(row_dims), row_size = count_of(element_dims);
    uint64_t element_axes = kAllAxes & ~rows.axes;
    Code code(element_axes);
    auto r = position(code, CodeIndex::Variable{"r", 0, row_count - 1, rows.axes}, row_dims);
    auto e = position(code, CodeIndex::Variable{"e", 0, row_size - 1, element_axes}, element_dims);
    std::vector<CodeIndex> i;
    for (size_t d = 0, nr = 0, ne = 0; d < dims.size(); ++d)
      i.push_back(is_row(d) ? r[nr++] : e[ne++]);
    std::string store;
    RETURN_IF_ERROR(finish(code, result, i, store));
    Part part;
    part.tables = code.tables();
    part.body = "const index r = BLOCK;\nif (r < " + std::to_string(row_count) + ") {\n" +
                code.rows() + "for (index e = THREAD; e < " + std::to_string(row_size) +
                "; e += THREADS) {\n" + code.elements() + store + "}\n}\n";
    part.blocks = row_count;
    part.wanted_threads = std::max(rows.rounds, row_size);
    return part;
  }

  const Frame& f_;
  Share share_;
};

int round_threads(int64_t wanted) {
  int threads = 32;
  while (threads < wanted && threads < kThreads) threads *= 2;
  return threads;
}

/// The types of positions and numbers: the widest that occur. A float does not hold all integers.
std::string type_lines(const Frame& f, const std::set<Value>& values) {
  bool wide = false, twice = false;
  for (Value v : values) {
    wide = wide || count_of(dims_of(f.g, v)) > kNarrow;
    DType type = f.g.type(v).dtype;
    twice = twice || type == DType::F64 || type == DType::I64 || type == DType::I32;
  }
  std::string real = twice ? "double" : "float";
  return std::string("typedef ") + (wide ? "long long" : "int") + " index;\ntypedef " + real +
         " real;\n";
}

std::string parameters(const Frame& f) {
  std::string s;
  for (Value v : f.reads)
    s += std::string(s.empty() ? "" : ", ") + "const " + f.element(v).c + "* __restrict__ " +
         f.read_name(v);
  for (Value v : f.writes)
    s += std::string(s.empty() ? "" : ", ") + f.element(v).c + "* __restrict__ " +
         Frame::place(f.writes, v, "out");
  return s;
}

}  // namespace

std::vector<int64_t> dims_of(const Graph& g, Value v) {
  auto dims = numeric(g.shape(v));
  CHECK(dims.has_value());
  return *std::move(dims);
}
int64_t count_of(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

std::string device_text(const Source& source) {
  return source.types + kDeviceLibrary + source.body;
}

Result<Source> write_source(const Graph& g, const std::vector<Value>& results,
                            const std::vector<Value>& given, Share share) {
  Frame f{g, {given.begin(), given.end()}, {}, results};
  std::set<Value> values;
  for (Value v : results) RETURN_IF_ERROR(visit(f, v, values, true));
  std::string tables, body;
  Source source;
  int64_t wanted = 32;
  for (size_t k = 0; k < results.size(); ++k) {
    ASSIGN_OR_RETURN(Part part, Writer(f, share).write(results[k]));
    std::string own = "part" + std::to_string(k);
    tables += "namespace " + own + " {\n" + part.tables + "}\n";
    body += "if (PART == " + std::to_string(k) + ") {\nusing namespace " + own + ";\n" + part.body +
            "}\n";
    source.blocks = std::max(source.blocks, part.blocks);
    wanted = std::max(wanted, part.wanted_threads);
    source.rounds = std::max(source.rounds, part.rounds);
  }
  source.threads = round_threads(wanted);
  if (share == Share::Threads)
    source.blocks = (source.blocks + source.threads - 1) / source.threads;
  source.reads = f.reads;
  source.writes = results;
  source.share = share;
  source.types = type_lines(f, values) + "#undef THREADS\n#define THREADS " +
                 std::to_string(source.threads) + "\n";
  body = "(" + parameters(f) + ") {\n" + body + "}\n";
  source.name = "kernel_" + std::to_string(hash_text(source.types + tables + body));
  source.body = tables + "KERNEL(" + source.name + ")" + body;
  return source;
}

}  // namespace regraft::cost::cuda
