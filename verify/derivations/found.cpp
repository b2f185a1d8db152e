// The factors of a goal, with where they are.
#include "verify/derivations/form.h"
#include "verify/derivations/search.h"

namespace regraft::verify {

using kernel::Goal;

namespace {

class Walk {
 public:
  Walk(const kernel::Symbols& symbols, std::vector<Found>& found)
      : symbols_(symbols), found_(found) {}
  void product(const kernel::Product& p, const std::string& path) {
    size_t outer = bound_.size();
    bound_.insert(bound_.end(), p.bound.begin(), p.bound.end());
    for (size_t k = 0; k < p.atoms.size(); ++k) atom(p.atoms[k], path + "." + std::to_string(k));
    bound_.resize(outer);
  }
  void sum(const kernel::Sum& s, const std::string& path) {
    for (size_t k = 0; k < s.products.size(); ++k)
      product(s.products[k], path + "." + std::to_string(k));
  }

 private:
  void atom(const kernel::Atom& a, const std::string& path) {
    size_t outer = bound_.size();
    bound_.insert(bound_.end(), a.bound.begin(), a.bound.end());
    if (a.argument) sum(*a.argument, path);
    bound_.resize(outer);
    bool closed = std::none_of(bound_.begin(), bound_.end(), [&](kernel::Symbol s) {
      return mentions(symbols_, kernel::sum_of(a), s);
    });
    found_.push_back({path, a, closed});
  }
  const kernel::Symbols& symbols_;
  std::vector<Found>& found_;
  std::vector<kernel::Symbol> bound_;
};

}  // namespace

void for_known_factors(const std::vector<kernel::Known>& known,
                       const std::function<void(const std::string&, const kernel::Atom&)>& visit) {
  for (size_t k = 0; k < known.size(); ++k)
    for (size_t q = 0; q < known[k].sum.products.size(); ++q) {
      const kernel::Product& p = known[k].sum.products[q];
      for (size_t a = 0; p.bound.empty() && a < p.atoms.size(); ++a)
        visit("#" + std::to_string(k) + "." + std::to_string(q) + "." + std::to_string(a),
              p.atoms[a]);
    }
}

/// Inner ones first.
std::vector<Found> factors_within(const kernel::Symbols& symbols, const Goal& goal) {
  std::vector<Found> found;
  Walk walk(symbols, found);
  for (const auto& [n, p] : goal.products()) walk.product(p, std::to_string(n));
  if (goal.target()) walk.sum(goal.target()->sum, "target");
  return found;
}

/// The same of what is known.
std::vector<Found> factors_known(const kernel::Symbols& symbols, const Goal& goal) {
  std::vector<Found> found;
  Walk walk(symbols, found);
  const kernel::List<kernel::Known>& known = goal.context().known;
  for (size_t k = 0; k < known.size(); ++k)
    if (known[k].sum.products.size() > 1) walk.sum(known[k].sum, "#" + std::to_string(k));
  return found;
}

}  // namespace regraft::verify
