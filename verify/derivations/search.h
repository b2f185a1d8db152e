#pragma once
// The search for the steps that make a sum empty.
#include <functional>
#include <set>
#include <unordered_map>

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

/// Polynomials that are 0, by the facts as they stand.
std::vector<kernel::Poly> zeros_of(std::span<const kernel::Fact> facts);

/// Not thread-safe.
class StepSearch {
 public:
  using Facts = kernel::List<kernel::Fact>;
  /// At most so many steps and attempts to pair.
  StepSearch(Questions& questions, int steps)
      : questions_(questions),
        symbols_(questions.symbols()),
        alike_(questions.alike()),
        left_(steps) {}

  /// Steps, with "end", that show the sum to be 0 in the context.
  std::optional<std::string> zero(const kernel::Context& context, const kernel::Sum& sum);
  /// Steps, with "end", that show the target.
  std::optional<std::string> has_sign(const kernel::Context& context, const kernel::Known& target);
  /// What shows f goes to the draft; false: nothing was found.
  bool need(const Facts& facts, const kernel::Fact& f, Draft& draft);
  /// What shows two factors to be equal goes to the draft.
  bool equal(const kernel::Context& context, const kernel::Atom& a, const kernel::Atom& b,
             Draft& draft);
  /// Words and certificates that a maximum is of something.
  bool reached(const kernel::Context& context, const kernel::Atom& m, Draft& draft);
  /// Values of y's indices over x's by which y's factor may be x's.
  kernel::Values values(const kernel::Partial& x, const kernel::Partial& y);
  /// A product that was left, in the first of the sums that did not become empty.
  const std::string& stuck() const { return stuck_; }

 private:
  friend class Pairing;
  using Line = std::optional<std::string>;
  Line find_zero(const kernel::Context& context, const kernel::Sum& sum);
  Line find_sign(const kernel::Context& context, const kernel::Known& target);
  /// What was found in a context before, where it asks for the same.
  template <class F>
  Line remembered(std::string key, F find);
  // One product.
  /// A line is tried; false: nothing was changed.
  bool simplify(kernel::Goal& goal, size_t n, std::string& text);
  Line other_name(const kernel::Goal& goal, size_t n);
  Line pin(const Facts& known, const kernel::Product& p);
  Line tidy(const Facts& known, const kernel::Product& p);
  Line by_law(const kernel::Context& here, const kernel::Product& p);
  Line leaves_maximum(const kernel::Context& here, const kernel::Atom& a, const std::string& at);
  Line law_of(const kernel::Context& here, const kernel::Atom& a, const std::string& at);
  Line rounded(const kernel::Context& here, const kernel::Product& p, const std::string& at);
  Line outside(const kernel::Product& p);
  Line only(const kernel::Context& here, const kernel::Product& p);
  bool read_alike(const kernel::Context& here, const kernel::Product& p, const kernel::Product& q);
  Line together(const kernel::Context& here, const kernel::Product& p);
  Line cancel(const kernel::Context& here, const kernel::Product& p);
  Line cancel_term(const kernel::Context& here, const kernel::Product& p, size_t r,
                   const kernel::Sum& x, size_t t);
  Line count(const Facts& known, const kernel::Product& p);
  Line foreign(const Facts& known, const kernel::Product& p);
  Line inside(const kernel::Context& here, const kernel::Product& p);
  // Two products.
  /// Products that read the same and cancel out go away as they are.
  void pair_same(kernel::Goal& goal, std::string& text);
  bool pair_one(kernel::Goal& goal, std::string& text);
  Line pair(const kernel::Goal& goal, size_t n, size_t m);
  /// Splits a product where the guard of another one, which is its opposite there, divides it.
  bool divide_one(kernel::Goal& goal, std::string& text);
  Line divided(const kernel::Goal& goal, size_t n, size_t m);
  /// All of that, as long as something changes.
  void reduce(kernel::Goal& goal, std::string& text);
  // Signs.
  /// More becomes known, or everything is shown; false: nothing changed.
  bool advance(kernel::Goal& goal, std::string& text);
  bool learn_defined(kernel::Goal& goal, std::string& text);
  bool learn_quotients(kernel::Goal& goal, std::string& text);
  bool learn_common(kernel::Goal& goal, std::string& text);
  /// A maximum: where it is, and the indices at which it is known to be attained.
  struct Maximum {
    std::string path;
    kernel::Atom atom;
    std::vector<kernel::Symbol> at;
  };
  std::vector<Maximum> maxima_of(const kernel::Goal& goal);
  bool attain(kernel::Goal& goal, Maximum& m, std::string& text);
  bool learn_above(kernel::Goal& goal, const Maximum& m, const kernel::Values& at,
                   std::string& text);
  std::vector<kernel::Values> places_of(const Maximum& m, const std::vector<kernel::Atom>& reads);
  bool learn_maxima(kernel::Goal& goal, std::string& text);
  bool learn_squares(kernel::Goal& goal, std::string& text);
  bool by_contradiction(kernel::Goal& goal, std::string& text);
  bool learn_totals(kernel::Goal& goal, std::string& text);
  bool decide(kernel::Goal& goal, std::string& text);
  bool split(kernel::Goal& goal, const std::string& path, std::string& text);
  /// What a known value of a function cannot be of.
  bool sharpen(kernel::Goal& goal, std::string& text);
  /// The target or the sum, where more is known of a number.
  Line shown_with(const kernel::Goal& goal, const kernel::Sum& s, kernel::Signs signs);
  bool along_ranges(kernel::Goal& goal, std::string& text);
  bool by_exp(kernel::Goal& goal, std::string& text);
  bool by_guards(kernel::Goal& goal, std::string& text);
  bool bodies(kernel::Goal& goal, std::string& text);
  bool learn_bounds(kernel::Goal& goal, std::string& text);
  bool learn_orders(kernel::Goal& goal, std::string& text);
  bool multiplied(kernel::Goal& goal, std::string& text);
  /// The target is a multiple of what is known.
  bool as_known(kernel::Goal& goal, std::string& text);
  bool conclude(kernel::Goal& goal, std::string& text);
  /// A line that makes the sign of what the path names known to be among these.
  Line inferred(const kernel::Goal& goal, const std::string& path, kernel::Signs wanted);
  Line terms(const kernel::Goal& goal, const kernel::Sum& s, kernel::Signs wanted, bool absurd);
  bool reached_as(const Facts& known, const kernel::Atom& a, const kernel::Atom& b, Draft& draft);
  Line multiple(const kernel::Goal& goal, const kernel::Sum& s, kernel::Signs wanted);
  kernel::Values pinned_by(const Facts& facts);
  kernel::Sum plain_form(const Facts& facts, const kernel::Values& pinned, const kernel::Sum& s);
  bool tried(kernel::Goal& goal, const std::string& line, std::string& text);

  Questions& questions_;
  kernel::Symbols& symbols_;
  AlikeKeys& alike_;
  std::string stuck_;
  std::unordered_map<std::string, Line> remembered_;
  std::map<std::string, std::vector<std::vector<kernel::Symbol>>> attained_;  ///< where, by key
  size_t names_ = 0;                                                          ///< of indices
  int splits_ = 0;  ///< around what is tried
  int quiet_ = 0;   ///< within what is compared, where no signs are looked for
  int left_;        ///< steps and attempts to pair
};

/// A factor of a goal: where it is, and the factors that it is within.
struct Found {
  std::string path;
  kernel::Atom atom;
  bool closed;  ///< no index that is bound around it stands in it
};
/// A factor that all products have, by its number in each.
std::optional<std::string> common_factor(const kernel::Symbols& symbols, const kernel::Sum& s,
                                         const std::function<bool(const kernel::Atom&)>& admitted);
/// Each factor of what is known that stands within no index, with its path.
void for_known_factors(const std::vector<kernel::Known>& known,
                       const std::function<void(const std::string&, const kernel::Atom&)>& visit);
/// Inner ones first.
std::vector<Found> factors_within(const kernel::Symbols& symbols, const kernel::Goal& goal);
/// The same of what is known.
std::vector<Found> factors_known(const kernel::Symbols& symbols, const kernel::Goal& goal);

}  // namespace regraft::verify
