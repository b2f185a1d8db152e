#pragma once
// The candidates of a run: no two the same rule, each with a name.
#include <functional>
#include <map>
#include <mutex>

#include "gen/generalise/generalise.h"

namespace regraft::gen {

/// The shapes that rules name, by the number of the rule: those of an earlier run are used, new
/// ones are added. Thread-safe.
class Domains {
 public:
  using Map = std::map<size_t, std::vector<Signature>>;
  /// `added` is called with all of them now and then; may be empty.
  explicit Domains(Map known, std::function<void(const Map&)> added = {})
      : known_(std::move(known)), added_(std::move(added)) {}
  /// Of rule k, which has so many variables.
  std::vector<Signature> of(size_t k, size_t variables,
                            const std::function<std::vector<Signature>()>& find);

 private:
  std::mutex mutex_;
  Map known_;
  std::function<void(const Map&)> added_;
};

/// Collects rules that differ.
class Collector {
 public:
  /// False when the rule is there already, then perhaps at other shapes, or is not one.
  bool add(const Rule& rule, const Signature& signature);
  /// The rule, if it is there, holds at these shapes as well.
  void note(const Rule& rule, const Signature& signature);
  uint64_t duplicates() const { return duplicates_; }
  const std::vector<Rule>& rules() const { return rules_; }
  /// Where rule k was found.
  const std::vector<Signature>& signatures(size_t k) const { return signatures_[k]; }
  /// The rules that `keep` marks, named and with the shapes that nobody would guess. Names are made
  /// of operators and of as many digits of the rule's hash as tell it apart.
  std::vector<Rule> finished(const std::vector<char>& keep, int threads, Domains& domains) const;

 private:
  bool known(const Rule& rule) const;
  size_t number_of(const Rule& rule) const;
  std::vector<Signature> domain(size_t k) const;
  std::vector<Rule> rules_;
  std::vector<std::vector<Signature>> signatures_, noted_;
  std::map<std::string, size_t> keys_;  ///< of each direction; the number of the rule
  uint64_t duplicates_ = 0;
};

}  // namespace regraft::gen
