#include "gen/generalise.h"

#include <algorithm>

namespace regraft::gen {
namespace {

constexpr int kMaxCombinations = 600;

/// An attribute that may become something more general.
struct OpenAttr {
  AttrKey key;
  bool on_left = false;
  bool sized = false;
};

/// The words of the variables' witness shapes; extents of 1 from axis `ones_from` on stay 1.
Signature signature_of(const Bank& bank, const GeneralPair& pair, int ones_from) {
  Signature s;
  for (TermId leaf : rule_leaves(bank, pair)) {
    const auto& shape = bank.node(leaf).shape;
    std::string word;
    for (size_t d = 0; d < shape.size(); ++d)
      word += shape[d] == 1 && static_cast<int>(d) >= ones_from ? '1' : 'n';
    s.push_back(word.empty() ? "-" : word);
  }
  return s;
}

std::vector<OpenAttr> open_attrs(const Bank& bank, TermId lhs, TermId rhs) {
  std::map<AttrKey, OpenAttr> found;
  std::set<TermId> left = bank.subterms(lhs), both = left;
  both.merge(bank.subterms(rhs));
  for (TermId t : both) {
    if (bank.node(t).is_leaf()) continue;
    const Label& l = bank.label(bank.node(t).label);
    for (size_t k = 0; k < l.attrs.ints.size(); ++k) {
      if (l.op->ints[k].structural || l.attrs.ints[k].empty()) continue;
      OpenAttr& a = found[attr_key(l, k)];
      a.key = attr_key(l, k);
      a.on_left = a.on_left || left.count(t) > 0;
      a.sized = a.sized || l.sized[k];
    }
  }
  std::vector<OpenAttr> r;
  for (auto& [key, a] : found) r.push_back(a);
  return r;
}

/// Tries forms against random shapes.
class Generaliser {
 public:
  Generaliser(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed) : bank_(bank), seed_(seed) {
    pair_.lhs = lhs;
    pair_.rhs = rhs;
  }
  std::optional<Generalised> run() {
    std::vector<OpenAttr> attrs = open_attrs(bank_, pair_.lhs, pair_.rhs);
    std::vector<OpenAttr> sized;
    for (const OpenAttr& a : attrs)
      if (a.sized) sized.push_back(a);
    if (!choose_signature(sized)) return std::nullopt;
    for (const OpenAttr& a : attrs)
      if (!a.sized && a.on_left) open(a);
    if (!holds(pair_, kShapes)) return std::nullopt;
    return Generalised{pair_, to_rule(bank_, pair_), signature_};
  }

 private:
  bool holds(const GeneralPair& p, int trials) const {
    return check(to_rule(bank_, p), signature_, seed_, trials) == Evidence::Holds;
  }
  /// Extents of 1 stay 1 only where they must.
  bool choose_signature(const std::vector<OpenAttr>& sized) {
    Signature last;
    for (int ones_from : {kMaxRank, 2, 0}) {
      signature_ = signature_of(bank_, pair_, ones_from);
      if (signature_ == last) continue;
      last = signature_;
      if (choose_sizes(sized)) return true;
    }
    return false;
  }
  /// Finds numbers for the attributes that stem from the witness shapes.
  bool choose_sizes(const std::vector<OpenAttr>& sized) {
    std::vector<std::vector<Number>> options;
    for (const OpenAttr& a : sized)
      for (size_t k = 0; k < a.key.second.size(); ++k) options.push_back(numbers_for(a, k));
    std::vector<size_t> choice(options.size(), 0);
    for (int tried = 0; tried < kMaxCombinations; ++tried) {
      GeneralPair p = with_sizes(sized, options, choice);
      if (holds(p, 1) && holds(p, kShapes)) {
        pair_ = p;
        return true;
      }
      size_t k = choice.size();
      while (k > 0 && ++choice[k - 1] == options[k - 1].size()) choice[--k] = 0;
      if (k == 0) break;
    }
    return false;
  }
  /// What number k of an attribute may be, most general first.
  std::vector<Number> numbers_for(const OpenAttr& a, size_t k) const {
    std::vector<Number> r;
    if (a.on_left) r.push_back({Number::Free, 0, -1, 0, letter(a) + std::to_string(k + 1)});
    int64_t value = a.key.second[k];
    for (TermId leaf : rule_leaves(bank_, pair_)) {
      const auto& shape = bank_.node(leaf).shape;
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] == value) r.push_back({Number::Size, 0, leaf, static_cast<int>(d), {}});
    }
    r.push_back({Number::Given, value, -1, 0, {}});
    return r;
  }
  GeneralPair with_sizes(const std::vector<OpenAttr>& sized,
                         const std::vector<std::vector<Number>>& options,
                         const std::vector<size_t>& choice) const {
    GeneralPair p = pair_;
    p.plan.clear();
    size_t next = 0;
    for (const OpenAttr& a : sized) {
      Form form;
      for (size_t k = 0; k < a.key.second.size(); ++k, ++next)
        form.numbers.push_back(options[next][choice[next]]);
      p.plan[a.key] = std::move(form);
    }
    return p;
  }
  /// A list variable, else a variable for each number, else as it is.
  void open(const OpenAttr& a) {
    GeneralPair p = pair_;
    p.plan[a.key] = {letter(a), {}};
    if (!holds(p, kShapes)) {
      Form form;
      for (size_t k = 0; k < a.key.second.size(); ++k)
        form.numbers.push_back({Number::Free, 0, -1, 0, letter(a) + std::to_string(k + 1)});
      p.plan[a.key] = std::move(form);
      if (!holds(p, kShapes)) return;
    }
    pair_ = std::move(p);
  }
  /// A variable name: the first letter of the attribute, told apart by a number.
  std::string letter(const OpenAttr& a) const {
    std::string name(1, a.key.first[0]);
    int same = 0;
    for (const OpenAttr& other : open_attrs(bank_, pair_.lhs, pair_.rhs)) {
      if (other.key == a.key) break;
      same += other.key.first[0] == a.key.first[0] ? 1 : 0;
    }
    return same == 0 ? name : name + std::string(static_cast<size_t>(same), '_');
  }

  const Bank& bank_;
  uint64_t seed_;
  GeneralPair pair_;
  Signature signature_;
};

}  // namespace

std::optional<Generalised> generalise(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed) {
  return Generaliser(bank, lhs, rhs, seed).run();
}

}  // namespace regraft::gen
