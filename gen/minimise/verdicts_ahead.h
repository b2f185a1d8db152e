#pragma once
// Speculative judging: verdicts of pairs before their turn comes, by threads in the background.
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "gen/minimise/verdict.h"

namespace regraft::gen {

/// A pair of a group: one of its applications with what is known of it.
struct PairOf {
  size_t group = 0, application = 0;
  auto operator<=>(const PairOf&) const = default;
};

/// Judges pairs that will probably be asked for. Since a verdict is a function of its pair, what
/// comes of it depends neither on what was proposed nor on the number of threads. The functions are
/// for one thread, which judges too while it waits.
class VerdictsAhead {
 public:
  using Judge = std::function<Verdict(const PairOf&)>;
  /// `judge` is called from `threads` threads beside the caller's, side by side, and must not
  /// throw.
  VerdictsAhead(int threads, Judge judge);
  VerdictsAhead(const VerdictsAhead&) = delete;
  VerdictsAhead& operator=(const VerdictsAhead&) = delete;
  ~VerdictsAhead();  ///< waits for the verdicts under way

  /// What is judged next, in this order, in place of what was proposed before and is not begun.
  void propose(std::vector<PairOf> pairs);
  /// A verdict of this pair is there or under way.
  bool is_begun(const PairOf& pair) const;
  /// The pair's verdict, which is forgotten. Where it is under way the caller judges others that
  /// are proposed, until there are none.
  Verdict take(const PairOf& pair);
  /// Forgets what is there of this group and those before it.
  void forget_up_to(size_t group);

 private:
  void work();
  bool judge_next(std::unique_lock<std::mutex>& lock);

  const Judge judge_;
  mutable std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  std::vector<PairOf> proposed_;  ///< the next one last
  /// nullopt: under way. What was to be forgotten meanwhile is forgotten later.
  std::map<PairOf, std::optional<Verdict>> begun_;
  bool ends_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace regraft::gen
