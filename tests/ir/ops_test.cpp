// What every operator of the registry must satisfy, on its own samples.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "ir/algebra/trace.h"
#include "ir/rule/op_digest.h"
#include "tests/ir/graphs.h"
#include "tests/ir/sum_value.h"

namespace regraft {
namespace {

struct Ops : ::testing::TestWithParam<const OpDef*> {
  const OpDef& op = *GetParam();
  std::vector<Sample> samples = op.samples();

  static std::vector<Array<Residue>> residues(const Sample& s) {
    std::vector<Array<Residue>> r;
    for (size_t k = 0; k < s.shapes.size(); ++k)
      r.push_back(random_residues(static_cast<int>(k), s.shapes[k], 99));
    return r;
  }
  template <class S>
  static std::vector<const Array<S>*> pointers(const std::vector<Array<S>>& arrays) {
    std::vector<const Array<S>*> r;
    for (const auto& a : arrays) r.push_back(&a);
    return r;
  }
  auto field_values(const Sample& s) {
    Field field(99);
    auto operands = residues(s);
    return evaluate_call(field, op, pointers(operands), s.attrs);
  }
  /// The number of an attribute.
  struct Place {
    size_t attr = 0;
    std::optional<size_t> number;  ///< of an integer attribute
  };
  /// The element that symbols give has the value of the field's. `symbol`: the number that is one.
  void compare_with_symbols(const Sample& s, std::optional<Place> symbol);
};

TEST_P(Ops, HasSamplesAndAConsistentRow) {
  EXPECT_FALSE(samples.empty());
  EXPECT_EQ(find_op(op.name), &op);
  EXPECT_LE(op.min_arity, op.max_arity);
  EXPECT_TRUE(op.outputs > 0 || op.outputs_attr >= 0);
  if (op.commutative) {
    EXPECT_GE(op.min_arity, 2);
  }
  std::set<std::string_view> names;
  for (const auto& a : op.ints) EXPECT_TRUE(names.insert(a.name).second) << a.name;
  for (const auto& a : op.reals) EXPECT_TRUE(names.insert(a.name).second) << a.name;
  for (std::string_view type : op.onnx) {
    auto imported = ops_for_onnx(type);
    EXPECT_NE(std::find(imported.begin(), imported.end(), &op), imported.end());
  }
}

TEST(DenseKernels, NormaliseWithAScaleOfMoreAxesThanTheyNormalise) {
  const OpDef& op = *find_op("layernorm");
  Attrs<int64_t> last{{{-1}}, {{0.5, nullptr}}};
  Rng rng(5);
  std::vector<Array<double>> operands{{{2, 2, 3}, {}}, {{2, 3}, {}}, {{3}, {}}};
  for (Array<double>& a : operands)
    for (int64_t n = a.shape.size() == 3 ? 12 : a.shape.size() == 2 ? 6 : 3; n-- > 0;)
      a.data.push_back(rng.unit());
  std::vector<const Array<double>*> in{&operands[0], &operands[1], &operands[2]};
  auto fast = evaluate_reals(op, in, last);
  Reals reals;
  auto formula = evaluate_call(reals, op, in, last);
  ASSERT_TRUE(fast && formula);
  for (size_t e = 0; e < 12; ++e)
    EXPECT_NEAR((*fast)[0].data[e], (*formula)[0].data[e], 1e-12) << e;
}

TEST_P(Ops, EvaluatesItsSamples) {
  for (const Sample& s : samples) {
    Rng rng(5);
    std::vector<Array<double>> operands;
    for (const auto& shape : s.shapes) {
      Array<double> a{shape, {}};
      for (size_t n = random_residues(0, shape, 1).data.size(); n-- > 0;)
        a.data.push_back(rng.unit() + 0.1);
      operands.push_back(std::move(a));
    }
    auto x = evaluate_reals(op, pointers(operands), s.attrs);
    ASSERT_TRUE(x) << x.error().message;
    EXPECT_EQ(static_cast<int>(x->size()), output_count(op, symbolic(s.attrs)));
    for (const auto& a : *x)
      for (double v : a.data) EXPECT_TRUE(std::isfinite(v));
    Reals reals;  // the formula itself, where evaluate_reals may take a dense kernel
    auto formula = evaluate_call(reals, op, pointers(operands), s.attrs);
    ASSERT_TRUE(formula);
    for (size_t k = 0; k < x->size(); ++k)
      for (size_t e = 0; e < (*x)[k].data.size(); ++e)
        EXPECT_NEAR((*x)[k].data[e], (*formula)[k].data[e], 1e-9);
    auto y = field_values(s);
    ASSERT_TRUE(y);
    for (size_t k = 0; k < x->size(); ++k) EXPECT_EQ((*x)[k].shape, (*y)[k].shape);
  }
}

/// What a tape computes, in doubles.
std::vector<double> run(const Tape& tape, const std::vector<Array<double>>& operands) {
  std::vector<double> v;
  Reals reals;
  auto of = [&](int32_t k) { return v[static_cast<size_t>(k)]; };
  for (const Tape::Step& s : tape.steps) switch (s.kind) {
      case Tape::Constant: {
        const Tape::Number& c = tape.numbers[static_cast<size_t>(s.a)];
        v.push_back(c.d == 0 ? c.real : reals.constant(c.n, c.d));
        break;
      }
      case Tape::Read:
        v.push_back(operands[static_cast<size_t>(s.a)].data[static_cast<size_t>(s.b)]);
        break;
      case Tape::Add:
        v.push_back(of(s.a) + of(s.b));
        break;
      case Tape::Mul:
        v.push_back(of(s.a) * of(s.b));
        break;
      case Tape::Apply:
        v.push_back(reals.apply(s.fn, of(s.a)));
        break;
      case Tape::Clip: {
        const auto& [low, high] = tape.bounds[static_cast<size_t>(s.b)];
        v.push_back(reals.clip(of(s.a), low, high));
        break;
      }
      case Tape::Max: {
        std::vector<double> all;
        for (int32_t k = s.a; k < s.b; ++k)
          all.push_back(of(tape.arguments[static_cast<size_t>(k)]));
        v.push_back(reals.maximum(all));
        break;
      }
      case Tape::Choose: {
        auto argument = [&](int32_t k) { return of(tape.arguments[static_cast<size_t>(s.a + k)]); };
        v.push_back(chosen(argument(0), argument(1), argument(2)));
        break;
      }
    }
  return v;
}

TEST_P(Ops, TheFloatingPointFormIsTheFormulaOverTheReals) {
  for (const Sample& s : samples) {
    Rng rng(11);
    std::vector<Array<double>> operands;
    Tape tape;
    Trace trace(tape);
    std::vector<std::vector<Traced>> elements(s.shapes.size());
    std::vector<NumTensor<Traced>> views;
    for (size_t k = 0; k < s.shapes.size(); ++k) {
      Array<double> a{s.shapes[k], {}};
      for (size_t e = 0, n = random_residues(0, a.shape, 1).data.size(); e < n; ++e) {
        a.data.push_back(rng.unit() + 0.1);
        elements[k].push_back(trace.element(static_cast<int>(k), static_cast<int64_t>(e)));
      }
      operands.push_back(std::move(a));
      views.emplace_back(s.shapes[k], elements[k].data());
    }
    Reals reals;
    auto formula = evaluate_call(reals, op, pointers(operands), s.attrs);
    ASSERT_TRUE(formula);
    for (size_t k = 0; k < formula->size(); ++k) {
      std::vector<Traced> results((*formula)[k].data.size());
      op.fill_float(trace, views, s.attrs, (*formula)[k].shape, static_cast<int>(k), 0, results);
      ASSERT_TRUE(trace.ok);
      std::vector<double> values = run(tape, operands);
      for (size_t e = 0; e < results.size(); ++e)
        EXPECT_NEAR(values[static_cast<size_t>(results[e].step)], (*formula)[k].data[e], 1e-9);
    }
  }
}

TEST_P(Ops, InfersTheSameShapesFromSymbols) {
  for (const Sample& s : samples) {
    auto expected = field_values(s);
    ASSERT_TRUE(expected);
    SymbolPool pool;
    std::vector<TensorType> operands;
    for (const auto& shape : s.shapes) operands.push_back({DType::F32, shape_of(shape)});
    auto types = infer_call(pool, op, operands, symbolic(s.attrs));
    ASSERT_TRUE(types) << types.error().message;
    ASSERT_EQ(types->size(), expected->size());
    for (size_t k = 0; k < types->size(); ++k)
      EXPECT_EQ(numeric(*(*types)[k].shape), (*expected)[k].shape);
  }
}

void Ops::compare_with_symbols(const Sample& s, std::optional<Place> symbol) {
  auto expected = field_values(s);
  ASSERT_TRUE(expected);
  auto inputs = residues(s);
  SymbolPool pool;
  Symbolic alg(pool);
  Valuation sizes;  // every size above 1 is a symbol
  Shapes<Symbolic> shapes;
  std::vector<SymbolicTensor> tensors;
  int64_t extent = 2;
  for (size_t k = 0; k < s.shapes.size(); ++k) {
    shapes.emplace_back();
    for (size_t d = 0; d < s.shapes[k].size(); ++d) {
      int64_t n = s.shapes[k][d];
      extent = std::max(extent, n + 1);
      Var v = pool.named("t" + std::to_string(k) + "." + std::to_string(d));
      sizes[v] = n;
      shapes.back().push_back(n == 1 ? Poly(1) : Poly::symbol(v));
    }
    tensors.push_back(input_tensor(alg, static_cast<int>(k), shapes.back()));
  }
  for (const auto& list : s.attrs.ints)
    for (int64_t n : list) extent = std::max(extent, n + 1);
  Attrs<Poly> attrs = symbolic(s.attrs);
  if (symbol) {
    const auto [attr, number] = *symbol;
    Var v = pool.named("r", -8);
    if (number) {
      sizes[v] = s.attrs.ints[attr][*number];
      attrs.ints[attr][*number] = Poly::symbol(v);
    } else {
      attrs.reals[attr].symbol = v;
    }
  }
  std::vector<Formula> required;
  alg.on_require = [&](const Formula& f) { required.push_back(f); };
  auto inferred = op.symbolic_semantics.infer(alg, shapes, attrs);
  ASSERT_TRUE(inferred) << inferred.error().message;
  for (const Formula& f : required) EXPECT_TRUE(evaluate(f, sizes)) << to_string(f);
  Field field(99);
  SumValue value{field, inputs, extent};
  for (size_t out = 0; out < inferred->size(); ++out) {
    const auto& shape = (*expected)[out].shape;
    for (size_t d = 0; d < shape.size(); ++d)
      EXPECT_EQ(evaluate((*inferred)[out][d], sizes), shape[d]);
    size_t count = (*expected)[out].data.size();
    if (count == 0) continue;
    for (size_t flat : std::set<size_t>{0, count / 3, count / 2, count - 1}) {
      std::vector<Poly> at(shape.size());
      auto rest = static_cast<int64_t>(flat);
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = Poly(rest % shape[d]);
      Sum element = op.symbolic_semantics.element(alg, tensors, attrs, at, static_cast<int>(out));
      const Residue& wanted = (*expected)[out].data[flat];
      if (is_defined(wanted)) EXPECT_EQ(value.of(element, sizes), wanted) << "element " << flat;
    }
  }
}

TEST_P(Ops, SymbolicElementHasTheValueOfTheFieldElement) {
  for (const Sample& s : samples) compare_with_symbols(s, std::nullopt);
}

// Rules have variables there: what is special about a number must be so for them, or excluded.
TEST_P(Ops, ASymbolMeansWhatItsNumberDoes) {
  for (Sample s : samples)
    for (size_t k = 0; k < op.reals.size(); ++k)
      for (double x : {op.reals[k].fallback, 0.0, 1.0, -0.5}) {
        if ((x == 0 && op.reals[k].zero_is_default) || !std::isfinite(x)) continue;
        Sample changed = s;
        changed.attrs.reals[k].value = x;
        SCOPED_TRACE(fmt::format("{} = {}", op.reals[k].name, x));
        compare_with_symbols(changed, Place{k, std::nullopt});
      }
}

TEST_P(Ops, ASymbolMeansWhatItsIntegerDoes) {
  for (Sample s : samples)
    for (size_t k = 0; k < op.ints.size(); ++k)
      for (size_t j = 0; j < s.attrs.ints[k].size() && !op.ints[k].structural; ++j)
        for (int64_t n : {s.attrs.ints[k][j], int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}}) {
          Sample changed = s;
          changed.attrs.ints[k][j] = n;
          if (!field_values(changed)) continue;
          SCOPED_TRACE(fmt::format("{}[{}] = {}", op.ints[k].name, j, n));
          compare_with_symbols(changed, Place{k, j});
        }
}

TEST_P(Ops, TermsAgreeWithTheFieldWherePolynomial) {
  for (const Sample& s : samples) {
    auto expected = field_values(s);
    auto inputs = residues(s);
    TermStore store;
    Terms terms(store);
    std::map<int32_t, Residue> value_of_atom;
    std::vector<Array<Term>> operands;
    for (size_t k = 0; k < inputs.size(); ++k) {
      operands.push_back({inputs[k].shape, {}});
      for (size_t i = 0; i < inputs[k].data.size(); ++i) {
        Term x = terms.element(static_cast<int>(k), static_cast<int64_t>(i));
        operands.back().data.push_back(x);
        value_of_atom[store.body(x).begin()->first[0]] = inputs[k].data[i];
      }
    }
    auto results = evaluate_call(terms, op, pointers(operands), s.attrs);
    ASSERT_TRUE(results && expected);
    for (size_t out = 0; out < results->size(); ++out)
      for (size_t i = 0; i < (*results)[out].data.size(); ++i) {
        Residue total{0};
        bool polynomial = true;
        for (const auto& [mono, c] : store.body((*results)[out].data[i])) {
          Residue product = residue_of(c.n) * inverse(residue_of(c.d));
          for (int32_t atom : mono) {
            polynomial = polynomial && value_of_atom.count(atom);
            if (polynomial) product = product * value_of_atom[atom];
          }
          total = total + product;
        }
        if (polynomial) {
          ASSERT_EQ(total, (*expected)[out].data[i]);
        }
      }
  }
}

TEST_P(Ops, CountsItsWork) {
  for (const Sample& s : samples) {
    double flops = operation_count(op, s.shapes, s.attrs);
    EXPECT_TRUE(std::isfinite(flops));
    EXPECT_GE(flops, 0);
  }
}

TEST_P(Ops, TextRoundTrips) {
  for (const Sample& s : samples) {
    Graph g;
    std::vector<Value> operands;
    for (const auto& shape : s.shapes)
      operands.push_back(g.add_input({DType::F32, shape_of(shape)}));
    auto id = g.add_call(op, operands, symbolic(s.attrs));
    ASSERT_TRUE(id) << id.error().message;
    std::vector<Value> outputs;
    for (int k = 0; k < output_count(op, symbolic(s.attrs)); ++k) outputs.push_back({*id, k});
    g.set_outputs(outputs);
    auto h = parse_graph(to_string(g));
    ASSERT_TRUE(h) << to_string(g) << h.error().message;
    EXPECT_EQ(to_string(*h), to_string(g));
    EXPECT_TRUE(structurally_equal(g, *h));
  }
}

TEST_P(Ops, CommutesExactlyWhereDeclared) {
  bool commutes = op.min_arity >= 2;
  for (const Sample& s : samples) {
    if (s.shapes.size() < 2) continue;
    auto operands = residues(s);
    Field field(99);
    auto x = evaluate_call(field, op, pointers(operands), s.attrs);
    std::swap(operands[0], operands[1]);
    auto y = evaluate_call(field, op, pointers(operands), s.attrs);
    ASSERT_TRUE(x);
    commutes = commutes && y && equal(*x, *y);
  }
  EXPECT_EQ(op.commutative, commutes);
}

/// Of the commutative operators without attributes, those whose chains may be grouped anew.
TEST_P(Ops, AssociatesExactlyWhereDeclared) {
  bool associates = op.commutative && op.min_arity == 2 && op.max_arity == 2 && op.ints.empty() &&
                    op.reals.empty() && op.outputs == 1;
  for (const Sample& s : samples) {
    if (!associates) break;
    auto operands = residues({{s.shapes[0], s.shapes[1], s.shapes[0]}, s.attrs});
    auto type = op.typed(op, symbolic(s.attrs), std::vector<DType>(2, DType::F32));
    for (size_t k = 0; type && *type == DType::Bool && k < 3; ++k)  // 5, 5 and 1: some are equal
      for (Residue& x : operands[k].data) x = residue_of(int64_t{k < 2 ? 5 : 1});
    Field field(99);
    auto call = [&](const Array<Residue>& a, const Array<Residue>& b) {
      auto r = evaluate_call(field, op, {&a, &b}, s.attrs);
      return r ? (*r)[0] : Array<Residue>{};
    };
    auto x = call(call(operands[0], operands[1]), operands[2]);
    auto y = call(operands[0], call(operands[1], operands[2]));
    ASSERT_FALSE(x.data.empty());
    associates = x.shape == y.shape && x.data == y.data;
  }
  EXPECT_EQ(op.associative, associates);
}

/// Were its formula or table another operator's, its meaning would be another.
TEST_P(Ops, HasAMeaningOfItsOwn) {
  EXPECT_EQ(meaning_of(op), known_meaning(op));
  for (const OpDef* other : all_ops()) {
    if (other == &op) continue;
    OpDef renamed = *other;
    renamed.name = op.name;
    EXPECT_NE(meaning_of(renamed), known_meaning(op)) << other->name;
  }
  OpDef changed = op;
  changed.samples = [] { return std::vector<Sample>(); };
  EXPECT_NE(meaning_of(changed), known_meaning(op));
  for (size_t k = 0; k < op.ints.size(); ++k) {
    std::vector<IntAttr> ints(op.ints.begin(), op.ints.end());
    ints[k].fallback = ints[k].fallback.value_or(0) + 1;
    changed = op;
    changed.ints = ints;
    EXPECT_NE(meaning_of(changed), known_meaning(op));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ops, ::testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const auto& i) {
                           std::string name(i.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace regraft
