#include "rl/vector/arrays.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.h"
#include "rewrite/search/reporter.h"

namespace regraft::rl {
namespace {

// Features that tell what a match changes: of a match, and of the whole state.
constexpr size_t kFirstChange = 0, kChanges = 4;
constexpr size_t kFirstSaving = 5, kSavings = 3;
constexpr double kMost = 1e30;  // of a feature; they are logarithms and parts

/// Rows up to `now` of a table were written; those up to `before` become padding again.
template <class T>
void clear(T* table, size_t columns, size_t now, size_t before, T padding) {
  if (before > now) std::fill(table + now * columns, table + before * columns, padding);
}

/// A list of nodes as a row of fixed width.
void write_list(const std::vector<int32_t>& all, const std::vector<int32_t>& first, size_t k,
                size_t nodes, int32_t* row, size_t width) {
  int32_t* end = row + width;
  auto last = static_cast<size_t>(first[k + 1]);
  for (auto at = static_cast<size_t>(first[k]); at < last && row < end; ++at)
    if (static_cast<size_t>(all[at]) < nodes) *row++ = all[at];
  std::fill(row, end, -1);
}

}  // namespace

size_t bytes_of(Element e) {
  constexpr size_t kBytes[] = {1, 4, 4, 8};
  return kBytes[static_cast<size_t>(e)];
}

std::string to_string(Element e) {
  constexpr const char* kNames[] = {"int8", "int32", "float32", "float64"};
  return kNames[static_cast<size_t>(e)];
}

size_t ArraySpec::size() const {
  return std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
}

std::vector<ArraySpec> array_specs(const Capacity& c, Actions actions) {
  std::vector<ArraySpec> specs;
  auto add = [&](const char* name, Element e, std::vector<size_t> shape, double low, double high,
                 int padding = 0) {
    specs.push_back({name, Part::Observation, e, std::move(shape), padding, low, high});
  };
  auto count = [](size_t n) { return static_cast<double>(n); };
  add("counts", Element::Int32, {3}, 0, count(std::max({c.nodes, c.edges, c.actions})));
  add("op", Element::Int32, {c.nodes}, 0, count(op_names().size()));
  add("node", Element::Float32, {c.nodes, kNodeFeatures}, -kMost, kMost);
  add("edge_index", Element::Int32, {2, c.edges}, -1, count(c.nodes) - 1, -1);
  add("edge", Element::Float32, {c.edges, kEdgeFeatures}, -kMost, kMost);
  add("rule", Element::Int32, {c.actions}, 0, count(c.rules));
  add("match", Element::Float32, {c.actions, kMatchFeatures}, -kMost, kMost);
  add("inside", Element::Int32, {c.actions, c.inside}, -1, count(c.nodes) - 1, -1);
  add("near", Element::Int32, {c.actions, c.near}, -1, count(c.nodes) - 1, -1);
  add("global", Element::Float32, {kGlobalFeatures}, -kMost, kMost);
  if (actions == Actions::Matches) {
    add("action_mask", Element::Int8, {c.actions}, 0, 1);
  } else {
    add("locations", Element::Int32, {c.rules + 1}, 0, count(c.locations));
    add("rule_mask", Element::Int8, {c.rules + 1}, 0, 1);
    add("location_mask", Element::Int8, {c.locations}, 0, 1);
  }
  auto tell = [&](const char* name, Element e) { specs.push_back({name, Part::Info, e, {}}); };
  for (const char* name : {"reward", "cost", "best", "original"}) tell(name, Element::Float64);
  for (const char* name : {"terminated", "truncated", "invalid", "began"})
    tell(name, Element::Int8);
  for (const char* name :
       {"rule_applied", "certificate_step", "steps", "model", "overflow", "left_out"})
    tell(name, Element::Int32);
  return specs;
}

std::vector<int32_t> offered(const Environment& env, Costs costs, size_t most) {
  std::vector<int32_t> all(env.matches().size());
  std::iota(all.begin(), all.end(), 0);
  auto match = [&](int32_t k) -> const rewrite::Match& {
    return env.match(static_cast<size_t>(k));
  };
  if (all.size() > most) {
    auto end = all.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(all.begin(), end, all.end(), [&](int32_t a, int32_t b) {
      return rewrite::comes_first(match(a), match(b));
    });
    all.erase(end, all.end());
    std::sort(all.begin(), all.end());
  }
  if (costs == Costs::Hidden)
    std::sort(all.begin(), all.end(), [&](int32_t a, int32_t b) {
      const rewrite::Match &x = match(a), &y = match(b);
      return std::tie(x.rule, x.nodes, x.variables) < std::tie(y.rule, y.nodes, y.variables);
    });
  return all;
}

void ArrayWriter::write(Environment& env, const std::vector<int32_t>& offered,
                        const StepInfo& info) {
  const Observation& o = env.observation();
  now_ = {std::min(capacity_.nodes, static_cast<size_t>(o.nodes)),
          std::min(capacity_.edges, o.edges()), offered.size() + 1};
  next_ = 0;
  auto* counts = next<int32_t>();
  counts[0] = static_cast<int32_t>(now_.nodes);
  write_nodes(o);
  write_edges(o);
  counts[1] = static_cast<int32_t>(now_.edges);
  counts[2] = static_cast<int32_t>(now_.actions);
  write_actions(o, offered);
  write_global(o);
  write_masks(o, offered);
  write_info(info);
  size_t left_out = static_cast<size_t>(o.nodes) - now_.nodes + o.edges() - now_.edges;
  *next<int32_t>() = static_cast<int32_t>(left_out);
  CHECK(next_ == arrays_.size());
  written_ = now_;
}

void ArrayWriter::write_nodes(const Observation& o) {
  auto* op = next<int32_t>();
  for (size_t k = 0; k < now_.nodes; ++k) op[k] = o.op[k] + 1;
  clear(op, 1, now_.nodes, written_.nodes, 0);
  auto* node = next<float>();
  std::copy_n(o.node.data(), now_.nodes * kNodeFeatures, node);
  clear(node, kNodeFeatures, now_.nodes, written_.nodes, 0.0F);
}

/// Edges whose ends both fit.
void ArrayWriter::write_edges(const Observation& o) {
  auto *source = next<int32_t>(), *target = source + capacity_.edges;
  auto* edge = next<float>();
  size_t n = 0;
  auto is_there = [&](int32_t node) { return static_cast<size_t>(node) < now_.nodes; };
  for (size_t k = 0; k < o.edges() && n < capacity_.edges; ++k) {
    if (!is_there(o.source[k]) || !is_there(o.target[k])) continue;
    source[n] = o.source[k];
    target[n] = o.target[k];
    std::copy_n(&o.edge[k * kEdgeFeatures], kEdgeFeatures, edge + n * kEdgeFeatures);
    ++n;
  }
  now_.edges = n;
  clear(source, 1, n, written_.edges, -1);
  clear(target, 1, n, written_.edges, -1);
  clear(edge, kEdgeFeatures, n, written_.edges, 0.0F);
}

/// Row 0 is to stop: no rule, no nodes.
void ArrayWriter::write_actions(const Observation& o, const std::vector<int32_t>& offered) {
  auto* rule = next<int32_t>();
  auto* match = next<float>();
  auto *inside = next<int32_t>(), *near = next<int32_t>();
  for (size_t a = 0; a < offered.size(); ++a) {
    auto k = static_cast<size_t>(offered[a]);
    rule[a + 1] = o.rule[k] + 1;
    float* row = match + (a + 1) * kMatchFeatures;
    std::copy_n(&o.match[k * kMatchFeatures], kMatchFeatures, row);
    if (costs_ == Costs::Hidden) std::fill_n(row + kFirstChange, kChanges, 0.0F);
    write_list(o.inside, o.inside_first, k, now_.nodes, inside + (a + 1) * capacity_.inside,
               capacity_.inside);
    write_list(o.near, o.near_first, k, now_.nodes, near + (a + 1) * capacity_.near,
               capacity_.near);
  }
  clear(rule, 1, now_.actions, written_.actions, 0);
  clear(match, kMatchFeatures, now_.actions, written_.actions, 0.0F);
  clear(inside, capacity_.inside, now_.actions, written_.actions, -1);
  clear(near, capacity_.near, now_.actions, written_.actions, -1);
}

void ArrayWriter::write_global(const Observation& o) {
  auto* global = next<float>();
  std::ranges::copy(o.global, global);
  if (costs_ == Costs::Hidden) std::fill_n(global + kFirstSaving, kSavings, 0.0F);
}

void ArrayWriter::write_masks(const Observation& o, const std::vector<int32_t>& offered) {
  if (actions_ == Actions::Matches) {
    auto* mask = next<int8_t>();
    std::fill_n(mask, now_.actions, int8_t{1});
    clear(mask, 1, now_.actions, written_.actions, int8_t{0});
    return;
  }
  auto* locations = next<int32_t>();
  auto *rules = next<int8_t>(), *all = next<int8_t>();
  std::fill_n(locations, capacity_.rules + 1, 0);
  locations[0] = 1;
  int32_t most = 1;
  for (int32_t k : offered) {
    int32_t n = ++locations[o.rule[static_cast<size_t>(k)] + 1];
    most = std::max(most, n);
  }
  for (size_t r = 0; r <= capacity_.rules; ++r) rules[r] = locations[r] > 0;
  for (size_t l = 0; l < capacity_.locations; ++l) all[l] = l < static_cast<size_t>(most);
}

void ArrayWriter::write_info(const StepInfo& info) {
  for (double x : {info.result.reward, info.cost, info.best, info.original}) *next<double>() = x;
  for (bool b : {info.result.terminated, info.result.truncated, info.invalid, info.began})
    *next<int8_t>() = b;
  for (int32_t n : {info.rule, info.moves, info.steps, info.model, info.overflow})
    *next<int32_t>() = n;
}

}  // namespace regraft::rl
