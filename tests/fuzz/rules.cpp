// Rule files: what is read is printed and read again.
#include "ir/rule/family.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"
#include "tests/fuzz/fuzz.h"

namespace regraft {
namespace {

using substitutions::Admit;
using substitutions::RuleFile;

constexpr size_t kSignatures = 4;  // of a rule that graphs are built at

Rule again(const Rule& rule) {
  std::string text = to_string(rule);
  auto read = parse_rule(text);
  CLAIM(read.has_value(), text + ": " + read.error().message);
  CLAIM(to_string(*read) == text, text);
  return *std::move(read);
}

void try_rule(const Rule& rule) {
  Status valid = validate(rule);
  CLAIM(valid.ok(), to_string(rule) + ": " + valid.error().message);
  CLAIM(canonical_key(again(rule)) == canonical_key(rule), to_string(rule));
  again(renamed(rule));
  for (const Rule& directed : directions(rule)) again(directed);
  if (!rule.both && is_reversible(rule)) {
    std::string text = to_string(again(reversed(reversed(rule))));
    CLAIM(text == to_string(rule), text);
  }
  if (is_family(rule)) {
    Rule few = rule;
    few.domain.resize(std::min<size_t>(few.domain.size(), 1));
    for (const Member& m : some_members(few, 1)) CLAIM(!is_family(m.rule), to_string(m.rule));
    return;
  }
  for (size_t k = 0; k < std::min(kSignatures, rule.domain.size()); ++k) {
    auto instance = instantiate(rule, rule.domain[k]);
    if (!instance) fuzz::check_message(instance.error());
  }
}

/// A file that was written is read back as it was, with every seal.
void try_file(const RuleFile& file) {
  std::string text = substitutions::to_text(file);
  auto read = substitutions::parse_rules(text, "again", Admit::Candidates);
  CLAIM(read.has_value(), text + read.error().message);
  CLAIM(read->rules.size() == file.rules.size(), text);
  bool shaped = true;  // a proved rule says for which shapes
  for (const Rule& r : file.rules)
    shaped = shaped && (r.verdict.kind < VerdictKind::ProvedBounded || !r.domain.empty());
  auto sealed = substitutions::parse_rules(text, "sealed", Admit::Bounded);
  CLAIM(sealed.has_value() || !shaped, text + sealed.error().message);
  CLAIM(!sealed || sealed->rules.size() + sealed->left_out == file.rules.size(), text);
}

void read(std::string_view text) {
  for (Admit admit : {Admit::AllSizes, Admit::Candidates}) {
    auto file = substitutions::parse_rules(text, "file", admit);
    if (!file) {
      fuzz::check_message(file.error());
      continue;
    }
    for (const Rule& rule : file->rules) try_rule(rule);
    try_file(*file);
  }
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  const char* lines[] = {
      "a  (matmul (matmul ?a ?b) ?c) <=> (matmul ?a (matmul ?b ?c))  for a:nn b:nn c:nn | a:nnn "
      "b:nn c:nn  proved:all-sizes",
      "b  (add (conv ?x ?v strides=?s pads=?p) (conv ?x ?w strides=?s pads=?p)) => (conv ?x (add "
      "?v "
      "?w) strides=?s pads=?p)  where v.2=w.2,v.3=w.3  for x:nnnn v:nnnn w:nnnn  "
      "proved:bounded[x=[1,2,3,3\\]]  origin:hand",
      "c  (slice (concat ?a ?b axis=0) begins=0 sizes=a.0 steps=1) => ?a",
      "d  (split ?x axis=1 sizes=1,x.1-1)#0 ; (split ?x axis=1 sizes=1,x.1-1)#1 => ?x ; ?x  "
      "refuted[a=1]",
      "e  (clip ?x min=?m max=6) => (clip ?x min=?m max=6)  for x:-  tested",
      "f  (reshape ?x shape=floor(x.0/2),2*x.1) => (reshape ?x shape=0,-1)"};
  std::vector<Seed> seeds;
  RuleFile all;
  for (const char* line : lines) {
    seeds.emplace_back(std::string("line-") + line[0], std::string(line) + "\n");
    if (auto rule = parse_rule(line)) all.rules.push_back(*std::move(rule));
  }
  seeds.emplace_back("file", substitutions::to_text(all));
  seeds.emplace_back("deep", "g  " + std::string(30000, '(') + "\n");
  return seeds;
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  regraft::read(regraft::fuzz::text_of(data, size));
  return 0;
}
