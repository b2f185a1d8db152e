// Our rules in TASO's format.
#include <algorithm>
#include <array>
#include <fstream>

#include "ir/rule/family.h"
#include "ir/rule/pattern.h"
#include "ir/rule/text.h"
#include "substitutions/taso.h"
#include "substitutions/taso.pb.h"
#include "substitutions/taso_terms.h"

namespace regraft::substitutions {
namespace {

using Extents = std::array<int64_t, 2>;

/// Numbers of variables by what they are: the generator's inputs of that kind.
class Numbering {
 public:
  Result<int> number(const std::string& word, const std::optional<Extents>& kernel) {
    auto [first, count] = range(word, kernel);
    if (count == 0) return error("a variable of rank " + std::to_string(word.size()));
    int k = used_[first]++;
    if (k >= count) return error("more variables of one kind than the format has");
    return first - k;
  }

 private:
  static std::pair<int, int> range(const std::string& word, const std::optional<Extents>& kernel) {
    if (word == "-") return {-20, 1};
    if (word.size() == 2) return {-1, 6};
    if (word.size() != 4) return {0, 0};
    if (!kernel) return {-7, 3};
    if (word[1] == '1') return {-19, 1};
    if (*kernel == Extents{1, 3}) return {-13, 3};
    return *kernel == Extents{3, 1} ? std::pair{-16, 3} : std::pair{-10, 3};
  }
  std::map<int, int> used_;
};

/// What TASO calls an operator without parameters; -1: nothing.
int plain_type(std::string_view op) {
  for (const auto& [type, name] : elementwise_types())
    if (name == op && type != kScalarMul) return type;
  return -1;
}

/// Translates one directed rule at one signature.
class Exporter {
 public:
  Exporter(const Rule& rule, const Signature& signature, const RuleInstance& instance)
      : rule_(rule), signature_(signature), instance_(instance), known_(equalities(instance)) {}

  Result<TasoRule> run() {
    TasoRule r;
    RETURN_IF_ERROR(number_variables());
    ASSIGN_OR_RETURN(r.source, side(rule_.lhs, instance_.lhs, instance_.lhs_ids));
    ASSIGN_OR_RETURN(r.target, side(rule_.rhs, instance_.rhs, instance_.rhs_ids));
    for (size_t k = 0; k < rule_.lhs.outputs.size(); ++k) {
      TasoTensor to = tensor(rule_.rhs.outputs[k]);
      if (to.op < 0) return error("the right side is a bare variable");
      r.outputs.push_back({tensor(rule_.lhs.outputs[k]), to});
    }
    return r;
  }
  /// The names that the variables have when the rule is read back.
  std::map<std::string, std::string> names() const {
    std::map<std::string, std::string> r;
    for (size_t v = 0; v < numbers_.size(); ++v)
      r[rule_.variables[v]] = "v" + std::to_string(-numbers_[v]);
    return r;
  }

 private:
  std::optional<int64_t> number_of(const Poly& p) const {
    Poly q = substitute(p, known_);
    if (!q.is_constant()) return std::nullopt;
    return q.constant();
  }
  std::optional<Extents> extents(const Shape& shape) const {
    auto h = number_of(shape[2]), w = number_of(shape[3]);
    if (!h || !w) return std::nullopt;
    return Extents{*h, *w};
  }
  Status number_variables() {
    Numbering numbering;
    for (size_t v = 0; v < rule_.variables.size(); ++v) {
      const Shape& shape = instance_.lhs.shape(instance_.lhs.inputs()[v]);
      auto kernel = shape.size() == 4 ? extents(shape) : std::nullopt;
      ASSIGN_OR_RETURN(int n, numbering.number(signature_[v], kernel));
      numbers_.push_back(n);
    }
    return {};
  }
  TasoTensor tensor(PatternRef r) const {
    if (is_variable(r)) return {numbers_[static_cast<size_t>(variable_of(r))], 0};
    return {r.node, r.output};
  }

  Result<std::vector<TasoOperator>> side(const Pattern& p, const Graph& g,
                                         const std::vector<int32_t>& ids) const {
    std::vector<TasoOperator> ops;
    for (size_t k = 0; k < p.nodes.size(); ++k) {
      ASSIGN_OR_RETURN(TasoOperator op, call(g, g.node(ids[k])));
      for (PatternRef r : p.nodes[k].inputs) op.inputs.push_back(tensor(r));
      ops.push_back(std::move(op));
    }
    return ops;
  }

  Result<std::vector<int>> integers(const Node& n, std::string_view attribute) const {
    int k = n.op->int_attr(attribute);
    std::vector<int> r;
    for (const Poly& p : n.attrs.ints[static_cast<size_t>(k)]) {
      auto number = number_of(p);
      if (!number)
        return error(std::string(n.op->name) + ": " + std::string(attribute) + " is left open");
      r.push_back(static_cast<int>(*number));
    }
    return r;
  }
  /// An Error unless every number of the attribute is `value`.
  Status only(const Node& n, std::string_view attribute, int value) const {
    if (n.op->int_attr(attribute) < 0) return {};
    ASSIGN_OR_RETURN(auto list, integers(n, attribute));
    for (int x : list)
      if (x != value)
        return error(std::string(n.op->name) + ": has " + std::string(attribute) +
                     ", which the format cannot say");
    return {};
  }

  Result<TasoOperator> call(const Graph& g, const Node& n) const {
    const Shape* data = n.inputs.empty() ? nullptr : &g.shape(n.inputs[0]);
    std::string_view name = n.op->name;
    TasoOperator op;
    if (op.type = plain_type(name); op.type >= 0) {
      bool scalar = op.type == kMul && n.inputs.size() == 2 && g.shape(n.inputs[1]).empty();
      if (scalar) op.type = kScalarMul;
      return op;
    }
    if (name == "conv") return convolution(g, n);
    if (name == "maxpool" || name == "avgpool") return pool(n);
    if (name == "matmul" && data->size() == 2 && g.shape(n.inputs[1]).size() == 2)
      return TasoOperator{kMatmul, {}, {{kActivation, 0}}};
    if (name == "concat" || name == "split") return along_axis(n, static_cast<int>(data->size()));
    if (name == "transpose") return transposition(n, static_cast<int>(data->size()));
    return error("the format has no " + std::string(name) + " of this form");
  }

  /// Strides and padding of a window of these extents: what lies inside, or centred.
  Result<std::map<int, int>> window(const Node& n, Extents kernel) const {
    RETURN_IF_ERROR(only(n, "dilations", 1));
    ASSIGN_OR_RETURN(auto strides, integers(n, "strides"));
    ASSIGN_OR_RETURN(auto pads, integers(n, "pads"));
    if (strides.size() != 2) return error("a window that is not of two axes");
    std::vector<int> centred;
    for (int64_t total : {kernel[0] - 1, kernel[1] - 1, kernel[0], kernel[1]})
      centred.push_back(static_cast<int>(total / 2));
    bool none = pads == std::vector<int>(4, 0);
    if (!none && pads != centred) return error("padding that is neither SAME nor VALID");
    return std::map<int, int>{{kKernelH, static_cast<int>(kernel[0])},
                              {kKernelW, static_cast<int>(kernel[1])},
                              {kStrideH, strides[0]},
                              {kStrideW, strides[1]},
                              {kPadding, pads == centred ? 0 : 1},
                              {kActivation, 0}};
  }
  Result<TasoOperator> convolution(const Graph& g, const Node& n) const {
    const Shape& weight = g.shape(n.inputs[1]);
    if (n.inputs.size() != 2 || weight.size() != 4)
      return error("conv: the format has no bias and two axes only");
    auto kernel = extents(weight);
    if (!kernel) return error("conv: the kernel's extents are left open");
    ASSIGN_OR_RETURN(auto parameters, window(n, *kernel));
    return TasoOperator{kConv, {}, std::move(parameters)};
  }
  Result<TasoOperator> pool(const Node& n) const {
    RETURN_IF_ERROR(only(n, "include_pad", 1));
    RETURN_IF_ERROR(only(n, "ceil", 0));
    ASSIGN_OR_RETURN(auto kernel, integers(n, "kernel"));
    if (kernel.size() != 2) return error("a window that is not of two axes");
    ASSIGN_OR_RETURN(auto parameters, window(n, {kernel[0], kernel[1]}));
    int type = n.op->name == "maxpool" ? kMaxPool : kAvgPool;
    parameters[0] = type;
    return TasoOperator{type, {}, std::move(parameters)};
  }
  Result<TasoOperator> along_axis(const Node& n, int rank) const {
    ASSIGN_OR_RETURN(auto axis, integers(n, "axis"));
    int from_front = axis[0] < 0 ? axis[0] + rank : axis[0];
    if (n.op->name == "split") {
      if (n.types.size() != 2) return error("split: the format has two parts only");
      return TasoOperator{kSplit, {}, {{kOutputs, 2}, {kAxis, from_front}}};
    }
    return TasoOperator{
        kConcat,
        {},
        {{kInputs, static_cast<int>(n.inputs.size())}, {kAxis, from_front}, {kDimensions, rank}}};
  }
  Result<TasoOperator> transposition(const Node& n, int rank) const {
    ASSIGN_OR_RETURN(auto permutation, integers(n, "perm"));
    int digits = 0;
    for (int d : permutation) digits = digits * rank + d;
    return TasoOperator{
        kTranspose, {}, {{kDimensions, rank}, {kPermutation, digits}, {kShuffle, 1}}};
  }

  const Rule& rule_;
  const Signature& signature_;
  const RuleInstance& instance_;
  Substitution known_;
  std::vector<int> numbers_;
};

/// The rule with other names for its variables, and axes counted from the front.
Result<Rule> respelled(const Rule& rule, const Signature& signature, const PatternStyle& style) {
  Rule r = rule;
  auto front = [&](Poly& p) {
    p = *moved(p, *r.pool, [&](Var v) {
      auto size = size_name(*v);
      if (!size || size->axis >= 0) return Poly::symbol(v);
      auto it = std::find(r.variables.begin(), r.variables.end(), size->variable);
      int rank = static_cast<int>(signature[static_cast<size_t>(it - r.variables.begin())].size());
      return Poly::symbol(
          r.pool->named(size->variable + "." + std::to_string(size->axis + rank), v->min));
    });
  };
  for (Pattern* side : {&r.lhs, &r.rhs})
    for (PatternNode& n : side->nodes)
      for (auto& list : n.attrs.ints)
        for (Poly& p : list) front(p);
  auto text = [&](const Pattern& side) {
    std::string s;
    for (PatternRef out : side.outputs)
      s += (s.empty() ? "" : " ; ") + pattern_text(r, side, out, style);
    return s;
  };
  return parse_rule(r.name + "  " + text(r.lhs) + " => " + text(r.rhs));
}

/// The number of an axis attribute counted from the front, as the format counts.
void count_axes_from_front(Rule& rule, const RuleInstance& instance) {
  auto side = [](Pattern& p, const Graph& g, const std::vector<int32_t>& ids) {
    for (size_t k = 0; k < p.nodes.size(); ++k) {
      const Node& n = g.node(ids[k]);
      int at = n.op->int_attr("axis");
      if (at < 0 || n.inputs.empty()) continue;
      auto rank = static_cast<int64_t>(g.shape(n.inputs[0]).size());
      for (Poly& axis : p.nodes[k].attrs.ints[static_cast<size_t>(at)])
        if (axis.is_constant() && axis.constant() < 0) axis = axis + Poly(rank);
    }
  };
  side(rule.lhs, instance.lhs, instance.lhs_ids);
  side(rule.rhs, instance.rhs, instance.rhs_ids);
}

/// At one rank, numbers at their fallback say nothing.
Rule without_fallbacks(Rule rule) {
  for (Pattern* side : {&rule.lhs, &rule.rhs})
    for (PatternNode& n : side->nodes)
      for (size_t k = 0; k < n.op->ints.size(); ++k) {
        auto fallback = n.op->ints[k].fallback;
        auto& list = n.attrs.ints[k];
        if (fallback && std::all_of(list.begin(), list.end(),
                                    [&](const Poly& p) { return same(p, Poly(*fallback)); }))
          list.clear();
      }
  return rule;
}

/// A rule at a signature.
struct AtShapes {
  const Rule& rule;
  const RuleInstance& instance;
};

/// Over another pool, with other names for the variables.
std::optional<Formula> moved(const Formula& f, SymbolPool& pool,
                             const std::map<std::string, std::string>& names) {
  auto p = regraft::moved(f.poly, pool, [&](Var v) {
    size_t dot = v->name.rfind('.');
    auto it = names.find(v->name.substr(0, dot));
    std::string name = it == names.end() ? v->name : it->second + v->name.substr(dot);
    return Poly::symbol(pool.named(name, v->min));
  });
  if (!p) return std::nullopt;
  Formula r{f.kind, *std::move(p), {}};
  for (const Formula& part : f.parts) {
    auto one = moved(part, pool, names);
    if (!one) return std::nullopt;
    r.parts.push_back(*std::move(one));
  }
  return r;
}

/// Each size of `what` that is 1 is 1 where the sizes of `from` are what is known of them.
bool same_ones(const AtShapes& what, const AtShapes& from, const Substitution& known,
               const std::map<std::string, std::string>& names) {
  const auto& theirs = from.rule.variables;
  for (size_t v = 0; v < what.rule.variables.size(); ++v) {
    auto name = names.find(what.rule.variables[v]);
    if (name == names.end()) return false;
    auto it = std::ranges::find(theirs, name->second);
    if (it == theirs.end()) return false;
    const auto& there = from.instance.sizes[static_cast<size_t>(it - theirs.begin())];
    const auto& here = what.instance.sizes[v];
    if (here.size() != there.size()) return false;
    for (size_t d = 0; d < here.size(); ++d)
      if (!here[d] && there[d] && !same(substitute(Poly::symbol(*there[d]), known), Poly(1)))
        return false;
  }
  return true;
}

/// What one instance says of its sizes follows from what the other says; `names` has the other's
/// for the variables. Sound, not complete.
bool follows(const AtShapes& what, const AtShapes& from,
             const std::map<std::string, std::string>& names) {
  const Substitution known = equalities(from.instance);
  const Conjunction said = substitute(from.instance.requires_lhs, known);
  return same_ones(what, from, known, names) &&
         std::ranges::all_of(what.instance.requires_lhs, [&](const Formula& f) {
           auto there = moved(f, from.instance.lhs.pool(), names);
           Conjunction parts;
           if (there) add(parts, substitute(*there, known));
           return there && std::ranges::all_of(
                               parts, [&](const Formula& p) { return plainly_implies(said, p); });
         });
}

/// Error unless reading the exported rule gives the rule back, for the same shapes.
Status reads_back(const TasoRule& exported, const Rule& rule, const Signature& signature,
                  const RuleInstance& instance, const std::map<std::string, std::string>& names) {
  ASSIGN_OR_RETURN(Rule back, translated_rule(exported, rule.name));
  Rule plain = rule;
  count_axes_from_front(plain, instance);
  PatternStyle style;
  style.names = names;
  ASSIGN_OR_RETURN(Rule mine, respelled(plain, signature, style));
  Rule theirs = back;
  theirs.where.clear();
  if (canonical_key(without_fallbacks(mine)) != canonical_key(without_fallbacks(theirs)))
    return error("the format says it otherwise");
  ASSIGN_OR_RETURN(RuleInstance other, instantiate(back, back.domain[0]));
  std::map<std::string, std::string> inverse;
  for (const auto& [a, b] : names) inverse[b] = a;
  const AtShapes ours{rule, instance}, read{back, other};
  if (!follows(ours, read, names)) return error("it needs a condition that TASO does not check");
  if (!follows(read, ours, inverse)) return error("the format says it for fewer shapes");
  return {};
}

Result<TasoRule> exported_at(const Rule& rule, const Signature& signature) {
  ASSIGN_OR_RETURN(RuleInstance instance, instantiate(rule, signature));
  Exporter exporter(rule, signature, instance);
  ASSIGN_OR_RETURN(TasoRule r, exporter.run());
  RETURN_IF_ERROR(reads_back(r, rule, signature, instance, exporter.names()));
  return r;
}

/// At the first of its signatures that the format can say.
Result<TasoRule> exported(const Rule& rule) {
  if (is_family(rule)) return error("its axes are variables");
  if (!rule.real_where.empty()) return error("it needs a condition that TASO does not check");
  Error why = error("it says no shapes");
  for (const Signature& s : rule.domain) {
    auto r = exported_at(rule, s);
    if (r) return r;
    if (&s == &rule.domain[0]) why = r.error();
  }
  return why;
}

void add(google::protobuf::RepeatedPtrField<wire::Operator>& side, const TasoOperator& op) {
  wire::Operator* w = side.Add();
  w->set_type(op.type);
  for (const TasoTensor& t : op.inputs) {
    wire::Tensor* input = w->add_input();
    input->set_opid(t.op);
    input->set_tsid(t.output);
  }
  for (int key : parameter_order(op.type))
    if (auto it = op.parameters.find(key); it != op.parameters.end()) {
      wire::Parameter* parameter = w->add_para();
      parameter->set_key(key);
      parameter->set_value(it->second);
    }
}

wire::Rule to_wire(const TasoRule& rule) {
  wire::Rule w;
  for (const TasoOperator& op : rule.source) add(*w.mutable_srcop(), op);
  for (const TasoOperator& op : rule.target) add(*w.mutable_dstop(), op);
  for (const TasoOutput& o : rule.outputs) {
    wire::MapOutput* output = w.add_mappedoutput();
    output->set_srcopid(o.source.op);
    output->set_dstopid(o.target.op);
    output->set_srctsid(o.source.output);
    output->set_dsttsid(o.target.output);
  }
  return w;
}

}  // namespace

TasoBytes to_taso(std::span<const Rule> rules) {
  TasoBytes r;
  wire::RuleCollection all;
  for (const Rule& rule : rules)
    for (const Rule& directed : directions(rule)) {
      auto taso = exported(directed);
      if (taso) {
        *all.add_rule() = to_wire(*taso);
        r.names.push_back(directed.name);
      } else {
        r.left_out.push_back(directed.name + ": " + taso.error().message);
      }
    }
  r.data = all.SerializeAsString();
  return r;
}

}  // namespace regraft::substitutions
