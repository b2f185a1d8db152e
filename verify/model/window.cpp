#include "verify/model/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/algebra/scan.h"
#include "ir/rule/text.h"
#include "verify/arithmetic/walk.h"
#include "verify/derivations/elaborate.h"
#include "verify/model/equal_sizes.h"
#include "verify/model/numbers.h"
#include "verify/refute/refute.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

constexpr int64_t kSmallConstant = 1 << 12;  ///< elements that are looked at
constexpr int64_t kSampled = 4096;           ///< elements of a window that is tried on numbers, too
const OpDef& full_op() {
  static const OpDef* const op = find_op("full");
  return *op;
}

/// The two sides on the way.
class Maker {
 public:
  Maker(const Cut& cut, Numbers numbers) : cut_(cut), numbers_(numbers) {
    w_.instance.lhs = Graph(cut.graph.shared_pool());
    w_.instance.rhs = Graph(cut.graph.shared_pool());
  }

  std::optional<Window> run(Value a, Value b, std::vector<int32_t> left,
                            std::vector<int32_t> right) {
    w_.left = std::move(left);
    w_.right = std::move(right);
    find_inputs(w_.left, a);
    size_t of_left = w_.frontier.size();
    find_inputs(w_.right, b);
    for (size_t k = of_left; k < w_.frontier.size(); ++k)
      if (int32_t id = w_.frontier[k].node;
          id >= cut_.first_b && cut_.graph.node(id).kind == NodeKind::Constant)
        return std::nullopt;
    shift_sizes();
    for (Value v : w_.frontier)
      if (!add_input(v)) return std::nullopt;
    RuleInstance& r = w_.instance;
    note_numbers();
    if (numbers_ == Numbers::Explained) explain_attributes();
    bool done =
        add_side(r.lhs, w_.left, a, false, [&](const Formula& f) { add(r.requires_lhs, f); }) &&
        add_side(r.rhs, w_.right, b, true, [&](const Formula& f) { r.requires_rhs.push_back(f); });
    if (!done) return std::nullopt;
    w_.key = to_string(r.lhs) + "=>\n" + to_string(r.rhs) + symbols_of(r);
    for (const auto& [number, f] : w_.fractions)
      w_.key += fmt::format(" {}={}/{}", number, f.n, f.d);
    w_.text = text_of(r.lhs) + " => " + text_of(r.rhs);
    return std::move(w_);
  }

 private:
  bool is_number(Value v) const { return cut_.number[static_cast<size_t>(v.node)].has_value(); }
  void find_inputs(const std::vector<int32_t>& side, Value root) {
    std::set<int32_t> inside(side.begin(), side.end());
    auto visit = [&](Value v) {
      if (inside.count(v.node) == 0 && !is_number(v) && places_.emplace(v, places_.size()).second)
        w_.frontier.push_back(v);
    };
    for (int32_t id : side)
      for (Value v : cut_.operands[static_cast<size_t>(id)]) visit(v);
    visit(root);
  }

  /// The symbol and the number that p is the sum of.
  static std::optional<std::pair<Var, int64_t>> symbol_and_number(const Poly& p) {
    Var symbol = symbol_of(p - Poly(p.constant()));
    return symbol ? std::optional(std::pair(symbol, p.constant())) : std::nullopt;
  }

  /// Where the inputs have a symbol only with a number added to it, the sum becomes a symbol:
  /// proofs divide by symbols. As good for all sizes: each stands for exactly one other.
  void shift_sizes() {
    if (cut_.shifted == nullptr) return;
    std::map<Var, std::set<int64_t>, SymbolLess> numbers;
    for (Value v : w_.frontier)
      for (const Poly& p : cut_.graph.type(v).shape.value_or(Shape{}))
        any_symbol(p, [&](Var s) {
          auto sum = symbol_and_number(p);
          numbers[s].insert(sum && sum->first == s ? sum->second : 0);
          return false;
        });
    for (const auto& [s, all] : numbers) {
      bool plain = s->kind == SymbolKind::Size && !s->numerator;
      if (!plain || all.size() != 1 || *all.begin() <= 0) continue;
      int64_t number = *all.begin();
      auto [it, fresh] = cut_.shifted->try_emplace({s, number}, nullptr);
      if (fresh)
        it->second = cut_.graph.pool().fresh(s->name + "+" + std::to_string(number),
                                             SymbolKind::Size, s->min + number);
      replaced_.emplace(s, Poly::symbol(it->second) - Poly(number));
    }
  }
  Attrs<Poly> shifted(Attrs<Poly> at) const {
    return replaced_.empty() ? at : with_sizes(std::move(at), replaced_);
  }

  bool add_input(Value v) {
    TensorType type = cut_.graph.type(v);
    if (!type.shape) return false;
    for (Poly& p : *type.shape)
      if (!replaced_.empty() && !p.is_constant()) p = substitute(p, replaced_);
    auto& sizes = w_.instance.sizes.emplace_back();
    for (const Poly& p : *type.shape) {
      Var symbol = symbol_of(p);
      sizes.push_back(symbol ? std::optional(symbol) : std::nullopt);
    }
    std::string name = "x" + std::to_string(w_.instance.sizes.size() - 1);
    w_.instance.lhs.add_input(type, name);
    w_.instance.rhs.add_input(type, name);
    return true;
  }

  /// What the left side has.
  void note_numbers() {
    for (int32_t id : w_.left) {
      for (Value v : cut_.operands[static_cast<size_t>(id)])
        if (is_number(v)) known_.insert(*cut_.number[static_cast<size_t>(v.node)]);
      for (const Real& r : cut_.graph.node(id).attrs.reals)
        if (!r.symbol) known_.insert(r.value);
      for (Value v : cut_.operands[static_cast<size_t>(id)])
        for (const Poly& p : cut_.graph.type(v).shape.value_or(Shape{}))
          if (p.is_constant()) extents_.insert(p.constant());
    }
  }

  /// Attributes cannot be expressions in a proof. So a number of the left side becomes one over the
  /// attribute that an optimiser computed of it.
  void explain_attributes() {
    for (int32_t id : w_.right)
      for (const Real& r : cut_.graph.node(id).attrs.reals) {
        if (r.symbol || known_.count(r.value) > 0 || kept_.count(r.value) > 0) continue;
        if (auto f = fraction_near(r.value, extents_, DType::F32)) {
          explain_as(r.value, *f);
          w_.fractions.emplace(value_of(*f), *f);
          continue;
        }
        auto found = explain(r.value, known_, DType::F32);
        auto of_attribute = found ? solved_for_x(*found, r.value) : std::nullopt;
        if (!of_attribute || !over_attributes_.emplace(found->x, *of_attribute).second) continue;
        kept_.insert(r.value);
        w_.explained.push_back({r.value, found->value, found->text});
      }
  }

  static double value_of(Rational f) { return static_cast<double>(f.n) / static_cast<double>(f.d); }
  void explain_as(double number, Rational f) {
    w_.explained.push_back({number, value_of(f), fmt::format("{} / {}", f.n, f.d)});
  }

  static Value full(Graph& g, const std::vector<Poly>& shape, double number, DType type) {
    auto id = g.add_call(full_op(), {}, Attrs<Poly>{{shape}, {{number, nullptr}}});
    CHECK(id);
    Node n = g.node(*id);
    n.types[0].dtype = type;
    g.replace_node(*id, std::move(n));
    return {*id, 0};
  }

  std::optional<Value> number(Graph& g, Value v, bool right) {
    if (!is_number(v)) return std::nullopt;
    const Constant& c = *cut_.graph.node(v.node).constant;
    double x = *cut_.number[static_cast<size_t>(v.node)];
    std::vector<Poly> shape(c.dims().begin(), c.dims().end());
    auto make = [&](double y) { return full(g, shape, y, c.dtype()); };
    if (auto it = over_attributes_.find(x); it != over_attributes_.end())
      return build(g, it->second, make);
    if (!right || numbers_ == Numbers::AsTheyAre || !is_real(c.dtype()) || known_.count(x))
      return make(x);
    auto found = explain(x, known_, c.dtype());
    if (auto f = found ? std::nullopt : fraction_near(x, extents_, c.dtype())) {
      explain_as(x, *f);
      NumberExpression quotient{
          NumberExpression::Quotient, static_cast<double>(f->n), static_cast<double>(f->d), 0, {}};
      return build(g, quotient, make);
    }
    if (!found) return make(x);
    w_.explained.push_back({x, found->value, found->text});
    return build(g, *found, make);
  }

  /// With numbers that are expressions over the left side's as these are in double precision.
  Attrs<Poly> attrs_of(const Node& n) {
    Attrs<Poly> at = cut_.sizes ? with_sizes(n.attrs, *cut_.sizes) : n.attrs;
    for (Real& r : at.reals) {
      if (numbers_ == Numbers::AsTheyAre || r.symbol || known_.count(r.value)) continue;
      if (kept_.count(r.value) > 0) continue;
      if (auto f = fraction_near(r.value, extents_, DType::F32)) {
        r.value = value_of(*f);
        continue;
      }
      auto found = explain(r.value, known_, DType::F32);
      if (!found || found->text == text::print(1.0)) continue;
      w_.explained.push_back({r.value, found->value, found->text});
      r.value = found->value;
    }
    return at;
  }

  using Assume = std::function<void(const Formula&)>;
  bool add_side(Graph& g, const std::vector<int32_t>& side, Value root, bool right,
                const Assume& assume) {
    std::map<Value, Value> made;
    auto operand = [&](Value v) -> std::optional<Value> {
      if (auto it = made.find(v); it != made.end()) return it->second;
      std::optional<Value> local;
      if (auto it = places_.find(v); it != places_.end())
        local = g.inputs()[it->second];
      else
        local = number(g, v, right);
      if (local) made[v] = *local;
      return local;
    };
    for (int32_t id : side) {
      const Node& n = cut_.graph.node(id);
      std::vector<Value> operands;
      for (Value v : cut_.operands[static_cast<size_t>(id)]) {
        auto local = operand(v);
        if (!local) return false;
        operands.push_back(*local);
      }
      auto call =
          g.add_call(*n.op, std::move(operands), shifted(right ? attrs_of(n) : n.attrs), assume);
      if (!call) return false;
      for (size_t k = 0; k < g.node(*call).types.size(); ++k)
        made[{id, static_cast<int32_t>(k)}] = {*call, static_cast<int32_t>(k)};
    }
    auto out = operand(root);
    if (!out) return false;
    g.set_outputs({*out});
    return true;
  }

  /// Which symbols are the same, and their least values: names do not tell.
  static std::string symbols_of(const RuleInstance& r) {
    std::string s;
    std::map<Var, size_t> numbers;
    auto note = [&](const Poly& p) {
      any_symbol(p, [&](Var v) {
        if (v->kind == SymbolKind::Lookup) s += " t" + std::to_string(v->id);
        if (v->numerator) return false;
        auto n = numbers.emplace(v, numbers.size()).first->second;
        s += " " + std::to_string(n) + ">=" + std::to_string(v->min);
        return false;
      });
    };
    for (const Graph* g : {&r.lhs, &r.rhs})
      for (int32_t id = 0; id < g->id_bound(); ++id) {
        for (const TensorType& t : g->node(id).types)
          for (const Poly& p : t.shape.value_or(Shape{})) note(p);
        for (const auto& list : g->node(id).attrs.ints)
          for (const Poly& p : list) note(p);
      }
    return s;
  }

  static std::string text_of(const Graph& g) {
    constexpr size_t kLongest = 600;
    std::string s;
    std::function<void(Value)> print = [&](Value v) {
      if (s.size() > kLongest) return;
      const Node& n = g.node(v.node);
      if (n.kind == NodeKind::Input) {
        s += "?" + n.names[0];
        return;
      }
      if (n.op == &full_op()) {
        s += text::print(n.attrs.reals[0].value);
        return;
      }
      s += "(" + std::string(n.op->name);
      for (Value o : n.inputs) {
        s += " ";
        print(o);
      }
      for (size_t k = 0; k < n.attrs.ints.size(); ++k)
        if (!n.attrs.ints[k].empty())
          s += " " + std::string(n.op->ints[k].name) + "=" + text::print(n.attrs.ints[k]);
      for (size_t k = 0; k < n.attrs.reals.size(); ++k)
        s += " " + std::string(n.op->reals[k].name) + "=" + text::print(n.attrs.reals[k].value);
      s += v.output > 0 ? ")#" + std::to_string(v.output) : ")";
    };
    print(g.outputs()[0]);
    return s.size() > kLongest ? s.substr(0, kLongest) + " ..." : s;
  }

  const Cut& cut_;
  Numbers numbers_;
  Window w_;
  Substitution replaced_;           // symbols, by those that are them and a number
  std::map<Value, size_t> places_;  // of the frontier
  std::set<double> known_;
  std::set<int64_t> extents_;                           // of the left side's operands
  std::set<double> kept_;                               // attributes of the right side
  std::map<double, NumberExpression> over_attributes_;  // numbers of the left side
};

}  // namespace

std::vector<std::optional<double>> numbers_of(const Graph& g) {
  std::vector<std::optional<double>> numbers(static_cast<size_t>(g.id_bound()));
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || g.node(id).kind != NodeKind::Constant) continue;
    const Constant& c = *g.node(id).constant;
    bool readable = is_real(c.dtype()) || is_integer(c.dtype());
    if (!readable || c.count() < 1 || c.count() > kSmallConstant) continue;
    auto data = c.reals();
    bool exact =
        data && std::isfinite(data->front()) &&
        (is_real(c.dtype()) || std::abs(data->front()) < 0x1p53);  // larger ones are rounded
    if (!exact) continue;
    if (std::ranges::all_of(*data, [&](double x) { return x == data->front(); }))
      numbers[static_cast<size_t>(id)] = data->front();
  }
  return numbers;
}

std::optional<std::vector<int32_t>> cone(const Cut& cut, Value root, const Leaf& leaf,
                                         size_t most) {
  std::vector<int32_t> order;
  std::set<int32_t> seen;
  bool fits = true;
  std::function<void(Value)> visit = [&](Value v) {
    if (!fits || leaf(v) || seen.count(v.node) > 0) return;
    const Node& n = cut.graph.node(v.node);
    if (n.kind == NodeKind::Constant || n.kind == NodeKind::Input) return;
    seen.insert(v.node);
    fits = n.kind == NodeKind::Call && seen.size() <= most;
    for (Value o : cut.operands[static_cast<size_t>(v.node)]) visit(o);
    order.push_back(v.node);
  };
  visit(root);
  return fits ? std::optional(std::move(order)) : std::nullopt;
}

std::optional<Window> make_window(const Cut& cut, Value a, Value b, std::vector<int32_t> left,
                                  std::vector<int32_t> right, Numbers numbers) {
  try {
    return Maker(cut, numbers).run(a, b, std::move(left), std::move(right));
  } catch (const PolyOverflow&) {
    return std::nullopt;
  }
}

Verdict judge(const Window& window, uint64_t effort, const Stop& stop) {
  const RuleInstance& instance = window.instance;
  std::vector<Valuation> sizes = sample_sizes(instance, 1, 3);
  std::erase_if(sizes, [&](const Valuation& v) {
    int64_t n = total_elements(instance, v);
    return n < 0 || n > kSampled;
  });
  if (!sizes.empty()) {
    NumericCheck numbers = check_numbers(instance, sizes, 1, Counterexamples::Any);
    if (numbers.counterexample) return {VerdictKind::Refuted, "differs on a sample"};
  }
  Verdict v = SymbolicProver(limits_for(effort), &stop, window.fractions).prove(instance);
  if (is_for_all_sizes(v.kind) && elaborate(instance, &stop).derivation)
    v.kind = VerdictKind::ProvedAllSizes;
  return v;
}

}  // namespace regraft::verify
