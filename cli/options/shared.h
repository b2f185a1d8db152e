#pragma once
// Options that several subcommands have. CLI11 is included by what reads the command line or
// describes it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/nearest.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"
#include "cost/model/kernel.h"

namespace regraft::cli {

/// CLI11's own validators print the ends of the range, with 309 digits.
inline CLI::Validator number_where(bool (*fits)(double), const std::string& what) {
  auto check = [=](std::string& text) {
    char* end = nullptr;
    double number = std::strtod(text.c_str(), &end);
    bool whole = end != text.c_str() && *end == 0;
    return whole && fits(number) ? std::string() : text + " is no " + what;
  };
  return {check, "NUMBER"};
}
/// CLI11 wraps negative numbers, takes the largest one for all beyond, and NaN for in any range.
inline const CLI::Validator kWhole(
    [](std::string& text) {
      uint64_t number = 0;
      auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
      bool whole = failure == std::errc{} && stop == text.data() + text.size();
      return whole ? std::string() : text + " is no whole number from 0 to 2^64 - 1";
    },
    "");
inline const CLI::Validator kNotNan(
    [](std::string& text) {
      return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number"
                                                            : std::string();
    },
    "");

/// A file that lines are added to, or that a later run goes on from.
inline const CLI::Validator kKeptFile(
    [](std::string& path) {
      return path == "-" ? std::string("standard output is no file that can be kept")
                         : std::string();
    },
    "");

/// Has it a place on the command line, and no name?
inline bool is_operand(const CLI::Option& option) {
  return option.get_positional() && !option.nonpositional();
}

/// Of a command that draws no numbers.
inline void add_unseeded(CLI::App& app, Common& c,
                         const std::string& threads = "threads; 0: all cores") {
  app.add_flag_callback(
      "-q,--quiet", [&c] { c.verbosity = Verbosity::Quiet; }, "no progress, no table");
  app.add_option("--threads", c.threads, threads)
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--json", c.json, "write a report for machines to this file (-: stdout)");
}
inline void add_common(CLI::App& app, Common& c) {
  add_unseeded(app, c);
  app.add_option("--seed", c.seed, "random seed")->check(kWhole)->capture_default_str();
}

inline const CLI::Validator kPositive =
    number_where([](double x) { return x > 0 && x <= 1e18; }, "positive number");
inline const CLI::Validator kSeconds =
    number_where([](double x) { return x >= 0 && x <= 1e9; }, "number of seconds");
/// Less than the program takes by itself, with its rules, could not be kept to.
inline const CLI::Validator kGigabytes =
    number_where([](double x) { return x == 0 || (x >= 0.1 && x <= 1e9); },
                 "number of GB that is at least 0.1, or 0");

inline void add_time(CLI::App& app, Common& c,
                     const std::string& what = "stop after so many seconds; 0: no limit") {
  app.add_option("--time", c.seconds, what)->check(kSeconds);
}

inline const CLI::Validator kLeaseSeconds = number_where(
    [](double x) { return x >= 0.1 && x <= 1e6; }, "number of seconds that is at least 0.1");
inline void add_fleet(CLI::App& app, FleetFlags& f) {
  auto* store =
      app.add_option("--store", f.store, "folder of tasks and results; `regraft work` on it helps");
  app.add_option("--workers", f.workers,
                 "workers to start on this machine; 0: this process works itself")
      ->needs(store)
      ->check(CLI::Range(0, 1024));
  app.add_option("--lease", f.lease_seconds,
                 "seconds after which the work of a silent worker is another's")
      ->needs(store)
      ->check(kLeaseSeconds);
}

inline void add_memory(CLI::App& app, Common& c, const std::string& what) {
  app.add_option("--memory", c.memory_gb, what)->check(kGigabytes);
}
inline const char* const kMemory = "GB that the process may hold; default: 3/4 of the machine's";

/// One of these names; a mistyped one gets a suggestion.
inline CLI::Validator one_of(const std::vector<std::string>& names) {
  std::string list = CLI::detail::generate_set(names);
  auto check = [names, list](std::string& text) {
    if (std::ranges::find(names, text) != names.end()) return std::string();
    return text + " not in " + list + suggestion(text, names);
  };
  return {check, list};
}

inline void add_bisect(CLI::App& app, BisectFlags& f) {
  auto* bisect = app.add_option(
      "--bisect", f.command,
      "find the step after which this command of the shell fails: it gets the path of a model as "
      "its last word, or in place of {}; exit code 0 is good, 125 cannot be judged, others are "
      "bad");
  app.add_flag("--bisect-keep", f.keep,
               "keep the last good model and the first bad one, as OUT.good.onnx and OUT.bad.onnx")
      ->needs(bisect);
  app.add_flag("--bisect-show", f.show, "show on stderr what the command prints")->needs(bisect);
}

using IsRuntime = bool(const cost::Runtime& runtime);
inline bool any_runtime(const cost::Runtime&) { return true; }
inline bool can_run(const cost::Runtime& r) { return !r.described; }
/// Its kernels are timed, so that there may be profiles of it.
inline bool has_kernels(const cost::Runtime& r) { return r.times_kernels(); }
inline std::vector<std::string> names_of_runtimes(IsRuntime* wanted) {
  std::vector<std::string> names;
  for (const auto& r : cost::runtimes())
    if (wanted(r)) names.emplace_back(r.name);
  return names;
}
inline std::vector<std::string> with(std::vector<std::string> names, std::string_view more) {
  names.emplace_back(more);
  return names;
}
/// What compare_on reads.
inline std::vector<std::string> places_to_check() {
  std::vector<std::string> places{kReference};
  for (const auto& r : cost::runtimes())
    if (r.evaluates) places.emplace_back(r.name);
  return places;
}

/// What choose_cost reads.
inline const CLI::Validator kCost(
    [](std::string& s) {
      bool known = s == "auto" || s == "roofline";
      for (const auto& name : names_of_runtimes(has_kernels)) known = known || s == name;
      bool file = std::string_view(s).ends_with(".profile");
      auto names = with(with(names_of_runtimes(has_kernels), "auto"), "roofline");
      return known || file ? std::string()
                           : s + " is no cost model and no .profile file" + suggestion(s, names);
    },
    "auto|roofline|RUNTIME|FILE.profile");

}  // namespace regraft::cli
