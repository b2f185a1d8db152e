#include "base/digest.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <charconv>

#include "base/check.h"

namespace regraft {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  static const bool ready = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1;
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  CHECK(ready && algorithm && state_->context);
  CHECK(EVP_DigestInit_ex2(state_->context, algorithm, nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

Sha256& Sha256::bytes(std::span<const std::byte> data) {
  CHECK(EVP_DigestUpdate(state_->context, data.data(), data.size()) == 1);
  return *this;
}

Sha256& Sha256::number(uint64_t n) {
  std::array<std::byte, 8> word;
  for (std::byte& b : word) {
    b = static_cast<std::byte>(n);
    n >>= 8;
  }
  return bytes(word);
}

Sha256& Sha256::text(std::string_view s) {
  return number(s.size()).bytes(std::as_bytes(std::span(s)));
}

Digest Sha256::finish() {
  Digest d;
  unsigned length = 0;
  CHECK(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(d.bytes.data()),
                           &length) == 1);
  CHECK(length == d.bytes.size());
  return d;
}

std::optional<Digest> digest_from_hex(std::string_view digits) {
  Digest d;
  if (digits.size() != 2 * d.bytes.size()) return std::nullopt;
  for (size_t k = 0; k < d.bytes.size(); ++k) {
    unsigned byte = 0;
    const char *at = digits.data() + 2 * k, *end = at + 2;
    if (std::from_chars(at, end, byte, 16).ptr != end) return std::nullopt;
    d.bytes[k] = static_cast<std::byte>(byte);
  }
  return d;
}

std::string hex(const Digest& digest) {
  std::string s;
  for (std::byte b : digest.bytes) s += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return s;
}

}  // namespace regraft
