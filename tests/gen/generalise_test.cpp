// From one witness to the most general rule.
#include "gen/generalise/generalise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/parallel.h"
#include "gen/minimise/domain.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

/// Terms from the text of a rule that has numbers only.
struct Witness {
  Bank bank{31};
  TermId lhs = -1, rhs = -1;
  Witness(const std::string& text, const Shapes& shapes, std::string_view sized) {
    for (const auto& [name, shape] : shapes)
      if (shape.size() == 4 && shape[2] <= 3 && shape[3] <= 3)
        bank.add_kernel_extents({shape[2], shape[3]});
    auto rule = parse_rule("r  " + text);
    EXPECT_TRUE(rule) << text << ": " << (rule ? "" : rule.error().message);
    if (!rule) std::abort();
    lhs = term(*rule, rule->lhs, rule->lhs.outputs[0], shapes, sized);
    rhs = term(*rule, rule->rhs, rule->rhs.outputs[0], shapes, sized);
    EXPECT_TRUE(bank.value(lhs)) << "the left side is not well-formed: " << text;
    EXPECT_TRUE(bank.value(rhs)) << "the right side is not well-formed: " << text;
  }
  TermId term(const Rule& rule, const Pattern& p, PatternRef r, const Shapes& shapes,
              std::string_view sized) {
    if (is_variable(r)) {
      auto k = static_cast<size_t>(variable_of(r));
      return bank.leaf(shapes.at(rule.variables[k]), static_cast<int>(k));
    }
    const PatternNode& n = p.nodes[static_cast<size_t>(r.node)];
    std::vector<TermId> operands;
    for (PatternRef o : n.inputs) operands.push_back(term(rule, p, o, shapes, sized));
    size_t rank = operands.empty() ? 0 : bank.value(operands[0])->shape.size();
    Label label{n.op, {{}, n.attrs.reals}, {}, 1};
    for (size_t k = 0; k < n.op->ints.size(); ++k) {
      std::vector<int64_t> numbers;
      for (const Poly& x : n.attrs.ints[k]) numbers.push_back(x.constant());
      const IntAttr& a = n.op->ints[k];
      if (numbers.empty() && a.fallback)
        numbers.assign(attr_length(a, static_cast<int>(rank)).value_or(0), *a.fallback);
      label.attrs.ints.push_back(std::move(numbers));
      std::string name = std::string(n.op->name) + "." + std::string(a.name);
      label.sized.push_back(sized.find(name) != std::string_view::npos);
    }
    label.outputs = output_count(*n.op, symbolic(label.attrs));
    return bank.call(bank.add_label(label), std::move(operands), r.output);
  }
};

/// The rules that a witness becomes, each with its signature as domain.
std::vector<std::string> forms(const std::string& text, const Shapes& shapes,
                               std::string_view sized = "") {
  Witness w(text, shapes, sized);
  EXPECT_TRUE(w.bank.same_value(w.lhs, w.rhs)) << "not equal at the witness: " << text;
  std::vector<std::string> r;
  for (const Generalised& g : generalise(w.bank, w.lhs, w.rhs, 20)) {
    Rule rule = g.rule;
    rule.name = "r";
    rule.domain = {g.signature};
    EXPECT_TRUE(validate(rule)) << to_string(rule);
    auto again = parse_rule(to_string(rule));
    EXPECT_TRUE(again) << to_string(rule) << ": " << (again ? "" : again.error().message);
    if (!again) continue;
    EXPECT_EQ(canonical_key(*again), canonical_key(rule)) << to_string(rule);
    r.push_back(to_string(renamed(rule)));
  }
  return r;
}

std::string printed(const std::vector<std::string>& list) {
  std::string s;
  for (const std::string& x : list) s += "\n  " + x;
  return s;
}

/// One of the forms is this rule at this domain.
void expect_form(const std::string& wanted, const std::string& text, const Shapes& shapes,
                 std::string_view sized = "") {
  auto found = forms(text, shapes, sized);
  auto rule = parse_rule("r  " + wanted);
  ASSERT_TRUE(rule) << wanted << ": " << (rule ? "" : rule.error().message);
  bool hit = false;
  for (const std::string& f : found) {
    auto g = parse_rule(f);
    hit = hit ||
          (g && canonical_key(*g) == canonical_key(*rule) && g->domain == renamed(*rule).domain);
  }
  EXPECT_TRUE(hit) << "wanted " << wanted << "\nfound" << printed(found);
}

/// No form survives: the equality is a coincidence of the witness.
void expect_none(const std::string& text, const Shapes& shapes) {
  auto found = forms(text, shapes);
  EXPECT_TRUE(found.empty()) << text << "\nfound" << printed(found);
}

const Shapes kConvs = {{"x", {1, 2, 3, 4}}, {"y", {1, 2, 3, 4}}, {"v", {2, 2, 3, 3}},
                       {"w", {2, 2, 3, 3}}, {"z", {3, 2, 3, 3}}, {"p", {2, 2, 1, 1}},
                       {"q", {3, 2, 1, 1}}};

/// Attributes of a convolution that are all open.
const std::string kOpen = " strides=?s pads=?p dilations=?d group=?g)";
const std::string kDense = " strides=?s pads=?p dilations=?d)";

TEST(Generalise, MergedConvolutionsNeedKernelsOfOneSize) {
  expect_form("(add (conv ?x ?v" + kOpen + " (conv ?x ?w" + kOpen + ") => (conv ?x (add ?v ?w)" +
                  kOpen + " where v.2=w.2,v.3=w.3 for x:nnnn v:nnnn w:nnnn",
              "(add (conv ?x ?v pads=1,1,1,1) (conv ?x ?w pads=1,1,1,1)) => (conv ?x (add ?v ?w) "
              "pads=1,1,1,1)",
              kConvs);
  expect_form("(concat (conv ?x ?v" + kDense + " (conv ?x ?z" + kDense +
                  " axis=1) => (conv ?x (concat ?v ?z axis=0)" + kDense +
                  " where v.2=z.2,v.3=z.3 for x:nnnn v:nnnn z:nnnn",
              "(concat (conv ?x ?v pads=1,1,1,1) (conv ?x ?z pads=1,1,1,1) axis=1) => (conv ?x "
              "(concat ?v ?z axis=0) pads=1,1,1,1)",
              kConvs);
  expect_form("(conv ?x (add ?v ?w)" + kOpen + " => (add (conv ?x ?v" + kOpen + " (conv ?x ?w" +
                  kOpen + ") for x:nnnn v:nnnn w:nnnn",
              "(conv ?x (add ?v ?w) pads=1,1,1,1) => (add (conv ?x ?v pads=1,1,1,1) (conv ?x ?w "
              "pads=1,1,1,1))",
              kConvs);
}

TEST(Generalise, AReshapeMayHaveAnyShapeOfAsManyElements) {
  const std::string pair = "x:nnn y:nnn", open = " shape=?m,?n)";
  const Shapes shapes = {{"x", {4, 3, 6}}, {"y", {4, 3, 6}}, {"s", {}}};
  expect_form("(reshape (add ?x ?y)" + open + " => (add (reshape ?x" + open + " (reshape ?y" +
                  open + ") for " + pair,
              "(reshape (add ?x ?y) shape=2,36) => (add (reshape ?x shape=2,36) (reshape ?y "
              "shape=2,36))",
              shapes);
  expect_form("(reshape (add ?x ?s)" + open + " => (add (reshape ?x" + open + " ?s) for x:nnn s:-",
              "(reshape (add ?x ?s) shape=2,36) => (add (reshape ?x shape=2,36) ?s)", shapes);
}

TEST(Generalise, AShuffleOfChannelsGoesIntoTheKernel) {
  expect_form(
      "(conv (reshape (transpose ?x perm=0,2,1,3,4) shape=x.0,w.1,x.3,x.4) ?w" + kDense +
          " => (conv (reshape "
          "?x shape=x.0,w.1,x.3,x.4) (reshape (transpose (reshape ?w shape=w.0,x.2,x.1,w.2,w.3) "
          "perm=0,2,1,3,4) shape=w.0,w.1,w.2,w.3)" +
          kDense + " for x:nnnnn w:nnnn",
      "(conv (reshape (transpose ?x perm=0,2,1,3,4) shape=2,12,5,2) ?w) => (conv (reshape ?x "
      "shape=2,12,5,2) (reshape (transpose (reshape ?w shape=7,4,3,1,1) perm=0,2,1,3,4) "
      "shape=7,12,1,1))",
      {{"x", {2, 3, 4, 5, 2}}, {"w", {7, 12, 1, 1}}}, "reshape.shape");
}

TEST(Generalise, StridesOfStridesAreProducts) {
  expect_form(
      "(maxpool (conv ?x ?w strides=?s1,?s2 pads=?p dilations=?d group=?g) kernel=1,1 "
      "strides=?t1,?t2 dilations=?e) => (conv ?x ?w strides=?s1*?t1,?s2*?t2 pads=?p "
      "group=?g) for x:nnnn w:nn11",
      "(maxpool (conv ?x ?w strides=2,2) kernel=1,1 strides=2,2) => (conv ?x ?w "
      "strides=4,4)",
      {{"x", {1, 2, 9, 9}}, {"w", {3, 2, 1, 1}}});
}

TEST(Generalise, ImagesOfOneSizeAreACondition) {
  expect_form("(add (conv ?x ?v" + kDense + " (conv ?y ?w" + kDense +
                  ") => (conv (concat ?x ?y axis=1) (concat ?v ?w axis=1)" + kDense +
                  " where v.2=w.2,v.3=w.3,x.2=y.2,x.3=y.3 for x:nnnn v:nnnn y:nnnn w:nnnn",
              "(add (conv ?x ?v pads=1,1,1,1) (conv ?y ?w pads=1,1,1,1)) => (conv (concat ?x ?y "
              "axis=1) (concat ?v ?w axis=1) pads=1,1,1,1)",
              kConvs);
  expect_form(
      "(concat (concat ?a ?b axis=1) (concat ?c ?d axis=1) axis=0) => (concat (concat ?a ?c "
      "axis=0) (concat ?b ?d axis=0) axis=1) where a.-1=c.-1 for a:nn b:nn c:nn d:nn",
      "(concat (concat ?a ?b axis=1) (concat ?c ?d axis=1) axis=0) => (concat (concat ?a ?c "
      "axis=0) (concat ?b ?d axis=0) axis=1)",
      {{"a", {2, 3}}, {"b", {2, 4}}, {"c", {5, 3}}, {"d", {5, 4}}});
}

TEST(Generalise, PointwiseKernelsBecomeThreeByThree) {
  const std::string text =
      "(add (conv ?x ?v pads=1,1,1,1) (conv ?x ?p)) => (conv ?x (add ?v (pad ?p "
      "pads=0,0,1,1,0,0,1,1)) pads=1,1,1,1)";
  expect_form(
      "(add (conv ?x ?v strides=?s pads=1,1,1,1 group=?g) (conv ?x ?p strides=?s dilations=?d "
      "group=?g)) => (conv ?x (add ?v (pad ?p pads=0,0,1,1,0,0,1,1)) strides=?s pads=1,1,1,1 "
      "group=?g) where v.2=3,v.3=3 for x:nnnn v:nnnn p:nn11",
      text, kConvs);
  expect_form(  // where strides are 1 shapes say the rest
      "(add (conv ?x ?v pads=?h,?i,?j,?k group=?g) (conv ?x ?p group=?g)) => (conv ?x (add ?v "
      "(pad ?p pads=0,0,?h,?i,0,0,?j,?k)) pads=?h,?i,?j,?k group=?g) for x:nnnn v:nnnn p:nnnn",
      text, kConvs);
  expect_form(
      "(conv ?x ?p strides=?s pads=?h,?i,?j,?k group=?g) => (conv ?x (pad ?p "
      "pads=0,0,1,1,0,0,1,1) strides=?s pads=?h+1,?i+1,?j+1,?k+1 group=?g) for x:nnnn p:nnnn",
      "(conv ?x ?p) => (conv ?x (pad ?p pads=0,0,1,1,0,0,1,1) pads=1,1,1,1)", kConvs);
}

TEST(Generalise, PadsAddUp) {
  const std::string text = "(conv (pad ?x pads=0,0,1,1,0,0,1,1) ?v) => (conv ?x ?v pads=1,1,1,1)";
  expect_form(
      "(conv (pad ?x pads=0,0,?h,?i,0,0,?j,?k) ?v strides=?s pads=?a,?b,?c,?e dilations=?d "
      "group=?g) => (conv ?x ?v strides=?s pads=?h+?a,?i+?b,?j+?c,?k+?e dilations=?d group=?g) "
      "for x:nnnn v:nnnn",
      text, kConvs);
  expect_form(
      "(conv (pad ?x pads=0,0,?h,?i,0,0,?j,?k) ?v strides=?s dilations=?d group=?g) => (conv ?x "
      "?v strides=?s pads=?h,?i,?j,?k dilations=?d group=?g) for x:nnnn v:nnnn",
      text, kConvs);
  expect_form(
      "(pad (pad ?x pads=?a,?b,?c,?d value=?v) pads=?e,?f,?g,?h value=?v) => (pad ?x "
      "pads=?a+?e,?b+?f,?c+?g,?d+?h value=?v) for x:nn",
      "(pad (pad ?x pads=1,1,1,1) pads=1,1,1,1) => (pad ?x pads=2,2,2,2)", {{"x", {2, 3}}});
}

TEST(Generalise, PointwiseConvolutionsPassPoolingAndResizing) {
  const std::string text =
      "(conv (avgpool ?x kernel=3,3 pads=1,1,1,1 include_pad=1) ?p) => (avgpool (conv ?x ?p) "
      "kernel=3,3 pads=1,1,1,1 include_pad=1)";
  expect_form(
      "(conv (avgpool ?x kernel=?k strides=?s,?t pads=?p dilations=?d include_pad=1) ?w "
      "strides=?u,?v dilations=?e group=?g) => (avgpool (conv ?x ?w group=?g) kernel=?k "
      "strides=?s*?u,?t*?v pads=?p dilations=?d include_pad=1) for x:nnnn w:nn11",
      text, kConvs);
  expect_form(
      "(conv (avgpool ?x kernel=?k strides=?s pads=?p dilations=?d include_pad=1) ?w "
      "dilations=?e group=?g) => (avgpool (conv ?x ?w group=?g) kernel=?k strides=?s pads=?p "
      "dilations=?d include_pad=1) for x:nnnn w:nn11",
      text, kConvs);
  expect_form(
      "(conv (resize-nearest ?x factors=?f) ?p dilations=?d group=?g) => (resize-nearest (conv "
      "?x ?p group=?g) factors=?f) for x:nnnn p:nn11",
      "(conv (resize-nearest ?x factors=2,2) ?p) => (resize-nearest (conv ?x ?p) factors=2,2)",
      kConvs);
  expect_form(
      "(conv (conv ?x ?v dilations=?d) ?w strides=?s pads=?p dilations=?e) => (conv ?x (conv ?w "
      "(transpose ?v perm=1,0,2,3)) strides=?s pads=?p dilations=?e) for x:nnnn v:nn11 w:nnnn",
      "(conv (conv ?x ?p) ?z) => (conv ?x (conv ?z (transpose ?p perm=1,0,2,3)))", kConvs);
}

TEST(Generalise, ConstantKernels) {
  expect_form(
      "(avgpool ?x kernel=?k strides=?s pads=?p dilations=?d include_pad=1) => (conv ?x "
      "(average-kernel channels=x.1 kernel=?k) strides=?s pads=?p dilations=?d group=x.1) for "
      "x:nnnn",
      "(avgpool ?x kernel=3,3 pads=1,1,1,1 include_pad=1) => (conv ?x (average-kernel channels=2 "
      "kernel=3,3) pads=1,1,1,1 group=2)",
      kConvs, "average-kernel.channels conv.group");
  expect_form(
      "(add (conv ?x ?v pads=1,1,1,1 group=?g) ?x) => (conv ?x (add ?v (identity-kernel "
      "channels=x.1 kernel=3,3 centre=1,1 group=?g)) pads=1,1,1,1 group=?g) for x:nnnn v:nnnn",
      "(add (conv ?x ?v pads=1,1,1,1) ?x) => (conv ?x (add ?v (identity-kernel channels=2 "
      "kernel=3,3 centre=1,1)) pads=1,1,1,1)",
      kConvs, "identity-kernel.channels");
  expect_form(
      "(conv ?x (identity-kernel channels=?c kernel=3,3 centre=1,1 group=?g) pads=1,1,1,1 "
      "group=?g) => ?x for x:nnnn",
      "(conv ?x (identity-kernel channels=2 kernel=3,3 centre=1,1) pads=1,1,1,1) => ?x", kConvs,
      "identity-kernel.channels");
}

TEST(Generalise, SlicesAndGathers) {
  const Shapes matrices = {{"x", {3, 4}}, {"y", {3, 4}}, {"w", {4, 5}}};
  expect_form(
      "(slice (matmul ?x ?w) begins=?b,0 sizes=?l,w.-1 steps=?s,1) => (matmul (slice ?x "
      "begins=?b,0 sizes=?l,x.-1 steps=?s,1) ?w) for x:nn w:nn",
      "(slice (matmul ?x ?w) begins=1,0 sizes=2,5) => (matmul (slice ?x begins=1,0 sizes=2,4) "
      "?w)",
      matrices);
  expect_form(
      "(slice (matmul ?x ?w) begins=0,?b sizes=x.-2,?l steps=1,?s) => (matmul ?x (slice ?w "
      "begins=0,?b sizes=x.-1,?l steps=1,?s)) for x:nn w:nn",
      "(slice (matmul ?x ?w) begins=0,1 sizes=3,2) => (matmul ?x (slice ?w begins=0,1 sizes=4,2))",
      matrices);
  expect_form(
      "(slice (add ?x ?y) begins=?b sizes=?l steps=?s) => (add (slice ?x begins=?b sizes=?l "
      "steps=?s) (slice ?y begins=?b sizes=?l steps=?s)) for x:nn y:nn",
      "(slice (add ?x ?y) begins=1,1 sizes=2,1) => (add (slice ?x begins=1,1 sizes=2,1) (slice ?y "
      "begins=1,1 sizes=2,1))",
      matrices);
  expect_form(
      "(slice (slice ?x begins=?a,?b sizes=?l) begins=?c,?d sizes=?m steps=?s) => (slice ?x "
      "begins=?a+?c,?b+?d sizes=?m steps=?s) for x:nn",
      "(slice (slice ?x begins=1,1 sizes=3,4) begins=1,2 sizes=2,1) => (slice ?x begins=2,3 "
      "sizes=2,1)",
      {{"x", {5, 6}}});
  expect_form(
      "(gather (matmul ?x ?w) axis=0 indices=?i+0) => (matmul (gather ?x axis=0 indices=?i+0) ?w) "
      "for x:nnn w:nn",
      "(gather (matmul ?x ?w) axis=0 indices=1) => (matmul (gather ?x axis=0 indices=1) ?w)",
      {{"x", {2, 3, 4}}, {"w", {4, 5}}});
}

TEST(Generalise, ShapesOfMatrices) {
  expect_form("(matmul (matmul ?x ?v) ?w) => (matmul ?x (matmul ?v ?w)) for x:nn v:nn w:nn",
              "(matmul (matmul ?x ?v) ?w) => (matmul ?x (matmul ?v ?w))",
              {{"x", {2, 3}}, {"v", {3, 4}}, {"w", {4, 5}}});
  expect_form("(transpose (transpose ?x perm=1,0) perm=1,0) => ?x for x:nn",
              "(transpose (transpose ?x perm=1,0) perm=1,0) => ?x", {{"x", {3, 4}}});
  expect_form("(reshape (reshape ?x shape=x.-2*x.-1) shape=x.-2,x.-1) => ?x for x:nn",
              "(reshape (reshape ?x shape=12) shape=3,4) => ?x", {{"x", {3, 4}}});
  expect_form(
      "(split (matmul ?x (concat ?v ?w axis=-1)) axis=-1 sizes=v.-1,w.-1)#1 => (matmul ?x "
      "?w) for x:nn v:nn w:nn",
      "(split (matmul ?x (concat ?v ?w axis=-1)) axis=-1 sizes=4,5)#1 => (matmul ?x ?w)",
      {{"x", {2, 3}}, {"v", {3, 4}}, {"w", {3, 5}}}, "split.sizes");
  expect_form("(mul (matmul ?x ?w) ?b) => (matmul (mul ?x ?b) ?w) for x:nn w:nn b:n1",
              "(mul (matmul ?x ?w) ?b) => (matmul (mul ?x ?b) ?w)",
              {{"x", {3, 4}}, {"w", {4, 5}}, {"b", {3, 1}}});
  expect_form("(add ?x (reshape ?b shape=1,x.-1)) => (add ?x ?b) for x:nn b:n",
              "(add ?x (reshape ?b shape=1,3)) => (add ?x ?b)", {{"x", {2, 3}}, {"b", {3}}});
}

TEST(Generalise, NumbersMayBeSizes) {
  expect_form("(avgpool ?x kernel=x.2,x.3 strides=?s) => (global-avgpool ?x) for x:nnnn",
              "(avgpool ?x kernel=2,2) => (global-avgpool ?x)", {{"x", {3, 5, 2, 2}}});
}

TEST(Generalise, RealsBecomeVariables) {
  const Shapes vectors = {{"x", {4, 3, 2, 2}}, {"a", {3}}, {"b", {3}}, {"m", {3}}, {"v", {3}}};
  expect_form(
      "(batchnorm ?x ?a ?b ?m ?v epsilon=?e) => (batchnorm ?x ?a ?b ?m (add ?v (full value=?e)) "
      "epsilon=0) for x:nnnn a:n b:n m:n v:n",
      "(batchnorm ?x ?a ?b ?m ?v epsilon=0.5) => (batchnorm ?x ?a ?b ?m (add ?v (full "
      "value=0.5)) epsilon=0)",
      vectors);
  const Shapes matrix = {{"x", {2, 3}}};
  expect_form("(clip (relu ?x) min=0 max=?m) => (clip ?x min=0 max=?m) for x:nn",
              "(clip (relu ?x) min=0 max=8) => (clip ?x min=0 max=8)", matrix);
  // Not below 0.
  expect_form("(relu (clip ?x min=0 max=?m)) => (clip ?x min=0 max=?m) where 0<=?m for x:nn",
              "(relu (clip ?x min=0 max=8)) => (clip ?x min=0 max=8)", matrix);
  // Two numbers that were equal at the witness.
  expect_form(
      "(mul (mul ?x (full value=?v)) (full value=?vv)) => (mul (mul ?x (full value=?vv)) (full "
      "value=?v)) for x:nn",
      "(mul (mul ?x (full value=0.5)) (full value=0.25)) => (mul (mul ?x (full "
      "value=0.25)) (full value=0.5))",
      matrix);
}

TEST(Generalise, NumbersThatSizesDetermineAreExpressions) {
  expect_form(
      "(transpose (reshape ?x shape=x.0,x.1,x.2*x.3) perm=0,2,1) => (reshape (transpose ?x "
      "perm=0,2,3,1) shape=x.0,x.2*x.3,x.1) for x:nnnn",
      "(transpose (reshape ?x shape=2,3,20) perm=0,2,1) => (reshape (transpose ?x "
      "perm=0,2,3,1) shape=2,20,3)",
      {{"x", {2, 3, 4, 5}}}, "reshape.shape");
  expect_form(
      "(reshape (transpose ?x perm=0,2,1) shape=x.0,x.2,?h,?i) => (transpose (reshape ?x "
      "shape=x.0,?h,?i,x.2) perm=0,3,1,2) for x:nnn",
      "(reshape (transpose ?x perm=0,2,1) shape=3,5,2,2) => (transpose (reshape ?x "
      "shape=3,2,2,5) perm=0,3,1,2)",
      {{"x", {3, 4, 5}}}, "reshape.shape");
  expect_form(
      "(slice ?x sizes=x.0,x.1,?h,?i steps=1,1,?s,?t) => (maxpool ?x kernel=1,1 "
      "strides=?s,?t) where x.2=?h*?s,x.3=?i*?t for x:nnnn",
      "(slice ?x begins=0,0,0,0 sizes=2,5,2,3 steps=1,1,2,2) => (maxpool ?x kernel=1,1 "
      "strides=2,2)",
      {{"x", {2, 5, 4, 6}}}, "slice.sizes");
  expect_form("(mul ?x (full shape=x.-1 value=1)) => ?x for x:nn",
              "(mul ?x (full shape=3 value=1)) => ?x", {{"x", {2, 3}}}, "full.shape");
}

TEST(Generalise, CoincidencesOfTheWitnessAreNoRules) {
  expect_none(
      "(reduce-mean ?x axes=-1 keepdims=1) => (mul (reduce-sum ?x axes=-1 keepdims=1) "
      "(full value=0.5))",
      {{"x", {3, 2}}});
  expect_none(
      "(mul (reduce-mean ?x axes=-1 keepdims=1) (full value=3)) => (reduce-sum ?x axes=-1 "
      "keepdims=1)",
      {{"x", {2, 3}}});
  expect_none("(gather ?x axis=0 indices=0,1 shape=2) => ?x", {{"x", {2, 3}}});
  expect_none(
      "(slice (concat ?x ?y axis=0) begins=4,1 sizes=1,2) => (slice ?y begins=1,1 "
      "sizes=1,2)",
      {{"x", {3, 4}}, {"y", {2, 4}}});
}

TEST(Generalise, SeedsDoNotMatter) {
  Witness w(
      "(add (conv ?x ?v pads=1,1,1,1) (conv ?x ?w pads=1,1,1,1)) => (conv ?x (add ?v ?w) "
      "pads=1,1,1,1)",
      kConvs, "");
  std::set<std::string> keys;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const Generalised& g : generalise(w.bank, w.lhs, w.rhs, seed))
      keys.insert(canonical_key(g.rule));
  EXPECT_EQ(keys.size(), 1u);
}

TEST(Generalise, ThreadsShareABank) {
  Witness w(
      "(slice (matmul ?x ?w) begins=1,0 sizes=2,5) => (matmul (slice ?x begins=1,0 "
      "sizes=2,4) ?w)",
      {{"x", {3, 4}}, {"w", {4, 5}}}, "");
  std::vector<std::string> keys(8);
  parallel_for(keys.size(), 4, [&](size_t k) {
    for (const Generalised& g : generalise(w.bank, w.lhs, w.rhs, 20))
      keys[k] += canonical_key(g.rule);
  });
  EXPECT_FALSE(keys[0].empty());
  for (const std::string& key : keys) EXPECT_EQ(key, keys[0]);
}

TEST(Domain, OneSpatialAxisMoreOrLess) {
  auto rule = parse_rule("r  (conv (add ?a ?b) ?c ?e" + kOpen + " => (add (conv ?a ?c ?e" + kOpen +
                         " (conv ?b ?c" + kOpen + ")");
  ASSERT_TRUE(rule);
  auto domain = domain_of(*rule, {"nnnn", "nnnn", "nnnn", "n"}, 3);
  for (const char* word : {"nnn", "nnnn", "nnnnn"}) {
    Signature s = {word, word, word, "n"};
    EXPECT_EQ(std::count(domain.begin(), domain.end(), s), 1) << word;
  }
}

TEST(Generalise, ASliceOfASliceIsOne) {
  expect_form(
      "(slice (slice ?x begins=?a,?b sizes=?s steps=?e,?f) begins=?c,?d sizes=?t steps=?g,?h) => "
      "(slice ?x begins=?a+?c*?e,?b+?d*?f sizes=?t steps=?e*?g,?f*?h) for x:nn",
      "(slice (slice ?x begins=1,2 sizes=9,7 steps=2,2) begins=1,1 sizes=2,2 steps=3,2) => "
      "(slice ?x begins=3,4 sizes=2,2 steps=6,4)",
      {{"x", {23, 19}}});
}

TEST(Generalise, NumbersOfOtherAttributesOpenTogether) {
  expect_form(
      "(slice (pad ?x pads=?a,?b,?c,?d value=?v) begins=?a,?b sizes=x.-2,x.-1) => ?x for x:nn",
      "(slice (pad ?x pads=3,4,5,6) begins=3,4 sizes=2,7) => ?x", {{"x", {2, 7}}}, "slice.sizes");
}

TEST(Generalise, AnExtentIsASumOfNumbers) {
  expect_form(
      "(concat (slice ?x sizes=x.-2,?k) (slice ?x begins=0,?k sizes=x.-2,?l) axis=1) => "
      "?x where x.-1=?k+?l for x:nn",
      "(concat (slice ?x begins=0,0 sizes=9,4) (slice ?x begins=0,4 sizes=9,9) axis=1) => ?x",
      {{"x", {9, 13}}}, "slice.sizes");
}

TEST(Generalise, WhatTheRightSideAsksForIsLeftToTheVerifier) {
  expect_form(
      "(gather (concat ?a ?b axis=0) axis=0 indices=?i+0 shape=1) => "
      "(gather ?a axis=0 indices=?i+0 shape=1) for a:nn b:nn",
      "(gather (concat ?a ?b axis=0) axis=0 indices=3 shape=1) => "
      "(gather ?a axis=0 indices=3 shape=1)",
      {{"a", {6, 4}}, {"b", {5, 4}}});
}

TEST(Domain, ElementsAreBroadcast) {
  auto rule = parse_rule("r  (add (add ?a ?b) ?c) => (add ?a (add ?b ?c))");
  ASSERT_TRUE(rule);
  auto domain = domain_of(*rule, {"nn", "nn", "nn"}, 3);
  for (const Signature& s : {Signature{"nnn", "n", "n"}, Signature{"nnnn", "nnnn", "-"},
                             Signature{"nnn", "nn", "nnn"}, Signature{"nn", "nn", "nn"}})
    EXPECT_EQ(std::count(domain.begin(), domain.end(), s), 1) << s[0] << s[1] << s[2];
  auto product = parse_rule("r  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))");
  EXPECT_TRUE(domain_of(*product, {"nn", "nn", "nn"}, 3).empty());
}

TEST(Domain, AxesOfOneInFront) {
  auto rule = parse_rule("r  (mul (conv ?x ?w" + kOpen +
                         " ?c) => (conv ?x (mul ?w (reshape ?c shape=w.0,1,1,1))" + kOpen);
  ASSERT_TRUE(rule);
  auto domain = domain_of(*rule, {"nnnn", "nnnn", "n11"}, 3);
  Signature full = {"nnnn", "nnnn", "1n11"};
  EXPECT_EQ(std::count(domain.begin(), domain.end(), full), 1);
}

TEST(Generalise, ExtentsAreProductsOfNumbersThatNoExtentIs) {
  expect_form(
      "(reshape (transpose (reshape ?x shape=x.0,?b,?b,?c,x.2,x.3) perm=0,3,4,1,5,2) "
      "shape=x.0,?c,?b*x.2,?b*x.3) => (depth-to-space ?x blocksize=?b crd=0) for x:nnnn",
      "(reshape (transpose (reshape ?x shape=3,2,2,5,7,9) perm=0,3,4,1,5,2) "
      "shape=3,5,14,18) => (depth-to-space ?x blocksize=2 crd=0)",
      {{"x", {3, 20, 7, 9}}}, "reshape.shape depth-to-space.blocksize");
  auto slices = [](const std::string& sizes) {
    std::string s = "(concat";
    for (const char* begins : {"", " begins=0,0,0,1", " begins=0,0,1,0", " begins=0,0,1,1"})
      s += " (slice ?x" + std::string(begins) + " sizes=" + sizes + " steps=1,1,2,2)";
    return s + " axis=1)";
  };
  expect_form(slices("x.0,x.1,?h,?w") +
                  " => (space-to-depth ?x blocksize=2) where x.2=2*?h,x.3=2*?w for x:nnnn",
              slices("2,3,4,5") + " => (space-to-depth ?x blocksize=2)", {{"x", {2, 3, 8, 10}}},
              "slice.sizes");
}

}  // namespace
}  // namespace regraft::gen
