#pragma once
// Element types, shapes and constant data.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/content_hash.h"
#include "base/result.h"
#include "ir/algebra/poly.h"

namespace regraft {

/// Element types, numbered as ONNX's TensorProto.DataType; numbers not listed are carried as they
/// are.
enum class DType : int32_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  Text = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  C64 = 14,
  C128 = 15,
  BF16 = 16,
};
/// "float32", "int64", ...; a type without a name here prints as "type23".
std::string to_string(DType t);
/// Inverse of to_string.
std::optional<DType> dtype_of(std::string_view name);
/// Bytes of one element; 0 when it has no fixed whole number of bytes (text, 4-bit types) or is
/// unknown.
size_t size_of(DType t);
/// The types that rules apply to: F16, F32, F64 and BF16, as real arithmetic.
bool is_real(DType t);
/// Integers, and booleans as 0 and 1.
bool is_integer(DType t);
/// Its values are doubles: real types, booleans and integers of at most 32 bits.
bool fits_double(DType t);

/// A shape; a dimension that is not a number is a polynomial in the model's size symbols.
using Shape = std::vector<Poly>;

struct TensorType {
  DType dtype = DType::Undefined;
  std::optional<Shape> shape;  ///< nullopt: not even the rank is known
};
std::string to_string(const TensorType& t);
bool same(const TensorType& a, const TensorType& b);
/// Every dimension as a number, or nullopt.
std::optional<std::vector<int64_t>> numeric(const Shape& shape);
/// Product of the dimensions.
Poly element_count(const Shape& shape);

/// Immutable data of a constant tensor, row-major, little-endian; may lie elsewhere (in a file, in
/// a message) or be made when it is asked for. Thread-safe.
class Constant {
 public:
  using Visit = std::function<void(std::span<const std::byte>)>;
  /// Gives all data to `visit`, in order, in pieces of any size.
  using Reader = std::function<Status(const Visit& visit)>;
  /// REQUIRES: bytes.size() == elements * size_of(type).
  Constant(DType type, std::vector<int64_t> dims, std::vector<std::byte> bytes);
  /// `stored`: bytes of the data in the model's file, where a node makes more of them; below 0:
  /// all.
  Constant(DType type, std::vector<int64_t> dims, Reader read, int64_t stored = -1);
  static std::shared_ptr<const Constant> of_floats(std::vector<int64_t> dims,
                                                   const std::vector<float>& v);
  static std::shared_ptr<const Constant> of_ints(std::vector<int64_t> dims,
                                                 const std::vector<int64_t>& v);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t count() const;
  /// What the data takes in the model's file.
  int64_t stored_bytes() const;
  /// The data, not copied where it is in memory. An Error: it cannot be read, or has another size.
  Status read(const Visit& visit) const;
  /// A copy of the data; the caller drops it when done.
  Result<std::vector<std::byte>> bytes() const;
  /// Any real or integer type, converted to double.
  Result<std::vector<double>> reals() const;
  /// Integer types only.
  Result<std::vector<int64_t>> integers() const;
  /// Of type, dimensions and data: equal for equal constants, wherever their data lies. The first
  /// call reads the data.
  Hash128 hash() const;
  /// Type, dimensions and every byte are equal; false when the data of one cannot be read.
  friend bool same(const Constant& a, const Constant& b);

 private:
  DType dtype_;
  std::vector<int64_t> dims_;
  std::vector<std::byte> bytes_;
  Reader read_;  ///< empty: the data is `bytes_`
  int64_t stored_ = -1;
  mutable std::once_flag hashed_;
  mutable Hash128 hash_;
};
/// `values` rounded to `type`. REQUIRES: is_real(type), or is_integer(type) and it has the values.
std::shared_ptr<const Constant> make_constant(DType type, std::vector<int64_t> dims,
                                              const std::vector<double>& values);

}  // namespace regraft
