#pragma once
// Who is at work on what, for a while: a lease that is not renewed is nobody's.
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "fleet/storage.h"

namespace regraft::fleet {

/// This process, unlike any other: the machine since its last start, the process and its start.
std::string own_name();
/// True when the process of that name ran on this machine and is gone. False also where that cannot
/// be told.
bool is_gone(const std::string& owner);

/// A lease that is held. A thread renews it until this goes, which gives it back. Another may have
/// taken it over meanwhile (where this process was suspended): that is harmless, since two results
/// of one task are equal.
class Lease {
 public:
  /// Nothing: someone has it.
  static Result<std::unique_ptr<Lease>> take(const Storage& storage, const std::string& key,
                                             double seconds);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  Lease(const Storage& storage, std::string key, double seconds);
  void renew();
  std::string value() const;

  const Storage& storage_;
  const std::string key_;
  const double seconds_;
  uint64_t beat_ = 0;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::thread renewer_;
};

/// Judges leases of others by what it sees of them, never by their clocks: one that did not change
/// for as long as its owner said it lasts, by the clock of this process, has expired. Not
/// thread-safe.
class LeaseWatch {
 public:
  /// The value of a lease that has expired, for Storage::remove_if. Nothing: it is held, or there
  /// is none.
  std::optional<std::string> expired(const Storage& storage, const std::string& key);

 private:
  struct Seen {
    std::string value;
    std::chrono::steady_clock::time_point since;
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace regraft::fleet
