#include "ir/algebra/code.h"

#include <algorithm>
#include <cmath>

#include "ir/algebra/poly.h"
#include "ir/algebra/scan.h"

namespace regraft {

// --- indices ---

CodeIndex::CodeIndex(Variable v) : number_(v.low) {
  if (v.low == v.high) return;
  number_ = 0;
  terms_.emplace_back(std::make_shared<const Variable>(std::move(v)), 1);
}

uint64_t CodeIndex::on() const {
  uint64_t on = 0;
  for (const auto& [v, factor] : terms_) on |= v->on;
  return on;
}

int64_t CodeIndex::bound(bool upper) const {
  int64_t sum = number_;
  for (const auto& [v, factor] : terms_) sum += factor * (upper == (factor > 0) ? v->high : v->low);
  return sum;
}

std::string CodeIndex::text() const {
  std::string s;
  for (const auto& [v, factor] : terms_) {
    if (!s.empty()) s += factor < 0 ? " - " : " + ";
    if (s.empty() && factor < 0) s += "-";
    if (std::abs(factor) != 1) s += std::to_string(std::abs(factor)) + " * ";
    s += v->text;
  }
  if (s.empty()) return std::to_string(number_);
  if (number_ != 0) s += (number_ < 0 ? " - " : " + ") + std::to_string(std::abs(number_));
  return s;
}

CodeIndex CodeIndex::combine(const CodeIndex& a, const CodeIndex& b, int64_t factor) {
  CodeIndex r(a.number_ + factor * b.number_);
  auto x = a.terms_.begin(), y = b.terms_.begin();
  while (x != a.terms_.end() || y != b.terms_.end()) {
    if (y == b.terms_.end() || (x != a.terms_.end() && x->first->text < y->first->text)) {
      r.terms_.push_back(*x++);
    } else if (x == a.terms_.end() || y->first->text < x->first->text) {
      r.terms_.emplace_back(y->first, factor * y->second);
      ++y;
    } else {
      int64_t sum = x->second + factor * y->second;
      if (sum != 0) r.terms_.emplace_back(x->first, sum);
      ++x, ++y;
    }
    if (!r.terms_.empty() && r.terms_.back().second == 0) r.terms_.pop_back();
  }
  return r;
}

/// r - d * (r / d) as a variable of its own, whose range is known.
std::optional<CodeIndex> CodeIndex::split(const CodeIndex& x, const Term& quotient) {
  const auto& [v, factor] = quotient;
  if (!v->dividend || !v->quotient.empty() || factor != -v->divisor) return std::nullopt;
  CodeIndex part = combine(*v->dividend, CodeIndex(*v), factor);
  CodeIndex others = combine(x, part, -1);
  if (others.terms_.size() + part.terms_.size() != x.terms_.size()) return std::nullopt;
  Variable remainder{
      "(" + part.text() + ")", 0, v->divisor - 1, part.on(), v->dividend, v->divisor, v->text};
  return combine(others, CodeIndex(std::move(remainder)), 1);
}

/// d * (r / d) + (r - d * (r / d)) as r, or multiples of them.
std::optional<CodeIndex> CodeIndex::joined(const CodeIndex& x, const Term& remainder) {
  const auto& [v, factor] = remainder;
  if (v->quotient.empty()) return std::nullopt;
  for (const auto& [q, multiple] : x.terms_) {
    if (q->text != v->quotient || multiple != factor * v->divisor) continue;
    CodeIndex others = combine(x, CodeIndex(*v), -factor);
    others = combine(others, CodeIndex(*q), -multiple);
    return combine(others, *v->dividend, factor);
  }
  return std::nullopt;
}

CodeIndex CodeIndex::simplified(CodeIndex x) {
  for (size_t k = 0; k < x.terms_.size(); ++k) {
    std::optional<CodeIndex> simpler = split(x, x.terms_[k]);
    if (!simpler) simpler = joined(x, x.terms_[k]);
    if (simpler) return simplified(*std::move(simpler));
  }
  return x;
}

CodeIndex operator+(const CodeIndex& a, const CodeIndex& b) {
  return CodeIndex::simplified(CodeIndex::combine(a, b, 1));
}
CodeIndex operator-(const CodeIndex& a, const CodeIndex& b) {
  return CodeIndex::simplified(CodeIndex::combine(a, b, -1));
}
CodeIndex operator*(const CodeIndex& a, const CodeIndex& b) {
  if (b.is_number()) return CodeIndex::combine(CodeIndex(0), a, b.number());
  if (a.is_number()) return CodeIndex::combine(CodeIndex(0), b, a.number());
  int64_t ends[] = {a.low() * b.low(), a.low() * b.high(), a.high() * b.low(), a.high() * b.high()};
  return CodeIndex(CodeIndex::Variable{
      "((" + a.text() + ") * (" + b.text() + "))", *std::min_element(ends, ends + 4),
      *std::max_element(ends, ends + 4), a.on() | b.on(), nullptr, 0});
}

std::pair<CodeIndex, CodeIndex> CodeIndex::divided(int64_t d) const {
  CodeIndex quotient(floordiv(number_, d));
  CodeIndex rest(number_ - d * quotient.number_);
  for (const auto& [v, factor] : terms_) {
    if (factor % d == 0)
      quotient.terms_.emplace_back(v, factor / d);
    else
      rest.terms_.emplace_back(v, factor);
  }
  return {quotient, rest};
}

// --- conditions ---

namespace {

CodeBool compare(const CodeIndex& a, const char* op, const CodeIndex& b,
                 std::optional<bool> known) {
  if (known) return {*known ? "true" : "false", known, 0};
  return {"(" + a.text() + " " + op + " " + b.text() + ")", known, a.on() | b.on()};
}

}  // namespace

CodeBool operator<(const CodeIndex& a, const CodeIndex& b) { return a + CodeIndex(1) <= b; }
CodeBool operator<=(const CodeIndex& a, const CodeIndex& b) {
  CodeIndex gap = b - a;
  std::optional<bool> known;
  if (gap.low() >= 0) known = true;
  if (gap.high() < 0) known = false;
  return compare(a, "<=", b, known);
}
CodeBool operator==(const CodeIndex& a, const CodeIndex& b) {
  CodeIndex gap = b - a;
  std::optional<bool> known;
  if (gap.is_number()) known = gap.number() == 0;
  if (gap.low() > 0 || gap.high() < 0) known = false;
  return compare(a, "==", b, known);
}
CodeBool operator&&(const CodeBool& a, const CodeBool& b) {
  if (a.known) return *a.known ? b : a;
  if (b.known) return *b.known ? a : b;
  return {a.text + " && " + b.text, std::nullopt, a.on | b.on};
}

// --- statements ---

Code::Code(uint64_t element_axes) : element_axes_(element_axes), blocks_(2) {}

Code::Block& Code::place(uint64_t on) {
  return blocks_.size() == 2 && (on & element_axes_) == 0 ? blocks_[0] : blocks_.back();
}

const std::string* Code::find(const std::string& expression) const {
  for (size_t k = blocks_.size(); k-- > 0;)
    if (auto it = blocks_[k].names.find(expression); it != blocks_[k].names.end())
      return &it->second;
  return nullptr;
}

const CodeScalar* Code::known(const std::string& key) const {
  for (size_t k = blocks_.size(); k-- > 0;)
    if (auto it = blocks_[k].scalars.find(key); it != blocks_[k].scalars.end()) return &it->second;
  return nullptr;
}

CodeScalar Code::bind(const std::string& expression, uint64_t on) {
  const std::string* name = find(expression);
  if (!name) {
    Block& block = place(on);
    std::string t = fresh("t");
    block.text += "const real " + t + " = " + expression + ";\n";
    name = &(block.names[expression] = t);
  }
  return {this, std::nullopt, *name, nullptr, on};
}

std::string Code::name_of(const CodeScalar& x) {
  if (x.loop) {
    write_loop(*x.loop);
    return x.loop->total;
  }
  if (!x.number) return x.name;
  if (std::isinf(*x.number)) return *x.number > 0 ? "INFINITE" : "(-INFINITE)";
  if (std::isnan(*x.number)) return "(INFINITE - INFINITE)";
  return "real(" + text::print(*x.number) + ")";
}

std::string Code::close() {
  std::string text = std::move(blocks_.back().text);
  blocks_.pop_back();
  return text;
}

uint64_t Code::assign(const std::string& result, const CodeScalar& x) {
  std::string value = name_of(x);
  blocks_.back().text += result + " = " + value + ";\n";
  return x.on;
}

void Code::write_branches(const std::string& result, const std::string& condition,
                          const std::string& yes, const std::string& no) {
  // Never among the rows: a position there need not be in range where the condition is not met.
  blocks_.back().text +=
      "real " + result + ";\nif (" + condition + ") {\n" + yes + "} else {\n" + no + "}\n";
}

// --- loops ---

int64_t CodeLoop::rounds() const {
  int64_t n = 1;
  for (const Counter& c : counters) n *= c.count;
  return n;
}

CodeIndex Code::open_loop(CodeLoop& loop, const CodeIndex& n) {
  ok = ok && n.is_number() && n.number() >= 1;
  int64_t count = n.is_number() ? std::max<int64_t>(n.number(), 1) : 1;
  std::string k = fresh("k");
  loop.counters.push_back({k, count});
  uint64_t bit = uint64_t{1} << (kMaxRank + counters_++);
  CHECK(kMaxRank + counters_ < 63);
  return CodeIndex(CodeIndex::Variable{k, 0, count - 1, bit});
}

CodeScalar Code::loop_result(CodeLoop loop) {
  counters_ -= static_cast<int>(loop.counters.size());
  loop.on &= (uint64_t{1} << (kMaxRank + counters_)) - 1;
  uint64_t on = loop.on;
  return {this, std::nullopt, {}, std::make_shared<const CodeLoop>(std::move(loop)), on};
}

CodeScalar Code::close_sum(CodeLoop loop, const CodeScalar& x) {
  loop.on = x.on;
  if (x.loop && !x.loop->maximum && x.loop->id > loop.id &&
      blocks_.back().text.empty()) {  // a perfect nest
    close();
    CodeLoop inner = *x.loop;
    CodeScalar result = loop_result(std::move(loop));
    inner.counters.insert(inner.counters.begin(), result.loop->counters.begin(),
                          result.loop->counters.end());
    inner.on = result.on;
    result.loop = std::make_shared<const CodeLoop>(std::move(inner));
    return result;
  }
  std::string value = name_of(x);
  loop.body = close() + loop.total + " += " + value + ";\n";
  return loop_result(std::move(loop));
}

CodeScalar Code::close_max(CodeLoop loop, const CodeBool& guard, const CodeScalar& x) {
  std::string value = name_of(x), inner = close(), outer = close();
  inner +=
      loop.total + " = " + loop.total + " < " + value + " ? " + value + " : " + loop.total + ";\n";
  if (!guard.known) inner = "if (" + guard.text + ") {\n" + inner + "}\n";
  if (guard.known && !*guard.known) inner.clear();
  loop.body = outer + inner;
  loop.on = x.on | guard.on;
  return loop_result(std::move(loop));
}

void Code::write_loop(const CodeLoop& loop) {
  std::string key = "loop " + loop.total;
  if (find(key)) return;
  if (blocks_.size() == 2) outer_loops_.emplace_back(loop.on, loop.rounds());
  Block& block = place(loop.on);
  block.names[key] = loop.total;
  block.text += "real " + loop.total + " = " + (loop.maximum ? "LOWEST" : "0") + ";\n";
  if (&block == &blocks_[0]) return write_shared(loop);
  for (const auto& [k, n] : loop.counters)
    block.text += "for (index " + k + " = 0; " + k + " < " + std::to_string(n) + "; ++" + k + ")\n";
  block.text += "{\n" + loop.body + "}\n";
}

void Code::write_shared(const CodeLoop& loop) {
  int64_t n = 1;
  std::string counters;
  std::string all = fresh("k");
  for (size_t d = loop.counters.size(); d-- > 0;) {
    const auto& [k, count] = loop.counters[d];
    std::string quotient = n == 1 ? all : all + " / " + std::to_string(n);
    if (d > 0) quotient = quotient + " % " + std::to_string(count);
    counters += "const index " + k + " = " + quotient + ";\n";
    n *= count;
  }
  std::string& text = blocks_[0].text;
  text += "for (index " + all + " = THREAD; " + all + " < " + std::to_string(n) + "; " + all +
          " += THREADS) {\n" + counters + loop.body + "}\n";
  text += loop.total + (loop.maximum ? " = block_max(" : " = block_sum(") + loop.total + ");\n";
}

// --- the algebra ---

CodeIndex Code::quotient(const CodeIndex& a, int64_t d) {
  auto [whole, rest] = a.divided(d);
  int64_t low = regraft::floordiv(rest.low(), d), high = regraft::floordiv(rest.high(), d);
  if (low == high) return whole + CodeIndex(low);
  std::string divisor = std::to_string(d);
  std::string expression = rest.low() >= 0 ? "(" + rest.text() + ") / " + divisor
                                           : "floor_div(" + rest.text() + ", " + divisor + ")";
  const std::string* name = find(expression);
  if (!name) {
    Block& block = place(rest.on());
    std::string q = fresh("q");
    block.text += "const index " + q + " = " + expression + ";\n";
    name = &(block.names[expression] = q);
  }
  auto dividend = std::make_shared<const CodeIndex>(rest);
  return whole + CodeIndex(CodeIndex::Variable{*name, low, high, rest.on(), dividend, d});
}

CodeIndex Code::floordiv(const CodeIndex& a, const CodeIndex& b) {
  if (b.is_number() && b.number() >= 1) return quotient(a, b.number());
  ok = false;  // at given shapes a divisor is a number
  return {};
}

CodeIndex Code::lookup(const std::vector<CodeIndex>& table, const CodeIndex& i,
                       const CodeIndex& bound) {
  std::vector<int64_t> values;
  for (const CodeIndex& v : table) values.push_back(v.is_number() ? v.number() : -1);
  auto last = static_cast<int64_t>(values.size()) - 1;
  if (last < 0 || i.low() < 0 || i.high() > last) return ok = false, CodeIndex(0);
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  require(CodeIndex(0) <= CodeIndex(*low));
  require(CodeIndex(*high) < bound);
  bool even = true;
  int64_t step = last > 0 ? values[1] - values[0] : 0;
  for (size_t k = 1; k < values.size(); ++k) even = even && values[k] - values[k - 1] == step;
  if (even) return CodeIndex(values[0]) + i * CodeIndex(step);
  std::string name = fresh("table"), list;
  for (int64_t v : values) list += (list.empty() ? "" : ", ") + std::to_string(v);
  tables_ += "static TABLE index " + name + "[] = {" + list + "};\n";
  return CodeIndex(CodeIndex::Variable{name + "[" + i.text() + "]", *low, *high, i.on()});
}

CodeScalar Code::number(double value) { return {this, value, {}, nullptr, 0}; }
CodeScalar Code::constant(int64_t n, int64_t d) {
  return number(static_cast<double>(n) / static_cast<double>(d));
}
CodeScalar Code::recip(const CodeIndex& n) {
  if (n.is_number()) return n.number() == 0 ? (ok = false, number(0)) : constant(1, n.number());
  return bind("1 / real(" + n.text() + ")", n.on());
}
CodeScalar Code::to_scalar(const CodeIndex& n) {
  return n.is_number() ? constant(n.number()) : bind("real(" + n.text() + ")", n.on());
}

CodeScalar Code::apply(Fn f, const CodeScalar& x) {
  std::string v = name_of(x), text;
  for (char c : facts(f).code) c == '$' ? text += v : text += c;
  return bind(text, x.on);
}

CodeScalar Code::clip(const CodeScalar& x, Real low, Real high) {
  std::string v = name_of(x), least = name_of(number(low.value));
  CodeScalar raised = bind(v + " < " + least + " ? " + least + " : " + v, x.on);
  std::string most = name_of(number(high.value));
  return bind(most + " < " + raised.name + " ? " + most + " : " + raised.name, x.on);
}

CodeScalar Code::larger(const CodeScalar& a, const CodeScalar& b) {
  std::string x = name_of(a), y = name_of(b);
  return bind(x + " < " + y + " ? " + y + " : " + x, a.on | b.on);
}

CodeScalar Code::choice(const CodeScalar& c, const CodeScalar& a, const CodeScalar& b) {
  std::string t = name_of(c), x = name_of(a), y = name_of(b);
  std::string mixed = t + " * " + x + " + (1 - " + t + ") * " + y;
  return bind(t + " == 1 ? " + x + " : " + t + " == 0 ? " + y + " : " + mixed, c.on | a.on | b.on);
}

CodeScalar operator+(const CodeScalar& a, const CodeScalar& b) {
  if (a.number && *a.number == 0) return b;
  if (b.number && *b.number == 0) return a;
  std::string x = a.code->name_of(a), y = a.code->name_of(b);
  return a.code->bind(x + " + " + y, a.on | b.on);
}
CodeScalar operator*(const CodeScalar& a, const CodeScalar& b) {
  if ((a.number && *a.number == 1) || (b.number && *b.number == 0)) return b;
  if ((b.number && *b.number == 1) || (a.number && *a.number == 0)) return a;
  std::string x = a.code->name_of(a), y = a.code->name_of(b);
  return a.code->bind(x + " * " + y, a.on | b.on);
}

}  // namespace regraft
