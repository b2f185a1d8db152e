#include "gen/derive/saturation.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace regraft::gen {
namespace {

class Saturation {
 public:
  Saturation(const Problem& problem, const RuleSet& rules, const DeriveOptions& options,
             const Stop& stop)
      : rules_(rules), options_(options), stop_(stop) {
    if (rules.few) {
      take_few(*rules.few);
    } else {
      candidates_.emplace(*rules.filter);
      trie_.emplace(*rules.trie);
    }
    std::vector<EValue> leaves;
    for (Value v : problem.instance->lhs.inputs()) {
      std::vector<int64_t> shape;
      for (const Poly& d : problem.instance->lhs.shape(v))
        shape.push_back(evaluate(d, problem.sizes));
      leaves.push_back(graph_.add_leaf(std::move(shape)));
    }
    auto left = add(problem.instance->lhs, problem.sizes, leaves);
    auto right = add(problem.instance->rhs, problem.sizes, leaves);
    outcome_.well_formed = left && right && left->size() == right->size();
    if (!outcome_.well_formed) return;
    for (size_t k = 0; k < left->size(); ++k) {
      goals_.emplace_back((*left)[k], (*right)[k]);
      for (EValue n : {(*left)[k], (*right)[k]}) {
        roots_.push_back(n);
        whole_ = std::max(whole_, graph_.term_size(n));
      }
    }
    most_ = whole_ + options.slack;
    for (size_t n = 0; n < graph_.node_count(); ++n) own_.push_back(static_cast<EValue>(n));
  }

  Outcome run() {
    if (!outcome_.well_formed) return outcome_;
    graph_.rebuild();
    while (!done() && outcome_.rounds < options_.max_rounds && !exhausted()) {
      size_t nodes = graph_.node_count(), merges = merges_;
      ++outcome_.rounds;
      round();
      graph_.rebuild();
      bool changed = graph_.node_count() > nodes || merges_ > merges;
      if (!changed && whole_ == most_) break;
      if (!changed) ++whole_;
    }
    outcome_.equal = done();
    outcome_.nodes = graph_.node_count();
    outcome_.stopped = stop_.must_end();
    for (auto [a, b] : goals_)
      if (outcome_.equal) outcome_.explained.merge(graph_.rules_between(a, b));
    if (!outcome_.equal) explain_failure();
    return std::move(outcome_);
  }

 private:
  struct Application {
    RuleFilter::Directed rule;
    int32_t size;  ///< of a root's term that has the result as a part
    Match match;
  };

  void explain_failure() {
    const auto& all = candidates_ ? candidates_->all() : few_;
    for (RuleFilter::Directed d : all)
      if (outcome_.candidates.empty() || outcome_.candidates.back() != d.rule)
        outcome_.candidates.push_back(d.rule);
    outcome_.limited = limited_ || exhausted() || outcome_.rounds >= options_.max_rounds;
    if (steps_ >= options_.max_steps)  // looking for matches in vain counted too
      outcome_.matched = outcome_.candidates;
    else
      outcome_.matched.assign(matched_.begin(), matched_.end());
  }

  void take_few(const std::set<int>& few) {
    for (int n : few)
      for (auto d : {Matchable::Forward, Matchable::Backward})
        if ((*rules_.rules)[static_cast<size_t>(n)]->usable(d))
          few_.push_back({static_cast<uint32_t>(n), d});
  }

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
  bool exhausted() const {
    return graph_.node_count() >= options_.max_nodes || steps_ >= options_.max_steps ||
           stop_.must_end();
  }

  /// All matches in the graph as it is, then all that follows from them, the smallest terms first.
  void round() {
    TermSizes sizes(graph_, roots_);
    if (candidates_) candidates_->update(graph_, sizes);
    std::vector<Application> found = matches(sizes);
    std::vector<const Application*> smallest;
    for (const Application& a : found) smallest.push_back(&a);
    std::stable_sort(smallest.begin(), smallest.end(),
                     [](const auto* a, const auto* b) { return a->size < b->size; });
    for (const Application* a : smallest) {
      if (exhausted()) return;
      // in the first round all steps count: the goal may be an instance of one rule
      if (outcome_.rounds > 1 && done()) return;
      apply(*a);
    }
  }

  std::vector<Application> matches(const TermSizes& sizes) {
    std::vector<EValue> anything = own_;
    for (EValue& n : anything) n = graph_.classes().find(n);
    std::sort(anything.begin(), anything.end());
    anything.erase(std::unique(anything.begin(), anything.end()), anything.end());
    const MatchLimits limits{whole_, options_.steps_per_rule, options_.matches_per_rule};
    if (trie_) match_together(sizes, limits);
    std::vector<Application> found;
    if (exhausted()) return found;
    for (RuleFilter::Directed rule : candidates_ ? candidates_->all() : few_) {
      if (!allowed(rule)) continue;
      if (exhausted()) break;
      const Matchable& matchable = *(*rules_.rules)[rule.rule];
      int32_t size = 0;
      auto fresh = [&](const Match& m) {
        size = matchable.result_size(sizes, rule.direction, m);
        if (size > whole_ || !seen_.insert(key(rule, m)).second) return false;
        found.push_back({rule, size, {}});
        return true;
      };
      size_t first = found.size();
      const Placements* placed = trie_ ? trie_->found(rule) : nullptr;
      Matches m = placed
                      ? matchable.matches_at(*placed, graph_, sizes, rule.direction, fresh)
                      : matchable.matches(graph_, sizes, rule.direction, anything, limits, fresh);
      for (size_t k = 0; k < m.found.size(); ++k) found[first + k].match = std::move(m.found[k]);
      steps_ += m.steps;
      limited_ = limited_ || m.cut;
      if (m.cut || found.size() > first) matched_.insert(rule.rule);
    }
    return found;
  }

  bool allowed(RuleFilter::Directed rule) const {
    return !rules_.allowed || (*rules_.allowed)[rule.rule];
  }

  /// Nothing is applied of a round that exceeds the steps, so its matches need not be made.
  void match_together(const TermSizes& sizes, const MatchLimits& limits) {
    for (RuleFilter::Directed rule : candidates_->all())
      if (allowed(rule)) trie_->choose(rule);
    trie_->match(graph_, sizes, limits);
    uint64_t known = steps_;
    for (RuleFilter::Directed rule : candidates_->all())
      if (const Placements* p = allowed(rule) ? trie_->found(rule) : nullptr)
        known += p->steps + p->count * kFoundSteps;
    if (known >= options_.max_steps) steps_ = known;
  }

  uint64_t key(RuleFilter::Directed rule, const Match& m) const {
    uint64_t h = combine(rule.rule, rule.direction);
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

  void apply(const Application& a) {
    const Matchable& rule = *(*rules_.rules)[a.rule.rule];
    if (!rule.applies(graph_, a.match)) return;
    auto made = rule.result(graph_, a.rule.direction, a.match);
    if (!made) {
      ++outcome_.refused;
      return;
    }
    Reason reason{static_cast<int>(a.rule.rule), a.match.premises};
    reason.premises.insert(reason.premises.end(), made->premises.begin(), made->premises.end());
    for (size_t k = 0; k < made->outputs.size(); ++k) {
      EValue from = a.match.roots[k], to = made->outputs[k];
      bool known = graph_.equal(from, to);
      if (graph_.merge(from, to, reason))
        ++merges_;
      else if (!known)
        ++outcome_.refused;
    }
  }

  const RuleSet& rules_;
  const DeriveOptions& options_;
  const Stop& stop_;
  SizedEGraph graph_;
  std::optional<CandidateRules> candidates_;
  std::optional<TrieMatcher> trie_;        // of the candidates
  std::vector<RuleFilter::Directed> few_;  // where there are no candidates
  Outcome outcome_;
  int32_t whole_ = 0, most_ = 0;  ///< how large a root's term may be now, and in the end
  std::vector<std::pair<EValue, EValue>> goals_;
  std::vector<EValue> roots_, own_;
  std::unordered_set<uint64_t> seen_;  // a collision loses an application, no more
  size_t merges_ = 0;
  uint64_t steps_ = 0;
  bool limited_ = false;        // the matches of some rule
  std::set<uint32_t> matched_;  // rules with matches that fit
};

}  // namespace

Outcome saturate(const Problem& problem, const RuleSet& rules, const DeriveOptions& options,
                 const Stop& stop) {
  return Saturation(problem, rules, options, stop).run();
}

}  // namespace regraft::gen
