#include "verify/certificates/farkas.h"

#include <map>
#include <numeric>

#include "verify/arithmetic/elimination.h"

namespace regraft::verify {

using kernel::Fact;
using kernel::Monomial;

namespace {

int64_t product_of(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw kernel::Refused{"a number is too large"};
  return r;
}

/// `scale` times an inequality is the sum of products times numbers.
struct Combination {
  std::map<Product, int64_t> times;
  int64_t scale = 1;

  void add(const Combination& c, int64_t by) {
    for (const auto& [p, t] : c.times) {
      int64_t& sum = times[p];
      if (__builtin_add_overflow(sum, product_of(t, by), &sum))
        throw kernel::Refused{"a number is too large"};
      if (sum == 0) times.erase(p);
    }
  }
  void reduce() {
    int64_t g = scale;
    for (const auto& [p, t] : times) g = std::gcd(g, t);
    if (g < 2) return;
    for (auto& [p, t] : times) t /= g;
    scale /= g;
  }
  std::vector<Summand> summands() const {
    std::vector<Summand> all;
    for (const auto& [p, t] : times) all.push_back({t, p});
    return all;
  }
};

/// Writes down what a trail says, one step for each rounding.
class Writer {
 public:
  Writer(Argument& argument, Argument::Place& at, const Trail& trail,
         std::map<size_t, Combination> known)
      : argument_(argument), at_(at), trail_(trail), known_(std::move(known)) {}

  const Combination& of(size_t place) {
    if (auto it = known_.find(place); it != known_.end()) return it->second;
    const Trail::Step& s = trail_[place];
    Combination c;
    if (s.cb == 0) {
      c = of(s.a);
      c.scale = product_of(c.scale, s.divisor);
      if (s.rounded) c = {{{{argument_.lin(at_, c.summands(), c.scale)}, 1}}, 1};
    } else {
      const Combination &a = of(s.a), &b = of(s.b);
      c.scale = product_of(a.scale / std::gcd(a.scale, b.scale), b.scale);
      c.add(a, product_of(s.ca, c.scale / a.scale));
      c.add(b, product_of(s.cb, c.scale / b.scale));
    }
    c.reduce();
    return known_.emplace(place, std::move(c)).first->second;
  }

 private:
  Argument& argument_;
  Argument::Place& at_;
  const Trail& trail_;
  std::map<size_t, Combination> known_;
};

}  // namespace

bool close_linear(Argument& argument, Argument::Place& at, const std::vector<Product>& products) {
  std::map<Monomial, uint32_t> columns;
  std::vector<std::pair<kernel::Poly, bool>> facts;
  for (const Product& product : products) {
    kernel::Poly p(1);
    bool vanishes = false;
    for (FactId f : product) {
      p = p * argument.fact(f).poly;
      vanishes = vanishes || argument.fact(f).form == Fact::Zero;
    }
    for (const auto& [m, c] : p.terms())
      if (!m.empty()) columns.try_emplace(m, static_cast<uint32_t>(columns.size()));
    facts.push_back({std::move(p), vanishes});
  }
  Trail trail;
  std::vector<Inequality> rows;
  std::map<size_t, Combination> known;
  for (size_t k = 0; k < facts.size(); ++k)
    for (int64_t sign : {1, -1}) {
      if (sign < 0 && !facts[k].second) continue;
      Inequality row{{}, sign * facts[k].first.constant()};
      for (const auto& [m, c] : facts[k].first.terms())
        if (!m.empty()) row.c.push_back({columns.at(m), sign * c});
      row.origin = trail.given();
      known[row.origin] = {{{products[k], sign}}, 1};
      rows.push_back(std::move(row));
    }
  auto found = contradiction(rows, trail);
  if (!found) return false;
  Writer writer(argument, at, trail, std::move(known));
  argument.lin(at, writer.of(*found).summands());
  return true;
}

}  // namespace regraft::verify
