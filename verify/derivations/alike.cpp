#include "verify/derivations/alike.h"

#include <algorithm>
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
    for (size_t k = 0; k < std::min(a.outputs.size(), b.outputs.size()); ++k) {
      match(a.outputs[k].left, b.outputs[k].left);
      match(a.outputs[k].right, b.outputs[k].right);
    }
    match_rest();
    Renaming names;
    for (const auto& [x, y] : known_)
      if (from_[x].name != to_[y].name) names[from_[x].name] = to_[y].name;
    return names;
  }

 private:
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
  /// Where one symbol of each is open.
  void match(const kernel::Poly& a, const kernel::Poly& b) {
    std::set<Symbol> of_a, of_b;
    for (const auto& [m, c] : a.terms())
      for (Symbol s : m)
        if (!known_.count(s)) of_a.insert(s);
    for (const auto& [m, c] : b.terms())
      for (Symbol s : m)
        if (!taken_.count(s)) of_b.insert(s);
    if (of_a.size() == 1 && of_b.size() == 1) match(*of_a.begin(), *of_b.begin());
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

}  // namespace

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
