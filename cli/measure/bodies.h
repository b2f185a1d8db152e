#pragma once
// The bodies of If, Loop and Scan, each optimised as a graph of its own.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "certify/certificate.h"
#include "cli/measure/choose.h"
#include "rewrite/compare/compare.h"

namespace regraft::cli {

/// What was done to a body.
struct BodyOutcome {
  std::string where;     ///< as io::describe says, with the bodies that it is in
  bool changed = false;  ///< it is written otherwise than it was
  std::string kept;      ///< why what was found is not the result; empty: it is
  int64_t nodes_before = 0, nodes_after = 0;  ///< without those of bodies inside of it
  double cost_before = 0, cost_after = 0;     ///< predicted, of one run; microseconds
  std::map<std::string, int64_t> applied;     ///< rules, by name
  std::optional<rewrite::CheckReport> check;  ///< against the body that it was, if made
};

struct OptimisedBodies {
  io::Imported base;                                 ///< the model with the new bodies
  std::vector<certify::BodyDerivation> derivations;  ///< of those that are written otherwise
  std::vector<BodyOutcome> outcomes;                 ///< inner ones before those that they are in
  std::string differs;  ///< the check of a body failed: which one and how; empty: it did not
};

/// Compares two graphs as flags ask for, until it must stop.
using Compare =
    std::function<Result<rewrite::CheckReport>(const Graph&, const Graph&, const Stop&)>;

/// What all graphs of a model share: its main graph and its bodies, by their nodes.
struct Shared {
  const OptimizeFlags& flags;
  const rewrite::RuleIndex& rules;
  rewrite::SearchOptions options;  ///< with the whole budget
  int64_t growth = 0;              ///< bytes that made constants may add
  int64_t nodes = 0;               ///< of all graphs
};
/// The part of the whole for a graph of so many nodes; all of it where there is no other graph.
uint64_t part_of(const Shared& shared, uint64_t whole, int64_t nodes);

/// Optimises the bodies, inner ones first, by predicted cost (also with --measure). Each result is
/// compared with the body that it was made from, and dropped where nothing could be compared. No
/// bodies: the model as it is. An Error as for choose().
Result<OptimisedBodies> optimise_bodies(const Shared& shared, const io::Imported& model,
                                        const Compare& compare, const Stop& stop);

}  // namespace regraft::cli
