#pragma once
// Asking other processes whether rules follow from other rules.
#include <memory>

#include "base/process/task.h"
#include "gen/derive/minimal_set.h"

namespace regraft::gen {

inline constexpr const char* kDeriveTask = "derive";

/// Has helpers answer what Deriver(rules, options) would say of questions about the goals. They are
/// told rules and goals once, with the first questions. The helpers outlive it; not thread-safe.
std::function<Result<std::vector<Answer>>(const std::vector<Question>&)> asked_of(
    const Helpers& helpers, const std::vector<Rule>& rules, const std::vector<Rule>& goals,
    const DeriveOptions& options);

/// Does the tasks of it. The last rules and goals are kept for the next task. Not thread-safe.
class DeriveTasks {
 public:
  explicit DeriveTasks(Objects objects) : objects_(std::move(objects)) {}
  Result<std::string> perform(std::string_view input);

 private:
  Status prepare(const std::string& rules, const std::string& goals, const std::string& options);
  Objects objects_;
  std::string rules_, goals_, options_;  ///< names of objects; bytes
  std::unique_ptr<Deriver> deriver_;
  std::vector<Rule> asked_;  ///< the goals
};

}  // namespace regraft::gen
