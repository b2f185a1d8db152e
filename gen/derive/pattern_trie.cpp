#include "gen/derive/pattern_trie.h"

#include <algorithm>
#include <bit>

namespace regraft::gen {
namespace {

enum Kind : size_t { Tensor, List, Number, Real };

/// The number of a variable by its first use.
int renumbered(std::vector<int>& seen, int id) {
  auto at = std::find(seen.begin(), seen.end(), id);
  if (at == seen.end()) at = seen.insert(at, id);
  return static_cast<int>(at - seen.begin());
}

/// Where the places of a trie's nodes are noted: as large as the trie, and made once for a thread.
/// All of it says "none" while nobody uses it.
std::vector<uint32_t>& spare_places() {
  thread_local std::vector<uint32_t> places;
  return places;
}

uint64_t word(int64_t n) { return static_cast<uint64_t>(n); }

}  // namespace

PatternTrie::PatternTrie(const std::vector<std::unique_ptr<const Matchable>>& rules) {
  for (const auto& rule : rules)
    for (auto d : {Matchable::Forward, Matchable::Backward}) {
      const Matchable::Side& side = rule->sides_[d];
      bool fits = side.binds_all && side.pattern->outputs.size() == 1 &&
                  !is_variable(side.pattern->outputs[0]);
      ends_.push_back(fits ? add(side) : kNone);
    }
  children_.clear();
  step_ids_.clear();
}

uint32_t PatternTrie::add(const Matchable::Side& side) {
  std::array<std::vector<int>, 4> ids;
  uint32_t at = kNone;
  for (size_t s = 0; s < side.order.steps.size(); ++s) {
    uint32_t step = intern(canonical(side, s, ids));
    uint64_t key = uint64_t{at} << 32 | step;
    auto [child, fresh] = children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (fresh) nodes_.push_back({at, step});
    at = child->second;
  }
  depth_ = std::max(depth_, side.order.steps.size());
  for (const auto& of_kind : ids) variables_ = std::max(variables_, of_kind.size());
  return at;
}

PatternTrie::Step PatternTrie::canonical(const Matchable::Side& side, size_t s,
                                         std::array<std::vector<int>, 4>& ids) {
  const EPattern::Step& own = side.order.steps[s];
  Step step{side.calls[static_cast<size_t>(own.ref.node)], own.ref.output, own.operands};
  for (int32_t& slot : step.operands)
    if (slot >= 0) slot = renumbered(ids[Tensor], slot);
  for (Matchable::Ints& ints : step.call.ints) {
    if (ints.list >= 0) ints.list = renumbered(ids[List], ints.list);
    for (Matchable::Number& n : ints.numbers)
      if (n.kind == Matchable::Number::Variable)
        n.value = renumbered(ids[Number], static_cast<int>(n.value));
  }
  for (int& real : step.call.reals)
    if (real >= 0) real = renumbered(ids[Real], real);
  return step;
}

uint32_t PatternTrie::intern(Step step) {
  std::vector<uint64_t> key = {std::bit_cast<uintptr_t>(step.call.node->op), word(step.output)};
  for (int32_t slot : step.operands) key.push_back(word(slot));
  for (const Matchable::Ints& ints : step.call.ints) {
    key.insert(key.end(), {word(ints.list), word(ints.axes != nullptr), ints.numbers.size()});
    for (const Matchable::Number& n : ints.numbers) {
      bool expression = n.kind == Matchable::Number::Expression;
      key.insert(key.end(), {word(n.kind), expression ? 0 : word(n.value)});
    }
  }
  for (size_t k = 0; k < step.call.reals.size(); ++k) {
    bool given = step.call.reals[k] < 0;
    double value = given ? step.call.node->attrs.reals[k].value : 0;
    key.insert(key.end(), {word(step.call.reals[k]), std::bit_cast<uint64_t>(value)});
  }
  auto [at, fresh] = step_ids_.try_emplace(std::move(key), static_cast<uint32_t>(steps_.size()));
  if (fresh) steps_.push_back(std::move(step));
  return at->second;
}

TrieMatcher::TrieMatcher(const PatternTrie& trie)
    : trie_(trie),
      place_of_(std::move(spare_places())),
      variables_(trie.variables_, -1),
      classes_(trie.depth_, -1),
      values_(trie.depth_, -1),
      numbers_(trie.variables_),
      reals_(trie.variables_),
      lists_(trie.variables_) {
  if (place_of_.size() < trie.nodes_.size())
    place_of_.resize(trie.nodes_.size(), PatternTrie::kNone);
}

TrieMatcher::~TrieMatcher() {
  for (const Place& p : places_) place_of_[p.node] = PatternTrie::kNone;
  spare_places() = std::move(place_of_);
}

uint32_t TrieMatcher::place_of(uint32_t node) {
  if (place_of_[node] != PatternTrie::kNone) return place_of_[node];
  uint32_t above = trie_.nodes_[node].parent;
  uint32_t parent = above == PatternTrie::kNone ? above : place_of(above);
  auto place = static_cast<uint32_t>(places_.size());
  places_.push_back({node, parent, false, {}, {}});
  (parent == PatternTrie::kNone ? roots_ : places_[parent].children).push_back(place);
  return place_of_[node] = place;
}

void TrieMatcher::choose(RuleFilter::Directed rule) {
  if (end_of(rule) != PatternTrie::kNone) places_[place_of(end_of(rule))].is_end = true;
}

void TrieMatcher::match(const SizedEGraph& graph, const TermSizes& sizes,
                        const MatchLimits& limits) {
  graph_ = &graph;
  sizes_ = &sizes;
  limits_ = limits;
  for (Place& p : places_) p.placements.clear();
  for (uint32_t p : roots_) root(places_[p]);
  for (Place& p : places_)  // those above come first
    if (p.parent != PatternTrie::kNone) p.placements.steps += places_[p.parent].placements.steps;
}

const Placements* TrieMatcher::found(RuleFilter::Directed rule) const {
  if (end_of(rule) == PatternTrie::kNone) return nullptr;
  const Placements& p = places_[place_of_[end_of(rule)]].placements;
  bool whole = p.count < limits_.matches && p.steps + p.count * kFoundSteps < limits_.steps;
  return whole ? &p : nullptr;
}

// --- the search; in the order of SizedMatcher, where the choices are explained ---

void TrieMatcher::root(Place& p) {
  for (const TermSizes::Call& c : sizes_->calls(*step(p).call.node->op)) {
    if (c.whole > limits_.whole) break;
    classes_[0] = c.value;
    spare_ = limits_.whole - c.whole;
    value(p, 0, 0, c.value);
  }
  classes_[0] = -1;
}

void TrieMatcher::member(Place& p, size_t depth, uint64_t before) {
  int32_t least = sizes_->size(classes_[depth]), spare = spare_;
  for (const TermSizes::Call& c : sizes_->calls(classes_[depth], *step(p).call.node->op)) {
    if (c.size - least > spare) break;
    spare_ = spare - (c.size - least);
    value(p, depth, before, c.value);
  }
  spare_ = spare;
}

/// `before`: calls looked at by the steps above. Where they reach the limit, it ends all below.
void TrieMatcher::value(Place& p, size_t depth, uint64_t before, EValue v) {
  const EGraph& g = graph_->classes();
  if (before + p.placements.steps >= limits_.steps) return;
  ++p.placements.steps;
  const PatternTrie::Step& s = step(p);
  auto given = g.operands(g.node_of(v));
  if (g.output_of(v) != s.output || given.size() != s.operands.size()) return;
  size_t bound = trail_.size();
  int64_t rank = given.empty() ? 0 : static_cast<int64_t>(graph_->shape(given[0]).size());
  if (attributes(s.call, v, rank)) {
    values_[depth] = v;
    operands(p, depth, before, 0, false);
    bool commutes = s.call.node->op->commutative && given.size() >= 2;
    if (commutes && !g.equal(given[0], given[1])) operands(p, depth, before, 0, true);
  }
  unbind(bound);
}

void TrieMatcher::operands(Place& p, size_t depth, uint64_t before, size_t k, bool exchanged) {
  const EGraph& g = graph_->classes();
  const auto& wanted = step(p).operands;
  if (k == wanted.size()) return next(p, depth, before);
  EValue given = g.operands(g.node_of(values_[depth]))[exchanged && k < 2 ? 1 - k : k];
  EValue& place = slot(wanted[k]);
  if (place >= 0) {
    if (g.equal(place, given)) operands(p, depth, before, k + 1, exchanged);
    return;
  }
  place = given;
  operands(p, depth, before, k + 1, exchanged);
  place = -1;
}

void TrieMatcher::next(Place& p, size_t depth, uint64_t before) {
  if (p.is_end && ++p.placements.count < limits_.matches) {
    auto& found = p.placements.values;
    for (size_t s = 0; s <= depth; ++s) found.insert(found.end(), {classes_[s], values_[s]});
    for (size_t v = 0; v < variables_.size() && variables_[v] >= 0; ++v)
      found.push_back(variables_[v]);
  }
  for (uint32_t c : p.children) member(places_[c], depth + 1, before + p.placements.steps);
}

bool TrieMatcher::attributes(const Matchable::Call& call, EValue v, int64_t rank) {
  const Attrs<int64_t>& given = graph_->attrs(v);
  for (size_t k = 0; k < call.ints.size(); ++k)
    if (!integers(call.ints[k], call.node->op->ints[k], given.ints[k], rank)) return false;
  for (size_t k = 0; k < call.reals.size(); ++k) {
    double x = given.reals[k].value, own = call.node->attrs.reals[k].value;
    bool fits = call.reals[k] < 0 ? std::bit_cast<uint64_t>(own) == std::bit_cast<uint64_t>(x)
                                  : bind(call.reals[k], x);
    if (!fits) return false;
  }
  return true;
}

bool TrieMatcher::integers(const Matchable::Ints& own, const IntAttr& attr,
                           const std::vector<int64_t>& given, int64_t rank) {
  if (own.list >= 0) return bind(own.list, given);
  if (own.axes) return true;
  if (own.numbers.empty())
    return std::all_of(given.begin(), given.end(),
                       [&](int64_t n) { return attr.fallback && n == *attr.fallback; });
  if (own.numbers.size() != given.size()) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    const Matchable::Number& n = own.numbers[i];
    bool from_back = n.value < 0 && attr.kind == IntKind::Axis;
    if (n.kind == Matchable::Number::Given && n.value + (from_back ? rank : 0) != given[i])
      return false;
    if (n.kind == Matchable::Number::Variable && !bind(static_cast<int>(n.value), given[i]))
      return false;
  }
  return true;
}

bool TrieMatcher::bind(int id, int64_t n) {
  auto& variable = numbers_[static_cast<size_t>(id)];
  if (variable) return *variable == n;
  variable = n;
  trail_.push_back({&variable, nullptr, nullptr});
  return true;
}
bool TrieMatcher::bind(int id, double x) {
  auto& variable = reals_[static_cast<size_t>(id)];
  if (variable) return *variable == x;
  variable = x;
  trail_.push_back({nullptr, &variable, nullptr});
  return true;
}
bool TrieMatcher::bind(int id, const std::vector<int64_t>& list) {
  auto& variable = lists_[static_cast<size_t>(id)];
  if (variable) return *variable == list;
  variable = &list;
  trail_.push_back({nullptr, nullptr, &variable});
  return true;
}
void TrieMatcher::unbind(size_t until) {
  for (; trail_.size() > until; trail_.pop_back()) {
    const Bound& b = trail_.back();
    if (b.number) b.number->reset();
    if (b.real) b.real->reset();
    if (b.list) *b.list = nullptr;
  }
}

}  // namespace regraft::gen
