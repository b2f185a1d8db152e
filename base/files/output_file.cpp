#include "base/files/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/host.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".regraft-tmp";
constexpr size_t kLongestStem = 200;  // of a name: file systems allow 255 bytes
constexpr size_t kRandomDigits = 16;

std::string folder_of(const std::string& path) {
  std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// The path at the end of a chain of symbolic links; it may not exist.
std::string follow_links(std::string path) {
  constexpr int kMostLinks = 40;
  for (int k = 0; k < kMostLinks; ++k) {
    std::error_code none;
    fs::path to = fs::read_symlink(path, none);
    if (none) break;
    path = to.is_absolute() ? to.string() : (fs::path(path).parent_path() / to).string();
  }
  return path;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Not of a device, which others may have open for other ends: a terminal, /dev/null.
bool is_standard_output(const struct stat& file) {
  struct stat out {};
  return !S_ISCHR(file.st_mode) && ::fstat(STDOUT_FILENO, &out) == 0 && same_file(file, out);
}

/// Nobody can guess it, so nobody can have put a link there.
std::string random_digits() {
  uint8_t bytes[kRandomDigits];
  CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  std::string digits;
  for (uint8_t b : bytes) digits += "abcdefghijklmnopqrstuvwxyz012345"[b % 32];
  return digits;
}

/// Of all temporary files for a target.
std::string stem_of(const std::string& target) {
  return "." + fs::path(target).filename().string().substr(0, kLongestStem) + ".";
}

bool is_temporary_of(std::string_view name, std::string_view stem) {
  return name.size() == stem.size() + kRandomDigits + kSuffix.size() && name.starts_with(stem) &&
         name.ends_with(kSuffix);
}

/// Removes what a killed process left: a temporary file that is ours and that nobody has locked.
void remove_abandoned(const std::string& target) {
  std::string folder = folder_of(target), stem = stem_of(target);
  DIR* entries = ::opendir(folder.c_str());
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries)) {
    if (!is_temporary_of(entry->d_name, stem)) continue;
    std::string path = folder + "/" + entry->d_name;
    int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat file {};
    bool ours = ::fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == ::geteuid();
    if (ours && ::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
    ::close(fd);
  }
  ::closedir(entries);
}

/// The lock says that the file is in use. False: it was removed before it was locked.
bool lock(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;  // or none are to be had
  struct stat file {};
  return ::fstat(fd, &file) == 0 && file.st_nlink > 0;
}

}  // namespace

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat file {};
  if (path == "-" ? ::fstat(STDOUT_FILENO, &file) == 0 : ::stat(path.c_str(), &file) == 0)
    return FileIdentity{file.st_dev, file.st_ino, "", S_ISREG(file.st_mode)};
  std::string target = follow_links(path);
  if (::stat(folder_of(target).c_str(), &file) != 0) return std::nullopt;
  return FileIdentity{file.st_dev, file.st_ino, fs::path(target).filename().string(), true};
}

Status require_regular(const std::string& path) {
  auto file = path.empty() ? std::nullopt : identity_of(path);
  return file && !file->regular ? Status(error(path + ": is no regular file")) : Status();
}

void OutputFile::swap(OutputFile& other) noexcept {
  path_.swap(other.path_);
  target_.swap(other.target_);
  temporary_.swap(other.temporary_);
  std::swap(fd_, other.fd_);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Error OutputFile::failed() const {
  return error(path_ + ": cannot be written: " + std::strerror(errno));
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  OutputFile f;
  f.path_ = f.target_ = path;
  if (path.empty()) return f;
  struct stat old {};
  bool exists = path != "-" && ::stat(path.c_str(), &old) == 0;
  Status opened;
  if (path == "-" || (exists && is_standard_output(old)))
    opened = f.open_standard_output();
  else if (exists && S_ISDIR(old.st_mode))
    opened = error(path + ": is a folder");
  else if (exists && !S_ISREG(old.st_mode))
    opened = f.open_in_place(O_WRONLY | O_CLOEXEC | O_NOCTTY);
  else if (exists && old.st_nlink == 0)  // in no folder: it is only open
    opened = f.open_in_place(O_WRONLY | O_CLOEXEC | O_TRUNC);
  else
    opened = f.open_temporary();
  if (!opened) return opened.error();
  return f;
}

Status OutputFile::open_in_place(int flags) {
  fd_ = ::open(path_.c_str(), flags);
  return fd_ >= 0 ? Status() : failed();
}

Status OutputFile::open_standard_output() {
  if (hosted()) return error(path_ + ": standard output is the other program's");
  std::fflush(stdout);
  fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (fd_ < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return failed();
  return {};
}

Status OutputFile::open_temporary() {
  target_ = follow_links(path_);
  struct stat old {};
  bool exists = ::stat(target_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) return failed();
  if (exists && ::access(target_.c_str(), W_OK) != 0) return failed();
  remove_abandoned(target_);
  mode_t mode = exists ? old.st_mode & 0777 : 0666;
  for (;;) {
    std::string name = folder_of(target_) + "/" + stem_of(target_) + random_digits();
    name += kSuffix;
    fd_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd_ < 0 && errno == EEXIST) continue;
    if (fd_ < 0) return failed();
    temporary_ = name;
    if (lock(fd_)) break;
    ::close(std::exchange(fd_, -1));
  }
  if (!exists) return {};
  // Who may not give files away keeps them; where there are no modes there is none to keep.
  if (old.st_uid != ::geteuid()) (void)!::fchown(fd_, old.st_uid, old.st_gid);
  (void)!::fchmod(fd_, mode);
  return {};
}

Status OutputFile::write(std::string_view bytes) {
  while (fd_ >= 0 && !bytes.empty()) {
    ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status OutputFile::sync() {
  if (fd_ < 0 || ::fsync(fd_) == 0) return {};
  bool unable = errno == EINVAL || errno == ENOTSUP || errno == EROFS;  // pipes and devices
  return unable ? Status() : failed();
}

Status OutputFile::commit() {
  RETURN_IF_ERROR(commit_as(fs::path(target_).filename().string()));
  int fd = std::exchange(fd_, -1);
  return fd < 0 || ::close(fd) == 0 ? Status() : failed();
}

Status OutputFile::commit_as(const std::string& name) {
  RETURN_IF_ERROR(sync());
  if (!temporary_.empty()) {
    std::string folder = folder_of(target_);
    if (::rename(temporary_.c_str(), (folder + "/" + name).c_str()) != 0) return failed();
    temporary_.clear();
    int entries = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (entries >= 0) ::fsync(entries), ::close(entries);  // the new name, too, where possible
  }
  return {};
}

Status commit_all(std::initializer_list<OutputFile*> files) {
  for (OutputFile* f : files) RETURN_IF_ERROR(f->sync());
  for (OutputFile* f : files) RETURN_IF_ERROR(f->commit());
  return {};
}

Status write_file(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(path));
  RETURN_IF_ERROR(file.write(bytes));
  return file.commit();
}

}  // namespace regraft
