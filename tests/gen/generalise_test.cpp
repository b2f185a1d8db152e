// From one witness to the most general rule.
#include "gen/generalise.h"

#include <gtest/gtest.h>

#include "gen/domain.h"
#include "ir/text.h"

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

const Shapes kConvs = {{"x", {1, 2, 3, 4}}, {"y", {1, 2, 3, 4}}, {"v", {2, 2, 3, 3}},
                       {"w", {2, 2, 3, 3}}, {"p", {2, 2, 1, 1}}, {"q", {3, 2, 1, 1}},
                       {"z", {3, 2, 3, 3}}};

TEST(Generalise, SumOfConvolutionsOfOneInput) {
  expect_form(
      "(add (conv ?x ?v strides=?s pads=?p dilations=?d group=?g) (conv ?x ?w strides=?s pads=?p "
      "dilations=?d group=?g)) => (conv ?x (add ?v ?w) strides=?s pads=?p dilations=?d group=?g) "
      "where v.2=w.2,v.3=w.3 for x:nnnn v:nnnn w:nnnn",
      "(add (conv ?x ?v pads=1,1,1,1) (conv ?x ?w pads=1,1,1,1)) => (conv ?x (add ?v ?w) "
      "pads=1,1,1,1)",
      kConvs);
}

TEST(Generalise, Print) {
  struct Case {
    const char* text;
    Shapes shapes;
    const char* sized;
  };
  std::vector<Case> cases = {
      {"(conv ?x (add ?v ?w) pads=1,1,1,1) => (add (conv ?x ?v pads=1,1,1,1) (conv ?x ?w "
       "pads=1,1,1,1))",
       kConvs, ""},
      {"(add (conv ?x ?v pads=1,1,1,1) (conv ?x ?w pads=1,1,1,1)) => (conv ?x (add ?v ?w) "
       "pads=1,1,1,1)",
       kConvs, ""},
      {"(concat (conv ?x ?v pads=1,1,1,1) (conv ?x ?z pads=1,1,1,1) axis=1) => (conv ?x (concat ?v "
       "?z axis=0) pads=1,1,1,1)",
       kConvs, ""},
      {"(add (conv ?x ?v pads=1,1,1,1) (conv ?x ?p)) => (conv ?x (add ?v (pad ?p "
       "pads=0,0,1,1,0,0,1,1)) pads=1,1,1,1)",
       kConvs, ""},
      {"(conv ?x ?p) => (conv ?x (pad ?p pads=0,0,1,1,0,0,1,1) pads=1,1,1,1)", kConvs, ""},
      {"(conv (pad ?x pads=0,0,1,1,0,0,1,1) ?v) => (conv ?x ?v pads=1,1,1,1)", kConvs, ""},
      {"(conv (pad ?x pads=0,0,1,1,0,0,1,1) ?v pads=1,1,1,1) => (conv ?x ?v pads=2,2,2,2)", kConvs,
       ""},
      {"(pad (pad ?x pads=1,1,1,1) pads=1,1,1,1) => (pad ?x pads=2,2,2,2)", {{"x", {2, 3}}}, ""},
      {"(avgpool (conv ?x ?p) kernel=3,3 pads=1,1,1,1 include_pad=1) => (conv (avgpool ?x "
       "kernel=3,3 pads=1,1,1,1 include_pad=1) ?p)",
       kConvs, ""},
      {"(conv (avgpool ?x kernel=3,3 pads=1,1,1,1 include_pad=1) ?p) => (avgpool (conv ?x ?p) "
       "kernel=3,3 pads=1,1,1,1 include_pad=1)",
       kConvs, ""},
      {"(conv (resize-nearest ?x factors=2,2) ?p) => (resize-nearest (conv ?x ?p) factors=2,2)",
       kConvs, ""},
      {"(conv (conv ?x ?p) ?z pads=0,0,0,0) => (conv ?x (conv ?z (transpose ?p perm=1,0,2,3)))",
       kConvs, ""},
      {"(conv (conv ?x ?v pads=1,1,1,1) ?q) => (conv ?x (transpose (conv (transpose ?v "
       "perm=1,0,2,3) ?q) perm=1,0,2,3) pads=1,1,1,1)",
       kConvs, ""},
      {"(slice (slice ?x begins=1,1 sizes=3,4) begins=1,2 sizes=2,1) => (slice ?x begins=2,3 "
       "sizes=2,1)",
       {{"x", {5, 6}}},
       ""},
      {"(slice (matmul ?x ?w) begins=1,0 sizes=2,5) => (matmul (slice ?x begins=1,0 sizes=2,4) ?w)",
       {{"x", {3, 4}}, {"w", {4, 5}}},
       ""},
      {"(slice (matmul ?x ?w) begins=0,1 sizes=3,2) => (matmul ?x (slice ?w begins=0,1 sizes=4,2))",
       {{"x", {3, 4}}, {"w", {4, 5}}},
       ""},
      {"(slice (add ?x ?y) begins=1,1 sizes=2,1) => (add (slice ?x begins=1,1 sizes=2,1) (slice ?y "
       "begins=1,1 sizes=2,1))",
       {{"x", {3, 4}}, {"y", {3, 4}}},
       ""},
      {"(slice (concat ?x ?y axis=0) begins=4,1 sizes=1,2) => (slice ?y begins=1,1 sizes=1,2)",
       {{"x", {3, 4}}, {"y", {2, 4}}},
       ""},
      {"(gather (matmul ?x ?w) axis=0 indices=1) => (matmul (gather ?x axis=0 indices=1) ?w)",
       {{"x", {2, 3, 4}}, {"w", {4, 5}}},
       ""},
      {"(gather (add ?x ?y) axis=0 indices=1,0 shape=2) => (add (gather ?x axis=0 indices=1,0 "
       "shape=2) (gather ?y axis=0 indices=1,0 shape=2))",
       {{"x", {3, 4}}, {"y", {3, 4}}},
       ""},
      {"(transpose (transpose ?x perm=1,0) perm=1,0) => ?x", {{"x", {3, 4}}}, ""},
      {"(reshape (reshape ?x shape=12) shape=3,4) => ?x", {{"x", {3, 4}}}, ""},
      {"(reshape (reshape ?x shape=6,2) shape=2,6) => (reshape ?x shape=2,6)", {{"x", {3, 4}}}, ""},
      {"(conv ?x (identity-kernel channels=2 kernel=3,3 centre=1,1) pads=1,1,1,1) => ?x", kConvs,
       "identity-kernel.channels"},
      {"(add (conv ?x ?v pads=1,1,1,1) ?x) => (conv ?x (add ?v (identity-kernel channels=2 "
       "kernel=3,3 centre=1,1)) pads=1,1,1,1)",
       kConvs, "identity-kernel.channels"},
      {"(conv ?x ?d pads=1,1,1,1 group=2) => (conv ?x (mul ?d (full value=1)) pads=1,1,1,1 "
       "group=2)",
       {{"x", {1, 2, 3, 4}}, {"d", {2, 1, 3, 3}}},
       "conv.group"},
      {"(avgpool ?x kernel=3,3 pads=1,1,1,1 include_pad=1) => (conv ?x (average-kernel channels=2 "
       "kernel=3,3) pads=1,1,1,1 group=2)",
       kConvs, "average-kernel.channels conv.group"},
      {"(split (concat ?x ?y axis=1) axis=1 sizes=3,2)#1 => ?y",
       {{"x", {4, 3}}, {"y", {4, 2}}},
       "split.sizes"},
      {"(split (matmul ?x (concat ?v ?w axis=-1)) axis=-1 sizes=4,5)#1 => (matmul ?x ?w)",
       {{"x", {2, 3}}, {"v", {3, 4}}, {"w", {3, 5}}},
       "split.sizes"},
      {"(matmul (matmul ?x ?v) ?w) => (matmul ?x (matmul ?v ?w))",
       {{"x", {2, 3}}, {"v", {3, 4}}, {"w", {4, 5}}},
       ""},
      {"(mul (avgpool ?x kernel=2,2) ?s) => (avgpool (mul ?x ?s) kernel=2,2)",
       {{"x", {1, 2, 3, 4}}, {"s", {}}},
       ""},
      {"(avgpool ?x kernel=2,2) => (global-avgpool ?x)", {{"x", {3, 5, 2, 2}}}, ""},
      {"(conv (conv ?x ?p) ?q) => (conv ?x (conv ?q (transpose ?p perm=1,0,2,3)))", kConvs, ""},
      {"(mul (matmul ?x ?w) ?b) => (matmul (mul ?x ?b) ?w)",
       {{"x", {3, 4}}, {"w", {4, 5}}, {"b", {3, 1}}},
       ""},
      {"(add ?x (reshape ?b shape=1,3)) => (add ?x ?b)", {{"x", {2, 3}}, {"b", {3}}}, ""},
  };
  for (const Case& c : cases) {
    auto start = std::chrono::steady_clock::now();
    auto f = forms(c.text, c.shapes, c.sized);
    double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    printf("%s\n  [%.1f ms]%s\n", c.text, ms, printed(f).c_str());
  }
}

}  // namespace
}  // namespace regraft::gen
