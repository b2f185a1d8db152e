#include "verify/certificates/argument.h"

namespace regraft::verify {

using kernel::Fact;
using kernel::Poly;
using kernel::SymbolData;

namespace {

bool absurd(const Fact& f) {
  if (f.form == Fact::Any || !f.poly.is_constant()) return false;
  return f.form == Fact::Zero ? f.poly != Poly(0) : f.poly.constant() < 0;
}

}  // namespace

Argument::Argument(kernel::Symbols& symbols, const std::vector<Fact>& given) : symbols_(symbols) {
  facts_.push_back({kernel::non_negative(1), kGiven, 0});
  for (const Fact& f : given) assume(f, &root_.assumed);
}

FactId Argument::assume(const Fact& f, std::vector<FactId>* where) {
  FactId first = facts_.size();
  if (f.form == Fact::All) {
    for (const Fact& part : f.parts) assume(part, where);
    return first;
  }
  facts_.push_back({f, kGiven, 0});
  where->push_back(first);
  return first;
}

FactId Argument::add(Place& at, std::vector<Word> words, std::vector<Fact> conclusions) {
  FactId first = facts_.size();
  steps_.push_back({std::move(words), first, conclusions.size(), false});
  at.steps.push_back(steps_.size() - 1);
  for (Fact& f : conclusions) {
    at.closed = at.closed || absurd(f);
    facts_.push_back({std::move(f), steps_.size() - 1, 0});
  }
  return first;
}

Poly Argument::product(const Summand& s, bool& vanishes) const {
  Poly p(s.times);
  vanishes = false;
  for (FactId id : s.facts) {
    p = p * facts_[id].fact.poly;
    vanishes = vanishes || facts_[id].fact.form == Fact::Zero;
  }
  return p;
}

FactId Argument::lin(Place& at, const std::vector<Summand>& sum, std::optional<int64_t> divisor) {
  std::vector<Word> words{{"lin", {}}};
  Poly total;
  bool equal = !divisor;
  for (const Summand& s : sum) {
    bool vanishes = false;
    total = total + product(s, vanishes);
    equal = equal && vanishes;
    words.push_back({s.times == 1 ? "" : std::to_string(s.times) + ":", s.facts});
  }
  if (divisor) words.push_back({"/" + std::to_string(*divisor), {}});
  Poly result = divisor ? total.divided(*divisor) : total;
  return add(at, std::move(words), {equal ? kernel::zero(result) : kernel::non_negative(result)});
}

FactId Argument::times(Place& at, FactId equality, const Poly& p) {
  Poly result = facts_[equality].fact.poly * p;
  return add(at, {{"times", {}}, {"", {equality}}, {symbols_.text(p), {}}}, {kernel::zero(result)});
}

FactId Argument::both(Place& at, FactId a, FactId b) {
  return add(at, {{"both", {}}, {"", {a}}, {"", {b}}}, {kernel::zero(facts_[a].fact.poly)});
}

FactId Argument::least(Place& at, kernel::Symbol s) {
  Poly p = Poly::symbol(s) - Poly(*symbols_[s].least);
  return add(at, {{"least", {}}, {symbols_[s].name, {}}}, {kernel::non_negative(p)});
}

FactId Argument::quotient(Place& at, kernel::Symbol q, FactId positive) {
  const Poly n = symbols_[q].first, d = symbols_[q].second;
  Poly rest = n - Poly::symbol(q) * d;
  return add(at, {{"quotient", {}}, {symbols_.text(Poly::symbol(q)), {}}, {"", {positive}}},
             {kernel::non_negative(rest), kernel::non_negative(d - Poly(1) - rest)});
}

FactId Argument::lookup(Place& at, kernel::Symbol l, FactId positive) {
  Poly p = Poly::symbol(l), last = symbols_[l].second - Poly(1);
  return add(at, {{"lookup", {}}, {symbols_.text(p), {}}, {"", {positive}}},
             {kernel::non_negative(p), kernel::non_negative(last - p)});
}

FactId Argument::entry(Place& at, kernel::Symbol l, size_t number,
                       const std::vector<FactId>& shown) {
  Poly p = Poly::symbol(l);
  std::vector<Word> words{{"entry", {}}, {symbols_.text(p), {}}, {std::to_string(number), {}}};
  for (FactId f : shown) words.push_back({"", {f}});
  Poly value = symbols_.entries(symbols_[l].table).at(number);
  return add(at, std::move(words), {kernel::zero(p - value)});
}

FactId Argument::same(Place& at, kernel::Symbol a, kernel::Symbol b, FactId first, FactId second) {
  Poly p = Poly::symbol(a), q = Poly::symbol(b);
  return add(
      at,
      {{"same", {}}, {symbols_.text(p), {}}, {symbols_.text(q), {}}, {"", {first}}, {"", {second}}},
      {kernel::zero(p - q)});
}

void Argument::distinguish(Place& at, std::vector<Word> words, const std::vector<Fact>& cases) {
  steps_.push_back({std::move(words), facts_.size(), 0, false});
  at.distinction = steps_.size() - 1;
  for (const Fact& f : cases) {
    auto inner = std::make_unique<Place>();
    inner->outer = &at;
    assume(f, &inner->assumed);
    at.cases.push_back(std::move(inner));
  }
}

void Argument::either(Place& at, const Poly& p) {
  distinguish(at, {{"either", {}}, {symbols_.text(p), {}}},
              {kernel::non_negative(p), kernel::non_negative(Poly(-1) - p)});
}

void Argument::cases(Place& at, FactId any) {
  const std::vector<Fact> parts = facts_[any].fact.parts;
  distinguish(at, {{"cases", {}}, {"", {any}}}, parts);
}

void Argument::use(const Step& step) {
  for (const Word& w : step.words)
    for (FactId f : w.facts) facts_[f].used = true;
}

/// Marks the steps that matter here, those of its cases first; a distinction of which some case
/// never uses what it assumes is replaced by that case.
void Argument::mark(Place& at) {
  if (at.distinction) {
    for (size_t k = 0; k < at.cases.size(); ++k) {
      Place& inner = *at.cases[k];
      mark(inner);
      bool used = false;
      for (FactId f : inner.assumed) used = used || facts_[f].used;
      if (used) continue;
      std::unique_ptr<Place> all = std::move(at.cases[k]);  // holds without the distinction
      at.cases = std::move(all->cases);
      for (auto& place : at.cases) place->outer = &at;
      at.distinction = all->distinction;
      at.steps.insert(at.steps.end(), all->steps.begin(), all->steps.end());
      break;
    }
    if (at.distinction) use(steps_[*at.distinction]);
  }
  if (!at.distinction) steps_[at.steps.back()].used = true;  // it closes this case
  for (size_t k = at.steps.size(); k-- > 0;) {
    Step& step = steps_[at.steps[k]];
    for (size_t c = 0; c < step.conclusions; ++c)
      step.used = step.used || facts_[step.first + c].used;
    if (step.used) use(step);
  }
}

void Argument::write(const Step& step, std::string& out) const {
  if (!out.empty()) out += ';';
  bool first = true;
  for (const Word& w : step.words) {
    if (!first) out += ' ';
    first = false;
    out += w.text;
    for (size_t k = 0; k < w.facts.size(); ++k)
      out += (k > 0 ? "*" : "") + std::to_string(facts_[w.facts[k]].number);
  }
}

void Argument::write(const Place& at, uint64_t number, std::string& out) {
  for (FactId f : at.assumed) facts_[f].number = number++;
  for (size_t k : at.steps) {
    const Step& step = steps_[k];
    if (!step.used) continue;
    write(step, out);
    for (size_t c = 0; c < step.conclusions; ++c) facts_[step.first + c].number = number++;
  }
  if (!at.distinction) return;
  write(steps_[*at.distinction], out);
  for (const auto& inner : at.cases) write(*inner, number, out);
}

std::string Argument::text() {
  mark(root_);
  std::string out;
  write(root_, 1, out);
  return out;
}

}  // namespace regraft::verify
