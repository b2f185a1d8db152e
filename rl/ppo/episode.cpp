#include "rl/ppo/episode.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "rl/files/move_text.h"

namespace regraft::rl {
namespace {

void write(ByteWriter& out, const Observation& o) {
  out.number(o.nodes);
  for (const auto* list :
       {&o.op, &o.source, &o.target, &o.rule, &o.inside_first, &o.inside, &o.near_first, &o.near})
    out.numbers(*list);
  for (const auto* list : {&o.node, &o.edge, &o.match}) out.numbers(*list);
  for (float x : o.global) out.number(x);
}

Observation read_observation(ByteReader& in) {
  Observation o;
  o.nodes = in.number<int32_t>();
  for (auto* list :
       {&o.op, &o.source, &o.target, &o.rule, &o.inside_first, &o.inside, &o.near_first, &o.near})
    *list = in.numbers<int32_t>();
  for (auto* list : {&o.node, &o.edge, &o.match}) *list = in.numbers<float>();
  for (float& x : o.global) x = in.number<float>();
  return o;
}

bool all_below(const std::vector<int32_t>& numbers, size_t end) {
  return std::ranges::all_of(numbers,
                             [&](int32_t n) { return n >= 0 && static_cast<size_t>(n) < end; });
}

/// Where the parts of a list begin, and its end.
bool are_bounds(const std::vector<int32_t>& first, size_t parts, size_t end) {
  return first.size() == parts + 1 && first.front() == 0 && std::ranges::is_sorted(first) &&
         static_cast<size_t>(first.back()) == end;
}

bool is_consistent(const Observation& o) {
  size_t nodes = o.op.size();
  bool lists = o.nodes >= 0 && static_cast<size_t>(o.nodes) == nodes &&
               o.node.size() == nodes * kNodeFeatures && o.source.size() == o.target.size() &&
               o.edge.size() == o.edges() * kEdgeFeatures &&
               o.match.size() == o.matches() * kMatchFeatures;
  return lists && all_below(o.op, op_names().size()) && all_below(o.source, nodes) &&
         all_below(o.target, nodes) && all_below(o.inside, nodes) && all_below(o.near, nodes) &&
         are_bounds(o.inside_first, o.matches(), o.inside.size()) &&
         are_bounds(o.near_first, o.matches(), o.near.size());
}

/// The arrays have the lengths that each other says, and nothing points outside.
bool is_consistent(const PpoEpisode& e) {
  size_t steps = e.actions.size();
  bool lists = e.observations.size() == steps && e.log_probs.size() == steps &&
               e.rewards.size() == steps && e.values.size() == steps;
  for (size_t k = 0; lists && k < steps; ++k) {
    int32_t action = e.actions[k];  // the last one ends the episode
    lists = is_consistent(e.observations[k]) && action >= 0 &&
            static_cast<size_t>(action) <= e.observations[k].matches();
  }
  return lists;
}

}  // namespace

std::string to_bytes(const PpoEpisode& e) {
  ByteWriter out;
  out.number<uint64_t>(e.graph).number(e.started).number(e.best).number(e.original);
  out.number<uint64_t>(e.observations.size());
  for (const Observation& o : e.observations) write(out, o);
  out.numbers(e.actions).numbers(e.log_probs).numbers(e.rewards).numbers(e.values);
  out.number(e.bootstrap).number(e.total).number<uint64_t>(e.overflow);
  out.text(to_text(e.best, e.cheapest));
  return out.finish();
}

Result<PpoEpisode> episode_of(std::string_view bytes) {
  ByteReader in(bytes);
  PpoEpisode e;
  e.graph = in.number<uint64_t>();
  e.started = in.number<double>();
  e.best = in.number<double>();
  e.original = in.number<double>();
  e.observations.resize(in.count(sizeof(Observation::global)));
  for (Observation& o : e.observations) o = read_observation(in);
  e.actions = in.numbers<int32_t>();
  e.log_probs = in.numbers<float>();
  e.rewards = in.numbers<float>();
  e.values = in.numbers<float>();
  e.bootstrap = in.number<double>();
  e.total = in.number<double>();
  e.overflow = in.number<uint64_t>();
  std::string moves(in.text());
  if (!in.at_end() || !is_consistent(e)) return error("no episode of a training");
  ASSIGN_OR_RETURN(auto read, moves_of_text(moves));
  e.cheapest = std::move(read.second);
  return e;
}

}  // namespace regraft::rl
