#include "gen/derive/minimal_set.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <tuple>

namespace regraft::gen {
namespace {

constexpr int kReturns = 3;  // times that dropped rules may come back

class Dropping {
 public:
  Dropping(const Deriver& deriver, const std::vector<char>& pinned, int threads, const Stop& stop)
      : deriver_(deriver), pinned_(pinned), threads_(threads), stop_(stop) {
    set_.remains.assign(deriver.rules().size(), 1);
    order_.resize(set_.remains.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    auto rank = [&](size_t k) {
      const Rule& r = deriver.rules()[k];
      return std::tuple(r.origin == "hand", std::max(size(r.lhs), size(r.rhs)),
                        size(r.lhs) + size(r.rhs));
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return rank(a) > rank(b); });
  }

  MinimalSet run() {
    drop_all();
    for (int k = 0; k < kReturns; ++k) {
      std::vector<size_t> far = not_following();
      if (far.empty()) break;
      for (size_t n : far) come_back(n);
      drop_all();
    }
    set_.far = not_following();
    set_.complete = !stop_.must_end();
    set_.questions = questions_;
    return std::move(set_);
  }

 private:
  Derivation ask(size_t k) {
    ++questions_;
    std::vector<char> others = set_.remains;
    others[k] = 0;
    return deriver_.derive(deriver_.rules()[k], others, stop_);
  }

  /// What each of these rules follows from, if it does.
  std::vector<Derivation> ask_all(const std::vector<size_t>& rules) {
    std::vector<Derivation> answers(rules.size());
    parallel_for(rules.size(), threads_, [&](size_t k) {
      if (!stop_.must_end()) answers[k] = ask(rules[k]);
    });
    return answers;
  }

  /// Until a pass over all rules that remain drops none of them.
  void drop_all() {
    for (bool dropped = true; dropped && !stop_.must_end();) {
      std::vector<size_t> open;
      for (size_t k : order_)
        if (set_.remains[k] && !pinned_[k]) open.push_back(k);
      std::vector<Derivation> answers = ask_all(open);
      dropped = false;
      for (size_t j = 0; j < open.size(); ++j)
        if (answers[j].derived) dropped = drop(open[j], std::move(answers[j])) || dropped;
    }
  }
  /// By an answer that was given before others were dropped.
  bool drop(size_t k, Derivation answer) {
    bool intact = std::all_of(answer.used.begin(), answer.used.end(),
                              [&](size_t n) { return set_.remains[n] != 0; });
    if (!intact) answer = ask(k);
    if (!answer.derived) return false;
    set_.remains[k] = 0;
    set_.dropped.push_back({k, std::move(answer.used)});
    return true;
  }

  std::vector<size_t> not_following() {
    std::vector<size_t> rules, far;
    for (const auto& d : set_.dropped) rules.push_back(d.rule);
    std::vector<Derivation> answers = ask_all(rules);
    if (stop_.must_end()) return {};
    for (size_t j = 0; j < rules.size(); ++j)
      if (!answers[j].derived) far.push_back(rules[j]);
    return far;
  }
  void come_back(size_t k) {
    set_.remains[k] = 1;
    std::erase_if(set_.dropped, [&](const MinimalSet::Dropped& d) { return d.rule == k; });
    // the last to be asked about: what follows from it goes first
    order_.erase(std::find(order_.begin(), order_.end(), k));
    order_.push_back(k);
  }

  const Deriver& deriver_;
  const std::vector<char>& pinned_;
  int threads_;
  const Stop& stop_;
  MinimalSet set_;
  std::vector<size_t> order_;
  std::atomic<size_t> questions_{0};
};

}  // namespace

MinimalSet minimal_set(const Deriver& deriver, const std::vector<char>& pinned, int threads,
                       const Stop& stop) {
  return Dropping(deriver, pinned, threads, stop).run();
}

bool needs_an_extent_of_one(const Rule& rule) {
  auto has_one = [](const Signature& s) {
    return std::any_of(s.begin(), s.end(),
                       [](const std::string& word) { return word.find('1') != std::string::npos; });
  };
  return !rule.domain.empty() && std::all_of(rule.domain.begin(), rule.domain.end(), has_one);
}

}  // namespace regraft::gen
