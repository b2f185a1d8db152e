#pragma once
// Interruptions: who asks for them, and work that they must not cut short.

namespace regraft {

/// Asks all work to end, as a signal does (Stop::interrupted). From any thread.
void request_interrupt();
/// As if none had been asked for; was_interrupted() is false again.
void forget_interrupts();

/// While one lives, signals do not stop this thread's work, nor what it leaves to parallel_for:
/// Stop::interrupted() is false there. Then they are seen again. A second signal kills all the
/// same.
class Uninterrupted {
 public:
  Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
  ~Uninterrupted();
};

}  // namespace regraft
