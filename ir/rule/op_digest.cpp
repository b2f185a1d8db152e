#include "ir/rule/op_digest.h"

#include <bit>
#include <cmath>
#include <map>
#include <mutex>

#include "base/rng.h"
#include "ir/algebra/trace.h"
#include "ir/graph/eval.h"

namespace regraft {
namespace {

constexpr uint64_t kDraws = 3;          // of the inputs
constexpr int64_t kMaxElements = 4096;  // of one output

void add_table(Sha256& into, const OpDef& op) {
  into.text(op.name);
  for (int n : {op.min_arity, op.max_arity, op.outputs, op.outputs_attr})
    into.number(static_cast<uint64_t>(n));
  into.number(op.commutative).number(op.associative).number(op.ints.size());
  for (const IntAttr& a : op.ints)
    into.text(a.name)
        .number(static_cast<uint64_t>(a.length))
        .number(a.fallback.has_value())
        .number(static_cast<uint64_t>(a.fallback.value_or(0)))
        .number(a.structural)
        .number(static_cast<uint64_t>(a.kind));
  into.number(op.reals.size());
  for (const RealAttr& a : op.reals) into.text(a.name).number(std::bit_cast<uint64_t>(a.fallback));
  if (op.truths != 0) into.number(op.truths);
}

/// The samples, and each with one size or one attribute changed: they show what a call requires.
std::vector<Sample> probes(const OpDef& op) {
  std::vector<Sample> all;
  for (const Sample& sample : op.samples()) {
    all.push_back(sample);
    auto changed = [&](const auto& change) { change(all.emplace_back(sample)); };
    for (size_t k = 0; k < sample.shapes.size(); ++k)
      for (size_t d = 0; d < sample.shapes[k].size(); ++d)
        changed([&](Sample& s) { ++s.shapes[k][d]; });
    for (size_t k = 0; k < sample.attrs.ints.size(); ++k)
      for (size_t j = 0; j < sample.attrs.ints[k].size(); ++j)
        changed([&](Sample& s) { ++s.attrs.ints[k][j]; });
    for (size_t k = 0; k < sample.attrs.reals.size(); ++k)
      changed([&](Sample& s) { s.attrs.reals[k].value += 0.5; });
  }
  return all;
}

/// A fixed point of the field; its double is exact, of either sign, from 1/64 to 16.
Residue input(Rng& rng) {
  uint64_t v = rng.below(Residue::kPrime), w = rng.below(Residue::kOrder);
  double size = static_cast<double>(rng.between(1, 1024)) / 64;
  return {v, w, rng.below(2) ? size : -size};
}

std::vector<Array<Residue>> operands_of(const Sample& probe, Rng& rng) {
  std::vector<Array<Residue>> operands;
  for (const auto& shape : probe.shapes) {
    int64_t count = 1;
    for (int64_t d : shape) count *= d;
    Array<Residue>& a = operands.emplace_back(Array<Residue>{shape, {}});
    for (int64_t k = 0; k < count; ++k) a.data.push_back(input(rng));
  }
  return operands;
}

/// The number of elements, or 0 when there are none or too many to look at.
int64_t few_elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t d : shape)
    if (d < 1 || __builtin_mul_overflow(count, d, &count) || count > kMaxElements) return 0;
  return count;
}

void add_output(Sha256& into, const OpDef& op, Tensors<Field> in, const Sample& probe,
                const std::vector<int64_t>& shape, int out) {
  into.number(shape.size());
  for (int64_t d : shape) into.number(static_cast<uint64_t>(d));
  std::vector<Residue> values(static_cast<size_t>(few_elements(shape)));
  if (values.empty()) return;
  Field field;
  op.fill_field(field, in, probe.attrs, shape, out, 0, values);
  into.number(field.ok);
  for (const Residue& x : values) into.number(is_defined(x) ? x.v : Residue::kPrime);
}

/// Shapes and values of all outputs, or that there is no such call.
void add_call(Sha256& into, const OpDef& op, const Sample& probe, Rng& rng) {
  Field field;
  auto shapes = op.field_semantics.infer(field, probe.shapes, probe.attrs);
  bool fits = shapes && field.ok;
  into.number(fits);
  if (!fits) return;
  auto operands = operands_of(probe, rng);
  std::vector<Field::Tensor> views;
  for (const auto& a : operands) views.emplace_back(a.shape, a.data.data());
  into.number(shapes->size());
  for (size_t k = 0; k < shapes->size(); ++k)
    add_output(into, op, views, probe, (*shapes)[k], static_cast<int>(k));
}

/// A function's number in seals: 1 was given to clip, which is no function of this kind.
int number_of(Fn f) { return static_cast<int>(f) + (static_cast<int>(f) > 0 ? 1 : 0); }

void add_steps(Sha256& into, const Tape& tape) {
  into.number(tape.steps.size());
  for (const Tape::Step& s : tape.steps)
    for (int n : {static_cast<int>(s.kind), s.kind == Tape::Clip ? 1 : number_of(s.fn), s.a, s.b})
      into.number(static_cast<uint64_t>(n));
  for (const Tape::Number& n : tape.numbers)
    into.number(static_cast<uint64_t>(n.n))
        .number(static_cast<uint64_t>(n.d))
        .number(std::bit_cast<uint64_t>(n.real));
  for (const auto& pair : tape.bounds)
    for (const Real& bound : pair) into.number(std::bit_cast<uint64_t>(bound.value));
  for (int32_t argument : tape.arguments) into.number(static_cast<uint64_t>(argument));
}

/// What runtimes do in floating point, on a sample.
void add_float_form(Sha256& into, const OpDef& op, const Sample& sample) {
  Reals sizes;
  auto shapes = op.reals_semantics.infer(sizes, sample.shapes, sample.attrs);
  if (!shapes || !sizes.ok) return;
  Tape tape;
  Trace trace(tape);
  std::vector<std::vector<Traced>> elements(sample.shapes.size());
  std::vector<Trace::Tensor> views;
  for (size_t k = 0; k < sample.shapes.size(); ++k) {
    for (int64_t e = 0, n = few_elements(sample.shapes[k]); e < n; ++e)
      elements[k].push_back(trace.element(static_cast<int>(k), e));
    views.emplace_back(sample.shapes[k], elements[k].data());
  }
  for (size_t k = 0; k < shapes->size(); ++k) {
    std::vector<Traced> results(static_cast<size_t>(few_elements((*shapes)[k])));
    op.fill_float(trace, views, sample.attrs, (*shapes)[k], static_cast<int>(k), 0, results);
  }
  add_steps(into, tape);
}

}  // namespace

Digest meaning_of(const OpDef& op) {
  Sha256 into;
  add_table(into, op);
  Rng rng(1);
  for (const Sample& probe : probes(op))
    for (uint64_t k = 0; k < kDraws; ++k) add_call(into, op, probe, rng);
  if (op.fill_float != op.fill_trace)
    for (const Sample& sample : op.samples()) add_float_form(into, op, sample);
  return into.finish();
}

const Digest& known_meaning(const OpDef& op) {
  struct Known {
    std::once_flag once;
    Digest meaning;
  };
  static std::map<const OpDef*, Known> known = [] {
    std::map<const OpDef*, Known> m;
    for (const OpDef* each : all_ops()) m[each];
    return m;
  }();
  Known& of = known.at(&op);
  std::call_once(of.once, [&] { of.meaning = meaning_of(op); });
  return of.meaning;
}

}  // namespace regraft
