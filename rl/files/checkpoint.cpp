#include "rl/files/checkpoint.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/files/input_file.h"
#include "base/hash.h"
#include "rl/checkpoint.pb.h"

namespace regraft::rl {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

constexpr uint32_t kVersion = 1;
constexpr size_t kMaxBytes = std::numeric_limits<int>::max();  // protobuf's
constexpr uint64_t kMagic = 0x31746672676572ULL;               // "regrft1"

/// The bytes that every checkpoint begins with, of any version.
std::string beginning() {
  wire::CheckpointFile file;
  file.set_magic(kMagic);
  return file.SerializeAsString();
}

wire::Array to_wire(const std::string& name, const Array& a) {
  wire::Array w;
  w.set_name(name);
  w.set_rows(a.rows);
  w.set_cols(a.cols);
  std::visit(
      [&](const auto& numbers) {
        CHECK(static_cast<int64_t>(numbers.size()) == a.rows * a.cols);
        w.set_bytes_per_number(sizeof(numbers[0]));
        w.set_data(numbers.data(), numbers.size() * sizeof(numbers[0]));
      },
      a.numbers);
  return w;
}

template <class N>
std::vector<N> numbers_of(const std::string& bytes) {
  std::vector<N> numbers(bytes.size() / sizeof(N));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// None: the sizes do not fit.
std::optional<Array> from_wire(const wire::Array& w) {
  const int64_t each = w.bytes_per_number();
  int64_t bytes = 0;
  if ((each != 4 && each != 8) || w.rows() < 0 || w.cols() < 0 ||
      __builtin_mul_overflow(w.rows(), w.cols(), &bytes) ||
      __builtin_mul_overflow(bytes, each, &bytes) || bytes != static_cast<int64_t>(w.data().size()))
    return std::nullopt;
  Array a{w.rows(), w.cols(), {}};
  if (each == 4)
    a.numbers = numbers_of<float>(w.data());
  else
    a.numbers = numbers_of<double>(w.data());
  return a;
}

wire::Body to_wire(const Checkpoint& c) {
  wire::Body body;
  body.set_kind(c.kind);
  body.set_feature_hash(c.feature_hash);
  for (const auto& [name, value] : c.settings) {
    auto* w = body.add_settings();
    w->set_name(name);
    w->set_value(value);
  }
  for (const auto& [name, values] : c.lists) {
    auto* w = body.add_lists();
    w->set_name(name);
    for (const std::string& v : values) w->add_values(v);
  }
  for (const auto& [name, array] : c.arrays) *body.add_arrays() = to_wire(name, array);
  for (const auto& [name, value] : c.counters) {
    auto* w = body.add_counters();
    w->set_name(name);
    if (auto* n = std::get_if<int64_t>(&value))
      w->set_integer(*n);
    else
      w->set_word(std::get<uint64_t>(value));
  }
  return body;
}

Result<Checkpoint> from_wire(const wire::Body& body, const std::string& path) {
  Checkpoint c;
  c.kind = body.kind();
  c.feature_hash = body.feature_hash();
  for (const auto& w : body.settings()) c.settings[w.name()] = w.value();
  for (const auto& w : body.lists()) c.lists[w.name()] = {w.values().begin(), w.values().end()};
  for (const auto& w : body.arrays()) {
    auto array = from_wire(w);
    if (!array)
      return error(fmt::format("{}: matrix {} has {} bytes, not those of {} x {} numbers", path,
                               w.name(), w.data().size(), w.rows(), w.cols()));
    c.arrays[w.name()] = *std::move(array);
  }
  for (const auto& w : body.counters()) {
    if (w.value_case() == wire::Counter::kWord)
      c.counters[w.name()] = uint64_t{w.word()};
    else
      c.counters[w.name()] = int64_t{w.integer()};
  }
  return c;
}

}  // namespace

std::string to_bytes(const Checkpoint& checkpoint) {
  wire::CheckpointFile file;
  file.set_magic(kMagic);
  file.set_version(kVersion);
  file.set_body(to_wire(checkpoint).SerializeAsString());
  file.set_digest(hash_text(file.body()));
  return file.SerializeAsString();
}

Status Checkpoint::expect(const std::string& of_kind, uint64_t with_feature_hash) const {
  if (kind != of_kind)
    return error(fmt::format("the checkpoint holds a {}, not a {}: give one of a {}", kind, of_kind,
                             of_kind));
  if (feature_hash != with_feature_hash)
    return error(
        fmt::format("the checkpoint was trained on features {:016x}, this program has "
                    "{:016x}: train it anew",
                    feature_hash, with_feature_hash));
  return {};
}

Result<uint64_t> counter(const Checkpoint& checkpoint, const std::string& name) {
  auto at = checkpoint.counters.find(name);
  const uint64_t* number = nullptr;
  if (at != checkpoint.counters.end()) number = std::get_if<uint64_t>(&at->second);
  if (!number) return error("there is no number '" + name + "' in it");
  return *number;
}

Status write_checkpoint(OutputFile& out, const Checkpoint& checkpoint) {
  return out.write(to_bytes(checkpoint));
}

Status write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  return write_file(path, to_bytes(checkpoint));
}

Result<Checkpoint> read_checkpoint(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxBytes));
  return parse_checkpoint(bytes, path);
}

Result<Checkpoint> parse_checkpoint(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(beginning()) || bytes.size() > kMaxBytes)
    return error(name + ": not a checkpoint");
  wire::CheckpointFile file;
  const bool whole = file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (file.version() > kVersion)
    return error(fmt::format("{}: version {} of checkpoints is newer than this program's {}", name,
                             file.version(), kVersion));
  wire::Body body;
  if (!whole || file.version() == 0 || file.digest() != hash_text(file.body()) ||
      !body.ParseFromString(file.body()))
    return error(name + ": cut off or damaged; write it again or take an older one");
  return from_wire(body, name);
}

}  // namespace regraft::rl
