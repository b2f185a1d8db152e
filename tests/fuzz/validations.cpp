// Certificates of validations: proofs that two models compute the same, done again on models.
#include <nlohmann/json.hpp>
#include <optional>

#include "base/nesting.h"
#include "certify/json_parts.h"
#include "certify/validation.h"
#include "io/proto.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_json.h"

namespace regraft {
namespace {

using Json = nlohmann::json;
using certify::Equivalence;

constexpr double kSeconds = 3;  // of one check

onnx::ValueInfoProto value(const std::string& name) {
  onnx::ValueInfoProto v;
  v.set_name(name);
  auto* tensor = v.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  tensor->mutable_shape()->add_dim()->set_dim_param("N");
  tensor->mutable_shape()->add_dim()->set_dim_value(3);
  return v;
}

/// y = last(x + c) where the sum is negated so often; the constant may be a little off.
io::Imported model(const char* last, int negated, float off) {
  onnx::ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(13);
  auto& g = *m.mutable_graph();
  g.set_name("g");
  *g.add_input() = value("x");
  *g.add_output() = value("y");
  auto& c = *g.add_initializer();
  c.set_name("c");
  c.set_data_type(onnx::TensorProto::FLOAT);
  c.add_dims(3);
  for (float f : {1.0F, 2.0F, 3.0F + off}) c.add_float_data(f);
  auto node = [&](const char* type, std::vector<std::string> inputs, const std::string& output) {
    auto& n = *g.add_node();
    n.set_op_type(type);
    for (const auto& i : inputs) n.add_input(i);
    n.add_output(output);
  };
  node("Add", {"x", "c"}, "s");
  std::string made = "s";
  for (int k = 0; k < negated; ++k) {
    std::string next = "n" + std::to_string(k);
    node("Neg", {made}, next);
    made = next;
  }
  node(last, {made}, "y");
  auto imported = io::parse(m.SerializeAsString(), "model");
  CLAIM(imported.has_value(), imported.error().message);
  return *std::move(imported);
}

/// A model, one that computes the same, and some that do not.
struct Setting {
  io::Imported first = model("Relu", 2, 0), second = model("Relu", 0, 0);
  std::vector<io::Imported> wrong;
  Setting() {
    wrong.push_back(model("Sigmoid", 0, 0));
    wrong.push_back(model("Relu", 0, 0.5F));
  }
};
const Setting& setting() {
  static const Setting made;
  return made;
}

/// What the proof shows of these models, whatever it was made for; nothing: it is refused.
std::optional<Equivalence> shown(certify::ProofCertificate c, const io::Imported& b) {
  c.a = *io::digest_of(setting().first);
  c.b = *io::digest_of(b);
  c.rules.clear();  // the prover has a target of its own
  c.outputs = {Equivalence::Refuted};
  Stop stop(kSeconds);
  auto v = certify::check_proof(c, setting().first, b, 1, 1, stop);
  if (!v) {
    fuzz::check_message(v.error());
    return std::nullopt;
  }
  return v->verdict();
}

/// Whatever the proof says, models that differ are never equal.
void try_proof(const certify::ProofCertificate& c) {
  shown(c, setting().second);
  for (const io::Imported& wrong : setting().wrong) {
    auto v = shown(c, wrong);
    CLAIM(!v || *v < Equivalence::UpToConstants, "a wrong model is proved");
  }
}

/// Whether it is a certificate.
bool read(std::string_view text) {
  auto c = certify::parse_proof(text, "file");
  if (!c) {
    fuzz::check_message(c.error());
    return false;
  }
  std::string written = to_text(*c);
  auto again = certify::parse_proof(written, "again");
  CLAIM(again.has_value(), again.error().message);
  // What a merge says of its window is for readers, and not read.
  CLAIM(to_text(*again) == written, written);
  try_proof(*c);
  return true;
}

/// The text with a digest that fits: a fuzzer could not guess it.
std::optional<std::string> sealed(std::string_view text) {
  Json j = Json::parse(text, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  j[std::string(certify::kSelf)] = certify::digest_of_fields(j);
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::vector<std::string> kWords = {
    "regraft_validation",
    "first",
    "second",
    "sizes",
    "constants",
    "rules",
    "proof",
    "outputs",
    "merges",
    "bodies",
    "pair",
    "proofs",
    "reach",
    "explained",
    "deviation",
    "a",
    "b",
    "proved",
    "proved-up-to-constants",
    "refuted",
    "r  (relu (relu ?a)) => (relu ?a)  for a:nn  proved:all-sizes"};

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  const Setting& s = setting();
  certify::ValidationOptions options;
  options.sweep.threads = 1;
  Stop stop;
  auto v = certify::validate(s.first, s.second, options, stop);
  CLAIM(v.has_value() && v->verdict() == Equivalence::Proved, "the models are equal");
  auto c = certify::make_proof(s.first, s.second, *v, options, {});
  CLAIM(c.has_value(), c.error().message);
  CLAIM(shown(*c, s.second) == Equivalence::Proved, "its own proof is refused");
  std::string good = to_text(*c);
  certify::ProofCertificate nested = *c;
  nested.proof.bodies.push_back({0, {c->proof}});
  certify::ProofCertificate constants = *c;
  for (verify::Merge& m : constants.proof.merges) m.kind = verify::Merge::Constant;
  certify::ProofCertificate empty = *c;
  empty.proof = {};
  std::string deep(30000, '[');
  return {{"good", good},
          {"nested", to_text(nested)},
          {"constants", to_text(constants)},
          {"empty", to_text(empty)},
          {"deep", "{\"regraft_validation\":" + deep + std::string(deep.size(), ']') + "}"}};
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text = regraft::fuzz::text_of(data, size);
  if (regraft::nested_too_deep(text) || regraft::read(text)) return 0;
  if (auto fits = regraft::sealed(text)) regraft::read(*fits);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return regraft::fuzz::mutate_json(data, size, most, regraft::kWords, seed);
}
