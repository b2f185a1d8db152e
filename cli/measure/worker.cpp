#include "cli/measure/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/printable.h"
#include "cli/measure/kernels.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

using cost::Timing;
using nlohmann::json;
using KernelMap = std::map<std::string, cost::Kernel>;

std::string given_python;

/// The Python that the user names, the one that this runs in, that of the project's own
/// environment, or any.
std::string python_program() {
  if (const char* chosen = std::getenv("REGRAFT_PYTHON")) return chosen;
  if (!given_python.empty()) return given_python;
  std::filesystem::path own = std::filesystem::path(shipped_python_folder()).parent_path();
  own /= ".venv/bin/python";
  std::error_code ignored;
  return std::filesystem::exists(own, ignored) ? own.string() : "python3";
}

Timing timing_of(const json& j) {
  if (j.contains("error")) return {};
  return {j.value("microseconds", 0.0), j.value("noise", 0.0), j.value("runs", 0)};
}

Result<std::vector<Timing>> timings_of(const json& answer, size_t expected) {
  std::vector<Timing> timings;
  for (const json& r : answer.at("results")) timings.push_back(timing_of(r));
  if (timings.size() != expected) return error("the runtime's answer lacks results");
  return timings;
}

Result<std::vector<Timing>> time_kernels_in(Worker& worker, const KernelMap& kernels,
                                            double seconds, const Stop& stop) {
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

/// The file of each graph; those that are equal have one.
Result<std::vector<std::string>> write_models(const std::string& path,
                                              std::span<const io::Imported> models,
                                              const std::vector<const Graph*>& graphs) {
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
  return files;
}

}  // namespace

json input_shapes(const Graph& g) {
  json shapes = json::object();
  for (Value v : g.inputs()) {
    const Node& input = g.node(v.node);
    if (!input.types[0].shape) continue;
    json& shape = shapes[input.names.empty() ? "" : input.names[0]] = json::array();
    for (const Poly& d : *input.types[0].shape) shape.push_back(cost::typical(d));
  }
  return shapes;
}

namespace {

Result<std::vector<Timing>> time_models_in(Worker& worker, const std::vector<std::string>& runtimes,
                                           std::span<const io::Imported> models,
                                           const std::vector<const Graph*>& graphs, double seconds,
                                           const Stop& stop) {
  TemporaryFolder folder;
  ASSIGN_OR_RETURN(std::string path, folder.path());
  ASSIGN_OR_RETURN(auto files, write_models(path, models, graphs));
  json request = {{"op", "models"},
                  {"files", files},
                  {"runtimes", runtimes},
                  {"shapes", input_shapes(models[0].graph)},
                  {"seconds", seconds}};
  ASSIGN_OR_RETURN(json answer, worker.ask(std::move(request), stop));
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

/// A worker that answers, and what it says of its machine and the runtime.
Result<std::pair<std::shared_ptr<Worker>, json>> start_worker(const std::string& runtime,
                                                              int threads, const Stop& stop) {
  ASSIGN_OR_RETURN(auto worker, Worker::start(threads));
  ASSIGN_OR_RETURN(json device, worker->ask({{"op", "device"}, {"runtime", runtime}}, stop));
  return std::pair(std::move(worker), std::move(device));
}

}  // namespace

void set_python(const std::string& program) { given_python = program; }

TemporaryFolder::TemporaryFolder() {
  std::error_code none;
  auto folder = std::filesystem::absolute(std::filesystem::temp_directory_path(none), none);
  std::string name = (folder / "regraft-XXXXXX").string();
  if (!none && mkdtemp(name.data())) path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::string> TemporaryFolder::path() const {
  if (path_.empty()) return error("no temporary folder could be made");
  return path_;
}

Result<std::shared_ptr<Worker>> Worker::start(int threads) {
  std::string python = python_program();
  // -I: neither the current folder nor the environment says what is imported.
  auto process = Subprocess::start({python, "-I", shipped_python_folder() + "/regraft/serve.py"},
                                   {"ORT_DISABLE_TELEMETRY=1"});
  if (!process) return process.error();
  return std::make_shared<Worker>(*std::move(process), python, threads);
}

Result<json> Worker::ask(json request, const Stop& stop) {
  request.emplace("threads", threads_);
  std::string question = to_text(request, -1);
  question.pop_back();
  ASSIGN_OR_RETURN(std::string line, process_.ask(question, stop));
  json answer = json::parse(line, nullptr, false);
  if (!answer.is_object()) return error(python_ + ": its answer is not understood");
  if (answer.contains("error")) return error(python_ + ": " + answer["error"].get<std::string>());
  return answer;
}

Result<std::map<std::string, std::string>> Worker::runtimes(const Stop& stop) {
  ASSIGN_OR_RETURN(json answer, ask({{"op", "runtimes"}}, stop));
  std::map<std::string, std::string> found;
  const json listed = answer.value("runtimes", json::object());
  for (const auto& [name, version] : listed.items())
    if (version.is_string()) found[name] = version.get<std::string>();
  return found;
}

Result<Measurer> start_in_worker(const std::string& runtime, int threads, const Stop& stop,
                                 Timed timed) {
  auto started = start_worker(runtime, threads, stop);
  if (!started)
    return error(runtime + " cannot be measured with: " + started.error().message +
                 " (set REGRAFT_PYTHON to a Python that has " + runtime + ")");
  auto worker = started->first;
  const json& device = started->second;
  const bool has_kernels = cost::find_runtime(runtime)->times_kernels();
  Measurer m;
  m.files = true;
  m.key = {runtime, device.value("version", ""), cost::processor_name(), "", threads};
  m.block = device.value("block", int64_t{0});
  if (timed == Timed::Kernels && has_kernels) {
    ASSIGN_OR_RETURN(json extra, worker->ask({{"op", "overhead"}}, stop));
    m.overhead = extra.value("microseconds", 0.0);
  }
  if (has_kernels)
    m.time_kernels = [worker](const KernelMap& kernels, double seconds, const Stop& s) {
      return time_kernels_in(*worker, kernels, seconds, s);
    };
  m.time_graphs_in =
      [worker](const std::vector<std::string>& runtimes, std::span<const io::Imported> models,
               const std::vector<const Graph*>& graphs, double seconds, const Stop& s) {
        return time_models_in(*worker, runtimes, models, graphs, seconds, s);
      };
  m.time_graphs = [runtime, all = m.time_graphs_in](std::span<const io::Imported> models,
                                                    const std::vector<const Graph*>& graphs,
                                                    double seconds, const Stop& s) {
    return all(std::vector<std::string>(graphs.size(), runtime), models, graphs, seconds, s);
  };
  m.installed = [worker](const Stop& s) { return worker->runtimes(s); };
  return m;
}

}  // namespace regraft::cli
