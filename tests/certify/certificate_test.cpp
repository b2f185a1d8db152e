// Certificates as an enemy would write them: whoever has the program can make seals and digests.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "certify/check.h"
#include "ir/graph/fold.h"
#include "substitutions/rule_db.h"
#include "tests/rewrite/support.h"
#include "verify/verify.h"

namespace regraft::certify {
namespace {

using nlohmann::json;
using rewrite::AppliedRule;
using rewrite::call;
using rewrite::input;
using rewrite::weight;

const std::string kSqrt =
    "sqrt-product (mul (sqrt ?a) (sqrt ?b)) => (sqrt (mul ?a ?b)) for a:nn b:nn proved:all-sizes";

io::Imported imported(Graph g) {
  auto m = io::model_of(std::move(g), 17);
  EXPECT_TRUE(m) << (m ? "" : m.error().message);
  return *std::move(m);
}

/// sqrt(x) sqrt(y), twice relu, and a product with a weight.
io::Imported model(uint64_t seed = 1) {
  Graph g;
  Value x = input(g, {4, 8}), y = input(g, {4, 8});
  Value root = call(g, "mul", {call(g, "sqrt", {x}), call(g, "sqrt", {y})});
  Value twice = call(g, "relu", {call(g, "relu", {root})});
  g.set_outputs({call(g, "matmul", {twice, weight(g, {8, 8}, seed)})});
  return imported(std::move(g));
}

Graph product(const std::string& form) {
  Graph g;
  Value x = input(g, {4, 8}), y = input(g, {4, 8});
  if (form == "roots") {
    g.set_outputs({call(g, "mul", {call(g, "sqrt", {x}), call(g, "sqrt", {y})})});
  } else {
    g.set_outputs({call(g, "sqrt", {call(g, "mul", {x, y})})});
  }
  return g;
}

/// A derivation: where it starts, what it says, where it ends.
struct Case {
  io::Imported before;
  Certificate certificate;
  Graph after;
};

/// Applies the first match of each of these rules in turn.
Case derived(const io::Imported& before, const std::vector<std::string>& lines,
             const std::vector<std::string>& names) {
  rewrite::RuleIndex index = rewrite::index_of(lines);
  cost::Roofline model;
  rewrite::Engine engine(before.graph, index, model, {17});
  std::vector<AppliedRule> steps;
  for (const std::string& name : names) {
    for (int32_t number : std::vector<int32_t>(engine.matches())) {
      const auto& m = engine.match(number);
      if (index.rules()[static_cast<size_t>(m.rule)].rule.name != name) continue;
      steps.push_back({name, m.nodes, m.variables});
      engine.apply(number);
      engine.commit();
      break;
    }
  }
  EXPECT_EQ(steps.size(), names.size());
  auto folded = fold(engine.to_graph());
  auto c = make_certificate(before, before, folded->graph, index, {steps, folded->folded, {}});
  EXPECT_TRUE(c) << (c ? "" : c.error().message);
  return {before, *std::move(c), folded->graph};
}

Digest digest(const io::Imported& m) { return *digest_of(m); }

/// What is said of a certificate for `before` and the written form of `after`; empty: it holds.
std::string refusal(const Certificate& c, const io::Imported& before, const Graph& after) {
  auto output = io::reimport(before, after);
  EXPECT_TRUE(output);
  auto s = check_certificate(c, c.rules, {before, digest(before), digest(*output)});
  std::string why = s ? "" : s.error().message;
  EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  return why;
}
std::string refusal(const Case& x) { return refusal(x.certificate, x.before, x.after); }

class Certificates : public testing::Test {
 protected:
  Case good_ = derived(model(), {kSqrt, rewrite::kReluTwice}, {"sqrt-product", "relu-twice"});
  const Certificate& c_ = good_.certificate;
};

TEST_F(Certificates, HoldAndSurviveTheirText) {
  EXPECT_EQ(refusal(good_), "");
  auto again = parse_certificate(to_text(c_), "c.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(c_));
  EXPECT_EQ(refusal(*again, good_.before, good_.after), "");
  auto proved = prove_rules(again->rules, 7, 1);
  ASSERT_TRUE(proved) << proved.error().message;
  EXPECT_EQ(proved->size(), 2u);
}

TEST_F(Certificates, OfNoStepsHold) {
  Case none = derived(model(), {kSqrt}, {});
  EXPECT_EQ(refusal(none), "");
}

TEST_F(Certificates, OtherStepsAreRefused) {
  auto changed = [&](const auto& change) {
    Case x = good_;
    change(x.certificate.done.steps);
    return refusal(x);
  };
  EXPECT_NE(changed([](auto& s) { s.pop_back(); }), "");
  EXPECT_NE(changed([](auto& s) { s.erase(s.begin()); }), "");
  EXPECT_NE(changed([](auto& s) { s.push_back(s.back()); }), "");
  EXPECT_NE(changed([](auto& s) { ++s[0].nodes[0]; }), "");
  EXPECT_NE(changed([](auto& s) { s[0].nodes.pop_back(); }), "");
  EXPECT_NE(changed([](auto& s) { s[0].variables[0].output = 1; }), "");
  EXPECT_NE(changed([](auto& s) { s[0].rule = "relu-twice"; }), "");
}

TEST_F(Certificates, StepsInAnotherOrderAreRefused) {
  // The second step needs what the first made: a factor, then an association of it.
  Graph g;
  Value x = input(g, {8, 8}), w = input(g, {8, 8}), v = input(g, {8, 8}), u = input(g, {8, 8});
  Value sum = call(g, "add", {call(g, "matmul", {x, w}), call(g, "matmul", {x, v})});
  g.set_outputs({call(g, "matmul", {sum, u})});
  Case x2 = derived(imported(std::move(g)), {rewrite::kFactor, rewrite::kAssociate},
                    {"matmul-factor", "matmul-associate"});
  EXPECT_EQ(refusal(x2), "");
  std::swap(x2.certificate.done.steps[0], x2.certificate.done.steps[1]);
  EXPECT_NE(refusal(x2).find("step 0"), std::string::npos);
}

TEST_F(Certificates, OtherModelsAreRefused) {
  io::Imported other = model(2);  // other weights, nothing else
  EXPECT_NE(refusal(c_, other, good_.after).find("another input"), std::string::npos);
  Graph swapped = good_.after;
  for (int32_t id = 0; id < swapped.id_bound(); ++id)
    if (swapped.contains(id) && swapped.node(id).kind == NodeKind::Constant) {
      Node n = swapped.node(id);
      auto data = *n.constant->reals();
      std::swap(data[0], data[1]);
      n.constant = make_constant(DType::F32, n.constant->dims(), data);
      n.origin = -1;
      swapped.replace_node(id, n);
    }
  EXPECT_NE(refusal(c_, good_.before, swapped).find("another output"), std::string::npos);
  Case x = good_;
  x.certificate.output = digest(*io::reimport(x.before, swapped));  // as an enemy would
  EXPECT_NE(refusal(x.certificate, x.before, swapped).find("lead to another"), std::string::npos);
  x = good_;
  x.certificate.opset = 13;
  EXPECT_NE(refusal(x), "");
}

/// A certificate whose rule is said to be more than is proved, with a seal that fits.
std::string proof_refused(const Certificate& c) {
  auto read = parse_certificate(to_text(c), "c.json");  // the seals are good
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  auto rules = prove_rules(read->rules, 7, 1);
  std::string why = rules ? "" : rules.error().message;
  EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  return why;
}

TEST(Proof, AStepThroughTheUnprovedDirectionIsRefused) {
  std::string both =
      "sqrt (mul (sqrt ?a) (sqrt ?b)) <=> (sqrt (mul ?a ?b)) for a:nn b:nn proved:all-sizes";
  Case x = derived(imported(product("root")), {both}, {"sqrt~"});
  x.certificate.rules = {rewrite::rule_of(both)};
  EXPECT_EQ(refusal(x), "");  // the seals alone do not tell
  EXPECT_NE(proof_refused(x.certificate).find("sqrt"), std::string::npos);
  // Were nothing compared, what is proved would still have no such direction.
  verify::VerifyOptions options;
  options.domains = verify::Domains::Given;
  Rule proved = verify::verify_rule(x.certificate.rules[0], options);
  EXPECT_FALSE(proved.both);
  io::Imported after = *io::reimport(x.before, x.after);
  auto s = check_certificate(x.certificate, {proved}, {x.before, digest(x.before), digest(after)});
  EXPECT_FALSE(s);
}

TEST(Proof, ClaimsAreComparedAsSets) {
  Case x = derived(imported(product("roots")), {kSqrt}, {"sqrt-product"});
  EXPECT_EQ(proof_refused(x.certificate), "");
  auto with = [&](const std::string& line) {
    Certificate c = x.certificate;
    c.rules = {rewrite::rule_of(line)};
    return proof_refused(c);
  };
  std::string sides = "sqrt-product (mul (sqrt ?a) (sqrt ?b)) => (sqrt (mul ?a ?b)) ";
  EXPECT_EQ(with(sides + "for a:nn b:nn | a:n b:n proved:all-sizes"), "");
  EXPECT_EQ(with(sides + "for a:n b:n | a:nn b:nn proved:all-sizes"), "");
  // As many shapes as are proved, but others.
  std::string softmax = "sqrt-product (softmax (sub ?a ?b) axis=-1) => (softmax ?a axis=-1) ";
  EXPECT_EQ(with(softmax + "for a:nn b:n1 proved:all-sizes"), "");
  EXPECT_NE(with(softmax + "for a:nn b:n1 | a:nn b:1n proved:all-sizes"), "");
  EXPECT_NE(with(softmax + "for a:nn b:1n proved:all-sizes"), "");
  // A condition that is needed, left out or another one.
  std::string pads = "sqrt-product (concat ?a ?b axis=0) => (concat ?b ?a axis=0) ";
  EXPECT_NE(with(pads + "for a:nn b:nn proved:all-sizes"), "");
  EXPECT_NE(with(pads + "where a.0=b.0 for a:nn b:nn proved:all-sizes"), "");
  EXPECT_NE(with("sqrt-product (relu ?a) => (neg (relu ?a)) for a:nn proved:all-sizes"), "");
}

class Text : public testing::Test {
 protected:
  std::string good_ = to_text(
      derived(model(), {kSqrt, rewrite::kReluTwice}, {"sqrt-product", "relu-twice"}).certificate);

  std::string refused(const std::string& text) {
    auto c = parse_certificate(text, "c.json");
    EXPECT_FALSE(c) << text;
    if (c) return "";
    const std::string& why = c.error().message;
    EXPECT_TRUE(why.starts_with("c.json: ")) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
    return why;
  }
  /// With a digest that fits, as an enemy would.
  std::string resealed(const std::function<void(json&)>& change) {
    json j = json::parse(good_);
    change(j);
    j.erase("sha256");
    std::string text = j.dump();
    j["sha256"] = hex(Sha256().bytes(std::as_bytes(std::span(text))).finish());
    return j.dump();
  }
};

TEST_F(Text, EveryChangedByteIsNoticed) {
  ASSERT_TRUE(parse_certificate(good_, "c.json"));
  json j = json::parse(good_);
  for (const auto& [key, value] : j.items()) {
    json other = j;
    other[key] = value.is_number() ? json(value.get<int>() + 1) : json("00");
    refused(other.dump());
    other = j;
    other.erase(key);
    refused(other.dump());
  }
  j["more"] = 1;
  refused(j.dump());
  for (size_t k = 0; k < good_.size(); k += 7) {
    std::string cut = good_.substr(0, k);
    refused(cut);
  }
}

TEST_F(Text, MalformedFieldsAreRefused) {
  EXPECT_NE(refused(resealed([](json& j) { j["steps"][0]["nodes"][0] = -1; })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["steps"][0]["nodes"][0] = 1.5; })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["steps"][0]["nodes"][0] = uint64_t{1} << 32; })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["steps"][0]["more"] = 1; })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["steps"][0]["variables"][0] = {1}; })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["input"] = std::string(64, 'g'); })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["rules"][0] = 3; })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["rules"][0] = "# nothing"; })), "");
  EXPECT_NE(refused(resealed([](json& j) { j["rules"].erase(0); })).find("no rule"),
            std::string::npos);
  EXPECT_NE(refused(resealed([](json& j) { j["steps"].clear(); })).find("no step"),
            std::string::npos);
  EXPECT_NE(refused(resealed([](json& j) { j["regraft_certificate"] = 1; })).find("version"),
            std::string::npos);
}

TEST_F(Text, ARuleIsOnlyWhatItsSealSays) {
  auto edited = [&](const std::string& from, const std::string& to) {
    return refused(resealed([&](json& j) {
      for (auto& line : j["rules"]) {
        std::string s = line;
        if (size_t at = s.find(from); at != std::string::npos)
          line = s.replace(at, from.size(), to);
      }
    }));
  };
  EXPECT_NE(edited(" => ", " <=> ").find("seal"), std::string::npos);
  EXPECT_NE(edited("a:nn b:nn", "a:nn b:nn | a:n b:n").find("seal"), std::string::npos);
  EXPECT_NE(edited("  for a:nn b", "  where a.0=b.0  for a:nn b").find("seal"), std::string::npos);
  EXPECT_NE(edited("(sqrt (mul", "(relu (mul").find("seal"), std::string::npos);
  EXPECT_NE(edited("seal=", "seal=0").find("seal"), std::string::npos);
}

}  // namespace
}  // namespace regraft::certify
