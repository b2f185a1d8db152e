#include "rewrite/macros/compose.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/rule/pattern.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kMostVariables = 26;

/// Thrown inside this file alone: why the moves are no rule.
struct NoRule {
  const char* why;
};

class Composer {
 public:
  Composer(const Graph& before, const Engine& after, const RuleIndex& rules)
      : before_(before), engine_(after), after_(after.graph()), rules_(rules) {
    for (const Move& m : engine_.moves()) {
      const Pattern& left = rules_.rules()[static_cast<size_t>(m.rule)].rule.lhs;
      for (size_t k = 0; k < m.nodes.size(); ++k) take(m.nodes[k], left.nodes[k]);
    }
  }

  Composed run() {
    const std::map<Value, Value> replaced = replacements();
    if (replaced.empty()) throw NoRule{"nothing that is read has changed"};
    for (const auto& [from, to] : replaced) rule().lhs.outputs.push_back(left_of(from));
    for (const auto& [from, to] : replaced) rule().rhs.outputs.push_back(right_of(to));
    rule().domain = {signature()};
    rule().origin = "learnt";
    return std::move(composed_);
  }

 private:
  Rule& rule() { return composed_.rule; }
  bool was_there(int32_t id) const { return id < before_.id_bound() && before_.contains(id); }

  /// What a move matched, as far as it was there at the start.
  void take(int32_t id, const PatternNode& pattern) {
    if (!was_there(id)) return;
    const Node& n = before_.node(id);
    if (n.kind == NodeKind::Constant && pattern.inputs.empty())
      throw NoRule{"a constant is matched by its value"};  // its maker's numbers are the matcher's
    if (n.kind != NodeKind::Call) throw NoRule{"what is matched is no call"};
    matched_.insert(id);
  }

  /// Values of matched calls that something reads which is still there, and what it reads now.
  std::map<Value, Value> replacements() const {
    std::map<Value, Value> all;
    auto note = [&](Value from, Value to) {
      if (from == to) return;
      if (!matched_.count(from.node)) throw NoRule{"a value that was not matched is replaced"};
      auto [it, fresh] = all.emplace(from, to);
      if (!fresh && it->second != to) throw NoRule{"readers of one value read different ones now"};
    };
    for (int32_t id = 0; id < before_.id_bound(); ++id) {
      if (!before_.contains(id) || !after_.alive(id)) continue;
      const auto &was = before_.node(id).inputs, &is = after_.slot(id).inputs;
      for (size_t k = 0; k < std::min(was.size(), is.size()); ++k) note(was[k], is[k]);
    }
    for (size_t k = 0; k < before_.outputs().size(); ++k)
      note(before_.outputs()[k], after_.outputs()[k]);
    return all;
  }

  PatternRef variable(Value v) {
    auto known = variables_.find(v);
    if (known != variables_.end()) return variable_ref(known->second);
    if (values_.size() == kMostVariables) throw NoRule{"too many variables"};
    if (!before_.type(v).shape) throw NoRule{"a shape is not known"};
    auto number = static_cast<int>(values_.size());
    rule().variables.push_back(std::string(1, static_cast<char>('a' + number)));
    values_.push_back(v);
    variables_.emplace(v, number);
    return variable_ref(number);
  }

  static PatternRef add(Pattern& side, PatternNode node, int32_t output) {
    auto at = std::ranges::find_if(side.nodes,
                                   [&](const PatternNode& n) { return regraft::same(n, node); });
    if (at == side.nodes.end()) {
      side.nodes.push_back(std::move(node));
      at = side.nodes.end() - 1;
    }
    return {static_cast<int32_t>(at - side.nodes.begin()), output};
  }

  PatternRef left_of(Value v) {
    if (!matched_.count(v.node)) return variable(v);
    const Node& n = before_.node(v.node);
    PatternNode node = empty_call(n.op, n.attrs);
    for (Value operand : n.inputs) node.inputs.push_back(left_of(operand));
    for (size_t k = 0; k < n.attrs.ints.size(); ++k)
      for (const Poly& p : n.attrs.ints[k]) {
        if (!p.is_constant()) throw NoRule{"an attribute of the left side follows sizes"};
        node.attrs.ints[k].push_back(p);
      }
    return add(rule().lhs, std::move(node), v.output);
  }

  PatternRef right_of(Value v) {
    if (auto known = variables_.find(v); known != variables_.end())
      return variable_ref(known->second);
    const Node n = after_.node(v.node);
    if (n.kind != NodeKind::Call) throw NoRule{"the right side reads what the left does not"};
    PatternNode node = empty_call(n.op, n.attrs);
    for (Value operand : n.inputs) node.inputs.push_back(right_of(operand));
    std::vector<SizeChoice> choices;
    for (size_t k = 0; k < n.attrs.ints.size(); ++k)
      for (size_t i = 0; i < n.attrs.ints[k].size(); ++i) {
        const Poly& p = n.attrs.ints[k][i];
        node.attrs.ints[k].push_back(p.is_constant() ? p : Poly(1));
        SizeChoice choice{0, k, i, {}, p.is_constant()};
        if (!n.op->ints[k].structural) choice.sizes = sizes_like(p);
        if (choice.sizes.empty() && !choice.number)
          throw NoRule{"an attribute of the right side follows other sizes"};
        if (!choice.sizes.empty()) choices.push_back(std::move(choice));
      }
    size_t count = rule().rhs.nodes.size();
    PatternRef ref = add(rule().rhs, std::move(node), v.output);
    if (rule().rhs.nodes.size() > count)
      for (SizeChoice& c : choices) {
        c.node = count;
        composed_.choices.push_back(std::move(c));
      }
    return ref;
  }

  static PatternNode empty_call(const OpDef* op, const Attrs<Poly>& attrs) {
    PatternNode node;
    node.op = op;
    node.attrs.ints.resize(attrs.ints.size());
    node.attrs.reals = attrs.reals;
    node.list_vars.resize(attrs.ints.size());
    node.real_vars.resize(attrs.reals.size());
    return node;
  }

  /// Sizes of variables that are p here.
  std::vector<SizeChoice::Size> sizes_like(const Poly& p) const {
    std::vector<SizeChoice::Size> all;
    if (p.is_constant() && p.constant() < 2) return all;
    for (size_t v = 0; v < values_.size(); ++v) {
      const Shape& shape = before_.shape(values_[v]);
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (regraft::same(shape[axis], p))
          all.push_back({static_cast<int>(v), static_cast<int>(axis)});
    }
    return all;
  }

  Signature signature() const {
    Signature words;
    for (Value v : values_) {
      std::string word;
      for (const Poly& p : before_.shape(v))
        word += p.is_constant() && p.constant() == 1 ? '1' : 'n';
      words.push_back(word.empty() ? "-" : word);
    }
    return words;
  }

  const Graph& before_;
  const Engine& engine_;
  const LiveGraph& after_;
  const RuleIndex& rules_;
  std::set<int32_t> matched_;
  std::map<Value, int> variables_;
  std::vector<Value> values_;
  Composed composed_;
};

}  // namespace

Result<Composed> compose(const Graph& before, const Engine& after, const RuleIndex& rules) {
  try {
    Composed composed = Composer(before, after, rules).run();
    if (!validate(composed.rule)) return error("the rule would not be valid");
    if (is_trivial(composed.rule)) return error("both sides are the same");
    return composed;
  } catch (const NoRule& none) {
    return error(none.why);
  }
}

}  // namespace regraft::rewrite
