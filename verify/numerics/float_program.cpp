#include "verify/numerics/float_program.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.h"
#include "ir/graph/eval.h"

namespace regraft::verify {
namespace {

using K = FloatProgram::Kind;
using Step = FloatProgram::Step;

constexpr int64_t kMaxElements = 1 << 13;  // of one tensor
constexpr size_t kMaxSteps = 1 << 18;

struct StepHash {
  size_t operator()(const Step& s) const {
    auto half = [](int32_t x) { return static_cast<uint64_t>(static_cast<uint32_t>(x)); };
    return combine(half(s.a) << 32 | half(s.b),
                   static_cast<uint64_t>(s.kind) << 8 | static_cast<uint64_t>(s.fn));
  }
};

/// Makes steps, each once.
class Steps {
 public:
  explicit Steps(FloatProgram& p) : p_(p) {}

  int32_t read(int32_t input, int32_t element) { return once({K::Read, Fn::Exp, input, element}); }
  int32_t constant(Tape::Number n) {
    bool whole = n.d == 0 && std::abs(n.real) < 0x1p53 && n.real == std::trunc(n.real);
    if (whole) n = {static_cast<int64_t>(n.real), 1, 0};
    std::array<double, 3> key = {static_cast<double>(n.n), static_cast<double>(n.d), n.real};
    auto [it, fresh] = numbers_.emplace(key, static_cast<int32_t>(p_.numbers.size()));
    if (fresh) p_.numbers.push_back(n);
    return once({K::Constant, Fn::Exp, it->second, -1});
  }
  int32_t integer(int64_t n) { return constant({n, 1, 0}); }
  int32_t add(int32_t a, int32_t b) {
    if (is_integer(a, 0)) return b;
    if (is_integer(b, 0)) return a;
    return once({K::Add, Fn::Exp, std::min(a, b), std::max(a, b)});
  }
  int32_t mul(int32_t a, int32_t b) {
    if (is_integer(a, 1)) return b;
    if (is_integer(b, 1)) return a;
    if (is_integer(b, -1)) std::swap(a, b);
    if (is_integer(a, -1))
      if (auto inner = negated(b)) return *inner;
    if (auto d = unit_fraction(a)) return div(b, integer(*d));
    if (auto d = unit_fraction(b)) return div(a, integer(*d));
    return once({K::Mul, Fn::Exp, std::min(a, b), std::max(a, b)});
  }
  int32_t div(int32_t a, int32_t b) { return is_integer(b, 1) ? a : once({K::Div, Fn::Exp, a, b}); }
  int32_t apply(Fn f, int32_t x) {
    return f == Fn::Relu ? max({x, integer(0)}) : once({K::Apply, f, x, -1});
  }
  int32_t clip(int32_t x, double low, double high) {
    auto [it, fresh] = bounds_.emplace(std::array{low, high}, static_cast<int32_t>(bounds_.size()));
    if (fresh) p_.bounds.push_back({low, high});
    return once({K::Clip, Fn::Exp, x, it->second});
  }
  /// The largest of the largest is the largest.
  int32_t max(const std::vector<int32_t>& of) {
    std::vector<int32_t> all;
    for (int32_t x : of) {
      const Step& s = at(x);
      if (s.kind != K::Max)
        all.push_back(x);
      else
        all.insert(all.end(), p_.arguments.begin() + s.a, p_.arguments.begin() + s.b);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() == 1) return all[0];
    auto [it, fresh] = maxima_.emplace(all, static_cast<int32_t>(p_.steps.size()));
    if (!fresh) return it->second;
    auto first = static_cast<int32_t>(p_.arguments.size());
    p_.arguments.insert(p_.arguments.end(), all.begin(), all.end());
    p_.steps.push_back({K::Max, Fn::Exp, first, static_cast<int32_t>(p_.arguments.size())});
    return it->second;
  }
  int32_t choose(const std::array<int32_t, 3>& of) {
    auto [it, fresh] = choices_.emplace(of, static_cast<int32_t>(p_.steps.size()));
    if (!fresh) return it->second;
    auto first = static_cast<int32_t>(p_.arguments.size());
    p_.arguments.insert(p_.arguments.end(), of.begin(), of.end());
    p_.steps.push_back({K::Choose, Fn::Exp, first, first + 3});
    return it->second;
  }
  /// Where an operator stores x; x itself where nothing can be lost.
  int32_t round(int32_t x) { return is_stored(x) ? x : once({K::Round, Fn::Exp, x, -1}); }

 private:
  const Step& at(int32_t step) const { return p_.steps[static_cast<size_t>(step)]; }
  int32_t once(const Step& s) {
    if (2 * (known_ + 1) > table_.size()) grow();
    int32_t& place = place_of(s);
    if (place >= 0) return place;
    place = static_cast<int32_t>(p_.steps.size());
    p_.steps.push_back(s);
    ++known_;
    return place;
  }
  /// Where the table has the step, or has room for it.
  int32_t& place_of(const Step& s) {
    const size_t mask = table_.size() - 1;
    for (size_t k = StepHash()(s) & mask;; k = (k + 1) & mask)
      if (table_[k] < 0 || at(table_[k]) == s) return table_[k];
  }
  void grow() {
    std::vector<int32_t> old = std::exchange(table_, {});
    table_.assign(std::max<size_t>(64, 2 * old.size()), -1);
    for (int32_t step : old)
      if (step >= 0) place_of(at(step)) = step;
  }
  const Tape::Number* number(int32_t step) const {
    return at(step).kind == K::Constant ? &p_.numbers[static_cast<size_t>(at(step).a)] : nullptr;
  }
  bool is_integer(int32_t step, int64_t n) const {
    const Tape::Number* c = number(step);
    return c && c->d == 1 && c->n == n;
  }
  /// d of the constant 1 / d.
  std::optional<int64_t> unit_fraction(int32_t step) const {
    const Tape::Number* c = number(step);
    return c && c->d > 1 && c->n == 1 ? std::optional(c->d) : std::nullopt;
  }
  /// x of -1 * x.
  std::optional<int32_t> negated(int32_t step) const {
    const Step& s = at(step);
    if (s.kind != K::Mul) return std::nullopt;
    if (is_integer(s.a, -1)) return s.b;
    if (is_integer(s.b, -1)) return s.a;
    return std::nullopt;
  }
  /// The value is one that a tensor can hold already.
  bool is_stored(int32_t step) const {
    const Step& s = at(step);
    auto stored = [&](int32_t x) { return is_stored(x); };
    switch (s.kind) {
      case K::Read:
      case K::Round:
        return true;
      case K::Constant:
        return is_integer(step, 0) || is_integer(step, 1) || is_integer(step, -1);
      case K::Max:
        return std::all_of(p_.arguments.begin() + s.a, p_.arguments.begin() + s.b, stored);
      case K::Mul:
        return negated(step) && is_stored(*negated(step));
      case K::Apply:
        return facts(s.fn).range && facts(s.fn).jumps;  // 0 or 1
      default:
        return false;
    }
  }

  FloatProgram& p_;
  std::vector<int32_t> table_;  // open addressing: steps by what they are, -1 where none is
  size_t known_ = 0;            // steps in it
  std::map<std::array<double, 3>, int32_t> numbers_;
  std::map<std::array<double, 2>, int32_t> bounds_;
  std::map<std::vector<int32_t>, int32_t> maxima_;
  std::map<std::array<int32_t, 3>, int32_t> choices_;
};

/// A tensor whose elements are steps.
using StepTensor = Array<int32_t>;

/// The tape of one output of a call, with its operands' steps in place of its reads.
std::vector<int32_t> inlined(Steps& steps, const Tape& tape, const std::vector<Traced>& results,
                             const std::vector<const StepTensor*>& operands) {
  std::vector<int32_t> ids;
  auto of = [&](int32_t k) { return ids[static_cast<size_t>(k)]; };
  auto recip = [&](int32_t k) {  // b of recip(b)
    const Tape::Step& s = tape.steps[static_cast<size_t>(k)];
    return s.kind == Tape::Apply && s.fn == Fn::Recip ? std::optional(of(s.a)) : std::nullopt;
  };
  for (const Tape::Step& s : tape.steps) switch (s.kind) {
      case Tape::Constant:
        ids.push_back(steps.constant(tape.numbers[static_cast<size_t>(s.a)]));
        break;
      case Tape::Read:
        ids.push_back(operands[static_cast<size_t>(s.a)]->data[static_cast<size_t>(s.b)]);
        break;
      case Tape::Add:
        ids.push_back(steps.add(of(s.a), of(s.b)));
        break;
      case Tape::Mul:
        if (auto b = recip(s.b))
          ids.push_back(steps.div(of(s.a), *b));
        else if (auto a = recip(s.a))
          ids.push_back(steps.div(of(s.b), *a));
        else
          ids.push_back(steps.mul(of(s.a), of(s.b)));
        break;
      case Tape::Apply:
        ids.push_back(s.fn == Fn::Recip ? steps.div(steps.integer(1), of(s.a))
                                        : steps.apply(s.fn, of(s.a)));
        break;
      case Tape::Clip: {
        const auto& [low, high] = tape.bounds[static_cast<size_t>(s.b)];
        ids.push_back(steps.clip(of(s.a), low.value, high.value));
        break;
      }
      case Tape::Max: {
        std::vector<int32_t> all;
        for (int32_t k = s.a; k < s.b; ++k)
          all.push_back(of(tape.arguments[static_cast<size_t>(k)]));
        ids.push_back(steps.max(all));
        break;
      }
      case Tape::Choose: {
        auto argument = [&](int32_t k) { return of(tape.arguments[static_cast<size_t>(s.a + k)]); };
        ids.push_back(steps.choose({argument(0), argument(1), argument(2)}));
        break;
      }
    }
  std::vector<int32_t> stored;
  for (const Traced& t : results) stored.push_back(steps.round(of(t.step)));
  return stored;
}

Attrs<int64_t> attributes(const Attrs<Poly>& at, const Valuation& sizes, const RealValues& reals) {
  Attrs<int64_t> r = evaluate(at, sizes);
  for (size_t k = 0; k < at.reals.size(); ++k)
    if (Var v = at.reals[k].symbol; v && reals.count(v)) r.reals[k].value = reals.at(v);
  return r;
}

/// One side of a rule.
class Side {
 public:
  Side(Steps& steps, const FloatProgram& p, const Graph& g, const Valuation& sizes,
       const RealValues& reals)
      : steps_(steps), p_(p), g_(g), sizes_(sizes), reals_(reals) {
    values_.resize(static_cast<size_t>(g.id_bound()));
  }

  std::optional<std::vector<StepTensor>> run() {
    auto order = topological_order(g_);
    if (!order) return std::nullopt;
    for (size_t k = 0; k < g_.inputs().size(); ++k) add_input(k);
    for (int32_t id : *order)
      if (g_.node(id).kind != NodeKind::Input && !add_call(id)) return std::nullopt;
    std::vector<StepTensor> outputs;
    for (Value v : g_.outputs()) outputs.push_back(at(v));
    return outputs;
  }

 private:
  StepTensor& at(Value v) {
    return values_[static_cast<size_t>(v.node)][static_cast<size_t>(v.output)];
  }
  static int64_t count(const std::vector<int64_t>& shape) {
    int64_t n = 1;
    for (int64_t d : shape) n = d < 1 || d > kMaxElements || n > kMaxElements ? -1 : n * d;
    return n > kMaxElements ? -1 : n;
  }
  void add_input(size_t k) {
    StepTensor t{p_.inputs[k], {}};
    bool truths = g_.type(g_.inputs()[k]).dtype == DType::Bool;
    for (int64_t e = 0, n = count(t.shape); e < n; ++e) {
      int32_t x = steps_.read(static_cast<int32_t>(k), static_cast<int32_t>(e));
      t.data.push_back(truths ? steps_.apply(Fn::Step, x) : x);
    }
    values_[static_cast<size_t>(g_.inputs()[k].node)].push_back(std::move(t));
  }
  bool add_call(int32_t id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call) return false;
    std::vector<const StepTensor*> operands;
    Shapes<Reals> in;
    for (Value v : n.inputs) {
      operands.push_back(&at(v));
      in.push_back(at(v).shape);
    }
    Attrs<int64_t> attrs = attributes(n.attrs, sizes_, reals_);
    Reals sizes_only;
    auto shapes = n.op->reals_semantics.infer(sizes_only, in, attrs);
    if (!shapes || !sizes_only.ok) return false;
    std::vector<StepTensor> results;
    for (size_t out = 0; out < shapes->size(); ++out) {
      auto data = traced(*n.op, operands, attrs, (*shapes)[out], static_cast<int>(out));
      if (!data) return false;
      results.push_back({(*shapes)[out], *std::move(data)});
    }
    values_[static_cast<size_t>(id)] = std::move(results);
    return true;
  }
  std::optional<std::vector<int32_t>> traced(const OpDef& op,
                                             const std::vector<const StepTensor*>& operands,
                                             const Attrs<int64_t>& attrs,
                                             const std::vector<int64_t>& shape, int out) {
    int64_t n = count(shape);
    if (n < 0) return std::nullopt;
    Tape tape;
    Trace trace(tape);
    std::vector<std::vector<Traced>> elements(operands.size());
    std::vector<NumTensor<Traced>> views;
    for (size_t o = 0; o < operands.size(); ++o) {
      for (size_t e = 0; e < operands[o]->data.size(); ++e)
        elements[o].push_back(trace.element(static_cast<int>(o), static_cast<int64_t>(e)));
      views.emplace_back(operands[o]->shape, elements[o].data());
    }
    std::vector<Traced> results(static_cast<size_t>(n));
    op.fill_float(trace, views, attrs, shape, out, 0, results);
    if (!trace.ok || tape.steps.size() + p_.steps.size() > kMaxSteps) return std::nullopt;
    return inlined(steps_, tape, results, operands);
  }

  Steps& steps_;
  const FloatProgram& p_;
  const Graph& g_;
  const Valuation& sizes_;
  const RealValues& reals_;
  std::vector<std::vector<StepTensor>> values_;  // by node id
};

std::vector<int64_t> position_of(size_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> position(shape.size());
  auto rest = static_cast<int64_t>(flat);
  for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) position[d] = rest % shape[d];
  return position;
}

}  // namespace

std::vector<int32_t> cone(const FloatProgram& p, int32_t step) {
  std::vector<char> needed(static_cast<size_t>(step) + 1, 0);
  needed.back() = 1;
  std::vector<int32_t> steps;
  for (int32_t k = step; k >= 0; --k) {
    if (!needed[static_cast<size_t>(k)]) continue;
    steps.push_back(k);
    for_each_operand(p, p.steps[static_cast<size_t>(k)],
                     [&](int32_t operand) { needed[static_cast<size_t>(operand)] = 1; });
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::optional<FloatProgram> float_program(const RuleInstance& instance, const Valuation& sizes,
                                          const RealValues& reals) {
  try {
    FloatProgram p;
    for (Value v : instance.lhs.inputs()) {
      auto& shape = p.inputs.emplace_back();
      int64_t n = 1;
      for (const Poly& d : instance.lhs.shape(v)) {
        shape.push_back(evaluate(d, sizes));
        if (shape.back() < 1 || (n *= shape.back()) > kMaxElements) return std::nullopt;
      }
    }
    Steps steps(p);
    auto left = Side(steps, p, instance.lhs, sizes, reals).run();
    auto right = left ? Side(steps, p, instance.rhs, sizes, reals).run() : std::nullopt;
    if (!right || left->size() != right->size()) return std::nullopt;
    for (size_t k = 0; k < left->size(); ++k) {
      if ((*left)[k].shape != (*right)[k].shape) return std::nullopt;
      for (size_t e = 0; e < (*left)[k].data.size(); ++e)
        p.elements.push_back({static_cast<int>(k), position_of(e, (*left)[k].shape),
                              (*left)[k].data[e], (*right)[k].data[e]});
    }
    return p;
  } catch (const PolyOverflow&) {  // of a size
    return std::nullopt;
  }
}

FloatProgram pruned(const FloatProgram& p, const std::vector<size_t>& elements) {
  std::vector<char> needed(p.steps.size(), 0);
  for (size_t e : elements)
    for (int32_t step : {p.elements[e].left, p.elements[e].right})
      needed[static_cast<size_t>(step)] = 1;
  for (size_t k = p.steps.size(); k-- > 0;)
    if (needed[k])
      for_each_operand(p, p.steps[k],
                       [&](int32_t operand) { needed[static_cast<size_t>(operand)] = 1; });
  FloatProgram r;
  r.numbers = p.numbers;
  r.bounds = p.bounds;
  r.inputs = p.inputs;
  std::vector<int32_t> place(p.steps.size(), -1);
  for (size_t k = 0; k < p.steps.size(); ++k) {
    if (!needed[k]) continue;
    Step s = p.steps[k];
    auto moved = [&](int32_t step) { return place[static_cast<size_t>(step)]; };
    if (s.kind == K::Max || s.kind == K::Choose) {
      auto first = static_cast<int32_t>(r.arguments.size());
      for (int32_t a = s.a; a < s.b; ++a)
        r.arguments.push_back(moved(p.arguments[static_cast<size_t>(a)]));
      s.a = first;
      s.b = static_cast<int32_t>(r.arguments.size());
    } else if (s.kind != K::Constant && s.kind != K::Read) {
      s.a = moved(s.a);
      if (s.kind == K::Add || s.kind == K::Mul || s.kind == K::Div) s.b = moved(s.b);
    }
    place[k] = static_cast<int32_t>(r.steps.size());
    r.steps.push_back(s);
  }
  for (size_t e : elements) {
    r.elements.push_back(p.elements[e]);
    r.elements.back().left = place[static_cast<size_t>(p.elements[e].left)];
    r.elements.back().right = place[static_cast<size_t>(p.elements[e].right)];
  }
  return r;
}

}  // namespace regraft::verify
