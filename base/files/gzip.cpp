#include "base/files/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"

namespace regraft {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;
constexpr size_t kStep = size_t{1} << 16;

/// zlib counts in 32 bits.
uInt step_of(size_t bytes) { return static_cast<uInt>(std::min<size_t>(bytes, 1 << 30)); }

void feed(z_stream& z, std::string_view& rest) {
  if (z.avail_in > 0) return;
  z.avail_in = step_of(rest.size());
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
  rest.remove_prefix(z.avail_in);
}

/// Room for more at the end of the text.
void make_room(z_stream& z, std::string& text) {
  size_t used = text.size() - z.avail_out;
  text.resize(used + kStep);
  z.avail_out = kStep;
  z.next_out = reinterpret_cast<Bytef*>(text.data() + used);
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string to_gzip(std::string_view bytes) {
  z_stream z{};
  constexpr int kMemory = 9;
  CHECK(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) ==
        Z_OK);
  std::string text;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    feed(z, bytes);
    if (z.avail_out == 0) make_room(z, text);
    state = deflate(&z, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    CHECK(state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR);
  }
  text.resize(text.size() - z.avail_out);
  deflateEnd(&z);
  return text;
}

Result<std::string> from_gzip(std::string_view bytes, size_t most) {
  z_stream z{};
  CHECK(inflateInit2(&z, kGzip) == Z_OK);
  std::string text;
  int state = Z_OK;
  while (state == Z_OK && text.size() - z.avail_out <= most) {
    feed(z, bytes);
    if (z.avail_out == 0) make_room(z, text);
    state = inflate(&z, Z_NO_FLUSH);
  }
  text.resize(text.size() - z.avail_out);
  bool more = z.avail_in > 0 || !bytes.empty();
  inflateEnd(&z);
  if (text.size() > most)
    return error("it unpacks to more than " + std::to_string(most) + " bytes");
  if (state == Z_BUF_ERROR) return error("the compressed data is cut off");
  if (state != Z_STREAM_END) return error("the compressed data is damaged");
  if (more) return error("something follows the compressed data");
  return text;
}

}  // namespace regraft
