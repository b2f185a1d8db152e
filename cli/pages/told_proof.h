#pragma once
// A proof of a rule for readers, as text and as HTML.
#include <string>
#include <vector>

#include "verify/replay/book.h"
#include "verify/replay/narration.h"

namespace regraft::cli {

struct ToldProof {
  std::string name;   ///< which one of the rule's: "> a:nn b:n1"
  std::string claim;  ///< the directed rule at one signature
  size_t proofs = 0;  ///< that the rule has
  std::vector<verify::ProofLine> lines;
};
/// The rule's proof of that name, or its first. The derivation is the book's, or looked for where
/// there is none (nullptr: no book). `most`: lines that are told, 0: all. An Error in one line:
/// there is no such proof, or it rests on the provers alone, with the step that is missing.
Result<ToldProof> tell_proof(const Rule& rule, const verify::DerivationBook* book,
                             const std::string& name = {}, size_t most = 0);

std::string to_text(const ToldProof& proof);
/// Below a heading. `shortened`: with short formulas, and a word on where the whole is.
std::string to_html(const ToldProof& proof, bool shortened);

}  // namespace regraft::cli
