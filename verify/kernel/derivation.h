#pragma once
// Derivations: why a sum is 0 wherever some facts hold, step by step. The checker follows the
// steps; it looks for nothing. docs/kernel.md has each step with its premises, its conclusion and
// its side conditions.
#include "verify/kernel/unfold.h"

namespace regraft::kernel {

/// The lines of a text that are not empty. Does not own the text.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) { skip(); }
  bool empty() const { return rest_.empty(); }
  /// Refused when there is none.
  std::string_view next();

 private:
  void skip();
  std::string_view rest_;
};

/// "NAME WORD ... | CERTIFICATE | CERTIFICATE ...".
class Line {
 public:
  explicit Line(std::string_view text);
  std::string_view word() { return words_.next(); }
  Words& words() { return words_; }
  /// A number below `end`.
  size_t number(size_t end);
  std::string_view certificate();
  /// Refused unless every word and every certificate was taken.
  void finish() const;

 private:
  Words words_;
  std::optional<std::string_view> certificates_;
};

/// f is one of the facts, or says something true of a number: that needs no certificate.
bool plain(const std::vector<Fact>& facts, const Fact& f);
/// Facts, and those of a scope that binds certain indices. Refused when the facts mention one.
std::vector<Fact> facts_within(const Symbols& symbols, std::vector<Fact> facts,
                               const std::vector<Symbol>& bound, const std::vector<Fact>& guard);

/// What is to be shown: wherever `facts` hold, the products add up to 0.
class Goal {
 public:
  /// The symbols must outlive it.
  /// `defined` is known to be, where the facts hold.
  Goal(Symbols& symbols, std::vector<Fact> facts, const Sum& sum, int depth = 0,
       std::vector<Partial> defined = {});
  const std::vector<Fact>& facts() const { return facts_; }
  /// Those that are left, by number; each that a step makes has the next one.
  const std::map<size_t, Product>& products() const { return products_; }
  /// Takes a line, and those that follow it where the step has parts. After Refused the goal may
  /// not be used.
  void step(Lines& lines);
  /// All steps up to the line "end".
  void steps(Lines& lines);
  /// The same; no product may be left.
  void run(Lines& lines);

 private:
  void add(Product p);
  size_t number(Line& line);
  /// The product that is named next, which is replaced by what the step makes of it.
  Product take(Line& line);
  std::vector<Fact> within(const Product& p) const {
    return facts_within(symbols_, facts_, p.bound, p.guard);
  }
  void pin(Line& line);
  void divide(Line& line);
  void imply(Line& line);
  void omit(Line& line);
  void at(Line& line);
  void pair(Line& line, Lines& lines);
  void vanish(Line& line, Lines& lines);
  void part(Line& line);
  void inside(Line& line, Lines& lines);
  void again(Line& line);
  void value(Line& line);
  void outside(Line& line);
  void reduce(Line& line, Lines& lines);
  void invert(Line& line);
  void cancel(Line& line);
  void count(Line& line);
  void size(Line& line);
  void cases(Line& line, Lines& lines);

  Symbols& symbols_;
  std::vector<Fact> facts_;
  std::map<size_t, Product> products_;
  size_t next_ = 0;
  int depth_;
  std::vector<Partial> defined_;
};

/// Accepts when the derivation shows the claim; else throws Refused.
void check(Symbols& symbols, const Claim& claim, std::string_view derivation);
/// The same for a claim about an output, whose part of a derivation begins here.
void check(Symbols& symbols, const OutputClaim& claim, Lines& lines);

}  // namespace regraft::kernel
