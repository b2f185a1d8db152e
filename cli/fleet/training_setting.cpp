#include "cli/fleet/training_setting.h"

#include "cli/support/model_files.h"
#include "cli/support/rule_set.h"
#include "io/model.h"

namespace regraft::cli {

Result<TrainingSetting> read_training_setting(const TrainFlags& flags) {
  TrainingSetting s;
  ASSIGN_OR_RETURN(s.rules, load_rules({flags.rules, {}, false}));
  ASSIGN_OR_RETURN(s.cost, choose_cost(flags.cost));
  ASSIGN_OR_RETURN(auto files, model_files(flags.graphs));
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(auto imported, io::load(file));
    s.graphs.push_back(std::move(imported.graph));
  }
  return s;
}

}  // namespace regraft::cli
