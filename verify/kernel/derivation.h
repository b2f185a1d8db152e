#pragma once
// Derivations: why a sum is 0 wherever some facts hold, step by step. The checker follows the
// steps; it looks for nothing. docs/kernel.md has each step with its premises, its conclusion and
// its side conditions.
#include <span>

#include "verify/kernel/unfold.h"

namespace regraft::kernel {

/// Gives certificates in place of a derivation's own, which are checked like those. For whoever
/// looks for derivations: a check of one has none.
class Certificates {
 public:
  virtual ~Certificates() = default;
  /// Why the facts cannot all hold, for the line that begins there; `own`: its next certificate.
  virtual std::string find(const char* line, std::optional<std::string_view> own,
                           const std::vector<Fact>& facts) = 0;
};

/// The lines of a text that are not empty. Does not own the text.
class Lines {
 public:
  explicit Lines(std::string_view text, Certificates* instead = nullptr)
      : rest_(text), instead_(instead) {
    skip();
  }
  bool empty() const { return rest_.empty(); }
  /// Refused when there is none.
  std::string_view next();

  Certificates* instead() const { return instead_; }

 private:
  void skip();
  std::string_view rest_;
  Certificates* instead_;
};

/// "NAME WORD ... | CERTIFICATE | CERTIFICATE ...".
class Line {
 public:
  explicit Line(std::string_view text, Certificates* instead = nullptr);
  explicit Line(Lines& lines) : Line(lines.next(), lines.instead()) {}
  std::string_view word() { return words_.next(); }
  Words& words() { return words_; }
  /// A number below `end`.
  size_t number(size_t end);
  /// The next certificate, or what is given in its place: why the facts cannot all hold.
  std::string certificate(const std::vector<Fact>& facts);
  /// Refused unless every word and every certificate was taken.
  void finish() const;

 private:
  const char* start_;
  Certificates* instead_;
  Words words_;
  std::optional<std::string_view> certificates_;
};

/// f is one of the facts, or says something true of a number: that needs no certificate.
bool plain(std::span<const Fact> facts, const Fact& f);
/// Facts, and those of a scope that binds certain indices. Refused when the facts mention one.
List<Fact> facts_within(const Symbols& symbols, List<Fact> facts, const std::vector<Symbol>& bound,
                        const List<Fact>& guard);

/// What holds at a place of a derivation.
struct Context {
  List<Fact> facts = {};
  List<Known> known = {};                         ///< of real numbers; numbered
  const std::vector<Partial>* defined = nullptr;  ///< what is known to be defined; numbered
  int depth = 0;
};
/// Refused when something that holds mentions an index that is bound.
Context within(const Symbols& symbols, Context context, const std::vector<Symbol>& bound,
               const List<Fact>& guard);

/// What is 1 over, or under a root or a logarithm, has these signs where the function is defined.
Known domain_of(const Atom& a);

/// What is to be shown: wherever the context holds, the products add up to 0, or a number has one
/// of some signs.
class Goal {
 public:
  /// The symbols must outlive it.
  Goal(Symbols& symbols, Context context, const Sum& sum, std::optional<Known> target = {});
  const Context& context() const { return context_; }
  const std::optional<Known>& target() const { return target_; }
  const List<Fact>& facts() const { return context_.facts; }
  /// Those that are left, by number; each that a step makes has the next one.
  const std::map<size_t, Product>& products() const { return products_; }
  Sum left() const;
  /// What is left of `other` is left of this; its symbols and its target are the same.
  void become(Goal other);
  /// From now on that is known, which is so.
  void learn(Sum s, Signs signs);
  /// Nothing is left to be shown.
  bool shown() const;
  /// Takes a line, and those that follow it where the step has parts. After Refused the goal may
  /// not be used.
  void step(Lines& lines);
  /// All steps up to the line "end"; then it must be shown.
  void run(Lines& lines);
  /// What all steps up to the line "end" leave, which is equal to the sum wherever the context
  /// holds. Refused where a step shows the goal, but does not keep the sum.
  Sum rewritten(Lines& lines);
  /// The sum that a path names: "P" a product, "P.A" its factor A, "P.A*" its argument, "P.A.Q" a
  /// product of that, and so on; it may begin with "#F", what is known by that number, "target" or
  /// "all" and a product of these.
  Sum at_path(std::string_view path) const;

 private:
  using Step = void (Goal::*)(Line&, Lines&);
  void add(Product p);
  void steps(Lines& lines);
  /// Refused where the sum itself must be kept.
  void only_to_show() const;
  /// The product times a value within its ranges. Refused where the value binds what stands there.
  void add(const Product& p, const Sum& value);
  size_t place(Line& line);
  /// The product that is named next, which is replaced by what the step makes of it.
  Product take(Line& line);
  Context inner(const Product& p) const { return within(symbols_, context_, p.bound, p.guard); }
  List<Fact> facts_in(const Product& p) const {
    return facts_within(symbols_, context_.facts, p.bound, p.guard);
  }
  /// The same goal with more that is known: the lines show it.
  Product opened(Product p, Line& line, Product& outer) const;
  void check_scopes(const Product& p, const Product& q) const;
  void show_with(Context context, Lines& lines) const;
  void close() { closed_ = true; }
  /// The index of that name, made if it is not there; Refused if that names something else.
  Symbol index(std::string_view name);
  bool stands_somewhere(Symbol s) const;
  const Known& known(Line& line);
  Sum path_start(std::string_view& path) const;
  /// Of the sum of terms "C" or "C:F*G", and of s less that, simplified by the lines.
  Signs sign_by_terms(Sum s, Line& line, Lines& lines);

  void pin(Line& line, Lines&);
  void drop(Line& line, Lines&);
  void refuted(Line& line, Lines&);
  void divide(Line& line, Lines&);
  void omit(Line& line, Lines&);
  void alias(Line& line, Lines&);
  void pair(Line& line, Lines& lines);
  void under(Line& line, Lines& lines);
  void inside(Line& line, Lines& lines);
  void value(Line& line, Lines&);
  void count(Line& line, Lines&);
  void cases(Line& line, Lines& lines);
  void body(Line& line, Lines& lines);
  void multiply(Line& line, Lines&);
  void law(Line& line, Lines&);
  void cancel(Line& line, Lines& lines);
  void split(Line& line, Lines& lines);
  void infer(Line& line, Lines& lines);
  void absurd(Line& line, Lines& lines);
  void order(Line& line, Lines& lines);
  void factor(Line& line, Lines&);
  void defined(Line& line, Lines&);
  void whole(Line& line, Lines&);
  void bounds(Line& line, Lines&);
  void total(Line& line, Lines& lines);
  void attain(Line& line, Lines&);
  void above(Line& line, Lines&);

  Symbols& symbols_;
  Context context_;
  std::map<size_t, Product> products_;
  std::optional<Known> target_;
  size_t next_ = 0;
  bool closed_ = false;
  bool rewriting_ = false;  ///< what is left will stand for the sum
};

/// What was to be replaced, and then this symbol by its value: all at once.
void then_replace(Symbols& symbols, Values& values, Symbol s, const Poly& value);
/// In what the claim is about, but not in what is given of sizes.
OutputClaim replaced(Symbols& symbols, OutputClaim claim, const Values& values);

/// Accepts when the derivation shows the claim; else throws Refused.
void check(Symbols& symbols, const Claim& claim, std::string_view derivation,
           Certificates* instead = nullptr);
/// The same for a claim about an output, whose part of a derivation begins here.
void check(Symbols& symbols, const OutputClaim& claim, Lines& lines);

}  // namespace regraft::kernel
