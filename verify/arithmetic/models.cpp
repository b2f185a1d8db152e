#include "verify/arithmetic/models.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/hash.h"
#include "verify/arithmetic/walk.h"

namespace regraft::verify {
namespace {

constexpr size_t kModels = 24;
constexpr int kTries = 300;  // values that one attempt tries
constexpr int64_t kFar = int64_t{1} << 40;

int64_t usual_value(Var v) { return v->kind == SymbolKind::Size ? v->min : 0; }

int64_t ceildiv(int64_t a, int64_t b) { return -floordiv(-a, b); }

/// Calls visit for the symbols of f that have a value of their own, those in quotients too.
template <class F>
void for_each_free(const Poly& p, F&& visit, bool inside = false) {
  for (const auto& t : p.terms())
    for (Var v : t.monomial) {
      if (v->kind != SymbolKind::Quotient) {
        visit(v, inside);
      } else {
        for_each_free(*v->numerator, visit, true);
        for_each_free(*v->denominator, visit, true);
      }
    }
}
template <class F>
void for_each_free(const Formula& f, F&& visit) {
  for_each_poly(f, [&](const Poly& p) { for_each_free(p, visit); });
}

/// p is linear in v.
bool is_linear(const Poly& p, Var v) {
  bool linear = true;
  for (const auto& t : p.terms())
    linear = linear && std::count(t.monomial.begin(), t.monomial.end(), v) < 2;
  for_each_free(p, [&](Var x, bool inside) { linear = linear && (x != v || !inside); });
  return linear;
}

/// Gives one symbol after the other a value that its bounds suggest.
class Search {
 public:
  Search(const Conjunction& facts, const Symbols& symbols) {
    for (Var v : symbols)
      if (v->kind != SymbolKind::Quotient) order_.push_back(v);
    std::stable_sort(order_.begin(), order_.end(), [](Var a, Var b) {
      return (a->kind == SymbolKind::Size) > (b->kind == SymbolKind::Size);
    });
    said_.resize(order_.size());
    for (const Formula& f : facts) {
      size_t last = 0;
      for_each_free(f, [&](Var v, bool = false) {
        auto at = std::find(order_.begin(), order_.end(), v) - order_.begin();
        last = std::max(last, static_cast<size_t>(at));
      });
      if (last >= said_.size()) continue;
      const bool literal = f.kind == Formula::NonNegative || f.kind == Formula::Zero;
      const bool linear = literal && is_linear(f.poly, order_[last]);
      (linear ? said_[last].linear : said_[last].other).push_back(&f);
    }
  }
  /// `attempt`: values are tried in another order in each.
  std::optional<Valuation> run(int attempt) {
    attempt_ = attempt;
    tries_ = kTries;
    if (!from(0)) return std::nullopt;
    return std::move(values_);
  }

 private:
  /// Formulas that speak of a symbol last: literals that are linear in it, and others.
  struct Said {
    std::vector<const Formula*> linear, other;
  };
  /// The values with which all linear literals hold; none, whatever it is, where `never`.
  struct Range {
    int64_t low = -kFar, high = kFar;
    bool never = false;
  };
  Range range(size_t k) {
    Range r;
    int64_t& value = values_[order_[k]];
    for (const Formula* f : said_[k].linear) {
      value = 0;
      int64_t b = evaluate(f->poly, values_);
      value = 1;
      int64_t a = evaluate(f->poly, values_) - b;
      if (a == 0) r.never = r.never || (f->kind == Formula::Zero ? b != 0 : b < 0);
      if (a > 0) r.low = std::max(r.low, ceildiv(-b, a));
      if (a < 0) r.high = std::min(r.high, floordiv(b, -a));
      if (f->kind != Formula::Zero) continue;
      if (a > 0) r.high = std::min(r.high, floordiv(-b, a));
      if (a < 0) r.low = std::max(r.low, ceildiv(b, -a));
    }
    return r;
  }
  bool from(size_t k) {
    if (k == order_.size()) return true;
    Range r = range(k);
    int64_t first = r.low > -kFar ? r.low : std::min(r.high, usual_value(order_[k]));
    std::array<int64_t, 6> usual = {first, first + 1, r.high, first + 2, r.high - 1, first + 3};
    if (attempt_ > 0) {
      uint64_t h = combine(static_cast<uint64_t>(attempt_), k);
      if (h % 3 == 0) std::swap(usual[0], usual[(h >> 8) % usual.size()]);
    }
    int64_t& value = values_[order_[k]];
    for (auto at = usual.begin(); at != usual.end(); ++at) {
      if (*at < r.low || *at > r.high || *at >= kFar - 1) continue;
      if (std::find(usual.begin(), at, *at) != at) continue;
      if (--tries_ < 0) return false;
      if (r.never) continue;
      value = *at;
      bool holds = std::ranges::all_of(said_[k].other,
                                       [&](const Formula* f) { return evaluate(*f, values_); });
      if (holds && from(k + 1)) return true;
    }
    return false;
  }

  std::vector<Var> order_;  // sizes first
  std::vector<Said> said_;  // by place in order_
  Valuation values_;
  int attempt_ = 0, tries_ = 0;
};

}  // namespace

bool Models::known(const Conjunction& facts, const Symbols& symbols) {
  for (size_t k = models_.size(); k-- > 0;) {
    for (Var v : symbols)
      if (v->kind != SymbolKind::Quotient) models_[k].emplace(v, usual_value(v));
    try {
      if (!evaluate(facts, models_[k])) continue;
    } catch (const PolyOverflow&) {
      continue;
    }
    std::swap(models_[k], models_.back());
    return true;
  }
  return false;
}

bool Models::satisfied(const Conjunction& facts, const Symbols& symbols, int attempts) {
  if (known(facts, symbols)) return true;
  try {
    Search search(facts, symbols);
    for (int attempt = 0; attempt < attempts; ++attempt) {
      auto found = search.run(attempt);
      if (!found) continue;
      keep(*std::move(found));
      return true;
    }
    return false;
  } catch (const PolyOverflow&) {
    return false;
  }
}

void Models::keep(Valuation values) {
  if (models_.size() < kModels)
    models_.push_back(std::move(values));
  else
    models_[next_++ % kModels] = std::move(values);
}

}  // namespace regraft::verify
