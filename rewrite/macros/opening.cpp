#include "rewrite/macros/opening.h"

#include <algorithm>
#include <map>

namespace regraft::rewrite {

namespace {

constexpr int kMostEquations = 256;  // solved one after the other

/// Thrown inside this file alone: why numbers cannot be open.
struct NotOpen {
  const char* why;
};
/// Thrown inside this file alone: an equation was solved, so all is made again.
struct Solved {};

class Opener {
 public:
  Opener(const Graph& before, const std::set<int32_t>& matched, std::span<const TracedMove> moves)
      : before_(before), moves_(moves) {
    for (int32_t id : full_order(before))
      if (matched.count(id)) order_.push_back(id);
    for (int32_t id : order_) {
      for (Value v : before.node(id).inputs)
        if (!matched.count(v.node)) declare_sizes(v);
      declare_numbers(id);
    }
  }

  Opened run() {
    for (int tries = 0; tries < kMostEquations; ++tries) try {
        replay();
        conditions();
        return std::move(out_);
      } catch (const Solved&) {
      }
    throw NotOpen{"too many equations between sizes"};
  }

 private:
  Poly symbol(std::string name, int64_t least, const Poly& witness, OpenSymbol what) {
    Var v = out_.pool->fresh(std::move(name), SymbolKind::Size, least);
    witness_[v] = number_of(witness);
    what.there = witness;
    out_.symbols[v] = std::move(what);
    return Poly::symbol(v);
  }

  /// Symbols of the model count as numbers that nothing else is.
  int64_t number_of(const Poly& p) {
    Valuation values;
    const std::function<void(const Poly&)> collect = [&](const Poly& q) {
      for (const auto& [monomial, coefficient] : q.terms())
        for (Var v : monomial) {
          if (v->numerator) {
            collect(*v->numerator);
            collect(*v->denominator);
          } else {
            values[v] = 10'007 + 210 * static_cast<int64_t>(v->id);
          }
        }
    };
    collect(p);
    return evaluate(p, values);
  }

  void declare_sizes(Value v) {
    if (sizes_.count(v)) return;
    if (!before_.type(v).shape) throw NotOpen{"a shape is not known"};
    const Shape& shape = before_.shape(v);
    Shape& open = sizes_[v];
    for (size_t d = 0; d < shape.size(); ++d)
      open.push_back(is_one(shape[d]) ? Poly(1)
                                      : symbol("size", 1, shape[d],
                                               {v, static_cast<int>(d), true, nullptr, {}}));
  }

  void declare_numbers(int32_t id) {
    const Node& n = before_.node(id);
    auto& lists = numbers_[id];
    for (size_t k = 0; k < n.attrs.ints.size(); ++k) {
      lists.emplace_back();
      const IntAttr& attr = n.op->ints[k];
      for (const Poly& p : n.attrs.ints[k])
        lists.back().push_back(
            attr.structural ? p : symbol("number", attr.least(), p, {{}, 0, false, &attr, {}}));
    }
  }

  void replay() {
    graph_ = Graph(out_.pool);
    values_.clear();
    inputs_.clear();
    out_.ints.clear();
    out_.where.clear();
    asked_.clear();
    given_.clear();
    for (const auto& [v, shape] : sizes_) {
      Shape open;
      for (const Poly& p : shape) open.push_back(substitute(p, solved_));
      inputs_[v] = graph_.add_input({before_.type(v).dtype, std::move(open)});
    }
    for (int32_t id : order_) {
      const Node& n = before_.node(id);
      auto ints = numbers_.at(id);
      for (auto& list : ints)
        for (Poly& p : list) p = substitute(p, solved_);
      std::vector<Value> operands;
      for (Value v : n.inputs) operands.push_back(here(v));
      add(id, *n.op, std::move(operands), {std::move(ints), n.attrs.reals},
          [&](const Formula& f) { need(f, false); });
    }
    for (const TracedMove& m : moves_) make(m);
  }

  Value here(Value v) const {
    if (auto it = inputs_.find(v); it != inputs_.end()) return it->second;
    auto it = values_.find(v.node);
    if (it == values_.end()) throw NotOpen{"a move reads what is not matched"};
    return {it->second, v.output};
  }
  const Shape& shape(Value v) const {
    const auto& type = graph_.type(here(v));
    if (!type.shape) throw NotOpen{"a shape is not known"};
    return *type.shape;
  }

  void add(int32_t id, const OpDef& op, std::vector<Value> operands, Attrs<Poly> attrs,
           const std::function<void(const Formula&)>& on_require) {
    auto ints = attrs.ints;
    auto call = graph_.add_call(op, std::move(operands), std::move(attrs), on_require);
    if (!call) throw NotOpen{"a call has no form with open sizes"};
    values_[id] = *call;
    out_.ints[id] = std::move(ints);
  }

  /// A formula of the left side (which every match satisfies), or one that a move asks for.
  void need(const Formula& f, bool asked) {
    switch (f.kind) {
      case Formula::True:
        return;
      case Formula::False:
        throw NotOpen{"what a rule asks for does not hold"};
      case Formula::Zero:
        return equate(f.poly, Poly(0), asked);
      case Formula::NonNegative:
        if (asked && !holds(f)) asked_.push_back(f);
        if (!asked) add_given(f);
        return;
      case Formula::And:
        for (const Formula& part : f.parts) need(part, asked);
        return;
      case Formula::Or:
        if (std::ranges::any_of(f.parts, [](const Formula& part) { return holds(part); })) return;
        for (const Formula& part : f.parts)
          if (evaluate(part, witness_)) return need(part, asked);
        throw NotOpen{"what a rule asks for does not hold"};
    }
  }
  void add_given(const Formula& f) { regraft::add(given_, f); }

  void equate(const Poly& p, const Poly& q, bool asked) {
    Poly difference = p - q;
    if (difference.is_zero()) return;
    if (evaluate(difference, witness_) != 0) throw NotOpen{"equal sizes look different"};
    std::vector<Var> choices;
    for (const auto& [monomial, coefficient] : difference.terms())
      if (monomial.size() == 1 && !monomial[0]->numerator) choices.push_back(monomial[0]);
    // A number of an attribute rather than a size; of several the last one.
    std::ranges::sort(choices, [&](Var a, Var b) {
      bool x = out_.symbols.at(a).is_size, y = out_.symbols.at(b).is_size;
      return x != y ? y : a->id > b->id;
    });
    for (Var v : choices) {
      Poly solution;
      if (!solve_for(difference, v, solution) || mentions(solution, v)) continue;
      const Substitution step{{v, solution}};
      for (auto& [symbol, known] : solved_) known = substitute(known, step);
      solved_[v] = solution;
      if (asked && out_.symbols.at(v).is_size) fixed_.push_back(v);
      throw Solved();
    }
    if (asked)
      asked_.push_back(is_zero(difference));
    else
      add_given(is_zero(difference));
  }

  void bind(Var v, const Poly& p, Substitution& binding) {
    auto [known, fresh] = binding.emplace(v, p);
    if (!fresh) equate(known->second, p, true);
  }

  void make(const TracedMove& m) {
    const RuleInstance& instance = *m.fit->instance;
    const Rule& rule = m.fit->rule->rule;
    Substitution binding;
    for (size_t v = 0; v < m.move.variables.size(); ++v) {
      const Shape& sizes = shape(m.move.variables[v]);
      for (size_t d = 0; d < sizes.size(); ++d)
        if (instance.sizes[v][d])
          bind(*instance.sizes[v][d], sizes[d], binding);
        else
          equate(sizes[d], Poly(1), true);
    }
    bind_numbers(m, binding);
    for (const Formula& f : instance.requires_lhs) {
      auto asked = translate(f, binding, *out_.pool);
      if (!asked) throw NotOpen{"a rule asks for what is not bound"};
      need(*asked, true);
    }
    for (size_t j = 0; j < rule.rhs.nodes.size(); ++j) {
      if (m.made[j] < 0) continue;
      const Node& form = instance.rhs.node(instance.rhs_ids[j]);
      Attrs<Poly> attrs = form.attrs;
      for (auto& list : attrs.ints)
        for (Poly& p : list) {
          auto open = translate(p, binding, *out_.pool);
          if (!open) throw NotOpen{"a number of the right side is not bound"};
          p = *std::move(open);
        }
      if (values_.count(m.made[j])) {
        equate_numbers(*form.op, attrs.ints, out_.ints.at(m.made[j]));
        continue;
      }
      for (Real& r : attrs.reals)
        if (r.symbol) r = Real{m.fit->binding.real(r.symbol).value_or(0), nullptr};
      std::vector<Value> operands;
      for (PatternRef r : rule.rhs.nodes[j].inputs)
        operands.push_back(here(is_variable(r)
                                    ? m.move.variables[static_cast<size_t>(variable_of(r))]
                                    : Value{m.made[static_cast<size_t>(r.node)], r.output}));
      add(m.made[j], *form.op, std::move(operands), std::move(attrs),
          [](const Formula&) {});  // follows from what the left side asks for
    }
  }

  /// One node of the graph computes what two calls do.
  void equate_numbers(const OpDef& op, const std::vector<std::vector<Poly>>& a,
                      const std::vector<std::vector<Poly>>& b) {
    for (size_t k = 0; k < a.size(); ++k) {
      if (op.ints[k].structural) continue;
      if (a[k].size() != b[k].size()) throw NotOpen{"a list has another length"};
      for (size_t i = 0; i < a[k].size(); ++i) equate(a[k][i], b[k][i], true);
    }
  }

  void bind_numbers(const TracedMove& m, Substitution& binding) {
    const RuleInstance& instance = *m.fit->instance;
    std::vector<std::pair<Poly, Poly>> later;
    for (size_t j = 0; j < m.move.nodes.size(); ++j) {
      const Node& form = instance.lhs.node(instance.lhs_ids[j]);
      auto known = out_.ints.find(m.move.nodes[j]);
      if (known == out_.ints.end()) throw NotOpen{"a constant is matched by its value"};
      for (size_t k = 0; k < form.attrs.ints.size(); ++k) {
        if (form.op->ints[k].structural) continue;
        const auto &want = form.attrs.ints[k], &have = known->second[k];
        if (want.size() != have.size()) throw NotOpen{"a list has another length"};
        for (size_t i = 0; i < want.size(); ++i) {
          Var v = symbol_of(want[i]);
          if (v && !v->numerator)
            bind(v, have[i], binding);
          else if (want[i].is_constant())
            equate(have[i], want[i], true);
          else
            later.push_back({want[i], have[i]});
        }
      }
    }
    for (const auto& [want, have] : later) {
      auto open = translate(want, binding, *out_.pool);
      if (!open) throw NotOpen{"a rule asks for what is not bound"};
      equate(*open, have, true);
    }
  }

  /// What is asked for beside what every match has.
  void conditions() {
    for (Var v : fixed_) {
      Poly size = Poly::symbol(v);
      out_.where.emplace_back(size, substitute(size, solved_));
    }
    for (const Formula& f : asked_) {
      if (holds(f) || plainly_implies(given_, f)) continue;
      const bool equal = f.kind == Formula::Zero;
      auto same_as = [&](const Condition& c) {
        return same(equal ? c.first : c.second, f.poly) && (c.relation == Relation::Equal) == equal;
      };
      if (std::ranges::any_of(out_.where, same_as)) continue;
      if (equal)
        out_.where.emplace_back(f.poly, Poly(0));
      else
        out_.where.emplace_back(Poly(0), f.poly, Relation::AtMost);
    }
  }

  const Graph& before_;
  std::span<const TracedMove> moves_;
  std::vector<int32_t> order_;    // of the matched calls
  std::map<Value, Shape> sizes_;  // of what they read
  std::map<int32_t, std::vector<std::vector<Poly>>> numbers_;
  Valuation witness_;
  Substitution solved_;
  std::vector<Var> fixed_;  // sizes that a move asked to be something
  Graph graph_;
  std::map<Value, Value> inputs_;
  std::map<int32_t, int32_t> values_;  // by node of the engine
  Conjunction given_;
  std::vector<Formula> asked_;
  Opened out_;
};

}  // namespace

TracedMove traced(Engine& engine, int32_t match) {
  TracedMove done;
  done.fit = engine.match(match).fit;
  engine.apply(match);
  done.move = engine.moves().back();
  const LiveGraph& g = engine.graph();
  const Pattern& rhs = done.fit->rule->rule.rhs;
  for (size_t j = 0; j < rhs.nodes.size(); ++j) {
    std::vector<Value> operands;
    for (PatternRef r : rhs.nodes[j].inputs)
      operands.push_back(is_variable(r) ? done.move.variables[static_cast<size_t>(variable_of(r))]
                                        : Value{done.made[static_cast<size_t>(r.node)], r.output});
    const bool known = std::ranges::none_of(operands, [](Value v) { return v.node < 0; });
    const Fit::Call& call = done.fit->calls[j];
    done.made.push_back(known ? g.find_call(g.content_hash(call.form, operands), call.form,
                                            operands, call.facts->types[0])
                              : -1);
  }
  return done;
}

std::vector<TracedMove> traced(Engine& engine) {
  const std::vector<Move> moves = engine.moves();
  while (engine.depth() > 0) engine.undo();
  std::vector<TracedMove> all;
  for (const Move& move : moves) {
    const int32_t match = engine.find(move);
    if (match < 0) break;
    all.push_back(traced(engine, match));
  }
  return all;
}

Result<Opened> open_numbers(const Graph& before, const std::set<int32_t>& matched,
                            std::span<const TracedMove> moves) try {
  return Opener(before, matched, moves).run();
} catch (const NotOpen& none) {
  return error(none.why);
} catch (const PolyOverflow&) {
  return error("a size is too large");
}

}  // namespace regraft::rewrite
