#include "cli/fleet/training_setting.h"

#include "cli/support/model_files.h"
#include "cli/support/rule_set.h"
#include "io/model.h"

namespace regraft::cli {

namespace {

Result<std::vector<Graph>> graphs_of(const std::vector<std::string>& paths) {
  ASSIGN_OR_RETURN(auto files, model_files(paths));
  std::vector<Graph> graphs;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(auto imported, io::load(file));
    graphs.push_back(std::move(imported.graph));
  }
  return graphs;
}

}  // namespace

Result<TrainingSetting> read_training_setting(const TrainFlags& flags) {
  TrainingSetting s;
  ASSIGN_OR_RETURN(s.rules, load_rules({.files = flags.rules}));
  ASSIGN_OR_RETURN(s.cost, choose_cost(flags.cost));
  ASSIGN_OR_RETURN(s.graphs, graphs_of(flags.graphs));
  if (!flags.validation.empty()) {
    ASSIGN_OR_RETURN(s.validation, graphs_of(flags.validation));
  }
  return s;
}

}  // namespace regraft::cli
