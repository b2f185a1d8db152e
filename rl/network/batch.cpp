#include "rl/network/batch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "rewrite/match/ids_map.h"

namespace regraft::rl {

std::vector<int32_t> NumberLists::owners() const {
  std::vector<int32_t> owners;
  owners.reserve(items.size());
  for (size_t k = 0; k < size(); ++k)
    owners.insert(owners.end(), static_cast<size_t>(first[k + 1] - first[k]),
                  static_cast<int32_t>(k));
  return owners;
}

namespace {

using Rows = nn::Matrix<float>;

/// Numbers keys in the order in which they come.
class Numbering {
 public:
  /// make() comes with the first of equal keys.
  template <class Make>
  int32_t number(std::span<const int32_t> key, Make make) {
    if (const int32_t* known = known_.find(key)) return *known;
    make();
    return known_.add(key, count_++);
  }

 private:
  rewrite::IdsMap<int32_t> known_;
  int32_t count_ = 0;
};

/// Rows of numbers that become a matrix.
class RowList {
 public:
  explicit RowList(size_t columns) : columns_(columns) {}
  void add(std::span<const float> row) { numbers_.insert(numbers_.end(), row.begin(), row.end()); }
  Rows matrix() const {
    auto columns = static_cast<int64_t>(columns_);
    return Eigen::Map<const Rows>(numbers_.data(), static_cast<int64_t>(numbers_.size()) / columns,
                                  columns);
  }

 private:
  size_t columns_;
  std::vector<float> numbers_;
};

/// For each of n things the numbers k for which of[k] is it.
NumberLists inverse(const std::vector<int32_t>& of, size_t n) {
  NumberLists lists;
  lists.first.assign(n + 1, 0);
  for (int32_t k : of) ++lists.first[static_cast<size_t>(k) + 1];
  for (size_t k = 0; k < n; ++k) lists.first[k + 1] += lists.first[k];
  lists.items.resize(of.size());
  std::vector<int32_t> next(lists.first.begin(), lists.first.end() - 1);
  for (size_t k = 0; k < of.size(); ++k)
    lists.items[static_cast<size_t>(next[static_cast<size_t>(of[k])]++)] = static_cast<int32_t>(k);
  return lists;
}

std::span<const float> features_of(const std::vector<float>& features, size_t k, size_t columns) {
  return std::span(features).subspan(k * columns, columns);
}

/// Of Batch.
std::vector<int32_t> first_actions(const NumberLists& matches) {
  std::vector<int32_t> first(matches.first);
  for (size_t k = 0; k < first.size(); ++k) first[k] += static_cast<int32_t>(k);
  return first;
}

/// Adds one observation after the other to a batch.
class Builder {
 public:
  Builder(Batch& batch, const NetworkOptions& options)
      : b_(batch),
        by_graph_(options.global_messages),
        levels_(static_cast<size_t>(options.rounds) + 1) {
    b_.levels.resize(levels_.size());
  }
  void add(const Observation& o) {
    add_features(o);
    show(b_.levels[0]);
    NumberLists in = inverse(o.target, o.op.size()), out = inverse(o.source, o.op.size());
    for (size_t k = 1; k < levels_.size(); ++k) {
      pass_to_edges(o, b_.levels[k], levels_[k].edges);
      pass_to_nodes(in, out, b_.levels[k], levels_[k].nodes);
      show(b_.levels[k]);
    }
    add_matches(o);
    global_.add(o.global);
    ++b_.size;
  }
  void finish() {
    b_.node = node_.matrix();
    b_.edge = edge_.matrix();
    b_.match = match_.matrix();
    b_.global = global_.matrix();
    b_.first_action = first_actions(b_.matches);
  }

 private:
  int32_t graph() const { return static_cast<int32_t>(b_.size); }
  void begin_key(int32_t kind) { key_.assign({kind, by_graph_ ? graph() : 0}); }
  void add_to_key(std::span<const float> features) {
    for (float x : features) key_.push_back(std::bit_cast<int32_t>(x));
  }
  void show(Batch::Level& level) {
    level.edges.add(edges_);
    level.nodes.add(nodes_);
  }

  void add_features(const Observation& o) {
    nodes_.clear();
    edges_.clear();
    for (size_t k = 0; k < o.op.size(); ++k) {
      auto features = features_of(o.node, k, kNodeFeatures);
      begin_key(o.op[k]);
      add_to_key(features);
      nodes_.push_back(levels_[0].nodes.number(key_, [&] {
        b_.op.push_back(o.op[k]);
        node_.add(features);
        b_.levels[0].node_graph.push_back(graph());
      }));
    }
    for (size_t k = 0; k < o.edges(); ++k) {
      auto features = features_of(o.edge, k, kEdgeFeatures);
      begin_key(0);
      add_to_key(features);
      edges_.push_back(levels_[0].edges.number(key_, [&] {
        edge_.add(features);
        b_.levels[0].edge_graph.push_back(graph());
      }));
    }
  }

  /// edges_ become rows after the round; nodes_ are those before it.
  void pass_to_edges(const Observation& o, Batch::Level& level, Numbering& numbering) {
    for (size_t k = 0; k < edges_.size(); ++k) {
      int32_t source = nodes_[static_cast<size_t>(o.source[k])];
      int32_t target = nodes_[static_cast<size_t>(o.target[k])];
      key_.assign({edges_[k], source, target});
      edges_[k] = numbering.number(key_, [&] {
        level.edge.push_back(edges_[k]);
        level.source.push_back(source);
        level.target.push_back(target);
        level.edge_graph.push_back(graph());
      });
    }
  }

  /// nodes_ become rows after the round, as edges_ are; `in` and `out` are the numbers of edges.
  void pass_to_nodes(const NumberLists& in, const NumberLists& out, Batch::Level& level,
                     Numbering& numbering) {
    for (size_t k = 0; k < nodes_.size(); ++k) {
      key_.assign({nodes_[k], static_cast<int32_t>(in[k].size())});
      for (std::span<const int32_t> list : {in[k], out[k]}) {
        auto begin = static_cast<std::ptrdiff_t>(key_.size());
        for (int32_t e : list) key_.push_back(edges_[static_cast<size_t>(e)]);
        std::sort(key_.begin() + begin, key_.end());
      }
      nodes_[k] = numbering.number(key_, [&] {
        auto lists = std::span<const int32_t>(key_).subspan(2);
        level.node.push_back(nodes_[k]);
        level.in.add(lists.first(in[k].size()));
        level.out.add(lists.subspan(in[k].size()));
        level.node_graph.push_back(graph());
      });
    }
  }

  /// The number of a list of nodes of the last level, which nodes_ are: list k of an observation.
  int32_t number_list(const std::vector<int32_t>& first, const std::vector<int32_t>& nodes,
                      size_t k, Numbering& numbering, NumberLists& lists) {
    key_.clear();
    for (auto i = static_cast<size_t>(first[k]); i < static_cast<size_t>(first[k + 1]); ++i)
      key_.push_back(nodes_[static_cast<size_t>(nodes[i])]);
    return numbering.number(key_, [&] { lists.add(key_); });
  }

  void add_matches(const Observation& o) {
    std::vector<int32_t> rows;
    for (size_t k = 0; k < o.matches(); ++k) {
      auto features = features_of(o.match, k, kMatchFeatures);
      int32_t inside = number_list(o.inside_first, o.inside, k, insides_, b_.inside);
      int32_t near = number_list(o.near_first, o.near, k, nears_, b_.near);
      key_.assign({o.rule[k], inside, near});
      add_to_key(features);
      rows.push_back(matches_.number(key_, [&] {
        b_.rule.push_back(o.rule[k]);
        b_.inside_of.push_back(inside);
        b_.near_of.push_back(near);
        match_.add(features);
      }));
    }
    b_.matches.add(rows);
  }

  struct LevelNumbering {
    Numbering edges, nodes;
  };
  Batch& b_;
  bool by_graph_;
  std::vector<LevelNumbering> levels_;
  Numbering insides_, nears_, matches_;
  RowList node_{kNodeFeatures}, edge_{kEdgeFeatures}, match_{kMatchFeatures},
      global_{kGlobalFeatures};
  std::vector<int32_t> nodes_, edges_, key_;  // of the observation: rows
};

/// Some of the rows of a batch, numbered anew in the order in which they are asked for.
class Selection {
 public:
  explicit Selection(size_t rows) : number_(rows, -1) {}
  int32_t add(int32_t row) {
    int32_t& number = number_[static_cast<size_t>(row)];
    if (number < 0) {
      number = static_cast<int32_t>(rows_.size());
      rows_.push_back(row);
    }
    return number;
  }
  int32_t operator[](int32_t row) const { return number_[static_cast<size_t>(row)]; }
  const std::vector<int32_t>& rows() const { return rows_; }

 private:
  std::vector<int32_t> number_, rows_;
};

/// The chosen lists, and in `rows` what is in them.
NumberLists select(const NumberLists& lists, std::span<const int32_t> chosen, Selection& rows) {
  NumberLists some;
  std::vector<int32_t> list;
  for (int32_t k : chosen) {
    list.clear();
    for (int32_t row : lists[static_cast<size_t>(k)]) list.push_back(rows.add(row));
    some.add(list);
  }
  return some;
}

template <class Number>
std::vector<int32_t> select(const std::vector<int32_t>& values, const Selection& rows,
                            Number number) {
  std::vector<int32_t> some;
  some.reserve(rows.rows().size());
  for (int32_t row : rows.rows()) some.push_back(number(values[static_cast<size_t>(row)]));
  return some;
}

std::vector<int32_t> select(const std::vector<int32_t>& values, const Selection& rows) {
  return select(values, rows, [](int32_t value) { return value; });
}

NumberLists select(const NumberLists& lists, const Selection& rows, const Selection& items) {
  NumberLists some;
  std::vector<int32_t> list;
  for (int32_t row : rows.rows()) {
    list.clear();
    for (int32_t item : lists[static_cast<size_t>(row)]) list.push_back(items[item]);
    some.add(list);
  }
  return some;
}

Rows select(const Rows& values, std::span<const int32_t> rows) {
  Rows some(static_cast<int64_t>(rows.size()), values.cols());
  for (size_t k = 0; k < rows.size(); ++k) some.row(static_cast<int64_t>(k)) = values.row(rows[k]);
  return some;
}

}  // namespace

Batch::Batch(std::span<const Observation* const> observations, const NetworkOptions& options) {
  Builder builder(*this, options);
  for (const Observation* o : observations) builder.add(*o);
  builder.finish();
}

Batch Batch::part(std::span<const int32_t> chosen) const {
  Batch b;
  b.size = static_cast<int64_t>(chosen.size());
  std::vector<int32_t> graphs(static_cast<size_t>(size), 0);
  for (size_t k = 0; k < chosen.size(); ++k)
    graphs[static_cast<size_t>(chosen[k])] = static_cast<int32_t>(k);
  auto graph = [&](int32_t g) { return graphs[static_cast<size_t>(g)]; };
  Selection nodes(0), edges(0);
  for (const Level& from : levels) {
    Selection before_nodes = std::exchange(nodes, Selection(from.node_graph.size()));
    Selection before_edges = std::exchange(edges, Selection(from.edge_graph.size()));
    Level& to = b.levels.emplace_back();
    to.nodes = select(from.nodes, chosen, nodes);
    to.edges = select(from.edges, chosen, edges);
    to.node_graph = select(from.node_graph, nodes, graph);
    to.edge_graph = select(from.edge_graph, edges, graph);
    if (b.levels.size() == 1) {
      b.op = select(op, nodes);
      b.node = select(node, nodes.rows());
      b.edge = select(edge, edges.rows());
      continue;
    }
    auto node_before = [&](int32_t row) { return before_nodes[row]; };
    to.edge = select(from.edge, edges, [&](int32_t row) { return before_edges[row]; });
    to.source = select(from.source, edges, node_before);
    to.target = select(from.target, edges, node_before);
    to.node = select(from.node, nodes, node_before);
    to.in = select(from.in, nodes, edges);
    to.out = select(from.out, nodes, edges);
  }
  Selection rows(rule.size());
  b.matches = select(matches, chosen, rows);
  b.rule = select(rule, rows);
  b.match = select(match, rows.rows());
  Selection insides(inside.size()), nears(near.size());
  b.inside_of = select(inside_of, rows, [&](int32_t list) { return insides.add(list); });
  b.near_of = select(near_of, rows, [&](int32_t list) { return nears.add(list); });
  b.inside = select(inside, insides, nodes);
  b.near = select(near, nears, nodes);
  b.global = select(global, chosen);
  b.first_action = first_actions(b.matches);
  return b;
}

}  // namespace regraft::rl
