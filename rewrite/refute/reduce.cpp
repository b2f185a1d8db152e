#include "rewrite/refute/reduce.h"

#include <algorithm>
#include <cmath>

namespace regraft::rewrite {

namespace {

using Shown = std::function<Result<bool>(const Found&)>;

class Reducer {
 public:
  Reducer(const Judge& judge, Found found, const Shown& shows, const Stop& stop,
          const Stop& sampling)
      : judge_(judge), shows_(shows), stop_(stop), sampling_(sampling), best_(std::move(found)) {}

  Result<Found> run() {
    Found original = best_;
    RETURN_IF_ERROR(shrink_sizes());
    RETURN_IF_ERROR(simplify_all());
    for (size_t k = 0; k < best_.trial.inputs.size(); ++k) RETURN_IF_ERROR(simplify(k));
    if (!changed_) return original;
    // The quick samples led here; the thorough ones have the last word.
    Trial last = best_.trial;
    ASSIGN_OR_RETURN(Verdict verdict, judge_.judge(last, Care::Thorough, best_.difference.question,
                                                   sampling_, sampling_));
    if (!verdict.difference) return original;
    best_.difference = *std::move(verdict.difference);
    return std::move(best_);
  }

 private:
  const Graph& a() const { return *judge_.program().graphs[0]; }
  const Graph& b() const { return *judge_.program().graphs[1]; }
  DType type_of(size_t input) const { return a().type(a().inputs()[input]).dtype; }

  /// Takes the trial when it shows the same difference.
  Result<bool> accept(Trial trial, const Probe& probe) {
    if (stop_.must_end()) return false;
    ASSIGN_OR_RETURN(Verdict verdict,
                     judge_.judge(trial, Care::Quick, best_.difference.question, stop_, stop_));
    bool taken = verdict.difference.has_value() &&
                 verdict.difference->failure.empty() == best_.difference.failure.empty();
    if (!taken) return false;
    Found simpler{std::move(trial), probe, *std::move(verdict.difference)};
    if (shows_) {
      ASSIGN_OR_RETURN(taken, shows_(simpler));
    }
    if (taken) best_ = std::move(simpler);
    changed_ = changed_ || taken;
    return taken;
  }

  Result<bool> accept_probe(const SizeAssignment& sizes, const Probe& probe) {
    return accept({sizes, inputs_of(a(), sizes, probe), best_.trial.seed}, probe);
  }

  /// What may differ at other sizes, the simplest first.
  std::vector<Probe> simple_probes() const {
    uint64_t seed = best_.probe.seed;
    return {{Probe::Zeros, Regime::Unit, seed},
            {Probe::Ones, Regime::Unit, seed},
            {Probe::Drawn, Regime::Integers, seed},
            {Probe::Drawn, Regime::Unit, seed},
            best_.probe};
  }

  Result<bool> accept_sizes(const std::map<std::string, int64_t>& by_name) {
    auto sizes = assign_sizes(a(), b(), by_name);
    if (!sizes) return false;
    for (const Probe& probe : simple_probes()) {
      ASSIGN_OR_RETURN(bool taken, accept_probe(*sizes, probe));
      if (taken) return true;
    }
    return false;
  }

  Status shrink_sizes() {
    const auto found = best_.trial.sizes.by_name;
    for (int64_t all : {1, 2}) {
      auto smaller = found;
      bool any = false;
      for (auto& [name, size] : smaller) {
        any = any || size > all;
        size = std::min(size, all);
      }
      if (!any) continue;
      ASSIGN_OR_RETURN(bool taken, accept_sizes(smaller));
      if (taken) break;
    }
    for (const auto& entry : found) RETURN_IF_ERROR(shrink(entry.first));
    return {};
  }

  Status shrink(const std::string& name) {
    const int64_t size = best_.trial.sizes.by_name.at(name);
    for (int64_t smaller : {int64_t{1}, int64_t{2}, int64_t{3}, size / 4, size / 2}) {
      if (smaller < 1 || smaller >= size) continue;
      auto sizes = best_.trial.sizes.by_name;
      sizes[name] = smaller;
      ASSIGN_OR_RETURN(bool taken, accept_sizes(sizes));
      if (taken) return {};
    }
    return {};
  }

  /// All inputs chosen in a simpler way.
  Status simplify_all() {
    SizeAssignment sizes = best_.trial.sizes;
    for (const Probe& probe : simple_probes()) {
      if (probe.kind == best_.probe.kind && probe.regime == best_.probe.regime) return {};
      ASSIGN_OR_RETURN(bool taken, accept_probe(sizes, probe));
      if (taken) return {};
    }
    return {};
  }

  /// One input: as another function of its elements, else parts of it.
  template <class F>
  Result<bool> accept_changed(size_t input, F&& change) {
    Trial trial = best_.trial;
    std::vector<double>& values = trial.inputs[input].data;
    change(values);
    round_to(type_of(input), values);
    if (values == best_.trial.inputs[input].data) return false;
    return accept(std::move(trial), best_.probe);
  }

  Status simplify(size_t input) {
    const std::vector<double>& values = best_.trial.inputs[input].data;
    if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; })) return {};
    for (double constant : {0.0, 1.0}) {
      ASSIGN_OR_RETURN(bool taken, accept_changed(input, [&](std::vector<double>& v) {
                         std::fill(v.begin(), v.end(), constant);
                       }));
      if (taken) return {};
    }
    RETURN_IF_ERROR(clear_parts(input));
    if (!is_real(type_of(input))) return {};
    for (double step : {1.0, 8.0, 64.0}) {  // units in one
      ASSIGN_OR_RETURN(bool taken, accept_changed(input, [&](std::vector<double>& v) {
                         for (double& x : v) x = std::round(x * step) / step;
                       }));
      if (taken) return {};
    }
    return {};
  }

  /// Delta debugging (Zeller 2002): parts become zero, halves first.
  Status clear_parts(size_t input) {
    constexpr size_t kParts = 64;
    size_t count = best_.trial.inputs[input].data.size();
    for (size_t parts = 2; parts <= kParts && parts < 2 * count; parts *= 2)
      for (size_t k = 0; k < parts && !stop_.must_end(); ++k) {
        size_t begin = count * k / parts, end = count * (k + 1) / parts;
        auto clear = [&](std::vector<double>& v) {
          std::fill(v.begin() + static_cast<long>(begin), v.begin() + static_cast<long>(end), 0.0);
        };
        ASSIGN_OR_RETURN([[maybe_unused]] bool taken, accept_changed(input, clear));
      }
    return {};
  }

  const Judge& judge_;
  const Shown& shows_;
  const Stop &stop_, &sampling_;
  Found best_;
  bool changed_ = false;
};

}  // namespace

Result<Found> reduce(const Judge& judge, Found found, const Shown& shows, const Stop& stop,
                     const Stop& sampling) {
  return Reducer(judge, std::move(found), shows, stop, sampling).run();
}

}  // namespace regraft::rewrite
