#include "cli/program/about.h"

#include <nlohmann/json.hpp>

#include "cli/options/shared.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"
#include "verify/arithmetic/solver.h"

namespace regraft::cli {

std::string about() {
  nlohmann::json j = {{"version", REGRAFT_VERSION},
                      {"solver", verify::solver_version()},
                      {"runtimes", names_of_runtimes(can_run)},
                      {"rules", shipped_rules_folder()}};
  return to_text(j, 2);
}

}  // namespace regraft::cli
