// Files of verdicts: a line says what was found of a rule, with a counterexample that is tried
// again.
#include <nlohmann/json.hpp>

#include "base/nesting.h"
#include "cli/support/verdict_cache.h"
#include "ir/rule/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_json.h"

namespace regraft {
namespace {

Rule rule_of(const std::string& line) {
  auto rule = parse_rule(line);
  CLAIM(rule.has_value(), line);
  return *std::move(rule);
}

const std::vector<Rule>& candidates() {
  static const std::vector<Rule> rules = {
      rule_of("a  (matmul ?a ?b) => (matmul ?b ?a)"),
      rule_of("b  (slice ?x begins=?s sizes=?l steps=?p) => ?x"),
      rule_of("c  (add (full shape=x.0 value=?v) ?x) => ?x")};
  return rules;
}

verify::Finding finding(const Rule& candidate, const Signature& signature,
                        std::map<std::string, int64_t> sizes, verify::Inputs inputs) {
  verify::Finding f;
  f.rule = f.refuted = candidate;
  f.rule.verdict = {VerdictKind::Refuted, "somewhere"};
  verify::Counterexample c;
  c.signature = signature;
  c.sizes = std::move(sizes);
  c.inputs = std::move(inputs);
  f.counterexample = c;
  return f;
}

void read(std::string_view line) {
  for (const Rule& candidate : candidates()) {
    auto found = cli::parse_verdict(candidate, line);
    if (!found) continue;
    CLAIM(validate(found->rule).ok(), to_string(found->rule));
    auto again = cli::parse_verdict(candidate, cli::to_line(candidate, *found));
    CLAIM(again.has_value(), to_string(found->rule));
    CLAIM(to_string(again->rule) == to_string(found->rule), to_string(found->rule));
  }
}

const std::vector<std::string> kWords = {
    "candidate",
    "rule",
    "condition",
    "refutation",
    "milliseconds",
    "instances",
    "proofs",
    "disagreements",
    "seal",
    "evidence",
    "refuted",
    "signature",
    "sizes",
    "inputs",
    "shape",
    "data",
    "nn",
    "n1",
    "-",
    "a.0",
    "a.1",
    "b.0",
    "b.1",
    "s.0",
    "s.1",
    "l.0",
    "x.0",
    "a  (matmul ?a ?b) => (matmul ?b ?a)",
    "a  (matmul ?a ?b) => (matmul ?b ?a)  for a:nn b:nn  refuted[x]"};

/// The line with the seal that fits what it says: a fuzzer could not guess it.
std::string sealed(std::string_view line) {
  if (nested_too_deep(line)) return std::string(line);
  auto j = nlohmann::json::parse(line, nullptr, false);
  if (!j.is_object() || !j.contains("rule") || !j["rule"].is_string()) return std::string(line);
  auto rule = parse_rule(j["rule"].get<std::string>());
  if (!rule) return std::string(line);
  for (const Rule& candidate : candidates()) {
    verify::Finding f;
    f.rule = *rule;
    auto made = nlohmann::json::parse(cli::to_line(candidate, f));
    if (j.value("candidate", nlohmann::json()) != made["candidate"]) continue;
    j["seal"] = made["seal"];
  }
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  const auto& c = candidates();
  auto a = finding(c[0], {"nn", "nn"}, {{"a.0", 1}, {"a.1", 1}, {"b.0", 1}, {"b.1", 2}},
                   {{{1, 1}, {1}}, {{1, 2}, {1, 2}}});
  auto b = finding(c[1], {"n"}, {{"x.0", 2}, {"s.0", 0}, {"l.0", 1}, {"p.0", 1}}, {{{2}, {1, 2}}});
  auto d = finding(c[2], {"n"}, {{"x.0", 2}}, {{{2}, {1, 2}}});
  d.counterexample->reals["v"] = 1;
  verify::Finding proved;
  proved.rule = c[2];
  proved.rule.domain = {{"n"}};
  proved.rule.verdict.kind = VerdictKind::ProvedAllSizes;
  std::vector<Seed> seeds{{"matmul", cli::to_line(c[0], a)},
                          {"slice", cli::to_line(c[1], b)},
                          {"full", cli::to_line(c[2], d)},
                          {"proved", cli::to_line(c[2], proved)}};
  for (size_t k = 0; k < seeds.size(); ++k)
    CLAIM(cli::parse_verdict(c[std::min<size_t>(k, 2)], seeds[k].second), seeds[k].second);
  return seeds;
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view line = regraft::fuzz::text_of(data, size);
  regraft::read(line);
  regraft::read(regraft::sealed(line));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return regraft::fuzz::mutate_json(data, size, most, regraft::kWords, seed);
}
