#include "verify/kernel/facts.h"

#include <algorithm>

namespace regraft::kernel {

Fact non_negative(Poly p) { return {Fact::NonNegative, std::move(p), {}}; }
Fact zero(Poly p) { return {Fact::Zero, std::move(p), {}}; }
Fact all(std::vector<Fact> parts) { return {Fact::All, {}, std::move(parts)}; }
Fact any(std::vector<Fact> parts) { return {Fact::Any, {}, std::move(parts)}; }

Fact negated(const Fact& f) {
  if (f.form == Fact::NonNegative) return non_negative(Poly(-1) - f.poly);
  if (f.form == Fact::Zero)
    return any({non_negative(f.poly - Poly(1)), non_negative(Poly(-1) - f.poly)});
  std::vector<Fact> parts;
  for (const Fact& part : f.parts) parts.push_back(negated(part));
  return f.form == Fact::All ? any(std::move(parts)) : all(std::move(parts));
}

bool mentions(const Symbols& symbols, const Fact& f, Symbol s) {
  return symbols.mentions(f.poly, s) ||
         std::any_of(f.parts.begin(), f.parts.end(),
                     [&](const Fact& part) { return mentions(symbols, part, s); });
}

Fact substitute(Symbols& symbols, const Fact& f, const std::map<Symbol, Poly>& values) {
  Fact r{f.form, symbols.substitute(f.poly, values), {}};
  for (const Fact& part : f.parts) r.parts.push_back(substitute(symbols, part, values));
  return r;
}

std::string text(const Symbols& symbols, const Fact& f) {
  if (f.form == Fact::NonNegative) return "ge " + symbols.text(f.poly);
  if (f.form == Fact::Zero) return "eq " + symbols.text(f.poly);
  std::string s = (f.form == Fact::All ? "all " : "any ") + std::to_string(f.parts.size());
  for (const Fact& part : f.parts) s += " " + text(symbols, part);
  return s;
}

void Words::skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

std::string_view Words::next() {
  if (rest_.empty()) throw Refused{"a line ends too early"};
  std::string_view word = rest_.substr(0, rest_.find(' '));
  rest_.remove_prefix(word.size());
  skip();
  return word;
}

namespace {

Fact read_fact(Symbols& symbols, Words& words, int depth) {
  constexpr int kDeepest = 20;
  constexpr int64_t kMostParts = 10'000;
  if (depth > kDeepest) throw Refused{"a fact is nested too deeply"};
  std::string_view form = words.next();
  if (form == "ge") return non_negative(symbols.read(words.next()));
  if (form == "eq") return zero(symbols.read(words.next()));
  if (form != "all" && form != "any")
    throw Refused{"ge, eq, all or any was expected, not " + std::string(form.substr(0, 40))};
  int64_t count = read_integer(words.next());
  if (count < 0 || count > kMostParts) throw Refused{"a fact cannot have that many parts"};
  std::vector<Fact> parts;
  for (int64_t k = 0; k < count; ++k) parts.push_back(read_fact(symbols, words, depth + 1));
  return form == "all" ? all(std::move(parts)) : any(std::move(parts));
}

}  // namespace

Fact read_fact(Symbols& symbols, Words& words) { return read_fact(symbols, words, 0); }

}  // namespace regraft::kernel
