#include "cli/pages/proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/pages/formulas.h"
#include "cli/pages/page.h"
#include "cli/pages/rule_view.h"
#include "cli/pages/text.h"
#include "ir/rule/family.h"
#include "ir/rule/text.h"
#include "verify/normal/match.h"
#include "verify/normal/simplify.h"
#include "verify/normal/sums.h"
#include "verify/prove/lowering.h"
#include "verify/prove/prover.h"

namespace regraft::cli {
namespace {

using verify::Context;

std::string paragraph(const std::string& text) { return "<p>" + escape_html(text) + "</p>"; }

std::string chips(const std::vector<std::string>& texts) {
  std::string s;
  constexpr size_t kLongest = 160;
  for (const std::string& t : texts) s += "<li>" + escape_html(cut(t, kLongest)) + "</li>";
  return "<ul class=\"chips f\">" + s + "</ul>";
}

/// A formula in a box, cut where it is long.
std::string boxed(const std::string& label, const std::string& formula) {
  constexpr size_t kLongest = 700;
  size_t all = letters(formula);
  std::string s = "<p class=\"soft\">" + escape_html(label);
  if (all > kLongest) s += fmt::format(" (the first {} of {} characters)", kLongest, all);
  return s + "</p><pre>" + escape_html(cut(formula, kLongest)) + "</pre>";
}

/// A side's element at a position, and what its operators need there.
struct Element {
  Sum value;
  Conjunction needs;                 ///< of the sizes
  std::vector<std::string> partial;  ///< functions that are not defined everywhere
};

std::vector<std::string> attribute_variables(const RuleInstance& instance) {
  std::vector<std::string> names;
  for (const auto& [name, symbols] : instance.list_symbols) names.push_back(name);
  for (const auto& [name, symbol] : instance.real_symbols) names.push_back(name);
  return names;
}

/// It holds at all sizes: each is at least its minimum.
bool always(const Formula& f) {
  if (f.kind == Formula::NonNegative) return never_negative(f.poly);
  return f.kind == Formula::True;
}

class ProofText {
 public:
  ProofText(const Rule& rule, const RuleInstance& instance)
      : conditional_(!rule.where.empty() || !rule.real_where.empty()),
        instance_(instance),
        solved_(verify::solve_sizes(instance.requires_lhs)),
        solver_(budget_),
        notation_(rule.variables, attribute_variables(instance)) {}

  std::string run() {
    std::string s = "<ol class=\"steps\">";
    s += step([&] { return assumptions(); }) + step([&] { return obligations(); });
    for (size_t k = 0; k < instance_.lhs.outputs().size(); ++k)
      s += step([&] { return output(k); });
    return s + "</ol>";
  }

 private:
  /// An item of the list, also where it takes too much.
  template <class Tell>
  static std::string step(Tell&& tell) {
    try {
      return tell();
    } catch (const verify::OutOfBudget& e) {
      return std::string("<li>Too large to show: ") + e.what + ".</li>";
    } catch (const PolyOverflow&) {
      return "<li>Too large to show: integers too large.</li>";
    }
  }
  std::string assumptions();
  std::string obligations();
  std::string shapes(const std::vector<Poly>& a, const std::vector<Poly>& b);
  std::string output(size_t k);
  std::string comparison(const Element& left, const Element& right, const Context& context);
  Element element(const Graph& g, Value v, std::span<const Poly> position);
  std::string text(const Sum& s) {
    notation_.restart();
    return notation_.text(s);
  }

  const bool conditional_;  ///< the rule has a condition beside its shapes
  const RuleInstance& instance_;
  verify::SolvedDomain solved_;
  Stop stop_;  // signals
  verify::Budget budget_{verify::Limits(), &stop_};
  verify::ArithmeticSolver solver_;
  Notation notation_;
};

std::string ProofText::assumptions() {
  std::string s = "<li><b>What is assumed.</b> ";
  std::vector<std::string> all, solved;
  for (const Formula& f : instance_.requires_lhs)
    if (!always(f)) all.push_back(notation_.text(f));
  for (const auto& [v, e] : solved_.sizes) solved.push_back(v->name + " = " + notation_.text(e));
  if (all.empty())
    s += "The left side is well formed at all sizes: nothing is assumed of them.";
  else
    s += std::string("The left side is well formed") +
         (conditional_ ? ", and the rule’s condition holds," : "") + " exactly where" + chips(all);
  if (!solved.empty()) s += "These sizes are then expressed by others:" + chips(solved);
  return s + "</li>";
}

std::string ProofText::obligations() {
  std::string s = "<li><b>The right side is well formed.</b> ";
  std::vector<std::string> plain, others;
  for (const Formula& f : instance_.requires_rhs) {
    if (always(f)) continue;
    bool follows = solver_.implies(solved_.domain, substitute(f, solved_.sizes));
    (follows ? plain : others).push_back(notation_.text(f));
  }
  if (plain.empty() && others.empty()) s += "It needs nothing of the sizes.";
  if (!plain.empty()) s += "It needs what follows from the assumptions:" + chips(plain);
  if (!others.empty()) s += "It needs what follows where cases are distinguished:" + chips(others);
  return s + "</li>";
}

Element ProofText::element(const Graph& g, Value v, std::span<const Poly> position) {
  Element e;
  Symbolic algebra(g.pool());
  algebra.on_require = [&](const Formula& f) { add(e.needs, f); };
  algebra.on_apply = [&](Fn f, const Sum& x) {
    if (facts(f).domain == Domain::Everywhere || e.partial.size() > 8) return;
    std::string shown = std::string(facts(f).name) + "(" + text(x) + ")";
    if (std::ranges::find(e.partial, shown) == e.partial.end()) e.partial.push_back(shown);
  };
  e.value = substitute(verify::Lowering(g, algebra).element(v, position), solved_.sizes);
  return e;
}

/// "[a.0, b.1] on both sides".
std::string ProofText::shapes(const std::vector<Poly>& a, const std::vector<Poly>& b) {
  auto text = [&](const std::vector<Poly>& shape) {
    std::string s;
    for (const Poly& p : shape) s += (s.empty() ? "" : ", ") + notation_.text(p);
    return "[" + s + "]";
  };
  std::string left = text(a), right = text(b);
  return left == right ? "Both sides have the shape " + left + "."
                       : "The left side has the shape " + left + ", the right side " + right +
                             "; under the assumptions these are equal.";
}

std::string ProofText::output(size_t k) {
  const Graph &left = instance_.lhs, &right = instance_.rhs;
  const Shape& shape = left.shape(left.outputs()[k]);
  bool one = left.outputs().size() == 1;
  std::string title = one ? "The result" : fmt::format("Result {}", k);
  std::string s = "<li><b>" + title + ".</b> ";
  s += escape_html(shapes(shape, right.shape(right.outputs()[k]))) + " ";
  Conjunction domain = solved_.domain;
  std::vector<Poly> position;
  std::string place;
  for (size_t d = 0; d < shape.size(); ++d) {
    Var i = left.pool().fresh(fmt::format("i{}", d), SymbolKind::Position);
    position.push_back(Poly::symbol(i));
    add(domain,
        Poly(0) <= position.back() && position.back() < substitute(shape[d], solved_.sizes));
    place += (d ? ", " : "") + i->name;
  }
  s += fmt::format("The element at [{}] is, of each side, ", place);
  Element a = element(left, left.outputs()[k], position);
  Element b = element(right, right.outputs()[k], position);
  std::string left_text = text(a.value), right_text = text(b.value);
  s += "as composed of its operators’ formulas:";
  s += boxed("Left", left_text) + boxed("Right", right_text);
  return s + comparison(a, b, Context(solver_, budget_, domain)) + "</li>";
}

std::string ProofText::comparison(const Element& left, const Element& right,
                                  const Context& context) {
  std::string s, before = text(left.value), after = text(right.value);
  if (before == after) return paragraph("The two are the same.");
  if (!right.partial.empty())
    s += "<p>Wherever the left side is defined, these parts of the right side have to be:</p>" +
         chips(right.partial);
  std::string a = text(normal_form(left.value, context));
  std::string b = text(normal_form(right.value, context));
  bool pairs = !verify::remainder_of(verify::difference(left.value, right.value), context).open;
  if (a == b) return s + boxed("Both, in normal form", a);
  if (a != before) s += boxed("Left, in normal form", a);
  if (b != after) s += boxed("Right, in normal form", b);
  if (pairs)
    return s + paragraph("In the normal form of their difference all products cancel in pairs.");
  return s + paragraph(
                 "Their difference does not cancel in pairs. The prover showed it to be 0 with "
                 "more: laws of functions, loops written out, or cases. The steps that the "
                 "kernel checks are below.");
}

std::string introduction(const Rule& rule) {
  size_t n = rule.domain.size();
  std::string s = "At " + signature_text(rule, rule.domain[0]);
  if (n > 1) s += fmt::format(", the first of {} signatures; each is proved in its own right", n);
  return s + ".";
}

std::string tell_proof(const Rule& rule) {
  auto instance = instantiate(rule, rule.domain[0]);
  if (!instance) return paragraph("Nothing to show: " + instance.error().message + ".");
  Symbolic algebra(instance->lhs.pool());
  for (const Graph* g : {&instance->lhs, &instance->rhs})
    if (!verify::Lowering(*g, algebra).supported())
      return paragraph("Nothing to show: a node has no formula.");
  try {
    return ProofText(rule, *instance).run();
  } catch (const PolyOverflow&) {
    return paragraph("Too large to show: integers too large.");
  }
}

}  // namespace

std::string proof_of(const Rule& rule) {
  if (rule.verdict.kind == VerdictKind::ProvedBounded)
    return paragraph("Equal as exact polynomials in the elements, at these shapes only: " +
                     rule.verdict.detail + ".");
  if (!is_for_all_sizes(rule.verdict.kind) || rule.domain.empty())
    return paragraph("There is none.");
  if (is_family(rule)) {
    auto example = example_of(rule);
    if (!example) return paragraph("There is none.");
    example->verdict = rule.verdict;
    std::string s = paragraph(
        "A family: each rule that it has at numbers for its axes is proved "
        "in its own right. One of them is " +
        escape_html(to_string(*example)) + ".");
    return s + proof_of(*example);
  }
  std::string s = paragraph(introduction(rule));
  if (rule.both)
    s += paragraph("From left to right; the other direction is proved in its own right.");
  return s + tell_proof(rule);
}

}  // namespace regraft::cli
