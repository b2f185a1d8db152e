#include "verify/replay/narration.h"

#include "verify/kernel/derivation.h"
#include "verify/kernel/premises.h"
#include "verify/replay/proofs.h"
#include "verify/replay/step_words.h"

namespace regraft::verify {
namespace {

using kernel::Goal;
using kernel::Line;
using kernel::Lines;

const char* sign_text(kernel::Signs s) {
  static const char* const kTexts[] = {"is never", "<", "=", "<=", ">", "<>", ">=", "may be"};
  return kTexts[s & kernel::kAnySign];
}

/// Walks as the kernel does (verify/kernel/defined.cpp), and tells what it does.
class Narrator {
 public:
  Narrator(const RuleInstance& instance, const std::vector<std::string>& inputs, size_t most)
      : most_(most),
        translation_(symbols_),
        claim_(claim_of(translation_, instance)),
        notation_(symbols_, inputs) {}

  std::vector<ProofLine> run(const std::string& derivation) {
    try {
      tell(derivation);
    } catch (const Enough&) {
    }
    return std::move(told_);
  }

 private:
  /// As many lines are told as were asked for.
  struct Enough {};
  void tell(const std::string& derivation) {
    say("Given of sizes:", {notation_.text(claim_.given)});
    Lines lines(derivation);
    needed(claim_.needed, lines);
    for (size_t k = 0; k < claim_.outputs.size(); ++k) output(k, lines);
    say("The kernel accepts the derivation.");
  }
  void say(std::string text, std::vector<std::string> formulas = {}, std::string reason = {},
           int depth = 0) {
    if (most_ > 0 && told_.size() == most_) throw Enough{};
    std::erase(formulas, "");
    told_.push_back({depth, std::move(text), std::move(formulas), std::move(reason)});
  }
  void take_line(Lines& lines) {
    std::string_view line = lines.next();
    say(sentence(line, notation_), {}, certificates_of(line));
  }
  void needed(const std::vector<kernel::Fact>& facts, Lines& lines) {
    if (facts.empty()) return;
    say("To be shown of sizes:", {notation_.text(facts)});
    take_line(lines);
  }

  /// "size S E": what the claim is about is told with the sizes that are equal as one.
  kernel::OutputClaim sizes(kernel::OutputClaim claim, Lines& lines) {
    kernel::Values values;
    for (;;) {
      Lines rest = lines;
      Line line(rest.next());
      if (line.word() != "size") return replaced(symbols_, std::move(claim), values);
      auto s = kernel::symbol_of(symbols_.read(line.word()));
      kernel::Poly value = symbols_.read(line.word());
      if (!s) throw kernel::Refused{"no symbol"};
      take_line(lines);
      then_replace(symbols_, values, *s, value);
    }
  }
  void output(size_t k, Lines& lines) {
    needed(claim_.outputs[k].needed, lines);
    const kernel::OutputClaim claim = sizes(claim_.outputs[k], lines);
    const std::string which = claim_.outputs.size() == 1 ? "" : " of output " + std::to_string(k);
    say("An element" + which + " of the left side is:", {notation_.text(claim.left.sum)});
    say("Of the right side:", {notation_.text(claim.right.sum)});
    for (const kernel::Known& known : claim.known)
      say("Given of real numbers is the sign of:", {notation_.text(known.sum)});
    std::vector<kernel::Partial> defined = claim.left.partial;
    for (const kernel::Partial& x : claim.right.partial) {
      partial(claim, x, defined, lines);
      defined.push_back(x);
    }
    say("The difference of the two sides is to be 0.");
    goal(Goal(symbols_, {claim.given, claim.known, &defined, 0},
              kernel::difference(claim.left.sum, claim.right.sum)),
         lines);
  }
  void partial(const kernel::OutputClaim& claim, const kernel::Partial& x,
               const std::vector<kernel::Partial>& defined, Lines& lines) {
    say("That the right side is defined is to be shown of:", {notation_.text(x.atom)});
    if (x.atom.kind == kernel::Atom::Max) return take_line(lines);
    goal(Goal(symbols_, within(symbols_, {claim.given, claim.known, &defined, 0}, x.bound, x.guard),
              {}, kernel::domain_of(x.atom)),
         lines);
  }

  /// The lines up to `end`: each step, with the lines that are part of it, is done by the kernel.
  void goal(Goal goal, Lines& lines) {
    show(goal, {}, 0);
    for (;;) {
      Lines rest = lines;
      std::string_view line = rest.next();
      if (Line(line).word() == "end") break;
      std::map<size_t, kernel::Product> before = goal.products();
      size_t known = goal.context().known.size();
      say(sentence(line, notation_), {}, certificates_of(line), 1);
      goal.step(lines);
      parts(rest, lines);
      show(goal, before, known);
    }
    lines.next();
    if (!goal.shown()) throw kernel::Refused{"something is left"};
    say(goal.products().empty() ? "Nothing is left." : "The rest has the sign that it is to have.",
        {}, {}, 1);
  }
  /// Lines that were part of a step, set in by how deep they stand.
  void parts(Lines from, const Lines& to) {
    std::vector<int> open;
    auto count = [](Lines l) {
      size_t n = 0;
      for (; !l.empty(); l.next()) ++n;
      return n;
    };
    for (size_t left = count(from) - count(to); left > 0; --left) {
      std::string_view line = from.next();
      int depth = 2 + static_cast<int>(open.size());
      if (Line(line).word() == "end") {
        if (!open.empty() && --open.back() == 0) open.pop_back();
        continue;
      }
      say(sentence(line, notation_), {}, certificates_of(line), depth);
      if (int blocks = blocks_of(line); blocks > 0) open.push_back(blocks);
    }
  }
  void show(const Goal& goal, const std::map<size_t, kernel::Product>& before, size_t known) {
    std::vector<std::string>& formulas = told_.back().formulas;
    for (const auto& [k, p] : goal.products()) {
      auto it = before.find(k);
      if (it != before.end() && notation_.text(it->second) == notation_.text(p)) continue;
      formulas.push_back("term " + std::to_string(k) + ": " + notation_.text(p));
    }
    const auto& facts = goal.context().known;
    for (size_t k = known; k < facts.size(); ++k)
      formulas.push_back("#" + std::to_string(k) + ": " + notation_.text(facts[k].sum) + " " +
                         sign_text(facts[k].signs) + " 0");
  }

  const size_t most_;
  kernel::Symbols symbols_;
  kernel::Translation translation_;
  const kernel::Claim claim_;
  KernelNotation notation_;
  std::vector<ProofLine> told_;
};

}  // namespace

Result<std::vector<ProofLine>> narrate(const RuleInstance& instance,
                                       const std::vector<std::string>& inputs,
                                       const std::string& derivation, size_t most) {
  if (std::string why = refusal(instance, derivation); !why.empty()) return error(why);
  try {
    return Narrator(instance, inputs, most).run(derivation);
  } catch (const kernel::Refused& refused) {
    return error(refused.why);
  } catch (const PolyOverflow&) {
    return error("integers too large");
  }
}

}  // namespace regraft::verify
