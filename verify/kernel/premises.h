#pragma once
// What steps of derivations ask for, each with certificates from a line or with further lines.
#include "verify/kernel/derivation.h"

namespace regraft::kernel {

/// Indices that are bound together.
struct Range {
  const std::vector<Symbol>& bound;
  const std::vector<Fact>& guard;
};

void need(Symbols& symbols, const std::vector<Fact>& facts, const Fact& f, Line& line);
/// `facts` cannot all hold.
void refute(Symbols& symbols, const std::vector<Fact>& facts, Line& line);
Sum difference(const Sum& a, const Sum& b);
bool is_quotient(const Atom& a);
/// The only product of a sum, if it adds nothing up.
const Product& only_product(const Sum& s);
Values read_values(Symbols& symbols, const std::vector<Symbol>& bound, Line& line);
/// Where `facts` hold, the values take what is in `from` to what is in `to`.
void need_within(Symbols& symbols, const std::vector<Fact>& facts, Range from, Range to,
                 const Values& values, Line& line);
/// No index of `from` that is not one of `to` too stands in the values, which are over `to`.
void check_apart(const Symbols& symbols, Range from, Range to, const Values& values);
/// b's indices over a's: a map between the two ranges that has an inverse.
Values bijection(Symbols& symbols, const std::vector<Fact>& facts, Range a, Range b, Line& line);
void show_zero(Symbols& symbols, std::vector<Fact> facts, const Sum& sum, int depth, Lines& lines);
/// Where `facts` hold, the two are the same number.
void need_equal(Symbols& symbols, const std::vector<Fact>& facts, const Atom& a, const Atom& b,
                int depth, Line& line, Lines& lines);

}  // namespace regraft::kernel
