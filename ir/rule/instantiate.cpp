// A rule at given ranks: its two patterns as graphs over symbolic sizes.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft {
namespace {

class Instantiator {
 public:
  explicit Instantiator(const Rule& rule) : rule_(rule) {
    auto pool = std::make_shared<SymbolPool>();
    out_.lhs = Graph(pool);
    out_.rhs = Graph(pool);
    find_zero_based(rule.lhs);
    find_zero_based(rule.rhs);
    for (const Condition& c : rule.where) {
      if (c.relation != Relation::Equal) continue;
      find_fixed(c.first, c.second);
      find_fixed(c.second, c.first);
    }
  }

  Result<RuleInstance> run(const Signature& signature) {
    RETURN_IF_ERROR(add_variables(signature));
    bool contradiction = false;
    out_.lhs_ids = {};
    RETURN_IF_ERROR(add_side(rule_.lhs, out_.lhs, out_.lhs_ids, [&](const Formula& f) {
      contradiction = contradiction || f.kind == Formula::False;
      add(out_.requires_lhs, f);
    }));
    for (const auto& [symbol, size] : fixed_sizes_) add(out_.requires_lhs, symbol == Poly(size));
    for (const Condition& c : rule_.where) {
      ASSIGN_OR_RETURN(Poly x, translated(c.first));
      ASSIGN_OR_RETURN(Poly y, translated(c.second));
      Formula f = c.relation == Relation::Equal    ? x == y
                  : c.relation == Relation::AtMost ? x <= y
                                                   : x < y;
      contradiction = contradiction || f.kind == Formula::False;
      add(out_.requires_lhs, f);
    }
    for (const RealCondition& c : real_conditions_of(rule_)) {
      ASSIGN_OR_RETURN(std::string x, translated(c.first));
      ASSIGN_OR_RETURN(std::string y, translated(c.second));
      out_.real_conditions.push_back({std::move(x), std::move(y), c.relation});
    }
    if (contradiction || plainly_false(out_.requires_lhs))
      return error("the left side has no well-formed shapes");
    RETURN_IF_ERROR(add_side(rule_.rhs, out_.rhs, out_.rhs_ids, [&](const Formula& f) {
      contradiction = contradiction || f.kind == Formula::False;
      add(out_.requires_rhs, f);
    }));
    if (contradiction) return error("the right side is not well-formed");
    RETURN_IF_ERROR(compare_ranks());
    return std::move(out_);
  }

 private:
  int64_t least(const std::string& variable) const { return zero_based_.count(variable) ? 0 : 1; }

  /// A variable may be 0 where any of its attributes may; every other is at least 1.
  void find_zero_based(const Pattern& side) {
    for (const PatternNode& n : side.nodes)
      for (size_t k = 0; k < n.attrs.ints.size(); ++k) {
        if (n.op->ints[k].least() != 0) continue;
        if (!list_variable(n, k).empty()) zero_based_.insert(list_variable(n, k));
        for (const Poly& p : n.attrs.ints[k])
          for_each_symbol(p, [&](Var v) {
            if (auto number = number_name(*v)) zero_based_.insert(*number);
          });
      }
  }

  /// "v.2=3": such a size is the number itself wherever it occurs, so that what is computed from it
  /// is known to be 1 where it is.
  void find_fixed(const Poly& size, const Poly& number) {
    if (!number.is_constant() || number.constant() < 1) return;
    if (size.terms().size() != 1 || size.constant() != 0 || size.terms()[0].coefficient != 1)
      return;
    const Monomial& m = size.terms()[0].monomial;
    if (m.size() != 1) return;
    if (auto name = size_name(*m[0])) fixed_[{name->variable, name->axis}] = number.constant();
  }
  /// The number that variable v's axis d of `rank` is said to be.
  std::optional<int64_t> fixed(const std::string& variable, int d, int rank) const {
    for (int axis : {d, d - rank})
      if (auto it = fixed_.find({variable, axis}); it != fixed_.end()) return it->second;
    return std::nullopt;
  }

  Status add_variables(const Signature& signature) {
    if (signature.size() != rule_.variables.size())
      return error("the signature has " + std::to_string(signature.size()) + " words, the rule " +
                   std::to_string(rule_.variables.size()) + " variables");
    for (size_t v = 0; v < signature.size(); ++v) {
      const std::string& word = signature[v];
      bool letters = word.find_first_not_of("n1") == std::string::npos && word.size() <= kMaxRank;
      if (word.empty() || (!letters && word != "-"))
        return error("'" + word + "' is no word of a signature");
      Shape shape;
      out_.sizes.emplace_back();
      for (size_t d = 0; letters && d < word.size(); ++d) {
        std::optional<Var> symbol;
        if (word[d] == 'n')
          symbol = out_.lhs.pool().named(rule_.variables[v] + "." + std::to_string(d), 1);
        auto number = fixed(rule_.variables[v], static_cast<int>(d), static_cast<int>(word.size()));
        if (symbol && number) fixed_sizes_.push_back({Poly::symbol(*symbol), *number});
        shape.push_back(!symbol ? Poly(1) : number ? Poly(*number) : Poly::symbol(*symbol));
        out_.sizes.back().push_back(symbol);
      }
      DType type = is_truth(v) ? DType::Bool : DType::F32;
      out_.lhs.add_input({type, shape}, rule_.variables[v]);
      out_.rhs.add_input({type, shape}, rule_.variables[v]);
    }
    return {};
  }

  /// The left side has variable v where its operators want truth values.
  bool is_truth(size_t v) const {
    for (const PatternNode& n : rule_.lhs.nodes)
      for (size_t k = 0; k < n.inputs.size() && n.op->truths != 0; ++k) {
        PatternRef r = n.inputs[k];
        if (n.op->wants_truth(k) && is_variable(r) && static_cast<size_t>(variable_of(r)) == v)
          return true;
      }
    return false;
  }

  Status add_side(const Pattern& side, Graph& g, std::vector<int32_t>& ids,
                  const std::function<void(const Formula&)>& on_require) {
    auto value = [&](PatternRef r) {
      return is_variable(r) ? g.inputs()[static_cast<size_t>(variable_of(r))]
                            : Value{ids[static_cast<size_t>(r.node)], r.output};
    };
    auto exists = [&](PatternRef r) {
      return is_variable(r) ||
             r.output < static_cast<int32_t>(g.node(ids[static_cast<size_t>(r.node)]).types.size());
    };
    for (const PatternNode& n : side.nodes) {
      std::vector<Value> operands;
      for (PatternRef r : n.inputs) {
        if (!exists(r)) return error(std::string(n.op->name) + ": reads an output that is missing");
        operands.push_back(value(r));
      }
      int rank = operands.empty() ? 0 : static_cast<int>(g.shape(operands[0]).size());
      ASSIGN_OR_RETURN(Attrs<Poly> attrs, attributes(n, rank));
      ASSIGN_OR_RETURN(int32_t id,
                       g.add_call(*n.op, std::move(operands), std::move(attrs), on_require));
      ids.push_back(id);
    }
    std::vector<Value> outputs;
    for (PatternRef r : side.outputs) {
      if (!exists(r)) return error("an output of the rule is missing");
      outputs.push_back(value(r));
    }
    g.set_outputs(std::move(outputs));
    return {};
  }

  Result<Attrs<Poly>> attributes(const PatternNode& n, int rank) {
    Attrs<Poly> at;
    for (size_t k = 0; k < n.op->ints.size(); ++k) {
      ASSIGN_OR_RETURN(std::vector<Poly> list, integers(n, k, rank));
      at.ints.push_back(std::move(list));
    }
    for (size_t k = 0; k < n.op->reals.size(); ++k) {
      const std::string& name = real_variable(n, k);
      if (name.empty()) {
        at.reals.push_back(n.attrs.reals[k]);
        continue;
      }
      if (is_expression(name)) {
        ASSIGN_OR_RETURN(std::string text, translated(name.substr(1)));
        at.reals.push_back({0, out_.lhs.pool().named("=" + text, 0)});
      } else {
        at.reals.push_back({0, real_symbol(name)});
      }
    }
    return at;
  }

  Var real_symbol(const std::string& name) {
    Var v = out_.lhs.pool().named(name, 0);
    out_.real_symbols[name] = v;
    return v;
  }
  /// An expression over the symbols of the instance.
  Result<std::string> translated(const std::string& expression) {
    Status status;
    std::string text = print(expression_of("=" + expression), [&](const std::string& name) {
      if (name[0] == '?') {
        real_symbol(name.substr(1));
        return name;
      }
      auto size = translated(Poly::symbol(rule_.pool->named(name)));
      if (!size) status = size.error();
      return size ? to_string(*size) : name;
    });
    if (!status) return status.error();
    return text;
  }

  Result<std::vector<Poly>> integers(const PatternNode& n, size_t k, int rank) {
    const IntAttr& attr = n.op->ints[k];
    auto place = [&] { return std::string(n.op->name) + ": " + std::string(attr.name); };
    auto length = attr_length(attr, rank);
    if (axis_term(n, k)) return error(place() + " is a variable, so this is a family of rules");
    if (!list_variable(n, k).empty()) return list(list_variable(n, k), length, place);
    const std::vector<Poly>& given = n.attrs.ints[k];
    if (given.empty()) {
      if (length && *length > 0 && !attr.fallback) return error(place() + " is missing");
      return std::vector<Poly>(length.value_or(0), Poly(attr.fallback.value_or(0)));
    }
    std::vector<Poly> r;
    for (const Poly& p : given) {
      ASSIGN_OR_RETURN(Poly q, translated(p));
      r.push_back(std::move(q));
    }
    return r;
  }

  /// The numbers of list variable `name`; `length` nullopt: as many as its other uses have.
  Result<std::vector<Poly>> list(const std::string& name, std::optional<size_t> length,
                                 const std::function<std::string()>& place) {
    auto known = out_.list_symbols.find(name);
    if (known == out_.list_symbols.end()) {
      if (!length) return error(place() + ": nothing says how many numbers ?" + name + " has");
      std::vector<Var> symbols;
      for (size_t i = 0; i < *length; ++i)
        symbols.push_back(out_.lhs.pool().named(name + "." + std::to_string(i), least(name)));
      known = out_.list_symbols.emplace(name, std::move(symbols)).first;
    }
    if (length && *length != known->second.size())
      return error(place() + " needs " + std::to_string(*length) + " numbers, ?" + name + " has " +
                   std::to_string(known->second.size()));
    std::vector<Poly> r;
    for (Var v : known->second) r.push_back(Poly::symbol(v));
    return r;
  }

  /// p over the symbols of the instance.
  Result<Poly> translated(const Poly& p) {
    std::string problem;
    auto symbol = [&](Var v) -> Poly {
      if (auto number = number_name(*v))
        return Poly::symbol(out_.lhs.pool().named(*number, least(*number)));
      auto size = size_name(*v);
      auto name = size ? std::find(rule_.variables.begin(), rule_.variables.end(), size->variable)
                       : rule_.variables.end();
      if (name == rule_.variables.end()) {
        problem = "'" + v->name + "' is no variable of the rule";
        return Poly(1);
      }
      const auto& sizes = out_.sizes[static_cast<size_t>(name - rule_.variables.begin())];
      auto rank = static_cast<int>(sizes.size());
      int axis = size->axis < 0 ? size->axis + rank : size->axis;
      if (axis < 0 || axis >= rank) {
        problem = "'" + v->name + "' is a size that the variable does not have";
        return Poly(1);
      }
      const auto& s = sizes[static_cast<size_t>(axis)];
      if (!s) return Poly(1);
      auto number = fixed(size->variable, axis, rank);
      return number ? Poly(*number) : Poly::symbol(*s);
    };
    try {
      auto r = moved(p, out_.lhs.pool(), symbol);
      if (!problem.empty()) return error(problem);
      if (!r) return error("division by a size below 1");
      return *std::move(r);
    } catch (const PolyOverflow&) {
      return error("an attribute is too large");
    }
  }

  Status compare_ranks() const {
    if (out_.lhs.outputs().size() != out_.rhs.outputs().size())
      return error("the sides have different numbers of outputs");
    for (size_t k = 0; k < out_.lhs.outputs().size(); ++k)
      if (out_.lhs.shape(out_.lhs.outputs()[k]).size() !=
          out_.rhs.shape(out_.rhs.outputs()[k]).size())
        return error("output " + std::to_string(k) + " has another rank on the right side");
    return {};
  }

  const Rule& rule_;
  RuleInstance out_;
  std::set<std::string> zero_based_;
  std::map<std::pair<std::string, int>, int64_t> fixed_;  // by variable and axis
  std::vector<std::pair<Poly, int64_t>> fixed_sizes_;
};

}  // namespace

Result<RuleInstance> instantiate(const Rule& rule, const Signature& signature) {
  return Instantiator(rule).run(signature);
}

}  // namespace regraft
