#pragma once
// Keys of what a search remembers.
#include <string>
#include <unordered_map>

#include "verify/kernel/derivation.h"

namespace regraft::verify {

/// Texts that are the same for products that read the same, up to the names of bound indices and
/// the order of factors: a guess, which derivations prove. Without the coefficient. Remembers what
/// it was asked; the texts live as long as this. Not thread-safe.
class AlikeKeys {
 public:
  explicit AlikeKeys(kernel::Symbols& symbols) : symbols_(symbols) {}
  const std::string& of(const kernel::Product& p);
  const std::string& of(const kernel::Sum& s);

 private:
  kernel::Symbols& symbols_;
  std::unordered_map<std::string, std::string> known_;  ///< by exact key
};

/// The same for the same facts, and the same number of a context, alone; no texts. Of symbols there
/// is their place: such a key is of one kernel::Symbols.
std::string exact_key(const std::vector<kernel::Fact>& facts);
std::string exact_key(const kernel::Context& context, const kernel::Sum& s);

}  // namespace regraft::verify
