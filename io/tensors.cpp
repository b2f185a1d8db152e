#include "io/tensors.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace regraft::io {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 46;  // more is a mistake, not a tensor
constexpr size_t kKeepInMessage = size_t{1} << 16;

enum class Field { Floats, Doubles, Int32s, Int64s, Uint64s, Texts, None };

Field field_of(int32_t type) {
  using T = onnx::TensorProto;
  switch (type) {
    case T::FLOAT:
    case T::COMPLEX64:
      return Field::Floats;
    case T::DOUBLE:
    case T::COMPLEX128:
      return Field::Doubles;
    case T::INT64:
      return Field::Int64s;
    case T::UINT32:
    case T::UINT64:
      return Field::Uint64s;
    case T::STRING:
      return Field::Texts;
    case T::UNDEFINED:
      return Field::None;
    default:
      return Field::Int32s;
  }
}

/// Entries of the typed field that belongs to the element type.
int64_t typed_entries(const onnx::TensorProto& t) {
  switch (field_of(t.data_type())) {
    case Field::Floats:
      return t.float_data_size();
    case Field::Doubles:
      return t.double_data_size();
    case Field::Int32s:
      return t.int32_data_size();
    case Field::Int64s:
      return t.int64_data_size();
    case Field::Uint64s:
      return t.uint64_data_size();
    case Field::Texts:
      return t.string_data_size();
    case Field::None:
      break;
  }
  return 0;
}

/// Bits of one element; 0: unknown.
int bits_of(int32_t type) {
  DType known = static_cast<DType>(type);
  if (size_t bytes = type <= 16 ? size_of(known) : 0; bytes > 0) return static_cast<int>(8 * bytes);
  if (type >= 17 && type <= 20) return 8;  // float8 e4m3fn, e4m3fnuz, e5m2, e5m2fnuz
  if (type >= 21 && type <= 23) return 4;  // uint4, int4, float4e2m1
  if (type == 24) return 8;                // float8e8m0
  if (type == 25 || type == 26) return 2;  // uint2, int2
  return 0;
}

Result<int64_t> checked_count(const onnx::TensorProto& t) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t d : t.dims()) {
    if (d < 0) return error(fmt::format("has the negative dimension {}", d));
    empty = empty || d == 0;
  }
  if (empty) return int64_t{0};
  for (int64_t d : t.dims()) {
    if (count > kMaxBytes / d) return error("has dimensions whose product is too large");
    count *= d;
  }
  return count;
}

template <class To, class From>
std::vector<std::byte> narrowed(const From& values) {
  std::vector<std::byte> out(static_cast<size_t>(values.size()) * sizeof(To));
  std::byte* at = out.data();
  for (auto v : values) {
    To x = static_cast<To>(v);
    std::memcpy(at, &x, sizeof x);
    at += sizeof x;
  }
  return out;
}

Result<int64_t> parse_number(std::string_view text, std::string_view key) {
  int64_t value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) {
    return error(fmt::format("has the external {} '{}', which is no size", key, text));
  }
  return value;
}

struct Entries {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

Result<Entries> external_entries(const onnx::TensorProto& t) {
  Entries e;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") e.location = entry.value();
    if (entry.key() == "offset") {
      ASSIGN_OR_RETURN(e.offset, parse_number(entry.value(), "offset"));
    }
    if (entry.key() == "length") {
      ASSIGN_OR_RETURN(e.length, parse_number(entry.value(), "length"));
    }
  }
  if (e.location.empty()) return error("is external but names no file");
  return e;
}

/// The canonical path of `location`, which must lie under `folder`.
Result<std::string> inside(const std::string& folder, const std::string& location) {
  namespace fs = std::filesystem;
  std::string quoted = fmt::format("lies in '{}', ", location);
  if (folder.empty()) return error(quoted + "but the model has no folder");
  if (location.find('\0') != std::string::npos) return error(quoted + "which is no path");
  fs::path relative(location);
  if (relative.is_absolute())
    return error(quoted + "an absolute path: external data must be in the model's folder");
  for (const auto& part : relative) {
    if (part == "..") return error(quoted + "outside the model's folder");
  }
  std::error_code failure;
  fs::path root = fs::canonical(folder, failure);
  if (failure) return error(quoted + "but the model's folder cannot be read");
  fs::path file = fs::canonical(root / relative, failure);
  if (failure || !fs::exists(file, failure)) return error(quoted + "which is missing");
  if (!fs::is_regular_file(file, failure)) return error(quoted + "which is no regular file");
  fs::path from_root = file.lexically_relative(root);
  if (from_root.empty() || *from_root.begin() == "..") {
    return error(quoted + "a link that leaves the model's folder");
  }
  return file.string();
}

Status check_inline(const onnx::TensorProto& t, int64_t count) {
  int64_t entries = typed_entries(t);
  std::optional<int64_t> bytes = stored_bytes(t.data_type(), count);
  if (!t.raw_data().empty()) {
    if (!bytes || *bytes == static_cast<int64_t>(t.raw_data().size())) return {};
    return error(fmt::format("has {} bytes of data, its dimensions and type need {}",
                             t.raw_data().size(), *bytes));
  }
  int64_t needed = count;
  if (t.data_type() == onnx::TensorProto::COMPLEX64 ||
      t.data_type() == onnx::TensorProto::COMPLEX128) {
    needed = 2 * count;
  }
  if (entries == needed || (bits_of(t.data_type()) < 8 && entries == bytes.value_or(entries)))
    return {};
  return error(
      fmt::format("has {} elements of data of its type, its dimensions need {}", entries, needed));
}

}  // namespace

std::optional<int64_t> stored_bytes(int32_t type, int64_t count) {
  int bits = bits_of(type);
  if (bits == 0) return std::nullopt;
  return bits >= 8 ? count * (bits / 8) : (count * bits + 7) / 8;
}

std::vector<std::byte> inline_bytes(const onnx::TensorProto& t) {
  if (!t.raw_data().empty()) {
    std::vector<std::byte> out(t.raw_data().size());
    std::memcpy(out.data(), t.raw_data().data(), out.size());
    return out;
  }
  DType type = static_cast<DType>(t.data_type());
  switch (field_of(t.data_type())) {
    case Field::Floats:
      return narrowed<float>(t.float_data());
    case Field::Doubles:
      return narrowed<double>(t.double_data());
    case Field::Int64s:
      return narrowed<int64_t>(t.int64_data());
    case Field::Uint64s:
      return type == DType::U32 ? narrowed<uint32_t>(t.uint64_data())
                                : narrowed<uint64_t>(t.uint64_data());
    case Field::Int32s:
      if (type > DType::BF16) return narrowed<uint8_t>(t.int32_data());  // bytes: of 8 bits or less
      switch (size_of(type)) {
        case 1:
          return narrowed<uint8_t>(t.int32_data());
        case 2:
          return narrowed<uint16_t>(t.int32_data());
        default:
          return narrowed<int32_t>(t.int32_data());
      }
    case Field::Texts:
    case Field::None:
      break;
  }
  return {};
}

bool is_external(const onnx::TensorProto& t) {
  return t.data_location() == onnx::TensorProto::EXTERNAL;
}

Result<Place> locate(const onnx::TensorProto& t, const std::string& folder) {
  ASSIGN_OR_RETURN(int64_t count, checked_count(t));
  ASSIGN_OR_RETURN(Entries e, external_entries(t));
  ASSIGN_OR_RETURN(std::string file, inside(folder, e.location));
  std::error_code failure;
  int64_t size = static_cast<int64_t>(std::filesystem::file_size(file, failure));
  if (failure) return error(fmt::format("lies in '{}', whose size cannot be read", e.location));
  int64_t rest = e.offset > size ? -1 : size - e.offset;
  int64_t length = e.length.value_or(stored_bytes(t.data_type(), count).value_or(rest));
  if (auto bytes = stored_bytes(t.data_type(), count); bytes && *bytes != length) {
    return error(fmt::format("has {} bytes of external data, its dimensions and type need {}",
                             length, *bytes));
  }
  if (rest < 0 || length > rest) {
    return error(fmt::format("needs {} bytes at {} of '{}', which has {}", length, e.offset,
                             e.location, size));
  }
  return Place{file, e.offset, length};
}

Status check_tensor(const onnx::TensorProto& t, const std::string& folder) {
  ASSIGN_OR_RETURN(int64_t count, checked_count(t));
  if (is_external(t)) {
    if (field_of(t.data_type()) == Field::Texts)
      return error("is text, which cannot be external data");
    auto place = locate(t, folder);
    if (!place) return place.error();
    return {};
  }
  if (t.has_segment() || (bits_of(t.data_type()) == 0 && field_of(t.data_type()) != Field::Texts))
    return {};
  return check_inline(t, count);
}

std::shared_ptr<const Constant> constant_of(const onnx::TensorProto& t,
                                            const std::shared_ptr<const Model>& owner) {
  if (auto held = owner->held.find(&t); held != owner->held.end()) return held->second;
  if (t.data_type() > 16 || size_of(static_cast<DType>(t.data_type())) == 0 || t.has_segment())
    return nullptr;
  DType type = static_cast<DType>(t.data_type());
  std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
  if (is_external(t)) {
    auto place = locate(t, owner->folder);
    if (!place) return nullptr;
    return std::make_shared<Constant>(
        type, std::move(dims),
        [at = *place](const Constant::Visit& visit) { return read_place(at, visit); });
  }
  if (t.raw_data().size() < kKeepInMessage) {
    return std::make_shared<Constant>(type, std::move(dims), inline_bytes(t));
  }
  auto read = [owner, &t](const Constant::Visit& visit) -> Status {
    visit(std::as_bytes(std::span(t.raw_data())));
    return {};
  };
  return std::make_shared<Constant>(type, std::move(dims), read);
}

Status read_place(const Place& place, const Constant::Visit& visit) {
  std::ifstream file(place.file, std::ios::binary);
  file.seekg(place.offset);
  std::vector<std::byte> block(
      static_cast<size_t>(std::min<int64_t>(place.length, int64_t{1} << 22)));
  for (int64_t left = place.length; left > 0;) {
    auto step = std::min<int64_t>(left, static_cast<int64_t>(block.size()));
    file.read(reinterpret_cast<char*>(block.data()), step);
    if (!file)
      return error(fmt::format("cannot read {} bytes at {} of '{}'", place.length, place.offset,
                               place.file));
    visit({block.data(), static_cast<size_t>(step)});
    left -= step;
  }
  return {};
}

}  // namespace regraft::io
