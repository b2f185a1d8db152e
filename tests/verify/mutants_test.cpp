// The prover is tested: no rule that numbers refute may be proved. True rules are changed in one
// place; numbers say which of the results are false.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/parallel.h"
#include "base/rng.h"
#include "ir/text.h"
#include "substitutions/rule_db.h"
#include "verify/conditions.h"
#include "verify/counterexample.h"
#include "verify/prover.h"
#include "verify/sampling.h"

namespace regraft::verify {
namespace {

constexpr size_t kMutants = 2600;  // made
constexpr size_t kFalse = 2000;    // of these at least so many are false
constexpr int64_t kMaxElements = 4000;

std::vector<Rule> true_rules() {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  std::filesystem::path base = root ? root : ".";
  std::vector<Rule> rules;
  for (const char* folder : {"substitutions", "tests/data/rules/valid", "tests/data/families"})
    for (const auto& entry : std::filesystem::directory_iterator(base / folder)) {
      if (entry.path().extension() != ".rules") continue;
      auto file = substitutions::read_candidates(entry.path().string());
      EXPECT_TRUE(file) << (file ? "" : file.error().message);
      for (const Rule& r : file ? file->rules : std::vector<Rule>{})
        if (r.verdict.kind != VerdictKind::ProvedBounded && r.lhs.nodes.size() <= 6)
          for (Rule& d : directions(r)) rules.push_back(std::move(d));
    }
  std::sort(rules.begin(), rules.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return rules;
}

/// What is changed.
enum Change { Operator, Operand, Attribute, Outputs, Condition, kChanges };
constexpr const char* kNames[] = {"operator", "operand", "attribute", "output", "condition"};

class Mutation {
 public:
  Mutation(Rule& rule, Rng& rng)
      : rule_(rule), rng_(rng), side_(rng.below(3) ? rule.rhs : rule.lhs) {}

  /// False when there is nothing of the kind to change.
  bool make(Change change) {
    if (change == Condition) return condition();
    if (change == Outputs) return outputs();
    if (side_.nodes.empty()) return false;
    PatternNode& n = side_.nodes[rng_.below(side_.nodes.size())];
    if (change == Operator) return another_operator(n);
    return change == Operand ? operand(n) : attribute(n);
  }

 private:
  bool another_operator(PatternNode& n) {
    auto ops = all_ops();
    for (int tries = 0; tries < 40; ++tries) {
      const OpDef* other = ops[rng_.below(ops.size())];
      bool alike = other != n.op && other->ints.size() == n.op->ints.size() &&
                   other->reals.size() == n.op->reals.size() && other->outputs == n.op->outputs &&
                   static_cast<int>(n.inputs.size()) >= other->min_arity &&
                   static_cast<int>(n.inputs.size()) <= other->max_arity;
      if (!alike) continue;
      n.op = other;
      return true;
    }
    return false;
  }
  bool operand(PatternNode& n) {
    if (n.inputs.empty()) return false;
    if (n.inputs.size() > 1 && rng_.below(2)) {
      std::swap(n.inputs[0], n.inputs[1]);
      return true;
    }
    PatternRef& r = n.inputs[rng_.below(n.inputs.size())];
    PatternRef other = variable_ref(static_cast<int>(rng_.below(rule_.variables.size())));
    if (other == r) return false;
    r = other;
    return true;
  }
  bool attribute(PatternNode& n) {
    if (!n.attrs.reals.empty() && (n.attrs.ints.empty() || rng_.below(2))) {
      size_t k = rng_.below(n.attrs.reals.size());
      if (k < n.real_vars.size() && !n.real_vars[k].empty()) return false;
      n.attrs.reals[k].value += 0.5;
      return true;
    }
    if (n.attrs.ints.empty()) return false;
    size_t k = rng_.below(n.attrs.ints.size());
    auto& list = n.attrs.ints[k];
    if (list.empty() || (k < n.list_vars.size() && !n.list_vars[k].empty())) return false;
    Poly& p = list[rng_.below(list.size())];
    p = p + Poly(rng_.below(2) ? 1 : -1);
    return true;
  }
  bool outputs() {
    if (side_.outputs.size() > 1 && rng_.below(2)) {
      std::swap(side_.outputs[0], side_.outputs[1]);
      return true;
    }
    PatternRef& out = side_.outputs[rng_.below(side_.outputs.size())];
    if (is_variable(out)) return false;
    const PatternNode& n = side_.nodes[static_cast<size_t>(out.node)];
    if (n.op->outputs_attr < 0 && !n.inputs.empty() && &side_ == &rule_.rhs) {
      out = n.inputs[rng_.below(n.inputs.size())];  // the last call is left out
      return true;
    }
    out.output = out.output == 0 ? 1 : 0;
    return true;
  }
  bool condition() {
    if (rule_.where.empty()) return false;
    size_t k = rng_.below(rule_.where.size());
    if (rng_.below(2))
      rule_.where.erase(rule_.where.begin() + static_cast<std::ptrdiff_t>(k));
    else
      rule_.where[k].second = rule_.where[k].second + Poly(1);
    return true;
  }

  Rule& rule_;
  Rng& rng_;
  Pattern& side_;
};

/// The rule as its text reads it, without calls that nothing needs; nullopt when it is no rule.
std::optional<Rule> tidied(const Rule& r) {
  try {
    if (!validate(r)) return std::nullopt;
    auto again = parse_rule(to_string(r));
    if (!again) return std::nullopt;
    return *std::move(again);
  } catch (const PolyOverflow&) {
    return std::nullopt;
  }
}

struct Mutant {
  Rule rule;
  Signature signature;
  Change change = Operator;
};

/// Mutants that have a form at a signature of the rule they are made of. Each once.
std::vector<Mutant> mutants(const std::vector<Rule>& rules) {
  Rng rng(2026);
  std::vector<Mutant> made;
  std::set<std::string> seen;
  for (int tries = 0; tries < 200'000 && made.size() < kMutants; ++tries) {
    Mutant m{rules[rng.below(rules.size())], {}, static_cast<Change>(rng.below(kChanges))};
    if (m.rule.domain.empty())
      m.signature.assign(m.rule.variables.size(), rng.below(2) ? "nn" : "nnnn");
    else
      m.signature = m.rule.domain[rng.below(m.rule.domain.size())];
    m.rule.verdict = {};
    std::vector<std::string> variables = m.rule.variables;
    if (!Mutation(m.rule, rng).make(m.change)) continue;
    auto rule = tidied(m.rule);
    if (!rule || rule->variables != variables || is_trivial(*rule)) continue;
    if (!instantiate(*rule, m.signature)) continue;
    rule->domain = {m.signature};
    if (!seen.insert(to_string(*rule)).second) continue;
    m.rule = *std::move(rule);
    made.push_back(std::move(m));
  }
  return made;
}

/// Where the two sides differ at random shapes and inputs.
bool is_false(const RuleInstance& instance, uint64_t seed) {
  Rng rng(seed);
  for (const Valuation& v : sample_sizes(instance, rng.next(), 12)) {
    if (int64_t n = total_elements(instance, v); n < 0 || n > kMaxElements) continue;
    Inputs inputs = random_inputs(instance, v, [&](int, int64_t) { return 4 * rng.unit() - 2; });
    if (compare_sides(instance, v, inputs).difference) return true;
    inputs = random_inputs(instance, v, [&](int, int64_t) { return 0.1 + 2 * rng.unit(); });
    if (compare_sides(instance, v, inputs).difference) return true;
  }
  return false;
}

Limits quick() {
  Limits l;
  l.solver_work = 400'000;
  l.steps = 6'000;
  l.splits = 60;
  return l;
}

TEST(Mutants, NoneThatIsFalseIsProved) {
  std::vector<Mutant> all = mutants(true_rules());
  ASSERT_EQ(all.size(), kMutants);
  std::vector<char> wrong(all.size()), claimed(all.size());
  parallel_for(all.size(), default_threads(), [&](size_t k) {
    auto instance = instantiate(all[k].rule, all[k].signature);
    wrong[k] = is_false(*instance, k);
    claimed[k] = SymbolicProver(quick()).prove(*instance).kind == VerdictKind::ProvedAllSizes;
  });
  std::map<std::string, std::array<size_t, 3>> counts;  // made, false, true and proved
  size_t false_ones = 0, proved = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    EXPECT_FALSE(wrong[k] && claimed[k]) << to_string(all[k].rule);
    auto& c = counts[kNames[all[k].change]];
    ++c[0], c[1] += wrong[k] != 0, c[2] += !wrong[k] && claimed[k];
    false_ones += wrong[k] != 0;
    proved += !wrong[k] && claimed[k];
  }
  for (const auto& [name, c] : counts)
    std::printf("%s changed: %zu mutants, %zu false, %zu true and proved\n", name.c_str(), c[0],
                c[1], c[2]);
  std::printf("%zu mutants, %zu false, none of them proved; %zu true and proved\n", all.size(),
              false_ones, proved);
  EXPECT_GE(false_ones, kFalse);
  EXPECT_GE(proved, 50u);
  for (const auto& [name, c] : counts) EXPECT_GT(c[1], 10u) << name;
}

/// The same of conditions: what is proved under one is not refuted under it.
TEST(Mutants, NoneIsFalseUnderTheConditionFoundForIt) {
  std::vector<Mutant> all = mutants(true_rules());
  all.resize(std::min<size_t>(all.size(), 160));
  std::atomic<size_t> found{0};
  std::mutex mutex;
  parallel_for(all.size(), default_threads(), [&](size_t k) {
    VerifyOptions options;
    auto narrowed = with_condition(all[k].rule, all[k].signature, options, nullptr);
    if (!narrowed) return;
    ++found;
    auto instance = instantiate(*narrowed, all[k].signature);
    std::lock_guard lock(mutex);
    ASSERT_TRUE(instance) << to_string(*narrowed);
    EXPECT_FALSE(is_false(*instance, k + 77)) << to_string(*narrowed);
  });
  std::printf("%zu mutants, a condition found for %zu\n", all.size(), found.load());
  EXPECT_GT(found.load(), 3u);
}

}  // namespace
}  // namespace regraft::verify
