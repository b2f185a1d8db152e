#include "rewrite/selection.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "rewrite/egraph/saturation.h"
#include "rewrite/search/walk.h"
#include "rewrite/windows/part.h"
#include "rewrite/windows/window.h"

namespace regraft::rewrite {

namespace {

constexpr int kRadius = 7;         // edges from a function to the ends of a block
constexpr size_t kMostCalls = 48;  // in a neighbourhood
constexpr int32_t kManyUses = 8;   // of a value that blocks are not joined by
constexpr int kFewRules = 8;       // that an operator of blocks is in
constexpr uint64_t kBudget = 1000;
constexpr double kGrowth = 4;  // of a neighbourhood, on the way
constexpr double kSamePrice = 1 + 1e-6;

/// Of the operators and what reads what, whatever the sizes and attributes are.
uint64_t structure_of(const Graph& g) {
  uint64_t all = g.outputs().size();
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    const Node& n = g.node(id);
    all = combine(combine(all, static_cast<uint64_t>(n.kind)), reinterpret_cast<uintptr_t>(n.op));
    for (Value v : n.inputs)
      all = combine(combine(all, static_cast<uint64_t>(v.node)), static_cast<uint64_t>(v.output));
  }
  return all;
}

class Selection {
 public:
  Selection(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
            const GraphPrice& price, const SearchOptions& options, const Stop& stop)
      : rules_(rules),
        model_(model),
        price_(price),
        sizes_(rules, g.shared_pool(), model, for_model({options.opset}, g)),
        options_(sharing(options, sizes_)),
        stop_(stop),
        walk_("selection", g, rules, model, options_, stop),
        region_(walk_.engine) {
    for (size_t k = 0; k < rules.rules().size(); ++k) {
      const Rule& rule = rules.rules()[k].rule;
      numbers_.emplace(rule.name, static_cast<int32_t>(k));
      for (const PatternNode& n : rule.lhs.nodes) ++operators_[n.op];
    }
  }

  SearchReport run() && {
    const int32_t bound = walk_.engine.graph().id_bound();
    for (int32_t id = 0; id < bound && !walk_.reporter.over(); ++id)
      if (is_centre(id)) visit(id);
    double cost = walk_.engine.cost();
    SearchReport report =
        std::move(walk_).finish(walk_.reporter.over().value_or(StopReason::Exhausted));
    report.cost_after = cost;
    return report;
  }

 private:
  static SearchOptions sharing(SearchOptions options, Sizes& sizes) {
    options.sizes = &sizes;
    return options;
  }
  const LiveGraph& graph() const { return walk_.engine.graph(); }

  /// A function, or a reduction, that some rule is about; sums and products are in many rules.
  bool is_centre(int32_t id) const {
    const LiveGraph::Slot& s = graph().slot(id);
    if (!graph().alive(id) || s.kind != NodeKind::Call || s.constant) return false;
    auto known = operators_.find(s.op);
    bool work = s.op->work == Work::Elementwise || s.op->work == Work::Reduction;
    return work && known != operators_.end() &&
           (s.inputs.size() == 1 || known->second <= kFewRules);
  }

  bool joins(int32_t id) const {
    const LiveGraph::Slot& s = graph().slot(id);
    if (s.kind != NodeKind::Call || s.constant || s.op->work == Work::Convolution) return false;
    return s.op->work != Work::Product ||
           std::ranges::none_of(s.inputs, [&](Value v) { return graph().slot(v.node).constant; });
  }

  std::vector<int32_t> around(int32_t centre) const {
    std::vector<int32_t> calls{centre};
    std::unordered_set<int32_t> known{centre};
    auto add = [&](int32_t id) {
      if (calls.size() < kMostCalls && joins(id) && known.insert(id).second) calls.push_back(id);
    };
    size_t begin = 0;
    for (int step = 0; step < kRadius; ++step)
      for (size_t end = calls.size(); begin < end; ++begin) {
        const LiveGraph::Slot& s = graph().slot(calls[begin]);
        for (Value v : std::vector<Value>(s.inputs)) add(v.node);
        if (s.uses <= kManyUses)
          graph().for_uses(calls[begin], [&](int32_t user, int32_t) { add(user); });
      }
    return calls;
  }

  void visit(int32_t centre) {
    std::vector<int32_t> calls = around(centre);
    region_.take(calls);
    uint64_t likeness = region_.likeness();
    Part part(graph(), calls);
    auto known = found_.find(likeness);
    if (known == found_.end()) known = found_.emplace(likeness, search(part)).first;
    if (known->second.empty()) return;
    if (repeat(part, known->second))
      walk_.keep();
    else
      while (walk_.engine.depth() > 0) walk_.engine.undo();
  }

  /// The moves in the part that pay; none: none do. What paid in a part of other sizes is tried
  /// before a search.
  std::vector<Move> search(const Part& part) {
    std::vector<Move>& similar = similar_[structure_of(part.graph())];
    std::vector<Move> moves = if_they_pay(part, similar);
    if (moves.empty()) moves = if_they_pay(part, saturated(part));
    if (!moves.empty()) similar = moves;
    return moves;
  }

  std::vector<Move> saturated(const Part& part) {
    SearchOptions options = options_;
    options.budget = kBudget;
    options.max_growth = kGrowth;
    options.verbosity = Verbosity::Quiet;
    options.threads = 1;
    SearchReport report = Saturation().search(part.graph(), rules_, model_, options, stop_);
    walk_.reporter.look(report.candidates);
    std::vector<Move> moves;
    for (AppliedRule& step : report.steps)
      moves.push_back({numbers_.at(step.rule), std::move(step.nodes), std::move(step.variables)});
    return moves;
  }

  /// The moves, as they are in the part; none if one does not apply. A graph of the same price with
  /// fewer calls pays too.
  std::vector<Move> if_they_pay(const Part& part, const std::vector<Move>& moves) {
    if (moves.empty()) return {};
    Engine engine(part.graph(), rules_, model_, {options_.opset, &stop_, &sizes_});
    for (const Move& m : moves) {
      int32_t number = engine.find(m);
      if (number < 0) return {};
      engine.apply(number);
    }
    const double before = price_(part.graph()), after = price_(engine.to_graph());
    const bool simpler = engine.calls() < static_cast<int32_t>(part.calls().size());
    const double most = simpler ? before * kSamePrice : before / kSamePrice;
    return after < most ? engine.moves() : std::vector<Move>();
  }

  /// False: a move does not apply in the graph, or does something else there.
  bool repeat(Part& part, const std::vector<Move>& moves) {
    Engine& engine = walk_.engine;
    for (const Move& m : moves) {
      int32_t number = engine.find(part.in_whole(m));
      if (number < 0) return false;
      int32_t first = graph().id_bound();
      engine.apply(number);
      if (engine.moves().back().added != m.added) return false;
      for (int32_t k = 0; k < m.added; ++k) part.add(first + k);
    }
    return true;
  }

  const RuleIndex& rules_;
  const cost::CostModel& model_;
  const GraphPrice& price_;
  Sizes sizes_;  // shared with the searches of parts
  const SearchOptions options_;
  const Stop& stop_;
  Walk walk_;
  Region region_;
  std::unordered_map<std::string, int32_t> numbers_;         // of rules, by name
  std::unordered_map<const OpDef*, int> operators_;          // how often left sides have them
  std::unordered_map<uint64_t, std::vector<Move>> found_;    // by likeness
  std::unordered_map<uint64_t, std::vector<Move>> similar_;  // what paid last, by structure
};

}  // namespace

SearchReport select_operators(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                              const GraphPrice& price, const SearchOptions& options,
                              const Stop& stop) {
  return Selection(g, rules, model, price, options, stop).run();
}

}  // namespace regraft::rewrite
