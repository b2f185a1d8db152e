// Certificates: steps by proved rules, done again on a model.
#include <nlohmann/json.hpp>
#include <optional>

#include "base/nesting.h"
#include "certify/check.h"
#include "io/proto.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_json.h"

namespace regraft {
namespace {

using Json = nlohmann::json;

onnx::ValueInfoProto value(const std::string& name, int64_t rows, int64_t columns) {
  onnx::ValueInfoProto v;
  v.set_name(name);
  auto* tensor = v.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  for (int64_t d : {rows, columns}) tensor->mutable_shape()->add_dim()->set_dim_value(d);
  return v;
}

/// y = last((a b) c), or last(a (b c)).
io::Imported model(bool to_the_left, const char* last) {
  onnx::ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(13);
  auto& g = *m.mutable_graph();
  g.set_name("g");
  *g.add_input() = value("a", 2, 3);
  *g.add_input() = value("b", 3, 4);
  *g.add_input() = value("c", 4, 5);
  *g.add_output() = value("y", 2, 5);
  auto node = [&](const char* type, std::vector<const char*> inputs, const char* output) {
    auto& n = *g.add_node();
    n.set_op_type(type);
    for (const char* i : inputs) n.add_input(i);
    n.add_output(output);
  };
  if (to_the_left) {
    node("MatMul", {"a", "b"}, "p");
    node("MatMul", {"p", "c"}, "q");
  } else {
    node("MatMul", {"b", "c"}, "p");
    node("MatMul", {"a", "p"}, "q");
  }
  node(last, {"q"}, "y");
  auto imported = io::parse(m.SerializeAsString(), "model");
  CLAIM(imported.has_value(), imported.error().message);
  return *std::move(imported);
}

/// The model that steps are tried on, and what they are said to lead to.
struct Setting {
  io::Imported input = model(true, "Relu");
  Digest before = *io::digest_of(input);
  Digest after = *io::digest_of(model(false, "Relu"));
  Digest wrong = *io::digest_of(model(false, "Sigmoid"));
  std::vector<Rule> proved;

  Setting() {
    auto rule = parse_rule(
        "r  (matmul (matmul ?a ?b) ?c) <=> (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn  "
        "proved:all-sizes");
    CLAIM(rule.has_value(), rule.error().message);
    proved.push_back(*std::move(rule));
  }
  Status check(certify::Certificate c, const std::vector<Rule>& rules, const Digest& output) const {
    c.input = before;
    c.output = output;
    return check_certificate(c, rules, {input, before, output});
  }
};
const Setting& setting() {
  static const Setting made;
  return made;
}

certify::Certificate certificate() {
  const Graph& g = setting().input.graph;
  certify::Certificate c{setting().before, setting().after, 13, setting().proved, {}};
  Value outer = g.node(g.outputs()[0].node).inputs[0], inner = g.node(outer.node).inputs[0];
  c.done.steps.push_back(
      {"r",
       {inner.node, outer.node},
       {g.node(inner.node).inputs[0], g.node(inner.node).inputs[1], g.node(outer.node).inputs[1]}});
  return c;
}

/// Whatever the steps are, proved rules never lead to a model that computes something else.
void try_steps(const certify::Certificate& c) {
  const Setting& s = setting();
  Status with_its_own = s.check(c, c.rules, s.after);
  if (!with_its_own) fuzz::check_message(with_its_own.error());
  Status wrong = s.check(c, s.proved, s.wrong);
  CLAIM(!wrong, "a wrong model is accepted");
  fuzz::check_message(wrong.error());
}

/// Whether it is a certificate.
bool read(std::string_view text) {
  auto c = certify::parse_certificate(text, "file");
  if (!c) {
    fuzz::check_message(c.error());
    return false;
  }
  std::string written = to_text(*c);
  auto again = certify::parse_certificate(written, "again");
  CLAIM(again.has_value(), again.error().message);
  CLAIM(to_text(*again) == written, written);
  try_steps(*c);
  return true;
}

template <class T>
std::vector<T> numbers(const Json& list) {
  std::vector<T> all;
  for (const Json& n : list)
    if (n.is_number_integer()) all.push_back(static_cast<T>(n.get<int64_t>()));
  return all;
}

/// What a text says with its seals and digests made to fit: a fuzzer could not guess them.
std::optional<certify::Certificate> sealed(std::string_view text) {
  Json j = Json::parse(text, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  certify::Certificate c{setting().before, setting().after, 13, {}, {}};
  std::string lines;
  for (const Json& line : j["rules"])
    if (line.is_string()) lines += line.get<std::string>() + "\n";
  auto file = substitutions::parse_rules(lines, "rules", substitutions::Admit::Candidates);
  if (file) c.rules = file->rules;
  for (const Json& s : j["steps"]) {
    if (!s.is_object() || !s.contains("rule") || !s["rule"].is_string()) continue;
    rewrite::AppliedRule step{s["rule"].get<std::string>(), {}, {}};
    step.nodes = numbers<int32_t>(s.value("nodes", Json()));
    for (const Json& v : s.value("variables", Json()))
      if (auto pair = numbers<int32_t>(v); pair.size() == 2)
        step.variables.push_back({pair[0], pair[1]});
    c.done.steps.push_back(std::move(step));
  }
  c.done.folded = numbers<int32_t>(j["folded"]);
  return c;
}

const std::vector<std::string> kWords = {
    "regraft_certificate",
    "input",
    "opset",
    "rules",
    "steps",
    "rule",
    "nodes",
    "variables",
    "r",
    "r~",
    "r  (relu ?a) => ?a  for a:nn  proved:all-sizes",
    "r  (matmul ?a ?b) <=> (matmul ?a ?b)  for a:nn b:nn  proved:all-sizes",
    "s  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nnn  "
    "proved:bounded[x]"};

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  certify::Certificate c = certificate();
  Status right = setting().check(c, setting().proved, setting().after);
  CLAIM(right.ok(), right.error().message);
  CLAIM(!setting().check(c, setting().proved, setting().before), "it leads to another model");
  std::string good = to_text(c);
  c.done.steps[0].nodes[0] = 1 << 30;
  std::string elsewhere = to_text(c);
  c.done.steps.clear();
  c.rules.clear();
  std::string deep(30000, '[');
  return {{"good", good},
          {"elsewhere", elsewhere},
          {"empty", to_text(c)},
          {"deep", "{\"regraft_certificate\":" + deep + std::string(deep.size(), ']') + "}"}};
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text = regraft::fuzz::text_of(data, size);
  if (regraft::read(text) || regraft::nested_too_deep(text)) return 0;
  if (auto c = regraft::sealed(text)) {
    regraft::try_steps(*c);
    auto again = regraft::certify::parse_certificate(to_text(*c), "sealed");
    if (!again) regraft::fuzz::check_message(again.error());
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return regraft::fuzz::mutate_json(data, size, most, regraft::kWords, seed);
}
