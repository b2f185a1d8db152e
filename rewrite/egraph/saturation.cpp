#include "rewrite/egraph/saturation.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "rewrite/egraph/target.h"
#include "rewrite/search/paths.h"
#include "rewrite/search/transpositions.h"
#include "rewrite/search/walk.h"

namespace regraft::rewrite {

namespace {

/// How many nodes an e-graph may have, at least and times as many as at the start, and which part
/// of all events may be of one generation: the fewer these are, the more generations there will be,
/// of what saves most. Small e-graphs come first: the best of them is found in most cases.
struct Level {
  int32_t min_nodes, growth;
  bool narrow;  ///< a quarter of what the nodes allow, else of what the budget does
};
constexpr Level kLevels[] = {{500, 2, false}, {4000, 6, false}, {4000, 6, true}};
constexpr int32_t kMaxStart = 4000;       ///< nodes of a graph that is not too large
constexpr int kPatience = 64;             ///< graphs looked at without getting nearer
constexpr size_t kRemembered = 1u << 16;  ///< graphs

/// Nodes of the engine's graph as nodes of an e-graph that was made of its graph at some time.
class Image {
 public:
  Image(Engine& engine, const ModelEGraph& graph)
      : engine_(engine),
        graph_(graph),
        bound_(engine.graph().id_bound()),
        times_(static_cast<size_t>(graph.nodes().id_bound())) {}

  /// After moves. False: the e-graph has no such node.
  bool renew() {
    const LiveGraph& g = engine_.graph();
    nodes_.resize(static_cast<size_t>(g.id_bound()));
    std::vector<int32_t> fresh;
    for (int32_t node : present_) times_[static_cast<size_t>(node)] = 0;
    present_.clear();
    for (int32_t id = 0; id < g.id_bound(); ++id) {
      if (!g.alive(id)) continue;
      if (id >= bound_)
        fresh.push_back(id);
      else
        add(id, graph_.node(id));
    }
    std::sort(fresh.begin(), fresh.end(),
              [&](int32_t a, int32_t b) { return g.slot(a).position < g.slot(b).position; });
    return std::all_of(fresh.begin(), fresh.end(), [&](int32_t id) { return find(id); });
  }

  Value of(Value v) const { return graph_.name({of(v.node), v.output}); }
  int32_t of(int32_t node) const { return nodes_[static_cast<size_t>(node)]; }
  /// The graph computes it more than once.
  bool repeats(int32_t node) const { return times_[static_cast<size_t>(of(node))] > 1; }
  /// Nodes of the e-graph.
  const std::vector<int32_t>& present() const { return present_; }

 private:
  void add(int32_t id, int32_t node) {
    nodes_[static_cast<size_t>(id)] = node;
    present_.push_back(node);
    ++times_[static_cast<size_t>(node)];
  }

  bool find(int32_t id) {
    const LiveGraph::Slot& s = engine_.graph().slot(id);
    std::vector<Value> operands;
    for (Value v : s.inputs) operands.push_back({of(v.node), v.output});
    int32_t node = graph_.find(s.form, operands, s.types[0]);
    if (node >= 0) add(id, node);
    return node >= 0;
  }

  Engine& engine_;
  const ModelEGraph& graph_;
  int32_t bound_;
  std::vector<int32_t> nodes_;  // by node of the engine's graph
  std::vector<int32_t> present_, times_;
};

class Run {
 public:
  Run(Walk& walk, const SearchOptions& options)
      : walk_(walk), engine_(walk.engine), options_(options), paths_(engine_.cost()) {}

  /// Leaves the engine at the best graph.
  StopReason run() {
    walk_.descend();
    for (const Move& move : std::vector<Move>(engine_.moves())) here_ = paths_.add(here_, move);
    best_ = here_;
    StopReason reason = StopReason::Exhausted;
    for (Level level : kLevels) {
      if (!walk_.reporter.over()) reason = round(0, level);
      for (int32_t start = 0; start != best_ && !walk_.reporter.over();)
        reason = round(start = best_, level);
    }
    go(best_);
    return walk_.reporter.over().value_or(reason);
  }

 private:
  struct Waiting {
    Target::Distance distance;
    double cost;
    int32_t node;
    bool operator<(const Waiting& other) const {
      return std::tie(distance, cost, node) > std::tie(other.distance, other.cost, other.node);
    }
  };

  uint64_t budget_left() const { return options_.budget - walk_.reporter.report.candidates; }

  void go(int32_t node) {
    paths_.go(engine_, here_, node);
    here_ = node;
  }

  /// Grows an e-graph from a graph and follows it to its best. Returns why the e-graph has no more.
  StopReason round(int32_t start, Level level) {
    if (exhausted_.contains(start)) return StopReason::Exhausted;  // a larger one would be the same
    go(start);
    Growth growth(engine_.to_graph(), engine_.sizes());
    if (growth.graph().size() > kMaxStart) return StopReason::Memory;
    int32_t limit = std::max(level.min_nodes, level.growth * growth.graph().size());
    const uint64_t events = budget_left() / 2;
    const uint64_t most = level.narrow ? std::min<uint64_t>(events, limit) : events;
    StopReason reason = growth.run(walk_.reporter, events, limit, std::max<uint64_t>(most / 4, 1));
    if (walk_.reporter.over()) return reason;
    if (reason == StopReason::Exhausted) exhausted_.insert(start);
    Target target(growth);
    if (cheaper(target.cost(), paths_.cost(best_))) {
      lead(growth, target);
      settle();
    }
    return reason;
  }

  /// Best-first to the target from the present graph; ends at the cheapest graph on the way.
  void lead(Growth& growth, Target& target) {
    Image image(engine_, growth.graph());
    Transpositions seen(kRemembered);
    seen.insert(engine_.identity());
    image.renew();
    int32_t cheapest = here_;
    uint64_t last = walk_.reporter.report.candidates + budget_left() / 2;
    std::priority_queue<Waiting> queue;
    queue.push({target.distance(image.present()), paths_.cost(here_), here_});
    Waiting nearest = queue.top();
    for (int idle = 0; idle < kPatience && !queue.empty(); ++idle) {
      if (walk_.reporter.over() || walk_.reporter.report.candidates >= last) break;
      Waiting from = queue.top();
      queue.pop();
      if (nearest < from) {
        nearest = from;
        idle = 0;
      }
      if (cheaper(from.cost, paths_.cost(cheapest))) cheapest = from.node;
      if (!cheaper(target.cost(), from.cost)) break;
      go(from.node);
      expand(growth, target, image, from, seen, queue);
    }
    go(cheapest);
  }

  /// Makes the moves that the e-graph remembers, those that save most first. One that leads nearer
  /// is followed before the others are tried.
  void expand(Growth& growth, Target& target, Image& image, const Waiting& from,
              Transpositions& seen, std::priority_queue<Waiting>& queue) {
    ++walk_.reporter.report.expanded;
    image.renew();
    for (int32_t number : known_moves(growth, target, image)) {
      walk_.reporter.look(1);
      engine_.apply(number);
      Waiting next{{}, engine_.cost(), -1};
      if (!seen.insert(engine_.identity())) {
        ++walk_.reporter.report.duplicates;
      } else if (image.renew()) {
        next = {target.distance(image.present()), engine_.cost(),
                paths_.add(here_, engine_.moves().back())};
        note(next.node);
        queue.push(next);
      }
      engine_.undo();
      if (next.node < 0 || next.distance >= from.distance) continue;
      queue.push(from);
      return;
    }
  }

  /// Those that are missing, and those that touch what the target has not; those that are missing
  /// first, then those that save most.
  std::vector<int32_t> known_moves(Growth& growth, Target& target, const Image& image) {
    target.distance(image.present());
    std::vector<std::pair<bool, int32_t>> moves;  // not missing, number
    std::vector<int32_t> nodes;
    std::vector<Value> variables;
    for (int32_t number : engine_.matches()) {
      const Match& m = engine_.match(number);
      nodes.clear();
      variables.clear();
      for (int32_t id : m.nodes) nodes.push_back(image.of(id));
      for (Value v : m.variables) variables.push_back(image.of(v));
      int32_t event = growth.find(m.rule, nodes, variables);
      if (event < 0 || !target.concerns(event) || !walk_.admits(m)) continue;
      bool pointless = std::all_of(m.nodes.begin(), m.nodes.end(), [&](int32_t id) {
        return target.has(image.of(id)) && !image.repeats(id);
      });
      if (pointless && !target.counted(event)) continue;
      moves.push_back({!target.counted(event), number});
    }
    std::sort(moves.begin(), moves.end(), [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      return comes_first(engine_.match(a.second), engine_.match(b.second));
    });
    std::vector<int32_t> numbers;
    for (const auto& move : moves) numbers.push_back(move.second);
    return numbers;
  }

  void note(int32_t node) {
    if (walk_.reporter.offer(paths_.cost(node), paths_.rule(node), paths_.depth(node)))
      best_ = node;
  }

  /// Downhill from here.
  void settle() {
    while (!walk_.reporter.over() && !engine_.matches().empty()) {
      walk_.reporter.look(engine_.matches().size());
      int32_t first = *std::min_element(
          engine_.matches().begin(), engine_.matches().end(),
          [&](int32_t a, int32_t b) { return comes_first(engine_.match(a), engine_.match(b)); });
      if (!cheaper(engine_.cost() + engine_.match(first).cost_change, engine_.cost())) return;
      engine_.apply(first);
      here_ = paths_.add(here_, engine_.moves().back());
      note(here_);
    }
  }

  Walk& walk_;
  Engine& engine_;
  const SearchOptions& options_;
  Paths paths_;
  int32_t here_ = 0, best_ = 0;            // in paths_; the engine is at here_
  std::unordered_set<int32_t> exhausted_;  // starts whose e-graph is complete
};

}  // namespace

SearchReport Saturation::search(const Graph& g, const RuleIndex& rules,
                                const cost::CostModel& model, const SearchOptions& options,
                                const Stop& stop) const {
  Walk walk("saturation", g, rules, model, options, stop);
  StopReason reason = Run(walk, options).run();
  walk.keep();
  return std::move(walk).finish(reason);
}

}  // namespace regraft::rewrite
