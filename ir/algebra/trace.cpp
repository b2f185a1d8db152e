#include "ir/algebra/trace.h"

namespace regraft {
namespace {

Traced added(Tape& tape, Tape::Step step) {
  tape.steps.push_back(step);
  return {static_cast<int32_t>(tape.steps.size()) - 1, &tape};
}

bool is_number(Traced x, int64_t n) {
  const Tape::Step& s = x.tape->steps[static_cast<size_t>(x.step)];
  if (s.kind != Tape::Constant) return false;
  const Tape::Number& c = x.tape->numbers[static_cast<size_t>(s.a)];
  return c.d == 1 && c.n == n;
}

Traced number(Tape& tape, Tape::Number n) {
  tape.numbers.push_back(n);
  return added(tape, {Tape::Constant, Fn::Relu, static_cast<int32_t>(tape.numbers.size()) - 1, -1});
}

}  // namespace

Traced operator+(Traced a, Traced b) {
  if (is_number(a, 0)) return b;
  if (is_number(b, 0)) return a;
  return added(*a.tape, {Tape::Add, Fn::Relu, a.step, b.step});
}
Traced operator*(Traced a, Traced b) {
  if (is_number(a, 1) || is_number(b, 0)) return b;
  if (is_number(b, 1) || is_number(a, 0)) return a;
  return added(*a.tape, {Tape::Mul, Fn::Relu, a.step, b.step});
}

Traced Trace::constant(int64_t n, int64_t d) { return number(tape, {n, d, 0}); }
Traced Trace::real(Real r) { return number(tape, {0, 0, r.value}); }
Traced Trace::element(int operand, int64_t flat) {
  return added(tape, {Tape::Read, Fn::Relu, operand, static_cast<int32_t>(flat)});
}
Traced Trace::apply(Fn f, Traced x) { return added(tape, {Tape::Apply, f, x.step, -1}); }
Traced Trace::clip(Traced x, Real low, Real high) {
  tape.bounds.push_back({low, high});
  auto bounds = static_cast<int32_t>(tape.bounds.size()) - 1;
  return added(tape, {Tape::Clip, Fn::Relu, x.step, bounds});
}
Traced Trace::choice(const std::array<Traced, 3>& of) {
  auto first = static_cast<int32_t>(tape.arguments.size());
  for (Traced x : of) tape.arguments.push_back(x.step);
  return added(tape, {Tape::Choose, Fn::Relu, first, first + 3});
}
Traced Trace::maximum(const std::vector<Traced>& v) {
  if (v.empty()) {  // nothing to choose from
    ok = false;
    return constant(0);
  }
  if (v.size() == 1) return v[0];
  auto first = static_cast<int32_t>(tape.arguments.size());
  for (Traced x : v) tape.arguments.push_back(x.step);
  return added(tape, {Tape::Max, Fn::Relu, first, static_cast<int32_t>(tape.arguments.size())});
}

}  // namespace regraft
