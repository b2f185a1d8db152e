#include "cli/macros/generalise_macro.h"

#include <algorithm>
#include <map>

#include "gen/generalise/check.h"
#include "gen/generalise/reals.h"
#include "ir/algebra/scan.h"

namespace regraft::cli {
namespace {

constexpr uint64_t kSeed = 29;    // of the shapes that are tried
constexpr int kShapes = 12;       // at which a step must hold
constexpr size_t kMostSizes = 4;  // that one number is tried as
constexpr int kMostTries = 64;    // of sizes for all numbers together

class MacroOpener {
 public:
  explicit MacroOpener(const rewrite::Composed& composed)
      : rule_(composed.rule), choices_(composed.choices), signature_(composed.rule.domain.at(0)) {}

  std::optional<Rule> run() {
    choose_sizes();
    open_lists();
    if (!holds(rule_)) return std::nullopt;
    widen();
    rule_ = gen::open_reals(std::move(rule_), signature_, kSeed);
    rule_.domain = {signature_};
    return std::move(rule_);
  }

 private:
  bool holds(const Rule& rule) const {
    return gen::check(rule, signature_, kSeed, kShapes) == gen::Evidence::Holds;
  }

  Poly size(rewrite::SizeChoice::Size s) {
    const std::string& word = signature_[static_cast<size_t>(s.variable)];
    // Matrices and vectors count from the end, so that batches of them fit as well.
    int shown = s.axis - (word.size() <= 2 ? static_cast<int>(word.size()) : 0);
    return Poly::symbol(rule_.pool->named(
        rule_.variables[static_cast<size_t>(s.variable)] + "." + std::to_string(shown), 1));
  }

  /// Numbers of the right side that may be the same sizes of the place.
  struct Numbers {
    const rewrite::SizeChoice* like;  ///< one of them
    Poly number;
    std::vector<Poly*> places;
    size_t options() const {
      return std::min(like->sizes.size(), kMostSizes) + (like->number && like->sizes.size() > 1);
    }
  };

  std::vector<Numbers> numbers() {
    std::vector<Numbers> all;
    for (const rewrite::SizeChoice& c : choices_) {
      Poly& place = rule_.rhs.nodes[c.node].attrs.ints[c.attr][c.index];
      auto known = std::ranges::find_if(all, [&](const Numbers& n) {
        return n.like->sizes == c.sizes && n.like->number == c.number;
      });
      if (known == all.end()) known = all.insert(known, {&c, place, {}});
      known->places.push_back(&place);
    }
    return all;
  }

  /// Numbers become sizes: equal ones the same size. None is right while others are wrong, so all
  /// are tried together. Where nothing holds, the first sizes stay: lists may be what is missing.
  void choose_sizes() {
    std::vector<Numbers> all = numbers();
    std::vector<size_t> chosen(all.size(), 0);
    auto take = [&] {
      for (size_t k = 0; k < all.size(); ++k) {
        const auto& sizes = all[k].like->sizes;
        bool is_size = chosen[k] < std::min(sizes.size(), kMostSizes);
        for (Poly* place : all[k].places) *place = is_size ? size(sizes[chosen[k]]) : all[k].number;
      }
    };
    for (int tries = 0; tries < kMostTries; ++tries) {
      take();
      if (holds(rule_)) return;
      size_t k = 0;
      while (k < all.size() && ++chosen[k] == all[k].options()) chosen[k++] = 0;
      if (k == all.size()) break;
    }
    chosen.assign(all.size(), 0);
    take();
  }

  static std::string text_of(const std::vector<Poly>& list) {
    std::string text;
    for (const Poly& p : list) text += text::print(p) + ",";
    return text;
  }

  /// Attributes of the left side become variables: all that are alike one, else each its own.
  void open_lists() {
    char letter = 'p';
    for (size_t n = 0; n < rule_.lhs.nodes.size(); ++n)
      for (size_t k = 0; k < rule_.lhs.nodes[n].attrs.ints.size() && letter <= 'z'; ++k) {
        const PatternNode& node = rule_.lhs.nodes[n];
        if (node.op->ints[k].structural || !node.list_vars[k].empty()) continue;
        if (node.attrs.ints[k].empty()) continue;
        Rule opened = with_list(n, k, std::string(1, letter));
        if (validate(opened) && holds(opened)) {
          rule_ = std::move(opened);
          ++letter;
        }
      }
  }

  Rule with_list(size_t n, size_t k, const std::string& name) const {
    Rule opened = rule_;
    const std::string_view attr = rule_.lhs.nodes[n].op->ints[k].name;
    const std::string wanted = text_of(rule_.lhs.nodes[n].attrs.ints[k]);
    for (Pattern* side : {&opened.lhs, &opened.rhs})
      for (PatternNode& node : side->nodes)
        for (size_t a = 0; a < node.attrs.ints.size(); ++a) {
          if (node.op->ints[a].name != attr || node.op->ints[a].structural) continue;
          if (!node.list_vars[a].empty() || text_of(node.attrs.ints[a]) != wanted) continue;
          node.list_vars[a] = name;
          node.attrs.ints[a].clear();
        }
    return opened;
  }

  /// Sizes that are 1 at the place are any, where that holds.
  void widen() {
    const Signature narrow = signature_;
    for (std::string& word : signature_) std::ranges::replace(word, '1', 'n');
    if (!holds(rule_)) signature_ = narrow;
  }

  Rule rule_;
  const std::vector<rewrite::SizeChoice>& choices_;
  Signature signature_;
};

}  // namespace

std::optional<Rule> generalise_macro(const rewrite::Composed& composed) try {
  return MacroOpener(composed).run();
} catch (const PolyOverflow&) {
  return std::nullopt;
}

}  // namespace regraft::cli
