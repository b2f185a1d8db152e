#include "cli/measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/printable.h"
#include "base/subprocess.h"
#include "cli/measure/kernels.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"
#include "cost/profile/calibrate.h"
#include "cost/runtime/cpu/executor.h"
#include "cost/runtime/cuda/cuda.h"

namespace regraft::cli {
namespace {

using cost::Kernel;
using cost::Timing;
using nlohmann::json;
using Kernels = std::map<std::string, Kernel>;
using Timings = Result<std::vector<Timing>>;

/// A folder that goes with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code none;
    auto folder = std::filesystem::absolute(std::filesystem::temp_directory_path(none), none);
    std::string name = (folder / "regraft-XXXXXX").string();
    if (!none && mkdtemp(name.data())) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Result<std::string> path() const {
    if (path_.empty()) return error("no temporary folder could be made");
    return path_;
  }

 private:
  std::string path_;
};

/// The Python that the user names, the one of the project's own environment, or any.
std::string python_program() {
  if (const char* chosen = std::getenv("REGRAFT_PYTHON")) return chosen;
  std::filesystem::path own = std::filesystem::path(shipped_python_folder()).parent_path();
  own /= ".venv/bin/python";
  std::error_code ignored;
  return std::filesystem::exists(own, ignored) ? own.string() : "python3";
}

/// The Python process that runs onnxruntime.
class Worker {
 public:
  static Result<std::shared_ptr<Worker>> start(int threads) {
    std::string python = python_program();
    // -I: neither the current folder nor the environment says what is imported.
    auto process = Subprocess::start({python, "-I", shipped_python_folder() + "/regraft/serve.py"},
                                     {"ORT_DISABLE_TELEMETRY=1"});
    if (!process) return process.error();
    return std::make_shared<Worker>(*std::move(process), python, threads);
  }
  Worker(Subprocess process, std::string python, int threads)
      : process_(std::move(process)), python_(std::move(python)), threads_(threads) {}

  Result<json> ask(json request, const Stop& stop) {
    request["threads"] = threads_;
    std::string question = to_text(request, -1);
    question.pop_back();
    ASSIGN_OR_RETURN(std::string line, process_.ask(question, stop));
    json answer = json::parse(line, nullptr, false);
    if (!answer.is_object()) return error(python_ + ": its answer is not understood");
    if (answer.contains("error")) return error(python_ + ": " + answer["error"].get<std::string>());
    return answer;
  }

 private:
  Subprocess process_;
  std::string python_;
  int threads_;
};

Timing timing_of(const json& j) {
  if (j.contains("error")) return {};
  return {j.value("microseconds", 0.0), j.value("noise", 0.0), j.value("runs", 0)};
}

Timings timings_of(const json& answer, size_t expected) {
  std::vector<Timing> timings;
  for (const json& r : answer.at("results")) timings.push_back(timing_of(r));
  if (timings.size() != expected) return error("the runtime's answer lacks results");
  return timings;
}

Timings time_in_worker(Worker& worker, const Kernels& kernels, double seconds, const Stop& stop) {
  TemporaryFolder folder;
  ASSIGN_OR_RETURN(std::string path, folder.path());
  ASSIGN_OR_RETURN(json list, write_kernels(kernels, path));
  ASSIGN_OR_RETURN(json answer,
                   worker.ask({{"op", "kernels"}, {"kernels", list}, {"seconds", seconds}}, stop));
  ASSIGN_OR_RETURN(auto written, timings_of(answer, list.size()));
  std::vector<Timing> timings;  // nothing for a kernel that has no model
  for (size_t next = 0; const auto& [signature, kernel] : kernels) {
    bool has_model = next < list.size() && list[next]["signature"] == signature;
    timings.push_back(has_model ? written[next++] : Timing{});
  }
  return timings;
}

Timings time_in_worker(Worker& worker, std::span<const io::Imported> models,
                       const std::vector<const Graph*>& graphs, double seconds, const Stop& stop) {
  TemporaryFolder folder;
  ASSIGN_OR_RETURN(std::string path, folder.path());
  std::vector<std::string> files;
  for (const Graph* g : graphs) {
    auto before = std::find(graphs.begin(), graphs.end(), g) - graphs.begin();
    bool again = static_cast<size_t>(before) < files.size();
    const io::Imported& model = models[std::min(files.size(), models.size() - 1)];
    if (g == nullptr && printable(model.file) == model.file) {  // a request is UTF-8
      files.push_back(std::filesystem::absolute(model.file).string());
      continue;
    }
    files.push_back(fmt::format("{}/model{}.onnx", path, before));
    if (again) continue;
    RETURN_IF_ERROR(io::save(model, g ? *g : model.graph, files.back()));
  }
  ASSIGN_OR_RETURN(json answer,
                   worker.ask({{"op", "models"}, {"files", files}, {"seconds", seconds}}, stop));
  ASSIGN_OR_RETURN(auto timings, timings_of(answer, graphs.size()));
  const json& first = answer["results"][0];
  if (timings[0].runs == 0) return error(first.value("error", "the model does not run"));
  // Runs beside each other say more than medians: noise is that of the ratio to the first.
  for (size_t k = 1; k < timings.size(); ++k) {
    const json& r = answer["results"][k];
    if (!r.contains("ratio")) continue;
    timings[k].microseconds = timings[0].microseconds * r["ratio"].get<double>();
    timings[k].noise = r.value("ratio_noise", timings[k].noise);
  }
  if (timings.size() > 1) timings[0].noise = 0;
  return timings;
}

/// A worker that answers, and what it says of its machine.
Result<std::pair<std::shared_ptr<Worker>, json>> start_worker(int threads, const Stop& stop) {
  ASSIGN_OR_RETURN(auto worker, Worker::start(threads));
  ASSIGN_OR_RETURN(json device, worker->ask({{"op", "device"}}, stop));
  return std::pair(std::move(worker), std::move(device));
}

Result<Measurer> start_onnxruntime(int threads, const Stop& stop, Timed timed) {
  auto started = start_worker(threads, stop);
  if (!started)
    return error("onnxruntime cannot be measured with: " + started.error().message +
                 " (set REGRAFT_PYTHON to a Python that has onnxruntime)");
  auto worker = started->first;
  const json& device = started->second;
  Measurer m;
  m.files = true;
  m.key = {"onnxruntime", device.value("version", ""), cost::processor_name(), "", threads};
  m.block = device.value("block", int64_t{0});
  if (timed == Timed::Kernels) {
    ASSIGN_OR_RETURN(json extra, worker->ask({{"op", "overhead"}}, stop));
    m.overhead = extra.value("microseconds", 0.0);
  }
  m.time_kernels = [worker](const Kernels& kernels, double seconds, const Stop& s) {
    return time_in_worker(*worker, kernels, seconds, s);
  };
  m.time_graphs = [worker](std::span<const io::Imported> models,
                           const std::vector<const Graph*>& graphs, double seconds, const Stop& s) {
    return time_in_worker(*worker, models, graphs, seconds, s);
  };
  return m;
}

/// What was timed while it was to stop is not to be relied on.
Timings whole(Timings timings, const Stop& stop) {
  if (timings && stop.must_end()) return error("stopped before it was timed");
  return timings;
}

/// Of a kernel for which nothing has to run.
constexpr Timing kNothing{0, 0, 1};

Result<Measurer> start_cpu(int threads, const Stop&, Timed) {
  Measurer m;
  m.key = {"cpu", cost::cpu::library_version(), cost::processor_name(), "", threads};
  m.block = cost::cpu::block_width();
  m.time_kernels = [threads](const Kernels& kernels, double seconds, const Stop& stop) -> Timings {
    std::vector<Kernel> list;
    for (const auto& [signature, kernel] : kernels) list.push_back(kernel);
    cost::cpu::TimeOptions options;
    options.compile.threads = threads;
    options.seconds = seconds;
    options.stop = &stop;
    std::vector<Timing> timings;
    for (const auto& t : cost::cpu::time_kernels(list, options))
      timings.push_back(!t ? Timing() : t->runs == 0 ? kNothing : *t);
    return whole(std::move(timings), stop);
  };
  m.time_graphs = [threads](std::span<const io::Imported>, const std::vector<const Graph*>& graphs,
                            double seconds, const Stop& stop) {
    cost::cpu::ExecutorOptions executor;
    executor.compile.threads = threads;
    executor.symbol_value = cost::Machine().symbol_value;
    cost::cpu::TimeOptions options;
    options.compile = executor.compile;
    options.seconds = seconds;
    options.noise = 0.003;
    options.stop = &stop;
    return whole(cost::cpu::time_graphs(graphs, executor, options), stop);
  };
  return m;
}

Result<Measurer> start_cuda(int, const Stop&, Timed) {
  ASSIGN_OR_RETURN(auto device, cost::cuda::device());
  Measurer m;
  m.key = cost::cuda::profile_key(device);
  ASSIGN_OR_RETURN(auto probe, cost::cuda::probe());
  m.overhead = probe.graph_launch_microseconds;
  m.time_kernels = [](const Kernels& kernels, double seconds, const Stop& stop) -> Timings {
    std::vector<Kernel> list;
    for (const auto& [signature, kernel] : kernels) list.push_back(kernel);
    cost::cuda::TimingOptions options;
    options.seconds = seconds;
    options.stop = &stop;
    ASSIGN_OR_RETURN(auto found, cost::cuda::time_kernels(list, options));
    std::vector<Timing> timings;
    for (const auto& t : found) timings.push_back(t ? *t : Timing());
    return whole(std::move(timings), stop);
  };
  m.time_graphs = [](std::span<const io::Imported>, const std::vector<const Graph*>& graphs,
                     double seconds, const Stop& stop) -> Timings {
    std::vector<cost::cuda::Executor> executors;
    for (const Graph* g : graphs) {
      ASSIGN_OR_RETURN(auto executor,
                       cost::cuda::Executor::compile(*g, {cost::Machine().symbol_value, false}));
      executors.push_back(std::move(executor));
    }
    cost::cuda::TimingOptions options;
    options.seconds = seconds;
    options.rounds = 200;
    options.stop = &stop;
    return whole(cost::cuda::time_graphs(executors, options), stop);
  };
  return m;
}

}  // namespace

Result<Measurer> start_measurer(const std::string& runtime, int threads, const Stop& stop,
                                Timed timed) {
#define REGRAFT_RUNTIME(id, ...) {#id, start_##id},
  static const std::map<std::string_view, decltype(&start_cpu)> kStarts = {
#include "cost/model/runtimes.def"
  };
#undef REGRAFT_RUNTIME
  return kStarts.at(runtime)(threads, stop, timed);
}

namespace {

constexpr size_t kGroup = 16;  // kernels whose timings come together: what a stop may lose

/// Shows each second that time passes while something is measured.
class Ticking {
 public:
  Ticking(const std::string& label, const Patience& p)
      : progress_(label, "s", static_cast<uint64_t>(p.seconds), p.verbosity),
        thread_([this](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any ends;
          while (!ends.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }) &&
                 !stop.stop_requested())
            progress_.add();
        }) {}
  void note(const std::string& text) { progress_.note(text); }

 private:
  Progress progress_;
  std::jthread thread_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A sample of the profile's kernels, even over what they take: where the work is. Kernels of a few
/// microseconds say more of the clock than of the machine.
Kernels sample_of(const cost::Profile& profile) {
  constexpr size_t kCount = 12;
  constexpr double kLeast = 20;  // microseconds
  std::vector<std::pair<double, std::string_view>> sorted;
  for (const auto& [signature, t] : profile.kernels)
    if (t.microseconds >= kLeast) sorted.emplace_back(t.microseconds, signature);
  std::ranges::sort(sorted);
  Kernels sample;
  for (size_t k = 0; k < std::min(kCount, sorted.size()); ++k) {
    std::string signature(sorted[k * sorted.size() / std::min(kCount, sorted.size())].second);
    if (auto kernel = cost::parse_signature(signature)) sample.emplace(signature, *kernel);
  }
  return sample;
}

}  // namespace

Status check_spread(cost::Profile& profile, const Measurer& measurer, double seconds,
                    const Stop& stop) {
  profile.spread.reset();
  Kernels sample = sample_of(profile);
  std::map<std::string, Timing, std::less<>> again;
  if (!sample.empty() && !stop.must_end()) {
    auto timings = measurer.time_kernels(sample, seconds, stop);
    if (!timings && !stop.must_end()) return timings.error();
    size_t k = 0;
    for (const auto& [signature, kernel] : sample)
      if (timings) again[signature] = (*timings)[k++];
  }
  set_spread(profile, again);
  return {};
}

Result<size_t> complete(cost::Profile& profile, const Kernels& wanted, const Measurer& measurer,
                        const Patience& patience) {
  std::vector<std::pair<std::string, Kernel>> missing;
  for (const auto& k : wanted)
    if (!profile.kernels.count(k.first)) missing.push_back(k);
  if (missing.empty()) return size_t{0};
  constexpr double kShareOfSpread = 0.15;  // of the time
  const double seconds = (1 - kShareOfSpread) * patience.seconds;
  auto start = std::chrono::steady_clock::now();
  Ticking ticking("measure", patience);
  size_t added = 0;
  for (size_t done = 0; done < missing.size() && !patience.stop.must_end();) {
    size_t count = std::min(kGroup, missing.size() - done);
    auto first = missing.begin() + static_cast<std::ptrdiff_t>(done);
    Kernels group(first, first + static_cast<std::ptrdiff_t>(count));
    double left = std::max(seconds - seconds_since(start), 0.0);
    double share = left * static_cast<double>(count) / static_cast<double>(missing.size() - done);
    auto timings = measurer.time_kernels(group, share, patience.stop);
    if (!timings && patience.stop.must_end()) break;
    if (!timings) return timings.error();
    size_t k = 0;
    for (const auto& [signature, kernel] : group) {
      const Timing& t = (*timings)[k++];
      if (t.runs > 0 && profile.kernels.emplace(signature, t).second) ++added;
    }
    done += count;
    if (patience.keep && done < missing.size()) RETURN_IF_ERROR(patience.keep());
    ticking.note(fmt::format("{} of {} kernels", done, missing.size()));
  }
  profile.block = measurer.block;
  if (measurer.overhead > 0) profile.overhead = measurer.overhead;
  RETURN_IF_ERROR(
      check_spread(profile, measurer, kShareOfSpread * patience.seconds, patience.stop));
  cost::calibrate(profile);
  return added;
}

Timings time_models(const Measurer& measurer, std::span<const io::Imported> models,
                    const std::vector<const Graph*>& graphs, const Patience& patience) {
  Ticking ticking("measure", patience);
  return measurer.time_graphs(models, graphs, patience.seconds, patience.stop);
}

}  // namespace regraft::cli
