#pragma once
// Families of rules: axes, permutations, lists of axes and ranks are variables. A family means the
// rules that it has at the values of these variables, finitely many for ranks up to kMaxRank.
#include <functional>
#include <map>

#include "ir/rule/rule.h"

namespace regraft {

/// A word of a signature: letters, and between them axes whose number is open.
struct Word {
  enum Open : uint8_t {
    None,
    Any,      ///< "..": each n
    AnyOrOne  ///< "**": each n or 1
  } open = None;
  std::string front, back;  ///< front alone when nothing is open
  int most = kMaxRank;      ///< how many axes are open at most
};
/// nullopt: it is no word of a signature.
std::optional<Word> word_of(std::string_view text);
std::string to_string(const Word& word);

/// It has variables for axes, or open ranks.
bool is_family(const Rule& rule);
/// The variables for axes in the order in which the left side has them.
std::vector<std::string> axis_variables(const Rule& rule);
/// Integer attribute k may be an expression of axes.
bool takes_axes(const IntAttr& attr);
/// Its numbers are a set: ascending.
bool is_axis_set(const IntAttr& attr);

/// What attribute `attr` is; nullopt: the expression has no value.
std::optional<std::vector<int64_t>> axes_at(const IntAttr& attr, const AxisTerm& term,
                                            const AxisValues& values);
/// Attribute `attr` is `given`: a variable that this tells gets its value, what is known is
/// compared. False: nothing fits.
bool bind_axes(const IntAttr& attr, const AxisTerm& term, const std::vector<int64_t>& given,
               AxisValues& values);

/// The numbers of attribute k of a call of a side, axes counted from the front; nullopt: unknown.
using GivenAxes = std::function<std::optional<std::vector<int64_t>>(size_t node, size_t k)>;
/// A call and its attribute.
struct AxisGap {
  size_t node = 0, attr = 0;
};
/// Gives all variables of a side the values that its attributes tell. Where that fails; nullopt: it
/// does not.
std::optional<AxisGap> gap_in(const Pattern& side, const GivenAxes& given, AxisValues& values);
bool bind_side(const Pattern& side, const GivenAxes& given, AxisValues& values);

/// How many axes are open where the variables have these ranks: 0 when none is; nullopt: the ranks
/// do not fit.
std::optional<int> open_axes(const Signature& signature, std::span<const int> ranks);
/// The signature with its open axes all n, which are that many.
Signature plain_signature(const Signature& signature, int open);
/// A plain signature is one that `open` stands for, letter by letter.
bool includes(const Signature& open, const Signature& plain);
/// The most open axes for which all words have at most kMaxRank, and that they allow.
int most_open(const Signature& signature);
/// The signature for at most that many.
Signature with_most_open(const Signature& signature, int most);

/// The family at values of its variables, without a domain: no family any more. An Error when an
/// expression has no value, or a condition does not hold.
Result<Rule> member(const Rule& family, const AxisValues& values);

/// One rule of a family: no family, with its one signature as domain.
struct Member {
  Rule rule;
  AxisValues values;
};
/// "?p=1,0 a:nn": which member it is.
std::string to_string(const Member& m);
/// Calls `visit` for each member at one of the family's signatures with that many open axes, whose
/// left side has a form. False ends it. Returns false when it was ended.
bool for_each_member(const Rule& family, const Signature& signature, int open,
                     const std::function<bool(Member)>& visit);
/// What the members of families are, looked for once for each direction, signature and number of
/// open axes. Not thread-safe.
class MemberLists {
 public:
  /// As the function of that name.
  bool for_each_member(const Rule& family, const Signature& signature, int open,
                       const std::function<bool(Member)>& visit);
  /// How many there are, or `limit` if that is less.
  size_t count(const Rule& family, const Signature& signature, int open, size_t limit);

 private:
  struct Place {
    AxisValues values;
    Signature signature;
  };
  struct List {
    std::vector<Place> places;
    bool complete = false;
  };
  const List& list_of(const Rule& family, const Signature& signature, int open, size_t limit);
  std::map<std::string, List> lists_;
};
/// Some members that have a form, spread over the family's signatures, ranks and values, the
/// smaller ranks first; at most `each` for a signature and a number of open axes. Deterministic.
std::vector<Member> some_members(const Rule& family, size_t each);
/// A member with few axes, in both directions where the family is; a rule that is no family as it
/// is. nullopt: there is none.
std::optional<Rule> example_of(const Rule& rule);

}  // namespace regraft
