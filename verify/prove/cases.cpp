// The last attempt at an equality: by laws, without denominators, and by cases.
#include "verify/normal/match.h"
#include "verify/normal/ranges.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"
#include "verify/prove/equality.h"

namespace regraft::verify {
namespace {

constexpr int kCases = 24;          // denominators and cases of one attempt
constexpr size_t kLargestSum = 60;  // products of a sum whose denominators are cleared

using Decided = std::function<bool(const Atom&)>;

/// A sum whose sign decides something: `yes` and `no` are the cases.
struct Question {
  Sum value;
  Sign yes = sign::kNotNegative, no = sign::kNotPositive;
};

/// What decides a relu, a step or a factor of a maximum, and depends on no bound variable: the
/// argument or, of a product, a factor. `decided`: the sign is known.
enum class Kinds : uint8_t { Steps, Others };
std::optional<Question> deciding(const std::vector<Product>& products, std::vector<Var> bound,
                                 const Decided& decided, Kinds kinds) {
  for (const auto& p : products) {
    std::vector<Var> inner = bound;
    inner.insert(inner.end(), p.bound.begin(), p.bound.end());
    for (const auto& a : p.atoms) {
      if (!a.argument) continue;
      std::vector<Var> within = inner;
      within.insert(within.end(), a.bound.begin(), a.bound.end());
      if (auto s = deciding(a.argument->products, within, decided, kinds)) return s;
      auto free = [&](const auto& x) { return !mentions_any(x, within); };
      if (a.argument->products.empty()) continue;
      const Product& x = a.argument->products[0];
      bool factors = a.argument->products.size() == 1 && x.atoms.size() > 1;
      if (a.kind == Atom::Max && factors && x.bound.empty() && kinds == Kinds::Others)
        for (const Atom& f : x.atoms)
          if (free(f) && !decided(f)) return Question{sum_of(f)};
      if (!free(*a.argument)) continue;
      if (kinds == Kinds::Steps) {
        if (is_function(a, Fn::Step)) return Question{*a.argument, sign::kPositive};
        continue;
      }
      if (!is_function(a, Fn::Relu)) continue;
      bool plain = factors && x.bound.empty() && x.guard.empty();
      return Question{plain ? sum_of(x.atoms[0]) : *a.argument};
    }
  }
  return std::nullopt;
}

/// One attempt; it counts the cases. What holds in a case is in the Context of its branch.
class Cases {
 public:
  bool zero(const Sum& sum, const Context& context);

 private:
  bool zero_without_denominators(const Sum& rest, const Context& context);
  bool zero_where_or_not(const Sum& rest, const Conjunction& guard, const Context& context);
  bool zero_by_sign(const Sum& rest, const Context& context);

  int cases_ = 0;
};

bool Cases::zero(const Sum& sum, const Context& context) {
  Remainder rest = remainder_of(sum, context);
  if (!rest.open) return true;
  if (cases_ >= kCases) return false;
  const Context inner = context.deeper();
  return zero_without_denominators(rest.sum, inner) || zero_by_sign(rest.sum, inner);
}

/// The sum times a denominator of it, which is not 0: where its product is evaluated, if only for
/// some values of the product's bound variables.
bool Cases::zero_without_denominators(const Sum& rest, const Context& context) {
  if (rest.products.size() > kLargestSum) return false;
  for (const auto& p : rest.products)
    for (const auto& d : p.atoms) {
      bool quotient = d.kind == Atom::Recip || is_function(d, Fn::Recip);
      if (!quotient || mentions_any(d, p.bound)) continue;
      if (d.kind == Atom::Recip && !context.implies(Poly(1) <= d.positions[0])) continue;
      if (d.kind == Atom::Apply && !not_empty(p.bound, p.guard, context)) {
        if (p.bound.empty()) return zero_where_or_not(rest, p.guard, context);
        continue;
      }
      Sum cleared = without_denominator(rest.products, d, [&](const Atom& a, const Product& q) {
        return same_factor(a, d, context.where(q.guard));
      });
      ++cases_;
      return zero(cleared, context);
    }
  return false;
}

/// Once where the guard of a product holds, once where it does not.
bool Cases::zero_where_or_not(const Sum& rest, const Conjunction& guard, const Context& context) {
  Formula g = junction(Formula::And, guard);
  ++cases_;
  return zero(rest, context.where(g)) && zero(rest, context.where(negate(g)));
}

/// Once for each sign of what decides something.
bool Cases::zero_by_sign(const Sum& rest, const Context& context) {
  if (implies(sign_of(rest, context), sign::kZero)) return true;
  auto decided = [&](const Atom& a) { return sign_of(sum_of(a), context).one_sided(); };
  // A step tells 0 from what is positive, which decides a relu of the same argument, not vice
  // versa.
  auto question = deciding(rest.products, {}, decided, Kinds::Steps);
  if (!question) question = deciding(rest.products, {}, decided, Kinds::Others);
  if (!question) return false;
  ++cases_;
  for (Sign x : {question->yes, question->no})
    if (!zero(rest, learn(context, {question->value, {}, {}, x}))) return false;
  return true;
}

}  // namespace

bool zero_by_laws(const Sum& sum, const Context& context) {
  for (Laws laws : {Laws::Plain, Laws::Clips, Laws::All}) {
    Context attempt = context;
    attempt.laws = laws;
    if (Cases().zero(sum, attempt)) return true;
  }
  return false;
}

}  // namespace regraft::verify
