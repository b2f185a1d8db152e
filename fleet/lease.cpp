#include "fleet/lease.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/files/input_file.h"

namespace regraft::fleet {
namespace {

constexpr size_t kShort = 1 << 16;
constexpr int kBeats = 4;            // renewals while a lease lasts
constexpr double kUnreadable = 600;  // seconds that a lease lasts which says nothing

std::string first_line(const std::string& path) {
  auto text = read_file(path, kShort);
  return text ? text->substr(0, text->find('\n')) : "?";
}

/// Where process numbers mean the same: this start of this machine, and the container.
std::string machine() {
  std::error_code none;
  return first_line("/proc/sys/kernel/random/boot_id") + ":" +
         std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
}

/// When a process began, in ticks; "?" when it is gone, or a zombie.
std::string begun(const std::string& process) {
  std::string line = first_line("/proc/" + process + "/stat");
  size_t end = line.rfind(')');  // the name may have spaces
  if (end == std::string::npos) return "?";
  std::istringstream rest(line.substr(end + 1));
  std::string word;
  for (int k = 3; rest >> word; ++k) {
    if (k == 3 && (word == "Z" || word == "X")) return "?";
    if (k == 22) return word;
  }
  return "?";
}

double lasts(const std::string& value) {
  std::istringstream in(value);
  std::string owner;
  double seconds = 0;
  return in >> owner >> seconds && seconds > 0 ? seconds : kUnreadable;
}

}  // namespace

std::string own_name() {
  std::string process = std::to_string(::getpid());
  return machine() + ":" + process + ":" + begun(process);
}

bool is_gone(const std::string& owner) {
  std::string here = machine() + ":";
  if (!owner.starts_with(here) || here.find('?') != std::string::npos) return false;
  std::string rest = owner.substr(here.size());
  size_t colon = rest.find(':');
  return colon != std::string::npos && begun(rest.substr(0, colon)) != rest.substr(colon + 1);
}

Lease::Lease(const Storage& storage, std::string key, double seconds)
    : storage_(storage), key_(std::move(key)), seconds_(seconds) {}

std::string Lease::value() const {
  return own_name() + " " + std::to_string(seconds_) + " " + std::to_string(beat_);
}

Result<std::unique_ptr<Lease>> Lease::take(const Storage& storage, const std::string& key,
                                           double seconds) {
  std::unique_ptr<Lease> lease(new Lease(storage, key, seconds));
  ASSIGN_OR_RETURN(bool taken, storage.put_if_absent(key, lease->value()));
  if (!taken) {
    lease->ended_ = true;
    return std::unique_ptr<Lease>();
  }
  lease->renewer_ = std::thread([raw = lease.get()] { raw->renew(); });
  return lease;
}

void Lease::renew() {
  std::unique_lock lock(mutex_);
  auto pause = std::chrono::duration<double>(seconds_ / kBeats);
  while (!ends_.wait_for(lock, pause, [&] { return ended_; })) {
    auto now = storage_.get(key_);
    bool ours = now && *now && **now == value();
    if (!ours) continue;  // it was taken over, or cannot be read for now
    ++beat_;
    if (!storage_.put(key_, value())) --beat_;  // it may succeed next time
  }
}

Lease::~Lease() {
  if (!renewer_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_all();
  renewer_.join();
  (void)storage_.remove_if(key_, value());
}

std::optional<std::string> LeaseWatch::expired(const Storage& storage, const std::string& key) {
  auto value = storage.get(key);
  if (!value || !*value) {
    seen_.erase(key);
    return std::nullopt;
  }
  auto now = std::chrono::steady_clock::now();
  const std::string& text = **value;
  if (is_gone(text.substr(0, text.find(' ')))) return text;
  auto [at, fresh] = seen_.try_emplace(key, Seen{text, now});
  if (!fresh && at->second.value != text) at->second = {text, now};
  bool over = std::chrono::duration<double>(now - at->second.since).count() > lasts(text);
  return over ? std::optional(text) : std::nullopt;
}

}  // namespace regraft::fleet
