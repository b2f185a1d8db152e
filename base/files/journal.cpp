#include "base/files/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files/output_file.h"

namespace regraft {

void Journal::swap(Journal& other) noexcept {
  path_.swap(other.path_);
  std::swap(fd_, other.fd_);
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

Error Journal::failed() const {
  return error(path_ + ": cannot be written: " + std::strerror(errno));
}

Result<Journal> Journal::open(const std::string& path, std::string_view text) {
  Journal j;
  if (path.empty()) return j;
  j.path_ = path;
  RETURN_IF_ERROR(write_file(path, text));
  j.fd_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
  if (j.fd_ < 0) return j.failed();
  return j;
}

Status Journal::add(std::string_view line) {
  if (fd_ < 0) return {};
  std::string text = std::string(line) + "\n";
  struct stat before {};
  bool known = ::fstat(fd_, &before) == 0 && S_ISREG(before.st_mode);
  std::string_view rest = text;
  while (!rest.empty()) {
    ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      Error e = failed();
      if (known) (void)!::ftruncate(fd_, before.st_size);  // no half of a line
      return e;
    }
    rest.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace regraft
