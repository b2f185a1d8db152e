#pragma once
// Running an agent's training: files, logs, interruption.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "base/files/journal.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "rl/environment/policy.h"
#include "rl/files/checkpoint.h"
#include "rl/training/log.h"

namespace regraft::rl {

struct TrainOptions {
  int64_t iterations = 100;
  std::string state;  ///< kept up to date, and read at the start when it is there; empty: none
  std::string log;    ///< a table of comma-separated values, a line for each iteration; empty: none
  /// Options that decide what is learned, by name. A state that was begun with others is refused.
  std::map<std::string, std::string> settings;
  /// What the policy is worth as it is, for the log; empty: not asked.
  std::function<LogRow(std::shared_ptr<const Policy>)> evaluate;
  int64_t evaluate_every = 1;  ///< iterations
  Verbosity verbosity = Verbosity::Normal;
};

struct TrainReport {
  int64_t iterations = 0, before = 0;  ///< done in all; done before this run
  bool ended = false;                  ///< false: stopped before all were done
  LogRow last;                         ///< of the last iteration; empty: none was made
  Status kept;                         ///< why the log or the state could not be written
};

/// The lines of a log, and what is written of a run.
class TrainLog {
 public:
  /// Keeps the first `iterations` lines of a log that is there. An Error when it cannot be written.
  static Result<TrainLog> open(const std::string& path, int64_t iterations);
  /// With seconds since the start of the run.
  Status add(int64_t iteration, double seconds, const LogRow& row);

 private:
  bool headed_ = false;
  Journal lines_;
};

/// An Error names the option that a state was begun with another value of.
Status same_settings(const Checkpoint& state, const std::map<std::string, std::string>& settings);
void add_settings(Checkpoint& state, const std::map<std::string, std::string>& settings);

/// One line for the progress: the numbers that matter most.
std::string note_of(const LogRow& row);

/// An agent has iterate(Stop) -> LogRow (empty when it was stopped), iterations(), save(), load().
/// What cannot be written on the way ends the run, but loses nothing that was learned.
template <class Agent>
Result<TrainReport> train(Agent& agent, const TrainOptions& options, const Stop& stop) {
  using Clock = std::chrono::steady_clock;
  constexpr double kSaveSeconds = 30;
  auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  std::error_code none;  // what cannot be looked at cannot be written either
  if (!options.state.empty() && std::filesystem::exists(options.state, none)) {
    ASSIGN_OR_RETURN(Checkpoint state, read_checkpoint(options.state));
    Status fits = same_settings(state, options.settings);
    if (fits) fits = agent.load(state);
    if (!fits) return error(options.state + ": " + fits.error().message);
  }
  TrainReport report;
  report.before = agent.iterations();
  ASSIGN_OR_RETURN(TrainLog log, TrainLog::open(options.log, report.before));
  Progress progress("train", "iterations", static_cast<uint64_t>(options.iterations),
                    options.verbosity);
  progress.add(static_cast<uint64_t>(std::min(report.before, options.iterations)));
  auto start = Clock::now(), saved = start;
  auto save = [&]() -> Status {
    saved = Clock::now();
    if (options.state.empty()) return {};
    Checkpoint state = agent.save();
    add_settings(state, options.settings);
    return write_checkpoint(options.state, state);
  };
  while (agent.iterations() < options.iterations && !stop.must_end()) {
    LogRow row = agent.iterate(stop);
    if (row.empty()) break;
    if (options.evaluate) {
      bool now = agent.iterations() % std::max<int64_t>(1, options.evaluate_every) == 0;
      LogRow worth = options.evaluate(now ? agent.policy() : nullptr);
      row.insert(row.begin(), worth.begin(), worth.end());
    }
    report.last = row;
    progress.note(note_of(row));
    progress.add();
    report.kept = log.add(agent.iterations(), since(start), row);
    if (report.kept && since(saved) > kSaveSeconds) report.kept = save();
    if (!report.kept) break;
  }
  Status at_the_end = save();
  if (report.kept) report.kept = at_the_end;
  report.iterations = agent.iterations();
  report.ended = report.iterations >= options.iterations;
  return report;
}

}  // namespace regraft::rl
