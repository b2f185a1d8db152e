#pragma once
// The options of the subcommands that have no header of their own.
#include "cli/support/commands.h"

namespace CLI {
class App;
}

namespace regraft::cli {

// Each adds subcommands that run when they are chosen, and set `code` to their exit code. All
// outlive the parsing.

// options/rules.cpp
void add_generate(CLI::App& root, GenerateFlags& f, int& code);
void add_verify(CLI::App& root, VerifyFlags& f, int& code);
void add_work(CLI::App& root, WorkFlags& f, int& code);
void add_rules(CLI::App& root, RulesFlags& f, int& code);
void add_rules_export(CLI::App& root, ExportFlags& f, int& code);
void add_rules_proof(CLI::App& root, ProofFlags& f, int& code);
void add_rules_atlas(CLI::App& root, AtlasFlags& f, int& code);
void add_rules_work(CLI::App& root, DeriveFlags& d, ImportFlags& i, int& code);
void add_rules_minimise(CLI::App& root, MinimiseFlags& f, int& code);

// options/cost.cpp
void add_cost_files(CLI::App& root, CostFlags& f, int& code);
void add_calibrate(CLI::App& root, CostFlags& f, int& code);
void add_cost_models(CLI::App& root, CostFlags& f, int& code);

// options/models.cpp
void add_check(CLI::App& root, CheckFlags& f, CheckFlags& round, int& code);
void add_stats(CLI::App& root, StatsFlags& f, int& code);
void add_eval(CLI::App& root, EvalFlags& f, int& code);

// options/learning.cpp
void add_train(CLI::App& root, TrainFlags& f, int& code);
void add_learn_rules(CLI::App& root, LearnRulesFlags& f, int& code);
void add_bench(CLI::App& root, BenchFlags& f, int& code);
void add_bench_runtimes(CLI::App& root, RuntimesFlags& f, int& code);
void add_bench_measured(CLI::App& root, MeasuredFlags& f, int& code);

}  // namespace regraft::cli
