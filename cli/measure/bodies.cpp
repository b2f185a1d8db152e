#include "cli/measure/bodies.h"

#include <algorithm>
#include <cmath>

#include "cli/support/float_check.h"
#include "cli/support/report.h"
#include "io/bodies/bodies.h"

namespace regraft::cli {
namespace {

int64_t node_count(const io::Summary& s) {
  int64_t count = 0;
  for (const auto& [type, n] : s.operators) count += n;
  return count;
}

class BodyOptimiser {
 public:
  BodyOptimiser(const Shared& shared, const Compare& compare, int64_t nodes)
      : shared_(shared),
        flags_(shared.flags),
        compare_(compare),
        nodes_left_(shared.nodes),
        main_nodes_(nodes) {
    flags_.measure.clear();
    flags_.no_measure = true;
  }

  /// `within`: the bodies that the model is itself in, for messages.
  Result<OptimisedBodies> run(const io::Imported& model, const std::string& within,
                              const Stop& stop) {
    OptimisedBodies all{model, {}, {}, {}};
    std::vector<io::NewBody> made;
    for (const io::BodyPlace& place : io::body_places(model)) {
      auto body = io::body_model(model, place);
      if (!body || stop.must_end()) continue;  // it stays as it is
      std::string where = io::describe(model, place) + within;
      ASSIGN_OR_RETURN(OptimisedBodies inner, run(*body, ", in the " + where, stop));
      std::ranges::move(inner.outcomes, std::back_inserter(all.outcomes));
      all.differs = inner.differs;
      if (!all.differs.empty()) return all;
      BodyOutcome outcome;
      outcome.where = where;
      certify::BodyDerivation derivation{place, {{}, {}, std::move(inner.derivations)}};
      io::NewBody result{place, std::move(inner.base), {}};
      RETURN_IF_ERROR(optimise(*body, result, outcome, derivation.done, stop));
      if (outcome.check && !outcome.check->agrees)
        all.differs = "the " + where + ": " + describe(*outcome.check);
      if (!all.differs.empty()) return all;
      auto same = io::is_same_body(model, result);
      outcome.changed = same && !*same;
      if (!same) outcome.kept = same.error().message;  // no form in ONNX: it stays as it is
      all.outcomes.push_back(std::move(outcome));
      if (!same || *same) continue;
      made.push_back(std::move(result));
      all.derivations.push_back(std::move(derivation));
    }
    if (made.empty()) return all;
    ASSIGN_OR_RETURN(all.base, io::with_bodies(model, made));
    return all;
  }

 private:
  /// Finds the graph of `result`, and checks it against the graph of its base.
  Status optimise(const io::Imported& body, io::NewBody& result, BodyOutcome& outcome,
                  certify::Derivation& done, const Stop& stop) {
    outcome.nodes_before = node_count(io::summarise(body));
    const double left = stop.seconds_left();
    const auto nodes = static_cast<double>(outcome.nodes_before);
    const double share = nodes / std::max(nodes, static_cast<double>(nodes_left_));
    const Stop part(stop, std::isinf(left) ? 0 : left * (1 - share));
    nodes_left_ = std::max(main_nodes_, nodes_left_ - outcome.nodes_before);
    auto options = shared_.options;
    options.budget = part_of(shared_, options.budget, outcome.nodes_before);
    auto growth = static_cast<int64_t>(
        part_of(shared_, static_cast<uint64_t>(shared_.growth), outcome.nodes_before));
    const Stop searching(part, std::isinf(left) ? 0 : part.seconds_left() / 2);
    ASSIGN_OR_RETURN(Choice choice,
                     choose(flags_, result.base, shared_.rules, options, growth, searching));
    RETURN_IF_ERROR(check(result, choice, outcome, part));
    outcome.nodes_after = node_count(io::summarise(result.base, choice.graph));
    outcome.cost_before = choice.before.predicted.microseconds;
    outcome.cost_after = choice.after.predicted.microseconds;
    outcome.applied = choice.search.applied;
    if (!choice.kept) done.steps = std::move(choice.search.steps);
    done.folded = std::move(choice.folded);
    result.graph = std::move(choice.graph);
    return {};
  }

  /// What could not be compared at all is not the result.
  Status check(const io::NewBody& result, Choice& choice, BodyOutcome& outcome, const Stop& stop) {
    if (flags_.check == 0 || (choice.kept && choice.folded.empty())) return {};
    auto report = compare_(result.base.graph, choice.graph, stop);
    if (!report) return error("the " + outcome.where + ": " + report.error().message);
    std::string missing = rewrite::incomplete(*report);
    if (report->agrees && report->runs == 0 && !missing.empty()) {
      outcome.kept = "nothing could be compared: " + missing;
      keep_original(choice, result.base.graph);
    } else if (report->agrees && !missing.empty()) {
      tell("warning: the check of the " + outcome.where + " is incomplete: " + missing);
    }
    outcome.check = *std::move(report);
    return {};
  }

  const Shared& shared_;
  OptimizeFlags flags_;
  const Compare& compare_;
  int64_t nodes_left_, main_nodes_;
};

}  // namespace

uint64_t part_of(const Shared& shared, uint64_t whole, int64_t nodes) {
  if (nodes >= shared.nodes) return whole;
  auto share = static_cast<double>(nodes) / static_cast<double>(shared.nodes);
  return std::max<uint64_t>(static_cast<uint64_t>(share * static_cast<double>(whole)), 1);
}

Result<OptimisedBodies> optimise_bodies(const Shared& shared, const io::Imported& model,
                                        const Compare& compare, const Stop& stop) {
  int64_t main_nodes = shared.nodes - io::nodes_in_bodies(model);
  return BodyOptimiser(shared, compare, main_nodes).run(model, "", stop);
}

}  // namespace regraft::cli
