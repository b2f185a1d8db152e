#pragma once
// The search for the steps that make a sum empty.
#include "verify/derivations/questions.h"
#include "verify/kernel/derivation.h"

namespace regraft::verify {

/// Words and certificates of a line in the making, and the lines that follow it.
struct Draft {
  std::string words, certificates, lines;
  void word(const std::string& w) { words += " " + w; }
  void word(size_t n) { word(std::to_string(n)); }
  /// An empty certificate is none.
  void certificate(const std::string& c) {
    if (!c.empty()) certificates += "|" + c;
  }
  std::string text(const std::string& name) const {
    return name + words + certificates + "\n" + lines;
  }
};

/// Indices that are bound together.
struct IndexRange {
  const std::vector<kernel::Symbol>& bound;
  const std::vector<kernel::Fact>& guard;
};

/// Not thread-safe.
class StepSearch {
 public:
  using Facts = std::vector<kernel::Fact>;
  explicit StepSearch(Questions& questions)
      : questions_(questions), symbols_(questions.symbols()) {}

  /// Steps, with "end", that show the sum to be 0 where the facts hold; `first` are the first ones.
  std::optional<std::string> zero(const Facts& facts, const kernel::Sum& sum, int depth = 0,
                                  const std::vector<std::string>& first = {},
                                  const std::vector<kernel::Partial>& defined = {});
  /// What shows f goes to the draft; false: nothing was found.
  bool need(const Facts& facts, const kernel::Fact& f, Draft& draft);
  /// What shows two factors to be equal goes to the draft.
  bool equal(const Facts& facts, const kernel::Atom& a, const kernel::Atom& b, int depth,
             Draft& draft);
  /// A product that was left, in the first of the sums that did not become empty.
  const std::string& stuck() const { return stuck_; }

 private:
  friend class Pairing;
  /// A line is tried; false: nothing was changed.
  bool simplify(kernel::Goal& goal, size_t n, int depth, std::string& text,
                const std::vector<kernel::Partial>& defined = {});
  std::optional<std::string> pin(const Facts& known, const kernel::Product& p);
  std::optional<std::string> tidy(const Facts& known, const kernel::Product& p);
  std::optional<std::string> outside(const kernel::Product& p);
  std::optional<std::string> reduce(const Facts& known, const kernel::Product& p,
                                    const std::vector<kernel::Partial>& defined);
  std::optional<std::string> count(const Facts& known, const kernel::Product& p);
  std::optional<std::string> foreign(const Facts& known, const kernel::Product& p);
  std::optional<std::string> inside(const Facts& known, const kernel::Product& p, int depth);
  std::optional<std::string> vanish(const Facts& known, const kernel::Product& p, int depth);
  bool pair_one(kernel::Goal& goal, int depth, std::string& text);
  std::optional<std::string> pair(const kernel::Goal& goal, size_t n, size_t m, int depth);
  /// Splits a product where the guard of another one, which is its opposite there, divides it.
  bool divide_one(kernel::Goal& goal, std::string& text);
  std::optional<std::string> divided(const kernel::Goal& goal, size_t n, size_t m);

  Questions& questions_;
  kernel::Symbols& symbols_;
  std::string stuck_;
  int left_ = 3'000;  ///< steps and attempts to pair
};

}  // namespace regraft::verify
