#include "gen/derive/minimal_set.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/check.h"

namespace regraft::gen {
namespace {

constexpr int kReturns = 1;    // times that dropped rules may come back
constexpr size_t kBatch = 48;  // questions asked at a time

int calls_of_larger_side(const Rule& r) { return std::max(size(r.lhs), size(r.rhs)); }

/// What was answered before to question `number`.
std::optional<Answer> known_answer(const Answers& answers, size_t number, size_t rules) {
  auto known = answers.find ? answers.find(number) : std::nullopt;
  if (known && std::ranges::any_of(known->used, [&](size_t n) { return n >= rules; }))
    return std::nullopt;
  return known;
}

Derivation as_derivation(Answer answer) {
  Derivation d;
  d.derived = answer.derived;
  d.used = std::move(answer.used);
  return d;
}

/// Answers to questions that are numbered from `first` on: from before, by others, or by the
/// deriver. Stopped where there is none.
std::vector<Derivation> answers_to(const std::vector<Question>& asked, size_t first,
                                   const std::vector<Rule>& goals, const Deriver& deriver,
                                   int threads, const Stop& stop, const Answers& answers) {
  std::vector<Derivation> r(asked.size());
  std::vector<size_t> open;
  for (size_t k = 0; k < asked.size(); ++k) {
    auto known = known_answer(answers, first + k, deriver.rules().size());
    r[k].stopped = !known;
    if (known)
      r[k] = as_derivation(*std::move(known));
    else
      open.push_back(k);
  }
  auto keep = [&](size_t k) {
    if (answers.keep && !r[k].stopped) answers.keep(first + k, {r[k].derived, r[k].used});
  };
  if (answers.others && !open.empty() && !stop.must_end()) {
    std::vector<Question> questions;
    for (size_t k : open) questions.push_back(asked[k]);
    auto found = answers.others(questions);
    for (size_t j = 0; found && j < open.size(); ++j) {
      r[open[j]] = as_derivation(std::move((*found)[j]));
      keep(open[j]);
    }
    return r;
  }
  parallel_for(open.size(), threads, [&](size_t j) {
    const size_t k = open[j];
    if (stop.must_end()) return;
    const Rule& goal = goals[asked[k].goal];
    r[k] = asked[k].from.empty() ? deriver.derive(goal, stop)
                                 : deriver.derive(goal, asked[k].from, stop);
    keep(k);
  });
  return r;
}

class Dropping {
 public:
  Dropping(const Deriver& deriver, const DropOptions& options, int threads, const Stop& stop,
           const Answers& answers)
      : deriver_(deriver), options_(options), threads_(threads), stop_(stop), answers_(answers) {
    set_.remains.assign(rules().size(), 1);
    refusals_.resize(rules().size());
    order_.resize(rules().size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    auto rank = [&](size_t k) {
      const Rule& r = rules()[k];
      return std::tuple(r.origin == "hand", calls_of_larger_side(r), size(r.lhs) + size(r.rhs));
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return rank(a) > rank(b); });
  }

  MinimalSet run() {
    drop_all();
    for (int k = 0; k < kReturns && !options_.once && bring_back(); ++k) drop_all();
    if (!options_.once) set_.far = not_following(gone_by_others());
    set_.complete = !stopped_;
    return std::move(set_);
  }

 private:
  const std::vector<Rule>& rules() const { return deriver_.rules(); }

  /// Once and for all: later answers build on earlier ones.
  bool must_end() {
    stopped_ = stopped_ || stop_.must_end();
    return stopped_;
  }

  std::vector<char> others(size_t k) const {
    std::vector<char> r = set_.remains;
    r[k] = 0;
    if (options_.by_no_larger)
      for (size_t n = 0; n < r.size(); ++n)
        if (calls_of_larger_side(rules()[n]) > calls_of_larger_side(rules()[k])) r[n] = 0;
    return r;
  }

  /// Whether each of these follows from what remains without it.
  std::vector<Derivation> ask(const std::vector<size_t>& asked) {
    std::vector<Question> questions;
    for (size_t k : asked) questions.push_back({k, others(k)});
    auto r = answers_to(questions, set_.questions, rules(), deriver_, threads_, stop_, answers_);
    set_.questions += asked.size();
    stopped_ = stopped_ || std::ranges::any_of(r, &Derivation::stopped);
    must_end();
    return r;
  }

  /// Until no rule that remains may follow from the others.
  void drop_all() {
    do {
      std::vector<size_t> open;
      for (size_t k : order_)
        if (set_.remains[k] && !is_pinned(k) && !is_settled(k)) open.push_back(k);
      if (open.empty()) return;
      drop(open);
    } while (!must_end() && !options_.once);
  }
  /// In batches, so that most answers rest on what was dropped before.
  void drop(const std::vector<size_t>& open) {
    std::vector<size_t> again;
    for (size_t next = 0; (next < open.size() || !again.empty()) && !must_end();) {
      std::vector<size_t> batch = std::move(again);
      again.clear();
      for (; next < open.size() && batch.size() < kBatch; ++next) batch.push_back(open[next]);
      std::vector<Derivation> answers = ask(batch);
      for (size_t j = 0; j < batch.size(); ++j)
        if (!settle(batch[j], std::move(answers[j]))) again.push_back(batch[j]);
    }
  }
  /// False: it followed from a rule that has gone in the meantime.
  bool settle(size_t k, Derivation answer) {
    if (answer.stopped) return true;
    if (!answer.derived) {
      refusals_[k] = {true, answer.limited, std::move(answer.matched), std::move(answer.candidates),
                      changes_.size()};
      return true;
    }
    bool intact = std::all_of(answer.used.begin(), answer.used.end(),
                              [&](size_t n) { return set_.remains[n] != 0; });
    if (!intact) return false;
    set_.remains[k] = 0;
    changes_.push_back(k);
    set_.dropped.push_back({k, std::move(answer.used)});
    return true;
  }

  bool is_pinned(size_t k) const { return !options_.pinned.empty() && options_.pinned[k]; }
  /// It was asked about, and no rule that went or came since then could change the answer.
  bool is_settled(size_t k) const {
    const Refusal& r = refusals_[k];
    if (!r.known) return false;
    return std::all_of(changes_.begin() + static_cast<std::ptrdiff_t>(r.changes), changes_.end(),
                       [&](size_t n) {
                         const auto& rest = set_.remains[n] ? r.candidates : r.matched;
                         return (!set_.remains[n] && !r.limited) ||
                                !std::binary_search(rest.begin(), rest.end(), n);
                       });
  }

  /// Dropped rules some of whose proof's rules have gone, the smallest first.
  std::vector<size_t> gone_by_others() const {
    std::vector<size_t> r;
    for (const auto& d : set_.dropped)
      if (!std::all_of(d.used.begin(), d.used.end(), [&](size_t n) { return set_.remains[n]; }))
        r.push_back(d.rule);
    std::vector<size_t> place(order_.size());
    for (size_t k = 0; k < order_.size(); ++k) place[order_[k]] = k;
    std::sort(r.begin(), r.end(), [&](size_t a, size_t b) { return place[a] > place[b]; });
    return r;
  }
  std::vector<size_t> not_following(const std::vector<size_t>& asked) {
    std::vector<Derivation> answers = ask(asked);
    if (stopped_) return {};
    std::vector<size_t> far;
    for (size_t j = 0; j < asked.size(); ++j)
      if (!answers[j].derived) far.push_back(asked[j]);
    return far;
  }
  /// Rules whose proof from what remains exceeds the limits, each with those before it at hand.
  /// True: there were some.
  bool bring_back() {
    std::vector<size_t> asked = gone_by_others();
    bool any = false;
    for (size_t next = 0; next < asked.size() && !must_end(); next += kBatch) {
      auto first = asked.begin() + static_cast<std::ptrdiff_t>(next);
      size_t count = std::min(kBatch, asked.size() - next);
      for (size_t k : not_following({first, first + static_cast<std::ptrdiff_t>(count)})) {
        come_back(k);
        any = true;
      }
    }
    return any;
  }
  void come_back(size_t k) {
    set_.remains[k] = 1;
    changes_.push_back(k);
    std::erase_if(set_.dropped, [&](const MinimalSet::Dropped& d) { return d.rule == k; });
    // the last to be asked about: what follows from it goes first
    order_.erase(std::find(order_.begin(), order_.end(), k));
    order_.push_back(k);
  }

  /// An answer no, and what it rests on.
  struct Refusal {
    bool known = false, limited = false;
    std::vector<uint32_t> matched, candidates;
    size_t changes = 0;  ///< that had been made before
  };

  const Deriver& deriver_;
  const DropOptions& options_;
  int threads_;
  const Stop& stop_;
  const Answers& answers_;
  MinimalSet set_;
  std::vector<size_t> order_, changes_;  ///< rules that went or came back, in turn
  std::vector<Refusal> refusals_;        ///< by rule
  bool stopped_ = false;
};

}  // namespace

std::vector<char> derivable(const Deriver& deriver, const std::vector<Rule>& goals, int threads,
                            const Stop& stop, const Answers& answers) {
  std::vector<Question> questions(goals.size());
  for (size_t k = 0; k < goals.size(); ++k) questions[k].goal = k;
  std::vector<char> r;
  for (const Derivation& d : answers_to(questions, 0, goals, deriver, threads, stop, answers))
    r.push_back(d.derived ? 1 : 0);
  return r;
}

MinimalSet minimal_set(const Deriver& deriver, const DropOptions& options, int threads,
                       const Stop& stop, const Answers& answers) {
  CHECK(options.once || (!answers.find && !answers.others));
  return Dropping(deriver, options, threads, stop, answers).run();
}

bool needs_an_extent_of_one(const Rule& rule) {
  auto has_one = [](const Signature& s) {
    return std::any_of(s.begin(), s.end(),
                       [](const std::string& word) { return word.find('1') != std::string::npos; });
  };
  return !rule.domain.empty() && std::all_of(rule.domain.begin(), rule.domain.end(), has_one);
}

}  // namespace regraft::gen
