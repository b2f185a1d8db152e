#include "rl/environment/observation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.h"

namespace regraft::rl {

using rewrite::LiveGraph;
using rewrite::Match;

namespace {

/// Change this when a feature changes its meaning.
constexpr const char* kFeatures =
    "1 node: cost us slog/10, percent slog/5, last four dims log2/16, rank/6, flops log2/40, "
    "bytes log2/40, four integer attributes log2/8, operands/8, constant operands/4, results/4, "
    "uses/8; edge: operand 0 1 2 more, result, elements log2/40; match: us slog/5, percent slog, "
    "of its cost, sign, growth/4, nodes/4, variables/4, outputs/2; global: cost, "
    "above best percent, time, nodes log2/10, matches log2/10, best change percent slog, saving, "
    "independent savings percent slog, rules log2/8";

constexpr size_t kPairs = 16;  // buckets for pairs of joined operators of a side

double slog(double x) { return std::copysign(std::log1p(std::abs(x)), x); }
float logarithm(double x, double scale) {
  return static_cast<float>(std::log2(1 + std::max(0.0, x)) / scale);
}

const std::unordered_map<const OpDef*, int32_t>& op_numbers() {
  static const auto numbers = [] {
    std::unordered_map<const OpDef*, int32_t> all;
    for (const OpDef* op : all_ops()) all.emplace(op, static_cast<int32_t>(all.size()));
    return all;
  }();
  return numbers;
}

/// A size as a number; 0 when it is unknown.
double number(const Poly& p) { return p.is_constant() ? static_cast<double>(p.constant()) : 0; }

double elements(const TensorType& t) {
  double n = 1;
  for (const Poly& d : t.shape.value_or(Shape{})) n *= std::max(1.0, number(d));
  return n;
}

void describe_side(const Pattern& side, float* bag, float* pairs) {
  for (const PatternNode& n : side.nodes) {
    ++bag[op_numbers().at(n.op)];
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      if (is_variable(n.inputs[k])) continue;
      const OpDef* from = side.nodes[static_cast<size_t>(n.inputs[k].node)].op;
      uint64_t h = combine(combine(hash_text(from->name), hash_text(n.op->name)), k);
      ++pairs[h % kPairs];
    }
  }
}

}  // namespace

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpDef* op : all_ops()) names.emplace_back(op->name);
  names.emplace_back("opaque");
  return names;
}

uint64_t feature_hash() { return hash_text(kFeatures); }

RuleTable describe(const rewrite::RuleIndex& rules) {
  size_t ops = op_names().size();
  RuleTable t;
  t.columns = 2 * (ops + kPairs) + 4;
  std::vector<float> row;
  for (const auto& compiled : rules.rules()) {
    const Rule& r = compiled.rule;
    row.assign(t.columns, 0);
    describe_side(r.lhs, row.data(), row.data() + ops);
    describe_side(r.rhs, row.data() + ops + kPairs, row.data() + 2 * ops + kPairs);
    float* sizes = row.data() + 2 * (ops + kPairs);
    sizes[0] = static_cast<float>(r.lhs.nodes.size()) / 4;
    sizes[1] = static_cast<float>(r.rhs.nodes.size()) / 4;
    sizes[2] = static_cast<float>(r.variables.size()) / 4;
    sizes[3] = static_cast<float>(r.lhs.outputs.size()) / 2;
    auto& entries = t.rows.emplace_back();
    for (size_t k = 0; k < row.size(); ++k)
      if (row[k] != 0) entries.push_back({static_cast<int32_t>(k), row[k]});
  }
  return t;
}

std::vector<std::string> rule_column_names() {
  std::vector<std::string> names;
  for (const char* side : {"left", "right"}) {
    for (const std::string& op : op_names()) names.push_back(std::string(side) + " " + op);
    for (size_t k = 0; k < kPairs; ++k)
      names.push_back(std::string(side) + " pair " + std::to_string(k));
  }
  for (const char* size : {"left size", "right size", "variables", "outputs"})
    names.emplace_back(size);
  return names;
}

Describer::Describer(const rewrite::Engine& engine, double original)
    : engine_(engine), original_(std::max(original, 1e-9)) {}

bool Describer::is_node(int32_t id) const {
  if (id < 0) return false;
  const LiveGraph::Slot& s = engine_.graph().slot(id);
  return s.alive && !s.constant && (s.kind == NodeKind::Call || s.kind == NodeKind::Opaque);
}

int32_t Describer::op(int32_t id) const {
  const LiveGraph::Slot& s = engine_.graph().slot(id);
  return s.op ? op_numbers().at(s.op) : static_cast<int32_t>(op_numbers().size());
}

/// What does not depend on who reads it.
const std::array<float, kNodeFeatures>& Describer::fixed(int32_t id) {
  const LiveGraph& g = engine_.graph();
  const LiveGraph::Slot& s = g.slot(id);
  key_.assign(1, s.form >= 0 ? s.form : ~id);
  for (Value v : s.inputs) {
    key_.push_back(g.type(v));
    key_.push_back(g.slot(v.node).constant);
  }
  auto [it, added] = known_.try_emplace(key_);
  auto& row = it->second;
  if (!added) return row;
  std::vector<TensorType> operands;
  int constants = 0;
  for (Value v : s.inputs) {
    operands.push_back(g.interner().type(g.type(v)));
    constants += g.slot(v.node).constant;
  }
  cost::Cost cost = g.interner().model().cost(g.node(id), operands);
  row[0] = static_cast<float>(slog(s.cost) / 10);
  row[1] = static_cast<float>(slog(100 * s.cost / original_) / 5);
  const TensorType& type = g.interner().type(s.types.at(0));
  const Shape shape = type.shape.value_or(Shape{});
  size_t rank = shape.size();
  for (size_t k = 0; k < std::min<size_t>(4, rank); ++k)
    row[2 + k] = logarithm(number(shape[rank - 1 - k]), 16);
  row[6] = static_cast<float>(rank) / 6;
  row[7] = logarithm(cost.flops, 40);
  row[8] = logarithm(cost.bytes, 40);
  if (s.form >= 0) {
    const auto& numbers = g.interner().form(s.form).numbers;
    for (size_t k = 0; k < std::min<size_t>(4, numbers.size()); ++k)
      for (int64_t n : numbers[k])
        if (n != rewrite::kNoNumber)
          row[9 + k] = std::max(row[9 + k], logarithm(std::abs(static_cast<double>(n)), 8));
  }
  row[13] = static_cast<float>(s.inputs.size()) / 8;
  row[14] = static_cast<float>(constants) / 4;
  row[15] = static_cast<float>(s.types.size()) / 4;
  return row;
}

float Describer::readers(int32_t id) const {
  return static_cast<float>(std::min(engine_.graph().slot(id).uses, 16)) / 8;
}

std::array<float, kNodeFeatures> Describer::node(int32_t id) {
  auto row = fixed(id);
  row.back() = readers(id);
  return row;
}

std::array<float, kEdgeFeatures> Describer::edge(int32_t user, int32_t operand) const {
  const LiveGraph& g = engine_.graph();
  Value v = g.slot(user).inputs[static_cast<size_t>(operand)];
  std::array<float, kEdgeFeatures> row{};
  row[static_cast<size_t>(std::min(operand, 3))] = 1;
  row[4] = static_cast<float>(v.output);
  row[5] = logarithm(elements(g.interner().type(g.type(v))), 40);
  return row;
}

std::array<float, kMatchFeatures> Describer::match(const Match& m) const {
  double inside = 0;
  for_inside(m, [&](int32_t id) { inside += engine_.graph().slot(id).cost; });
  const Rule& rule = m.fit->rule->rule;
  double change = m.cost_change;
  return {static_cast<float>(slog(change) / 5),
          static_cast<float>(slog(100 * change / original_)),
          static_cast<float>(std::clamp(inside > 0 ? change / inside : 0, -2.0, 2.0)),
          static_cast<float>((change > 0) - (change < 0)),
          static_cast<float>(m.growth / 4.0),
          static_cast<float>(static_cast<double>(m.nodes.size()) / 4),
          static_cast<float>(static_cast<double>(m.variables.size()) / 4),
          static_cast<float>(static_cast<double>(rule.lhs.outputs.size()) / 2)};
}

void Totals::clear() {
  matches = savings = rules = 0;
  least = saving = 0;
  ++round_;
}

void Totals::add(int32_t rule, double cost_change) {
  auto at = static_cast<size_t>(rule);
  if (at >= seen_.size()) seen_.resize(at + 1);
  ++matches;
  rules += std::exchange(seen_[at], round_) != round_;
  if (cost_change >= 0) return;
  least = std::min(least, cost_change);
  saving -= cost_change;
  ++savings;
}

std::array<float, kGlobalFeatures> Describer::global(const Standing& p, const Totals& o) const {
  double all = std::max(1, o.matches);
  double cost = engine_.cost();
  return {static_cast<float>(cost / original_),
          static_cast<float>(slog(100 * (cost - p.best) / original_)),
          static_cast<float>(p.time),
          logarithm(engine_.calls(), 10),
          logarithm(o.matches, 10),
          static_cast<float>(slog(100 * o.least / original_)),
          static_cast<float>(o.savings / all),
          static_cast<float>(slog(100 * o.saving / original_)),
          logarithm(o.rules, 8)};
}

}  // namespace regraft::rl
