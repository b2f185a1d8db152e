#pragma once
// Cryptographic digests: what names content outside of the process.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace regraft {

/// A SHA-256 digest: whoever finds two inputs with one digest has broken SHA-256.
struct Digest {
  std::array<std::byte, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
};
std::string hex(const Digest& digest);  ///< 64 digits
std::optional<Digest> digest_from_hex(std::string_view digits);
/// Its first eight bytes, for tables.
inline uint64_t short_hash(const Digest& digest) {
  uint64_t h;
  std::memcpy(&h, digest.bytes.data(), sizeof h);
  return h;
}

/// SHA-256 (FIPS 180-4) of what is added, by OpenSSL whatever its configuration file says. Each
/// number and text is added so that no two sequences of them give the same bytes.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  ~Sha256();
  Sha256& bytes(std::span<const std::byte> data);  ///< as they stand
  Sha256& number(uint64_t n);                      ///< eight bytes, the lowest first
  Sha256& text(std::string_view s);                ///< its length, then its bytes
  Sha256& digest(const Digest& d) { return bytes(d.bytes); }
  /// Of all that was added. Nothing can be added afterwards.
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraft
