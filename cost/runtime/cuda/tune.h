#pragma once
// Which of the ways to run a kernel is the fastest on this device.
#include <chrono>
#include <functional>
#include <map>

#include "cost/runtime/cuda/cuda.h"
#include "cost/runtime/cuda/launch.h"

namespace regraft::cost::cuda {

/// A program and one launch for each of its steps.
struct Chosen {
  std::shared_ptr<const Program> program;
  std::vector<Launch> once;      ///< for the program's steps of that name
  std::vector<Launch> launches;  ///< for each of its steps
  size_t workspace() const;
};

/// Device memory that grows when more is asked for. Its contents are arbitrary numbers.
class Scratch {
 public:
  explicit Scratch(Session& session) : session_(session) {}
  /// At least so many bytes; earlier addresses become invalid when it grows.
  Status reserve(size_t bytes);
  Status release();  ///< gives the memory back
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }

 private:
  Session& session_;
  size_t bytes_ = 0;
  std::shared_ptr<void> memory_;
};

/// Addresses of a program's values one after another, and of its workspace behind them.
struct Placement {
  std::map<Value, size_t> offsets;
  size_t workspace = 0, bytes = 0;
};
Placement place(const Chosen& c);
/// Room in the scratch for one of these at a time, with arbitrary numbers as operands. Integers and
/// booleans, which may be positions and masks, are zeros that nothing else uses.
Status lay_out(Session& session, Scratch& scratch, const std::vector<Chosen>& all,
               std::vector<Placement>& placements);
size_t aligned(size_t bytes);          ///< to 256
size_t bytes_of(const TensorType& t);  ///< REQUIRES: sizes are numbers

/// Enqueues what is done once.
Status enqueue_once(const Chosen& c, const Placement& p, std::byte* memory);
/// Enqueues what is done in each run.
Status enqueue(const Chosen& c, const Placement& p, std::byte* memory);

/// Counts rounds of measurements: warm-up, then samples while there is time.
class Rounds {
 public:
  explicit Rounds(const TimingOptions& options)
      : options_(options), start_(std::chrono::steady_clock::now()) {}
  bool next();                                              ///< begins a round; false: enough
  bool counts() const { return done_ > options_.warm_up; }  ///< this round is no warm-up

 private:
  TimingOptions options_;
  std::chrono::steady_clock::time_point start_;
  int done_ = 0;
};

/// Times what is enqueued on the session's stream.
class Stopwatch {
 public:
  static Result<Stopwatch> make(Session& session, bool cold);
  using Enqueue = std::function<Status()>;
  /// Microseconds on the device for each, one after another, without what the events themselves
  /// take. Each runs twice, the second time is taken, unless the stopwatch is cold.
  Result<std::vector<double>> round(std::span<const Enqueue> work);
  /// The same in so many rounds and within so many seconds: samples by item. Nothing that failed.
  Result<std::vector<std::vector<double>>> rounds(std::span<const Enqueue> work,
                                                  const TimingOptions& options);

 private:
  Result<double> once(const Enqueue& work);
  Status before(const Enqueue& work);
  Session* session_ = nullptr;
  Handle<cudaEvent_t> begin_, end_;
  Function spin_;
  std::shared_ptr<void> flushed_;  // larger than the cache; null: warm
  size_t flush_bytes_ = 0;
  double empty_ = 0;  // between two events
};

/// What `work` enqueues as a graph, after it ran once as it is: libraries load code at first use.
Result<Handle<cudaGraphExec_t>> capture(Session& session, const Stopwatch::Enqueue& work);
Status launch(Session& session, const Handle<cudaGraphExec_t>& graph);

/// Every way to run a kernel: programs with all launches of each step. Programs that the libraries
/// cannot run are left out; an Error when none is left.
struct Candidate {
  std::shared_ptr<const Program> program;
  std::vector<Launch> once;                   ///< one for each step before the first run
  std::vector<std::vector<Launch>> launches;  ///< by step
};
Result<std::vector<Candidate>> candidates(Session& session, const Kernel& kernel);

/// Tries all candidates, the scratch holding their operands.
Result<Chosen> tune(Session& session, Scratch& scratch, const Kernel& kernel);

}  // namespace regraft::cost::cuda
