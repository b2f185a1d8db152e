#pragma once
// What is behind regraft_env.h.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/support/model_files.h"
#include "cli/support/profiles.h"
#include "io/model.h"
#include "rl/vector/vector_environment.h"

namespace regraft::cli {

/// A model that was given: its path, or its bytes and a name for messages.
struct GivenModel {
  std::string name;
  std::optional<std::string_view> bytes;
};

/// Environments on models, with what they stand on. Not thread-safe.
class Environments {
 public:
  /// `options` as regraft_envs_make has them. An Error names the option, or the model's place.
  static Result<std::unique_ptr<Environments>> make(const std::string& options,
                                                    const std::vector<GivenModel>& models);
  Environments(const Environments&) = delete;
  Environments& operator=(const Environments&) = delete;

  nlohmann::json description();
  Status bind(const std::vector<void*>& arrays);
  Status reset(const std::string& options);
  Status step(const int64_t* actions);
  nlohmann::json moves(size_t k) const;
  /// nullopt: written. Else why not, where the check failed.
  Result<std::optional<std::string>> write(size_t k, const std::string& options);

 private:
  struct Model {
    std::string name;
    bool is_file = true;  ///< `name` is its path
    io::Imported imported;
  };
  Environments() = default;
  /// An Error where writing to these would destroy what the environments were made of. The model of
  /// the task may be replaced by the one that came of it.
  Status require_own_files(size_t task, const std::string& out, const std::string& proof) const;
  Status seed(const nlohmann::json& fields);

  std::vector<Model> models_;
  std::vector<NamedFile> texts_;  ///< the rule files and the profile
  rewrite::RuleIndex rules_;
  ChosenCost cost_;
  std::unique_ptr<rl::VectorEnvironment> all_;
  std::vector<rl::Request> requests_;
  bool bound_ = false;
};

}  // namespace regraft::cli
