#include "rl/network/follow.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "rewrite/search/reporter.h"

namespace regraft::rl {

using nn::Indices;
using nn::Var;
using rewrite::LiveGraph;
using rewrite::Match;

namespace {

/// Makes room for row `row`, in steps.
void reserve_row(nn::Matrix<float>& rows, int64_t row, int64_t columns) {
  if (row < rows.rows()) return;
  nn::Matrix<float> larger = nn::Matrix<float>::Zero(std::max<int64_t>(64, 2 * row), columns);
  if (rows.rows() > 0) larger.topRows(rows.rows()) = rows;
  rows = std::move(larger);
}

void erase(std::vector<int32_t>& list, int32_t value) {
  auto at = std::find(list.begin(), list.end(), value);
  *at = list.back();
  list.pop_back();
}

}  // namespace

bool Follower::can_follow(const Network& network) {
  return !network.options().global_messages && !network.options().factorised;
}

std::shared_ptr<const Follower::Rows> Follower::encoded(const Network& network,
                                                        const RuleTable& rules) {
  nn::Tape<float> tape(network.parameters(), nullptr);
  std::vector<int32_t> all(rules.rows.size());
  std::iota(all.begin(), all.end(), 0);
  return std::make_shared<const Rows>(
      tape.value(network.rule_terms(tape, network.encode_rules(tape, all, rules))));
}

Follower::Follower(const Network& network, std::shared_ptr<const Rows> rules, Environment& env)
    : network_(network),
      env_(env),
      engine_(env.engine()),
      describer_(engine_, env.original()),
      tape_(network.parameters(), nullptr),
      rules_(std::move(rules)),
      node_rows_(network.rounds_.size() + 1),
      edge_rows_(network.rounds_.size() + 1),
      best_(std::min(env.best(), env.engine().cost())) {
  CHECK(can_follow(network));
  const LiveGraph& g = engine_.graph();
  ++round_;
  for (int32_t id = 0; id < g.id_bound(); ++id) refresh(id);
  for (int32_t id = 0; id < g.id_bound(); ++id)
    if (row_of(id) >= 0) set_edges(row_of(id));
  propagate();
}

int32_t Follower::add_node(int32_t id) {
  int32_t row;
  if (free_nodes_.empty()) {
    row = static_cast<int32_t>(nodes_.size());
    nodes_.emplace_back();
    changed_step_.push_back(0);
    int64_t w = network_.options().width;
    for (Rows& rows : node_rows_) reserve_row(rows, row, w);
    reserve_row(final_, row, w);
  } else {
    row = free_nodes_.back();
    free_nodes_.pop_back();
  }
  nodes_[static_cast<size_t>(row)].id = id;
  if (static_cast<size_t>(id) >= row_by_id_.size())
    row_by_id_.resize(static_cast<size_t>(id) + 1, -1);
  row_by_id_[static_cast<size_t>(id)] = row;
  return row;
}

void Follower::drop_edge(int32_t edge) {
  Edge& e = edges_[static_cast<size_t>(edge)];
  erase(nodes_[static_cast<size_t>(e.source)].out, edge);
  erase(nodes_[static_cast<size_t>(e.target)].in, edge);
  touch(e.source);
  touch(e.target);
  e = {};
  free_edges_.push_back(edge);
}

void Follower::drop_node(int32_t row) {
  Node& n = nodes_[static_cast<size_t>(row)];
  while (!n.in.empty()) drop_edge(n.in.back());
  while (!n.out.empty()) drop_edge(n.out.back());
  row_by_id_[static_cast<size_t>(n.id)] = -1;
  n = {};
  free_nodes_.push_back(row);
}

void Follower::touch(int32_t row) { touched_.push_back(row); }

void Follower::mark(int32_t row) {
  if (std::exchange(nodes_[static_cast<size_t>(row)].round, round_) != round_)
    changed_nodes_.push_back(row);
}

/// The node's own features, or that it is one no more.
void Follower::refresh(int32_t id) {
  int32_t row = row_of(id);
  if (!describer_.is_node(id)) {
    if (row >= 0) drop_node(row);
    return;
  }
  bool added = row < 0;
  if (added) row = add_node(id);
  auto features = describer_.node(id);
  auto& known = nodes_[static_cast<size_t>(row)].features;
  if (!added && known == features) return;
  known = features;
  mark(row);
}

void Follower::set_edges(int32_t row) {
  const LiveGraph& g = engine_.graph();
  while (!nodes_[static_cast<size_t>(row)].in.empty())
    drop_edge(nodes_[static_cast<size_t>(row)].in.back());
  const auto& inputs = g.slot(nodes_[static_cast<size_t>(row)].id).inputs;
  for (size_t k = 0; k < inputs.size(); ++k) {
    int32_t source = inputs[k].node < 0 ? -1 : row_of(inputs[k].node);
    if (source < 0) continue;
    if (free_edges_.empty()) {
      free_edges_.push_back(static_cast<int32_t>(edges_.size()));
      edges_.emplace_back();
      for (Rows& rows : edge_rows_) reserve_row(rows, free_edges_.back(), network_.options().width);
    }
    int32_t edge = free_edges_.back();
    free_edges_.pop_back();
    edges_[static_cast<size_t>(edge)] = {source, row, static_cast<int32_t>(k), round_};
    nodes_[static_cast<size_t>(source)].out.push_back(edge);
    nodes_[static_cast<size_t>(row)].in.push_back(edge);
    changed_edges_.push_back(edge);
    touch(source);
    touch(row);
  }
}

Var Follower::gather(const Rows& from, const std::vector<int32_t>& rows) {
  Rows m(static_cast<int64_t>(rows.size()), from.cols());
  for (size_t k = 0; k < rows.size(); ++k) m.row(static_cast<int64_t>(k)) = from.row(rows[k]);
  return tape_.constant(std::move(m));
}

void Follower::scatter(const Rows& values, const std::vector<int32_t>& rows, Rows& to) {
  for (size_t k = 0; k < rows.size(); ++k) to.row(rows[k]) = values.row(static_cast<int64_t>(k));
}

void Follower::first_layer() {
  tape_.reset();
  std::vector<int32_t> op;
  Rows features(static_cast<int64_t>(changed_nodes_.size()), kNodeFeatures);
  for (size_t k = 0; k < changed_nodes_.size(); ++k) {
    const Node& n = nodes_[static_cast<size_t>(changed_nodes_[k])];
    op.push_back(describer_.op(n.id));
    std::copy(n.features.begin(), n.features.end(), features.row(static_cast<int64_t>(k)).data());
  }
  if (!op.empty())
    scatter(tape_.value(network_.first_nodes(tape_, tape_.constant(std::move(features)), op)),
            changed_nodes_, node_rows_[0]);
  if (changed_edges_.empty()) return;
  Rows known(static_cast<int64_t>(changed_edges_.size()), kEdgeFeatures);
  for (size_t k = 0; k < changed_edges_.size(); ++k) {
    const Edge& edge = edges_[static_cast<size_t>(changed_edges_[k])];
    auto row = describer_.edge(nodes_[static_cast<size_t>(edge.target)].id, edge.operand);
    std::ranges::copy(row, known.row(static_cast<int64_t>(k)).data());
  }
  scatter(tape_.value(network_.edges_in_(tape_, tape_.constant(std::move(known)))), changed_edges_,
          edge_rows_[0]);
}

void Follower::edge_layer(size_t r) {
  for (int32_t n : changed_nodes_) {
    const Node& node = nodes_[static_cast<size_t>(n)];
    for (const auto* list : {&node.in, &node.out})
      for (int32_t e : *list)
        if (std::exchange(edges_[static_cast<size_t>(e)].round, round_) != round_)
          changed_edges_.push_back(e);
  }
  if (changed_edges_.empty()) return;
  tape_.reset();
  std::vector<int32_t> sources, targets;
  for (int32_t e : changed_edges_) {
    sources.push_back(edges_[static_cast<size_t>(e)].source);
    targets.push_back(edges_[static_cast<size_t>(e)].target);
  }
  Var next = network_.edge_step(tape_, network_.rounds_[r], gather(edge_rows_[r], changed_edges_),
                                tape_.rms_norm(gather(node_rows_[r], sources)),
                                tape_.rms_norm(gather(node_rows_[r], targets)), {});
  scatter(tape_.value(next), changed_edges_, edge_rows_[r + 1]);
}

void Follower::node_layer(size_t r) {
  for (int32_t e : changed_edges_) {
    mark(edges_[static_cast<size_t>(e)].source);
    mark(edges_[static_cast<size_t>(e)].target);
  }
  for (int32_t n : touched_)
    if (nodes_[static_cast<size_t>(n)].id >= 0) mark(n);
  if (changed_nodes_.empty()) return;
  tape_.reset();
  auto count = static_cast<int64_t>(changed_nodes_.size());
  Rows in = Rows::Zero(count, network_.options().width), out = in;
  for (int64_t k = 0; k < count; ++k) {
    const Node& n = nodes_[static_cast<size_t>(changed_nodes_[static_cast<size_t>(k)])];
    for (int32_t e : n.in) in.row(k) += edge_rows_[r + 1].row(e);
    for (int32_t e : n.out) out.row(k) += edge_rows_[r + 1].row(e);
  }
  Var next = network_.node_step(tape_, network_.rounds_[r], gather(node_rows_[r], changed_nodes_),
                                tape_.constant(std::move(in)), tape_.constant(std::move(out)), {});
  scatter(tape_.value(next), changed_nodes_, node_rows_[r + 1]);
}

void Follower::propagate() {
  first_layer();
  for (size_t r = 0; r < network_.rounds_.size(); ++r) {
    edge_layer(r);
    node_layer(r);
  }
  if (changed_nodes_.empty()) return;
  tape_.reset();
  scatter(tape_.value(tape_.rms_norm(gather(node_rows_.back(), changed_nodes_))), changed_nodes_,
          final_);
  for (int32_t n : changed_nodes_) changed_step_[static_cast<size_t>(n)] = step_;
}

void Follower::apply(int32_t number) {
  engine_.apply(number);
  follow();
}

void Follower::follow() {
  best_ = std::min(best_, engine_.cost());
  ++step_;
  ++round_;
  changed_nodes_.clear();
  changed_edges_.clear();
  touched_.clear();
  const rewrite::Change& c = engine_.last_change();
  const LiveGraph& g = engine_.graph();
  for (const auto* ids : {&c.removed, &c.constants, &c.fresh, &c.counted})
    for (int32_t id : *ids) refresh(id);
  std::vector<int32_t> readers(c.fresh);
  for (int32_t id : c.constants)
    g.for_uses(id, [&](int32_t user, int32_t) { readers.push_back(user); });
  readers.insert(readers.end(), c.redirected.begin(), c.redirected.end());
  for (int32_t id : readers) {
    refresh(id);
    if (row_of(id) >= 0) set_edges(row_of(id));
  }
  std::erase_if(changed_nodes_, [&](int32_t n) { return nodes_[static_cast<size_t>(n)].id < 0; });
  std::erase_if(changed_edges_,
                [&](int32_t e) { return edges_[static_cast<size_t>(e)].source < 0; });
  std::sort(changed_edges_.begin(), changed_edges_.end());
  changed_edges_.erase(std::unique(changed_edges_.begin(), changed_edges_.end()),
                       changed_edges_.end());
  propagate();
}

/// Matches that are new, were priced anew, or see a node whose embedding changed.
void Follower::score_matches() {
  std::vector<int32_t> numbers, rules, inside, inside_match, near, near_match;
  std::vector<float> features;
  known_.resize(std::max<size_t>(known_.size(), 1));
  for (int32_t number : logits_.numbers) {
    const Match& m = engine_.match(number);
    if (static_cast<size_t>(number) >= known_.size())
      known_.resize(static_cast<size_t>(number) * 2 + 1);
    Known& k = known_[static_cast<size_t>(number)];
    bool stale = k.row < 0 || k.round != m.round;
    auto see = [&](int32_t id) {
      stale |= changed_step_[static_cast<size_t>(row_of(id))] > k.step;
    };
    describer_.for_inside(m, see);
    describer_.for_near(m, see);
    if (!stale) continue;
    if (k.row < 0) k.row = match_rows_++;
    k.step = step_;
    k.round = m.round;
    auto at = static_cast<int32_t>(numbers.size());
    numbers.push_back(k.row);
    rules.push_back(m.rule);
    auto row = describer_.match(m);
    features.insert(features.end(), row.begin(), row.end());
    describer_.for_inside(m, [&](int32_t id) {
      inside.push_back(row_of(id));
      inside_match.push_back(at);
    });
    describer_.for_near(m, [&](int32_t id) {
      near.push_back(row_of(id));
      near_match.push_back(at);
    });
  }
  if (numbers.empty()) return;
  tape_.reset();
  auto count = static_cast<int64_t>(numbers.size());
  reserve_row(hidden_, match_rows_, network_.options().hidden);
  reserve_row(scores_, match_rows_, 1);
  Var in = gather(final_, inside);
  Indices owner(inside_match);
  Var exact = tape_.constant(
      network_.seen_matches(Eigen::Map<const Rows>(features.data(), count, kMatchFeatures)));
  Var terms = tape_.add(
      network_.inside_terms(tape_, tape_.segment_mean(in, owner, count),
                            tape_.segment_max(in, owner, count)),
      network_.near_terms(tape_, tape_.segment_mean(gather(final_, near), near_match, count)));
  Var hidden = network_.match_hidden(tape_, tape_.add(terms, gather(*rules_, rules)), exact);
  scatter(tape_.value(hidden), numbers, hidden_);
  scatter(tape_.value(network_.match_scores(tape_, hidden, exact)), numbers, scores_);
}

void Follower::summarise() {
  tape_.reset();
  int64_t w = network_.options().width;
  Rows known(1, kGlobalFeatures);
  totals_.clear();
  for (int32_t number : logits_.numbers) {
    const Match& m = engine_.match(number);
    totals_.add(m.rule, m.cost_change);
  }
  auto global = describer_.global(
      {env_.original(), best_, static_cast<double>(step_) / env_.max_steps()}, totals_);
  std::copy(global.begin(), global.end(), known.data());
  Var features = tape_.constant(network_.seen_globals(known));
  Var graph = network_.graphs_in_(tape_, features);
  auto mean = [&](const Rows& rows, const auto& list, auto alive) {
    Rows sum = Rows::Zero(1, w);
    int64_t n = 0;
    for (size_t k = 0; k < list.size(); ++k)
      if (alive(list[k])) sum += rows.row(static_cast<int64_t>(k)), ++n;
    return tape_.constant(sum / static_cast<float>(std::max<int64_t>(1, n)));
  };
  auto node = [](const Node& n) { return n.id >= 0; };
  auto edge = [](const Edge& e) { return e.source >= 0; };
  for (size_t r = 0; r < network_.rounds_.size(); ++r)
    graph = network_.graph_step(tape_, network_.rounds_[r], graph,
                                mean(edge_rows_[r + 1], edges_, edge),
                                mean(node_rows_[r + 1], nodes_, node));
  Rows most = Rows::Zero(1, w);
  bool first = true;
  for (size_t k = 0; k < nodes_.size(); ++k) {
    if (nodes_[k].id < 0) continue;
    auto row = final_.row(static_cast<int64_t>(k));
    if (std::exchange(first, false))
      most = row;
    else
      most = most.cwiseMax(row);
  }
  Var latent = network_.latent_(
      tape_, tape_.concat_columns({tape_.rms_norm(graph), mean(final_, nodes_, node),
                                   tape_.constant(std::move(most))}));
  int64_t h = network_.options().hidden;
  Rows sum = Rows::Zero(1, h), top = Rows::Zero(1, h);
  for (int32_t number : logits_.numbers) {
    auto row = hidden_.row(known_[static_cast<size_t>(number)].row);
    sum += row;
    top = top.cwiseMax(row);  // hidden values are not negative
  }
  auto n = static_cast<float>(std::max<size_t>(1, logits_.numbers.size()));
  auto s = network_.summarise(tape_, latent, tape_.constant(sum / n),
                              tape_.constant(std::move(top)), features);
  logits_.stop = tape_.scalar(s.stop);
  logits_.value = tape_.scalar(s.value);
}

int32_t Follower::best() {
  double most = env_.options().ceiling * best_;
  logits_.numbers.clear();
  logits_.matches.clear();
  for (int32_t number : engine_.matches()) {
    const Match& m = engine_.match(number);
    if (engine_.cost() + m.cost_change <= most && engine_.calls() + m.growth <= env_.max_calls())
      logits_.numbers.push_back(number);
  }
  score_matches();
  summarise();
  int32_t chosen = -1;
  float score = logits_.stop;
  for (int32_t number : logits_.numbers) {
    float z = logit(number);
    logits_.matches.push_back(z);
    bool tie = z == score && chosen >= 0 &&
               rewrite::comes_first(engine_.match(number), engine_.match(chosen));
    if (z <= score && !tie) continue;
    score = z;
    chosen = number;
  }
  return chosen;
}

Judgement Follower::judge() {
  logits_.numbers = env_.matches();
  logits_.matches.clear();
  score_matches();
  summarise();
  Judgement j;
  for (int32_t number : logits_.numbers) j.log_probs.push_back(logit(number));
  j.log_probs.push_back(logits_.stop);
  float most = *std::ranges::max_element(j.log_probs);
  double sum = 0;
  for (float z : j.log_probs) sum += std::exp(z - most);
  for (float& z : j.log_probs) z -= most + static_cast<float>(std::log(sum));
  j.value = logits_.value;
  return j;
}

int32_t Follower::best_saving() const {
  int32_t chosen = -1;
  float score = 0;
  for (size_t k = 0; k < logits_.numbers.size(); ++k) {
    const Match& m = engine_.match(logits_.numbers[k]);
    if (m.cost_change >= 0 || (chosen >= 0 && logits_.matches[k] <= score)) continue;
    chosen = logits_.numbers[k];
    score = logits_.matches[k];
  }
  return chosen;
}

}  // namespace regraft::rl
