#pragma once
// Linear integer arithmetic by elimination: what most questions of a proof need, without a solver.
#include <optional>
#include <vector>

#include "ir/algebra/formula.h"

namespace regraft::verify {

enum class Decision : uint8_t {
  Refuted,      ///< no integers satisfy the facts
  Satisfiable,  ///< some do, where each product of symbols is an integer of its own
  Open,         ///< too many inequalities or cases, or numbers that elimination rounds
};

/// Decides a conjunction with each product of symbols as one integer. The work is bounded, and
/// depends on nothing but the facts.
Decision decide_linear(const Conjunction& facts);

/// The sum of the unknowns of the columns times numbers, plus k, is not negative or, if strict,
/// positive.
struct Inequality {
  struct Term {
    uint32_t column;
    int64_t times;
  };
  std::vector<Term> c;  ///< in any order, each column once
  int64_t k = 0;
  bool strict = false;
  size_t origin = 0;  ///< its place in a Trail, where one is kept
};
/// No real numbers satisfy all of them. The work is bounded; false says nothing.
bool no_reals(const std::vector<Inequality>& facts);

/// How inequalities over integers follow from others: (ca a + cb b) / divisor, rounded down.
class Trail {
 public:
  struct Step {
    size_t a, b;         ///< their places; the same one for an inequality that was given
    int64_t ca, cb = 0;  ///< not negative
    int64_t divisor = 1;
    bool rounded = false;  ///< the division cut something off
    bool given = false;
  };
  size_t given() {
    steps_.push_back({steps_.size(), steps_.size(), 1, 0, 1, false, true});
    return steps_.size() - 1;
  }
  size_t add(Step s) {
    steps_.push_back(s);
    return steps_.size() - 1;
  }
  const Step& operator[](size_t k) const { return steps_[k]; }

 private:
  std::vector<Step> steps_;
};

/// Elimination over the integers: the place in the trail of an inequality that says that a negative
/// number is not negative; nullopt: none was found. REQUIRES: each fact has a place of its own in
/// the trail.
std::optional<size_t> contradiction(const std::vector<Inequality>& facts, Trail& trail);

/// `facts` and what follows of products that occur in them: facts times what is not negative, and
/// the cases of a factor's sign. Lets linear arithmetic see more.
Conjunction with_products(const Conjunction& facts);

}  // namespace regraft::verify
