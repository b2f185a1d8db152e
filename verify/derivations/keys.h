#pragma once
// Keys of what a search remembers.
#include "verify/kernel/derivation.h"

namespace regraft::verify {

/// Texts that are the same for products that read the same, up to the names of bound indices and
/// the order of factors: a guess, which derivations prove. Without the coefficient.
std::string key_of(kernel::Symbols& symbols, const kernel::Product& p);
std::string key_of(kernel::Symbols& symbols, const kernel::Sum& s);

/// The same for the same facts, and the same number of a context, alone; no texts. Of symbols there
/// is their place: such a key is of one kernel::Symbols.
std::string exact_key(const std::vector<kernel::Fact>& facts);
std::string exact_key(const kernel::Context& context, const kernel::Sum& s);

}  // namespace regraft::verify
