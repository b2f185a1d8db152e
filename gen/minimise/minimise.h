#pragma once
// From pairs of equal applications to few rules: what known rules connect needs no rule of its own.
#include <span>

#include "base/files/bytes.h"
#include "base/parallel.h"
#include "base/process/task.h"
#include "base/progress.h"
#include "gen/generalise/generalise.h"
#include "gen/minimise/followers.h"
#include "gen/minimise/verdict.h"
#include "gen/minimise/verdicts_ahead.h"
#include "gen/rewrites/rewrites.h"

namespace regraft::gen {

/// What happened to the pairs. Each pair is counted once.
struct DistilCounts {
  uint64_t pairs = 0;
  uint64_t renamed = 0;       ///< of a group that is another one with other names of variables
  uint64_t followers = 0;     ///< the same follower of calls that have one value
  uint64_t alias = 0;         ///< the same term: commuted operands, another name of a call
  uint64_t renaming = 0;      ///< a rule with other names of variables
  uint64_t common = 0;        ///< an instance of a rule: parts that both sides share
  uint64_t derivable = 0;     ///< follows from several steps
  uint64_t chance = 0;        ///< not equal on other inputs
  uint64_t constants = 0;     ///< facts about constants, which are folded anyway
  uint64_t other_shapes = 0;  ///< false at other shapes or attributes
  uint64_t generalised = 0;   ///< gave a rule
  uint64_t grows = 0;         ///< rules whose right side contains the left, which are left out
};

/// A rule found, and the shapes where it was.
using Finding = Verdict::Found;

/// Judges the pairs of a ValueGraph one group of equal values after the other, smaller sizes
/// first. Deterministic for any number of threads.
class Minimiser {
 public:
  /// `found` is called for each new rule, in order.
  using Sink = std::function<void(const Finding&)>;
  /// `bank` is the one of the graph's variables, and outlives it.
  Minimiser(const ValueGraph& graph, Bank& bank, uint64_t seed, int threads, Sink found);

  /// A rule that is known beforehand, and where it was found.
  void know(const Rule& rule, const std::vector<Signature>& found) { rewrites_.add(rule, found); }
  /// Number of groups. Of those that are renamings of one another there is the first.
  size_t size() const { return items_.size(); }
  /// Judges some groups from `position` on; returns the next position.
  size_t run(size_t position, const Stop& stop, Progress& progress);
  /// Brings back a run that had come to `position`, from the groups that it judged. Returns the
  /// position, an earlier one when it was stopped.
  size_t replay(size_t position, const std::vector<JudgedGroup>& judged, const Stop& stop,
                Progress& progress);
  const DistilCounts& counts() const { return counts_; }
  /// Number of pairs of these groups: of each all but the first application.
  uint64_t pairs() const { return pairs_; }
  /// From now on has groups connected by others, who know the graph by `part` and `tuples`, see
  /// gen/parts.h.
  void share(const Helpers& helpers, std::string part, std::string tuples);
  /// Why run() came no further, where it was not stopped.
  const Status& failure() const { return failure_; }
  /// How others' groups are connected by the rules that are known here.
  Result<std::string> connect_for(std::string_view groups) const;
  /// What another's application gives, with what is known of its group.
  Result<std::string> judge_for(std::string_view group) const;
  const Rewrites& rewrites() const { return rewrites_; }
  /// Where rules connect small terms: also at ranks where they were not found, since what is
  /// connected gives no rule. All rules must be known; a function of them alone.
  Rewrites::Places places(const Stop& stop);
  /// Pairs by number. REQUIRES: ascending, below pairs().
  std::vector<Pair> pairs_at(const std::vector<uint64_t>& numbers);
  /// The groups that known rules did not connect, in order.
  const std::vector<JudgedGroup>& judged() const { return judged_; }

 private:
  /// A group: applications of one size and value, the lightest and most general first.
  struct Item {
    int level = 0;
    uint32_t weight = 0;       ///< calls of the lightest pair
    int leaves = 0;            ///< distinct variables of its second side
    ClassId known = kNoClass;  ///< the class, when a smaller size has the value
    std::vector<Application> applications;
    bool is_large() const;
  };
  /// How applications are connected; node 0 is what is known already, then one for each
  /// application.
  struct Links;
  /// What a rule makes of an application: another one of the group.
  struct Step {
    size_t to = 0;
    MatchKind match = MatchKind::Renaming;
  };

  /// What was found of an item's pairs ahead of its turn.
  struct Ahead {
    size_t application = 0;
    std::optional<Verdict> verdict;  ///< of that application
    std::span<const Verdict> first;  ///< those of an earlier run
  };
  void collect();
  std::vector<uint32_t> class_weights() const;
  uint32_t weight_of(Application a, const std::vector<uint32_t>& classes) const;
  Item item_of(int level, ClassId known, std::vector<Application> applications,
               const std::vector<uint32_t>& weights) const;
  std::vector<Item> stored_items(const std::vector<uint32_t>& weights) const;
  std::vector<uint32_t> equal_followers(const Item& item) const;
  Links links_of(const Item& item) const;
  void connect(const Item& item, size_t first_rule, Links& links, const Stop* stop) const;
  void connect_loose(const Item& item, size_t first_rule, Links& links, const Stop* stop) const;
  void connect_known(const Item& item, size_t first_rule, Links& links) const;
  enum class Until : uint8_t { Known, End };
  std::vector<Step> steps(const Item& item, Application a, size_t first_rule, const Links& links,
                          Until until) const;
  std::optional<size_t> node_of(const Item& item, const Links& links, const Rewritten& r) const;
  Pair pair(Bank& bank, const Item& item, size_t application) const;
  Verdict verdict(const Item& item, size_t application) const;
  uint64_t template_of(Application a) const;
  std::pair<uint64_t, uint64_t> templates_of(const Item& item, size_t application) const;
  Status look_ahead(size_t position, std::vector<Links>& links, size_t k,
                    std::vector<Ahead>& ahead) const;
  std::vector<size_t> unlike(size_t position, const std::vector<Links>& links,
                             const std::vector<size_t>& loose, size_t most,
                             std::vector<Ahead>& ahead) const;
  enum class Settled : uint8_t { Yes, NotYet, Stopped };
  /// What becomes of a pair of which nothing was found ahead: NotYet, where it is left.
  enum class Unjudged : uint8_t { Judge, Leave };
  Settled settle(size_t index, Links& links, Ahead& ahead, const Stop* stop, Unjudged unjudged);
  Settled settle_next(size_t position, std::vector<Links>& links, size_t k,
                      std::vector<Ahead>& ahead, const Stop& stop);
  size_t judged_ahead() const;
  Status connect_by_others(size_t position, std::vector<Links>& links);
  std::string connected(const Item& item, const std::vector<uint32_t>& equal) const;
  static void write(ByteWriter& out, const Item& item,
                    const std::vector<Application>& applications);
  static Item read_item(ByteReader& in);
  Status judge_by_others(size_t position, const std::vector<size_t>& chosen,
                         std::vector<Ahead>& ahead) const;
  Status tell_rules();
  Result<std::string> ask_others(const std::vector<size_t>& items);
  void take(const Verdict& verdict);

  const ValueGraph& graph_;
  Bank& bank_;
  const Bank variables_;  ///< bank_ before any term
  uint64_t seed_;
  int threads_;
  Sink found_;
  Rewrites rewrites_;
  Followers followers_;
  std::vector<Item> items_;
  std::vector<JudgedGroup> judged_;
  DistilCounts counts_;
  uint64_t pairs_ = 0;
  /// Who connects groups, and what they have been told.
  struct Others {
    Helpers helpers;
    std::string part, tuples;        ///< of tasks; the name of an object
    std::vector<std::string> rules;  ///< names of objects, in order
    size_t told = 0;                 ///< of rewrites_.added()
  };
  std::optional<Others> others_;
  Status failure_;
  std::unique_ptr<VerdictsAhead> verdicts_;  ///< of several threads; the last: it uses the others
};

}  // namespace regraft::gen
