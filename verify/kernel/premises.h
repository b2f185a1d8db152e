#pragma once
// What steps of derivations ask for, each with certificates from a line or with further lines.
#include <algorithm>

#include "verify/kernel/derivation.h"

namespace regraft::kernel {

/// Indices that are bound together.
struct Range {
  const List<Symbol>& bound;
  const List<Fact>& guard;
};

void need(Symbols& symbols, const List<Fact>& facts, const Fact& f, Line& line);
/// `facts` cannot all hold.
void refute(Symbols& symbols, const std::vector<Fact>& facts, Line& line);
/// "1,2", or "-" for none; different numbers below `end`. Refused.
std::vector<size_t> read_list(std::string_view word, size_t end);
/// The parts that are named, which are taken out.
template <class T>
List<T> extract(List<T>& from, const std::vector<size_t>& which) {
  if (which.empty()) return {};
  std::vector<T> taken;
  for (size_t k : which) taken.push_back(from[k]);
  std::vector<size_t> order = which;
  std::sort(order.rbegin(), order.rend());
  for (size_t k : order) from.erase(k);
  return taken;
}
Sum difference(const Sum& a, const Sum& b);
bool is_quotient(const Atom& a);
/// The only product of a sum, if it adds nothing up; Refused.
const Product& only_product(const Sum& s);
/// The product of the factors that each product has at the places that are named for it; they leave
/// them. Refused.
Sum take_common(const Symbols& symbols, Sum& s, Line& line);
Values read_values(Symbols& symbols, const std::vector<Symbol>& bound, Line& line);
/// Where `facts` hold, the values take what is in `from` to what is in `to`.
void need_within(Symbols& symbols, const List<Fact>& facts, Range from, Range to,
                 const Values& values, Line& line);
/// No index of `from` that is not one of `to` too stands in the values, which are over `to`.
void check_apart(const Symbols& symbols, Range from, Range to, const Values& values);
/// b's indices over a's: a map between the two ranges that has an inverse.
Values bijection(Symbols& symbols, const List<Fact>& facts, Range a, Range b, Line& line);
/// None of the indices stands in the factor where it is not bound there; Refused.
void check_free(const Symbols& symbols, const Atom& a, const std::vector<Symbol>& bound);
/// "reached E ..." or "as Y E ... F ...": the maximum is of something.
void need_reached(Symbols& symbols, const Context& context, const Atom& maximum, Line& line);
void show_zero(Symbols& symbols, Context context, const Sum& sum, Lines& lines);
/// Where the context holds, the two are the same number.
void need_equal(Symbols& symbols, const Context& context, const Atom& a, const Atom& b, Line& line,
                Lines& lines);
/// The values have one of the signs of s where f is defined.
Signs domain_of(Fn f);

}  // namespace regraft::kernel
