#include "gen/rewrites/rewrites.h"

#include <algorithm>

#include "gen/generalise/check.h"
#include "gen/generalise/generalise.h"
#include "gen/rewrites/rewrite_matcher.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {

const bool* Rewrites::KnownShapes::find(uint64_t words) const {
  for (const LookedUp* l = first.load(std::memory_order_acquire); l; l = l->next)
    if (l->words == words) return &l->holds;
  return nullptr;
}

bool Rewrites::holds_at(const Directed& rule, const std::vector<ClassId>& variables) const {
  KnownShapes& known = *rule.shapes;
  uint64_t words = variables.size();  // a collision of hashes takes shapes for others
  for (ClassId c : variables) words = combine(words, words_[graph_.shape(c)]);
  const bool* before = known.find(words);
  if (!before) {
    std::lock_guard lock(known.mutex);
    before = known.find(words);
    if (!before) {
      auto [it, fresh] = known.holds.try_emplace(signature(variables), false);
      if (fresh) it->second = check(*rule.rule, it->first, kShapeSeed, kShapes) == Evidence::Holds;
      known.looked_up.push_back({words, it->second, known.first});
      known.first.store(&known.looked_up.back(), std::memory_order_release);
      before = &known.looked_up.back().holds;
    }
  }
  if (places_ && *before) places_->emplace(rule.number, signature(variables));
  return *before;
}

void Rewrites::add(const Rule& rule, const std::vector<Signature>& found) {
  if (rule.lhs.outputs.size() != 1) return;
  auto shared = std::make_shared<const Rule>(rule);
  auto code = std::make_shared<const RuleCode>(*shared);
  added_.push_back({shared, found});
  auto shapes = std::make_shared<KnownShapes>();
  for (const Signature& s : found) shapes->holds.emplace(s, true);
  size_t number = added_.size() - 1;
  add_directed({shared, code, &shared->lhs, &shared->rhs, {}, {}, {}, shapes, number});
  add_directed({shared, code, &shared->rhs, &shared->lhs, {}, {}, {}, shapes, number});
}

Rewrites::Rewrites(const ValueGraph& graph) : graph_(graph) {
  ShapedOps& ops = graph.plans();
  const auto& instances = ops.grammar().instances;
  by_root_.resize(instances.size());
  for (size_t k = 0; k < instances.size(); ++k) {
    instance_ops_.push_back(bit_of(ops.root(k)));
  }
  std::map<std::string, uint32_t> words;
  for (ClassId c = 0; c < graph.size(); ++c) {
    add_word(graph.shape(c), words);
    uint64_t& bits = class_ops_.emplace_back(0);
    if (graph.is_leaf(c)) continue;
    for (Application a : graph.nodes(c)) bits |= instance_ops_[static_cast<size_t>(a.instance())];
  }
}

void Rewrites::add_word(ShapeId shape, std::map<std::string, uint32_t>& words) {
  if (words_.size() <= shape) words_.resize(shape + 1, kNoWord);
  if (words_[shape] != kNoWord) return;
  std::string word;
  for (int64_t d : graph_.plans().info(shape).dims) word += d == 1 ? '1' : 'n';
  if (word.empty()) word = "-";
  auto [it, fresh] = words.try_emplace(word, static_cast<uint32_t>(word_list_.size()));
  if (fresh) word_list_.push_back(word);
  words_[shape] = it->second;
}

/// The given numbers of a pattern's root are an instance's, as far as that can be said beforehand.
bool Rewrites::may_be(const PatternNode& node, const Label& label) const {
  for (size_t k = 0; k < label.attrs.ints.size(); ++k) {
    const auto& wanted = node.attrs.ints[k];
    const auto& given = label.attrs.ints[k];
    if (!list_variable(node, k).empty() || wanted.empty()) continue;
    if (wanted.size() != given.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].is_constant() && wanted[i].constant() != given[i]) return false;
  }
  return true;
}

/// Those without followers that may be a node, as far as that can be said beforehand.
std::vector<int> Rewrites::instances_of(const PatternNode& node) const {
  const ShapedOps& ops = graph_.plans();
  std::vector<int> r;
  for (size_t k = 0; k < by_root_.size(); ++k)
    if (!ops.then(k) && ops.label(k).op == node.op &&
        ops.grammar().instances[k].operands.size() == node.inputs.size() &&
        may_be(node, ops.label(k)))
      r.push_back(static_cast<int>(k));
  return r;
}

void Rewrites::add_directed(Directed d) {
  PatternRef root = d.from->outputs[0];
  if (is_variable(root)) return;
  const PatternNode& node = d.from->nodes[static_cast<size_t>(root.node)];
  if (node.inputs.size() > kMaxArity) return;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    PatternRef input = node.inputs[k];
    if (!is_variable(input))
      d.wanted[k] = bit_of(d.from->nodes[static_cast<size_t>(input.node)].op);
  }
  ShapedOps& ops = graph_.plans();
  for (const PatternNode& n : d.from->nodes) d.from_ops.push_back(bit_of(n.op));
  for (const PatternNode& n : d.to->nodes) d.instances.push_back(instances_of(n));
  for (size_t instance = 0; instance < by_root_.size(); ++instance) {
    if (ops.root(instance) != node.op) continue;
    if (!ops.then(instance) && !may_be(node, ops.label(instance))) continue;
    auto& buckets = by_root_[instance];
    auto at = std::find_if(buckets.begin(), buckets.end(),
                           [&](const Bucket& b) { return b.wanted == d.wanted; });
    if (at == buckets.end()) at = buckets.insert(buckets.end(), {d.wanted, {}});
    at->rules.push_back(rules_.size());
  }
  rules_.push_back(std::move(d));
}

Rewrites::OperandOps Rewrites::operand_ops(Application a) const {
  OperandOps r{};
  auto instance = static_cast<size_t>(a.instance());
  if (graph_.plans().then(instance)) {
    auto plain = graph_.sibling(a, nullptr);
    auto c = plain ? graph_.find(*plain) : std::nullopt;
    r[0] = c ? class_ops_[*c] : bit_of(graph_.plans().label(instance).op);
    return r;
  }
  Operands operands = graph_.operands(a);
  for (size_t k = 0; k < operands.count; ++k) r[k] = class_ops_[operands.ids[k]];
  return r;
}

void Rewrites::at(Application a, size_t first, int size,
                  FunctionRef<bool(const Rewritten&)> visit) const {
  auto instance = static_cast<size_t>(a.instance());
  const auto& buckets = by_root_[instance];
  if (buckets.empty()) return;
  OperandOps has = operand_ops(a), swapped = has;
  RewriteState state;
  if (graph_.plans().root(instance)->commutative) std::swap(swapped[0], swapped[1]);
  auto fits = [](const OperandOps& wanted, const OperandOps& ops) {
    for (size_t k = 0; k < kMaxArity; ++k)
      if (wanted[k] & ~ops[k]) return false;
    return true;
  };
  for (const Bucket& bucket : buckets) {
    if (bucket.rules.back() < first) continue;
    if (!fits(bucket.wanted, has) && !fits(bucket.wanted, swapped)) continue;
    for (auto k = std::lower_bound(bucket.rules.begin(), bucket.rules.end(), first);
         k != bucket.rules.end(); ++k)
      if (RewriteMatcher(*this, rules_[*k], size, state, visit).run(a)) return;
  }
}

}  // namespace regraft::gen
