#include "substitutions/taso_terms.h"

#include <algorithm>
#include <array>

#include "ir/rule/text.h"
#include "substitutions/taso_constants.h"

namespace regraft::substitutions {
namespace {

constexpr size_t kMaxOperators = 32;  // of one side
constexpr size_t kMaxText = 1 << 14;  // of one term
constexpr int kScalar = -20, kLastVariable = -10000;  // the one that is a number; the last

struct AxisInfo {
  Poly size;
  std::vector<Poly> cuts;  ///< where concatenations along the axis meet, the last one last
};
/// A tensor as text, with what is known of its axes.
struct Term {
  std::string text;
  std::vector<int64_t> witness;
  std::vector<AxisInfo> axes;
};

class Translator {
 public:
  explicit Translator(const TasoForm& form) : form_(form) {}

  std::map<int, size_t> ranks(const TasoRule& rule) {
    for (size_t before = ~size_t{0}; before != ranks_.size();) {
      before = ranks_.size();
      infer_ranks(rule.source);
      infer_ranks(rule.target);
    }
    std::map<int, size_t> all;
    for (const auto* ops : {&rule.source, &rule.target})
      for (const TasoOperator& op : *ops)
        for (TasoTensor t : op.inputs)
          if (auto v = t.op < 0 ? variable(t.op) : error(""); v) all[t.op] = v->axes.size();
    return all;
  }

  Result<TasoReading> run(const TasoRule& rule, const std::string& name) {
    ranks(rule);
    RETURN_IF_ERROR(sides(rule));
    if (open_.any()) {
      for (const TasoOutput& o : rule.outputs) {
        ASSIGN_OR_RETURN(Term a, at(sides_[0], o.source, sides_[0].size()));
        ASSIGN_OR_RETURN(Term b, at(sides_[1], o.target, sides_[1].size()));
        for (size_t d = 0; d < std::min(a.axes.size(), b.axes.size()); ++d)
          open_.equate(a.axes[d].size, b.axes[d].size);
      }
      open_.solve();
      RETURN_IF_ERROR(sides(rule));
    }
    const Outputs &source = sides_[0], &target = sides_[1];
    std::string left, right;
    for (const TasoOutput& o : rule.outputs) {
      ASSIGN_OR_RETURN(Term a, at(source, o.source, source.size()));
      ASSIGN_OR_RETURN(Term b, at(target, o.target, target.size()));
      left += (left.empty() ? "" : " ; ") + a.text;
      right += (right.empty() ? "" : " ; ") + b.text;
    }
    std::string where;
    for (const auto& [condition, unused] : where_)
      where += (where.empty() ? "  where " : ",") + condition;
    ASSIGN_OR_RETURN(Rule r, parse_rule(name + "  " + left + " => " + right + where));
    r.domain.emplace_back();
    for (const std::string& v : r.variables) {
      ASSIGN_OR_RETURN(Term t, variable(-std::stoi(v.substr(1))));
      std::string word;
      for (const AxisInfo& axis : t.axes)
        word += is_one(axis.size) || ones_.count(to_string(axis.size)) ? '1' : 'n';
      r.domain[0].push_back(word.empty() ? "-" : word);
    }
    r.origin = "taso";
    return TasoReading{std::move(r), broadcasts_, grouped_};
  }

 private:
  using Outputs = std::vector<std::vector<Term>>;  // of each operator

  Status sides(const TasoRule& rule) {
    groups_.clear(), free_splits_.clear(), where_.clear(), ones_.clear(), open_.restart();
    broadcasts_ = grouped_ = right_ = false;
    ASSIGN_OR_RETURN(sides_[0], side(rule.source));
    right_ = true;
    ASSIGN_OR_RETURN(sides_[1], side(rule.target));
    return {};
  }

  Result<std::vector<Term>> constant(const TasoOperator& op) {
    int h = 1, w = 1;
    if (op.type == kIdentityKernel || op.type == kPoolKernel) {
      ASSIGN_OR_RETURN(h, parameter(op, kKernelH));
      ASSIGN_OR_RETURN(w, parameter(op, kKernelW));
      if (std::min(h, w) < 1 || std::max(h, w) > 1000) return error("a kernel of unknown form");
    }
    auto side = right_ ? OpenSizes::Side::Right : OpenSizes::Side::Left;
    TasoConstant c = taso_constant(op.type, h, w, open_, side);
    std::vector<Term> made = {{c.text, c.witness, {}}};
    for (const Poly& p : c.extents) made[0].axes.push_back({p, {}});
    return made;
  }

  /// Ranks of variables from the operators that they meet; the file does not say them.
  void infer_ranks(const std::vector<TasoOperator>& ops) {
    std::map<int, size_t> made;  // of operators
    for (size_t pass = 0; pass < 2; ++pass)
      for (size_t k = 0; k < ops.size(); ++k) {
        auto known = made.find(static_cast<int>(k));
        size_t rank = known == made.end() ? fixed_rank(ops[k]) : known->second;
        auto place = [&](TasoTensor t) { return t.op < 0 ? &ranks_ : &made; };
        for (TasoTensor t : ops[k].inputs)
          if (auto it = place(t)->find(t.op); rank == 0 && it != place(t)->end() && t.op != kScalar)
            rank = it->second;
        if (rank == 0) continue;
        made[static_cast<int>(k)] = rank;
        for (TasoTensor t : ops[k].inputs)
          if (t.op != kScalar) place(t)->emplace(t.op, rank);
      }
  }
  /// 0: as the operands.
  static size_t fixed_rank(const TasoOperator& op) {
    if (op.type == kConv || op.type == kMaxPool || op.type == kAvgPool || op.type == kEnlarge)
      return 4;
    if (op.type == kMatmul || op.type == kIdentityMatrix) return 2;
    if (op.type >= kIdentityKernel && op.type <= kPoolKernel) return 4;
    auto it = op.parameters.find(kDimensions);
    return it == op.parameters.end() || it->second < 1 || it->second > kMaxRank
               ? 0
               : static_cast<size_t>(it->second);
  }

  Result<Outputs> side(const std::vector<TasoOperator>& ops) {
    if (ops.size() > kMaxOperators) return error("too many operators");
    Outputs made;
    for (const TasoOperator& op : ops) {
      std::vector<Term> operands;
      for (TasoTensor t : op.inputs) {
        ASSIGN_OR_RETURN(Term x, at(made, t, made.size()));
        operands.push_back(std::move(x));
      }
      ASSIGN_OR_RETURN(auto outputs, call(op, operands));
      for (const Term& t : outputs)
        if (t.text.size() > kMaxText) return error("the terms are too large");
      made.push_back(std::move(outputs));
    }
    return made;
  }

  Result<Term> at(const Outputs& made, TasoTensor t, size_t before) {
    if (t.op < 0) return variable(t.op);
    auto op = static_cast<size_t>(t.op);
    if (op >= before || t.output < 0 || static_cast<size_t>(t.output) >= made[op].size())
      return error("names an operator's output that does not exist");
    return made[op][static_cast<size_t>(t.output)];
  }

  Result<Term> variable(int number) {
    if (number < kLastVariable) return error("a variable with a number out of range");
    auto rank = ranks_.find(number);
    Term t;
    std::string name = "v" + std::to_string(-number);
    t.text = "?" + name;
    t.witness = witness_shape(number);
    if (rank != ranks_.end() && t.witness.size() != rank->second) t.witness.assign(rank->second, 0);
    if (rank == ranks_.end() && t.witness.empty() && number != kScalar)
      return error("a variable of unknown shape");
    auto word = form_.words.find(number);
    if (word != form_.words.end() && word->second.size() != t.witness.size())
      return error("a variable of another rank");
    for (size_t d = 0; d < t.witness.size(); ++d) {
      bool one = word != form_.words.end() && word->second[d] == '1';
      t.axes.push_back(
          {one ? Poly(1) : Poly::symbol(pool_.named(name + "." + std::to_string(d))), {}});
    }
    return t;
  }

  Result<std::vector<Term>> call(const TasoOperator& op, const std::vector<Term>& operands) {
    if (auto it = elementwise_types().find(op.type); it != elementwise_types().end())
      return elementwise(it->second, operands);
    if (op.type >= kIdentityMatrix && op.type <= kPoolKernel) return constant(op);
    size_t arity = op.type == kConv || op.type == kMatmul ? 2 : 1;
    if (operands.size() < arity) return error("an operator lacks operands");
    switch (op.type) {
      case kConv:
        return convolution(op, operands);
      case kMaxPool:
        return pool(op, operands[0], "maxpool", "");
      case kAvgPool:
        return pool(op, operands[0], "avgpool", " include_pad=1");
      case kMatmul:
        return product(op, operands);
      case kConcat:
        return concatenation(op, operands);
      case kSplit:
        return halves(op, operands[0]);
      case kTranspose:
        return transposition(op, operands[0]);
      case kEnlarge:
        return enlarged(op, operands[0]);
      default:
        return error("operator type " + std::to_string(op.type) + " has no counterpart");
    }
  }

  static std::string call_text(std::string_view op, const std::vector<Term>& operands,
                               const std::string& attributes) {
    std::string s = "(" + std::string(op);
    for (const Term& t : operands) s += " " + t.text;
    return s + attributes + ")";
  }

  Result<std::vector<Term>> elementwise(std::string_view op, const std::vector<Term>& operands) {
    if (operands.empty()) return error("an operator lacks operands");
    Term t = operands[0];
    for (const Term& x : operands) {
      bool scalar = x.witness.empty();
      if (!scalar && x.witness.size() != t.witness.size())
        return error("elementwise operands of different ranks");
      for (size_t d = 0; !scalar && d < t.axes.size(); ++d) {
        if (!same_cuts(t.axes[d], x.axes[d])) t.axes[d].cuts.clear();
        bool one = is_one(t.axes[d].size), other = is_one(x.axes[d].size);
        if (open_.in(t.axes[d].size) || open_.in(x.axes[d].size) || (!one && !other))
          open_.equate(t.axes[d].size, x.axes[d].size);
        broadcasts_ = broadcasts_ || one != other;
        if (one) t.axes[d].size = x.axes[d].size;
      }
    }
    t.text = call_text(op, operands, "");
    return std::vector<Term>{t};
  }
  static bool same_cuts(const AxisInfo& a, const AxisInfo& b) {
    return std::equal(a.cuts.begin(), a.cuts.end(), b.cuts.begin(), b.cuts.end(),
                      [](const Poly& x, const Poly& y) { return same(x, y); });
  }

  static Result<int> parameter(const TasoOperator& op, TasoParameter p) {
    auto it = op.parameters.find(p);
    if (it == op.parameters.end()) return error("an operator lacks a parameter");
    return it->second;
  }

  /// " strides=1,1 pads=1,1,1,1" of a window.
  static Result<std::string> window(const TasoOperator& op) {
    std::array<int, 5> n{};
    constexpr std::array kParameters = {kKernelH, kKernelW, kStrideH, kStrideW, kPadding};
    for (size_t k = 0; k < kParameters.size(); ++k) {
      ASSIGN_OR_RETURN(n[k], parameter(op, kParameters[k]));
      if (n[k] < (k < 4 ? 1 : 0) || n[k] > 1000) return error("a window of unknown form");
    }
    auto [h, w, stride_h, stride_w, padding] = n;
    std::string s = " strides=" + std::to_string(stride_h) + "," + std::to_string(stride_w);
    if (padding != 0) return s;  // only what lies inside
    std::string pads;
    for (int total : {h - 1, w - 1, h, w})
      pads += (pads.empty() ? "" : ",") + std::to_string(total / 2);
    return s + " pads=" + pads;
  }

  static Result<Term> activated(const TasoOperator& op, Term t) {
    static constexpr std::array<std::string_view, 4> kNames = {"", "sigmoid", "relu", "tanh"};
    ASSIGN_OR_RETURN(int which, parameter(op, kActivation));
    if (which < 0 || which > 3) return error("an unknown activation");
    if (which > 0) t.text = call_text(kNames[static_cast<size_t>(which)], {t}, "");
    return t;
  }

  /// TASO infers the groups from the shapes: those of the generator's say which are meant.
  Result<std::string> groups_of(const Term& x, const Term& w) {
    if (form_.groups == TasoForm::Inferred) return inferred_groups(x, w);
    int64_t all = x.witness[1], own = w.witness[1];
    if (same(x.axes[1].size, w.axes[1].size) || all == own || all * own == 0) return std::string();
    if (own == 1) {  // one for each channel
      ones_[to_string(w.axes[1].size)] = 1;
      return " group=" + to_string(x.axes[1].size);
    }
    if (all % own != 0) return error("groups that the file leaves open");
    return " group=" + std::to_string(all / own);
  }

  /// A variable on the left side; on the right one of these, or the quotient that TASO computes.
  std::string inferred_groups(const Term& x, const Term& w) {
    grouped_ = true;
    std::string channels = known_size(x), own = known_size(w);
    if (channels == "1" || channels == own) return {};
    auto known = groups_.find({channels, own});
    if (known == groups_.end() && right_) return " group=floor(" + channels + "/" + own + ")";
    if (known == groups_.end())
      known =
          groups_.emplace(std::pair{channels, own}, "?g" + std::to_string(groups_.size())).first;
    return " group=" + known->second;
  }
  std::string known_size(const Term& t) const {
    std::string s = to_string(t.axes[1].size);
    auto it = form_.sizes.find(s);
    return it == form_.sizes.end() ? s : it->second;
  }

  Result<std::vector<Term>> convolution(const TasoOperator& op, const std::vector<Term>& operands) {
    const Term &x = operands[0], &w = operands[1];
    if (x.axes.size() != 4 || w.axes.size() != 4)
      return error("a convolution of tensors that are not of rank 4");
    ASSIGN_OR_RETURN(std::string attributes, window(op));
    ASSIGN_OR_RETURN(std::string groups, groups_of(x, w));
    attributes += groups;
    for (size_t d : {size_t{2}, size_t{3}}) {
      ASSIGN_OR_RETURN(int extent, parameter(op, d == 2 ? kKernelH : kKernelW));
      if (w.axes[d].size.is_constant() && w.axes[d].size.constant() != extent)
        return error("a kernel of another extent");
      if (!w.axes[d].size.is_constant())
        where_[to_string(w.axes[d].size) + "=" + std::to_string(extent)] = 1;
    }
    if (groups.empty()) open_.equate(x.axes[1].size, w.axes[1].size);
    Term t = x;
    t.axes[1] = w.axes[0];
    t.witness[1] = w.witness[0];
    t.axes[2].cuts.clear(), t.axes[3].cuts.clear();
    t.text = call_text("conv", {x, w}, attributes);
    ASSIGN_OR_RETURN(t, activated(op, t));
    return std::vector<Term>{t};
  }

  static Result<std::vector<Term>> pool(const TasoOperator& op, const Term& x,
                                        std::string_view name, const std::string& more) {
    ASSIGN_OR_RETURN(std::string attributes, window(op));
    ASSIGN_OR_RETURN(int h, parameter(op, kKernelH));
    ASSIGN_OR_RETURN(int w, parameter(op, kKernelW));
    Term t = x;
    t.text = call_text(
        name, {x}, " kernel=" + std::to_string(h) + "," + std::to_string(w) + attributes + more);
    ASSIGN_OR_RETURN(t, activated(op, t));
    return std::vector<Term>{t};
  }

  Result<std::vector<Term>> product(const TasoOperator& op, const std::vector<Term>& operands) {
    if (operands[0].axes.size() != 2 || operands[1].axes.size() != 2)
      return error("a product of tensors that are no matrices");
    open_.equate(operands[0].axes[1].size, operands[1].axes[0].size);
    Term t = operands[0];
    t.axes[1] = operands[1].axes[1];
    t.witness[1] = operands[1].witness[1];
    t.text = call_text("matmul", {operands[0], operands[1]}, "");
    ASSIGN_OR_RETURN(t, activated(op, t));
    return std::vector<Term>{t};
  }

  static Result<size_t> axis_in(const TasoOperator& op, const Term& t) {
    ASSIGN_OR_RETURN(int axis, parameter(op, kAxis));
    if (axis < 0 || static_cast<size_t>(axis) >= t.axes.size()) return error("no such axis");
    return static_cast<size_t>(axis);
  }

  Result<std::vector<Term>> concatenation(const TasoOperator& op,
                                          const std::vector<Term>& operands) {
    Term t = operands[0];
    ASSIGN_OR_RETURN(size_t axis, axis_in(op, t));
    for (size_t k = 1; k < operands.size(); ++k) {
      const Term& x = operands[k];
      if (x.axes.size() != t.axes.size()) return error("a concatenation of different ranks");
      AxisInfo& joined = t.axes[axis];
      for (const Poly& cut : x.axes[axis].cuts) joined.cuts.push_back(joined.size + cut);
      joined.cuts.push_back(joined.size);
      joined.size = joined.size + x.axes[axis].size;
      t.witness[axis] += x.witness[axis];
      for (size_t d = 0; d < t.axes.size(); ++d) {
        if (d != axis) open_.equate(t.axes[d].size, x.axes[d].size);
        if (d != axis && !same_cuts(t.axes[d], x.axes[d])) t.axes[d].cuts.clear();
      }
    }
    t.text = call_text("concat", operands, " axis=" + std::to_string(axis));
    return std::vector<Term>{t};
  }

  Result<std::vector<Term>> halves(const TasoOperator& op, const Term& x) {
    ASSIGN_OR_RETURN(size_t axis, axis_in(op, x));
    const AxisInfo& whole = x.axes[axis];
    Poly cut, rest;
    if (whole.cuts.empty()) {  // anywhere, but at one place for both sides
      auto [it, fresh] = free_splits_.emplace(x.text + "@" + std::to_string(axis),
                                              std::to_string(free_splits_.size()));
      cut = Poly::symbol(pool_.named("?s" + it->second));
      rest = Poly::symbol(pool_.named("?t" + it->second));
    } else {
      cut = whole.cuts.back();
      rest = whole.size - cut;
    }
    Term left = x, right = x;
    left.text = call_text(
        "split", {x},
        " axis=" + std::to_string(axis) + " sizes=" + to_string(cut) + "," + to_string(rest));
    right.text = left.text + "#1";
    left.axes[axis] = {cut, {}};
    right.axes[axis] = {rest, {}};
    left.witness[axis] = right.witness[axis] = 0;  // of no further use
    return std::vector<Term>{left, right};
  }

  static Result<std::vector<Term>> transposition(const TasoOperator& op, const Term& x) {
    ASSIGN_OR_RETURN(int rank, parameter(op, kDimensions));
    ASSIGN_OR_RETURN(int digits, parameter(op, kPermutation));
    if (rank < 1 || static_cast<size_t>(rank) != x.axes.size() || digits < 0)
      return error("a permutation of another rank");
    Term t = x;
    std::vector<int> permutation(x.axes.size());
    for (size_t d = x.axes.size(); d-- > 0; digits /= rank) permutation[d] = digits % rank;
    std::string text;
    for (size_t d = 0; d < t.axes.size(); ++d) {
      auto from = static_cast<size_t>(permutation[d]);
      t.axes[d] = x.axes[from];
      t.witness[d] = x.witness[from];
      text += (d ? "," : " perm=") + std::to_string(from);
    }
    t.text = call_text("transpose", {x}, text);
    return std::vector<Term>{t};
  }

  /// A kernel put into the middle of a larger one, at the extents that the generator tried.
  Result<std::vector<Term>> enlarged(const TasoOperator& op, const Term& w) {
    ASSIGN_OR_RETURN(int height, parameter(op, kKernelH));
    ASSIGN_OR_RETURN(int width, parameter(op, kKernelW));
    if (w.axes.size() != 4) return error("a kernel of unknown extents");
    for (size_t d : {size_t{2}, size_t{3}})
      if (w.text[0] != '?' && !w.axes[d].size.is_constant())
        return error("a kernel of unknown extents");
    int64_t h = height - w.witness[2], v = width - w.witness[3];
    if (h < 0 || v < 0) return error("a kernel becomes smaller");
    Term t = w;
    auto n = [](int64_t x) { return std::to_string(x); };
    t.text = call_text(
        "pad", {w},
        " pads=0,0," + n(h / 2) + "," + n(v / 2) + ",0,0," + n((h + 1) / 2) + "," + n((v + 1) / 2));
    t.witness[2] = height, t.witness[3] = width;
    for (size_t d : {size_t{2}, size_t{3}}) {
      if (!w.axes[d].size.is_constant())
        where_[to_string(w.axes[d].size) + "=" + n(w.witness[d])] = 1;
      t.axes[d] = {Poly(t.witness[d]), {}};
    }
    return std::vector<Term>{t};
  }

  const TasoForm& form_;
  std::array<Outputs, 2> sides_;
  bool broadcasts_ = false, grouped_ = false, right_ = false;
  SymbolPool pool_;
  OpenSizes open_{pool_};                                              // extents of constants
  std::map<int, size_t> ranks_;                                        // of variables
  std::map<std::pair<std::string, std::string>, std::string> groups_;  // by channels
  std::map<std::string, std::string> free_splits_;
  std::map<std::string, int> where_;  // conditions
  std::map<std::string, int> ones_;   // sizes that are 1
};

}  // namespace

const std::map<int, std::string_view>& elementwise_types() {
  static const std::map<int, std::string_view> kTypes = {
      {8, "relu"},         {9, "sigmoid"}, {10, "tanh"}, {16, "add"}, {kMul, "mul"},
      {kScalarMul, "mul"}, {28, "sub"},    {29, "div"},  {49, "exp"}, {53, "sqrt"}};
  return kTypes;
}

std::vector<int> parameter_order(int type) {
  switch (type) {
    case kConv:
      return {kKernelH, kKernelW, kStrideH, kStrideW, kPadding, kActivation};
    case kMaxPool:
    case kAvgPool:
      return {kType, kKernelH, kKernelW, kStrideH, kStrideW, kPadding, kActivation};
    case kConcat:
      return {kInputs, kAxis, kDimensions};
    case kSplit:
      return {kOutputs, kAxis};
    case kTranspose:
      return {kDimensions, kPermutation, kShuffle};
    case kMatmul:
      return {kActivation};
    default:
      return {};
  }
}

Result<TasoReading> reading_of(const TasoRule& rule, const std::string& name,
                               const TasoForm& form) {
  return Translator(form).run(rule, name);
}

Result<Rule> translated_rule(const TasoRule& rule, const std::string& name) {
  ASSIGN_OR_RETURN(TasoReading r, reading_of(rule, name, {}));
  return with_conditions(r.rule);
}

std::map<int, size_t> ranks_of(const TasoRule& rule) { return Translator({}).ranks(rule); }

}  // namespace regraft::substitutions
