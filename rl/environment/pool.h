#pragma once
// Environments for several threads.
#include <map>
#include <mutex>

#include "rl/environment/environment.h"

namespace regraft::rl {

/// Makes environments of a list of graphs when there is none free, and keeps them. Which one of a
/// graph is taken makes no difference. Thread-safe.
class EnvironmentPool {
 public:
  /// All outlive this. REQUIRES: there is a graph; all are acyclic.
  EnvironmentPool(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                  const cost::CostModel& model, EnvironmentOptions options)
      : graphs_(graphs), rules_(rules), model_(model), options_(std::move(options)) {}

  /// An environment of graph k, until the lease ends.
  class Lease {
   public:
    Lease(EnvironmentPool& pool, size_t k) : pool_(pool), k_(k), environment_(pool.take(k)) {}
    ~Lease() { pool_.give_back(k_, std::move(environment_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Environment& operator*() const { return *environment_; }
    Environment* operator->() const { return environment_.get(); }

   private:
    EnvironmentPool& pool_;
    size_t k_;
    std::unique_ptr<Environment> environment_;
  };
  size_t size() const { return graphs_.size(); }
  const rewrite::RuleIndex& rules() const { return rules_; }

 private:
  std::unique_ptr<Environment> take(size_t k);
  void give_back(size_t k, std::unique_ptr<Environment> environment);

  const std::vector<Graph>& graphs_;
  const rewrite::RuleIndex& rules_;
  const cost::CostModel& model_;
  EnvironmentOptions options_;
  std::mutex mutex_;
  std::map<size_t, std::vector<std::unique_ptr<Environment>>> free_;
};

}  // namespace regraft::rl
