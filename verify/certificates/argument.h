#pragma once
// A certificate in the making: facts, the steps that make them, and cases. What turns out not to be
// needed is left out of the text.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/kernel/certificate.h"

namespace regraft::verify {

/// Which fact of an Argument.
using FactId = size_t;

/// One summand of a step `lin`: a number times a product of facts.
struct Summand {
  int64_t times = 1;
  std::vector<FactId> facts;
};

/// The steps follow each other; a distinction has a place for the argument of each of its cases,
/// and ends the steps of the place where it is made. Not thread-safe. Functions throw
/// kernel::Refused where numbers are too large.
class Argument {
 public:
  /// Some point within the cases: steps are added there.
  struct Place {
    Place* outer = nullptr;
    std::vector<size_t> steps;
    std::vector<FactId> assumed;
    bool closed = false;  ///< the last step says what no integers satisfy
    std::optional<size_t> distinction;
    std::vector<std::unique_ptr<Place>> cases;
  };

  Argument(kernel::Symbols& symbols, const std::vector<kernel::Fact>& given);
  Place& root() { return root_; }
  kernel::Symbols& symbols() { return symbols_; }
  const kernel::Fact& fact(FactId id) const { return facts_[id].fact; }
  /// That 1 is not negative.
  FactId one() const { return 0; }

  /// Each adds a step, and returns its first conclusion.
  FactId lin(Place& at, const std::vector<Summand>& sum, std::optional<int64_t> divisor = {});
  FactId times(Place& at, FactId equality, const kernel::Poly& p);
  FactId both(Place& at, FactId a, FactId b);
  FactId least(Place& at, kernel::Symbol s);
  /// Two conclusions, the second one has the next number. `positive`: shows the denominator or
  /// bound to be at least 1.
  FactId quotient(Place& at, kernel::Symbol q, FactId positive);
  FactId lookup(Place& at, kernel::Symbol l, FactId positive);
  FactId entry(Place& at, kernel::Symbol l, size_t number, const std::vector<FactId>& shown);
  FactId same(Place& at, kernel::Symbol a, kernel::Symbol b, FactId first, FactId second);
  /// p >= 0, and -p - 1 >= 0.
  void either(Place& at, const kernel::Poly& p);
  /// What a fact `any` leaves.
  void cases(Place& at, FactId any);

  /// Its distinctions are undone, and its steps after the first few.
  void undo(Place& at, size_t steps) {
    at.distinction.reset();
    at.cases.clear();
    at.steps.resize(steps);
    at.closed = false;
  }

  /// The certificate. REQUIRES: every case ends with an absurd conclusion.
  std::string text();

 private:
  static constexpr size_t kGiven = static_cast<size_t>(-1);
  struct Known {
    kernel::Fact fact;
    size_t step;      ///< that concludes it; kGiven: it was given, or is a case
    uint64_t number;  ///< in the text
    bool used = false;
  };
  struct Word {
    std::string text;
    std::vector<FactId> facts;  ///< whose numbers follow, with '*' between them
  };
  struct Step {
    std::vector<Word> words;
    FactId first = 0;
    size_t conclusions = 0;
    bool used = false;
  };
  FactId add(Place& at, std::vector<Word> words, std::vector<kernel::Fact> conclusions);
  FactId assume(const kernel::Fact& f, std::vector<FactId>* where);
  void distinguish(Place& at, std::vector<Word> words, const std::vector<kernel::Fact>& cases);
  kernel::Poly product(const Summand& s, bool& vanishes) const;
  void use(const Step& step);
  void mark(Place& at);
  void write(const Place& at, uint64_t number, std::string& out);
  void write(const Step& step, std::string& out) const;

  kernel::Symbols& symbols_;
  std::vector<Known> facts_;
  std::vector<Step> steps_;
  Place root_;
};

}  // namespace regraft::verify
