#include "rl/network/network.h"

#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "rl/nn/init.h"

namespace regraft::rl {

using nn::Indices;
using nn::Matrix;
using nn::Tape;
using nn::Var;

template <class S>
NetworkOf<S>::NetworkOf(const NetworkOptions& options, size_t rule_columns, uint64_t seed)
    : options_(options) {
  Rng rng(seed);
  auto& p = parameters_;
  int64_t w = options.width, h = options.hidden;
  auto ops = static_cast<int64_t>(op_names().size());
  ops_ = p.add("ops", ops, w);
  p.value(ops_) = nn::scaled_normal(ops, w, 1, rng).cast<S>();
  nodes_in_ = nn::Linear::make(p, rng, "nodes", kNodeFeatures, w, 1);
  edges_in_ = nn::Linear::make(p, rng, "edges", kEdgeFeatures, w, 1);
  graphs_in_ = nn::Linear::make(p, rng, "graphs", kGlobalFeatures, w, 1);
  int64_t seen = options.global_messages ? w : 0;
  for (int k = 0; k < options.rounds; ++k) {
    std::string name = "round" + std::to_string(k);
    rounds_.push_back({nn::Mlp::make(p, rng, name + ".edge", {3 * w + seen, w, w}),
                       nn::Mlp::make(p, rng, name + ".node", {3 * w + seen, w, w}),
                       nn::Mlp::make(p, rng, name + ".graph", {3 * w, w, w})});
  }
  latent_ = nn::Mlp::make(p, rng, "latent", {3 * w, w});
  rules_ = nn::Mlp::make(p, rng, "rules", {static_cast<int64_t>(rule_columns), w, w});
  auto features = static_cast<int64_t>(kMatchFeatures);
  matches_ = nn::Mlp::make(p, rng, "matches", {4 * w + features, h, h});
  score_ = nn::Linear::make(p, rng, "score", h, 1, 0.1);
  worth_ = nn::Linear::make(p, rng, "worth", h, 1, 0.1);
  prior_ = p.add("prior", 2, 1);
  double prior = options.hide_cost ? 0 : options.cost_prior;
  p.value(prior_) << S(-prior), S(-prior / 2);
  nn::MlpOptions small;
  small.last_gain = 0.1;
  auto globals = static_cast<int64_t>(kGlobalFeatures);
  int64_t summary = w + 2 * h + globals;
  value_ = nn::Mlp::make(p, rng, "value", {summary, h, 1}, small);
  stop_ = nn::Mlp::make(p, rng, "stop", {summary, h, 1}, small);
  p.value(stop_.layers.back().bias).setConstant(S(options.stop_bias));
  if (options.factorised)
    rule_scores_ = nn::Mlp::make(p, rng, "rule_scores", {2 * w + 2, h, 1}, small);
}

template <class S>
Matrix<S> NetworkOf<S>::seen_matches(const Matrix<float>& features) const {
  Matrix<S> seen = features.template cast<S>();
  if (options_.hide_cost)
    for (size_t column : kMatchSavings) seen.col(static_cast<int64_t>(column)).setZero();
  return seen;
}

template <class S>
Matrix<S> NetworkOf<S>::seen_globals(const Matrix<float>& features) const {
  Matrix<S> seen = features.template cast<S>();
  if (options_.hide_cost)
    for (size_t column : kGlobalSavings) seen.col(static_cast<int64_t>(column)).setZero();
  return seen;
}

template <class S>
Var NetworkOf<S>::first_nodes(Tape<S>& t, Var features, const std::vector<int32_t>& op) const {
  return t.add(nodes_in_(t, features), t.gather_rows(t.parameter(ops_), op));
}

template <class S>
Var NetworkOf<S>::edge_step(Tape<S>& t, const Round& r, Var edges, Var sources, Var targets,
                            Var graphs) const {
  std::vector<Var> parts{t.rms_norm(edges), sources, targets};
  if (options_.global_messages) parts.push_back(graphs);
  return t.add(edges, r.edge(t, t.concat_columns(parts)));
}

template <class S>
Var NetworkOf<S>::node_step(Tape<S>& t, const Round& r, Var nodes, Var in, Var out,
                            Var graphs) const {
  std::vector<Var> parts{t.rms_norm(nodes), t.rms_norm(in), t.rms_norm(out)};
  if (options_.global_messages) parts.push_back(graphs);
  return t.add(nodes, r.node(t, t.concat_columns(parts)));
}

template <class S>
Var NetworkOf<S>::graph_step(Tape<S>& t, const Round& r, Var graphs, Var edge_mean,
                             Var node_mean) const {
  return t.add(graphs, r.global(t, t.concat_columns({t.rms_norm(graphs), edge_mean, node_mean})));
}

template <class S>
auto NetworkOf<S>::embed(Tape<S>& t, const Batch& b) const -> Embedded {
  Var nodes = first_nodes(t, t.constant(b.node.template cast<S>()), b.op);
  Var edges = edges_in_(t, t.constant(b.edge.template cast<S>()));
  Var graphs = graphs_in_(t, t.constant(seen_globals(b.global)));
  Indices edge_owner(b.levels[0].edges.owners()), node_owner(b.levels[0].nodes.owners());
  for (size_t k = 0; k < rounds_.size(); ++k) {
    const Round& r = rounds_[k];
    const Batch::Level& level = b.levels[k + 1];
    Var seen = t.rms_norm(nodes);
    Var of_edges, of_nodes;
    if (options_.global_messages) {
      Var g = t.rms_norm(graphs);
      of_edges = t.gather_rows(g, level.edge_graph);
      of_nodes = t.gather_rows(g, level.node_graph);
    }
    edges = edge_step(t, r, t.gather_rows(edges, level.edge), t.gather_rows(seen, level.source),
                      t.gather_rows(seen, level.target), of_edges);
    auto sums = [&](const NumberLists& lists) {
      return t.segment_sum(edges, lists.items, lists.owners(), static_cast<int64_t>(lists.size()));
    };
    nodes = node_step(t, r, t.gather_rows(nodes, level.node), sums(level.in), sums(level.out),
                      of_nodes);
    graphs = graph_step(t, r, graphs, t.segment_mean(edges, level.edges.items, edge_owner, b.size),
                        t.segment_mean(nodes, level.nodes.items, node_owner, b.size));
  }
  return {t.rms_norm(nodes), graphs};
}

template <class S>
Var NetworkOf<S>::latent(Tape<S>& t, const Embedded& e, const Batch& b) const {
  const NumberLists& lists = b.levels.back().nodes;
  Indices nodes(lists.items), graph(lists.owners());
  return latent_(
      t, t.concat_columns({t.rms_norm(e.graphs), t.segment_mean(e.nodes, nodes, graph, b.size),
                           t.segment_max(e.nodes, nodes, graph, b.size)}));
}

template <class S>
Var NetworkOf<S>::encode(Tape<S>& t, const Batch& b) const {
  return latent(t, embed(t, b), b);
}

/// The first layer is a sum of few rows of its weights.
template <class S>
Var NetworkOf<S>::encode_rules(Tape<S>& t, const std::vector<int32_t>& rules,
                               const RuleTable& table) const {
  std::vector<int32_t> columns, owners;
  std::vector<S> numbers;
  for (size_t k = 0; k < rules.size(); ++k) {
    for (const RuleTable::Entry& e : table.rows[static_cast<size_t>(rules[k])]) {
      columns.push_back(e.column);
      owners.push_back(static_cast<int32_t>(k));
      numbers.push_back(static_cast<S>(e.number));
    }
  }
  const nn::Linear& first = rules_.layers[0];
  Var sums = t.weighted_segment_sum(t.parameter(first.weight), columns, std::move(numbers), owners,
                                    static_cast<int64_t>(rules.size()));
  return rules_.layers[1](t, t.relu(t.add_row(sums, t.parameter(first.bias))));
}

/// What the columns from `first` on of the input of matches_ add to its first layer.
template <class S>
Var NetworkOf<S>::match_terms(Tape<S>& t, Var part, int64_t first) const {
  return t.matmul(part, t.slice_rows(t.parameter(matches_.layers[0].weight), first, t.cols(part)));
}

template <class S>
Var NetworkOf<S>::inside_terms(Tape<S>& t, Var mean, Var max) const {
  return match_terms(t, t.concat_columns({mean, max}), 0);
}

template <class S>
Var NetworkOf<S>::near_terms(Tape<S>& t, Var mean) const {
  return match_terms(t, mean, 2 * options_.width);
}

template <class S>
Var NetworkOf<S>::rule_terms(Tape<S>& t, Var rules) const {
  return match_terms(t, rules, 3 * options_.width);
}

template <class S>
Var NetworkOf<S>::match_hidden(Tape<S>& t, Var sums, Var features) const {
  Var first = t.add_row(t.add(sums, match_terms(t, features, 4 * options_.width)),
                        t.parameter(matches_.layers[0].bias));
  return t.relu(matches_.layers[1](t, t.relu(first)));
}

/// Columns 1 and 3 of the features: what it saves in percent, and the sign.
template <class S>
Var NetworkOf<S>::match_scores(Tape<S>& t, Var hidden, Var features) const {
  Var exact = t.concat_columns({t.slice_columns(features, 1, 1), t.slice_columns(features, 3, 1)});
  return t.add(score_(t, hidden), t.matmul(exact, t.parameter(prior_)));
}

template <class S>
auto NetworkOf<S>::summarise(Tape<S>& t, Var latent, Var hidden_mean, Var hidden_max,
                             Var features) const -> Summary {
  Var all = t.concat_columns({latent, hidden_mean, hidden_max, features});
  return {stop_(t, all), value_(t, all)};
}

namespace {

/// For each graph the rows of its matches, then its own, which come after `stops` others.
Indices action_rows(const Batch& b, const std::vector<int32_t>& rows, size_t stops) {
  std::vector<int32_t> order;
  for (size_t g = 0; g < b.matches.size(); ++g) {
    order.insert(order.end(), rows.begin() + b.matches.first[g],
                 rows.begin() + b.matches.first[g + 1]);
    order.push_back(static_cast<int32_t>(stops + g));
  }
  return order;
}

std::vector<int32_t> action_graph(const Batch& b) {
  std::vector<int32_t> graph;
  for (int32_t g = 0; g < b.size; ++g)
    graph.insert(graph.end(),
                 static_cast<size_t>(b.first_action[static_cast<size_t>(g) + 1] -
                                     b.first_action[static_cast<size_t>(g)]),
                 g);
  return graph;
}

/// Each rule that occurs, once, and where it is in that list.
struct DistinctRules {
  std::vector<int32_t> rules, row;
  explicit DistinctRules(const std::vector<int32_t>& all) {
    std::map<int32_t, int32_t> known;
    for (int32_t r : all) {
      auto [it, added] = known.try_emplace(r, static_cast<int32_t>(rules.size()));
      if (added) rules.push_back(r);
      row.push_back(it->second);
    }
  }
};

}  // namespace

/// log p(rule) + log p(location | rule). Groups are the rules of each graph; matches of a rule are
/// in a row. `scores`, `rule_row` and `matches` are by row of the batch.
template <class S>
Var NetworkOf<S>::factorised(Tape<S>& t, const Batch& b, const Summary& s, Var latent, Var scores,
                             Var rules, const std::vector<int32_t>& rule_row,
                             const Matrix<S>& matches) const {
  std::vector<int32_t> group, group_graph, group_rule;
  std::vector<S> count, best;
  std::vector<int32_t> graphs = b.matches.owners();
  for (size_t m = 0; m < graphs.size(); ++m) {
    int32_t row = b.matches.items[m], rule = rule_row[static_cast<size_t>(row)];
    if (m == 0 || graphs[m] != graphs[m - 1] || rule != group_rule.back()) {
      group_graph.push_back(graphs[m]);
      group_rule.push_back(rule);
      count.push_back(0);
      best.push_back(matches(row, 1));
    }
    ++count.back();
    group.push_back(static_cast<int32_t>(count.size()) - 1);
  }
  auto groups = static_cast<int64_t>(count.size());
  Matrix<S> known(groups, 2);
  for (int64_t k = 0; k < groups; ++k)
    known.row(k) << std::log2(1 + count[static_cast<size_t>(k)]) / 8, best[static_cast<size_t>(k)];
  Var seen = t.constant(known);
  Var of_rules = rule_scores_(t, t.concat_columns({t.gather_rows(latent, group_graph),
                                                   t.gather_rows(rules, group_rule), seen}));
  of_rules = t.sub(of_rules, t.scale(t.slice_columns(seen, 1, 1), S(options_.cost_prior)));
  std::vector<int32_t> graph = group_graph;
  for (int32_t g = 0; g < b.size; ++g) graph.push_back(g);
  Var both = t.segment_log_softmax(t.concat_rows({of_rules, s.stop}), graph, b.size);
  Var locations = t.segment_log_softmax(t.gather_rows(scores, b.matches.items), group, groups);
  Var joint = t.add(locations, t.gather_rows(both, group));
  Var stop = t.slice_rows(both, groups, b.size);
  std::vector<int32_t> all(group.size());
  std::iota(all.begin(), all.end(), 0);
  return t.gather_rows(t.concat_rows({joint, stop}), action_rows(b, all, all.size()));
}

template <class S>
auto NetworkOf<S>::forward(Tape<S>& t, const Batch& b, const RuleTable& table) const -> Output {
  Embedded e = embed(t, b);
  Var z = latent(t, e, b);
  DistinctRules distinct(b.rule);
  Var rules = encode_rules(t, distinct.rules, table);
  Indices inside(b.inside.items), inside_owner(b.inside.owners());
  auto insides = static_cast<int64_t>(b.inside.size()), nears = static_cast<int64_t>(b.near.size());
  Var terms =
      t.concat_rows({inside_terms(t, t.segment_mean(e.nodes, inside, inside_owner, insides),
                                  t.segment_max(e.nodes, inside, inside_owner, insides)),
                     near_terms(t, t.segment_mean(e.nodes, b.near.items, b.near.owners(), nears)),
                     rule_terms(t, rules)});
  NumberLists of_matches;
  for (size_t m = 0; m < b.rule.size(); ++m)
    of_matches.add(std::array{b.inside_of[m], static_cast<int32_t>(insides) + b.near_of[m],
                              static_cast<int32_t>(insides + nears) + distinct.row[m]});
  Matrix<S> matches = seen_matches(b.match);
  Var features = t.constant(matches);
  Var hidden = match_hidden(t,
                            t.segment_sum(terms, of_matches.items, of_matches.owners(),
                                          static_cast<int64_t>(b.rule.size())),
                            features);
  Indices match(b.matches.items), match_graph(b.matches.owners());
  Summary s = summarise(t, z, t.segment_mean(hidden, match, match_graph, b.size),
                        t.segment_max(hidden, match, match_graph, b.size),
                        t.constant(seen_globals(b.global)));
  Var scores = match_scores(t, hidden, features);
  Var log_probs =
      options_.factorised
          ? factorised(t, b, s, z, scores, rules, distinct.row, matches)
          : t.segment_log_softmax(t.gather_rows(t.concat_rows({scores, s.stop}),
                                                action_rows(b, b.matches.items, b.rule.size())),
                                  action_graph(b), b.size);
  return {log_probs, s.value, t.gather_rows(worth_(t, hidden), match), z};
}

template class NetworkOf<float>;
template class NetworkOf<double>;

}  // namespace regraft::rl
