#include "rewrite/macros/paying.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "rewrite/macros/opening.h"
#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kMostSteps = 12;     // of a part
constexpr size_t kMostTogether = 48;  // of steps that hang together, before some are left out
constexpr size_t kMostPairs = 400;    // of parts that touch

using Steps = std::set<size_t>;

class Cutter {
 public:
  Cutter(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
         const EngineOptions& options, const Stop& stop)
      : g_(g), stop_(stop), engine_(g, rules, model, options), cost_(engine_.cost()) {
    for (size_t k = 0; k < rules.rules().size(); ++k)
      numbers_.emplace(rules.rules()[k].rule.name, static_cast<int32_t>(k));
  }

  std::vector<PayingPart> run(std::span<const AppliedRule> steps) {
    if (!record(steps)) return {};
    std::set<Steps> seen;
    for (const Steps& wanted : proposals()) {
      if (stop_.must_end()) break;
      if (auto part = shortest(wanted); part && seen.insert(part->steps).second)
        found_.push_back(*std::move(part));
    }
    std::ranges::stable_sort(found_, {}, [](const Paying& p) { return p.steps.size(); });
    seen.clear();
    std::vector<PayingPart> parts;
    for (Paying part : found_) {
      if (stop_.must_end()) break;
      leave_out_smaller(part);
      if (part.steps.size() < 2 || part.steps.size() > kMostSteps) continue;
      if (!seen.insert(part.steps).second) continue;
      if (apply(part.steps)) parts.push_back({engine_.moves(), compose(g_, engine_), part.gain});
      take_back();
    }
    return parts;
  }

 private:
  struct Step {
    Move move;
    std::vector<int32_t> made;  ///< by call of the right side, in the whole search
    Steps needs;                ///< steps that made what it reads, theirs included
    std::set<int32_t> touched;
  };

  /// Makes all steps once, to see what each makes, and takes them back.
  bool record(std::span<const AppliedRule> steps) {
    std::map<int32_t, size_t> changed_by;
    for (const AppliedRule& step : steps) {
      auto rule = numbers_.find(step.rule);
      if (rule == numbers_.end()) break;
      int32_t match = engine_.find({rule->second, step.nodes, step.variables, 0, 0, 0});
      if (match < 0) break;
      Step s;
      TracedMove done = traced(engine_, match);
      s.move = std::move(done.move);
      s.made = std::move(done.made);
      s.touched.insert(s.move.nodes.begin(), s.move.nodes.end());
      for (Value v : s.move.variables) s.touched.insert(v.node);
      for (int32_t id : s.touched)
        if (auto by = changed_by.find(id); by != changed_by.end()) {
          s.needs.insert(by->second);
          s.needs.insert(steps_[by->second].needs.begin(), steps_[by->second].needs.end());
        }
      for (int32_t id : engine_.last_change().fresh) {
        changed_by[id] = steps_.size();
        s.touched.insert(id);
      }
      steps_.push_back(std::move(s));
    }
    take_back();
    return steps_.size() >= 2;
  }

  Steps with_needs(size_t k) const {
    Steps all = steps_[k].needs;
    all.insert(k);
    return all;
  }
  bool touch(size_t a, size_t b) const {
    return std::ranges::any_of(steps_[a].touched,
                               [&](int32_t id) { return steps_[b].touched.count(id) > 0; });
  }

  std::vector<Steps> proposals() const {
    std::vector<Steps> all;
    for (size_t k = 0; k < steps_.size(); ++k) all.push_back(with_needs(k));
    size_t pairs = 0;
    for (size_t a = 0; a < steps_.size(); ++a)
      for (size_t b = a + 1; b < steps_.size() && pairs < kMostPairs; ++b) {
        if (!touch(a, b) || all[b].count(a)) continue;
        Steps both = all[a];
        both.insert(all[b].begin(), all[b].end());
        all.push_back(std::move(both));
        ++pairs;
      }
    for (Steps& together : components()) all.push_back(std::move(together));
    std::ranges::stable_sort(all, {}, [](const Steps& s) { return s.size(); });
    std::erase_if(all, [](const Steps& s) { return s.size() > kMostTogether || s.size() < 2; });
    return all;
  }

  /// The steps that hang together by what they touch.
  std::vector<Steps> components() const {
    std::vector<Steps> all;
    std::vector<char> done(steps_.size());
    for (size_t k = 0; k < steps_.size(); ++k) {
      if (done[k]) continue;
      std::vector<size_t> open{k};
      Steps together;
      done[k] = 1;
      while (!open.empty()) {
        size_t a = open.back();
        open.pop_back();
        together.insert(a);
        for (size_t b = 0; b < steps_.size(); ++b)
          if (!done[b] && touch(a, b)) {
            done[b] = 1;
            open.push_back(b);
          }
      }
      all.push_back(std::move(together));
    }
    return all;
  }

  void take_back() {
    while (engine_.depth() > 0) engine_.undo();
  }

  /// Makes these steps alone. What that saves; nullopt: one of them does not apply without the
  /// others. The engine stays there.
  std::optional<double> apply(const Steps& part) {
    std::map<int32_t, int32_t> now;  // nodes that steps made or found: their number here
    auto here = [&](int32_t id) {
      if (id < g_.id_bound()) return id;
      auto it = now.find(id);
      return it == now.end() ? -1 : it->second;
    };
    for (size_t k : part) {
      Move m = steps_[k].move;
      for (int32_t& id : m.nodes) id = here(id);
      for (Value& v : m.variables) v.node = here(v.node);
      auto there = [&](int32_t id) { return id >= 0 && engine_.graph().alive(id); };
      if (!std::ranges::all_of(m.nodes, there) ||
          !std::ranges::all_of(m.variables, [&](Value v) { return there(v.node); }))
        return std::nullopt;
      int32_t match = engine_.find(m);
      if (match < 0) return std::nullopt;
      const std::vector<int32_t> made = traced(engine_, match).made;
      for (size_t j = 0; j < made.size(); ++j) now[steps_[k].made[j]] = made[j];
    }
    return cost_ - engine_.cost();
  }
  std::optional<double> gain_of(const Steps& part) {
    auto gain = apply(part);
    take_back();
    return gain;
  }

  /// Steps that pay by themselves.
  struct Paying {
    Steps steps;
    double gain = 0;  ///< microseconds
  };

  /// Leaves out, from the last to the first, each step without which as much is saved; nullopt when
  /// nothing is saved.
  std::optional<Paying> shortest(const Steps& wanted) {
    Paying part{wanted, gain_of(wanted).value_or(0)};
    if (!cheaper(cost_ - part.gain, cost_)) return std::nullopt;
    for (size_t k : std::vector<size_t>(wanted.rbegin(), wanted.rend())) {
      if (!part.steps.count(k) || part.steps.size() < 2) continue;
      Steps fewer;
      for (size_t s : part.steps)
        if (s != k && !steps_[s].needs.count(k)) fewer.insert(s);
      auto left = fewer.empty() ? std::nullopt : gain_of(fewer);
      if (left && !cheaper(cost_ - part.gain, cost_ - *left)) part = {std::move(fewer), *left};
    }
    return part;
  }

  /// Leaves out smaller parts, where the rest saves what it saved beside them.
  void leave_out_smaller(Paying& part) {
    for (const Paying& other : found_) {
      if (other.steps.size() >= part.steps.size()) return;
      if (!std::ranges::includes(part.steps, other.steps)) continue;
      Steps rest;
      std::ranges::set_difference(part.steps, other.steps, std::inserter(rest, rest.end()));
      auto left = gain_of(rest);
      if (!left || cheaper(cost_ - part.gain, cost_ - *left - other.gain)) continue;
      if (auto shorter = shortest(rest)) part = *std::move(shorter);
    }
  }

  const Graph& g_;
  const Stop& stop_;
  Engine engine_;
  double cost_;
  std::map<std::string, int32_t> numbers_;
  std::vector<Step> steps_;
  std::vector<Paying> found_;
};

}  // namespace

std::vector<PayingPart> paying_parts(const Graph& g, const RuleIndex& rules,
                                     std::span<const AppliedRule> steps,
                                     const cost::CostModel& model, const EngineOptions& options,
                                     const Stop& stop) {
  return steps.size() < 2 ? std::vector<PayingPart>()
                          : Cutter(g, rules, model, options, stop).run(steps);
}

}  // namespace regraft::rewrite
