#include "fleet/task_store.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <random>
#include <sstream>

#include "base/digest.h"
#include "base/files/bytes.h"
#include "base/files/file_digest.h"

namespace regraft::fleet {
namespace {

constexpr std::string_view kStore = "regraft task store 1\n";
constexpr std::string_view kBundle = "regraft tasks 1\n";
constexpr std::string_view kContent = "regraft content 1\n";
constexpr size_t kDigits = 64;

std::string hex_of(std::string_view bytes) {
  return hex(Sha256().bytes(std::as_bytes(std::span(bytes))).finish());
}

/// Few enough files in a folder.
std::string place(const std::string& folder, const std::string& name) {
  return folder + "/" + name.substr(0, 2) + "/" + name;
}

std::string lease_of(const std::string& bundle) { return "leases/" + bundle; }

/// Content with what tells whether all of it is there, unaltered, and under its own name.
std::string sealed(const std::string& name, std::string_view content) {
  std::string digest = hex(Sha256().text(name).text(content).finish());
  std::string size = std::to_string(content.size());
  return std::string(kContent) + digest + " " + size + "\n" + std::string(content);
}

enum class State : uint8_t { Whole, CutOff, Altered };
struct Unsealed {
  State state = State::CutOff;
  std::string_view content;
};
Unsealed unsealed(const std::string& name, std::string_view bytes) {
  std::string_view head = bytes.substr(0, kContent.size());
  if (!kContent.starts_with(head)) return {State::Altered, {}};
  if (head.size() < kContent.size()) return {};
  size_t end = bytes.find('\n', kContent.size());
  if (end == std::string_view::npos) return {};
  std::string_view line = bytes.substr(kContent.size(), end - kContent.size());
  uint64_t size = 0;
  if (line.size() <= kDigits + 1 || line[kDigits] != ' ') return {State::Altered, {}};
  auto [at, bad] = std::from_chars(line.data() + kDigits + 1, line.data() + line.size(), size);
  if (bad != std::errc() || at != line.data() + line.size()) return {State::Altered, {}};
  std::string_view content = bytes.substr(end + 1);
  if (content.size() < size) return {};
  bool same = content.size() == size &&
              line.substr(0, kDigits) == hex(Sha256().text(name).text(content).finish());
  return {same ? State::Whole : State::Altered, content};
}

Error altered(const std::string& path) {
  return error(path + ": was altered; remove it to have it made again");
}

/// An Error: it cannot be read.
Result<std::string> digest_of_code(const std::string& path) {
  static const Digest of_nothing = Sha256().finish();
  Digest digest = file_digest(path);
  if (digest == of_nothing) return error(path + ": the program's own file cannot be read");
  return hex(digest);
}

/// Any address in this code.
const int kHere = 0;

}  // namespace

Result<std::string> digest_of_program() {
  auto here = reinterpret_cast<uintptr_t>(&kHere);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream in(line);
    uintptr_t first = 0, last = 0;
    char dash = 0;
    std::string mode, offset, device, inode, path;
    in >> std::hex >> first >> dash >> last >> mode >> offset >> device >> inode >> std::ws;
    std::getline(in, path);
    if (first <= here && here < last) return digest_of_code(path);
  }
  return digest_of_code("/proc/self/exe");
}

Result<std::unique_ptr<TaskStore>> TaskStore::open(const std::string& folder,
                                                   const Options& options, Missing missing) {
  auto storage = missing == Missing::Make ? Storage::make(folder) : Storage::open(folder);
  if (!storage) return storage.error();
  std::string header = std::string(kStore) + "program " + options.program + "\n";
  ASSIGN_OR_RETURN(auto found, storage->get("store"));
  if (!found && missing == Missing::Make) {
    ASSIGN_OR_RETURN(bool made, storage->put_if_absent("store", header));
    if (made) found = header;
    if (!made) {
      ASSIGN_OR_RETURN(found, storage->get("store"));
    }
  }
  if (!found || !found->starts_with(kStore)) return error(folder + ": is no task store");
  if (*found != header)
    return error(folder + ": a task store of another version of regraft; take another folder");
  return std::unique_ptr<TaskStore>(new TaskStore(*std::move(storage), options));
}

std::string TaskStore::name_of(const Task& task) const {
  return hex(Sha256().text(options_.program).text(task.kind).text(task.input).finish());
}

Result<std::optional<std::string>> TaskStore::result(const std::string& name) const {
  std::string key = place("results", name);
  ASSIGN_OR_RETURN(auto bytes, storage_.get(key));
  if (!bytes) return std::optional<std::string>();
  Unsealed u = unsealed(name, *bytes);
  if (u.state == State::Altered) return altered(storage_.path(key));
  if (u.state == State::CutOff) return std::optional<std::string>();
  return std::optional(std::string(u.content));
}

bool TaskStore::has_result(const std::string& name) const {
  auto r = result(name);
  return !r || *r;  // an altered one is not made again
}

Status TaskStore::put_result(const std::string& name, std::string_view result) const {
  return storage_.put(place("results", name), sealed(name, result));
}

Result<std::string> TaskStore::put_object(std::string_view bytes) const {
  std::string name = hex_of(bytes);
  std::string key = place("objects", name);
  ASSIGN_OR_RETURN(auto there, storage_.get(key));
  if (there && unsealed(name, *there).state == State::Whole) return name;
  RETURN_IF_ERROR(storage_.put(key, sealed(name, bytes)));
  return name;
}

Result<std::string> TaskStore::object(const std::string& name) const {
  std::string key = place("objects", name);
  ASSIGN_OR_RETURN(auto bytes, storage_.get(key));
  if (!bytes) return error(storage_.path(key) + ": is missing; start the run again");
  Unsealed u = unsealed(name, *bytes);
  if (u.state == State::Whole) return std::string(u.content);
  return altered(storage_.path(key));
}

Result<std::string> TaskStore::offer(std::span<const Task> tasks) const {
  ByteWriter out;
  out.text(options_.program).number<uint64_t>(tasks.size());
  for (const Task& t : tasks) out.text(t.kind).text(t.input);
  std::string bytes = std::string(kBundle) + out.finish();
  std::string name = hex_of(bytes);
  RETURN_IF_ERROR(storage_.put("open/" + name, bytes));
  return name;
}

Result<std::set<std::string>> TaskStore::offered() const {
  ASSIGN_OR_RETURN(auto names, storage_.list("open"));
  return std::set<std::string>(names.begin(), names.end());
}

Result<std::vector<Task>> TaskStore::tasks_of(const std::string& bundle,
                                              std::string_view bytes) const {
  Error damaged =
      error(storage_.path("open/" + bundle) + ": was altered; remove it, and start the run again");
  if (hex_of(bytes) != bundle || !bytes.starts_with(kBundle)) return damaged;
  ByteReader in(bytes.substr(kBundle.size()));
  if (in.text() != options_.program) return damaged;
  std::vector<Task> tasks(in.count(16));
  for (Task& t : tasks) {
    t.kind = in.text();
    t.input = in.text();
  }
  if (!in.at_end()) return damaged;
  return tasks;
}

Result<std::optional<TaskStore::Claim>> TaskStore::claim(const std::string& bundle) {
  std::string lease_key = lease_of(bundle);
  if (auto readable = storage_.get(lease_key); !readable) return readable.error();
  if (auto old = watch_.expired(storage_, lease_key)) {
    ASSIGN_OR_RETURN(bool gone, storage_.remove_if(lease_key, *old));
    (void)gone;  // or another worker was first
  }
  Claim claim;
  ASSIGN_OR_RETURN(claim.lease, Lease::take(storage_, lease_key, options_.lease_seconds));
  if (!claim.lease) return std::optional<Claim>();
  ASSIGN_OR_RETURN(auto bytes, storage_.get("open/" + bundle));
  if (!bytes) return std::optional<Claim>();  // it has been done meanwhile
  claim.bundle = bundle;
  ASSIGN_OR_RETURN(claim.tasks, tasks_of(bundle, *bytes));
  return std::optional(std::move(claim));
}

Result<std::optional<TaskStore::Claim>> TaskStore::claim() {
  if (queue_.empty()) {
    ASSIGN_OR_RETURN(queue_, storage_.list("open"));
    std::shuffle(queue_.begin(), queue_.end(), std::mt19937_64(std::random_device()()));
  }
  while (!queue_.empty()) {
    std::string bundle = std::move(queue_.back());
    queue_.pop_back();
    ASSIGN_OR_RETURN(auto claimed, claim(bundle));
    if (claimed) return claimed;
  }
  return std::optional<Claim>();
}

Status TaskStore::finish(const Claim& claim) const {
  return storage_.remove("open/" + claim.bundle);
}

Result<std::unique_ptr<Lease>> TaskStore::begin_run() const {
  ASSIGN_OR_RETURN(auto lease,
                   Lease::take(storage_, "runs/" + hex_of(own_name()), options_.lease_seconds));
  if (!lease) return error(storage_.folder() + ": this process has begun a run in it before");
  return lease;
}

bool TaskStore::is_running() {
  auto runs = storage_.list("runs");
  if (!runs) return false;
  bool any = false;
  for (const std::string& name : *runs) {
    if (!storage_.get("runs/" + name)) continue;  // nobody wrote that
    auto old = watch_.expired(storage_, "runs/" + name);
    if (old) (void)storage_.remove_if("runs/" + name, *old);
    any = any || !old;
  }
  return any;
}

}  // namespace regraft::fleet
