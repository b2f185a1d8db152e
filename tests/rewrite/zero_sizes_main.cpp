// rewrite_zero_sizes FOLDER SIGNATURES RULES..: applies each rule where one size of a model is
// symbolic and may be 0. For each directed rule, each of its first SIGNATURES signatures and each
// size that can be drawn, the left side becomes a model in which that size is the symbol N. Prints,
// separated by tabs, "applied RULE SIZE BEFORE AFTER" with the files of the model and of what the
// rule makes of it, or "left RULE SIZE" when the rule is not applied, though it is where the size
// is a number.
#include <cstdio>
#include <fstream>

#include "cost/model/roofline.h"
#include "io/model.h"
#include "ir/graph/eval.h"
#include "ir/graph/fold.h"
#include "rewrite/engine/engine.h"
#include "substitutions/rule_db.h"
#include "verify/refute/sampling.h"

namespace {

using namespace regraft;
constexpr int kOpset = 21;

/// Sizes that the instance says are equal to v, and v.
std::vector<Var> equal_to(const RuleInstance& instance, Var v) {
  std::vector<Var> all{v};
  for (size_t k = 0; k < all.size(); ++k)
    for (const Formula& f : instance.requires_lhs) {
      auto terms = f.poly.terms();
      if (f.kind != Formula::Zero || terms.size() != 2 || f.poly.constant() != 0) continue;
      if (terms[0].monomial.size() != 1 || terms[1].monomial.size() != 1) continue;
      if (terms[0].coefficient + terms[1].coefficient != 0) continue;
      Var a = terms[0].monomial[0], b = terms[1].monomial[0];
      Var other = a == all[k] ? b : b == all[k] ? a : nullptr;
      if (other && std::find(all.begin(), all.end(), other) == all.end()) all.push_back(other);
    }
  return all;
}

/// The left side with these sizes. Real attributes are numbers that float32 has.
Result<Graph> with_sizes(const RuleInstance& instance, const Substitution& sizes,
                         const std::shared_ptr<SymbolPool>& pool) {
  const Graph& lhs = instance.lhs;
  Graph g(pool);
  std::map<Value, Value> now;
  rewrite::Binding binding{sizes, {}};
  for (const auto& [name, symbol] : instance.real_symbols)
    binding.reals[symbol] = name.size() > 1 ? 1 : 0.5;
  for (Value v : lhs.inputs()) {
    Shape shape;
    for (const Poly& d : lhs.shape(v)) {
      auto size = rewrite::translate(d, sizes, *pool);
      if (!size) return error("a size is not bound");
      shape.push_back(*size);
    }
    now[v] = g.add_input({DType::F32, shape});
  }
  ASSIGN_OR_RETURN(auto order, topological_order(lhs));
  for (int32_t id : order) {
    const Node& n = lhs.node(id);
    if (n.kind != NodeKind::Call) continue;
    auto attrs = rewrite::translate(n.attrs, binding, *pool);
    if (!attrs) return error("an attribute is not bound");
    std::vector<Value> operands;
    for (Value v : n.inputs) operands.push_back(now.at(v));
    ASSIGN_OR_RETURN(int32_t made, g.add_call(*n.op, operands, *attrs));
    for (int32_t k = 0; k < static_cast<int32_t>(n.types.size()); ++k) now[{id, k}] = {made, k};
  }
  std::vector<Value> outputs;
  for (Value v : lhs.outputs()) outputs.push_back(now.at(v));
  g.set_outputs(std::move(outputs));
  return fold_constants(g);
}

Result<std::string> bytes_of(const Graph& g) {
  ASSIGN_OR_RETURN(Graph folded, fold_constants(g));
  ASSIGN_OR_RETURN(io::Imported model, io::model_of(std::move(folded), kOpset));
  return io::serialise(model, model.graph);
}

class Trial {
 public:
  Trial(const rewrite::CompiledRule& rule, std::string folder) : folder_(std::move(folder)) {
    Rule alone = rule.rule;
    auto index = rewrite::RuleIndex::build({alone}, rewrite::Scope::AllSizes, Numerics::Unknown);
    CHECK(index.has_value());
    rules_ = *std::move(index);
  }

  void at(const RuleInstance& instance, const Valuation& sizes, Var symbolic) {
    auto pool = std::make_shared<SymbolPool>();
    Substitution numbers, open;
    for (const auto& [v, n] : sizes) numbers[v] = open[v] = Poly(n);
    for (Var v : equal_to(instance, symbolic)) open[v] = Poly::symbol(pool->named("N"));
    auto g = with_sizes(instance, open, pool);
    if (!g) return;  // another size depends on this one
    std::string place = rules_.rules()[0].rule.name + "\t" + symbolic->name;
    if (apply(*g, place)) return;
    auto closed = with_sizes(instance, numbers, pool);
    if (closed && !engine(*closed)->matches().empty()) std::printf("left\t%s\n", place.c_str());
  }

 private:
  std::unique_ptr<rewrite::Engine> engine(const Graph& g) const {
    return std::make_unique<rewrite::Engine>(g, rules_, model_, rewrite::EngineOptions{kOpset});
  }
  bool apply(const Graph& g, const std::string& place) {
    auto engine_ = engine(g);
    if (engine_->matches().empty()) return false;
    engine_->apply(engine_->matches().front());
    auto before = bytes_of(g), after = bytes_of(engine_->to_graph());
    if (!before || !after) return false;
    std::printf("applied\t%s\t%s\t%s\n", place.c_str(), write(*before).c_str(),
                write(*after).c_str());
    return true;
  }
  std::string write(const std::string& bytes) {
    static int number = 0;
    std::string file = folder_ + "/" + std::to_string(number++) + ".onnx";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  std::string folder_;
  rewrite::RuleIndex rules_;
  cost::Roofline model_;
};

void try_rule(const rewrite::CompiledRule& rule, const std::string& folder, size_t signatures) {
  Trial trial(rule, folder);
  std::vector<const RuleInstance*> instances;
  if (rule.family)
    for (const Member& m : some_members(rule.rule, 1))
      instances.push_back(rule.instance(m.rule.domain[0], m.values));
  for (size_t k = 0; !rule.family && k < rule.rule.domain.size(); ++k)
    instances.push_back(rule.instance(k));
  instances.resize(std::min(signatures, instances.size()));
  for (const RuleInstance* instance : instances) {
    if (!instance) continue;
    auto sizes = verify::sample_sizes(*instance, 5, 1);
    if (sizes.empty()) continue;
    for (const auto& axes : instance->sizes)
      for (const auto& v : axes)
        if (v && sizes[0].count(*v)) trial.at(*instance, sizes[0], *v);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  for (int k = 3; k < argc; ++k) {
    auto file = substitutions::read_rules(argv[k]);
    if (!file) {
      std::fprintf(stderr, "%s\n", file.error().message.c_str());
      return 3;
    }
    auto rules =
        rewrite::RuleIndex::build(file->rules, rewrite::Scope::AllSizes, Numerics::Unknown);
    if (!rules) return 3;
    for (const auto& rule : rules->rules())
      try_rule(rule, argv[1], static_cast<size_t>(std::stoul(argv[2])));
  }
}
