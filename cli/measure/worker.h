#pragma once
// The Python process that runs models in the runtimes that Python has (python/regraft/worker.py).
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/process/subprocess.h"
#include "cli/measure/measure.h"

namespace regraft::cli {

/// The interpreter of workers where $REGRAFT_PYTHON names none. Before any is started.
void set_python(const std::string& program);

/// A folder that goes with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  Result<std::string> path() const;

 private:
  std::string path_;
};

/// Answers requests (python/README.md). Not thread-safe.
class Worker {
 public:
  /// Of $REGRAFT_PYTHON, set_python, the project's .venv or python3.
  static Result<std::shared_ptr<Worker>> start(int threads);
  Worker(Subprocess process, std::string python, int threads)
      : process_(std::move(process)), python_(std::move(python)), threads_(threads) {}

  /// An Error is what the worker says, or that it gave no answer.
  Result<nlohmann::json> ask(nlohmann::json request, const Stop& stop);
  /// The runtimes that it can load, with their versions.
  Result<std::map<std::string, std::string>> runtimes(const Stop& stop);

 private:
  Subprocess process_;
  std::string python_;
  int threads_;
};

/// The shapes of the graph's inputs by name, open sizes as is typical, as requests have them.
nlohmann::json input_shapes(const Graph& g);

/// A runtime of the worker. REQUIRES: Runtime::in_worker.
Result<Measurer> start_in_worker(const std::string& runtime, int threads, const Stop& stop,
                                 Timed timed);

}  // namespace regraft::cli
