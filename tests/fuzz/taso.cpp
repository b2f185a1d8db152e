// TASO's files: what is read is written in that format and read again.
#include "substitutions/taso.h"
#include "ir/rule/text.h"
#include "tests/fuzz/fuzz.h"

namespace regraft {
namespace {

void check_rules(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) {
    Status valid = validate(rule);
    CLAIM(valid.ok(), to_string(rule) + ": " + valid.error().message);
    auto read = parse_rule(to_string(rule));
    CLAIM(read.has_value(), to_string(rule) + ": " + read.error().message);
  }
}

void read(std::string_view bytes) {
  auto rules = substitutions::parse_taso(bytes, "file");
  if (!rules) return fuzz::check_message(rules.error());
  check_rules(rules->file.rules);
  substitutions::TasoBytes written = substitutions::to_taso(rules->file.rules);
  if (!written.names.empty()) {
    auto again = substitutions::parse_taso(written.data, "again");
    CLAIM(again.has_value(), again.error().message);
    CLAIM(again->file.rules.size() == written.names.size(), written.names[0]);
  }
  auto cases = substitutions::parse_taso_cases(bytes, "file");
  CLAIM(cases.has_value(), cases.error().message);
  CLAIM(cases->cases.size() == rules->file.rules.size(), "as many rules either way");
  for (const auto& c : cases->cases) check_rules(c.forms);
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  const char* lines[] = {
      "a  (matmul (matmul ?a ?b) ?c) => (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn",
      "b  (add ?a ?b) => (add ?b ?a)  for a:nnnn b:nnnn",
      "c  (relu (concat ?a ?b axis=1)) => (concat (relu ?a) (relu ?b) axis=1)  for a:nn b:nn",
      "d  (conv ?x (add ?v ?w) strides=1,1 pads=1,1,1,1) => (add (conv ?x ?v strides=1,1 "
      "pads=1,1,1,1) (conv ?x ?w strides=1,1 pads=1,1,1,1))  where v.2=3,v.3=3,w.2=3,w.3=3  for "
      "x:nnnn v:nnnn w:nnnn"};
  std::vector<Seed> seeds;
  std::vector<Rule> all;
  for (const char* line : lines) {
    auto rule = parse_rule(line);
    CLAIM(rule.has_value(), line);
    std::vector<Rule> one{*rule};
    seeds.emplace_back(std::string("rule-") + line[0], substitutions::to_taso(one).data);
    all.push_back(*std::move(rule));
  }
  seeds.emplace_back("all", substitutions::to_taso(all).data);
  return seeds;
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  regraft::read(regraft::fuzz::text_of(data, size));
  return 0;
}
