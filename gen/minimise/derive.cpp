#include "gen/minimise/derive.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <unordered_set>

#include "gen/generalise/check.h"
#include "gen/generalise/generalise.h"
#include "gen/generalise/sample.h"
#include "gen/minimise/ematch.h"

namespace regraft::gen {
namespace {

constexpr int kReductions = 24;  // attempts to do without one of the rules used

/// The goal at numbers: an e-graph in the making.
struct Problem {
  const RuleInstance* instance;
  Valuation sizes;
};

/// A goal's instances own what its problems point to.
struct Problems {
  std::vector<std::unique_ptr<RuleInstance>> instances;
  std::vector<Problem> all;
};

/// What one e-graph led to.
struct Outcome {
  bool equal = false, well_formed = true;
  std::set<int> explained;  ///< rules in the reasons for equality
  std::set<int> fired;      ///< rules that made anything equal
  int rounds = 0;
  size_t nodes = 0, refused = 0;
};

/// One e-graph from the goal's two sides to their equality or a limit.
class Saturation {
 public:
  using Rules = std::vector<std::pair<int, const Matchable*>>;

  Saturation(const Problem& problem, const Rules& rules, const DeriveOptions& options)
      : rules_(rules), options_(options) {
    std::vector<EValue> leaves;
    for (Value v : problem.instance->lhs.inputs()) {
      std::vector<int64_t> shape;
      for (const Poly& d : problem.instance->lhs.shape(v))
        shape.push_back(evaluate(d, problem.sizes));
      leaves.push_back(graph_.add_leaf(std::move(shape)));
    }
    auto left = add(problem.instance->lhs, problem.sizes, leaves);
    auto right = add(problem.instance->rhs, problem.sizes, leaves);
    well_formed_ = left && right && left->size() == right->size();
    if (!well_formed_) return;
    for (size_t k = 0; k < left->size(); ++k) {
      goals_.emplace_back((*left)[k], (*right)[k]);
      for (EValue n : {(*left)[k], (*right)[k]})
        size_limit_ = std::max(size_limit_, graph_.term_size(n) + options.slack);
    }
    for (size_t n = 0; n < graph_.node_count(); ++n) own_.push_back(static_cast<EValue>(n));
  }

  Outcome run() {
    Outcome outcome;
    while (well_formed_ && !done() && outcome.rounds < options_.max_rounds) {
      ++outcome.rounds;
      size_t before = graph_.node_count(), merges = merges_;
      round(outcome);
      graph_.rebuild();
      if (graph_.node_count() >= options_.max_nodes) break;
      if (graph_.node_count() == before && merges_ == merges) break;
    }
    outcome.equal = well_formed_ && done();
    outcome.well_formed = well_formed_;
    outcome.nodes = graph_.node_count();
    for (auto [a, b] : goals_)
      if (outcome.equal) outcome.explained.merge(graph_.rules_between(a, b));
    return outcome;
  }

 private:
  struct Application {
    size_t rule;
    Matchable::Direction direction;
    Match match;
  };

  /// The outputs of a side; nullopt: not well-formed at these sizes.
  std::optional<std::vector<EValue>> add(const Graph& g, const Valuation& sizes,
                                         const std::vector<EValue>& leaves) {
    std::map<Value, EValue> nodes;
    for (size_t k = 0; k < leaves.size(); ++k) nodes[g.inputs()[k]] = leaves[k];
    for (int32_t id = 0; id < g.id_bound(); ++id) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call) continue;
      std::vector<EValue> operands;
      for (Value v : n.inputs) operands.push_back(nodes.at(v));
      for (int k = 0; k < static_cast<int>(n.types.size()); ++k) {
        auto node = graph_.add(*n.op, evaluate(n.attrs, sizes), k, operands);
        if (!node) return std::nullopt;
        nodes[{id, k}] = *node;
      }
    }
    std::vector<EValue> outputs;
    for (Value v : g.outputs()) outputs.push_back(nodes.at(v));
    return outputs;
  }

  bool done() const {
    return std::all_of(goals_.begin(), goals_.end(),
                       [&](const auto& g) { return graph_.equal(g.first, g.second); });
  }

  /// All matches in the graph as it is, then all that follows from them.
  void round(Outcome& outcome) {
    std::vector<EValue> anything = own_;
    for (EValue& n : anything) n = graph_.classes().find(n);
    std::sort(anything.begin(), anything.end());
    anything.erase(std::unique(anything.begin(), anything.end()), anything.end());
    std::vector<Application> found;
    for (size_t r = 0; r < rules_.size(); ++r)
      for (auto d : {Matchable::Forward, Matchable::Backward}) {
        const Matchable& rule = *rules_[r].second;
        if (!rule.usable(d)) continue;
        auto fresh = [&](const Match& m) {
          return rule.result_size(graph_, d, m) <= size_limit_ && seen_.insert(key(r, d, m)).second;
        };
        for (Match& m : rule.matches(graph_, d, anything, options_.matches_per_rule, fresh))
          found.push_back({r, d, std::move(m)});
      }
    for (const Application& a : found) {
      if (graph_.node_count() >= options_.max_nodes || done()) return;
      apply(a, outcome);
    }
  }

  uint64_t key(size_t rule, Matchable::Direction d, const Match& m) const {
    uint64_t h = combine(rule, d);
    for (EValue n : m.tensors) h = combine(h, static_cast<uint64_t>(graph_.classes().find(n)));
    for (const auto& list : m.lists)
      for (int64_t n : list.value_or(std::vector<int64_t>{}))
        h = combine(h, static_cast<uint64_t>(n));
    for (const auto& [name, axes] : m.axes)
      for (int64_t n : axes) h = combine(h, static_cast<uint64_t>(n));
    for (const auto& n : m.numbers) h = combine(h, static_cast<uint64_t>(n.value_or(0)));
    for (const auto& x : m.reals) h = combine(h, std::bit_cast<uint64_t>(x.value_or(0)));
    return h;
  }

  void apply(const Application& a, Outcome& outcome) {
    const Matchable& rule = *rules_[a.rule].second;
    if (!rule.applies(graph_, a.match)) return;
    auto outputs = rule.result(graph_, a.direction, a.match);
    if (!outputs) {
      ++outcome.refused;
      return;
    }
    for (size_t k = 0; k < outputs->size(); ++k) {
      EValue from = a.match.roots[k], to = (*outputs)[k];
      if (graph_.equal(from, to)) continue;
      if (graph_.merge(from, to, {rules_[a.rule].first, a.match.premises})) {
        ++merges_;
        outcome.fired.insert(rules_[a.rule].first);
      } else {
        ++outcome.refused;
      }
    }
  }

  const Rules& rules_;
  const DeriveOptions& options_;
  SizedEGraph graph_;
  bool well_formed_ = false;
  int32_t size_limit_ = 0;
  std::vector<std::pair<EValue, EValue>> goals_;
  std::vector<EValue> own_;
  std::unordered_set<uint64_t> seen_;  // a collision loses an application, no more
  size_t merges_ = 0;
};

// --- the sizes at which a goal is looked at ---

constexpr size_t kMaxRankTried = 4;
constexpr size_t kMembersTried = 3;  // of a family at one signature and rank

/// The same rank for all variables.
std::vector<Signature> of_one_rank(size_t variables, std::initializer_list<size_t> ranks) {
  std::vector<Signature> r;
  for (size_t rank : ranks) r.emplace_back(variables, std::string(rank, 'n'));
  return r;
}

/// Shapes to try for a goal without a domain: the same rank for all, then every combination.
std::vector<Signature> guesses(size_t variables) {
  std::vector<Signature> r = of_one_rank(variables, {2, 4, 3, 1, 5});
  size_t count = 1;
  for (size_t v = 0; v < variables && count < 4000; ++v) count *= kMaxRankTried;
  for (size_t k = 0; k < count; ++k) {
    Signature s;
    for (size_t v = 0, rest = k; v < variables; ++v, rest /= kMaxRankTried)
      s.push_back(std::string(1 + rest % kMaxRankTried, 'n'));
    r.push_back(std::move(s));
  }
  return r;
}

/// The goal's problems at one signature; none when it does not apply.
void add_problems(Problems& problems, const Rule& goal, const Signature& signature,
                  const DeriveOptions& options) {
  auto instance = instantiate(goal, signature);
  if (!instance) return;
  auto owned = std::make_unique<RuleInstance>(*std::move(instance));
  size_t before = problems.all.size();
  for (int k = 0; k < options.assignments; ++k)
    if (auto sizes = distinct_sizes(*owned, combine(options.seed, static_cast<uint64_t>(k))))
      problems.all.push_back({owned.get(), *std::move(sizes)});
  if (problems.all.size() > before) problems.instances.push_back(std::move(owned));
}

Problems problems_of_family(const Rule& goal, const DeriveOptions& options) {
  Problems problems;
  for (const Member& m : some_members(goal, kMembersTried))
    add_problems(problems, m.rule, m.rule.domain[0], options);
  return problems;
}

/// At the shapes of the goal's domain; without one, where variables of the usual ranks satisfy it,
/// since what explains it at one rank may not exist at another.
Problems problems_of(const Rule& goal, const DeriveOptions& options) {
  if (is_family(goal)) return problems_of_family(goal, options);
  Problems problems;
  for (const Signature& s : goal.domain)
    if (problems.instances.size() < options.max_signatures)
      add_problems(problems, goal, s, options);
  if (!goal.domain.empty()) return problems;
  for (const Signature& s : of_one_rank(goal.variables.size(), {2, 4, 3}))
    if (check(goal, s, kShapeSeed, kManyShapes) == Evidence::Holds)
      add_problems(problems, goal, s, options);
  for (const Signature& s : guesses(goal.variables.size()))
    if (problems.instances.empty()) add_problems(problems, goal, s, options);
  return problems;
}

}  // namespace

// --- rules that suffice ---

namespace {

/// One goal against a set of rules.
class Derivations {
 public:
  Derivations(const Problems& problems, const std::vector<std::unique_ptr<const Matchable>>& rules,
              const DeriveOptions& options)
      : problems_(problems), rules_(rules), options_(options) {}

  Derivation from(const std::vector<size_t>& numbers) {
    result_.tried = !problems_.all.empty();
    if (!result_.tried) return result_;
    if (suffice({}, options_)) {
      result_.derived = true;
      return result_;
    }
    if (auto one = single(numbers)) {
      result_.derived = true;
      result_.used = {*one};
      return result_;
    }
    std::set<int> explained, fired;
    for (const Problem& p : problems_.all) {
      Outcome outcome = run(p, numbers, options_);
      if (!outcome.equal) return result_;
      explained.merge(outcome.explained);
      fired.merge(outcome.fired);
    }
    result_.derived = true;
    result_.used = reduced(explained, fired);
    return result_;
  }

 private:
  Outcome run(const Problem& p, const std::vector<size_t>& numbers, const DeriveOptions& options) {
    Saturation::Rules chosen;
    for (size_t n : numbers) chosen.emplace_back(static_cast<int>(n), rules_[n].get());
    Outcome outcome = Saturation(p, chosen, options).run();
    result_.rounds = std::max(result_.rounds, outcome.rounds);
    result_.nodes = std::max(result_.nodes, outcome.nodes);
    result_.refused += outcome.refused;
    result_.well_formed = result_.well_formed && outcome.well_formed;
    return outcome;
  }
  bool suffice(const std::vector<size_t>& numbers, const DeriveOptions& options) {
    return std::all_of(problems_.all.begin(), problems_.all.end(),
                       [&](const Problem& p) { return run(p, numbers, options).equal; });
  }

  /// The first rule of which the goal is an instance.
  std::optional<size_t> single(const std::vector<size_t>& numbers) {
    DeriveOptions once = options_;
    once.max_rounds = 1;
    const RuleInstance& goal = *problems_.all[0].instance;
    auto is_root = [&](const Graph& g, const OpDef* op) {
      return g.node(g.outputs()[0].node).op == op;
    };
    for (size_t n : numbers)
      for (auto d : {Matchable::Forward, Matchable::Backward}) {
        const OpDef* root = rules_[n]->root(d);
        if (!rules_[n]->usable(d) || !root) continue;
        if ((is_root(goal.lhs, root) || is_root(goal.rhs, root)) && suffice({n}, once)) return n;
      }
    return std::nullopt;
  }

  std::vector<size_t> reduced(const std::set<int>& explained, const std::set<int>& fired) {
    std::vector<size_t> used(explained.begin(), explained.end());
    if (!suffice(used, options_)) {
      used.assign(fired.begin(), fired.end());
      if (!suffice(used, options_)) return used;
    }
    int attempts = kReductions;
    for (size_t k = used.size(); k-- > 0 && used.size() > 1 && attempts-- > 0;) {
      std::vector<size_t> fewer = used;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      if (suffice(fewer, options_)) used = std::move(fewer);
    }
    return used;
  }

  const Problems& problems_;
  const std::vector<std::unique_ptr<const Matchable>>& rules_;
  const DeriveOptions& options_;
  Derivation result_;
};

}  // namespace

Deriver::Deriver(std::vector<Rule> rules, DeriveOptions options)
    : rules_(std::move(rules)), options_(options) {
  for (const Rule& r : rules_) matchables_.push_back(std::make_unique<const Matchable>(r));
}
Deriver::~Deriver() = default;

Derivation Deriver::derive(const Rule& goal) const {
  std::vector<size_t> all(rules_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return derive(goal, all);
}

Derivation Deriver::derive(const Rule& goal, const std::vector<size_t>& from) const {
  try {
    Problems problems = problems_of(goal, options_);
    return Derivations(problems, matchables_, options_).from(from);
  } catch (const PolyOverflow&) {  // sizes beyond 64 bits
    return {};
  }
}

std::vector<Derivation> derive_all(const Deriver& deriver, const std::vector<Rule>& goals,
                                   int threads, const Stop& stop) {
  std::vector<Derivation> r(goals.size());
  parallel_for(goals.size(), threads, [&](size_t k) {
    if (!stop.must_end()) r[k] = deriver.derive(goals[k]);
  });
  return r;
}

namespace {

/// What was answered before, or `ask`, whose answer is kept.
template <class Ask>
Answer answer_of(const Answers& answers, size_t question, size_t rules, const Ask& ask) {
  auto known = answers.find ? answers.find(question) : std::nullopt;
  bool fits = known && std::all_of(known->used.begin(), known->used.end(),
                                   [&](size_t n) { return n < rules; });
  if (fits) return *std::move(known);
  Derivation d = ask();
  Answer answer{d.derived, std::move(d.used)};
  if (answers.keep) answers.keep(question, answer);
  return answer;
}

/// Small rules first: by the calls of the larger side, then by all calls.
std::pair<size_t, size_t> extent(const Rule& r) {
  return {std::max(size(r.lhs), size(r.rhs)), size(r.lhs) + size(r.rhs)};
}

}  // namespace

std::vector<char> derivable(const Deriver& deriver, const std::vector<Rule>& goals, int threads,
                            const Stop& stop, const Answers& answers) {
  std::vector<char> r(goals.size(), 0);
  parallel_for(goals.size(), threads, [&](size_t k) {
    if (stop.must_end()) return;
    r[k] = answer_of(answers, k, deriver.rules().size(), [&] {
             return deriver.derive(goals[k]);
           }).derived;
  });
  return r;
}

std::vector<char> minimal(const std::vector<Rule>& rules, const DeriveOptions& options, int threads,
                          const Stop& stop, const Answers& answers) {
  Deriver deriver(rules, options);
  std::vector<char> remains(rules.size(), 1);
  auto others = [&](size_t k) {
    std::vector<size_t> r;
    for (size_t n = 0; n < rules.size(); ++n)
      if (n != k && remains[n] && extent(rules[n]).first <= extent(rules[k]).first) r.push_back(n);
    return r;
  };
  auto ask = [&](size_t k, size_t question) {
    return answer_of(answers, question, rules.size(),
                     [&] { return deriver.derive(rules[k], others(k)); });
  };
  std::atomic<bool> stopped{false};  // once and for all: later answers build on earlier ones
  auto must_end = [&] {
    if (stop.must_end()) stopped = true;
    return stopped.load();
  };
  std::vector<Answer> first(rules.size());
  parallel_for(rules.size(), threads, [&](size_t k) {
    if (!must_end()) first[k] = ask(k, 2 * k);
  });
  std::vector<size_t> order(rules.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return extent(rules[a]) > extent(rules[b]); });
  for (size_t k : order) {
    if (!first[k].derived || must_end()) continue;
    bool intact = std::all_of(first[k].used.begin(), first[k].used.end(),
                              [&](size_t n) { return remains[n] != 0; });
    if (intact || ask(k, 2 * k + 1).derived) remains[k] = 0;
  }
  return remains;
}

}  // namespace regraft::gen
