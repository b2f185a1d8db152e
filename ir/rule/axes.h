#pragma once
// Axes, lists of axes and permutations as variables of a rule, and expressions of them.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace regraft::text {
class Scanner;
}

namespace regraft {

/// What the axis variables of a rule stand for: one number for an axis, the images of 0, 1, .. for
/// a permutation, ascending numbers for a list of axes.
using AxisValues = std::map<std::string, std::vector<int64_t>>;

/// An expression whose value is a list of axes; a single axis is a list of one.
struct AxisTerm {
  enum Kind : uint8_t {
    Number,    ///< 2
    Variable,  ///< ?k
    List,      ///< ?s,?k: one after the other
    At,        ///< ?p[?k]: of the first list the elements at the places in the second
    Inverse,   ///< inverse(?p)
    Without,   ///< without(?p,?s): what is left of a permutation without the places ?s, renumbered
    Plus,      ///< ?k+1: `number` added to each
  } kind = Number;
  int64_t number = 0;
  std::string name;
  std::vector<AxisTerm> parts;

  bool operator==(const AxisTerm&) const = default;
};

/// A condition on axes.
struct AxisCondition {
  enum Kind : uint8_t {
    Less,       ///< ?j<?k: each on the left is below each on the right
    Different,  ///< ?j!=?k: nothing is in both
    Equal,      ///< ?j==?k: the same lists
  } kind = Less;
  AxisTerm left, right;

  bool operator==(const AxisCondition&) const = default;
};

/// nullopt: a variable has no value, a place does not exist, or what is inverted is no permutation.
std::optional<std::vector<int64_t>> evaluate(const AxisTerm& term, const AxisValues& values);
/// False as well when a side has no value.
bool holds(const AxisCondition& condition, const AxisValues& values);

/// The variables, in order of first use.
void add_names(const AxisTerm& term, std::vector<std::string>& names);
/// The one variable that is not in `known` and that the value of the whole would tell; "" when
/// there is none.
std::string solvable(const AxisTerm& term, const std::vector<std::string>& known);
/// Gives that variable its value. False: no value fits. What it is given must still be compared.
bool solve(const AxisTerm& term, const std::vector<int64_t>& value, AxisValues& values);

/// "?p[?q]"; `names` are new names of variables, the others keep theirs.
std::string to_string(const AxisTerm& term, const std::map<std::string, std::string>& names = {});
std::string to_string(const AxisCondition& condition,
                      const std::map<std::string, std::string>& names = {});
/// A list of at least one item, as to_string writes it.
Result<AxisTerm> read_axis_term(text::Scanner& in);
/// A condition, when one comes next; nullopt, with the scanner where it was: none does.
Result<std::optional<AxisCondition>> read_axis_condition(text::Scanner& in);

}  // namespace regraft
