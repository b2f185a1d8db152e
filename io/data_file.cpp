#include "io/data_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/hash.h"

namespace regraft::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".data";
constexpr size_t kDigits = 16;
constexpr size_t kBlock = size_t{1} << 22;

/// "<model>.<16 digits>.data".
bool is_data_of(std::string_view name, std::string_view model) {
  if (name.size() != model.size() + 1 + kDigits + kSuffix.size()) return false;
  std::string_view digits = name.substr(model.size() + 1, kDigits);
  return name.starts_with(model) && name[model.size()] == '.' && name.ends_with(kSuffix) &&
         digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

/// Where a file has data again, from `at` on; `end` at most. Elsewhere it is a hole: zeros that
/// take no room.
off_t next_data(int fd, off_t at, off_t end) {
  off_t found = ::lseek(fd, at, SEEK_DATA);
  if (found < 0) return errno == ENXIO ? end : at;
  return std::min(found, end);
}

bool same_content(int a, int b) {
  struct stat of_a {
  }, of_b{};
  if (::fstat(a, &of_a) != 0 || ::fstat(b, &of_b) != 0 || of_a.st_size != of_b.st_size)
    return false;
  std::string x(kBlock, '\0'), y(kBlock, '\0');
  for (off_t at = 0;; at += static_cast<off_t>(kBlock)) {
    at = std::min(next_data(a, at, of_a.st_size), next_data(b, at, of_b.st_size));
    ssize_t n = ::pread(a, x.data(), kBlock, at), m = ::pread(b, y.data(), kBlock, at);
    if (n < 0 || n != m || !std::equal(x.begin(), x.begin() + n, y.begin())) return false;
    if (n < static_cast<ssize_t>(kBlock)) return true;
  }
}

/// The file is there under that name.
bool is_at(int fd, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino && S_ISREG(open.st_mode);
}

}  // namespace

DataFile::DataFile(const std::string& model_file) : model_file_(model_file) {}

DataFile::~DataFile() {
  if (adopted_ >= 0) ::close(adopted_);
}

Status DataFile::append(onnx::TensorProto& tensor, const std::vector<std::byte>& bytes) {
  RETURN_IF_ERROR(align(static_cast<int64_t>(bytes.size())));
  int64_t offset = size_;
  RETURN_IF_ERROR(write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  refer(tensor, offset, static_cast<int64_t>(bytes.size()));
  return {};
}

Status DataFile::append(onnx::TensorProto& tensor, const Place& place) {
  auto [known, is_new] = copied_.emplace(std::tuple(place.file, place.offset, place.length), 0);
  if (is_new) {
    RETURN_IF_ERROR(align(place.length));
    known->second = size_;
    RETURN_IF_ERROR(copy(place));
  }
  refer(tensor, known->second, place.length);
  return {};
}

Status DataFile::write(std::string_view bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  digest_ = combine(digest_, hash_bytes(bytes));
  return file_.write(bytes);
}

Status DataFile::align(int64_t length) {
  if (!is_open()) {
    ASSIGN_OR_RETURN(file_, OutputFile::open(model_file_ + ".regraft" + std::string(kSuffix)));
  }
  int64_t step = length >= (1 << 20) ? 4096 : 64;
  return write(std::string(static_cast<size_t>((step - size_ % step) % step), '\0'));
}

/// Zeros that take no room.
Status DataFile::skip(int64_t length) {
  size_ += length;
  digest_ = combine(combine(digest_, hash_text("hole")), static_cast<uint64_t>(length));
  bool done = ::ftruncate(file_.descriptor(), size_) == 0 &&
              ::lseek(file_.descriptor(), 0, SEEK_END) == size_;
  return done ? Status() : file_.failed();
}

Status DataFile::copy(const Place& place) {
  int fd = ::open(place.file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  Status copied = fd < 0 ? error(fmt::format("cannot read '{}'", place.file)) : copy(place, fd);
  if (fd >= 0) ::close(fd);
  return copied;
}

Status DataFile::copy(const Place& place, int fd) {
  std::string block(kBlock, '\0');
  const off_t end = place.offset + place.length;
  for (off_t at = place.offset; at < end;) {
    off_t data = next_data(fd, at, end);
    if (data - at >= static_cast<off_t>(kBlock)) {
      RETURN_IF_ERROR(skip(data - at));
      at = data;
      continue;
    }
    ssize_t n =
        ::pread(fd, block.data(), std::min<size_t>(kBlock, static_cast<size_t>(end - at)), at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return error(fmt::format("cannot read '{}'", place.file));
    RETURN_IF_ERROR(write({block.data(), static_cast<size_t>(n)}));
    at += n;
  }
  return {};
}

void DataFile::refer(onnx::TensorProto& tensor, int64_t offset, int64_t length) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto add = [&](const char* key, std::string value) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(std::move(value));
  };
  add("location", "");  // known when all is written
  add("offset", std::to_string(offset));
  add("length", std::to_string(length));
  tensors_.push_back(&tensor);
}

/// True when the file at `path` has this content; it stays then.
bool DataFile::adopt(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  bool same = ::flock(fd, LOCK_SH | LOCK_NB) == 0 && is_at(fd, path) &&
              same_content(fd, file_.descriptor()) && is_at(fd, path);
  if (same)
    adopted_ = fd;
  else
    ::close(fd);
  return same;
}

Status DataFile::finish() {
  if (!is_open()) return {};
  fs::path model(model_file_);
  for (;; digest_ = mix(digest_)) {
    name_ = fmt::format("{}.{:016x}{}", model.filename().string(), digest_, kSuffix);
    std::string path = (model.parent_path() / name_).string();
    struct stat there {};
    if (::lstat(path.c_str(), &there) != 0 || adopt(path)) break;
  }
  for (onnx::TensorProto* t : tensors_) t->mutable_external_data(0)->set_value(name_);
  return {};
}

Status DataFile::sync() { return file_.sync(); }

Status DataFile::commit() {
  if (!is_open() || adopted_ >= 0) return {};
  return file_.commit_as(name_);
}

void remove_old_data(const std::string& model_file, const std::string& name,
                     const std::set<std::string>& keep) {
  fs::path model(model_file);
  fs::path folder = model.parent_path().empty() ? "." : model.parent_path();
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    std::string other = entry.path().filename().string();
    if (other == name || !is_data_of(other, model.filename().string())) continue;
    if (keep.count(fs::weakly_canonical(entry.path(), none).string()) > 0) continue;
    int fd = ::open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(fd);
  }
}

}  // namespace regraft::io
