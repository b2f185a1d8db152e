// Maxima: why they are of something, where they are attained, and what they are above.
#include <algorithm>

#include "verify/derivations/form.h"
#include "verify/derivations/keys.h"
#include "verify/derivations/pairing.h"
#include "verify/derivations/search.h"

namespace regraft::verify {

using kernel::Goal;
using kernel::Signs;

/// Words and certificates that a maximum is of something.
bool StepSearch::reached(const kernel::Context& context, const kernel::Atom& m, Draft& draft) {
  kernel::Values zero;
  Draft first = draft;
  first.word(std::string("reached"));
  for (kernel::Symbol s : m.bound) {
    zero[s] = kernel::Poly(0);
    first.word(size_t{0});
  }
  if (std::all_of(m.guard.begin(), m.guard.end(), [&](const kernel::Fact& g) {
        return need(context.facts, substitute(symbols_, g, zero), first);
      })) {
    draft = std::move(first);
    return true;
  }
  for (size_t n = 0; context.defined && n < context.defined->size(); ++n) {
    const kernel::Partial& y = (*context.defined)[n];
    if (y.atom.kind != kernel::Atom::Max) continue;
    Draft more = draft;
    more.word(std::string("as"));
    more.word(n);
    kernel::Values to = values({m, {}, {}}, y);
    for (kernel::Symbol s : y.bound) more.word(symbols_.text(to.at(s)));
    bool there = std::all_of(y.guard.begin(), y.guard.end(), [&](const kernel::Fact& g) {
      return need(context.facts, substitute(symbols_, g, to), more);
    });
    if (!there || !reached_as(context.facts, m, substitute(symbols_, y.atom, to), more)) continue;
    draft = std::move(more);
    return true;
  }
  return false;
}

/// Where maximum b is of something, a is: the same element, in order of the indices.
bool StepSearch::reached_as(const Facts& known, const kernel::Atom& a, const kernel::Atom& b,
                            Draft& draft) {
  bool found = false;
  auto accept = [&](const Maps& maps) {
    Draft more = draft;
    for (kernel::Symbol s : a.bound) more.word(symbols_.text(maps.back.at(s)));
    Facts inner = facts_within(symbols_, known, b.bound, b.guard);
    for (const kernel::Fact& g : a.guard)
      if (!need(inner, substitute(symbols_, g, maps.back), more)) return false;
    draft = std::move(more);
    return found = true;
  };
  if (a.bound == b.bound) {  // the same indices
    Maps maps;
    for (kernel::Symbol s : a.bound) maps.back[s] = kernel::Poly::symbol(s);
    if (accept(maps)) return true;
  }
  kernel::Atom one = a, other = b;
  one.bound = {};
  other.bound = {};
  Pairing pairing(*this, {a.bound, a.guard}, {b.bound, b.guard});
  if (!pairing.along({one}, {other}, {0}, accept)) pairing.along({}, {}, {}, accept);
  return found;
}

namespace {

std::vector<kernel::Atom> reads_of(const kernel::Sum& s) {
  std::vector<kernel::Atom> found;
  any_factor(s, [&](const kernel::Atom& a) {
    if (a.kind == kernel::Atom::Read) found.push_back(a);
    return false;
  });
  return found;
}

}  // namespace

/// The maxima around which nothing is bound, in the goal and in what is known, each once.
std::vector<StepSearch::Maximum> StepSearch::maxima_of(const Goal& goal) {
  std::vector<Maximum> all;
  std::set<std::string> seen;
  auto consider = [&](const std::string& path, const kernel::Atom& a) {
    if (a.kind == kernel::Atom::Max && seen.insert(alike_.of(kernel::sum_of(a))).second)
      all.push_back({path, a, {}});
  };
  for (const Found& f : factors_within(symbols_, goal))
    if (f.closed) consider(f.path, f.atom);
  const kernel::List<kernel::Known>& known = goal.context().known;
  for_known_factors(known, consider);
  for (Maximum& m : all)  // where they are attained already
    for (const kernel::Known& k : known) {
      if (k.signs != kernel::kZero || k.sum.products.empty() ||
          k.sum.products[0].atoms.size() != 1 || !same(k.sum.products[0].atoms[0], m.atom))
        continue;
      for (const auto& at : attained_[alike_.of(kernel::sum_of(m.atom))])
        if (!at.empty() && mentions(symbols_, k.sum, at[0])) m.at = at;
    }
  return all;
}

/// New indices at which the maximum is attained.
bool StepSearch::attain(Goal& goal, Maximum& m, std::string& text) {
  Draft draft;
  draft.word(m.path);
  std::vector<std::string> names;
  while (names.size() < m.atom.bound.size()) {
    while (symbols_.find("at" + std::to_string(names_))) ++names_;
    names.push_back("at" + std::to_string(names_++));
    draft.word(names.back());
  }
  if (!reached(goal.context(), m.atom, draft) || !tried(goal, draft.text("attain"), text))
    return false;
  for (const std::string& name : names) m.at.push_back(*symbols_.find(name));
  attained_[alike_.of(kernel::sum_of(m.atom))].push_back(m.at);
  return true;
}

bool StepSearch::learn_above(Goal& goal, const Maximum& m, const kernel::Values& at,
                             std::string& text) {
  const kernel::Sum d =
      kernel::sum_of(m.atom) + kernel::scaled(substitute(symbols_, *m.atom.argument, at), {-1, 1});
  if (std::ranges::any_of(goal.context().known,
                          [&](const kernel::Known& k) { return same(k.sum, d); }))
    return false;
  Draft draft;
  draft.word(m.path);
  for (kernel::Symbol s : m.atom.bound) draft.word(symbols_.text(at.at(s)));
  return std::ranges::all_of(m.atom.guard,
                             [&](const kernel::Fact& g) {
                               return need(goal.facts(), substitute(symbols_, g, at), draft);
                             }) &&
         tried(goal, draft.text("above"), text);
}

/// Places at which the maximum reads what the sum reads.
std::vector<kernel::Values> StepSearch::places_of(const Maximum& m,
                                                  const std::vector<kernel::Atom>& reads) {
  std::vector<kernel::Values> places;
  for (const kernel::Atom& a : reads)
    for (const kernel::Atom& b : reads_of(*m.atom.argument)) {
      if (a.head != b.head || a.positions.size() != b.positions.size()) continue;
      kernel::Values v = values({a, {}, {}}, {b, m.atom.bound, m.atom.guard});
      if (std::find(places.begin(), places.end(), v) == places.end())
        places.push_back(std::move(v));
    }
  return places;
}

/// A maximum is attained somewhere, and above the values where others are attained, and those that
/// the goal reads.
bool StepSearch::learn_maxima(Goal& goal, std::string& text) {
  constexpr size_t kMostMaxima = 8, kMostReads = 6;
  std::vector<Maximum> all = maxima_of(goal);
  if (all.empty() || all.size() > kMostMaxima) return false;
  bool changed = false;
  for (Maximum& m : all)
    if (m.at.empty() && !m.atom.bound.empty()) changed = attain(goal, m, text) || changed;
  std::vector<kernel::Atom> reads;
  for (const Found& f : factors_within(symbols_, goal))
    if (f.closed && f.atom.kind == kernel::Atom::Read) reads.push_back(f.atom);
  for (const Maximum& m : all) {
    for (const Maximum& other : all) {
      if (left_ < 0) return false;
      if (&m == &other || m.at.empty() || other.at.empty()) continue;
      kernel::Values there;
      for (size_t k = 0; k < other.at.size(); ++k)
        there[other.atom.bound[k]] = kernel::Poly::symbol(other.at[k]);
      std::vector<kernel::Values> places =
          places_of(m, reads_of(substitute(symbols_, *other.atom.argument, there)));
      if (m.at.size() == other.at.size()) {  // the same indices, in order
        kernel::Values alike;
        for (size_t k = 0; k < m.at.size(); ++k)
          alike[m.atom.bound[k]] = kernel::Poly::symbol(other.at[k]);
        places.push_back(std::move(alike));
      }
      for (const kernel::Values& v : places) changed = learn_above(goal, m, v, text) || changed;
    }
    if (reads.size() > kMostReads) continue;
    for (const kernel::Values& v : places_of(m, reads))
      changed = learn_above(goal, m, v, text) || changed;
  }
  return changed;
}

}  // namespace regraft::verify
