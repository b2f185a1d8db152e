#pragma once
// The subcommands: what main.cpp reads from the command line, and one function for each.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "gen/derive/derive.h"

namespace regraft::cli {

/// Exit codes. kInterrupted: by a signal; what was found until then is written.
enum Exit : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kBadInput = 3,
  kInternal = 4,
  kUndecided = 5,
  kInterrupted = 130
};

/// Where models are compared in double precision; the other places are runtimes.
inline constexpr const char* kReference = "reference";

struct Common {
  Verbosity verbosity = Verbosity::Normal;
  int threads = 0;  ///< 0: all cores
  uint64_t seed = 7;
  double seconds = 0;    ///< 0: no limit
  double memory_gb = 0;  ///< that the process may hold; 0: most of what the machine has
  std::string json;      ///< where to write the report; "-": stdout; empty: nowhere
};

/// Who helps: see docs/fleet.md.
struct FleetFlags {
  std::string store;          ///< folder of tasks and results; empty: this process does all
  int workers = 0;            ///< to start on this machine; 0: this process works as well
  double lease_seconds = 30;  ///< that a worker may be silent
};
struct WorkFlags {
  Common common;
  std::string store;
  double lease_seconds = 30;
  double patience = 10;  ///< seconds to wait for a run to begin
};
struct GenerateFlags {
  Common common;
  FleetFlags fleet;
  std::string ops = "core", out;
  int max_size = 3;
  size_t audit = 0;        ///< random pairs that must follow from the candidates
  std::string checkpoint;  ///< file that is kept up to date, and read at the start; empty: none
};
struct VerifyFlags {
  Common common;
  FleetFlags fleet;
  std::vector<std::string> in;  ///< rule files, judged together
  std::string out;              ///< of one file
  std::string cache;            ///< file of verdicts that is used and kept up to date; empty: none
  std::string derivations;      ///< file to write, of what the kernel accepts; empty: none; of one
  bool keep_witnesses = false;  ///< numerics are no better than the file says
  bool replay = true;           ///< the derivations beside the file are tried before the prover
  bool kernel = true;           ///< derivations are looked for, and checked
  bool fold = false;            ///< families in place of what they say
  bool find_conditions = true;  ///< for rules that do not hold as they stand
};
/// What a model is optimised for: the default, and any runtime that has ONNX's operators.
inline constexpr const char* kOnnxruntime = "onnxruntime";
inline constexpr const char* kAnyRuntime = "onnx";
/// What the user says of a model's sizes.
struct SizeFlags {
  std::vector<std::string> shapes;         ///< "NAME=1,3,224,224", of inputs
  std::vector<std::string> dims, typical;  ///< "NAME=8", of named dimensions
  const char* dim_option = "--dim";        ///< where `dims` come from
};
/// A test of the user's that finds the step which breaks it.
struct BisectFlags {
  std::string command;  ///< of the shell; empty: none
  bool keep = false;    ///< the last good and the first bad model, beside the output
  bool show = false;    ///< what the command prints
};
struct OptimizeFlags {
  Common common;
  std::string in, out;
  SizeFlags sizes;
  std::vector<std::string> rules;  ///< empty: the shipped ones
  std::vector<std::string> disabled;
  bool simplify = false;  ///< fewer calls at no higher cost; nothing else is searched for
  std::string search = "portfolio";
  std::string policy;  ///< file, for the search "policy"; empty: the shipped one
  std::string policy_mode = "scheduled";
  std::string propose;  ///< file of a network that proposes macros; empty: none
  std::string macros;  ///< file of those that were proved: read if it is there, and kept up to date
  std::string target = kOnnxruntime;  ///< a runtime, or kAnyRuntime
  bool portable = false;              ///< operators of the ONNX standard alone
  std::string cost = "auto";          ///< as choose_cost reads it
  std::string objective = "latency";
  std::string measure;      ///< runtime to time candidates with; empty: see no_measure
  bool no_measure = false;  ///< chosen by price; else timed in onnxruntime where that is at hand
  int candidates = 4, measure_threads = 1;
  int measurements = 0;  ///< of single candidates, the next by what is known; 0: all in turn
  std::string pool;      ///< folder for the graphs that are chosen from; empty: none
  std::optional<double> search_seconds;  ///< 0: no limit; missing: as many as the model's size asks
  double measure_seconds = 0;            ///< 0: 20 with `measure`, 10 without
  double alpha = 1.05, growth = 2;
  uint64_t budget = 300000;
  int check = 1;
  std::string check_on = kReference;  ///< as compare_on reads it
  std::string proof = "solver";       ///< as proofs_wanted reads it
  uint64_t max_size = 0;              ///< bytes of the output; 0: the input's and a fixed growth
  std::string numerics = "rounding";  ///< as numerics_wanted reads it
  std::string certificate;            ///< file to record the rules applied in; empty: none
  std::string page;                   ///< file for a page of what was done; empty: none
  bool explain = false;               ///< say what each rule won, and why others won nothing
  BisectFlags bisect;
};
struct CheckFlags {
  Common common;
  std::string a, b;
  int runs = 1;
  std::string check_on = kReference;  ///< as compare_on reads it
  std::string rule;         ///< a is a report of verify: evaluate this rule's counterexample
  std::string certificate;  ///< b must be what this makes of a; empty: compare numbers
  bool prove = false;       ///< the certificate's rules anew
  std::string validation;   ///< certificate of validate: prove it once more; empty: none
  /// Files of derivations: replay them; a, b and these are files of rules then.
  std::vector<std::string> derivations, more;
  std::string claims;  ///< file to write what they claim to; empty: none
  BisectFlags bisect;
};
struct RulesFlags {
  Common common;
  std::string file;
};
struct ProofFlags {
  Common common;
  std::string name;                ///< of a rule
  std::vector<std::string> rules;  ///< files; empty: the shipped ones
  std::string derivations;         ///< file of derivations; empty: looked for anew
  std::string proof;               ///< which of the rule's proofs; empty: the first
  std::string html;                ///< page to write; empty: text
};
struct DeriveFlags {
  Common common;
  std::string goals;
  std::vector<std::string> from;
  gen::DeriveOptions limits;
};
struct MinimiseFlags {
  Common common;
  std::vector<std::string> files;
  std::string out;            ///< folder
  std::string keep;           ///< file of names; empty: none
  bool without_ones = false;  ///< rules that hold only beside an axis of size 1 go
  gen::DeriveOptions limits;
};
struct ExportFlags {
  std::string in, out;
};
struct AtlasFlags {
  Common common;
  std::vector<std::string> rules;  ///< empty: the shipped ones
  std::string court;               ///< file of what tools apply; empty: none
  std::string out;                 ///< folder
};
struct ImportFlags {
  Common common;
  std::string in, out;
};
/// How long a calibration may take unless told otherwise.
constexpr double kCalibrationSeconds = 60;
/// How long whole models are timed, all together.
constexpr double kTimingSeconds = 30;

struct CostFlags {
  Common common;
  std::vector<std::string> files;
  std::string out, dir;
  std::string cost = "auto";  ///< as choose_cost reads it
  std::string profile;        ///< file; empty: none
  std::string runtime;        ///< its name
  int64_t block = -1;         ///< channels in a block; below 0: the runtime's usual
  bool kernels = false;       ///< show each
  bool all = false;           ///< of the user's profiles
  int count = 50;
  std::vector<std::string> rules;  ///< empty: the shipped ones
};
struct TrainFlags {
  Common common;
  FleetFlags fleet;
  std::vector<std::string> graphs;  ///< ONNX files, and folders of them
  std::vector<std::string> rules;   ///< empty: the shipped ones
  std::string agent = "ppo", out;
  std::string state;  ///< file to go on from; empty: see --help
  std::string log;    ///< file of comma-separated values; empty: none
  std::string cost = "roofline", reward = "change";
  std::string heads = "matches";  ///< or "factorised"
  bool hide_cost = false;
  std::vector<std::string> validation;  ///< as `graphs`; empty: those
  int64_t evaluate_every = 5;           ///< iterations; 0: never
  int64_t iterations = 100;
  int episodes = 0;           ///< of an iteration; 0: the agent's usual
  int32_t locations = 4;      ///< of a rule that a world model tells apart
  std::vector<double> sweep;  ///< temperatures to train controllers at, in the world model's dreams
  int sweep_seeds = 5;        ///< controllers of each
};
struct LearnRulesFlags {
  Common common;
  std::vector<std::string> graphs;  ///< ONNX files, and folders of them
  std::vector<std::string> rules;   ///< empty: the shipped ones
  std::string out;
  std::string cost = "auto";      ///< as choose_cost reads it
  std::string choose = "paying";  ///< or what that is compared with: "frequent", "random"
  uint64_t budget = 20000;        ///< candidates of each searcher
  size_t count = 64;              ///< rules that are kept at most
  std::string propose;            ///< file for a network that proposes macros; empty: none
};
struct BenchFlags {
  Common common;
  std::vector<std::string> graphs;    ///< ONNX files, and folders of them
  std::vector<std::string> policies;  ///< "NAME=FILE"; a name several times: seeds of training
  std::vector<std::string> methods;   ///< empty: all
  std::vector<std::string> rules;     ///< empty: the shipped ones
  std::vector<uint64_t> budgets = {1000, 10000, 100000};  ///< candidate evaluations
  std::vector<double> seconds = {0.1, 1, 10};
  double cap = 120;  ///< seconds that a run by candidates may take
  int search_seeds = 10;
  uint64_t expansions = 50000;  ///< of the baseline; 0: not run
  double expanding = 120;       ///< seconds that it may take
  std::string cost = "roofline";
  std::string kept;  ///< file of runs, kept up to date; empty: none
};
struct RuntimesFlags {
  Common common;
  std::string model;
  bool no_measure = false;  ///< optimised by price
  double seconds = 20;      ///< of timing, all together
};
/// Of `bench measured`.
struct MeasuredFlags {
  Common common;
  std::vector<std::string> pools;           ///< files of graphs and their times
  std::vector<int> budgets = {8, 32, 128};  ///< measurements
  int seeds = 20;                           ///< replays of each way of choosing
};
struct StatsFlags {
  Common common;
  std::string model;
};
struct EvalFlags {
  Common common;
  std::string model, inputs, outputs, list;
};

int run_generate(const GenerateFlags& flags);
int run_verify(const VerifyFlags& flags);
int run_work(const WorkFlags& flags);
int run_verify_taso(const VerifyFlags& flags);  ///< of a file in TASO's format
int run_optimize(const OptimizeFlags& flags);
int run_check(const CheckFlags& flags);
int run_check_derivations(const CheckFlags& flags);
int run_rules_show(const RulesFlags& flags);
int run_rules_proof(const ProofFlags& flags);
int run_rules_stats(const RulesFlags& flags);
int run_rules_derive(const DeriveFlags& flags);
int run_rules_minimise(const MinimiseFlags& flags);
int run_rules_import(const ImportFlags& flags);
int run_rules_export(const ExportFlags& flags);
int run_rules_atlas(const AtlasFlags& flags);
int run_calibrate(const CostFlags& flags);
int run_cost_show(const CostFlags& flags);
int run_cost_list(const CostFlags& flags);
int run_cost_forget(const CostFlags& flags);
int run_cost_merge(const CostFlags& flags);
int run_cost_add(const CostFlags& flags);
int run_cost_kernels(const CostFlags& flags);
int run_cost_predict(const CostFlags& flags);
int run_cost_time(const CostFlags& flags);
int run_cost_variants(const CostFlags& flags);
/// Of `train`.
std::vector<std::string> agent_names();
int run_train(const TrainFlags& flags);
int run_learn_rules(const LearnRulesFlags& flags);
int run_bench_learn(const BenchFlags& flags);
int run_bench_runtimes(const RuntimesFlags& flags);
int run_bench_measured(const MeasuredFlags& flags);
int run_stats(const StatsFlags& flags);
int run_eval(const EvalFlags& flags);
int run_roundtrip(const CheckFlags& flags);

/// Prints the one line of an Error on stderr; returns kBadInput.
int bad_input(const Error& e);
/// `threads`, or the number of cores.
int thread_count(const Common& common);
/// Bytes that the process may hold. From here on the system refuses much more. Inside another
/// program: beyond what that holds; the system refuses nothing.
int64_t memory_limit(const Common& common);
/// Where the library lies, which is found beside its own files then. Before anything is asked for.
void set_program_folder(const std::string& folder);
/// The folder of shipped rule files: $REGRAFT_RULES, ../share/regraft/substitutions, or beside the
/// sources.
std::string shipped_rules_folder();
/// The folder of shipped profiles: ../share/regraft/profiles, or beside the sources.
std::string shipped_profiles_folder();
/// The folder of shipped policies: ../share/regraft/policies, or beside the sources.
std::string shipped_policies_folder();
/// The folder of the Python package `regraft`: around the program's, ../share/regraft/python, or
/// beside the sources.
std::string shipped_python_folder();

}  // namespace regraft::cli
