#include "verify/kernel/certificate.h"

namespace regraft::kernel {
namespace {

class Checker {
 public:
  Checker(Symbols& symbols, const std::vector<Fact>& facts) : symbols_(symbols) {
    assume(non_negative(1));
    for (const Fact& f : facts) assume(f);
  }

  void run(std::string_view certificate) {
    for (size_t number = 1; !certificate.empty(); ++number) {
      std::string_view line = certificate.substr(0, certificate.find_first_of(";\n"));
      certificate.remove_prefix(std::min(certificate.size(), line.size() + 1));
      Words words(line);
      if (words.empty()) continue;
      try {
        if (closed_) throw Refused{"it goes on after its last case"};
        step(words);
        if (!words.empty()) throw Refused{"the step has too many words"};
      } catch (const Refused& r) {
        throw Refused{"step " + std::to_string(number) + ": " + r.why};
      }
    }
    if (!closed_) throw Refused{"a case stays open"};
  }

 private:
  static constexpr size_t kMostFacts = 20'000, kMostOpen = 1'000;
  /// A case distinction inside of which we are.
  struct Open {
    size_t facts;             ///< how many were known before it
    std::vector<Fact> cases;  ///< one of them holds
    size_t next;              ///< the first one not yet begun
  };

  void assume(const Fact& f) {
    if (f.form == Fact::All) {
      for (const Fact& part : f.parts) assume(part);
      return;
    }
    if (facts_.size() >= kMostFacts) throw Refused{"too many facts"};
    facts_.push_back(f);
  }

  void step(Words& words) {
    std::string_view name = words.next();
    if (name == "lin") return linear(words);
    if (name == "times") return times(words);
    if (name == "both") return both(words);
    if (name == "least") return least(words);
    if (name == "quotient") return quotient(words);
    if (name == "lookup") return lookup(words);
    if (name == "entry") return entry(words);
    if (name == "same") return same(words);
    if (name == "either") {
      Poly p = symbols_.read(words.next());
      return distinguish({non_negative(p), non_negative(Poly(-1) - p)});
    }
    if (name == "cases") {
      const Fact& f = fact(words.next());
      if (f.form != Fact::Any) throw Refused{"the fact has no cases"};
      return distinguish(f.parts);
    }
    throw Refused{"there is no step " + std::string(name.substr(0, 40))};
  }

  const Fact& fact(std::string_view number) const {
    int64_t k = read_integer(number);
    if (k < 0 || k >= static_cast<int64_t>(facts_.size()))
      throw Refused{"there is no fact " + std::to_string(k)};
    return facts_[static_cast<size_t>(k)];
  }
  const Fact& literal(std::string_view number) const {
    const Fact& f = fact(number);
    if (f.form == Fact::Any) throw Refused{"fact " + std::string(number) + " is no literal"};
    return f;
  }
  /// p >= 0 is plain, or some fact's polynomial plus a constant that is not negative.
  void need_non_negative(const Poly& p, std::string_view number) const {
    const Fact& f = literal(number);
    Poly more = p.is_constant() ? p : p - f.poly;
    if (!more.is_constant() || more.constant() < 0)
      throw Refused{symbols_.text(p) + " is not shown to be at least 0"};
  }
  /// p = 0 is plain, or some fact.
  void need_zero(const Poly& p, std::string_view number) const {
    const Fact& f = fact(number);
    bool shown = f.form == Fact::Zero && (f.poly == p || f.poly == Poly(0) - p);
    if (p != Poly(0) && !shown) throw Refused{symbols_.text(p) + " is not shown to be 0"};
  }
  /// The only symbol of the next word.
  Symbol symbol(Words& words, Kind kind) {
    Poly p = symbols_.read(words.next());
    for (const auto& [monomial, c] : p.terms())
      if (monomial.size() == 1 && p == Poly::symbol(monomial[0]) &&
          symbols_[monomial[0]].kind == kind)
        return monomial[0];
    throw Refused{symbols_.text(p) + " is not such a symbol"};
  }

  /// lin [C*]I[*J...] ... [/K]: a sum of facts times facts times numbers, divided.
  void linear(Words& words) {
    Fact sum = zero(Poly(0));
    while (!words.empty()) {
      std::string_view word = words.next();
      if (word[0] == '/')
        return conclude(non_negative(sum.poly.divided(read_integer(word.substr(1)))));
      Fact part = summand(word);
      sum.poly = sum.poly + part.poly;
      if (part.form == Fact::NonNegative) sum.form = part.form;
    }
    conclude(sum);
  }
  /// "2:5*7" is twice the product of the facts 5 and 7.
  Fact summand(std::string_view word) const {
    size_t colon = word.find(':');
    int64_t times = colon == word.npos ? 1 : read_integer(word.substr(0, colon));
    if (colon != word.npos) word.remove_prefix(colon + 1);
    Poly p(times);
    bool vanishes = false;
    for (;;) {
      size_t star = word.find('*');
      const Fact& f = literal(word.substr(0, star));
      vanishes = vanishes || f.form == Fact::Zero;
      p = p * f.poly;
      if (star == word.npos) break;
      word.remove_prefix(star + 1);
    }
    if (times < 0 && !vanishes) throw Refused{"a negative multiple of an inequality"};
    return vanishes ? zero(p) : non_negative(p);
  }

  /// times I P: p = 0 gives p P = 0.
  void times(Words& words) {
    const Fact& f = fact(words.next());
    if (f.form != Fact::Zero) throw Refused{"only an equality has multiples of any sign"};
    conclude(zero(f.poly * symbols_.read(words.next())));
  }
  /// both I J: p >= 0 and -p >= 0 give p = 0.
  void both(Words& words) {
    const Fact f = literal(words.next()), g = literal(words.next());
    if (f.poly + g.poly != Poly(0)) throw Refused{"the two facts are not opposite"};
    conclude(zero(f.poly));
  }
  /// least S: a symbol with a least value is at least that.
  void least(Words& words) {
    auto s = symbols_.find(words.next());
    if (!s || !symbols_[*s].least) throw Refused{"no symbol with a least value"};
    conclude(non_negative(Poly::symbol(*s) - Poly(*symbols_[*s].least)));
  }
  /// quotient Q I: 0 <= n - q d <= d - 1 for q = floor(n / d), d >= 1 by fact I.
  void quotient(Words& words) {
    Symbol q = symbol(words, Kind::Quotient);
    const SymbolData data = symbols_[q];
    need_non_negative(data.second - Poly(1), words.next());
    Poly rest = data.first - Poly::symbol(q) * data.second;
    conclude(non_negative(rest));
    conclude(non_negative(data.second - Poly(1) - rest));
  }
  /// lookup L I: 0 <= l <= bound - 1 for a lookup, bound >= 1 by fact I.
  void lookup(Words& words) {
    Symbol l = symbol(words, Kind::Lookup);
    Poly last = symbols_[l].second - Poly(1);
    need_non_negative(last, words.next());
    conclude(non_negative(Poly::symbol(l)));
    conclude(non_negative(last - Poly::symbol(l)));
  }
  /// entry L K I J M: l is entry K, where by fact I its position is K, and by facts J and M the
  /// entry lies in 0 .. bound - 1.
  void entry(Words& words) {
    Symbol l = symbol(words, Kind::Lookup);
    const SymbolData data = symbols_[l];
    int64_t k = read_integer(words.next());
    const std::vector<Poly>& entries = symbols_.entries(data.table);
    if (k < 0 || k >= static_cast<int64_t>(entries.size())) throw Refused{"no such entry"};
    Poly value = entries[static_cast<size_t>(k)];
    need_zero(data.first - Poly(k), words.next());
    need_non_negative(value, words.next());
    need_non_negative(data.second - Poly(1) - value, words.next());
    conclude(zero(Poly::symbol(l) - value));
  }
  /// same A B I J: quotients, or lookups in one table, whose first parts are equal by fact I and
  /// whose second parts are equal by fact J are equal.
  void same(Words& words) {
    Poly a = symbols_.read(words.next()), b = symbols_.read(words.next());
    const SymbolData x = made(a), y = made(b);
    if (x.kind != y.kind || x.table != y.table) throw Refused{"two symbols of different kinds"};
    need_zero(x.first - y.first, words.next());
    need_zero(x.second - y.second, words.next());
    conclude(zero(a - b));
  }
  const SymbolData& made(const Poly& p) const {
    for (const auto& [monomial, c] : p.terms())
      if (monomial.size() == 1 && p == Poly::symbol(monomial[0]) &&
          symbols_[monomial[0]].kind >= Kind::Quotient)
        return symbols_[monomial[0]];
    throw Refused{symbols_.text(p) + " is neither a quotient nor a lookup"};
  }

  /// Adds a fact; one that no integers satisfy ends the case.
  void conclude(Fact f) {
    int64_t c = f.poly.constant();
    bool absurd = f.poly.is_constant() && (f.form == Fact::Zero ? c != 0 : c < 0);
    assume(f);
    if (absurd) next_case();
  }
  void distinguish(std::vector<Fact> cases) {
    if (open_.size() >= kMostOpen) throw Refused{"cases are nested too deeply"};
    open_.push_back({facts_.size(), std::move(cases), 0});
    next_case();
  }
  /// What was known before the innermost distinction that has a case left, and that case.
  void next_case() {
    while (!open_.empty() && open_.back().next == open_.back().cases.size()) open_.pop_back();
    closed_ = open_.empty();
    if (closed_) return;
    Open& open = open_.back();
    facts_.resize(open.facts);
    assume(open.cases[open.next++]);
  }

  Symbols& symbols_;
  std::vector<Fact> facts_;
  std::vector<Open> open_;
  bool closed_ = false;
};

}  // namespace

void check_unsatisfiable(Symbols& symbols, const std::vector<Fact>& facts,
                         std::string_view certificate) {
  Checker(symbols, facts).run(certificate);
}

}  // namespace regraft::kernel
