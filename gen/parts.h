#pragma once
// Parts of `generate` that other processes do: shares of the last level of an enumeration, merges
// of what they give, the connecting of groups by the rules of a round, the judging of what stays
// apart, and whether rules follow from others.
#include <memory>
#include <string>

#include "gen/derive/derive_tasks.h"

namespace regraft::gen {

/// The enumeration that a part is of. All of it follows from this.
struct PartOf {
  std::string ops;       ///< an op set of op_set_names()
  uint64_t grammar = 0;  ///< of its grammars, by number
  int max_size = 0;
  uint64_t seed = 0;
  int trials = 0;
};
std::string to_bytes(const PartOf& part);

/// Does parts. The levels below the last are made once for each enumeration, and kept for the next
/// part of it. Not thread-safe.
class Parts {
 public:
  explicit Parts(Objects objects);
  ~Parts();
  static bool knows(const std::string& kind);
  Result<std::string> perform(const Task& task);

 private:
  struct Below;
  Status prepare(const std::string& part);
  Status learn(const std::string& tuples, const std::vector<std::string>& rules);
  Objects objects_;
  DeriveTasks derive_;
  std::string part_;
  std::unique_ptr<Below> below_;
};

}  // namespace regraft::gen
