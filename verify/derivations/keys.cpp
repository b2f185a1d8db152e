#include "verify/derivations/keys.h"

#include <algorithm>
#include <cstring>

namespace regraft::verify {
namespace {

using kernel::Symbol;

class Keys {
 public:
  explicit Keys(kernel::Symbols& symbols) : symbols_(symbols) {}

  std::string of(const kernel::Sum& s) {
    std::vector<std::string> all;
    for (const kernel::Product& p : s.products)
      all.push_back(std::to_string(p.coefficient.n) + "/" + std::to_string(p.coefficient.d) +
                    of(p));
    return joined(std::move(all), "+");
  }
  std::string of(const kernel::Product& p) {
    std::vector<std::string> guard;
    const kernel::Values outer = names_;
    for (Symbol s : p.bound) names_[s] = kernel::Poly::symbol(name("c_"));
    std::vector<std::pair<std::string, const kernel::Atom*>> order;
    for (const kernel::Atom& a : p.atoms) order.emplace_back(of(a), &a);
    std::sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::vector<Symbol> left = p.bound;
    auto numbered = [&](Symbol s) {
      names_[s] = kernel::Poly::symbol(name("c" + std::to_string(next_++)));
    };
    for (const auto& [text, a] : order)
      for (size_t k = 0; k < left.size();)
        if (mentions(symbols_, sum_of(*a), left[k])) {
          numbered(left[k]);
          left.erase(left.begin() + static_cast<std::ptrdiff_t>(k));
        } else {
          ++k;
        }
    for (Symbol s : left) numbered(s);
    std::vector<std::string> atoms;
    for (const auto& [text, a] : order) atoms.push_back(p.bound.empty() ? text : of(*a));
    for (const kernel::Fact& f : p.guard) guard.push_back(of(f));
    next_ -= static_cast<int>(p.bound.size());
    names_ = outer;
    return std::to_string(p.bound.size()) + "{" + joined(std::move(guard), ",") + "}" +
           joined(std::move(atoms), "*");
  }

 private:
  std::string of(const kernel::Atom& a) {
    std::string s = std::to_string(a.kind) + "." + std::to_string(a.head) + a.real + "[";
    for (const kernel::Poly& p : a.positions)
      s += symbols_.text(symbols_.substitute(p, names_)) + ",";
    if (a.argument) {
      kernel::Product inside;
      inside.bound = a.bound;
      inside.guard = a.guard;
      const kernel::Values outer = names_;
      for (Symbol b : a.bound)
        names_[b] = kernel::Poly::symbol(name("c" + std::to_string(next_++)));
      std::vector<std::string> guard;
      for (const kernel::Fact& f : a.guard) guard.push_back(of(f));
      s += joined(std::move(guard), ",") + ":" + of(*a.argument);
      next_ -= static_cast<int>(a.bound.size());
      names_ = outer;
    }
    return s + "]";
  }
  std::string of(const kernel::Fact& f) {
    return kernel::text(symbols_, substitute(symbols_, f, names_));
  }
  Symbol name(const std::string& text) {
    const std::string all = "key." + text;
    if (auto s = symbols_.find(all)) return *s;
    return symbols_.make(kernel::Kind::Index, all, std::nullopt);
  }
  static std::string joined(std::vector<std::string> parts, const char* with) {
    std::sort(parts.begin(), parts.end());
    std::string s;
    for (const std::string& p : parts) s += p + with;
    return s;
  }

  kernel::Symbols& symbols_;
  kernel::Values names_;
  int next_ = 0;
};

/// Writes what it is given one after the other, each with what says where it ends.
class ExactKey {
 public:
  std::string text;
  void add(int64_t n) {
    char bytes[sizeof n];
    std::memcpy(bytes, &n, sizeof n);
    text.append(bytes, sizeof n);
  }
  void add(const kernel::Poly& p) {
    add(size(p.terms()));
    for (const auto& [m, c] : p.terms()) {
      add(c);
      add(m);
    }
  }
  void add(const std::vector<Symbol>& symbols) {
    add(size(symbols));
    text.append(reinterpret_cast<const char*>(symbols.data()), symbols.size() * sizeof(Symbol));
  }
  void add(const kernel::Fact& f) {
    add(int64_t{f.form});
    add(f.poly);
    add(f.parts);
  }
  void add(const std::vector<kernel::Fact>& facts) {
    add(size(facts));
    for (const kernel::Fact& f : facts) add(f);
  }
  void add(const kernel::Atom& a) {
    add(int64_t{a.kind} << 32 | a.head);
    add(size(a.positions));
    for (const kernel::Poly& p : a.positions) add(p);
    add(size(a.real));
    text += a.real;
    add(a.bound);
    add(a.guard);
    add(a.argument ? *a.argument : kernel::Sum{});
  }
  void add(const kernel::Sum& s) {
    add(size(s.products));
    for (const kernel::Product& p : s.products) {
      add(p.coefficient.n);
      add(p.coefficient.d);
      add(p);
    }
  }
  /// Without the coefficient.
  void add(const kernel::Product& p) {
    add(p.bound);
    add(p.guard);
    add(size(p.atoms));
    for (const kernel::Atom& a : p.atoms) add(a);
  }

 private:
  static int64_t size(const auto& of) { return static_cast<int64_t>(of.size()); }
};

}  // namespace

const std::string& AlikeKeys::of(const kernel::Product& p) {
  ExactKey key;
  key.add(p);
  auto [it, fresh] = known_.try_emplace(std::move(key.text));
  if (fresh) it->second = Keys(symbols_).of(p);
  return it->second;
}

const std::string& AlikeKeys::of(const kernel::Sum& s) {
  ExactKey key;
  key.add(s);
  key.text += 's';
  auto [it, fresh] = known_.try_emplace(std::move(key.text));
  if (fresh) it->second = Keys(symbols_).of(s);
  return it->second;
}

std::string exact_key(const std::vector<kernel::Fact>& facts) {
  ExactKey key;
  key.add(facts);
  return std::move(key.text);
}

std::string exact_key(const kernel::Context& context, const kernel::Sum& s) {
  ExactKey key;
  key.add(context.facts);
  for (const kernel::Known& k : context.known) {
    key.add(int64_t{k.signs});
    key.add(k.sum);
  }
  key.add(s);
  return std::move(key.text);
}

}  // namespace regraft::verify
