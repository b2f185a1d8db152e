#include "base/files/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace regraft {
namespace {

Error no_memory() { return error(std::string("no file in memory: ") + std::strerror(errno)); }

}  // namespace

void MemoryFile::swap(MemoryFile& other) noexcept {
  path_.swap(other.path_);
  std::swap(fd_, other.fd_);
  std::swap(mapped_, other.mapped_);
}

MemoryFile::~MemoryFile() {
  if (!mapped_.empty()) ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
  if (fd_ >= 0) ::close(fd_);
}

Result<MemoryFile> MemoryFile::make() {
  MemoryFile file;
  file.fd_ = ::memfd_create("regraft", MFD_CLOEXEC);
  if (file.fd_ < 0) return no_memory();
  file.path_ = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.fd_);
  return file;
}

Status MemoryFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return no_memory();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<std::string_view> MemoryFile::bytes() {
  struct stat file {};
  if (::fstat(fd_, &file) != 0) return no_memory();
  auto size = static_cast<size_t>(file.st_size);
  if (size == 0 || !mapped_.empty()) return mapped_;
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (at == MAP_FAILED) return no_memory();
  mapped_ = {static_cast<const char*>(at), size};
  return mapped_;
}

}  // namespace regraft
