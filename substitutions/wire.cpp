#include "substitutions/wire.h"

namespace regraft::substitutions {
namespace {

class Wire {
 public:
  explicit Wire(const WireField& message) : data_(message.bytes), offset_(message.offset) {}
  bool at_end() const { return at_ == data_.size(); }

  Result<WireField> next() {
    size_t start = at_;
    ASSIGN_OR_RETURN(uint64_t tag, varint());
    WireField f;
    f.field = static_cast<uint32_t>(tag >> 3);
    if ((tag & 7) == 0) {
      f.kind = WireField::Varint;
      f.offset = offset_ + at_;
      ASSIGN_OR_RETURN(f.number, varint());
      return f;
    }
    if ((tag & 7) != 2 || tag >> 3 == 0 || tag >> 32 != 0)
      return problem(start, "not a field of this format");
    ASSIGN_OR_RETURN(uint64_t length, varint());
    if (length > data_.size() - at_) return problem(start, "a field is longer than its message");
    f.offset = offset_ + at_;
    f.bytes = data_.substr(at_, static_cast<size_t>(length));
    at_ += static_cast<size_t>(length);
    return f;
  }

 private:
  Error problem(size_t at, const std::string& what) const {
    return error("byte " + std::to_string(offset_ + at) + ": " + what);
  }
  Result<uint64_t> varint() {
    uint64_t n = 0;
    size_t start = at_;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == data_.size()) return problem(start, "the data ends within a number");
      auto byte = static_cast<uint8_t>(data_[at_++]);
      if (shift == 63 && byte > 1) break;
      n |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return n;
    }
    return problem(start, "a number is too long");
  }

  std::string_view data_;
  size_t offset_, at_ = 0;
};

}  // namespace

Result<std::vector<WireField>> read_message(const WireField& message) {
  if (message.kind != WireField::Bytes)
    return error("byte " + std::to_string(message.offset) + ": expected a message");
  std::vector<WireField> fields;
  for (Wire wire(message); !wire.at_end();) {
    ASSIGN_OR_RETURN(WireField f, wire.next());
    fields.push_back(f);
  }
  return fields;
}

namespace {

std::string varint(uint64_t n) {
  std::string s;
  for (; n >= 0x80; n >>= 7) s += static_cast<char>(n | 0x80);
  return s + static_cast<char>(n);
}

}  // namespace

std::string number_field(uint32_t field, int64_t value) {
  return varint(uint64_t{field} << 3) + varint(static_cast<uint64_t>(value));
}

std::string message_field(uint32_t field, std::string_view content) {
  return varint(uint64_t{field} << 3 | 2) + varint(content.size()) + std::string(content);
}

}  // namespace regraft::substitutions
