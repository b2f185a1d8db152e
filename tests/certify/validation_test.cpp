// Validations and their certificates, as an enemy would write them.
#include "certify/validation.h"

#include <nlohmann/json.hpp>

#include "certify/json_parts.h"
#include "tests/rewrite/support.h"

namespace regraft::certify {
namespace {

using nlohmann::json;
using rewrite::call;
using rewrite::input;
using rewrite::weight;

io::Imported imported(Graph g) {
  auto m = io::model_of(std::move(g), 17);
  EXPECT_TRUE(m) << (m ? "" : m.error().message);
  return *std::move(m);
}

/// last(relu(x w)) where the product is negated so often.
io::Imported model(int negated, const char* last = "sigmoid", uint64_t seed = 1) {
  Graph g;
  Value x = g.add_input({DType::F32, Shape{Poly::symbol(g.pool().named("N")), Poly(8)}});
  Value v = call(g, "matmul", {x, weight(g, {8, 8}, seed)});
  for (int k = 0; k < negated; ++k) v = call(g, "neg", {v});
  g.set_outputs({call(g, last, {call(g, "relu", {v})})});
  return imported(std::move(g));
}

/// x (w / d) with the quotient as a constant or not, which is off by a factor.
io::Imported scaled(bool folded, float off = 1) {
  Graph g;
  Value x = input(g, {4, 3});
  std::vector<float> w = {1, 2, 3, 4, 5, 6, 7, 8, 10};
  Value v;
  if (folded) {
    for (float& f : w) f /= 3;
    w[4] *= off;
    v = g.add_constant(Constant::of_floats({3, 3}, w));
  } else {
    Value numerator = g.add_constant(Constant::of_floats({3, 3}, w));
    v = call(g, "div", {numerator, g.add_constant(Constant::of_floats({1}, {3}))});
  }
  g.set_outputs({call(g, "matmul", {x, v})});
  return imported(std::move(g));
}

ValidationOptions plain() {
  ValidationOptions o;
  o.sweep.threads = 1;
  return o;
}
Validation validated(const io::Imported& a, const io::Imported& b,
                     const ValidationOptions& options = plain()) {
  auto v = validate(a, b, options, {});
  EXPECT_TRUE(v) << (v ? "" : v.error().message);
  return *std::move(v);
}

/// A certificate of two models, to be changed.
struct Case {
  io::Imported a, b;
  ProofCertificate made;
  Case(io::Imported x, io::Imported y, const ValidationOptions& options = plain())
      : a(std::move(x)), b(std::move(y)) {
    auto c = make_proof(a, b, validated(a, b, options), options, {});
    EXPECT_TRUE(c) << (c ? "" : c.error().message);
    made = *std::move(c);
  }
  Result<Validation> check(const ProofCertificate& c) const {
    return check_proof(c, a, b, 1, 1, {});
  }
  /// After the way through a file.
  Result<Validation> check_text() const {
    auto c = parse_proof(to_text(made), "proof");
    EXPECT_TRUE(c) << (c ? "" : c.error().message);
    return check(*c);
  }
};

TEST(Validation, WindowsAreProved) {
  Validation v = validated(model(2), model(0));
  EXPECT_EQ(v.verdict(), Equivalence::Proved);
  EXPECT_TRUE(v.interface.empty());
  EXPECT_EQ(validated(model(2), model(1)).verdict(), Equivalence::Unknown);
  EXPECT_EQ(validated(model(2), model(0, "tanh")).verdict(), Equivalence::Unknown);
  EXPECT_EQ(validated(model(2), model(0, "sigmoid", 2)).verdict(), Equivalence::Unknown);
}

TEST(Validation, RoundedConstantsAreSaidToBe) {
  EXPECT_EQ(validated(scaled(false), scaled(true)).verdict(), Equivalence::UpToConstants);
  EXPECT_EQ(validated(scaled(false), scaled(true, 1.0001F)).verdict(), Equivalence::Unknown);
  ValidationOptions exact = plain();
  exact.sweep.constants = false;
  EXPECT_EQ(validated(scaled(false), scaled(true), exact).verdict(), Equivalence::Unknown);
}

TEST(Validation, OtherInterfacesAreRefuted) {
  auto of = [](DType type, int64_t columns, int outputs) {
    Graph g;
    Value x = g.add_input({type, Shape{Poly(2), Poly(columns)}}, "x");
    std::vector<Value> all;
    for (int k = 0; k < outputs; ++k) all.push_back(call(g, k == 0 ? "relu" : "neg", {x}));
    g.set_outputs(std::move(all));
    return imported(std::move(g));
  };
  io::Imported plain_model = of(DType::F32, 4, 1);
  EXPECT_EQ(validated(plain_model, of(DType::F32, 4, 1)).verdict(), Equivalence::Proved);
  EXPECT_EQ(validated(plain_model, of(DType::F64, 4, 1)).verdict(), Equivalence::Refuted);
  EXPECT_EQ(validated(plain_model, of(DType::F32, 5, 1)).verdict(), Equivalence::Refuted);
  EXPECT_EQ(validated(of(DType::F32, 4, 2), plain_model).verdict(), Equivalence::Refuted);
  EXPECT_EQ(validated(plain_model, of(DType::F32, 4, 2)).verdict(), Equivalence::Proved);
}

TEST(Proof, IsAcceptedAsItWasMade) {
  for (auto make :
       {+[] { return Case(model(2), model(0)); }, +[] { return Case(model(0), model(0)); },
        +[] { return Case(scaled(false), scaled(true)); }}) {
    Case c = make();
    auto checked = c.check_text();
    ASSERT_TRUE(checked) << checked.error().message;
    ASSERT_EQ(checked->outputs.size(), c.made.outputs.size());
    for (size_t k = 0; k < c.made.outputs.size(); ++k) {
      EXPECT_GE(c.made.outputs[k], Equivalence::UpToConstants);
      EXPECT_EQ(checked->outputs[k].verdict, c.made.outputs[k]);
    }
  }
}

TEST(Proof, IsOfTheseModels) {
  Case c(model(2), model(0));
  EXPECT_FALSE(check_proof(c.made, model(0), c.b, 1, 1, {}));
  EXPECT_FALSE(check_proof(c.made, c.a, model(0, "sigmoid", 2), 1, 1, {}));
  EXPECT_FALSE(check_proof(c.made, c.b, c.a, 1, 1, {}));
}

TEST(Proof, ClaimsAreNotBelieved) {
  Case c(model(2), model(0, "tanh"));
  EXPECT_TRUE(c.check(c.made));  // it claims nothing
  c.made.outputs = {Equivalence::Proved};
  EXPECT_FALSE(c.check(c.made));
  c.made.outputs = {};
  EXPECT_FALSE(c.check(c.made));
  c.made.outputs = {Equivalence::Unknown, Equivalence::Unknown};
  EXPECT_FALSE(c.check(c.made));
}

/// Whatever two values are said to be equal, by whatever window: nothing is proved of wrong models.
TEST(Proof, NoMergesProveWrongModels) {
  Case c(model(2), model(0, "tanh"));
  c.made.outputs = {Equivalence::Refuted};
  int32_t bound = validated(c.a, c.b).pair.graph.id_bound();
  int proved = 0;
  for (int32_t a = 0; a < bound; ++a)
    for (int32_t b = 0; b < bound; ++b)
      for (auto kind : {verify::Merge::Proof, verify::Merge::Constant}) {
        verify::Merge m;
        m.kind = kind;
        m.a = {a, 0};
        m.b = {b, 0};
        m.reach = verify::Reach::Widest;
        c.made.proof.merges = {m};
        auto v = c.check(c.made);
        proved += v && v->verdict() >= Equivalence::UpToConstants;
      }
  EXPECT_EQ(proved, 0);
}

TEST(Proof, MissingMergesProveLess) {
  Case c(model(2), model(0));
  ASSERT_FALSE(c.made.proof.merges.empty());
  c.made.proof.merges.clear();
  EXPECT_FALSE(c.check(c.made));
  c.made.outputs = {Equivalence::Unknown};
  auto v = c.check(c.made);
  ASSERT_TRUE(v);
  EXPECT_EQ(v->verdict(), Equivalence::Unknown);
}

TEST(Proof, ExchangedValuesAreRefusedOrProveLess) {
  Case c(model(2), model(0));
  for (size_t k = 0; k < c.made.proof.merges.size(); ++k) {
    ProofCertificate changed = c.made;
    std::swap(changed.proof.merges[k].a, changed.proof.merges[k].b);
    EXPECT_FALSE(c.check(changed));
  }
}

TEST(Proof, AnotherWindowIsProvedOrNot) {
  Case c(model(2), model(0));
  c.made.outputs = {Equivalence::Refuted};
  for (int reach = 0; reach < verify::kReaches; ++reach) {
    ProofCertificate changed = c.made;
    for (auto& m : changed.proof.merges) m.reach = static_cast<verify::Reach>(reach);
    EXPECT_TRUE(c.check(changed));
  }
}

TEST(Proof, RoundedConstantsAreNeverExact) {
  Case c(scaled(false), scaled(true));
  ASSERT_EQ(c.made.outputs, std::vector{Equivalence::UpToConstants});
  c.made.constants = false;  // the constants that it merges are still said to be rounded
  auto v = c.check(c.made);
  EXPECT_TRUE(!v || v->verdict() <= Equivalence::UpToConstants);
  c.made.outputs = {Equivalence::Proved};
  EXPECT_FALSE(c.check(c.made));
  c.made.constants = true;
  for (auto& m : c.made.proof.merges) m.deviation = {};
  EXPECT_FALSE(c.check(c.made));
}

/// The merges that would fit if the constant were right.
TEST(Proof, WrongConstantsAreRefused) {
  Case right(scaled(false), scaled(true)), wrong(scaled(false), scaled(true, 1.001F));
  wrong.made.proof = right.made.proof;
  wrong.made.outputs = {Equivalence::Refuted};
  auto v = wrong.check(wrong.made);
  EXPECT_TRUE(!v || v->verdict() < Equivalence::UpToConstants);
}

TEST(Proof, BodiesThatAreNotThereAreRefused) {
  Case c(model(2), model(0));
  c.made.proof.bodies.push_back({0, {}});
  EXPECT_FALSE(c.check(c.made));
  c.made.proof.bodies[0].pair = size_t{1} << 40;
  EXPECT_FALSE(c.check(c.made));
}

TEST(Proof, StepsAreOfRulesThatAreProved) {
  Case c(model(2), model(0));
  c.made.proof.a.push_back({"no-such-rule", {0}, {}});
  EXPECT_FALSE(c.check(c.made));
  c.made.proof.a[0] = {"wrong", {2}, {{1, 0}}};
  c.made.rules.push_back(rewrite::rule_of("wrong (neg ?a) => ?a for a:nn proved:all-sizes"));
  EXPECT_FALSE(c.check(c.made));
}

std::string refitted(json j) {
  j.erase(std::string(kSelf));
  j[std::string(kSelf)] = digest_of_fields(j);
  return j.dump();
}

TEST(ProofText, ChangedTextsAreRefused) {
  Case c(model(2), model(0));
  json good = json::parse(to_text(c.made));
  for (const auto& [key, value] : good.items()) {
    json changed = good;
    changed[key] = changed[key].is_null() ? json(1) : json();
    EXPECT_FALSE(parse_proof(changed.dump(), "proof")) << key;
    EXPECT_FALSE(parse_proof(refitted(changed), "proof") && key != kSelf) << key;
    changed = good;
    changed.erase(key);
    EXPECT_FALSE(parse_proof(changed.dump(), "proof")) << key;
  }
  EXPECT_TRUE(parse_proof(refitted(good), "proof"));
  for (const char* text : {"", "{}", "[]", "1", "\"\"", "{\"regraft_validation\": 1}"})
    EXPECT_FALSE(parse_proof(text, "proof")) << text;
  EXPECT_FALSE(parse_proof(std::string(100000, '['), "proof"));
}

/// All places of a JSON value.
void collect(json& j, std::vector<json*>& places) {
  places.push_back(&j);
  if (j.is_structured())
    for (json& inner : j) collect(inner, places);
}

json other_value(Rng& rng, const json& old, const json& somewhere) {
  if (old.is_number_integer() && rng.unit() < 0.7)
    return old.get<int64_t>() + static_cast<int64_t>(rng.unit() * 5) - 2;
  switch (static_cast<int>(rng.unit() * 6)) {
    case 0:
      return json();
    case 1:
      return int64_t{1} << 40;
    case 2:
      return "x";
    case 3:
      return json::array();
    case 4:
      return rng.unit() < 0.5;
    default:
      return somewhere;
  }
}

/// Random edits whose digests fit: none is a crash, none proves what is wrong.
TEST(ProofText, RandomEditsProveNothingWrong) {
  Case right(model(2), model(0)), wrong(model(2), model(0, "tanh"));
  json good = json::parse(to_text(right.made));
  Rng rng(5);
  int parsed = 0;
  for (int run = 0; run < 1500; ++run) {
    json changed = good;
    for (int k = 0; k < 1 + run % 3; ++k) {
      std::vector<json*> places;
      collect(changed["proof"], places);
      auto pick = [&] { return places[static_cast<size_t>(rng.unit() * 0.999 * places.size())]; };
      json* place = pick();
      json value = other_value(rng, *place, *pick());
      *place = std::move(value);
    }
    auto c = parse_proof(refitted(changed), "proof");
    if (!c) continue;
    ++parsed;
    right.check(*c);
    c->b = wrong.made.b;
    auto v = wrong.check(*c);
    EXPECT_FALSE(v) << changed.dump();  // it claims that the output is proved
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace regraft::certify
