#include "ir/algebra/tensor.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace regraft {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor data is little-endian");

struct DTypeFacts {
  std::string_view name;
  size_t size;
};
constexpr std::array<DTypeFacts, 17> kTypes = {{
    {"undefined", 0},
    {"float32", 4},
    {"uint8", 1},
    {"int8", 1},
    {"uint16", 2},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"string", 0},
    {"bool", 1},
    {"float16", 2},
    {"float64", 8},
    {"uint32", 4},
    {"uint64", 8},
    {"complex64", 8},
    {"complex128", 16},
    {"bfloat16", 2},
}};
constexpr std::string_view kUnnamed = "type";

template <class T>
T element_at(const std::vector<std::byte>& bytes, size_t i) {
  T x;
  std::memcpy(&x, bytes.data() + i * sizeof(T), sizeof(T));
  return x;
}

template <class To, class From>
std::vector<To> converted(const std::vector<std::byte>& bytes) {
  std::vector<To> r(bytes.size() / sizeof(From));
  for (size_t i = 0; i < r.size(); ++i) r[i] = static_cast<To>(element_at<From>(bytes, i));
  return r;
}

template <class T>
std::optional<std::vector<T>> from_integers(DType t, const std::vector<std::byte>& bytes) {
  switch (t) {
    case DType::Bool:
    case DType::U8:
      return converted<T, uint8_t>(bytes);
    case DType::I8:
      return converted<T, int8_t>(bytes);
    case DType::U16:
      return converted<T, uint16_t>(bytes);
    case DType::I16:
      return converted<T, int16_t>(bytes);
    case DType::U32:
      return converted<T, uint32_t>(bytes);
    case DType::I32:
      return converted<T, int32_t>(bytes);
    case DType::U64:
      return converted<T, uint64_t>(bytes);
    case DType::I64:
      return converted<T, int64_t>(bytes);
    default:
      return std::nullopt;
  }
}

Result<std::vector<double>> as_reals(DType t, const std::vector<std::byte>& data) {
  switch (t) {
    case DType::F32:
      return converted<double, float>(data);
    case DType::F64:
      return converted<double, double>(data);
    case DType::F16:
      return converted<double, Eigen::half>(data);
    case DType::BF16:
      return converted<double, Eigen::bfloat16>(data);
    default:
      break;
  }
  if (auto r = from_integers<double>(t, data)) return *std::move(r);
  return error("a constant of type " + to_string(t) + " cannot be read as real numbers");
}

Result<std::vector<int64_t>> as_integers(DType t, const std::vector<std::byte>& data) {
  if (auto r = from_integers<int64_t>(t, data)) return *std::move(r);
  return error("a constant of type " + to_string(t) + " cannot be read as integers");
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& v) {
  std::vector<std::byte> bytes(v.size() * sizeof(T));
  if (!v.empty()) std::memcpy(bytes.data(), v.data(), bytes.size());
  return bytes;
}

/// Each to the nearest, ties to even, in one step: the float between is odd where it is not exact,
/// and so no tie.
template <class Small>
std::vector<std::byte> rounded(const std::vector<double>& values) {
  std::vector<Small> r;
  for (double x : values) {
    auto between = static_cast<float>(x);
    if (between != x && (std::bit_cast<uint32_t>(between) & 1) == 0)
      between = std::nextafter(between, x > between ? INFINITY : -INFINITY);
    r.push_back(Small(between));
  }
  return bytes_of(r);
}

/// The low bytes of integers, as they lie in memory.
template <size_t N>
std::vector<std::byte> low_bytes(const std::vector<double>& values) {
  std::vector<std::byte> bytes(N * values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    auto x = static_cast<int64_t>(values[k]);
    std::memcpy(&bytes[N * k], &x, N);
  }
  return bytes;
}

}  // namespace

std::string to_string(DType t) {
  auto k = static_cast<int32_t>(t);
  if (k >= 0 && k < static_cast<int32_t>(kTypes.size()))
    return std::string(kTypes[static_cast<size_t>(k)].name);
  return std::string(kUnnamed) + std::to_string(k);
}

std::optional<DType> dtype_of(std::string_view name) {
  for (size_t k = 0; k < kTypes.size(); ++k)
    if (kTypes[k].name == name) return static_cast<DType>(k);
  if (!name.starts_with(kUnnamed)) return std::nullopt;
  int32_t number = 0;
  const char* end = name.data() + name.size();
  auto [stop, failure] = std::from_chars(name.data() + kUnnamed.size(), end, number);
  auto t = static_cast<DType>(number);
  if (failure != std::errc{} || stop != end || to_string(t) != name) return std::nullopt;
  return t;
}

size_t size_of(DType t) {
  auto k = static_cast<uint32_t>(t);
  return k < kTypes.size() ? kTypes[k].size : 0;
}

bool is_real(DType t) {
  return t == DType::F32 || t == DType::F16 || t == DType::F64 || t == DType::BF16;
}

bool is_integer(DType t) { return from_integers<int64_t>(t, {}).has_value(); }

bool fits_double(DType t) { return is_real(t) || (is_integer(t) && size_of(t) < 8); }

std::string to_string(const TensorType& t) {
  std::string s = to_string(t.dtype);
  if (!t.shape) return s + "[...]";
  s += '[';
  for (size_t d = 0; d < t.shape->size(); ++d) s += (d ? "," : "") + to_string((*t.shape)[d]);
  return s + "]";
}

bool same(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.shape.has_value() != b.shape.has_value()) return false;
  if (!a.shape) return true;
  if (a.shape->size() != b.shape->size()) return false;
  for (size_t d = 0; d < a.shape->size(); ++d)
    if (!same((*a.shape)[d], (*b.shape)[d])) return false;
  return true;
}

std::optional<std::vector<int64_t>> numeric(const Shape& shape) {
  std::vector<int64_t> dims;
  dims.reserve(shape.size());
  for (const Poly& d : shape) {
    if (!d.is_constant()) return std::nullopt;
    dims.push_back(d.constant());
  }
  return dims;
}

Poly element_count(const Shape& shape) {
  Poly n(1);
  for (const Poly& d : shape) n = n * d;
  return n;
}

Constant::Constant(DType type, std::vector<int64_t> dims, std::vector<std::byte> bytes)
    : dtype_(type), dims_(std::move(dims)), bytes_(std::move(bytes)) {
  size_t size = size_of(type);
  CHECK(size == 0 || bytes_.size() == static_cast<size_t>(count()) * size);
}

Constant::Constant(DType type, std::vector<int64_t> dims, Reader read, int64_t stored)
    : dtype_(type), dims_(std::move(dims)), read_(std::move(read)), stored_(stored) {
  CHECK(read_);
}

std::shared_ptr<const Constant> Constant::of_floats(std::vector<int64_t> dims,
                                                    const std::vector<float>& v) {
  return std::make_shared<Constant>(DType::F32, std::move(dims), bytes_of(v));
}

std::shared_ptr<const Constant> Constant::of_ints(std::vector<int64_t> dims,
                                                  const std::vector<int64_t>& v) {
  return std::make_shared<Constant>(DType::I64, std::move(dims), bytes_of(v));
}

int64_t Constant::count() const {
  if (std::find(dims_.begin(), dims_.end(), 0) != dims_.end()) return 0;
  int64_t n = 1;
  for (int64_t d : dims_) CHECK(!__builtin_mul_overflow(n, d, &n));
  return n;
}

int64_t Constant::stored_bytes() const {
  return stored_ >= 0 ? stored_ : count() * static_cast<int64_t>(size_of(dtype_));
}

Status Constant::read(const Visit& visit) const {
  if (!read_) {
    visit(bytes_);
    return {};
  }
  size_t given = 0, size = size_of(dtype_), needed = static_cast<size_t>(count()) * size;
  RETURN_IF_ERROR(read_([&](std::span<const std::byte> piece) {
    given += piece.size();
    if (size == 0 || given <= needed) visit(piece);
  }));
  if (size == 0 || given == needed) return {};
  return error("constant data has " + std::to_string(given) + " bytes; " + to_string(dtype_) +
               " with " + std::to_string(count()) + " elements needs " + std::to_string(needed));
}

Result<std::vector<std::byte>> Constant::bytes() const {
  if (!read_) return bytes_;
  std::vector<std::byte> data;
  data.reserve(static_cast<size_t>(count()) * size_of(dtype_));
  RETURN_IF_ERROR(read([&](auto piece) { data.insert(data.end(), piece.begin(), piece.end()); }));
  return data;
}

Hash128 Constant::hash() const {
  std::call_once(hashed_, [this] {
    std::vector<int64_t> header = dims_;
    header.push_back(static_cast<int64_t>(dtype_));
    ContentHash h;
    h.add(std::as_bytes(std::span(header)));
    (void)read([&](auto piece) { h.add(piece); });  // what cannot be read is equal to nothing
    hash_ = h.value();
  });
  return hash_;
}

bool same(const Constant& a, const Constant& b) {
  if (&a == &b) return true;
  if (a.dtype_ != b.dtype_ || a.dims_ != b.dims_ || a.hash() != b.hash()) return false;
  const Constant &left = b.read_ ? a : b, &right = b.read_ ? b : a;
  std::vector<std::byte> copy;  // of what is not in memory: at most one of the two
  if (left.read_) {
    auto data = left.bytes();
    if (!data) return false;
    copy = *std::move(data);
  }
  std::span<const std::byte> rest = left.read_ ? copy : left.bytes_;
  bool equal = true;
  auto compare = [&](std::span<const std::byte> piece) {
    equal = equal && piece.size() <= rest.size() &&
            std::equal(piece.begin(), piece.end(), rest.begin());
    if (equal) rest = rest.subspan(piece.size());
  };
  return right.read(compare) && equal && rest.empty();
}

Result<std::vector<double>> Constant::reals() const {
  if (!read_) return as_reals(dtype_, bytes_);
  ASSIGN_OR_RETURN(std::vector<std::byte> data, bytes());
  return as_reals(dtype_, data);
}

Result<std::vector<int64_t>> Constant::integers() const {
  if (!read_) return as_integers(dtype_, bytes_);
  ASSIGN_OR_RETURN(std::vector<std::byte> data, bytes());
  return as_integers(dtype_, data);
}

std::shared_ptr<const Constant> make_constant(DType type, std::vector<int64_t> dims,
                                              const std::vector<double>& values) {
  CHECK(is_real(type) || is_integer(type));
  auto bytes = [&] {
    switch (type) {
      case DType::F64:
        return bytes_of(values);
      case DType::F32:
        return bytes_of(std::vector<float>(values.begin(), values.end()));
      case DType::F16:
        return rounded<Eigen::half>(values);
      case DType::BF16:
        return rounded<Eigen::bfloat16>(values);
      case DType::I64:
      case DType::U64:
        return bytes_of(std::vector<int64_t>(values.begin(), values.end()));
      case DType::I32:
      case DType::U32:
        return low_bytes<4>(values);
      case DType::I16:
      case DType::U16:
        return low_bytes<2>(values);
      default:
        return low_bytes<1>(values);
    }
  };
  return std::make_shared<Constant>(type, std::move(dims), bytes());
}

}  // namespace regraft
