// The families of substitutions that pay: each step of theirs must be within reach of some grammar,
// that is, both sides must be calls of its instances on its leaves. What is composed of steps has a
// name that ends in -whole and need not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "gen/grammar/op_sets.h"
#include "ir/graph/eval.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kMaxElements = 256;  // of a tensor in enumeration

/// Numbers chosen for a rule's symbols and list variables.
struct Binding {
  Valuation numbers;
  std::map<std::string, Dims> lists;
  std::map<std::string, double> reals;
};

/// Looks for a rule's two sides among the terms of one grammar.
class Witness {
 public:
  Witness(const Grammar& grammar, const Rule& rule, const Signature& signature)
      : grammar_(grammar), rule_(rule), signature_(signature) {
    for (const Instance& in : grammar.instances) labels_.push_back(*label_of(in));
    for (const auto* side : {&rule.lhs, &rule.rhs})
      for (const PatternNode& n : side->nodes) nodes_.push_back({side, &n});
    used_.resize(grammar.leaves.size());
  }
  bool exists(int max_calls) {
    max_calls_ = max_calls + grammar_.more;
    return choose_leaf(0);
  }

 private:
  bool choose_leaf(size_t v) {
    if (v == rule_.variables.size()) return choose_call(0, bind_sizes());
    const std::string word = signature_[v] == "-" ? "" : signature_[v];
    for (size_t k = 0; k < grammar_.leaves.size(); ++k) {
      const LeafKind& kind = grammar_.leaves[k];
      if (used_[k] == kind.count || kind.shape.size() != word.size()) continue;
      bool fits = true;
      for (size_t d = 0; d < word.size(); ++d)
        fits = fits && (word[d] == 'n' || kind.shape[d] == 1);
      if (!fits) continue;
      ++used_[k];
      leaves_.push_back(kind.shape);
      bool found = choose_leaf(v + 1);
      leaves_.pop_back();
      --used_[k];
      if (found) return true;
    }
    return false;
  }
  Binding bind_sizes() const {
    Binding b;
    for (size_t v = 0; v < leaves_.size(); ++v) {
      auto rank = static_cast<int>(leaves_[v].size());
      for (int axis = -rank; axis < rank; ++axis) {
        Var symbol = rule_.pool->named(rule_.variables[v] + "." + std::to_string(axis));
        b.numbers[symbol] = leaves_[v][static_cast<size_t>(axis < 0 ? axis + rank : axis)];
      }
    }
    return b;
  }
  bool choose_call(size_t n, Binding b) {
    if (n == nodes_.size()) return conditions_hold(b) && within_size();
    for (size_t k = 0; k < labels_.size(); ++k) {
      const Instance& in = grammar_.instances[k];
      if (labels_[k].op != nodes_[n].second->op || !in.then.empty()) continue;
      Binding next = b;
      if (!bind_attrs(*nodes_[n].second, labels_[k], next)) continue;
      auto outputs = apply(n, k);
      if (!outputs) continue;
      calls_.push_back({in.scope, *outputs});
      bool found = choose_call(n + 1, next);
      calls_.pop_back();
      if (found) return true;
    }
    return false;
  }
  static bool bind_attrs(const PatternNode& node, const Label& label, Binding& b) {
    for (size_t k = 0; k < label.attrs.ints.size(); ++k) {
      const Dims& given = label.attrs.ints[k];
      if (!node.list_vars[k].empty()) {
        if (b.lists.try_emplace(node.list_vars[k], given).first->second != given) return false;
        continue;
      }
      const auto& fallback = label.op->ints[k].fallback;
      if (node.attrs.ints[k].empty() && fallback) {
        if (given != Dims(given.size(), *fallback)) return false;
        continue;
      }
      if (node.attrs.ints[k].size() != given.size()) return false;
      for (size_t j = 0; j < given.size(); ++j)
        if (!bind_number(node.attrs.ints[k][j], given[j], b)) return false;
    }
    for (size_t k = 0; k < label.attrs.reals.size(); ++k) {
      double given = label.attrs.reals[k].value, wanted = node.attrs.reals[k].value;
      if (!node.real_vars[k].empty())
        wanted = b.reals.try_emplace(node.real_vars[k], given).first->second;
      if (wanted != given) return false;
    }
    return true;
  }
  static bool bind_number(const Poly& p, int64_t given, Binding& b) {
    Var unknown = nullptr;
    for (const auto& term : p.terms())
      for (Var v : term.monomial)
        if (b.numbers.count(v) == 0) unknown = v;
    if (unknown) b.numbers[unknown] = p.is_constant() ? 0 : given - p.constant();
    return evaluate(p, b.numbers) == given;
  }
  std::optional<std::vector<Dims>> apply(size_t n, size_t instance) const {
    const auto& [side, node] = nodes_[n];
    size_t first = side == &rule_.lhs ? 0 : rule_.lhs.nodes.size();
    std::vector<const Dims*> shapes;
    for (PatternRef r : node->inputs) {
      if (is_variable(r))
        shapes.push_back(&leaves_[static_cast<size_t>(variable_of(r))]);
      else
        shapes.push_back(
            &calls_[first + static_cast<size_t>(r.node)].outputs[static_cast<size_t>(r.output)]);
    }
    const Instance& in = grammar_.instances[instance];
    if (in.operands.size() != shapes.size() || !fits_either_way(in, labels_[instance], shapes))
      return std::nullopt;
    Shapes<Field> operands;
    for (const Dims* d : shapes) operands.push_back(*d);
    Field field(1);
    const Label& l = labels_[instance];
    auto outputs = l.op->field_semantics.infer(field, operands, l.attrs);
    if (!outputs || !field.ok) return std::nullopt;
    std::vector<Dims> r;
    for (const auto& shape : *outputs) {
      r.emplace_back(shape.begin(), shape.end());
      int64_t count = 1;
      for (int64_t d : shape) count *= d;
      if (count > kMaxElements) return std::nullopt;
    }
    return r;
  }
  static bool fits_either_way(const Instance& in, const Label& label,
                              std::vector<const Dims*> shapes) {
    if (fits(in, shapes)) return true;
    if (!label.op->commutative) return false;
    std::swap(shapes[0], shapes[1]);
    return fits(in, shapes);
  }
  bool conditions_hold(const Binding& b) const {
    for (const auto& [x, y, relation] : rule_.where) {
      auto left = evaluate(x, b.numbers), right = evaluate(y, b.numbers);
      if (relation == Relation::Equal
              ? left != right
              : left > right || (relation == Relation::Below && left == right))
        return false;
    }
    return true;
  }
  bool within_size() const {
    int sizes[2] = {0, 0};
    for (size_t n = 0; n < calls_.size(); ++n)
      sizes[n < rule_.lhs.nodes.size() ? 0 : 1] += calls_[n].scope == Scope::Free ? 0 : 1;
    return std::max(sizes[0], sizes[1]) <= max_calls_;
  }

  struct Call {
    Scope scope;
    std::vector<Dims> outputs;
  };
  const Grammar& grammar_;
  const Rule& rule_;
  const Signature& signature_;
  std::vector<Label> labels_;
  std::vector<std::pair<const Pattern*, const PatternNode*>> nodes_;
  std::vector<int> used_;
  std::vector<Dims> leaves_;
  std::vector<Call> calls_;
  int max_calls_ = 0;
};

std::vector<Rule> steps_of(const std::filesystem::path& file) {
  std::vector<Rule> r;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    auto rule = parse_rule(line);
    EXPECT_TRUE(rule) << file << ": " << (rule ? "" : rule.error().message);
    if (rule) r.push_back(*std::move(rule));
  }
  return r;
}

std::string grammar_of(const Rule& rule) {
  for (const OpSet& set : op_sets())
    for (const Grammar& grammar : set.grammars)
      for (const Signature& signature : rule.domain)
        if (Witness(grammar, rule, signature).exists(3)) return std::string(grammar.name);
  return "";
}

TEST(Families, EveryStepIsWithinReachOfAGrammar) {
  const char* root = std::getenv("REGRAFT_SOURCE_DIR");
  std::filesystem::path folder = std::string(root ? root : ".") + "/tests/data/families";
  size_t steps = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    for (const Rule& rule : steps_of(entry.path())) {
      ++steps;
      EXPECT_FALSE(rule.domain.empty()) << rule.name;
      if (rule.name.ends_with("-whole")) continue;
      EXPECT_NE(grammar_of(rule), "") << entry.path().filename() << ": " << to_string(rule);
    }
  EXPECT_GE(steps, 100u);
}

}  // namespace
}  // namespace regraft::gen
