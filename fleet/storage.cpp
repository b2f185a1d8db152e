#include "fleet/storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/files/input_file.h"

namespace regraft::fleet {
namespace {

constexpr size_t kMostBytes = size_t{1} << 40;
constexpr const char* kBeside = "tmp";  // values on their way to their place

Error cannot(const std::string& path, const char* what) {
  return error(path + ": cannot be " + what + ": " + std::strerror(errno));
}

std::string random_name() {
  uint8_t bytes[16];
  CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  std::string name;
  for (uint8_t b : bytes) name += "abcdefghijklmnopqrstuvwxyz012345"[b % 32];
  return name;
}

bool make_folders(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (failed) errno = failed.value();
  return !failed;
}

Status write_all(int fd, std::string_view rest, const std::string& path) {
  while (!rest.empty()) {
    ssize_t n = ::write(fd, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return cannot(path, "written");
    rest.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

/// Makes `target` a name of the file, with the folder around it where that is missing.
template <class Step>
bool into_place(const std::string& target, Step step) {
  if (step()) return true;
  if (errno != ENOENT) return false;
  return make_folders(std::filesystem::path(target).parent_path().string()) && step();
}

}  // namespace

Result<Storage> Storage::make(const std::string& folder) {
  if (!make_folders(folder + "/" + kBeside)) return cannot(folder, "made");
  if (::access((folder + "/" + kBeside).c_str(), W_OK) != 0) return cannot(folder, "written");
  return Storage(folder);
}

Result<Storage> Storage::open(const std::string& folder) {
  std::string beside = folder + "/" + kBeside;
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) return cannot(folder, "read");
  if (!S_ISDIR(found.st_mode)) return error(folder + ": is no folder");
  if (::stat(beside.c_str(), &found) != 0) return error(folder + ": is no task store");
  if (::access(beside.c_str(), W_OK) != 0) return cannot(folder, "written");
  return Storage(folder);
}

Result<std::string> Storage::write_beside(const std::string& key, std::string_view value) const {
  std::string name = path(kBeside) + "/" + random_name();
  int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return cannot(path(key), "written");
  Status written = write_all(fd, value, path(key));
  if (::close(fd) != 0 && written) written = cannot(path(key), "written");
  if (written) return name;
  ::unlink(name.c_str());
  return written.error();
}

Result<bool> Storage::put_if_absent(const std::string& key, std::string_view value) const {
  if (has(key)) return false;
  ASSIGN_OR_RETURN(std::string beside, write_beside(key, value));
  std::string target = path(key);
  bool made = into_place(target, [&] { return ::link(beside.c_str(), target.c_str()) == 0; });
  int why = errno;
  ::unlink(beside.c_str());
  errno = why;
  if (!made && errno != EEXIST) return cannot(target, "written");
  return made;
}

Status Storage::put(const std::string& key, std::string_view value) const {
  ASSIGN_OR_RETURN(std::string beside, write_beside(key, value));
  std::string target = path(key);
  if (into_place(target, [&] { return std::rename(beside.c_str(), target.c_str()) == 0; }))
    return {};
  Error failed = cannot(target, "written");
  ::unlink(beside.c_str());
  return failed;
}

Result<std::optional<std::string>> Storage::get(const std::string& key) const {
  struct stat found {};
  if (::stat(path(key).c_str(), &found) != 0) {
    if (errno == ENOENT) return std::optional<std::string>();
    return cannot(path(key), "read");
  }
  if (!S_ISREG(found.st_mode)) return error(path(key) + ": is no regular file; remove it");
  auto bytes = read_file(path(key), kMostBytes);
  if (bytes) return std::optional(*std::move(bytes));
  if (!has(key)) return std::optional<std::string>();  // it has just been removed
  return bytes.error();
}

bool Storage::has(const std::string& key) const {
  struct stat found {};
  return ::stat(path(key).c_str(), &found) == 0;
}

Result<std::vector<std::string>> Storage::list(const std::string& folder) const {
  std::vector<std::string> names;
  DIR* entries = ::opendir(path(folder).c_str());
  if (!entries) {
    if (errno == ENOENT) return names;
    return cannot(path(folder), "read");
  }
  while (const dirent* entry = ::readdir(entries))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(entries);
  std::sort(names.begin(), names.end());
  return names;
}

Status Storage::remove(const std::string& key) const {
  if (::unlink(path(key).c_str()) == 0 || errno == ENOENT) return {};
  return cannot(path(key), "removed");
}

/// The value is taken aside first: of several that do so one gets it.
Result<bool> Storage::remove_if(const std::string& key, std::string_view seen) const {
  std::string aside = path(kBeside) + "/" + random_name();
  if (std::rename(path(key).c_str(), aside.c_str()) != 0) {
    if (errno == ENOENT) return false;
    return cannot(path(key), "removed");
  }
  auto bytes = read_file(aside, kMostBytes);
  bool same = bytes && *bytes == seen;
  if (!same) (void)!::link(aside.c_str(), path(key).c_str());
  ::unlink(aside.c_str());
  return same;
}

}  // namespace regraft::fleet
