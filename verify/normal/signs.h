#pragma once
// Sign analysis: what may be known of the sign of a value, from its form and from facts. All
// answers are sound; sign::kUnknown says nothing.
#include "verify/normal/context.h"

namespace regraft::verify {

/// Of a sum in normal form, wherever it is defined in the domain.
Sign sign_of(const Sum& s, const Context& context);
Sign sign_of(const Product& p, const Context& context);
Sign sign_of(const Atom& a, const Context& context);
bool not_zero(const Sum& s, const Context& context);

/// The Context with one more fact, of a value in normal form, and with what it says of the value's
/// factors. The fact is to hold where its own guard does, so nothing else is assumed on the way.
Context learn(Context context, const Known& fact);

/// From the ranges of the functions in s.
Sign by_range(const Sum& s, const Context& context);
/// From what is known, as linear inequalities between products.
Sign by_combination(const Sum& s, const Facts& known);

}  // namespace regraft::verify
