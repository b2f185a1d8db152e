#pragma once
// Groups that are one another with other names of variables: variables of one kind have the same
// shape and role, so what follows for one group follows for all that are renamings of it.
#include <map>
#include <mutex>

#include "gen/enumerate/values.h"

namespace regraft::gen {

/// Renamings of a graph's variables within their kinds. Const use is thread-safe.
class Orbits {
 public:
  /// The graph outlives it. Tables are made over so many threads.
  Orbits(const ValueGraph& graph, int threads);
  /// Of all renamings of applications of equal value the one that comes first: groups for which it
  /// is the same are renamings of one another. Where variables are too many it is the first of
  /// those given.
  Application first_renaming(const std::vector<Application>& applications) const;

 private:
  /// What each class becomes when two variables change places; kNoClass: it was not enumerated.
  using Exchange = std::vector<ClassId>;
  using Walk = std::vector<uint16_t>;
  Exchange exchange(int a, int b) const;
  Walk walk_over(uint64_t leaves) const;
  const Walk& walk(uint64_t leaves) const;

  const ValueGraph& graph_;
  std::vector<std::pair<int, int>> pairs_;  ///< variables of one kind
  std::vector<Exchange> exchanges_;         ///< of pairs_
  std::vector<int> kind_of_;                ///< of each variable
  mutable std::mutex mutex_;
  mutable std::map<uint64_t, Walk> walks_;
};

}  // namespace regraft::gen
