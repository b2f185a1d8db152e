#include "ir/ops/op.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/algebra/real_expression.h"
#include "ir/ops/define.h"

namespace regraft {

#define REGRAFT_OP(function) \
  namespace ops {            \
  const OpDef& function();   \
  }
#include "ir/ops/ops.def"
#undef REGRAFT_OP

std::span<const OpDef* const> all_ops() {
  static const std::vector<const OpDef*> table = {
#define REGRAFT_OP(function) &ops::function(),
#include "ir/ops/ops.def"
#undef REGRAFT_OP
  };
  return table;
}

const OpDef* find_op(std::string_view name) {
  static const std::map<std::string_view, const OpDef*> table = [] {
    std::map<std::string_view, const OpDef*> m;
    for (const OpDef* op : all_ops()) CHECK(m.emplace(op->name, op).second);
    return m;
  }();
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

std::span<const OpDef* const> ops_for_onnx(std::string_view onnx_type) {
  static const std::map<std::string_view, std::vector<const OpDef*>> table = [] {
    std::map<std::string_view, std::vector<const OpDef*>> m;
    for (const OpDef* op : all_ops())
      for (std::string_view type : op->onnx) m[type].push_back(op);
    return m;
  }();
  auto it = table.find(onnx_type);
  return it == table.end() ? std::span<const OpDef* const>{} : it->second;
}

bool OpDef::runs_on(DType type, Opset opset) const {
  if (opset.microsoft && std::ranges::count(microsoft, type) > 0) return true;
  return std::any_of(types.begin(), types.end(), [&](const TypeSupport& t) {
    return t.type == type && opset.version >= std::max(t.specified, t.runs);
  });
}

Result<DType> one_type(const OpDef& op, const Attrs<Poly>&, std::span<const DType> operands) {
  if (operands.empty()) return DType::F32;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k] == DType::Undefined || operands[k] != operands[0])
      return error(std::string(op.name) + ": operand " + std::to_string(k) + " is of type " +
                   to_string(operands[k]) + ", operand 0 of type " + to_string(operands[0]));
  }
  return operands[0];
}

Result<DType> one_real_type(const OpDef& op, const Attrs<Poly>& at,
                            std::span<const DType> operands) {
  for (size_t k = 0; k < operands.size(); ++k)
    if (!is_real(operands[k]))
      return error(std::string(op.name) + ": operand " + std::to_string(k) + " is of type " +
                   to_string(operands[k]));
  return one_type(op, at, operands);
}

int OpDef::int_attr(std::string_view attr) const {
  for (size_t k = 0; k < ints.size(); ++k)
    if (ints[k].name == attr) return static_cast<int>(k);
  return -1;
}
int OpDef::real_attr(std::string_view attr) const {
  for (size_t k = 0; k < reals.size(); ++k)
    if (reals[k].name == attr) return static_cast<int>(k);
  return -1;
}

std::optional<size_t> attr_length(const IntAttr& attr, int rank) {
  auto spatial = static_cast<size_t>(std::max(0, rank - 2)),
       all = static_cast<size_t>(std::max(0, rank));
  switch (attr.length) {
    case Length::One:
      return 1;
    case Length::Spatial:
      return spatial;
    case Length::TwiceSpatial:
      return 2 * spatial;
    case Length::Rank:
      return all;
    case Length::TwiceRank:
      return 2 * all;
    case Length::Any:
      return std::nullopt;
  }
  return std::nullopt;
}

Attrs<Poly> default_attrs(const OpDef& op, int rank) {
  Attrs<Poly> at;
  for (const auto& a : op.ints) {
    CHECK(a.fallback.has_value());
    at.ints.emplace_back(attr_length(a, rank).value_or(0), Poly(*a.fallback));
  }
  for (const auto& a : op.reals) at.reals.push_back({a.fallback, nullptr});
  return at;
}

int output_count(const OpDef& op, const Attrs<Poly>& at) {
  return op.outputs_attr < 0
             ? op.outputs
             : static_cast<int>(at.ints[static_cast<size_t>(op.outputs_attr)].size());
}

bool same(const Attrs<Poly>& a, const Attrs<Poly>& b) {
  if (a.ints.size() != b.ints.size() || a.reals.size() != b.reals.size()) return false;
  for (size_t k = 0; k < a.ints.size(); ++k)
    if (!std::equal(a.ints[k].begin(), a.ints[k].end(), b.ints[k].begin(), b.ints[k].end(),
                    [](const Poly& x, const Poly& y) { return same(x, y); }))
      return false;
  for (size_t k = 0; k < a.reals.size(); ++k)
    if (!same_real(a.reals[k], b.reals[k])) return false;
  return true;
}

uint64_t hash(const Attrs<Poly>& at) {
  uint64_t h = at.ints.size();
  for (const auto& v : at.ints) {
    h = combine(h, v.size());
    for (const Poly& p : v) h = combine(h, hash(p));
  }
  for (const Real& r : at.reals)
    h = combine(h, r.symbol ? r.symbol->id + 1 : std::bit_cast<uint64_t>(r.value));
  return h;
}

namespace {

/// The `sample`-th number for an unknown real: the first is one that few others share, the next are
/// large, small, negative and 0, in an order that depends on the name.
double number_for(const Symbol& real, int64_t sample) {
  static constexpr double kFactors[] = {8, 0.0625, -1, 0, 64, -0.0625, -8};
  uint64_t h = hash_text(real.name);
  double x = 0.25 + static_cast<double>(h % 97) / 64;
  return sample == 0 ? x : x * kFactors[(h + static_cast<uint64_t>(sample)) % std::size(kFactors)];
}

/// The number that a valuation gives an unknown real, or an expression of such.
double number_for(Var real, const Valuation& values) {
  auto unknown = [&](Var v) {
    auto sample = values.find(v);
    return number_for(*v, sample == values.end() ? 0 : sample->second);
  };
  if (!is_expression(real->name)) return unknown(real);
  auto named = [&](const std::string& name) -> std::optional<double> {
    Var v = symbol_of_name(name, *real->pool);
    if (name[0] == '?') return unknown(v);
    auto size = values.find(v);
    return size == values.end() ? std::nullopt : std::optional<double>(size->second);
  };
  return value_of(expression_of(real->name), named).value_or(std::nan(""));
}

}  // namespace

Attrs<int64_t> evaluate(const Attrs<Poly>& at, const Valuation& values) {
  Attrs<int64_t> r;
  for (const auto& v : at.ints) {
    r.ints.emplace_back();
    for (const Poly& p : v) r.ints.back().push_back(evaluate(p, values));
  }
  for (const Real& x : at.reals)
    r.reals.push_back({x.symbol ? number_for(x.symbol, values) : x.value, nullptr});
  return r;
}

std::optional<Attrs<int64_t>> numeric(const Attrs<Poly>& at) {
  Attrs<int64_t> r;
  for (const auto& v : at.ints) {
    r.ints.emplace_back();
    for (const Poly& p : v) {
      if (!p.is_constant()) return std::nullopt;
      r.ints.back().push_back(p.constant());
    }
  }
  for (const Real& x : at.reals)
    if (x.symbol) return std::nullopt;
  r.reals = at.reals;
  return r;
}

Attrs<Poly> symbolic(const Attrs<int64_t>& at) {
  Attrs<Poly> r;
  for (const auto& v : at.ints) r.ints.emplace_back(v.begin(), v.end());
  r.reals = at.reals;
  return r;
}

Attrs<Poly> substitute(const Attrs<Poly>& at, const Substitution& s) {
  Attrs<Poly> r = at;
  for (auto& v : r.ints)
    for (Poly& p : v) p = substitute(p, s);
  return r;
}

double operation_count(const OpDef& op, const std::vector<std::vector<int64_t>>& operand_shapes,
                       const Attrs<int64_t>& at) {
  Counting alg;
  Shapes<Counting> in;
  std::vector<CountTensor> tensors;
  for (const auto& s : operand_shapes) {
    in.emplace_back(s.begin(), s.end());
    tensors.push_back({in.back()});
  }
  Attrs<CountIndex> counted;
  for (const auto& v : at.ints) counted.ints.emplace_back(v.begin(), v.end());
  counted.reals = at.reals;
  auto shapes = op.counting_semantics.infer(alg, in, counted);
  if (!shapes) return 0;
  double total = 0;
  for (size_t o = 0; o < shapes->size(); ++o) {
    const auto& shape = (*shapes)[o];
    Indices<CountIndex> i;
    for (size_t d = 0; d < shape.size(); ++d) i.push_back({shape[d].value / 2, uint64_t{1} << d});
    alg.bound = kMaxRank;
    auto element = op.counting_semantics.element(
        alg, tensors, counted, std::span<const CountIndex>(i), static_cast<int>(o));
    for (const auto& [loops, flops] : element.work) {
      double rounds = 1;
      for (size_t d = 0; d < shape.size(); ++d)
        if (loops >> d & 1) rounds *= static_cast<double>(shape[d].value);
      total += rounds * flops;
    }
  }
  return total;
}

namespace ops {

Status check_call(const OpDef& op, size_t arity, const std::vector<int>& ranks,
                  const std::vector<size_t>& int_sizes, size_t reals) {
  std::string name(op.name);
  if (arity < static_cast<size_t>(op.min_arity) || arity > static_cast<size_t>(op.max_arity))
    return error(name + ": " + std::to_string(arity) + " operands");
  for (int r : ranks)
    if (r > kMaxRank) return error(name + ": rank above " + std::to_string(kMaxRank));
  if (int_sizes.size() != op.ints.size() || reals != op.reals.size())
    return error(name + ": wrong number of attributes");
  for (size_t k = 0; k < int_sizes.size(); ++k) {
    auto length = attr_length(op.ints[k], ranks.empty() ? 0 : ranks[0]);
    if (length && *length != int_sizes[k])
      return error(name + ": attribute " + std::string(op.ints[k].name) + " has " +
                   std::to_string(int_sizes[k]) + " numbers, not " + std::to_string(*length));
  }
  return {};
}

}  // namespace ops
}  // namespace regraft
