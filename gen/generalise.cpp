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

/// Which extents are exactly 1 in a signature.
enum class Ones : uint8_t {
  None,
  Kernels,  ///< all spatial extents of kernels
  Spatial,  ///< spatial extents that are 1 in the witness
  Witness,  ///< all that are 1 in the witness
};

Signature signature_of(const Bank& bank, const GeneralPair& pair, Ones ones) {
  Signature s;
  for (TermId leaf : rule_leaves(bank, pair)) {
    const auto& shape = bank.node(leaf).shape;
    std::string word;
    for (size_t d = 0; d < shape.size(); ++d) {
      bool one = shape[d] == 1 && (ones == Ones::Witness || (ones == Ones::Spatial && d >= 2));
      one = one || (ones == Ones::Kernels && d >= 2 && bank.is_kernel(leaf));
      word += one ? '1' : 'n';
    }
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
  Generaliser(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed, int shapes)
      : bank_(bank), seed_(seed), shapes_(shapes) {
    pair_.lhs = lhs;
    pair_.rhs = rhs;
  }
  std::optional<Generalised> run(Ones ones) {
    std::vector<OpenAttr> attrs = open_attrs(bank_, pair_.lhs, pair_.rhs), sized;
    for (const OpenAttr& a : attrs)
      if (a.sized) sized.push_back(a);
    signature_ = signature_of(bank_, pair_, ones);
    if (!choose_sizes(sized)) return std::nullopt;
    int closed = 0;
    for (const OpenAttr& a : attrs)
      if (!a.sized && a.on_left) closed += open(a) ? 0 : 1;
    return Generalised{pair_, to_rule(bank_, pair_), signature_, closed};
  }

 private:
  bool holds(const GeneralPair& p, int trials) const {
    return check(to_rule(bank_, p), signature_, seed_, trials) == Evidence::Holds;
  }
  /// Finds numbers for the attributes that stem from the witness shapes.
  bool choose_sizes(const std::vector<OpenAttr>& sized) {
    std::vector<std::vector<Number>> options;
    for (const OpenAttr& a : sized)
      for (size_t k = 0; k < a.key.second.size(); ++k) {
        options.push_back(numbers_for(a, k));
        if (options.back().empty()) return false;
      }
    std::vector<size_t> choice(options.size(), 0);
    for (int tried = 0; tried < kMaxCombinations; ++tried) {
      GeneralPair p = with_sizes(sized, options, choice);
      if (holds(p, 1) && holds(p, shapes_)) {
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
  /// A list variable, else a variable for each number; false when it stays as it is.
  bool open(const OpenAttr& a) {
    GeneralPair p = pair_;
    p.plan[a.key] = {letter(a), {}};
    if (!holds(p, shapes_)) {
      Form form;
      for (size_t k = 0; k < a.key.second.size(); ++k)
        form.numbers.push_back({Number::Free, 0, -1, 0, letter(a) + std::to_string(k + 1)});
      p.plan[a.key] = std::move(form);
      if (!holds(p, shapes_)) return false;
    }
    pair_ = std::move(p);
    return true;
  }
  /// A variable name: the first letter of the attribute, repeated to tell attributes apart.
  std::string letter(const OpenAttr& a) const {
    size_t same = 1;
    for (const OpenAttr& other : open_attrs(bank_, pair_.lhs, pair_.rhs)) {
      if (other.key == a.key) break;
      same += other.key.first[0] == a.key.first[0] ? 1 : 0;
    }
    return std::string(same, a.key.first[0]);
  }

  const Bank& bank_;
  uint64_t seed_;
  int shapes_;
  GeneralPair pair_;
  Signature signature_;
};

}  // namespace

namespace {

/// Few shapes decide which forms to try, many confirm the result; where they do not, many decide.
std::optional<Generalised> confirmed(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed,
                                     Ones ones) {
  for (int shapes : {kShapes, kManyShapes}) {
    auto g = Generaliser(bank, lhs, rhs, seed, shapes).run(ones);
    if (!g) return std::nullopt;
    if (check(g->rule, g->signature, mix(seed), kManyShapes) == Evidence::Holds) return g;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Generalised> generalise(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed) {
  std::vector<Generalised> r;
  for (Ones ones : {Ones::None, Ones::Kernels, Ones::Spatial, Ones::Witness}) {
    bool fallback = ones == Ones::Spatial || ones == Ones::Witness;
    if (!r.empty() && (fallback || r[0].closed == 0)) break;
    auto g = confirmed(bank, lhs, rhs, seed, ones);
    if (g && (r.empty() || (g->signature != r[0].signature && g->closed < r[0].closed)))
      r.push_back(*std::move(g));
  }
  return r;
}

}  // namespace regraft::gen
