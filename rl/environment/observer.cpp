#include "rl/environment/observer.h"

#include <algorithm>

namespace regraft::rl {

using rewrite::LiveGraph;
using rewrite::Match;

namespace {

// Instead of numbers of matches that were shown, where they changed.
constexpr int32_t kGone = -1;
int32_t with_other_readers(int32_t number) { return kGone - 1 - number; }

/// All of a row but its features.
template <class Rows>
void add_place(Rows& to, int32_t number, const Match& m, const Describer& describer) {
  to.numbers.push_back(number);
  to.rules.push_back(m.rule);
  to.cost_changes.push_back(m.cost_change);
  to.ids.insert(to.ids.end(), m.nodes.begin(), m.nodes.end());
  to.inside.push_back(static_cast<int32_t>(m.nodes.size()));
  describer.for_near(m, [&](int32_t id) { to.ids.push_back(id); });
  to.first.push_back(static_cast<int32_t>(to.ids.size()));
}

}  // namespace

const Observation& Observer::observe(const Standing& p, const std::vector<int32_t>& matches) {
  catch_up();
  show_nodes();
  show_edges();
  show_matches(matches);
  o_.global = describer_.global(p, totals_);
  return o_;
}

void Observer::catch_up() {
  uint64_t known = std::exchange(turn_, engine_.turn());
  if (known == turn_) return;
  if (known + 1 == turn_ && engine_.moved())
    follow_move();
  else
    start_anew();
}

void Observer::make_room() {
  auto bound = static_cast<size_t>(engine_.graph().id_bound());
  rows_.resize(bound, -1);
  known_.resize(std::max(bound, known_.size()));
  touched_.resize(bound, 0);
}

void Observer::start_anew() {
  nodes_.clear();
  rows_.clear();
  touched_.clear();
  make_room();
  for (int32_t id = 0; id < engine_.graph().id_bound(); ++id) {
    if (!describer_.is_node(id)) continue;
    nodes_.push_back(id);
    look_at(id);
  }
  shown_.clear();
}

void Observer::follow_move() {
  const LiveGraph& g = engine_.graph();
  const rewrite::Change& c = engine_.last_change();
  make_room();
  for (const auto* gone : {&c.removed, &c.constants})
    for (int32_t id : *gone) rows_[static_cast<size_t>(id)] = -1;
  std::erase_if(nodes_, [&](int32_t id) { return row(id) < 0; });
  for (int32_t id : c.fresh) {
    if (row(id) >= 0 || !describer_.is_node(id)) continue;
    rows_[static_cast<size_t>(id)] = 0;  // until it is shown
    nodes_.push_back(id);
  }
  std::ranges::sort(nodes_);
  auto look = [&](int32_t id) {
    if (row(id) >= 0) look_at(id);
  };
  std::ranges::for_each(c.fresh, look);
  std::ranges::for_each(c.redirected, look);
  for (int32_t id : c.constants) g.for_uses(id, [&](int32_t user, int32_t) { look(user); });
  for (int32_t id : c.counted) touched_[static_cast<size_t>(id)] = 1;
  mark_changed();
  for (int32_t id : c.counted) touched_[static_cast<size_t>(id)] = 0;
}

/// Matches that were priced anew are described anew; of others, whose readers changed, these are.
void Observer::mark_changed() {
  changed_.clear();
  for (int32_t number : engine_.fresh_matches()) changed_.insert(number);
  for (size_t k = 0; k < shown_.numbers.size(); ++k) {
    auto inside =
        std::span(shown_.ids)
            .subspan(static_cast<size_t>(shown_.first[k]), static_cast<size_t>(shown_.inside[k]));
    bool touched = std::ranges::any_of(
        inside, [&](int32_t id) { return touched_[static_cast<size_t>(id)] != 0; });
    int32_t& number = shown_.numbers[k];
    if (changed_.contains(number))
      number = kGone;
    else if (touched)
      number = with_other_readers(number);
  }
}

void Observer::look_at(int32_t id) {
  Node& n = known_[static_cast<size_t>(id)];
  n.op = describer_.op(id);
  n.fixed = &describer_.fixed(id);
  n.edges.clear();
  const auto& inputs = engine_.graph().slot(id).inputs;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (describer_.is_node(inputs[k].node))
      n.edges.push_back({inputs[k].node, describer_.edge(id, static_cast<int32_t>(k))});
}

void Observer::Matches::clear() {
  numbers.clear();
  rules.clear();
  features.clear();
  cost_changes.clear();
  first.assign(1, 0);
  inside.clear();
  ids.clear();
}

void Observer::Matches::add_row(int32_t number, const Match& m, const Describer& describer) {
  auto row = describer.match(m);
  features.insert(features.end(), row.begin(), row.end());
  add_place(*this, number, m, describer);
}

void Observer::Matches::add_rows(const Matches& from, size_t at, size_t count) {
  auto add = [](auto& to, const auto& list, size_t begin, size_t n) {
    auto it = list.begin() + static_cast<std::ptrdiff_t>(begin);
    to.insert(to.end(), it, it + static_cast<std::ptrdiff_t>(n));
  };
  add(numbers, from.numbers, at, count);
  add(rules, from.rules, at, count);
  add(features, from.features, at * kMatchFeatures, count * kMatchFeatures);
  add(cost_changes, from.cost_changes, at, count);
  add(inside, from.inside, at, count);
  int32_t begin = from.first[at], shift = first.back() - begin;
  add(ids, from.ids, static_cast<size_t>(begin),
      static_cast<size_t>(from.first[at + count] - begin));
  for (size_t k = at + 1; k <= at + count; ++k) first.push_back(from.first[k] + shift);
}

/// What was shown before and did not change stays in the same order, so that it is found in runs.
void Observer::list_matches(const std::vector<int32_t>& matches) {
  std::swap(shown_, before_);
  shown_.clear();
  const auto& old = before_.numbers;
  size_t next = 0;
  for (size_t k = 0; k < matches.size();) {
    int32_t number = matches[k], changed = with_other_readers(number);
    while (next < old.size() && old[next] == kGone) ++next;
    size_t at = next;
    while (at < old.size() && old[at] != number && old[at] != changed) ++at;
    if (at == old.size()) {
      shown_.add_row(number, engine_.match(number), describer_);
      ++k;
      continue;
    }
    size_t run = 0;
    while (k + run < matches.size() && at + run < old.size() && old[at + run] == matches[k + run])
      ++run;
    if (run > 0) {
      shown_.add_rows(before_, at, run);
    } else {
      const float* known = &before_.features[at * kMatchFeatures];
      shown_.features.insert(shown_.features.end(), known, known + kMatchFeatures);
      add_place(shown_, number, engine_.match(number), describer_);
      run = 1;
    }
    k += run;
    next = at + run;
  }
}

void Observer::show_nodes() {
  size_t n = nodes_.size();
  o_.nodes = static_cast<int32_t>(n);
  o_.op.resize(n);
  o_.node.resize(n * kNodeFeatures);
  float* to = o_.node.data();
  for (size_t k = 0; k < n; ++k, to += kNodeFeatures) {
    int32_t id = nodes_[k];
    rows_[static_cast<size_t>(id)] = static_cast<int32_t>(k);
    const Node& node = known_[static_cast<size_t>(id)];
    o_.op[k] = node.op;
    std::ranges::copy(*node.fixed, to);
    to[kNodeFeatures - 1] = describer_.readers(id);
  }
}

void Observer::show_edges() {
  o_.source.clear();
  o_.target.clear();
  o_.edge.clear();
  for (size_t k = 0; k < nodes_.size(); ++k) {
    for (const Edge& e : known_[static_cast<size_t>(nodes_[k])].edges) {
      if (row(e.source) < 0) continue;
      o_.source.push_back(row(e.source));
      o_.target.push_back(static_cast<int32_t>(k));
      o_.edge.insert(o_.edge.end(), e.features.begin(), e.features.end());
    }
  }
}

void Observer::show_matches(const std::vector<int32_t>& matches) {
  list_matches(matches);
  o_.rule = shown_.rules;
  o_.match = shown_.features;
  size_t n = matches.size();
  o_.inside_first.resize(n + 1);
  o_.near_first.resize(n + 1);
  o_.inside.resize(shown_.ids.size() + 1);
  o_.near.resize(shown_.ids.size() + 1);
  int32_t *inside = o_.inside.data(), *near = o_.near.data();
  const int32_t* id = shown_.ids.data();
  auto add_until = [&](const int32_t* end, int32_t* to) {
    for (; id != end; ++id) {
      *to = row(*id);
      to += *to >= 0;  // else it is no node, and the next takes its place
    }
    return to;
  };
  totals_.clear();
  for (size_t k = 0; k < n; ++k) {
    o_.inside_first[k] = static_cast<int32_t>(inside - o_.inside.data());
    o_.near_first[k] = static_cast<int32_t>(near - o_.near.data());
    inside = add_until(id + shown_.inside[k], inside);
    near = add_until(shown_.ids.data() + shown_.first[k + 1], near);
    totals_.add(shown_.rules[k], shown_.cost_changes[k]);
  }
  o_.inside_first[n] = static_cast<int32_t>(inside - o_.inside.data());
  o_.near_first[n] = static_cast<int32_t>(near - o_.near.data());
  o_.inside.resize(static_cast<size_t>(o_.inside_first[n]));
  o_.near.resize(static_cast<size_t>(o_.near_first[n]));
}

}  // namespace regraft::rl
