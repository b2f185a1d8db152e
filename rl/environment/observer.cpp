#include "rl/environment/observer.h"

#include <algorithm>

namespace regraft::rl {

using rewrite::LiveGraph;
using rewrite::Match;

const Observation& Observer::observe(const Standing& p, const std::vector<int32_t>& matches) {
  catch_up();
  ++shown_;
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
  free_.clear();
  for (size_t k = 0; k < cards_.size(); ++k) {
    cards_[k].number = -1;
    free_.push_back(static_cast<int32_t>(k));
  }
  cards_by_number_.clear();
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
  for (int32_t id : c.counted) touched_[static_cast<size_t>(id)] = turn_;
  for (int32_t number : engine_.fresh_matches()) forget(number);
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

void Observer::forget(int32_t number) {
  auto at = static_cast<size_t>(number);
  if (at >= cards_by_number_.size() || cards_by_number_[at] < 0) return;
  int32_t card = std::exchange(cards_by_number_[at], -1);
  cards_[static_cast<size_t>(card)].number = -1;
  free_.push_back(card);
}

int32_t Observer::card_of(int32_t number) {
  auto at = static_cast<size_t>(number);
  if (at >= cards_by_number_.size()) cards_by_number_.resize(2 * at + 64, -1);
  int32_t& card = cards_by_number_[at];
  if (card >= 0) return card;
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(cards_.size()));
    cards_.emplace_back();
  }
  card = free_.back();
  free_.pop_back();
  Card& c = cards_[static_cast<size_t>(card)];
  const Match& m = engine_.match(number);
  c.number = number;
  c.shown = 0;
  c.rule = m.rule;
  c.cost_change = m.cost_change;
  c.features = describer_.match(m);
  c.ids = m.nodes;
  c.inside = m.nodes.size();
  look_around(c);
  return card;
}

void Observer::look_around(Card& c) {
  c.ids.resize(c.inside);
  describer_.for_near(engine_.match(c.number), [&](int32_t id) { c.ids.push_back(id); });
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
  totals_.clear();
  size_t n = matches.size();
  o_.rule.resize(n);
  o_.match.resize(n * kMatchFeatures);
  o_.inside_first.resize(n + 1);
  o_.near_first.resize(n + 1);
  o_.inside.clear();
  o_.near.clear();
  auto touched = [&](int32_t id) { return touched_[static_cast<size_t>(id)] == turn_; };
  for (size_t k = 0; k < n; ++k) {
    Card& c = cards_[static_cast<size_t>(card_of(matches[k]))];
    auto inside = std::span(c.ids).first(c.inside);
    if (c.shown + 1 == shown_ && std::ranges::any_of(inside, touched)) look_around(c);
    c.shown = shown_;
    totals_.add(c.rule, c.cost_change);
    o_.rule[k] = c.rule;
    std::ranges::copy(c.features, &o_.match[k * kMatchFeatures]);
    o_.inside_first[k] = static_cast<int32_t>(o_.inside.size());
    o_.near_first[k] = static_cast<int32_t>(o_.near.size());
    for (size_t j = 0; j < c.ids.size(); ++j)
      if (int32_t r = row(c.ids[j]); r >= 0) (j < c.inside ? o_.inside : o_.near).push_back(r);
  }
  o_.inside_first[n] = static_cast<int32_t>(o_.inside.size());
  o_.near_first[n] = static_cast<int32_t>(o_.near.size());
  for (size_t k = 0; k < cards_.size(); ++k)  // what is not on show is not kept up to date
    if (cards_[k].number >= 0 && cards_[k].shown != shown_) forget(cards_[k].number);
}

}  // namespace regraft::rl
