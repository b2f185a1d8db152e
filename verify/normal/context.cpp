#include "verify/normal/context.h"

#include "verify/normal/sums.h"

namespace regraft::verify {

Facts Facts::with(Known fact) const {
  auto more = std::make_shared<std::vector<Known>>(all());
  more->push_back(std::move(fact));
  Facts r;
  r.all_ = std::move(more);
  return r;
}

const std::vector<Known>& Facts::all() const {
  static const std::vector<Known> kNone;
  return all_ ? *all_ : kNone;
}

Context Context::where(const Conjunction& guard) const {
  return guard.empty() ? *this : only(both(*domain_, guard));
}

Context Context::where(const Formula& f) const { return where(Conjunction{f}); }

Context Context::only(Conjunction domain) const {
  Context c = *this;
  c.domain_ = std::make_shared<const Conjunction>(std::move(domain));
  return c;
}

Context Context::deeper() const {
  Context c = *this;
  if (++c.depth.sums > 40) throw OutOfBudget{"functions nested too deep"};
  return c;
}

}  // namespace regraft::verify
