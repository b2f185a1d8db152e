#include "cli/measure/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/files/output_file.h"
#include "base/printable.h"
#include "rewrite/compare/format.h"
#include "rewrite/compare/run.h"

namespace regraft::cli {
namespace {

using nlohmann::json;
using rewrite::ModelCounterexample;
using Values = Array<double>;

/// A request is a line of UTF-8.
Status require_printable(const ReplayModel& m) {
  for (const auto* list : {&m.inputs, &m.outputs})
    for (const std::string& name : *list)
      if (printable(name) != name) return error("a name is not UTF-8 and cannot be replayed");
  if (printable(m.file) != m.file) return error("the file's name is not UTF-8");
  return {};
}

Result<json> write_feed(const ReplayModel& model, const std::vector<DType>& types,
                        const std::vector<Values>& inputs, const std::string& start) {
  json feed = json::array();
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (model.inputs[k].empty()) continue;
    std::string file = fmt::format("{}-{}", start, k);
    ASSIGN_OR_RETURN(auto bytes, make_constant(types[k], inputs[k].shape, inputs[k].data)->bytes());
    RETURN_IF_ERROR(write_file(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    feed.push_back({{"name", model.inputs[k]},
                    {"dtype", to_string(types[k])},
                    {"shape", inputs[k].shape},
                    {"file", file}});
  }
  return feed;
}

/// A message with the file's name in place of its path.
std::string without_folder(std::string message, const std::string& file) {
  std::string folder = std::filesystem::absolute(file).parent_path().string() + "/";
  for (size_t at; (at = message.find(folder)) != std::string::npos;)
    message.erase(at, folder.size());
  return message;
}

Result<std::vector<std::byte>> bytes_of(const std::string& file, size_t expected) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::byte> bytes(expected);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(expected));
  if (!in || in.peek() != EOF) return error("the runtime's answer has another size: " + file);
  return bytes;
}

Result<ModelRun> read_run(const json& told) {
  ModelRun run;
  run.error = told.value("error", "");
  run.unsupported = told.value("unsupported", false);
  const json outputs = told.value("outputs", json::array());
  for (const json& one : outputs) {
    auto type = dtype_of(one.value("dtype", ""));
    run.types.push_back(type.value_or(DType::Undefined));
    run.outputs.emplace_back();
    if (!type || !one.contains("file")) continue;
    std::vector<int64_t> shape = one.value("shape", std::vector<int64_t>());
    size_t size = size_of(*type);
    for (int64_t d : shape) size *= static_cast<size_t>(d);
    ASSIGN_OR_RETURN(auto bytes, bytes_of(one.value("file", ""), size));
    ASSIGN_OR_RETURN(auto values, Constant(*type, shape, std::move(bytes)).reals());
    run.outputs.back() = Values{std::move(shape), std::move(values)};
  }
  return run;
}

std::vector<DType> input_types(const Graph& g) {
  std::vector<DType> types;
  for (Value v : g.inputs()) types.push_back(g.type(v).dtype);
  return types;
}

/// The largest unit roundoff of the graph's values that is one of float32 at least.
double roundoff_of(const Graph& g) {
  double most = rewrite::format_of(DType::F32).roundoff;
  for (int32_t id = 0; id < g.id_bound(); ++id)
    if (g.contains(id))
      for (const TensorType& t : g.node(id).types)
        most = std::max(most, rewrite::format_of(t.dtype).roundoff);
  return most;
}

std::vector<int64_t> position_in(size_t index, const std::vector<int64_t>& shape) {
  std::vector<int64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = static_cast<int64_t>(index) % shape[axis];
    index /= static_cast<size_t>(shape[axis]);
  }
  return position;
}

size_t index_of(const std::vector<int64_t>& position, const std::vector<int64_t>& shape) {
  size_t index = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    index = index * static_cast<size_t>(shape[axis]) + static_cast<size_t>(position[axis]);
  return index;
}

/// The runs of both models say that they differ, or why they do not.
class Judgement {
 public:
  Judgement(Replay& replay, const ModelCounterexample& c) : r_(replay), c_(c) {}

  /// Nothing is left to compare: one of them did not run.
  bool failed() {
    const ModelRun &a = r_.runs[0], &b = r_.runs[1];
    if (a.error.empty() && b.error.empty()) return false;
    if (!a.error.empty())
      r_.why_not = "the first model does not run: " + a.error;
    else if (b.unsupported)
      r_.why_not = "the second model does not run here: " + b.error;
    r_.differs = r_.why_not.empty();
    r_.output = c_.output;
    return true;
  }

  /// The graphs said where and by how much.
  void predicted() {
    r_.output = c_.output;
    const auto &x = r_.runs[0].outputs[c_.output], &y = r_.runs[1].outputs[c_.output];
    if (!x || !y) return deny("the output is no tensor of numbers");
    if (shapes_differ(*x, *y)) return;
    if (!c_.failure.empty()) return deny("the second model runs, and the shapes are equal");
    if (c_.first_shape != c_.second_shape) return deny("the shapes are equal");
    if (x->shape != c_.first_shape) return deny("the output has another shape");
    size_t at = index_of(c_.position, x->shape);
    r_.position = c_.position;
    r_.first = x->data[at];
    r_.second = y->data[at];
    if (!std::isfinite(c_.second)) {
      r_.differs = std::isfinite(r_.first) && !std::isfinite(r_.second);
    } else {
      constexpr double kOfThePrediction = 0.5;
      double d = r_.first - r_.second, expected = c_.first - c_.second;
      r_.differs = std::abs(d) > c_.allowed &&
                   std::abs(d - expected) <= kOfThePrediction * std::abs(expected);
    }
    if (!r_.differs) deny(fmt::format("the element is {} and {}", r_.first, r_.second));
  }

  /// `samples` are of the first model, its inputs disturbed or not.
  void unpredicted(const std::vector<ModelRun>& samples, double roundoff) {
    for (size_t k = 0; k < r_.runs[0].outputs.size() && !r_.differs; ++k)
      compare(k, samples, roundoff);
    if (!r_.differs && r_.why_not.empty()) deny("the outputs agree");
  }

 private:
  void deny(std::string why) { r_.why_not = std::move(why); }

  bool shapes_differ(const Values& x, const Values& y) {
    if (x.shape == y.shape) return false;
    r_.differs = true;
    return true;
  }

  void compare(size_t k, const std::vector<ModelRun>& samples, double roundoff) {
    const auto &x = r_.runs[0].outputs[k], &y = r_.runs[1].outputs[k];
    if (!x || !y) return;
    std::vector<const Values*> stable;
    for (const ModelRun& s : samples)
      if (k < s.outputs.size() && s.outputs[k] && s.outputs[k]->shape == x->shape)
        stable.push_back(&*s.outputs[k]);
    if (stable.size() < samples.size()) return;  // what shapes it has is a matter of rounding
    r_.output = k;
    if (shapes_differ(*x, *y)) return;
    double scale = 0;
    for (double v : x->data)
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
    for (size_t i = 0; i < x->data.size(); ++i) {
      double spread = 0, value = x->data[i], other = y->data[i];
      for (const Values* s : stable) spread = std::max(spread, std::abs(s->data[i] - value));
      if (!std::isfinite(value) || !std::isfinite(spread)) continue;
      constexpr double kFar = 16, kRelative = 0x1p9, kOfScale = 0x1p8;
      bool real = is_real(r_.runs[0].types[k]);
      double allowed =
          kFar * spread + (real ? roundoff * (kRelative * std::abs(value) + kOfScale * scale) : 0);
      if (std::abs(value - other) <= allowed || (std::isnan(other) && spread > 0)) continue;
      r_.differs = true;
      r_.position = position_in(i, x->shape);
      r_.first = value;
      r_.second = other;
      return;
    }
  }

  Replay& r_;
  const ModelCounterexample& c_;
};

/// The inputs as they are, and moved a little.
std::vector<std::vector<Values>> disturbed_inputs(const std::vector<Values>& inputs,
                                                  const std::vector<DType>& types,
                                                  double roundoff) {
  std::vector<std::vector<Values>> all{inputs, inputs};
  for (double times : {2, 8, 32}) {
    std::vector<Values> moved = inputs;
    for (size_t k = 0; k < moved.size(); ++k)
      if (is_real(types[k]))
        rewrite::disturb(moved[k].data, times * roundoff, 0, Rng(static_cast<uint64_t>(times) + k));
    all.push_back(std::move(moved));
  }
  return all;
}

}  // namespace

std::optional<Replayer> Replayer::start(const Stop& stop) {
  auto worker = Worker::start(1);
  if (!worker) return std::nullopt;
  auto found = (*worker)->runtimes(stop);
  if (!found) return std::nullopt;
  auto it = found->find("onnxruntime");
  if (it == found->end()) return std::nullopt;
  return Replayer(*std::move(worker), "onnxruntime " + it->second);
}

Result<std::vector<ModelRun>> Replayer::run(const ReplayModel& model,
                                            const std::vector<DType>& types,
                                            const std::vector<std::vector<Values>>& inputs,
                                            const Stop& stop) {
  RETURN_IF_ERROR(require_printable(model));
  TemporaryFolder folder;
  ASSIGN_OR_RETURN(std::string path, folder.path());
  json feeds = json::array();
  for (size_t k = 0; k < inputs.size(); ++k) {
    ASSIGN_OR_RETURN(json feed, write_feed(model, types, inputs[k], fmt::format("{}/{}", path, k)));
    feeds.push_back(std::move(feed));
  }
  ASSIGN_OR_RETURN(json answer,
                   worker_->ask({{"op", "outputs"},
                                 {"file", std::filesystem::absolute(model.file).string()},
                                 {"feeds", std::move(feeds)},
                                 {"names", model.outputs},
                                 {"folder", path}},
                                stop));
  runtime_ = answer.value("runtime", runtime_);
  const json results = answer.value("results", json::array());
  if (results.size() != inputs.size()) return error("the runtime's answer lacks results");
  std::vector<ModelRun> runs;
  for (const json& told : results) {
    ASSIGN_OR_RETURN(ModelRun run, read_run(told));
    run.error = without_folder(std::move(run.error), model.file);
    if (run.error.empty() && run.outputs.size() != model.outputs.size())
      return error("the runtime's answer lacks outputs");
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<Replay> Replayer::replay(const ReplayModel& a, const ReplayModel& b, const Graph& graph_of_a,
                                const ModelCounterexample& c, const Stop& stop) {
  std::vector<DType> types = input_types(graph_of_a);
  const double roundoff = roundoff_of(graph_of_a);
  Replay replay;
  for (DType type : types)
    if (!is_real(type) && !is_integer(type))
      replay.why_not = "an input has type " + to_string(type);
  if (!replay.why_not.empty()) return replay;
  std::vector<std::vector<Values>> inputs{c.inputs};
  if (c.needs_replay) inputs = disturbed_inputs(c.inputs, types, roundoff);
  ASSIGN_OR_RETURN(std::vector<ModelRun> first, run(a, types, inputs, stop));
  ASSIGN_OR_RETURN(std::vector<ModelRun> second, run(b, types, {c.inputs}, stop));
  replay.runtime = runtime_;
  replay.runs[0] = std::move(first[0]);
  replay.runs[1] = std::move(second[0]);
  first.erase(first.begin());
  Judgement judgement(replay, c);
  if (judgement.failed()) return replay;
  if (c.needs_replay)
    judgement.unpredicted(first, roundoff);
  else
    judgement.predicted();
  return replay;
}

namespace {

/// What the runtime showed takes the place of what was not known.
void take(const Replay& replay, ModelCounterexample& c) {
  if (!replay.differs || !c.needs_replay) return;
  c.output = replay.output;
  c.place = fmt::format("output {}", replay.output);
  c.position = replay.position;
  c.first = replay.first;
  c.second = replay.second;
  c.allowed = 0;
  c.failure = replay.runs[1].error;
  c.first_shape = c.second_shape = {};
  if (!c.failure.empty()) return;
  c.first_shape = replay.runs[0].outputs[replay.output]->shape;
  c.second_shape = replay.runs[1].outputs[replay.output]->shape;
}

class Refuter {
 public:
  Refuter(const ReplayModel& a, const Graph& graph_of_a, const ReplayModel& b,
          const RefuteOptions& options, const Stop& stop)
      : a_(a), b_(b), graph_(graph_of_a), options_(options), stop_(stop) {}

  Result<Refutation> run(rewrite::CounterexampleFinder& finder) {
    constexpr double kForTrials = 0.4;  // of the time, where a search takes long
    int attempts = options_.replay ? std::max(1, options_.attempts) : 1;
    const Stop searching(stop_, kForTrials * stop_.seconds_left());
    for (int k = 0; k < attempts; ++k) {
      rewrite::CounterexampleFinder::Shows shows;
      if (ready()) shows = [&](const ModelCounterexample& c) { return shown(c); };
      ASSIGN_OR_RETURN(auto c, finder.next(searching, shows));
      if (!c) break;
      ASSIGN_OR_RETURN(bool enough, consider(*std::move(c)));
      if (enough) break;
    }
    result_.search = finder.search();
    const rewrite::CounterexampleSearch& done = result_.search;
    bool open = !done.same && (!done.not_compared.empty() || done.runs == 0);
    int trials = open ? options_.trials : std::min(options_.trials, 1);
    for (int k = 0; k < trials && !result_.counterexample; ++k) {
      ModelCounterexample c = finder.trial(k);
      if (c.inputs.size() != graph_.inputs().size() || stop_.must_end() || !ready()) break;
      ASSIGN_OR_RETURN(Replay replay, replayer_->replay(a_, b_, graph_, c, stop_));
      if (!replay.differs) continue;
      take(replay, c);
      result_.counterexample = std::move(c);
      result_.replay = std::move(replay);
    }
    return std::move(result_);
  }

 private:
  bool ready() {
    if (options_.replay && !started_) replayer_ = Replayer::start(stop_);
    started_ = true;
    return replayer_.has_value();
  }

  Result<bool> shown(const ModelCounterexample& c) {
    ASSIGN_OR_RETURN(Replay replay, replayer_->replay(a_, b_, graph_, c, stop_));
    return replay.differs;
  }

  /// True: no other one is needed. The first counterexample is kept until one is shown.
  Result<bool> consider(ModelCounterexample c) {
    if (!ready()) {
      result_.counterexample = std::move(c);
      return true;
    }
    ASSIGN_OR_RETURN(Replay replay, replayer_->replay(a_, b_, graph_, c, stop_));
    bool shown = replay.differs;
    take(replay, c);
    if (shown || !result_.counterexample) {
      result_.counterexample = std::move(c);
      result_.replay = std::move(replay);
    }
    return shown;
  }

  const ReplayModel &a_, &b_;
  const Graph& graph_;
  const RefuteOptions& options_;
  const Stop& stop_;
  bool started_ = false;
  std::optional<Replayer> replayer_;
  Refutation result_;
};

}  // namespace

bool Refutation::refuted() const {
  if (!counterexample) return false;
  if (replay && replay->differs) return true;
  bool ran = replay && replay->runs[0].error.empty() && replay->runs[1].error.empty() &&
             !replay->runs[0].outputs.empty();
  return !ran && !counterexample->needs_replay;
}

Result<Refutation> refute(const ReplayModel& a, const Graph& graph_of_a, const ReplayModel& b,
                          const Graph& graph_of_b, const RefuteOptions& options, const Stop& stop) {
  ASSIGN_OR_RETURN(auto finder,
                   rewrite::CounterexampleFinder::make(graph_of_a, graph_of_b, options.search));
  return Refuter(a, graph_of_a, b, options, stop).run(finder);
}

}  // namespace regraft::cli
