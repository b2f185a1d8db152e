#include "verify/replay/claim_text.h"

#include <algorithm>
#include <map>

#include "ir/algebra/function.h"
#include "ir/algebra/real_expression.h"

namespace regraft::verify {
namespace {

class Writer {
 public:
  explicit Writer(kernel::Translation& translation) : translation_(translation) {}

  std::string symbols() const {
    const kernel::Symbols& all = translation_.symbols();
    std::string s;
    std::map<kernel::Symbol, bool> bound;
    for (const auto& [v, k] : translation_.leaves()) bound[k] = v->kind == SymbolKind::Bound;
    for (const auto& [k, named_in_a_tree] : bound) {  // as they were made
      if (named_in_a_tree) continue;
      s += all[k].least ? "size " + all[k].name + " " + std::to_string(*all[k].least)
                        : "index " + all[k].name;
      s += "\n";
    }
    for (size_t t = 0; t < all.tables(); ++t) {
      s += "table";
      for (const kernel::Poly& e : all.entries(t)) s += " " + all.text(e);
      s += "\n";
    }
    return s;
  }
  std::string facts(const char* word, const std::vector<Formula>& formulas) {
    std::string s;
    for (const Formula& f : formulas) s += std::string(word) + " " + text(f) + "\n";
    return s;
  }
  std::string known(const RealCondition& c, SymbolPool& pool) {
    const char* sign = c.relation == Relation::Equal    ? "="
                       : c.relation == Relation::AtMost ? ">="
                                                        : ">";
    return std::string("known ") + sign + " minus" + real(expression_of("=" + c.second), pool) +
           real(expression_of("=" + c.first), pool) + "\n";
  }
  std::string output(const kernel::OutputFormulas& o) {
    std::string s = "output\n";
    for (size_t d = 0; d < o.position.size(); ++d)
      s += "position " + text(o.position[d]) + " " + text(o.shape[d]) + "\n";
    return s + facts("requires", o.required) + "left" + tree(o.left) + "\nright" + tree(o.right) +
           "\n";
  }

 private:
  std::string text(const Poly& p) { return translation_.symbols().text(translation_.of(p)); }
  std::string text(const Formula& f) {
    return kernel::text(translation_.symbols(), translation_.of(f));
  }
  std::string positions(const SyntaxNode& n) {
    std::string s;
    for (const Poly& p : n.positions) s += " " + text(p);
    return s;
  }
  std::string bound(const SyntaxNode& n) {
    std::string s;
    for (Var v : n.bound) s += " " + text(Poly::symbol(v));
    return s;
  }
  std::string parts(const SyntaxNode& n) {
    std::string s;
    for (const SyntaxTree& part : n.parts) s += tree(part);
    return s;
  }
  /// A number, a variable, or the expression that it is computed by.
  std::string real(const Real& r) {
    if (r.symbol && is_expression(r.symbol->name))
      return real(expression_of(r.symbol->name), *r.symbol->pool);
    return " real " + kernel::real_text(r);
  }
  std::string real(const RealExpression& e, SymbolPool& pool) {
    static const char* const kWords[] = {"",      "",         "plus",  "minus",
                                         "times", "quotient", "least", "greatest"};
    if (e.kind == RealExpression::Number) return real(Real{e.number, nullptr});
    if (e.kind != RealExpression::Name)
      return std::string(" ") + kWords[e.kind] + real(e.operands.at(0), pool) +
             real(e.operands.at(1), pool);
    Var v = symbol_of_name(e.name, pool);
    return e.name[0] == '?' ? real(Real{0, v}) : " integer " + text(Poly::symbol(v));
  }
  std::string tree(const SyntaxTree& t) {
    const SyntaxNode& n = *t.node;
    switch (n.kind) {
      case SyntaxNode::Number:
        return " number " + std::to_string(n.number.n) + " " + std::to_string(n.number.d);
      case SyntaxNode::Unknown:
        return real(n.reals[0]);
      case SyntaxNode::Recip:
        return " over" + positions(n);
      case SyntaxNode::Integer:
        return " integer" + positions(n);
      case SyntaxNode::Read:
        return " read " + std::to_string(n.head) + " " + std::to_string(n.positions.size()) +
               positions(n);
      case SyntaxNode::Apply:
        return " apply " + std::string(regraft::facts(static_cast<Fn>(n.head)).name) + parts(n);
      case SyntaxNode::Clip:
        return " clip" + parts(n) + real(n.reals[0]) + real(n.reals[1]);
      case SyntaxNode::Plus:
        return " plus" + parts(n);
      case SyntaxNode::Times:
        return " times" + parts(n);
      case SyntaxNode::Select:
        return " select " + text(n.condition) + parts(n);
      case SyntaxNode::Choose:
        return " choose" + parts(n);
      case SyntaxNode::Sum:
        return " sum" + bound(n) + positions(n) + parts(n);
      case SyntaxNode::Max:
        return " max " + std::to_string(n.bound.size()) + bound(n) + positions(n) + " " +
               text(n.condition) + parts(n);
    }
    throw kernel::Refused{"a formula has a form that the kernel does not know"};
  }

  kernel::Translation& translation_;
};

std::string formulas_text(const RuleInstance& instance) {
  const kernel::Formulas formulas = kernel::formulas_of(instance);
  kernel::Symbols symbols;
  kernel::Translation translation(symbols);
  kernel::claim_of(translation, formulas);  // gives all their names
  Writer writer(translation);
  std::string s;
  s += writer.facts("given", formulas.given) + writer.facts("needed", formulas.needed);
  for (const RealCondition& c : formulas.real_given) s += writer.known(c, *formulas.pool);
  for (const kernel::OutputFormulas& o : formulas.outputs) s += writer.output(o);
  return writer.symbols() + s;
}

std::string counted(const std::string& lines) {
  return std::to_string(std::count(lines.begin(), lines.end(), '\n'));
}

}  // namespace

std::string claim_text(const RuleInstance& instance, const std::string& name) {
  std::string text;
  try {
    text = formulas_text(instance);
  } catch (const kernel::Refused&) {
    text.clear();
  } catch (const PolyOverflow&) {
    text.clear();
  }
  return "claim " + counted(text) + " " + name + "\n" + text;
}

std::string derivation_text(const std::string& derivation, bool accepted) {
  return "derivation " + counted(derivation) + (accepted ? " accepted\n" : " refused\n") +
         derivation;
}

}  // namespace regraft::verify
