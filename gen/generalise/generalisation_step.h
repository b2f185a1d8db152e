#pragma once
// Single steps from a hypothesis to a more general one.
#include <functional>

#include "gen/generalise/hypothesis.h"

namespace regraft::gen {

/// Symbols to be opened together: each of `roots` becomes free, each of `ties` equal to a root.
struct Opening {
  std::vector<int> roots;
  std::vector<std::pair<int, int>> ties;  ///< (symbol, position in roots)
  int product = -1;                       ///< a symbol that becomes the product of the roots
  int sum = -1;                           ///< likewise their sum
};

/// What a number of the right side may become.
enum class Numbers : uint8_t {
  Plain,     ///< expressions with at most one attribute variable
  Composed,  ///< sums and products too
};

/// Opens symbols of a hypothesis and looks for what the right side's numbers must become.
class GeneralisationStep {
 public:
  /// `confirm`: at how many samples a step must hold.
  GeneralisationStep(HypothesisTester& tester, Numbers numbers, int confirm)
      : tester_(tester), numbers_(numbers), confirm_(confirm) {}
  /// Replaces h by a more general hypothesis that held at samples where a root had moved; false and
  /// unchanged when none was found.
  bool open(Hypothesis& h, const Opening& opening);
  /// The same where all of `roots` were equal to other symbols, which stay.
  bool part(Hypothesis& h, const std::vector<int>& symbols);
  /// True when h holds; `moving` as for HypothesisTester::samples.
  bool holds(const Hypothesis& h, const std::vector<int>& moving);

 private:
  using Right = std::vector<Poly>;
  struct Delta {  ///< what the roots become, and were
    std::vector<Poly> to, from;
    std::vector<int64_t> witness;
    std::string_view attr;  ///< of a number root
    int index = -1;         ///< its place in its list
    bool product = false;   ///< each of the roots by itself changes the right side
  };
  std::vector<Right> alternatives(const Hypothesis& h, const Delta& d) const;
  std::vector<Right> of_lists(const Hypothesis& h, const Delta& d) const;
  std::vector<Right> of_single(const Hypothesis& h, const Delta& d) const;
  void add_coefficients(const Hypothesis& h, const Delta& d, std::vector<Right>& options) const;
  void add_determined(const Hypothesis& h, std::vector<Right>& options) const;
  bool choose(Hypothesis& h, const std::vector<Right>& options, std::vector<Sample> few,
              const std::function<std::vector<Sample>()>& draw_more);
  bool is_fixed(const Opening& opening) const;
  void keep_unneeded(Hypothesis& changed, const Right& old,
                     const std::function<bool()>& holds) const;

  bool is_allowed(const Right& right) const;

  HypothesisTester& tester_;
  Numbers numbers_;
  int confirm_;
};

}  // namespace regraft::gen
