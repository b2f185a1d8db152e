// Times a model in every runtime that is installed, as it is and optimised for each, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "cli/measure/worker.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cost/profile/timing.h"
#include "cost/runtime/cpu/executor.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

constexpr int kLeastRounds = 7, kMostRounds = 1000;

/// A model in a runtime.
struct Entry {
  const cost::Runtime* runtime = nullptr;
  std::string version, file;
  int threads = 1;
  bool optimised = false;
  std::string failed;           ///< why it does not run; empty: it does
  std::vector<double> samples;  ///< microseconds, one of each round
};

/// All entries, ready to run in turn.
class Contest {
 public:
  /// `shapes`: see input_shapes.
  Contest(std::vector<Entry>& entries, json shapes)
      : entries_(entries), shapes_(std::move(shapes)) {}

  /// What cannot run says so in its entry.
  Status open(Worker* worker, const Stop& stop) {
    worker_ = worker;
    json models = json::array();
    for (size_t k = 0; k < entries_.size(); ++k) {
      Entry& e = entries_[k];
      if (!e.failed.empty()) continue;
      if (!e.runtime->in_worker) {
        open_here(k);
        continue;
      }
      models.push_back({{"file", e.file}, {"runtime", e.runtime->name}, {"threads", e.threads}});
      there_.push_back(k);
    }
    if (there_.empty()) return {};
    ASSIGN_OR_RETURN(json answer,
                     worker_->ask({{"op", "open"}, {"models", models}, {"shapes", shapes_}}, stop));
    const json& results = answer.at("results");
    if (results.size() != there_.size()) return error("the worker's answer lacks results");
    for (size_t n = 0; n < there_.size(); ++n)
      entries_[there_[n]].failed = results[n].value("error", "");
    return {};
  }

  /// Each once; the worker's and our own change places.
  Status round(int number, const Stop& stop) {
    if (number % 2 == 0) RETURN_IF_ERROR(round_there(number, stop));
    for (auto& [k, executor] : here_) {
      if (stop.must_end()) return {};
      entries_[k].samples.push_back(executor.time_once(1));
    }
    return number % 2 == 0 ? Status() : round_there(number, stop);
  }

 private:
  void open_here(size_t k) {
    Entry& e = entries_[k];
    auto imported = io::load(e.file);
    if (!imported) {
      e.failed = imported.error().message;
      return;
    }
    cost::cpu::ExecutorOptions options;
    options.compile.threads = e.threads;
    auto executor = cost::cpu::Executor::compile(imported->graph, options);
    if (executor)
      here_.emplace_back(k, *std::move(executor));
    else
      e.failed = executor.error().message;
  }

  Status round_there(int number, const Stop& stop) {
    if (there_.empty()) return {};
    ASSIGN_OR_RETURN(json answer, worker_->ask({{"op", "round"}, {"number", number}}, stop));
    const json& taken = answer.at("microseconds");
    if (taken.size() != there_.size()) return error("the worker's answer lacks results");
    for (size_t n = 0; n < there_.size(); ++n) {
      Entry& e = entries_[there_[n]];
      if (taken[n].is_number())
        e.samples.push_back(taken[n].get<double>());
      else if (e.failed.empty())
        e.failed = "it failed while it was timed";
    }
    return {};
  }

  std::vector<Entry>& entries_;
  json shapes_;
  Worker* worker_ = nullptr;
  std::vector<size_t> there_;
  std::vector<std::pair<size_t, cost::cpu::Executor>> here_;
};

/// Those that are here, with their versions; `worker` is the Python that has some of them.
std::vector<std::pair<const cost::Runtime*, std::string>> runtimes_here(Worker* worker,
                                                                        const Stop& stop) {
  std::map<std::string, std::string> installed;
  if (worker)
    if (auto found = worker->runtimes(stop)) installed = *found;
  std::vector<std::pair<const cost::Runtime*, std::string>> all;
  for (const cost::Runtime& r : cost::runtimes()) {
    auto at = installed.find(std::string(r.name));
    if (r.in_worker && at != installed.end()) all.emplace_back(&r, at->second);
    if (std::string version = cost::cpu::library_version(); r.evaluates && !version.empty())
      all.emplace_back(&r, std::move(version));
  }
  return all;
}

/// `optimize --target`, into the folder. Why there is no result; empty: there is.
std::string optimised_for(const RuntimesFlags& flags, const cost::Runtime& runtime,
                          const std::string& file) {
  OptimizeFlags optimize;
  optimize.common = flags.common;
  optimize.common.json.clear();
  optimize.common.verbosity = Verbosity::Quiet;
  optimize.in = flags.model;
  optimize.out = file;
  optimize.target = runtime.name;
  optimize.no_measure = flags.no_measure;
  int code = run_optimize(optimize);
  return code == kDone ? "" : fmt::format("optimize --target {}: exit {}", runtime.name, code);
}

/// An optimisation that was interrupted has acknowledged it, and written what it had.
bool interrupted(const Stop& stop) { return stop.must_end() || Stop::was_interrupted(); }

std::vector<Entry> entries_of(const RuntimesFlags& flags, const std::string& folder, Worker* worker,
                              const Stop& stop) {
  std::vector<Entry> entries;
  std::error_code none;  // a worker has a folder of its own
  auto whole = std::filesystem::absolute(flags.model, none);
  const std::string original = none ? flags.model : whole.string();
  std::vector<int> threads{1};
  if (int all = thread_count(flags.common); all > 1) threads.push_back(all);
  for (const auto& [runtime, version] : runtimes_here(worker, stop)) {
    if (interrupted(stop)) break;
    std::string file = fmt::format("{}/{}.onnx", folder, runtime->name);
    std::string failed = optimised_for(flags, *runtime, file);
    for (int n : threads) {
      entries.push_back({runtime, version, original, n, false, "", {}});
      entries.push_back({runtime, version, file, n, true, failed, {}});
    }
  }
  return entries;
}

cost::Timing timing_of(const Entry& e) {
  return e.failed.empty() ? cost::summarise(e.samples) : cost::Timing();
}

/// Of runs beside each other: how many times as long as the first.
cost::Timing ratio_of(const Entry& e, const Entry& first) {
  std::vector<double> ratios;
  for (size_t k = 0; k < std::min(e.samples.size(), first.samples.size()); ++k)
    ratios.push_back(e.samples[k] / first.samples[k]);
  return e.failed.empty() && first.failed.empty() ? cost::summarise(ratios) : cost::Timing();
}

/// The first that runs: what all are held against.
const Entry* first_of(const std::vector<Entry>& entries) {
  for (const Entry& e : entries)
    if (timing_of(e).runs > 0) return &e;
  return nullptr;
}

std::string table_of(const std::vector<Entry>& entries) {
  const Entry* first = first_of(entries);
  Table table{{{"runtime", "threads", "model", "ms", "noise", "times the first"}}};
  for (const Entry& e : entries) {
    cost::Timing t = timing_of(e);
    std::vector<std::string> row{fmt::format("{} {}", e.runtime->name, e.version),
                                 fmt::format("{}", e.threads),
                                 e.optimised ? "optimised" : "original"};
    if (t.runs > 0 && first) {
      row.push_back(fmt::format("{:.3f}", t.microseconds / 1000));
      row.push_back(fmt::format("{:.1f} %", 100 * t.noise));
      row.push_back(fmt::format("{:.3f}", ratio_of(e, *first).microseconds));
    } else {
      row.emplace_back("does not run");
    }
    table.rows.push_back(std::move(row));
  }
  return to_string(table);
}

json json_of(const std::vector<Entry>& entries) {
  const Entry* first = first_of(entries);
  json list = json::array();
  for (const Entry& e : entries) {
    json j = {{"runtime", e.runtime->name},
              {"version", e.version},
              {"threads", e.threads},
              {"model", e.optimised ? "optimised" : "original"}};
    cost::Timing t = timing_of(e);
    if (t.runs > 0 && first) {
      cost::Timing ratio = ratio_of(e, *first);
      j.update({{"microseconds", t.microseconds},
                {"noise", t.noise},
                {"runs", t.runs},
                {"ratio", ratio.microseconds},
                {"ratio_noise", ratio.noise}});
    } else {
      j["error"] = e.failed.empty() ? "it was not timed" : e.failed;
    }
    list.push_back(std::move(j));
  }
  return list;
}

Status time_all(Contest& contest, double seconds, const Stop& stop) {
  auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < kMostRounds && !stop.must_end(); ++k) {
    if (k >= kLeastRounds && seconds_since(start) > seconds) break;
    if (auto done = contest.round(k, stop); !done) return stop.must_end() ? Status() : done;
  }
  return {};
}

Status bench(const RuntimesFlags& flags) {
  ASSIGN_OR_RETURN(auto imported, io::load(flags.model));
  RETURN_IF_ERROR(require_distinct(with_data("the model", flags.model, imported),
                                   {{"the report", flags.common.json}}));
  ASSIGN_OR_RETURN(auto output, OutputFile::open(flags.common.json));
  TemporaryFolder folder;
  ASSIGN_OR_RETURN(std::string path, folder.path());
  Stop stop;
  auto worker = Worker::start(1);
  if (!worker) tell("no Python: " + worker.error().message);
  auto entries = entries_of(flags, path, worker ? worker->get() : nullptr, stop);
  if (interrupted(stop)) {
    tell("interrupted before the models were timed");
    return {};
  }
  ASSIGN_OR_RETURN(auto original, io::load(flags.model));
  Contest contest(entries, input_shapes(original.graph));
  RETURN_IF_ERROR(contest.open(worker ? worker->get() : nullptr, stop));
  RETURN_IF_ERROR(time_all(contest, flags.seconds, stop));
  for (const Entry& e : entries)
    if (!e.failed.empty() && flags.common.verbosity == Verbosity::Normal)
      tell(fmt::format("{}, {} threads, {}: {}", e.runtime->name, e.threads,
                       e.optimised ? "optimised" : "original", e.failed));
  if (flags.common.verbosity == Verbosity::Normal) fmt::print(results(), "{}", table_of(entries));
  json report = {{"model", flags.model}, {"results", json_of(entries)}};
  RETURN_IF_ERROR(output.write(to_text(report, 2)));
  return output.commit();
}

}  // namespace

int run_bench_runtimes(const RuntimesFlags& flags) {
  Status done = bench(flags);
  return done ? kDone : bad_input(done.error());
}

}  // namespace regraft::cli
