#pragma once
// Values as bytes, for files and messages between processes of one program.
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace regraft {

static_assert(std::endian::native == std::endian::little);

/// Numbers as they lie in memory; texts and lists with their length first.
class ByteWriter {
 public:
  template <class T>
  ByteWriter& number(T n) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&n), sizeof n);
    return *this;
  }
  ByteWriter& text(std::string_view s) {
    number<uint64_t>(s.size());
    bytes_.append(s);
    return *this;
  }
  template <class T>
  ByteWriter& numbers(std::span<const T> list) {
    static_assert(std::is_arithmetic_v<T>);
    number<uint64_t>(list.size());
    bytes_.append(reinterpret_cast<const char*>(list.data()), list.size_bytes());
    return *this;
  }
  template <class T>
  ByteWriter& numbers(const std::vector<T>& list) {
    return numbers(std::span<const T>(list));
  }
  std::string finish() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote. Bytes of another kind give zeros and empty lists, and fits() is
/// false from then on: it is asked once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T number() {
    T n{};
    std::string_view raw = take(sizeof n);
    if (!raw.empty()) std::memcpy(&n, raw.data(), sizeof n);
    return n;
  }
  std::string_view text() { return take(number<uint64_t>()); }
  template <class T>
  std::vector<T> numbers() {
    auto count = number<uint64_t>();
    if (count > rest_.size() / sizeof(T)) {
      fail();
      return {};
    }
    std::vector<T> list(count);
    std::string_view raw = take(count * sizeof(T));
    if (!raw.empty()) std::memcpy(list.data(), raw.data(), raw.size());
    return list;
  }
  /// A count of things that take at least `least` bytes each.
  size_t count(size_t least = 1) {
    auto n = number<uint64_t>();
    if (n > rest_.size() / least) {
      fail();
      return 0;
    }
    return n;
  }
  bool fits() const { return fits_; }
  bool at_end() const { return fits_ && rest_.empty(); }

 private:
  void fail() {
    fits_ = false;
    rest_ = {};
  }
  std::string_view take(uint64_t n) {
    if (n > rest_.size()) {
      fail();
      return {};
    }
    std::string_view head = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return head;
  }
  std::string_view rest_;
  bool fits_ = true;
};

}  // namespace regraft
