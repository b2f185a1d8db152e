#include "verify/derivations/alike.h"

#include <algorithm>
#include <optional>
#include <set>

namespace regraft::verify {
namespace {

using kernel::Fact;
using kernel::Symbol;

/// Which symbol of one claim is which of another.
class Names {
 public:
  Names(const kernel::Symbols& from, const kernel::Symbols& to)
      : from_(from), to_(to), known_(from.size()), taken_(to.size()) {}

  Renaming of(const kernel::Claim& a, const kernel::Claim& b) {
    const size_t outputs = std::min(a.outputs.size(), b.outputs.size());
    for (size_t k = 0; k < outputs; ++k)
      for (auto side : {&kernel::OutputClaim::left, &kernel::OutputClaim::right})
        match_guards((a.outputs[k].*side).sum, (b.outputs[k].*side).sum);
    for (size_t k = 0; k < outputs; ++k) match_facts(a.outputs[k].given, b.outputs[k].given);
    for (size_t k = 0; k < outputs; ++k) {
      match(a.outputs[k].left, b.outputs[k].left);
      match(a.outputs[k].right, b.outputs[k].right);
    }
    for (size_t k = 0; k < outputs; ++k) match_facts(a.outputs[k].given, b.outputs[k].given);
    match_rest();
    Renaming names;
    for (Symbol x = 0; x < known_.size(); ++x)
      if (known_[x] && from_[x].name != to_[*known_[x]].name)
        names[from_[x].name] = to_[*known_[x]].name;
    return names;
  }

 private:
  /// What a product is guarded by says which axis is which.
  void match_guards(const kernel::Sum& a, const kernel::Sum& b) {
    for (size_t k = 0; k < std::min(a.products.size(), b.products.size()); ++k)
      match(a.products[k].guard, b.products[k].guard);
  }
  /// Facts that say the same but for one symbol each.
  void match_facts(const std::vector<Fact>& a, const std::vector<Fact>& b) {
    std::vector<std::optional<Symbol>> others;
    auto look = [&] {
      others.clear();
      for (const Fact& y : b) others.push_back(only_open(y.poly, taken_));
    };
    look();
    for (bool again = true; again;) {
      again = false;
      for (const Fact& x : a) {
        const auto open = only_open(x.poly, known_);
        for (size_t k = 0; open && k < b.size(); ++k) {
          if (!others[k] || b[k].form != x.form || !reads(x.poly, *open, b[k].poly, *others[k]))
            continue;
          again = match(*open, *others[k]) || again;
          look();
          break;
        }
      }
    }
  }
  template <class Closed>
  static std::optional<Symbol> only_open(const kernel::Poly& p, const Closed& closed) {
    std::optional<Symbol> open;
    for (const auto& [m, c] : p.terms())
      for (Symbol s : m) {
        if (closed[s] || s == open) continue;
        if (open) return std::nullopt;
        open = s;
      }
    return open;
  }
  /// p with its symbols matched, x with y, is q.
  bool reads(const kernel::Poly& p, Symbol x, const kernel::Poly& q, Symbol y) const {
    if (from_[x].kind != to_[y].kind || p.terms().size() != q.terms().size() ||
        p.constant() != q.constant())
      return false;
    return std::ranges::all_of(p.terms(), [&](const auto& term) {
      kernel::Monomial m;
      for (Symbol s : term.first) m.push_back(s == x ? y : *known_[s]);
      std::ranges::sort(m);
      auto it = q.terms().find(m);
      return it != q.terms().end() && it->second == term.second;
    });
  }
  void match(const kernel::Unfolded& a, const kernel::Unfolded& b) {
    match(a.sum, b.sum);
    for (size_t k = 0; k < std::min(a.partial.size(), b.partial.size()); ++k) {
      const kernel::Partial &x = a.partial[k], &y = b.partial[k];
      match(kernel::Product{{1, 1}, x.bound, x.guard, {x.atom}},
            kernel::Product{{1, 1}, y.bound, y.guard, {y.atom}});
    }
  }
  void match(const kernel::Sum& a, const kernel::Sum& b) {
    for (size_t k = 0; k < std::min(a.products.size(), b.products.size()); ++k)
      match(a.products[k], b.products[k]);
  }
  void match(const kernel::Product& a, const kernel::Product& b) {
    match(a.bound, b.bound);
    match(a.guard, b.guard);
    for (size_t k = 0; k < std::min(a.atoms.size(), b.atoms.size()); ++k)
      match(a.atoms[k], b.atoms[k]);
  }
  void match(const kernel::Atom& a, const kernel::Atom& b) {
    match(a.bound, b.bound);
    match(a.guard, b.guard);
    if (a.positions.size() == b.positions.size())
      for (size_t k = 0; k < a.positions.size(); ++k) match(a.positions[k], b.positions[k]);
    if (a.argument && b.argument) match(*a.argument, *b.argument);
  }
  void match(const std::vector<Symbol>& a, const std::vector<Symbol>& b) {
    for (size_t k = 0; k < std::min(a.size(), b.size()); ++k) match(a[k], b[k]);
  }
  void match(const std::vector<Fact>& a, const std::vector<Fact>& b) {
    for (size_t k = 0; k < std::min(a.size(), b.size()); ++k) match(a[k].poly, b[k].poly);
  }
  /// Where one symbol of a kind is open in each.
  void match(const kernel::Poly& a, const kernel::Poly& b) {
    for (kernel::Kind kind : {kernel::Kind::Index, kernel::Kind::Attribute, kernel::Kind::Size}) {
      const std::set<Symbol> x = open(a, kind, from_, known_), y = open(b, kind, to_, taken_);
      if (x.size() == 1 && y.size() == 1) match(*x.begin(), *y.begin());
    }
  }
  template <class Closed>
  static std::set<Symbol> open(const kernel::Poly& p, kernel::Kind kind,
                               const kernel::Symbols& symbols, const Closed& closed) {
    std::set<Symbol> all;
    for (const auto& [m, c] : p.terms())
      for (Symbol s : m)
        if (symbols[s].kind == kind && !closed[s]) all.insert(s);
    return all;
  }
  bool match(Symbol a, Symbol b) {
    if (from_[a].kind != to_[b].kind || from_[a].kind > kernel::Kind::Index || known_[a] ||
        taken_[b])
      return false;
    known_[a] = b;
    taken_[b] = true;
    return true;
  }
  /// What has the same name, and then one after the other.
  void match_rest() {
    std::vector<Symbol> left;
    for (Symbol a = 0; a < from_.size(); ++a) {
      if (from_[a].kind > kernel::Kind::Index || known_[a]) continue;
      auto b = to_.find(from_[a].name);
      if (b) match(a, *b);
      if (!known_[a]) left.push_back(a);
    }
    Symbol next = 0;
    for (Symbol a : left)
      for (; next < to_.size() && !known_[a]; ++next) match(a, next);
  }

  const kernel::Symbols &from_, &to_;
  std::vector<std::optional<Symbol>> known_;  ///< by symbol of the first
  std::vector<bool> taken_;                   ///< by symbol of the other one
};

/// Adds what a claim is made of, without the names of its symbols and the ranks of its inputs.
class Outline {
 public:
  std::string text;
  void add(const kernel::Unfolded& u) {
    add(u.sum);
    for (const kernel::Partial& x : u.partial)
      add(kernel::Product{{1, 1}, x.bound, x.guard, {x.atom}});
    text += "\n";
  }

 private:
  void add(size_t n) { text += std::to_string(n) + ","; }
  void add(const kernel::Sum& s) {
    text += "(";
    for (const kernel::Product& p : s.products) add(p);
    text += ")";
  }
  void add(const kernel::Product& p) {
    text += std::to_string(p.coefficient.n) + "/" + std::to_string(p.coefficient.d) + ":";
    add(p.bound.size());
    add(p.guard.size());
    for (const kernel::Atom& a : p.atoms) {
      text += static_cast<char>('a' + a.kind);
      add(static_cast<size_t>(a.head));
      add(a.bound.size());
      add(a.guard.size());
      if (a.argument) add(*a.argument);
    }
  }
};

/// Symbols by numbers, in the order in which they are met: guards of products come first, as they
/// say which axes are special.
class Structure {
 public:
  explicit Structure(const kernel::Symbols& symbols) : symbols_(symbols) {}
  std::string of(const kernel::Claim& claim) {
    each_sum(claim, [&](const kernel::Sum& s) {
      for (const kernel::Product& p : s.products)
        for (const Fact& f : p.guard) number(f.poly);
    });
    each_sum(claim, [&](const kernel::Sum& s) { add(s); });
    return std::move(text_);
  }

 private:
  template <class F>
  static void each_sum(const kernel::Claim& claim, F visit) {
    for (const kernel::OutputClaim& o : claim.outputs) {
      visit(o.left.sum);
      visit(o.right.sum);
    }
  }
  void number(const kernel::Poly& p) {
    for (kernel::Kind kind : {kernel::Kind::Attribute, kernel::Kind::Index, kernel::Kind::Size})
      for (const auto& [m, c] : p.terms())
        for (Symbol s : m)
          if (symbols_[s].kind == kind) numbers_.try_emplace(s, numbers_.size());
  }
  void add(const kernel::Poly& p) {
    number(p);
    std::vector<std::string> terms;
    for (const auto& [m, c] : p.terms()) {
      std::string& t = terms.emplace_back(std::to_string(c));
      for (Symbol s : m)
        t += "*" + std::to_string(numbers_.try_emplace(s, numbers_.size()).first->second);
    }
    std::ranges::sort(terms);
    for (const std::string& t : terms) text_ += t + "+";
    text_ += std::to_string(p.constant()) + ",";
  }
  void add(const std::vector<Fact>& facts) {
    for (const Fact& f : facts) {
      text_ += static_cast<char>('0' + f.form);
      add(f.poly);
    }
  }
  void add(const kernel::Sum& s) {
    text_ += "(";
    for (const kernel::Product& p : s.products) {
      text_ += std::to_string(p.coefficient.n) + "/" + std::to_string(p.coefficient.d) + ":";
      add(p.guard);
      for (const kernel::Atom& a : p.atoms) {
        text_ += static_cast<char>('a' + a.kind) + std::to_string(a.head) + "[";
        for (const kernel::Poly& x : a.positions) add(x);
        add(a.guard);
        if (a.argument) add(*a.argument);
      }
    }
    text_ += ")";
  }

  const kernel::Symbols& symbols_;
  std::map<Symbol, size_t> numbers_;
  std::string text_;
};

std::string outline_of(const kernel::Claim& claim) {
  Outline outline;
  for (const kernel::OutputClaim& o : claim.outputs) {
    outline.add(o.left);
    outline.add(o.right);
  }
  return std::move(outline.text);
}

/// As certificates number them.
std::vector<std::string> numbered(const kernel::Symbols& symbols, const std::vector<Fact>& given) {
  kernel::List<Fact> parts;
  for (const Fact& f : given) append(parts, f);
  std::vector<std::string> all;
  for (const Fact& f : parts) all.push_back(kernel::text(symbols, f));
  return all;
}

}  // namespace

ClaimTexts texts_of(const kernel::Symbols& symbols, const kernel::Claim& claim) {
  ClaimTexts r{outline_of(claim), Structure(symbols).of(claim), {}, {}};
  r.given.push_back(numbered(symbols, claim.given));
  for (const kernel::OutputClaim& o : claim.outputs) {
    r.given.push_back(numbered(symbols, o.given));
    r.pieces.insert(r.pieces.end(), r.given.back().begin(), r.given.back().end());
    for (const auto* side : {&o.left, &o.right})
      for (const kernel::Product& p : side->sum.products)
        r.pieces.push_back(kernel::text(symbols, p));
  }
  return r;
}

Renaming names_of(const kernel::Symbols& from, const kernel::Claim& a, const kernel::Symbols& to,
                  const kernel::Claim& b) {
  return Names(from, to).of(a, b);
}

}  // namespace regraft::verify
