#include "rewrite/macros/compose.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ir/rule/pattern.h"
#include "rewrite/macros/opening.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kMostVariables = 26;

/// Thrown inside this file alone: why the moves are no rule.
struct NoRule {
  std::string why;
};

class Composer {
 public:
  Composer(const Graph& before, Engine& engine)
      : before_(before), count_(engine.depth()), moves_(traced(engine)), after_(engine.graph()) {
    if (moves_.size() < count_) throw NoRule{"it was stopped"};
    for (const TracedMove& m : moves_) {
      const Pattern& left = m.fit->rule->rule.lhs;
      for (size_t k = 0; k < m.move.nodes.size(); ++k) take(m.move.nodes[k], left.nodes[k]);
    }
  }

  Composed run() {
    const std::map<Value, Value> replaced = replacements();
    if (replaced.empty()) throw NoRule{"nothing that is read has changed"};
    auto opened = open_numbers(before_, matched_, moves_);
    if (!opened) throw NoRule{opened.error().message};
    opened_ = *std::move(opened);
    for (const auto& [from, to] : replaced) rule_.lhs.outputs.push_back(left_of(from));
    for (const auto& [from, to] : replaced) rule_.rhs.outputs.push_back(right_of(to));
    rule_.domain = {signature()};
    rule_.origin = "learnt";
    return {settled(false), settled(true)};
  }

 private:
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
    rule_.variables.push_back(std::string(1, static_cast<char>('a' + number)));
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
    if (auto known = left_.find(v.node); known != left_.end()) return {known->second, v.output};
    const Node& n = before_.node(v.node);
    PatternNode node = empty_call(n.op, n.attrs);
    node.attrs.ints = opened_.ints.at(v.node);
    for (Value operand : n.inputs) node.inputs.push_back(left_of(operand));
    const PatternRef ref = add(rule_.lhs, std::move(node), v.output);
    left_[v.node] = ref.node;
    return ref;
  }

  PatternRef right_of(Value v) {
    if (auto known = variables_.find(v); known != variables_.end())
      return variable_ref(known->second);
    if (auto known = right_.find(v.node); known != right_.end()) return {known->second, v.output};
    const Node n = after_.node(v.node);
    if (n.kind != NodeKind::Call) throw NoRule{"the right side reads what the left does not"};
    PatternNode node = empty_call(n.op, n.attrs);
    auto open = opened_.ints.find(v.node);
    node.attrs.ints = open == opened_.ints.end() ? n.attrs.ints : open->second;
    for (Value operand : n.inputs) node.inputs.push_back(right_of(operand));
    const PatternRef ref = add(rule_.rhs, std::move(node), v.output);
    right_[v.node] = ref.node;
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

  /// The rule over names of its own.
  Rule settled(bool closed) {
    Rule rule = rule_;
    rule.pool = std::make_shared<SymbolPool>();
    auto named = [&](const Poly& p) { return of_rule(p, *rule.pool, closed); };
    for (Pattern* side : {&rule.lhs, &rule.rhs})
      for (PatternNode& node : side->nodes)
        for (auto& list : node.attrs.ints)
          for (Poly& p : list) p = named(p);
    for (const Condition& c : opened_.where) {
      const Poly first = named(c.first), second = named(c.second);
      const Poly rest = second - first;
      const bool holds = rest.is_constant() && regraft::holds(0, c.relation, rest.constant());
      if (!holds) rule.where.emplace_back(first, second, c.relation);
    }
    return rule;
  }

  Poly of_rule(const Poly& p, SymbolPool& pool, bool closed) {
    auto name = [&](Var v) -> Poly {
      auto open = opened_.symbols.find(v);
      if (open == opened_.symbols.end()) throw NoRule{"a number follows sizes of the model"};
      const OpenSymbol& s = open->second;
      if (!s.is_size && closed && s.there.is_constant()) return s.there;
      if (!s.is_size) return Poly::symbol(pool.named(number_of(v), v->min));
      auto known = variables_.find(s.value);
      if (known == variables_.end()) throw NoRule{"a number follows sizes that no variable has"};
      const std::string& variable = rule_.variables[static_cast<size_t>(known->second)];
      return Poly::symbol(pool.named(variable + "." + std::to_string(s.axis), v->min));
    };
    auto named = moved(p, pool, name);
    if (!named) throw NoRule{"a size is divided by 0"};
    return *std::move(named);
  }
  /// "?s1": of the first letter of its attribute.
  std::string number_of(Var v) {
    auto [known, fresh] = numbers_.emplace(v, "");
    if (fresh) {
      const char letter = opened_.symbols.at(v).attr->name[0];
      known->second = std::string("?") + letter + std::to_string(++counts_[letter]);
    }
    return known->second;
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
  const size_t count_;  // of moves
  const std::vector<TracedMove> moves_;
  const LiveGraph& after_;
  std::set<int32_t> matched_;
  Opened opened_;
  std::map<int32_t, int32_t> left_, right_;  // calls of the sides, by node
  std::map<Value, int> variables_;
  std::vector<Value> values_;
  std::map<Var, std::string, SymbolLess> numbers_;
  std::map<char, int> counts_;
  Rule rule_;
};

}  // namespace

Result<Composed> compose(const Graph& before, Engine& engine) {
  try {
    Composed composed = Composer(before, engine).run();
    RETURN_IF_ERROR(validate(composed.open));
    if (is_trivial(composed.open)) return error("both sides are the same");
    return composed;
  } catch (const NoRule& none) {
    return error(none.why);
  } catch (const PolyOverflow&) {
    return error("a size is too large");
  }
}

}  // namespace regraft::rewrite
