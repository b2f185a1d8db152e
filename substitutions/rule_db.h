#pragma once
// The database of substitutions: text files with one rule a line (README.md has the format).
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/output_file.h"
#include "base/result.h"
#include "ir/rule/op_digest.h"
#include "ir/rule/rule.h"

namespace regraft::substitutions {

/// Of what is written. Up to format 2, before there was a kernel, proved:all-sizes was said by the
/// provers alone.
constexpr int kFormat = 3, kBeforeKernel = 2;

/// What a file says and holds.
struct RuleFile {
  int format = 0;           ///< of the header; 0: there is none
  std::string generator;    ///< how the candidates were made
  std::string prover;       ///< who proved them: "regraft 0.1 z3 4.8.12"
  std::vector<Rule> rules;  ///< in the order of the file
  size_t left_out = 0;      ///< rules that were well formed but not admitted
};

/// Which rules a reader takes.
enum class Admit : uint8_t {
  Kernel,      ///< proved:all-sizes only: the kernel checked each proof
  AllSizes,    ///< proved:solver as well: all sizes, by the provers alone
  Bounded,     ///< proved:bounded as well
  Candidates,  ///< all; verdicts are claims that nothing was done to check
};

/// Reads rules to use. An Error names file:line:column: a rule that does not parse or is not valid,
/// a name that occurs twice, and (unless candidates are read) a file of an earlier format and a
/// proved rule whose seal does not fit its text and the meaning of its operators. A seal from
/// before there was a kernel makes proved:all-sizes proved:solver. Seals guard
/// against accidents and edits by hand, not against an adversary: verification anew is what
/// re-proves a file.
Result<RuleFile> read_rules(const std::string& path, Admit admit = Admit::AllSizes);
/// read_rules with Admit::Candidates: rules to verify, print or count. A header is not needed.
Result<RuleFile> read_candidates(const std::string& path);
/// The same from text; `name` stands for the file in messages.
Result<RuleFile> parse_rules(std::string_view text, const std::string& name, Admit admit);

/// The file as text, sorted by name; proved rules get their seal. REQUIRES for proved rules: their
/// verdicts come from the verifier or a sealed file.
std::string to_text(const RuleFile& file);
/// The text, to a file that the caller commits. An Error when names are not distinct or the disk
/// refuses.
Status write_rules(OutputFile& out, const RuleFile& file);
/// The same, committed.
Status write_rules(const std::string& path, const RuleFile& file);

/// What an operator means to a seal; a test may change one.
using Meaning = std::function<Digest(const OpDef&)>;
/// The seal of a rule: 32 hexadecimal digits of a SHA-256 digest of its canonical text (domain and
/// verdict included) and of what each operator in it means. No other operator has a part in it.
std::string seal_of(const Rule& rule, const Meaning& meaning = known_meaning, int format = kFormat);

}  // namespace regraft::substitutions
