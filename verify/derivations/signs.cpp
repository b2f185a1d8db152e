// Distinctions by signs and guards, and what they end with.
#include <algorithm>

#include "verify/derivations/form.h"
#include "verify/derivations/keys.h"
#include "verify/derivations/pairing.h"
#include "verify/derivations/search.h"

namespace regraft::verify {

using kernel::Goal;
using kernel::Signs;

std::optional<std::string> StepSearch::shown_with(const Goal& goal, const kernel::Sum& s,
                                                  Signs signs) {
  Goal part(symbols_, goal.context(), {});
  part.learn(s, signs);
  kernel::Context context = part.context();
  --context.depth;
  return goal.target() ? has_sign(context, *goal.target()) : zero(context, goal.left());
}

bool StepSearch::sharpen(Goal& goal, std::string& text) {
  const std::vector<kernel::Known> known = goal.context().known;
  for (size_t k = 0; k < known.size(); ++k) {
    const kernel::Product* p = single(known[k].sum);
    if (!p || p->atoms.size() != 1 || p->atoms[0].kind != kernel::Atom::Apply) continue;
    const kernel::Sum& x = *p->atoms[0].argument;
    const Signs now = sign_of(symbols_, known, x);
    for (const char* word : {">=", "<>", "<="}) {
      const Signs other = kernel::kAnySign & ~kernel::read_signs(word);
      if (!(now & other)) continue;
      Goal part = goal;
      part.learn(x, other);
      if (sign_of(symbols_, part.context().known, known[k].sum) != 0) continue;
      auto lines = shown_with(goal, x, kernel::read_signs(word));
      const std::string at = std::to_string(k);
      return lines && tried(goal,
                            "by-sign #" + at + ".0.0* " + word + "\n" + *lines + "absurd 1:" + at +
                                "\nend\nend\n",
                            text);
    }
  }
  return false;
}

/// Both cases, each by itself.
bool StepSearch::split(Goal& goal, const std::string& path, std::string& text) {
  constexpr int kMostSplits = 7;
  if (splits_ >= kMostSplits) return false;
  kernel::Sum s;
  try {
    s = goal.at_path(path);
  } catch (const kernel::Refused&) {
    return false;
  }
  std::string lines = "by-sign " + path + " >\n";
  ++splits_;
  for (Signs signs : {kernel::kPositive, kNotPositive}) {
    auto one = shown_with(goal, s, signs);
    if (!one) {
      --splits_;
      return false;
    }
    lines += *one;
  }
  --splits_;
  return tried(goal, lines, text);
}

/// The sign of what a function with two branches is of.
bool StepSearch::decide(Goal& goal, std::string& text) {
  std::vector<std::string> open;
  std::vector<Found> all = factors_within(symbols_, goal);
  bool attained =
      std::any_of(goal.context().known.begin(), goal.context().known.end(), [](auto& k) {
        return any_factor(k.sum, [](const kernel::Atom& a) { return a.kind == kernel::Atom::Max; });
      });
  if (attained)
    for (Found& f : factors_known(symbols_, goal)) all.push_back(std::move(f));
  for (const Found& f : all) {
    if (!f.closed) continue;
    bool square =
        is(f.atom, Fn::Sqrt) && f.atom.argument->products.size() == 1 &&
        f.atom.argument->products[0].bound.empty() &&
        f.atom.argument->products[0].atoms.size() == 2 &&
        same(f.atom.argument->products[0].atoms[0], f.atom.argument->products[0].atoms[1]);
    if (square) open.push_back(f.path + ".0.0");
    if (!jumps(f.atom) || any_factor(*f.atom.argument, jumps)) continue;
    const std::string path = f.path + "*";
    const bool relu = is(f.atom, Fn::Relu);
    Signs now = sign_of(symbols_, goal.context().known, *f.atom.argument);
    if (kernel::within(now, kNotPositive) ||
        kernel::within(now, relu ? kernel::kNotNegative : kernel::kPositive))
      continue;
    for (Signs wanted : {relu ? kernel::kNotNegative : kernel::kPositive, kNotPositive})
      if (auto line = inferred(goal, path, wanted))
        if (tried(goal, *line, text)) return true;
    open.push_back(path);
  }
  return !open.empty() && split(goal, open[0], text);
}

/// Products along one range, together.
bool StepSearch::along_ranges(Goal& goal, std::string& text) {
  std::set<size_t> hopeless;
  for (;;) {
    const kernel::Product* p = nullptr;
    size_t n = 0;
    for (const auto& [k, q] : goal.products())
      if (!p && !hopeless.count(k) && !(q.bound.empty() && q.guard.empty())) {
        p = &q;
        n = k;
      }
    if (!p) return false;
    std::string words = " " + std::to_string(n), certificates;
    kernel::Sum body{{{p->coefficient, {}, {}, p->atoms}}};
    for (const auto& other : goal.products()) {
      const size_t m = other.first;
      const kernel::Product& q = other.second;
      if (m == n || q.bound.size() != p->bound.size() || (q.bound.empty() && q.guard.empty()))
        continue;
      Pairing pairing(*this, {p->bound, p->guard}, {q.bound, q.guard});
      bool found = false;
      auto accept = [&](const Maps& maps) {
        Draft draft;
        draft.word(m);
        if (!pairing.bijection(goal.facts(), maps, draft)) return false;
        words += draft.words;
        certificates += draft.certificates;
        body =
            body + substitute(symbols_, kernel::Sum{{{q.coefficient, {}, {}, q.atoms}}}, maps.to);
        return found = true;
      };
      auto reads = [](const kernel::Product& x) {
        std::vector<kernel::Atom> all;
        any_factor({{x}}, [&](const kernel::Atom& a) {
          if (a.kind == kernel::Atom::Read) all.push_back(a);
          return false;
        });
        return all;
      };
      for (const kernel::Atom& a : reads(*p))
        for (const kernel::Atom& b : reads(q))
          if (!found && a.head == b.head && a.positions.size() == b.positions.size())
            pairing.along({a}, {b}, {0}, accept);
      if (!found) pairing.along({}, {}, {}, accept);
    }
    try {
      if (auto lines = zero(within(symbols_, goal.context(), p->bound, p->guard), body))
        if (tried(goal, "under" + words + certificates + "\n" + *lines, text)) return true;
    } catch (const kernel::Refused&) {
    }
    hopeless.insert(n);
  }
}

/// Sigmoid and tanh by exp.
bool StepSearch::by_exp(Goal& goal, std::string& text) {
  for (const Found& f : factors_within(symbols_, goal)) {
    if (!is(f.atom, Fn::Sigmoid) && !is(f.atom, Fn::Tanh)) continue;
    std::vector<std::string> numbers;
    std::string number;
    for (char c : f.path + ".")
      if (c == '.') {
        numbers.push_back(std::exchange(number, ""));
      } else {
        number += c;
      }
    std::string line, ends;
    for (size_t k = 0; k + 2 < numbers.size(); k += 2) {
      line += "inside " + numbers[k] + " " + numbers[k + 1] + "\n";
      ends += "end\n";
    }
    line += "law by-exp " + numbers[numbers.size() - 2] + " " + numbers.back() + "\n";
    if (f.path.starts_with("target")) continue;
    if (tried(goal, line + ends, text)) return true;
  }
  return false;
}

/// A sum with a denominator is 0 when its product with that is.
bool StepSearch::multiplied(Goal& goal, std::string& text) {
  auto quotients = [&](const Goal& g) {  // the largest power of each, together
    std::map<std::string, size_t> powers;
    for (const auto& [k, p] : g.products()) {
      std::map<std::string, size_t> here;
      for (const kernel::Atom& a : p.atoms)
        if (is(a, Fn::Recip)) ++here[alike_.of(kernel::sum_of(a))];
      for (const auto& [key, n] : here) powers[key] = std::max(powers[key], n);
    }
    size_t all = 0;
    for (const auto& [key, n] : powers) all += n;
    return all;
  };
  constexpr size_t kMost = 16;
  if (goal.products().size() > kMost || quotients(goal) > kMost) return false;
  for (const auto& [n, p] : goal.products())
    for (size_t k = 0; k < p.atoms.size(); ++k) {
      if (!is(p.atoms[k], Fn::Recip)) continue;
      const std::string path = std::to_string(n) + "." + std::to_string(k) + "*";
      Goal copy = goal;
      std::string lines;
      if (!tried(copy, "multiply " + path + "\n", lines)) continue;
      reduce(copy, lines);
      if (quotients(copy) >= quotients(goal)) continue;
      goal.become(std::move(copy));
      text += lines;
      return true;
    }
  for (const Found& f : factors_within(symbols_, goal)) {
    if (!f.closed || !is(f.atom, Fn::Exp)) continue;
    Goal copy = goal;
    std::string lines;
    if (!tried(copy, "multiply " + f.path + "\n", lines)) continue;
    reduce(copy, lines);
    if (!copy.products().empty()) continue;
    goal.become(std::move(copy));
    text += lines;
    return true;
  }
  return false;
}

/// Both cases of a guard that is open, around which nothing is bound.
bool StepSearch::by_guards(Goal& goal, std::string& text) {
  constexpr int kMostSplits = 6;
  if (splits_ >= kMostSplits) return false;
  std::vector<kernel::Fact> asked;
  auto consider = [&](const kernel::Sum& s) {
    for (const kernel::Product& p : s.products)
      if (p.bound.empty()) asked.insert(asked.end(), p.guard.begin(), p.guard.end());
  };
  consider(goal.left());
  for (const kernel::Known& k : goal.context().known) consider(k.sum);
  for (const kernel::Fact& f : asked) {
    if (questions_.says_implied(goal.facts(), f) ||
        questions_.says_implied(goal.facts(), negated(f)))
      continue;
    std::string lines = "cases " + kernel::text(symbols_, f) + "\n";
    ++splits_;
    bool found = true;
    for (const kernel::Fact& one : {f, negated(f)}) {
      kernel::Context context = goal.context();
      append(context.facts, one);
      auto part =
          found ? (goal.target() ? has_sign(context, *goal.target()) : zero(context, goal.left()))
                : std::nullopt;
      found = part.has_value();
      if (part) lines += *part;
    }
    --splits_;
    return found && tried(goal, lines, text);
  }
  return false;
}

/// Products that become simpler where their indices are free, and more is known.
bool StepSearch::bodies(Goal& goal, std::string& text) {
  for (const auto& [n, p] : goal.products()) {
    if (p.bound.empty() || p.bound.size() > 4) continue;
    for (size_t set = 1; set < size_t{1} << p.bound.size(); ++set) {
      kernel::Product outer, body = p;
      std::string list;
      body.bound = {};
      body.guard = {};
      for (size_t k = 0; k < p.bound.size(); ++k) {
        (set >> k & 1 ? outer : body).bound.push_back(p.bound[k]);
        if (set >> k & 1) list += (list.empty() ? "" : ",") + std::to_string(k);
      }
      for (const kernel::Fact& g : p.guard) {
        bool inner = std::any_of(body.bound.begin(), body.bound.end(),
                                 [&](kernel::Symbol s) { return mentions(symbols_, g, s); });
        (inner ? body : outer).guard.push_back(g);
      }
      try {
        Goal open(symbols_, within(symbols_, goal.context(), outer.bound, outer.guard), {{body}});
        std::string learnt, done;
        bool more = learn_defined(open, learnt);
        if (!learn_totals(open, learnt) && !more) continue;
        reduce(open, done);
        if (done.empty()) continue;
        const std::string line = "body " + std::to_string(n) + " " + list + "\n" + learnt + done;
        if (tried(goal, line + "end\n", text)) return true;
      } catch (const kernel::Refused&) {
      }
    }
  }
  return false;
}

/// Were the target 0, something else would be that is not.
bool StepSearch::by_contradiction(Goal& goal, std::string& text) {
  if (!goal.target() || (goal.target()->signs & kernel::kZero)) return false;
  const kernel::Known target = *goal.target();
  if (target.signs != kernel::kNotZero) return false;
  Goal part = goal;
  part.learn(target.sum, kernel::kZero);
  for (size_t k = 0; k < goal.context().known.size(); ++k) {
    const kernel::Known& known = goal.context().known[k];
    if (known.signs & kernel::kZero) continue;
    std::string lines;
    Goal open(symbols_, part.context(), kernel::scaled(known.sum, {-1, 1}));
    reduce(open, lines);
    if (!open.products().empty()) continue;
    const std::string line =
        "by-sign target <>\nend\nabsurd 1:" + std::to_string(k) + "\n" + lines + "end\nend\n";
    if (tried(goal, line, text)) return true;
  }
  return false;
}

bool StepSearch::advance(Goal& goal, std::string& text) {
  return learn_defined(goal, text) || learn_quotients(goal, text) || sharpen(goal, text) ||
         conclude(goal, text) || by_guards(goal, text) || decide(goal, text) ||
         learn_squares(goal, text) || learn_maxima(goal, text) || learn_totals(goal, text) ||
         bodies(goal, text) || learn_orders(goal, text) || learn_bounds(goal, text) ||
         along_ranges(goal, text) || by_exp(goal, text) || multiplied(goal, text);
}

std::optional<std::string> StepSearch::find_sign(const kernel::Context& context,
                                                 const kernel::Known& target) {
  if (--left_ < 0) return std::nullopt;
  Goal goal(symbols_, context, {}, target);
  std::string text;
  if (goal.shown()) return text + "end\n";
  if (target.sum.products.size() == 1 && target.sum.products[0].atoms.size() == 1 &&
      target.sum.products[0].atoms[0].kind == kernel::Atom::Number) {
    const kernel::Poly& p = target.sum.products[0].atoms[0].positions[0];
    Draft draft;
    draft.word(symbols_.text(p));
    draft.word(std::string(">"));
    if (need(context.facts, kernel::non_negative(p - kernel::Poly(1)), draft) &&
        tried(goal, draft.text("whole"), text) && goal.shown())
      return text + "end\n";
  }
  for (;;) {
    if (goal.shown()) return text + "end\n";
    if (left_ < 0) return std::nullopt;
    if (learn_defined(goal, text) || as_known(goal, text) || sharpen(goal, text) ||
        learn_totals(goal, text) || conclude(goal, text) || by_contradiction(goal, text))
      continue;
    if (quiet_ == 0 && (by_guards(goal, text) || learn_bounds(goal, text) ||
                        learn_maxima(goal, text) || decide(goal, text)))
      continue;
    break;
  }
  if (auto certificate = questions_.refuted(context.facts)) {
    return "refuted|" + *certificate + "\nend\n";
  }
  return std::nullopt;
}

}  // namespace regraft::verify
