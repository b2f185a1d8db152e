#include "verify/signatures.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "verify/prove/prover.h"

namespace regraft::verify {
namespace {

using Words = std::vector<std::string>;

/// Words that stand beside a base word: smaller ranks, then broadcast forms, by how common they
/// are.
Words companions(const std::string& base) {
  if (base == "nnnn")
    return {"n", "nn", "-", "1n11", "n11", "nnn", "nnn1", "n11n", "11nn", "nn11", "1", "1nn"};
  if (base == "nnn") return {"nn", "n", "-", "nn1", "1nn", "1", "11n"};
  if (base == "nn") return {"n", "-", "1n", "n1", "1", "11"};
  if (base == "nnnnn") return {"n", "-", "1n111", "n111", "1"};
  return {"-", "1"};
}

/// The rule's left side up to the nodes whose variables are among the first `count`, as a rule of
/// its own: when it has no form, no signature that begins so has one.
Rule prefix_of(const Rule& rule, size_t count) {
  Rule prefix;
  prefix.variables.assign(rule.variables.begin(),
                          rule.variables.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<int> moved(rule.lhs.nodes.size(), -1);
  auto known_sizes = [&](const PatternNode& n) {
    for (const auto& list : n.attrs.ints)
      for (const Poly& p : list)
        if (!p.is_constant()) return false;  // may speak of a variable that comes later
    return true;
  };
  for (size_t k = 0; k < rule.lhs.nodes.size(); ++k) {
    PatternNode n = rule.lhs.nodes[k];
    bool known = known_sizes(n);
    for (PatternRef& r : n.inputs) {
      if (is_variable(r)) {
        known = known && static_cast<size_t>(variable_of(r)) < count;
      } else {
        r.node = moved[static_cast<size_t>(r.node)];
        known = known && r.node >= 0;
      }
    }
    if (!known) continue;
    moved[k] = static_cast<int>(prefix.lhs.nodes.size());
    prefix.lhs.nodes.push_back(std::move(n));
  }
  prefix.rhs = prefix.lhs;
  return prefix;
}

/// The signature with a 1 for each size that the left side lets be nothing else.
Signature with_ones(const RuleInstance& instance, Signature s) {
  const Substitution solved = solve_sizes(instance.requires_lhs).sizes;
  for (size_t v = 0; v < s.size(); ++v)
    for (size_t d = 0; d < instance.sizes[v].size(); ++d) {
      if (!instance.sizes[v][d]) continue;
      auto it = solved.find(*instance.sizes[v][d]);
      if (it != solved.end() && is_one(it->second)) s[v][d] = '1';
    }
  return s;
}

/// Searches the words of one variable after the other.
class Search {
 public:
  Search(const Rule& rule, size_t limit) : rule_(rule), limit_(limit) {
    for (size_t k = 1; k < rule.variables.size(); ++k) prefixes_.push_back(prefix_of(rule, k));
  }

  /// Signatures over base and exactly the given companions, each used at least once.
  void over(const std::string& base, const Words& others) {
    words_ = {base};
    words_.insert(words_.end(), others.begin(), others.end());
    Signature signature;
    extend(signature);
  }
  bool full() const { return found_.size() + said_better_ >= limit_ || tried_ >= 60 * limit_; }
  std::vector<Candidate> take() { return std::move(found_); }

 private:
  bool uses_all(const Signature& s) const {
    return std::all_of(words_.begin(), words_.end(), [&](const std::string& w) {
      return std::find(s.begin(), s.end(), w) != s.end();
    });
  }
  void extend(Signature& s) {
    if (full()) return;
    if (s.size() == rule_.variables.size()) {
      complete(s);
      return;
    }
    for (const std::string& word : words_) {
      s.push_back(word);
      if (feasible(s)) extend(s);
      s.pop_back();
    }
  }
  /// Cheap test of a beginning, remembered.
  bool feasible(const Signature& s) {
    if (s.size() == rule_.variables.size()) return true;
    if (good_.count(s)) return true;
    if (bad_.count(s)) return false;
    const Rule& prefix = prefixes_[s.size() - 1];
    bool fits = prefix.lhs.nodes.empty() || instantiate(prefix, s).has_value();
    (fits ? good_ : bad_).insert(s);
    return fits;
  }
  void complete(const Signature& s) {
    if (uses_all(s)) add(s);
  }
  void add(const Signature& s) {
    if (!seen_.insert(s).second) return;
    ++tried_;
    auto instance = instantiate(rule_, s);
    if (!instance) return;
    if (Signature said = with_ones(*instance, s); said != s) {
      ++said_better_;
      return add(said);
    }
    found_.push_back({s, *std::move(instance)});
  }

  const Rule& rule_;
  size_t limit_;
  std::vector<Rule> prefixes_;
  Words words_;
  std::set<Signature> good_, bad_, seen_;
  std::vector<Candidate> found_;
  size_t tried_ = 0;
  size_t said_better_ = 0;  ///< with a 1; these count, so that the list is not longer for it
};

}  // namespace

std::vector<Candidate> candidate_signatures(const Rule& rule, size_t limit) {
  Search search(rule, limit);
  const Words bases{"nnnn", "nnn", "nn", "nnnnn", "n"};
  for (const auto& base : bases) search.over(base, {});
  if (rule.variables.empty()) return search.take();
  auto alone = [&](size_t from, size_t to) {
    for (size_t rank = from; rank < to; ++rank)
      for (const auto& base : bases)
        if (Words w = companions(base); rank < w.size()) search.over(base, {w[rank]});
  };
  alone(0, 1);
  search.over("nnn", {"nn", "n"});  // a linear layer with its bias
  search.over("nnnn", {"nn", "n"});
  search.over("nnnn", {"n", "1n11"});  // a convolution with its bias, then a scale
  alone(1, 12);
  for (const auto& base : bases) {
    Words w = companions(base);
    if (w.size() > 4) w.resize(4);
    for (size_t i = 0; i < w.size(); ++i)
      for (size_t j = i + 1; j < w.size(); ++j) search.over(base, {w[i], w[j]});
  }
  return search.take();
}

}  // namespace regraft::verify
