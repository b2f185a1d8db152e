#include "gen/generalise/hypothesis_rule.h"

#include <algorithm>

#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

/// An attribute of a call with its numbers as polynomials over the tester's symbols.
struct Attribute {
  AttrKey key;
  const IntAttr* attr = nullptr;
  std::vector<Poly> numbers;
};

std::vector<Attribute> attributes_of(const Side& side, Part part,
                                     const std::vector<Poly>& numbers) {
  std::vector<Attribute> r;
  for (const Side::Call& call : side.calls)
    for (size_t k = 0; k < call.first.size(); ++k) {
      if (call.first[k] < 0 || call.label->attrs.ints[k].empty()) continue;
      auto begin = numbers.begin() + call.first[k];
      std::vector<Poly> list(begin, begin + static_cast<int64_t>(call.label->attrs.ints[k].size()));
      r.push_back({{part, call.id, k}, &call.label->op->ints[k], std::move(list)});
    }
  return r;
}

/// The symbols that a list consists of; empty when it has anything else.
std::vector<Var> plain_symbols(const Attribute& a) {
  std::vector<Var> r;
  for (const Poly& p : a.numbers) {
    Var symbol = symbol_of(p);
    if (!symbol) return {};
    r.push_back(symbol);
  }
  return r;
}

class Expression {
 public:
  Expression(const Bank& bank, const HypothesisTester& tester, const TemplatePair& pair,
             const Hypothesis& h)
      : bank_(bank), tester_(tester), h_(h) {
    out_.pair.lhs = pair.lhs;
    out_.pair.rhs = pair.rhs;
    std::vector<Poly> left(h.left.begin() + tester.number_symbol(0), h.left.end());
    attributes_ = attributes_of(tester.left(), Part::Left, left);
    left_count_ = attributes_.size();
    for (auto& a : attributes_of(tester.right(), Part::Right, h.right))
      attributes_.push_back(std::move(a));
    express_by_sizes();
  }
  Expressed run() {
    for (size_t v = 0; v < tester_.leaves().size(); ++v) name_sizes(v);
    for (size_t k = 0; k < left_count_; ++k) name_numbers(attributes_[k]);
    for (const Attribute& a : attributes_) out_.pair.plan[a.key] = form_of(a);
    for (size_t v = 0; v < tester_.leaves().size(); ++v) add_conditions(v);
    for (size_t k = 0; k < left_count_; ++k)
      out_.closed += std::any_of(attributes_[k].numbers.begin(), attributes_[k].numbers.end(),
                                 [](const Poly& p) { return p.is_constant(); });
    return std::move(out_);
  }

 private:
  /// Numbers that the left side determines are no variables.
  void express_by_sizes() {
    Substitution known = tester_.by_sizes(h_);
    for (Attribute& a : attributes_)
      for (Poly& p : a.numbers) p = substitute(p, known);
  }
  void name_sizes(size_t v) {
    size_t rank = bank_.node(tester_.leaves()[v]).shape.size();
    for (size_t d = 0; d < rank; ++d) {
      int k = tester_.size_symbol(v, d);
      if (k < 0) continue;
      names_[tester_.symbols()[static_cast<size_t>(k)].var] =
          Poly::symbol(extent_of(*out_.pair.pool, v, rank, d));
    }
  }
  /// Every list that uses a symbol of these is these, in this order.
  bool always_whole(const std::vector<Var>& symbols) const {
    for (const Attribute& a : attributes_) {
      bool uses = false;
      for (const Poly& p : a.numbers)
        for (Var v : symbols) uses = uses || mentions(p, v);
      if (uses && plain_symbols(a) != symbols) return false;
    }
    for (size_t k = 0; k < static_cast<size_t>(tester_.number_symbol(0)); ++k)
      for (Var v : symbols)
        if (mentions(h_.left[k], v)) return false;
    return true;
  }
  bool is_own(Var v) const {  // an open number
    for (const PairSymbol& s : tester_.symbols())
      if (s.var == v) return !s.is_size();
    return false;
  }
  void name_numbers(const Attribute& a) {
    std::vector<Var> symbols = plain_symbols(a);
    bool fresh = !symbols.empty() && std::all_of(symbols.begin(), symbols.end(), [&](Var v) {
      return is_own(v) && names_.count(v) == 0;
    });
    // What the right side asks for beyond the left one is said of single numbers.
    bool list = fresh && !tester_.leaves_out() && a.attr->length != Length::Any &&
                a.attr->length != Length::One && always_whole(symbols) &&
                lists_.count(symbols) == 0;
    if (fresh && lists_.count(symbols) > 0) return;
    std::string letter = new_letter(a.attr->name[0]);
    if (list) {
      lists_[symbols] = letter;
      return;
    }
    bool used = false;
    for (size_t i = 0; i < a.numbers.size(); ++i)
      for_each_symbol(a.numbers[i], [&](Var v) {
        if (!is_own(v) || !names_.try_emplace(v).second) return;
        std::string name = a.numbers.size() == 1 ? letter : letter + std::to_string(i + 1);
        names_[v] = Poly::symbol(out_.pair.pool->named("?" + name));
        used = true;
      });
    if (!used) taken_.erase(letter);
  }
  std::string new_letter(char c) {
    std::string name(1, c);
    while (!taken_.insert(name).second) name += c;
    return name;
  }
  Form form_of(const Attribute& a) {
    if (auto it = lists_.find(plain_symbols(a)); it != lists_.end()) return {it->second, {}};
    Form form;
    for (const Poly& p : a.numbers) form.numbers.push_back(renamed(p));
    return form;
  }
  Poly renamed(const Poly& p) {
    auto q = moved(p, *out_.pair.pool, [&](Var v) { return names_.at(v); });
    CHECK(q.has_value());
    return *q;
  }
  void add_conditions(size_t v) {
    std::string word = tester_.signature()[v];
    for (size_t d = 0; word != "-" && d < word.size(); ++d) {
      int k = tester_.size_symbol(v, d);
      if (k < 0) continue;
      const Poly& is = h_.left[static_cast<size_t>(k)];
      const Poly own = Poly::symbol(tester_.symbols()[static_cast<size_t>(k)].var);
      if (is.is_constant() && is.constant() == 1)
        word[d] = '1';
      else if (!is.is_constant() && tester_.index_of(is.terms()[0].monomial[0]) < k)
        out_.pair.where.emplace_back(renamed(is), renamed(own));
      else if (!same(is, own))
        out_.pair.where.emplace_back(renamed(own), renamed(is));
    }
    out_.signature.push_back(std::move(word));
  }

  const Bank& bank_;
  const HypothesisTester& tester_;
  const Hypothesis& h_;
  std::vector<Attribute> attributes_;
  size_t left_count_ = 0;
  std::map<Var, Poly, SymbolLess> names_;
  std::map<std::vector<Var>, std::string> lists_;
  std::set<std::string> taken_;
  Expressed out_;
};

}  // namespace

Expressed express(const Bank& bank, const HypothesisTester& tester, const TemplatePair& pair,
                  const Hypothesis& h) {
  return Expression(bank, tester, pair, h).run();
}

}  // namespace regraft::gen
