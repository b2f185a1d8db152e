#pragma once
// Derivations for what the symbolic prover proves: found here, outside of the kernel, which checks
// them.
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/parallel.h"
#include "ir/rule/rule.h"

namespace regraft::verify {

/// A derivation that the kernel accepts, or where the attempt to find one ended.
struct Elaboration {
  std::optional<std::string> derivation;
  std::string missing;
};

struct Shown;

/// What is known from a rule's other proofs: what shows a rule at one signature often shows it at
/// the next, and what was looked for in vain mostly is there, too.
class OtherProofs {
 public:
  OtherProofs();
  ~OtherProofs();
  /// Derivations that differ, the last one that was of use first.
  const std::vector<Shown>& found() const { return found_; }
  size_t missed() const { return missed_; }
  /// The number of another search that found one.
  size_t next_search() { return searches_++; }
  /// It was of use, or is new.
  void add(Shown shown);
  /// No search found nothing, not even a brief one.
  bool is_easy() const { return easy_ && missed_ == 0; }
  void look_in_vain() { easy_ = false; }
  /// A search found nothing, and says where it ended.
  void miss(const std::string& missing) {
    if (missed_++ == 0) first_missing_ = missing;
  }
  /// Where the first of them ended.
  const std::string& first_missing() const { return first_missing_; }
  /// Certificates for facts about sizes, by the facts as texts; nullopt: none was soon found.
  std::unordered_map<std::string, std::optional<std::string>>& certificates() {
    return certificates_;
  }

 private:
  std::vector<Shown> found_;
  bool easy_ = true;
  size_t missed_ = 0, searches_ = 0;
  std::string first_missing_;
  std::unordered_map<std::string, std::optional<std::string>> certificates_;
};

/// The derivation of another proof that the kernel accepts for this one, as it stands or made to
/// fit; nullopt: none was. What comes out is added.
std::optional<std::string> fitted(const RuleInstance& instance, OtherProofs& others,
                                  const Stop* stop = nullptr);
/// What comes out of a search is added. Deterministic; the work is bounded, and less after proofs
/// that were missed. May make symbols in the instance's pool. After `stop` (nullptr: never) the
/// search ends without one.
Elaboration searched(const RuleInstance& instance, OtherProofs& others, const Stop* stop = nullptr);
/// The same with less work, for what may be false: that none was found is no miss, but ends these
/// searches.
std::optional<std::string> briefly_searched(const RuleInstance& instance, OtherProofs& others,
                                            const Stop* stop = nullptr);
/// Fitted, or else searched.
Elaboration elaborate(const RuleInstance& instance, OtherProofs& others,
                      const Stop* stop = nullptr);
Elaboration elaborate(const RuleInstance& instance, const Stop* stop = nullptr);

}  // namespace regraft::verify
