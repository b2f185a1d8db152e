#include "verify/derivations/elaborate.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "verify/derivations/pairing.h"
#include "verify/derivations/transfer.h"
#include "verify/prove/prover.h"

namespace regraft::verify {
namespace {

using kernel::Fact;
using kernel::Partial;

/// The solver sorts out what is not so; of what it cannot decide soon, a certificate is looked for.
constexpr Limits kLimits{.run_nonlinear = 20'000, .open_ends = 3, .cut_off = 5'000};
/// How much a search does at most.
struct Work {
  int steps;          ///< and attempts to pair, for one output or partial function
  int64_t questions;  ///< about sizes, for one claim
};
/// Few searches that end well ask as many; those that fail may ask far more.
constexpr Work kFull{10'000, 100'000};
/// After a search that found nothing: the few that do find something then are short.
constexpr Work kAfterMiss{250, 250};
/// For what may be false.
constexpr Work kBrief{1'000, 1'000};

class Elaborator {
 public:
  Elaborator(Questions& questions, int steps)
      : questions_(questions), symbols_(questions.symbols()), steps_(steps) {}

  std::optional<std::string> claim(const kernel::Claim& claim) {
    std::string text;
    if (!needed(claim.given, claim.needed, text)) return std::nullopt;
    for (const kernel::OutputClaim& said : claim.outputs) {
      if (!needed(said.given, said.needed, text)) return std::nullopt;
      const kernel::OutputClaim output = with_sizes(said, text);
      std::vector<Partial> defined = output.left.partial;
      for (const Partial& x : output.right.partial) {
        if (!is_defined(output, x, defined, text)) return std::nullopt;
        defined.push_back(x);
      }
      if (!equal(output, defined, text)) return std::nullopt;
    }
    return text;
  }
  std::string missing;

 private:
  bool needed(const std::vector<Fact>& given, const std::vector<Fact>& facts, std::string& text) {
    if (facts.empty()) return true;
    StepSearch search(questions_, steps_);
    Draft draft;
    for (const Fact& f : facts)
      if (!search.need(given, f, draft)) {
        missing = "needed: " + kernel::text(symbols_, f);
        return false;
      }
    text += draft.text("needed");
    return true;
  }

  bool is_defined(const kernel::OutputClaim& output, const Partial& x,
                  const std::vector<Partial>& defined, std::string& text) {
    std::vector<Fact> known = facts_within(symbols_, output.given, x.bound, x.guard);
    if (x.atom.kind == kernel::Atom::Max) {
      StepSearch search(questions_, steps_);
      Draft draft;
      if (search.reached({known, {}, &defined, 0}, x.atom, draft)) {
        text += draft.text("").substr(1);
        return true;
      }
      if (auto certificate = questions_.refuted(known)) {
        text += "nowhere|" + *certificate + "\n";
        return true;
      }
    } else {
      StepSearch search(questions_, steps_);
      if (auto lines =
              search.has_sign({known, output.known, &defined, 0}, kernel::domain_of(x.atom))) {
        text += *lines;
        return true;
      }
    }
    kernel::Product p;
    p.atoms.push_back(x.atom);
    missing = "defined: " + kernel::text(symbols_, p);
    return false;
  }

  /// Equal sizes become one symbol, and positions in axes of size 1 become 0.
  kernel::OutputClaim with_sizes(kernel::OutputClaim output, std::string& text) {
    kernel::Values values;
    auto replace = [&](const kernel::Poly& symbol, const kernel::Poly& value, bool certain) {
      const Fact equal = kernel::zero(symbol - value);
      auto certificate = certain ? questions_.certified(output.given, equal)
                                 : questions_.implied(output.given, equal);
      if (!certificate) return;
      Draft draft;
      draft.word(symbols_.text(symbol));
      draft.word(symbols_.text(value));
      draft.certificate(*certificate);
      then_replace(symbols_, values, *symbol_of(symbol), value);
      text += draft.text("size");
    };
    for (const auto& [v, e] : solve_sizes(questions_.conjunction(output.given)).sizes)
      replace(questions_.kernel_poly(Poly::symbol(v)), questions_.kernel_poly(e), true);
    for (const Fact& f : output.given)
      for (const auto& [m, c] : f.poly.terms())
        if (m.size() == 1 && c == 1 && symbols_[m[0]].kind == kernel::Kind::Attribute)
          replace(kernel::Poly::symbol(m[0]), kernel::Poly(0), false);
    return replaced(symbols_, std::move(output), values);
  }

  bool equal(const kernel::OutputClaim& output, const std::vector<Partial>& defined,
             std::string& text) {
    StepSearch search(questions_, steps_);
    auto lines = search.zero({output.given, output.known, &defined, 0},
                             output.left.sum + kernel::scaled(output.right.sum, {-1, 1}));
    if (lines) text += *lines;
    if (!lines) missing = "left: " + search.stuck();
    return lines.has_value();
  }

  Questions& questions_;
  kernel::Symbols& symbols_;
  int steps_;
};

/// Why the kernel refuses the derivation; empty: it accepts.
std::string why_refused(kernel::Symbols symbols, const kernel::Claim& claim,
                        const std::string& derivation) {
  try {
    check(symbols, claim, derivation);
    return {};
  } catch (const kernel::Refused& refused) {
    return refused.why.empty() ? "refused" : refused.why;
  }
}

class Search {
 public:
  Search(const RuleInstance& instance, const Stop* stop)
      : translation_(symbols_),
        claim_(claim_of(translation_, instance)),
        fresh_(symbols_),
        texts_(std::make_shared<const ClaimTexts>(texts_of(fresh_, claim_))),
        budget_(kLimits, stop),
        solver_(budget_),
        questions_(translation_, instance.lhs.pool(), solver_) {}

  /// Another proof in other words, or made to fit: what is cheap is tried first.
  std::optional<Shown> known(OtherProofs& others) {
    constexpr size_t kInOtherWords = 4;
    const std::vector<const Shown*> alike = all_alike(others);
    if (alike.empty()) return std::nullopt;
    questions_.share(others.certificates());
    std::map<const Shown*, Rewording> rewordings;
    auto reworded = [&](const Shown* other) -> Rewording& {
      return rewordings.try_emplace(other, *other, claim_, *texts_, questions_).first->second;
    };
    const auto first = std::span(alike).first(std::min(alike.size(), kInOtherWords));
    for (bool covering : {true, false})
      for (const Shown* other : first) {
        if (reworded(other).covers() != covering) continue;
        auto text = reworded(other).translated();
        if (text && refusal(*text).empty()) return shown(*std::move(text), other->search);
      }
    for (const Shown* other : likeliest(alike, reworded))
      if (auto text = reworded(other).transferred(); text && refusal(*text).empty())
        return shown(*std::move(text), other->search);
    return std::nullopt;
  }
  Elaboration search(const Work& most) {
    questions_.limit(most.questions);
    Elaborator elaborator(questions_, most.steps);
    Elaboration r{elaborator.claim(claim_), elaborator.missing};
    if (!r.derivation && !questions_.missed().empty())
      r.missing = "certificate: " + questions_.missed();
    if (!r.derivation) return r;
    std::string why = refusal(*r.derivation);
    return why.empty() ? r : Elaboration{{}, "the kernel refuses: " + why};
  }
  /// To be kept.
  Shown shown(std::string derivation, size_t search) const {
    return {std::move(derivation), search, texts_, std::make_shared<const kernel::Symbols>(fresh_),
            std::make_shared<const kernel::Claim>(claim_)};
  }

 private:
  /// Those of the same structure first, and then as they were last of use.
  std::vector<const Shown*> all_alike(const OtherProofs& others) const {
    std::vector<const Shown*> same, alike;
    for (const Shown& other : others.found())
      if (other.texts->outline == texts_->outline)
        (other.texts->structure == texts_->structure ? same : alike).push_back(&other);
    same.insert(same.end(), alike.begin(), alike.end());
    return same;
  }
  /// What fits best first; then the best of each search, as one that does not fit is much like the
  /// others that were made of it.
  template <class Reworded>
  std::vector<const Shown*> likeliest(const std::vector<const Shown*>& all,
                                      const Reworded& reworded) const {
    constexpr size_t kBest = 2, kMost = 3, kLookedAt = 12;
    std::vector<std::pair<size_t, size_t>> order;  // strangers, place
    for (size_t k = 0; k < std::min(all.size(), kLookedAt); ++k)
      order.emplace_back(reworded(all[k]).strangers(), k);
    std::ranges::sort(order);
    std::set<size_t> searches;
    std::vector<const Shown*> chosen;
    for (const auto& [count, k] : order) {
      if (chosen.size() == kMost) break;
      if (searches.insert(all[k]->search).second || chosen.size() < kBest) chosen.push_back(all[k]);
    }
    return chosen;
  }
  std::string refusal(const std::string& derivation) const {
    return why_refused(fresh_, claim_, derivation);
  }

  kernel::Symbols symbols_;
  kernel::Translation translation_;
  const kernel::Claim claim_;
  const kernel::Symbols fresh_;  ///< of the claim alone
  const std::shared_ptr<const ClaimTexts> texts_;
  Budget budget_;
  ArithmeticSolver solver_;
  Questions questions_;
};

/// What the attempt says, or why it ended.
template <class F>
Elaboration attempt(F find) {
  try {
    return find();
  } catch (const kernel::Refused& refused) {
    return {std::nullopt, "refused: " + refused.why};
  } catch (const OutOfBudget& e) {
    return {std::nullopt, std::string("budget: ") + e.what};
  } catch (const PolyOverflow&) {
    return {std::nullopt, "integers too large"};
  }
}

/// What comes out is added.
Elaboration searched_with(const Work& most, const RuleInstance& instance, OtherProofs& others,
                          const Stop* stop) {
  return attempt([&] {
    Search search(instance, stop);
    Elaboration found = search.search(most);
    if (found.derivation) others.add(search.shown(*found.derivation, others.next_search()));
    return found;
  });
}

}  // namespace

std::optional<std::string> fitted(const RuleInstance& instance, OtherProofs& others,
                                  const Stop* stop) {
  if (others.found().empty()) return std::nullopt;
  return attempt([&]() -> Elaboration {
           Search search(instance, stop);
           auto known = search.known(others);
           if (!known) return {};
           Elaboration r{known->derivation, {}};
           others.add(*std::move(known));
           return r;
         })
      .derivation;
}

Elaboration searched(const RuleInstance& instance, OtherProofs& others, const Stop* stop) {
  Elaboration r = searched_with(others.missed() > 0 ? kAfterMiss : kFull, instance, others, stop);
  if (r.derivation) return r;
  const bool cut = others.missed() > 0 && r.missing.starts_with("budget");
  if (cut) r.missing = others.first_missing();  // which was looked for longer
  others.miss(r.missing);
  return r;
}

std::optional<std::string> briefly_searched(const RuleInstance& instance, OtherProofs& others,
                                            const Stop* stop) {
  if (!others.is_easy()) return std::nullopt;
  Elaboration r = searched_with(kBrief, instance, others, stop);
  if (!r.derivation) others.look_in_vain();
  return std::move(r.derivation);
}

Elaboration elaborate(const RuleInstance& instance, OtherProofs& others, const Stop* stop) {
  if (auto known = fitted(instance, others, stop)) return {std::move(known), {}};
  return searched(instance, others, stop);
}

Elaboration elaborate(const RuleInstance& instance, const Stop* stop) {
  OtherProofs none;
  return searched(instance, none, stop);
}

OtherProofs::OtherProofs() = default;
OtherProofs::~OtherProofs() = default;

void OtherProofs::add(Shown shown) {
  constexpr size_t kMost = 64;
  auto it = std::ranges::find(found_, shown.derivation, &Shown::derivation);
  if (it == found_.end()) it = found_.insert(it, std::move(shown));
  std::rotate(found_.begin(), it, it + 1);
  if (found_.size() > kMost) found_.pop_back();
}

}  // namespace regraft::verify
