#include "cli/measure/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "cli/measure/active.h"
#include "cli/measure/kernels.h"
#include "cli/measure/measure.h"
#include "cli/measure/pool.h"
#include "cli/measure/starts.h"
#include "cli/support/policy.h"
#include "cli/support/profiles.h"
#include "cost/profile/calibrate.h"
#include "ir/graph/fold.h"
#include "rewrite/optimize.h"
#include "rewrite/search/clean_up.h"

namespace regraft::cli {
namespace {

using cost::Timing;
using rewrite::Candidate;

constexpr int kRounds = 2;                 // of searching and timing what was found
constexpr double kMostEvaluations = 2000;  // moves priced while polishing one graph
constexpr double kPolishNodes = 2e6;       // the same, times the nodes of the graph
constexpr double kUnmeasuredShare = 0.1;   // of the moves, where no kernel was measured
constexpr double kLarge = 5000;            // nodes of a model that is searched once only
constexpr double kPricings = 2;            // of a graph and of the original, that follow a search
constexpr double kSearchSeconds = 10, kFewSearchSeconds = 3;
constexpr int32_t kFewNodes = 300;  // of a graph that is searched for kFewSearchSeconds
constexpr double kMeasureSeconds = 20, kConfirmSeconds = 10;
constexpr size_t kFewCandidates = 8;       // what searches find; of more, the others are neighbours
constexpr double kDrawing = 0.5;           // of a search's time, for drawing them
constexpr double kDearestNeighbour = 1.1;  // its price, as a part of the original's
constexpr double kLeastSpread = 0.005;     // of timings, however quiet the machine was
constexpr double kDoubt = 0.02;            // of a price that nothing was measured for
constexpr double kElsewhere = 0.2;         // of the time for confirming, for other runtimes
constexpr double kProbeSeconds = 40, kRoundSeconds = 20;

bool faster(const Timing& a, const Timing& b) {
  return a.microseconds * (1 + a.noise) < b.microseconds * (1 - b.noise);
}

class Chooser {
 public:
  Chooser(const OptimizeFlags& flags, const io::Imported& imported, const rewrite::RuleIndex& rules,
          const rewrite::SearchOptions& options, int64_t growth, const Stop& stop)
      : flags_(flags),
        imported_(imported),
        rules_(rules),
        options_(options),
        growth_(growth),
        stop_(stop),
        target_(cost::find_runtime(flags.target)) {}

  Result<Choice> run() && {
    auto choice = search_and_choose();
    if (!choice) return choice;
    choice->cost = std::make_shared<const ChosenCost>(std::move(chosen_));
    choice->search.seconds = searches_.seconds;  // whichever search the result is of
    choice->search.polishing = searches_.polishing;
    return choice;
  }

 private:
  Result<Choice> search_and_choose() {
    if (target_ && target_->described)
      note_ = flags_.target + " was never run: what is optimised for it follows a description";
    if (!flags_.measure.empty()) {
      auto measurer = start_measurer(flags_.measure, flags_.measure_threads, stop_);
      if (!measurer && !stop_.must_end()) return measurer.error();
      if (measurer) measurer_ = *std::move(measurer);
    }
    RETURN_IF_ERROR(prepare());
    ASSIGN_OR_RETURN(auto found, search());
    for (int round = 1; learns() && round < kRounds && !stop_.must_end(); ++round) {
      ASSIGN_OR_RETURN(size_t added, time_kernels_of(found.best));
      if (added == 0) break;
      ASSIGN_OR_RETURN(found, search());
    }
    searches_ = std::move(found.searches);
    if (!flags_.pool.empty() && chosen_.profiled)
      RETURN_IF_ERROR(write_pool(flags_.pool, imported_, found.best, *chosen_.profiled));
    if (measurer_) return by_measurement(std::move(found.best));
    return confirms() ? by_confirmation(std::move(found.best)) : by_price(std::move(found.best));
  }

  /// What the search found is timed before it takes the original's place.
  bool confirms() const {
    return target_ && target_->in_worker && flags_.measure.empty() && !flags_.no_measure &&
           !flags_.simplify && flags_.cost == "auto" && flags_.objective == "latency" &&
           !stop_.must_end();
  }
  /// Of the time for it that is left; some is kept to see other runtimes.
  double seconds_of_confirming(double spent) const {
    return std::max((1 - kElsewhere) * seconds_of_timing() - spent, seconds_of_timing() / 2);
  }
  double seconds_of_timing() const {
    double fallback = flags_.measure.empty() ? kConfirmSeconds : kMeasureSeconds;
    return flags_.measure_seconds > 0 ? flags_.measure_seconds : fallback;
  }

  /// The search uses the costs of the runtime that is measured with, and adds to them.
  bool learns() const { return measurer_ && measurer_->time_kernels && flags_.cost == "auto"; }

  /// The cost model; of a runtime at hand with the times of the model's own kernels.
  Status prepare() {
    if (!learns()) {
      ASSIGN_OR_RETURN(chosen_, choose_cost(flags_.cost, target_));
      return {};
    }
    RETURN_IF_ERROR(load_profile());
    auto added = time_kernels(kProbeSeconds, {&imported_.graph}, true);
    return added ? Status() : added.error();
  }

  Status load_profile() {
    ASSIGN_OR_RETURN(profile_, usable_profile(measurer_->key));
    profile_.block = measurer_->block;
    kept_is_quiet_ = !profile_.kernels.empty();
    return {};
  }

  /// Times what the profile lacks of the graphs' kernels, and keeps it for other runs.
  Result<size_t> time_kernels(double seconds, const std::vector<const Graph*>& graphs,
                              bool probes) {
    cost::Profiled model(profile_);
    std::map<std::string, cost::Kernel> wanted;
    if (probes) wanted = cost::probe_kernels(model.runtime());
    for (const Graph* g : graphs) wanted.merge(cost::missing_kernels(model.plan(*g), profile_));
    ASSIGN_OR_RETURN(size_t added,
                     complete(profile_, wanted, *measurer_, {seconds, stop_, options_.verbosity}));
    // The objective refers to the model in use: a new one only where another search follows.
    if (added > 0) {
      profile_.origin = "measured now";
      if (is_quiet(profile_) || !kept_is_quiet_) RETURN_IF_ERROR(keep(profile_));
    }
    if (added > 0 || !chosen_.model) use(profile_);
    return added;
  }
  Result<size_t> time_kernels_of(const std::vector<Candidate>& candidates) {
    std::vector<const Graph*> graphs;
    for (const Candidate& c : candidates) graphs.push_back(&c.graph);
    return time_kernels(kRoundSeconds, graphs, false);
  }
  void use(const cost::Profile& profile) {
    auto model = std::make_unique<cost::Profiled>(profile);
    chosen_.profiled = model.get();
    chosen_.model = std::move(model);
  }
  static Status keep(const cost::Profile& profile) {
    std::string file = user_profile();
    ASSIGN_OR_RETURN(auto known, read_if_there(file));
    replace(known, profile);
    RETURN_IF_ERROR(make_folder(std::filesystem::path(file).parent_path().string()));
    return cost::write_profiles(file, known);
  }

  /// Of one search; 0: no limit. By itself only where the result is timed, and so is not the same
  /// each time anyway.
  double seconds_of_searching() const {
    if (flags_.search_seconds) return *flags_.search_seconds;
    if (!confirms() || flags_.common.seconds > 0) return 0;
    return imported_.graph.node_count() < kFewNodes ? kFewSearchSeconds : kSearchSeconds;
  }

  Result<rewrite::Candidates> search() {
    ASSIGN_OR_RETURN(auto searcher, searcher_of(flags_, rules_));
    const Stop searching = Stop::within(stop_, seconds_of_searching());
    const double left = searching.seconds_left();
    goal_.emplace(*cost::goal_named(flags_.objective), *chosen_.model, chosen_.profiled,
                  imported_.graph);
    auto price = [&](const Graph& g) { return goal_->price(g); };
    Starts starts(imported_.graph, [&](const Graph& g) { return with_fusions(g); });
    const double pricing =
        left - searching.seconds_left();  // nothing, or no number, without a limit
    auto select = [&] {
      starts.select(rules_, goal_->search_model(), price, options_, searching);
      return starts.selected();
    };
    const bool selects = chosen_.profiled && !flags_.simplify && flags_.objective == "latency";
    bool by_sums = !chosen_.profiled && flags_.objective == "latency";
    rewrite::CandidateOptions wanted;
    wanted.growth = growth_;
    if (pricing > 0) wanted.reserve = kPricings * pricing;
    wanted.count = measurer_ || !flags_.pool.empty() ? static_cast<size_t>(flags_.candidates) : 1;
    if (wanted.count > kFewCandidates) {
      wanted.neighbours = kDearestNeighbour;
      wanted.drawing = kDrawing * left;
      wanted.reserve += wanted.drawing;
    }
    wanted.unchanged = confirms() && !imported_.file.empty();  // the import alone changes files
    wanted.cleaned = flags_.cost == "auto" && flags_.objective == "latency" && !flags_.simplify;
    wanted.downhill = !by_sums && !flags_.simplify && flags_.search != "greedy";
    wanted.descent = &stop_;
    double calls = imported_.graph.node_count();
    bool measured = chosen_.profiled && !chosen_.profiled->profile().kernels.empty();
    double share = measured ? 1 : kUnmeasuredShare;
    wanted.by_parts = flags_.objective == "latency";
    wanted.polish.evaluations =
        by_sums || flags_.simplify
            ? 0
            : static_cast<uint64_t>(share * std::min(kMostEvaluations, kPolishNodes / calls));
    std::vector<const cost::CostModel*> models{&goal_->search_model()};
    if (measured && calls < kLarge) models.push_back(&roofline_);
    return rewrite::find_candidates(starts.plain(),
                                    selects ? rewrite::MakeStart(select) : rewrite::MakeStart(),
                                    rules_, models, *searcher, price, options_, wanted, searching);
  }

  /// With what the runtime fuses marked.
  Graph with_fusions(const Graph& g) const {
    if (!chosen_.profiled) return g;
    return cost::with_fusions(g, target_ ? *target_ : chosen_.profiled->runtime());
  }

  /// The least price, where it is surely less than the original's; else what the clean-up made.
  Result<Choice> by_price(std::vector<Candidate> candidates) {
    constexpr double kTie = 1 + 2 * rewrite::kCleanUpTolerance;  // prices differ in what they see
    bool measured = !chosen_.profiled || (!chosen_.profiled->profile().kernels.empty() &&
                                          !chosen_.profiled->profile().scaled);
    double most = measured || flags_.cost != "auto" ? 1 : 1 - kDoubt;
    for (Candidate& c : candidates)
      if (!c.unchanged && c.price < (flags_.simplify || c.cleaned ? kTie : most))
        return made(std::move(c));
    ASSIGN_OR_RETURN(auto folded, regraft::fold(imported_.graph, growth_, stop_));
    bool dead = folded.graph.node_count() < imported_.graph.node_count();
    if (folded.folded.empty() && !dead) return unchanged();
    auto choice = kept(std::move(folded.graph));
    if (choice) choice->folded = std::move(folded.folded);
    return choice;
  }

  /// The original, itself again and the candidates in turn: how far the original is from itself is
  /// what the machine cannot tell. A candidate must be faster by more; what the clean-up made must
  /// not be slower.
  Result<Choice> by_confirmation(std::vector<Candidate> candidates) {
    if (candidates.empty()) return by_price(std::move(candidates));
    const auto began = std::chrono::steady_clock::now();
    auto measurer = start_measurer(flags_.target, flags_.measure_threads, stop_, Timed::Models);
    if (!measurer) return by_doubt(std::move(candidates), measurer.error().message);
    measurer_ = *std::move(measurer);
    std::vector<const Graph*> graphs{baseline(), baseline()};
    for (const Candidate& c : candidates) graphs.push_back(&c.graph);
    auto timed = time_graphs(graphs, seconds_of_confirming(seconds_since(began)));
    if (!timed) return by_doubt(std::move(candidates), timed.error().message);
    const Timing &original = (*timed)[0], &again = (*timed)[1];
    double spread = std::max(
        {std::abs(again.microseconds / original.microseconds - 1), again.noise, kLeastSpread});
    std::optional<size_t> taken;
    for (size_t k = 0; k < candidates.size(); ++k) {
      const Timing& t = (*timed)[k + 2];
      if (t.runs == 0) continue;  // it does not run there
      double ratio = t.microseconds / original.microseconds;
      bool allowed = candidates[k].cleaned ? ratio <= 1 + std::min(spread, kLeastSpread)
                                           : ratio < 1 - std::max(spread, t.noise);
      if (allowed && (!taken || t.microseconds < (*timed)[*taken + 2].microseconds)) taken = k;
    }
    std::vector<Valued> others;
    for (size_t k = 0; k < candidates.size(); ++k)
      if (k != taken) others.push_back({goal_->worth(candidates[k].graph), (*timed)[k + 2]});
    bool changed = taken && !candidates[*taken].unchanged;
    auto choice = changed ? made(std::move(candidates[*taken])) : kept(imported_.graph);
    if (!choice) return choice;
    choice->verbatim = !taken && baseline() == nullptr;
    choice->others = std::move(others);
    choice->before.measured = original;
    choice->after.measured = taken ? (*timed)[*taken + 2] : original;
    choice->measured_with = to_string(measurer_->key);
    choice->spread = spread;
    choice->elsewhere = look_elsewhere(*choice, seconds_of_timing() - seconds_since(began));
    return choice;
  }
  /// Is the model faster in another runtime that is installed? The result here, and there the
  /// original and the result, where that may run. Only if the seconds that are left suffice.
  std::optional<Elsewhere> look_elsewhere(const Choice& choice, double seconds) {
    constexpr double kLeast = 1, kRuns = 20;  // seconds; of a model, warming up included
    if (seconds < kLeast || kRuns * 1e-6 * choice.after.measured->microseconds > seconds ||
        stop_.seconds_left() < seconds)
      return std::nullopt;
    auto installed = measurer_->installed(stop_);
    if (!installed) return std::nullopt;
    std::vector<std::string> runtimes{flags_.target};
    const Graph* result = choice.kept ? baseline() : &choice.graph;
    std::vector<const Graph*> graphs{result};
    for (const auto& [name, version] : *installed) {
      const cost::Runtime* other = cost::find_runtime(name);
      if (!other || other == target_) continue;
      for (const Graph* g : {baseline(), result}) {
        if (graphs.back() == g && runtimes.back() == name) continue;
        runtimes.push_back(name);
        graphs.push_back(g);
      }
    }
    if (graphs.size() == 1) return std::nullopt;
    auto timed = measurer_->time_graphs_in(runtimes, {&imported_, 1}, graphs, seconds, stop_);
    if (!timed) return std::nullopt;
    std::optional<Elsewhere> best;
    for (size_t k = 1; k < graphs.size(); ++k) {
      const Timing& t = (*timed)[k];
      double ratio = t.runs > 0 ? t.microseconds / (*timed)[0].microseconds : 1;
      bool surely = ratio < 1 - std::max(*choice.spread, t.noise);
      if (surely && (!best || ratio < best->ratio))
        best = {runtimes[k], installed->at(runtimes[k]), ratio, t.noise};
    }
    return best;
  }

  /// By price, with the reason why nothing was timed.
  Result<Choice> by_doubt(std::vector<Candidate> candidates, const std::string& why) {
    note_ = "chosen by price, not timed: " + why;
    return by_price(std::move(candidates));
  }

  Result<Choice> by_measurement(std::vector<Candidate> candidates) {
    auto timed = time_candidates(candidates);
    if (!timed && stop_.must_end()) return by_prediction(std::move(candidates));
    if (!timed) return timed.error();
    auto timings = *std::move(timed);
    std::vector<size_t> order;  // of candidates, the fastest first
    for (size_t k = 0; k < candidates.size(); ++k) order.push_back(k);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return score(candidates[a], timings[a + 1], timings[0]) <
             score(candidates[b], timings[b + 1], timings[0]);
    });
    std::optional<size_t> taken;
    Timing original = timings[0];
    for (size_t k : order) {
      if (score(candidates[k], timings[k + 1], timings[0]) >= 1) break;
      auto confirmed = confirm(candidates[k], original, timings[k + 1]);
      if (!confirmed && !stop_.must_end()) return confirmed.error();
      if (!confirmed) note_ = "stopped before it was timed a second time";
      if (confirmed && !*confirmed) continue;
      taken = k;
      break;
    }
    std::vector<Valued> others;
    for (size_t k = 0; k < candidates.size(); ++k)
      if (k != taken) others.push_back({goal_->worth(candidates[k].graph), timings[k + 1]});
    Timing after = taken ? timings[*taken + 1] : original;
    auto choice = taken ? made(std::move(candidates[*taken])) : kept(imported_.graph);
    if (!choice) return choice;
    choice->verbatim = !taken && baseline() == nullptr;
    choice->others = std::move(others);
    choice->before.measured = original;
    choice->after.measured = after;
    choice->measured_with = to_string(measurer_->key);
    return choice;
  }

  /// Of the original and the candidates; with --measurements of those that are left.
  Result<std::vector<Timing>> time_candidates(std::vector<Candidate>& candidates) {
    const bool few = flags_.measurements > 0 && chosen_.profiled && !candidates.empty();
    if (!few) {
      std::vector<const Graph*> graphs{baseline()};
      for (const Candidate& c : candidates) graphs.push_back(&c.graph);
      return time_graphs(graphs);
    }
    const double seconds = seconds_of_timing() / flags_.measurements;
    auto beside = [&](const Candidate& c) { return time_graphs({baseline(), &c.graph}, seconds); };
    ASSIGN_OR_RETURN(auto done, time_actively(imported_.graph, candidates, *chosen_.profiled,
                                              flags_.measurements, beside, stop_));
    note_ = fmt::format("{} measurements of {} graphs", done.measurements, candidates.size());
    return std::move(done.timings);
  }

  /// Time, or what is asked for in its place, as a part of the original's.
  double score(const Candidate& c, const Timing& t, const Timing& original) const {
    if (t.runs == 0) return INFINITY;  // it does not run there
    cost::Worth w = goal_->worth(c.graph);
    w.microseconds = goal_->original().microseconds * t.microseconds / original.microseconds;
    return goal_->price(w);
  }

  /// Times the two again: a candidate that was the fastest of several may be so by luck.
  Result<bool> confirm(const Candidate& c, Timing& original, Timing& candidate) {
    if (flags_.objective == "memory") return true;
    if (flags_.objective == "latency" && !faster(candidate, original)) return false;
    ASSIGN_OR_RETURN(auto again, time_graphs({baseline(), &c.graph}));
    original = again[0];
    candidate = again[1];
    return flags_.objective == "latency" ? faster(candidate, original)
                                         : score(c, candidate, original) < 1;
  }
  /// What candidates are timed against: the file as it came, where that can run.
  const Graph* baseline() const {
    return measurer_->files && !imported_.file.empty() ? nullptr : &imported_.graph;
  }
  Result<std::vector<Timing>> time_graphs(const std::vector<const Graph*>& graphs) {
    return time_graphs(graphs, seconds_of_timing());
  }
  Result<std::vector<Timing>> time_graphs(const std::vector<const Graph*>& graphs, double seconds) {
    return time_models(*measurer_, {&imported_, 1}, graphs, {seconds, stop_, options_.verbosity});
  }
  /// Stopped before anything was timed.
  Result<Choice> by_prediction(std::vector<Candidate> candidates) {
    note_ = "stopped before the candidates were timed: chosen by predicted cost";
    return by_price(std::move(candidates));
  }

  Result<Choice> made(Candidate&& c) {
    Choice choice = described(c.graph);
    choice.graph = std::move(c.graph);
    choice.search = std::move(c.search);
    choice.folded = std::move(c.folded);
    return choice;
  }
  Result<Choice> kept(Graph g) {
    Choice choice = described(g);
    choice.graph = std::move(g);
    choice.kept = true;
    choice.search = searches_;
    double sum = cost::graph_cost(goal_->search_model(), imported_.graph).total.microseconds;
    choice.search.cost_before = choice.search.cost_after = sum;
    return choice;
  }
  /// The original as it is, of which all is known.
  Choice unchanged() const {
    Choice choice;
    choice.graph = imported_.graph;
    choice.kept = true;
    choice.before.predicted = choice.after.predicted = goal_->original();
    choice.sums[0] = choice.sums[1] = cost::graph_cost(*chosen_.model, imported_.graph);
    choice.search.cost_before = choice.search.cost_after = choice.sums[0].total.microseconds;
    if (stop_.requested())
      choice.search.stop = rewrite::StopReason::Interrupted;
    else if (stop_.must_end())
      choice.search.stop = rewrite::StopReason::Time;
    describe_model(choice);
    return choice;
  }
  Choice described(const Graph& g) const {
    Choice choice;
    choice.before.predicted = goal_->original();
    choice.after.predicted = goal_->worth(g);
    choice.sums[0] = cost::graph_cost(*chosen_.model, imported_.graph);
    choice.sums[1] = cost::graph_cost(*chosen_.model, g);
    describe_model(choice);
    return choice;
  }
  void describe_model(Choice& choice) const {
    choice.model = chosen_.model->description();
    choice.profile = used_profile(chosen_);
    choice.passed_over = chosen_.passed_over;
    choice.note = note_;
  }

  const OptimizeFlags& flags_;
  const io::Imported& imported_;
  const rewrite::RuleIndex& rules_;
  const rewrite::SearchOptions& options_;
  int64_t growth_;
  const Stop& stop_;
  const cost::Runtime* target_;  // nullptr: any
  cost::Roofline roofline_;
  ChosenCost chosen_;
  cost::Profile profile_;
  bool kept_is_quiet_ = false;  // what other runs use of the same: no noisy timings are added to it
  std::optional<Measurer> measurer_;
  std::string note_;
  std::optional<cost::Objective> goal_;
  rewrite::SearchReport searches_;  // of the last round, all together
};

}  // namespace

Result<Choice> choose(const OptimizeFlags& flags, const io::Imported& imported,
                      const rewrite::RuleIndex& rules, const rewrite::SearchOptions& options,
                      int64_t growth, const Stop& stop) {
  return Chooser(flags, imported, rules, options, growth, stop).run();
}

void keep_original(Choice& choice, const Graph& original) {
  choice.graph = original;
  choice.kept = true;
  choice.after = choice.before;
  choice.sums[1] = choice.sums[0];
  choice.search.steps.clear();
  choice.folded.clear();
  choice.search.applied.clear();
  choice.search.improvements.clear();
  choice.search.cost_after = choice.search.cost_before;
}

}  // namespace regraft::cli
