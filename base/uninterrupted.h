#pragma once
// Work that a signal must not cut short: what follows a search that was interrupted.

namespace regraft {

/// While one lives, signals do not stop this thread's work, nor what it leaves to parallel_for
/// (Stop::interrupted() is false there);
/// then they are seen again. A second signal kills all the same.
class Uninterrupted {
 public:
  Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
  ~Uninterrupted();
};

}  // namespace regraft
