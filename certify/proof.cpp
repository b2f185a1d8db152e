#include "certify/proof.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/files/input_file.h"
#include "base/nesting.h"
#include "certify/json_parts.h"

namespace regraft::certify {
namespace {

using nlohmann::json;

constexpr int kProofVersion = 1;
constexpr size_t kMostBytes = size_t{1} << 30;
constexpr std::string_view kProofMagic = "regraft_validation";

json value_json(Value v) { return json::array({v.node, v.output}); }
Result<Value> value_of(const json& j) {
  if (!j.is_array() || j.size() != 2) return error("a value is not a node and an output");
  Value v;
  ASSIGN_OR_RETURN(v.node, id_of(j[0]));
  ASSIGN_OR_RETURN(v.output, id_of(j[1]));
  return v;
}

json merge_json(const verify::Merge& m) {
  json j;
  j["a"] = value_json(m.a);
  j["b"] = value_json(m.b);
  if (m.kind == verify::Merge::Constant) {
    j["deviation"] = m.deviation.deviation;
    return j;
  }
  j["reach"] = static_cast<int>(m.reach);
  j["explained"] = m.numbers == verify::Numbers::Explained;
  j["rule"] = m.text;
  return j;
}
Result<verify::Merge> merge_of(const json& j) {
  bool fits = j.is_object() && j.contains("a") && j.contains("b");
  if (!fits) return error("a merge does not say what it merges");
  verify::Merge m;
  ASSIGN_OR_RETURN(m.a, value_of(j["a"]));
  ASSIGN_OR_RETURN(m.b, value_of(j["b"]));
  if (j.contains("deviation")) {
    m.kind = verify::Merge::Constant;
    return m;
  }
  fits = j.contains("reach") && j.contains("explained") && j["explained"].is_boolean();
  if (!fits) return error("a merge does not say how far its window reaches");
  ASSIGN_OR_RETURN(int64_t reach, integer_of(j["reach"], 0, verify::kReaches - 1));
  m.reach = static_cast<verify::Reach>(reach);
  m.numbers = j["explained"].get<bool>() ? verify::Numbers::Explained : verify::Numbers::AsTheyAre;
  return m;
}

json proof_json(const ModelProof& p) {
  json j, merges = json::array(), bodies = json::array();
  for (const verify::Merge& m : p.merges) merges.push_back(merge_json(m));
  for (const BodyProofs& b : p.bodies) {
    json one, proofs = json::array();
    for (const ModelProof& inner : b.proofs) proofs.push_back(proof_json(inner));
    one["pair"] = b.pair;
    one["proofs"] = std::move(proofs);
    bodies.push_back(std::move(one));
  }
  j["a"] = steps_json(p.a);
  j["b"] = steps_json(p.b);
  j["merges"] = std::move(merges);
  j["bodies"] = std::move(bodies);
  return j;
}

/// Texts that are nested too deep are no JSON here.
Result<ModelProof> proof_of(const json& j) {
  for (const char* key : {"a", "b", "merges", "bodies"})
    if (!j.is_object() || !j.contains(key) || !j[key].is_array())
      return error("a proof does not consist of steps, merges and bodies");
  ModelProof p;
  ASSIGN_OR_RETURN(p.a, steps_of(j["a"]));
  ASSIGN_OR_RETURN(p.b, steps_of(j["b"]));
  for (const json& m : j["merges"]) {
    ASSIGN_OR_RETURN(auto merge, merge_of(m));
    p.merges.push_back(std::move(merge));
  }
  for (const json& b : j["bodies"]) {
    bool fits =
        b.is_object() && b.contains("pair") && b.contains("proofs") && b["proofs"].is_array();
    if (!fits) return error("a body's proof does not say of what it is");
    BodyProofs body;
    ASSIGN_OR_RETURN(int32_t pair, id_of(b["pair"]));
    body.pair = static_cast<size_t>(pair);
    for (const json& inner : b["proofs"]) {
      ASSIGN_OR_RETURN(auto one, proof_of(inner));
      body.proofs.push_back(std::move(one));
    }
    p.bodies.push_back(std::move(body));
  }
  return p;
}

Result<Equivalence> claim_of(const json& j) {
  if (j.is_string())
    for (Equivalence e : {Equivalence::Refuted, Equivalence::Unknown, Equivalence::UpToConstants,
                          Equivalence::Proved})
      if (j.get<std::string>() == to_string(e)) return e;
  return error("an output has no verdict");
}

Result<ProofCertificate> certificate_of(const json& j) {
  if (!j.is_object() || !j.contains(kProofMagic)) return error("not a validation's certificate");
  if (j[kProofMagic] != kProofVersion)
    return error("a certificate of another version of regraft; validate the models again");
  for (const char* key : {"first", "second", "sizes", "constants", "rules", "proof", "outputs"})
    if (!j.contains(key)) return error(std::string("it has no field ") + key);
  if (!j.contains(kSelf) || j[kSelf] != digest_of_fields(j))
    return error("the certificate was changed: its digest does not fit");
  ProofCertificate c;
  ASSIGN_OR_RETURN(c.a, digest_of(j["first"]));
  ASSIGN_OR_RETURN(c.b, digest_of(j["second"]));
  if (!j["sizes"].is_object()) return error("the sizes are no object");
  for (const auto& [name, size] : j["sizes"].items()) {
    ASSIGN_OR_RETURN(c.sizes[name], integer_of(size, 0, INT64_MAX));
  }
  if (!j["constants"].is_boolean()) return error("whether constants may differ is not said");
  c.constants = j["constants"].get<bool>();
  ASSIGN_OR_RETURN(c.rules, rules_of(j["rules"]));
  ASSIGN_OR_RETURN(c.proof, proof_of(j["proof"]));
  if (!j["outputs"].is_array()) return error("the outputs are not a list");
  for (const json& o : j["outputs"]) {
    ASSIGN_OR_RETURN(auto claim, claim_of(o));
    c.outputs.push_back(claim);
  }
  return c;
}

}  // namespace

std::string to_string(Equivalence e) {
  switch (e) {
    case Equivalence::Refuted:
      return "refuted";
    case Equivalence::Unknown:
      return "unknown";
    case Equivalence::UpToConstants:
      return "proved-up-to-constants";
    case Equivalence::Proved:
      return "proved";
  }
  return "unknown";
}

std::set<std::string> used_rules(const ModelProof& proof) {
  std::set<std::string> used;
  for (const auto* steps : {&proof.a, &proof.b})
    for (const auto& step : *steps) used.insert(step.rule);
  for (const BodyProofs& b : proof.bodies)
    for (const ModelProof& inner : b.proofs) used.merge(used_rules(inner));
  return used;
}

std::string to_text(const ProofCertificate& c) {
  json j;
  j[std::string(kProofMagic)] = kProofVersion;
  j["first"] = hex(c.a);
  j["second"] = hex(c.b);
  j["sizes"] = c.sizes;
  j["constants"] = c.constants;
  j["rules"] = lines_of(c.rules);
  j["proof"] = proof_json(c.proof);
  j["outputs"] = json::array();
  for (Equivalence e : c.outputs) j["outputs"].push_back(to_string(e));
  j[std::string(kSelf)] = digest_of_fields(j);
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ProofCertificate> parse_proof(std::string_view text, const std::string& name) {
  if (nested_too_deep(text)) return error(name + ": not a validation's certificate");
  json j = json::parse(text, nullptr, false);
  auto c = certificate_of(j);
  if (!c) return error(name + ": " + c.error().message);
  return c;
}

Result<ProofCertificate> read_proof(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, read_file(path, kMostBytes));
  return parse_proof(text, path);
}

}  // namespace regraft::certify
