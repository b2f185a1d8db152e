#pragma once
// Whether two whole models compute the same, whoever made the second of the first.
#include <string>
#include <vector>

#include "base/parallel.h"
#include "certify/basis.h"
#include "certify/proof.h"
#include "io/model.h"
#include "rewrite/match/rule_index.h"

namespace regraft::certify {

struct ValidatedOutput {
  std::string a, b;  ///< names; empty: there is none
  Equivalence verdict = Equivalence::Unknown;
  std::string reason;  ///< Unknown, Refuted
};

/// Which inputs and outputs of two models stand for each other: by name, then by position among
/// those that are left.
struct Pairing {
  verify::Matching matching;
  std::vector<std::string> differences;  ///< "output 'y': float32 in the first model, ..."
  std::vector<size_t> wrong_outputs;     ///< of the first model, without a partner of their type
  std::vector<size_t> other_defaults;  ///< inputs of the first model that default to something else
};
Pairing pair_interfaces(const io::Imported& a, const io::Imported& b);

struct ValidationOptions {
  verify::SweepOptions sweep;
  const rewrite::RuleIndex* rules = nullptr;  ///< to prepare with; nullptr: no preparation
  /// More than names is needed where they do not suffice: values are evaluated, the models are
  /// tidied up.
  bool thorough = true;
  /// Outputs are tried even if their values are far apart on random inputs. Otherwise the models
  /// are not swept by values where all outputs that are left are such: look for a counterexample
  /// first.
  bool try_suspects = true;
};

struct Validation {
  std::vector<std::string> interface;  ///< differences of the interfaces
  std::vector<ValidatedOutput> outputs;
  /// By output: it may be wrong, since its values were far apart on random inputs.
  std::vector<char> suspect;
  int bodies = 0;  ///< of If, Loop and Scan that differ in form and were validated
  ModelProof proof;
  Pairing pairing;
  verify::Pair given;  ///< the models as they are, equal nodes joined
  verify::Pair pair;   ///< as it was swept last
  verify::SweepReport sweep;
  Basis rules;  ///< of those that the proof uses
  Equivalence verdict() const;
  /// Of the windows that the proof uses.
  Basis windows() const;
  /// Were outputs left out for being suspect?
  bool postponed = false;
};

/// Proves what it can. An Error: a constant cannot be read, or a graph has a cycle.
Result<Validation> validate(const io::Imported& a, const io::Imported& b,
                            const ValidationOptions& options, const Stop& stop);

/// The certificate of a validation of these models. An Error: a constant cannot be read.
Result<ProofCertificate> make_proof(const io::Imported& a, const io::Imported& b,
                                    const Validation& validation, const ValidationOptions& options,
                                    std::map<std::string, int64_t> sizes);

/// Does the proof once more: each rule and each window is proved anew, each constant compared
/// anew, and all is composed. Nothing in the certificate is believed; the report says what was
/// proved. An Error: it is about other models, or a step or a rule of it does not hold.
Result<Validation> check_proof(const ProofCertificate& certificate, const io::Imported& a,
                               const io::Imported& b, uint64_t seed, int threads, const Stop& stop);

}  // namespace regraft::certify
