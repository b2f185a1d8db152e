#pragma once
// Rules of which none follows from the others together, with what they say kept.
#include <functional>
#include <optional>

#include "gen/derive/derive.h"

namespace regraft::gen {

/// Whether a rule follows, and from which: all that dropping rules needs to know.
struct Answer {
  bool derived = false;
  std::vector<size_t> used;
};
/// Whether a goal, by its number, follows from the rules that `from` marks; empty: from all.
struct Question {
  size_t goal = 0;
  std::vector<char> from = {};
};
/// Who else answers.
struct Answers {
  /// An earlier run, to the same questions: called with the number of the question, `keep` from any
  /// thread. Both empty, or neither.
  std::function<std::optional<Answer>(size_t)> find;
  std::function<void(size_t, const Answer&)> keep;
  /// Other processes, what `find` does not know; in order. Empty: the deriver answers. An error
  /// ends the asking as a stop does.
  std::function<Result<std::vector<Answer>>(const std::vector<Question>&)> others;
};

/// Whether each goal follows, unless `answers` says so; false where `stop` left it out.
std::vector<char> derivable(const Deriver& deriver, const std::vector<Rule>& goals, int threads,
                            const Stop& stop, const Answers& answers = {});

/// How rules are dropped.
struct DropOptions {
  std::vector<char> pinned = {};  ///< marks rules that are never dropped; empty: none
  /// A rule goes only by rules whose larger side has no more calls.
  bool by_no_larger = false;
  /// Each rule is asked about once, and what is dropped does not come back: quick, but a rule may
  /// follow from the others once limits are felt less, or only by way of what was dropped.
  bool once = false;
};

struct MinimalSet {
  std::vector<char> remains;
  struct Dropped {
    size_t rule = 0;
    std::vector<size_t> used;  ///< it followed from these when it was dropped
  };
  std::vector<Dropped> dropped;  ///< in the order of dropping
  /// Dropped rules whose proof from what remains exceeds the limits: it goes by way of others that
  /// were dropped. Few, since such rules come back where that keeps the set minimal. Not looked for
  /// when each is asked about once.
  std::vector<size_t> far;
  size_t questions = 0;
  bool complete = false;  ///< false: `stop` left questions open, whose rules remain
};

/// None of the rules that remain follows from the other ones within the deriver's limits, but those
/// that are pinned. Rules written by hand are asked about first, then the largest, of equal ones
/// the first. Deterministic for any number of threads unless stopped; questions are numbered in the
/// order in which they are asked. REQUIRES: options.once, where `answers` has some, as they do not
/// say what a refusal rests on.
MinimalSet minimal_set(const Deriver& deriver, const DropOptions& options, int threads,
                       const Stop& stop, const Answers& answers = {});

/// Some size is 1 in each signature of the rule's domain.
bool needs_an_extent_of_one(const Rule& rule);

}  // namespace regraft::gen
