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
  Names(const kernel::Symbols& from, const kernel::Symbols& to) : from_(from), to_(to) {}

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
    for (const auto& [x, y] : known_)
      if (from_[x].name != to_[y].name) names[from_[x].name] = to_[y].name;
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
    size_t before = 0;
    do {
      before = known_.size();
      for (const Fact& x : a) {
        auto open = only_open(x.poly, known_);
        for (const Fact& y : b) {
          if (!open) break;
          auto other = y.form == x.form ? only_open(y.poly, taken_) : std::nullopt;
          if (!other || !reads(x.poly, *open, y.poly, *other)) continue;
          match(*open, *other);
          open.reset();
        }
      }
    } while (known_.size() > before);
  }
  template <class Closed>
  static std::optional<Symbol> only_open(const kernel::Poly& p, const Closed& closed) {
    std::optional<Symbol> open;
    for (const auto& [m, c] : p.terms())
      for (Symbol s : m) {
        if (closed.count(s) || s == open) continue;
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
      for (Symbol s : term.first) m.push_back(s == x ? y : known_.at(s));
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
        if (symbols[s].kind == kind && !closed.count(s)) all.insert(s);
    return all;
  }
  void match(Symbol a, Symbol b) {
    if (from_[a].kind != to_[b].kind || from_[a].kind > kernel::Kind::Index || known_.count(a) ||
        taken_.count(b))
      return;
    known_[a] = b;
    taken_.insert(b);
  }
  /// What has the same name, and then one after the other.
  void match_rest() {
    std::vector<Symbol> left;
    for (Symbol a = 0; a < from_.size(); ++a) {
      if (from_[a].kind > kernel::Kind::Index || known_.count(a)) continue;
      auto b = to_.find(from_[a].name);
      if (b) match(a, *b);
      if (!known_.count(a)) left.push_back(a);
    }
    Symbol next = 0;
    for (Symbol a : left)
      for (; next < to_.size() && !known_.count(a); ++next) match(a, next);
  }

  const kernel::Symbols &from_, &to_;
  std::map<Symbol, Symbol> known_;
  std::set<Symbol> taken_;
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

}  // namespace

std::string structure_of(const kernel::Symbols& symbols, const kernel::Claim& claim) {
  return Structure(symbols).of(claim);
}

std::string outline_of(const kernel::Claim& claim) {
  Outline outline;
  for (const kernel::OutputClaim& o : claim.outputs) {
    outline.add(o.left);
    outline.add(o.right);
  }
  return std::move(outline.text);
}

Renaming names_of(const kernel::Symbols& from, const kernel::Claim& a, const kernel::Symbols& to,
                  const kernel::Claim& b) {
  return Names(from, to).of(a, b);
}

}  // namespace regraft::verify
