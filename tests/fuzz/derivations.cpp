// Files of derivations: the reader, and the kernel on what it read. No derivation shows a rule that
// is false.
#include <set>

#include "base/files/gzip.h"
#include "ir/rule/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/verify/kernel/changes.h"
#include "verify/replay/derivation_file.h"
#include "verify/replay/instance.h"
#include "verify/replay/proofs.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace regraft {
namespace {

/// False at every signature that stands there, each next to a rule of the corpus.
constexpr const char* kFalse[] = {
    "f (matmul ?a ?b) => (matmul ?b ?a)  for a:nn b:nn",
    "f (relu (add ?a ?b)) => (add (relu ?a) (relu ?b))  for a:nn b:nn",
    "f (relu (mul ?a ?b)) => (mul ?b (relu ?a))  for a:nn b:nn",
    "f (mul ?a ?b) => (mul ?a (div (mul ?b ?b) ?b))  for a:nn b:nn",
    "f (sqrt (mul ?a ?b)) => (mul (sqrt ?a) (sqrt ?b))  for a:nn b:nn",
    "f (log (mul ?a ?b)) => (add (log ?a) (log ?b))  for a:nn b:nn",
    "f (softmax (sub ?a ?b) axis=0) => (softmax ?a axis=0)  for a:nn b:n1",
    "f (transpose (matmul ?a ?b) perm=1,0) => (matmul (transpose ?a perm=1,0) (transpose ?b "
    "perm=1,0))  for a:nn b:nn",
    "f (concat ?a ?b axis=1) => (concat ?b ?a axis=1)  for a:nn b:nn",
    "f (reduce-max (mul ?a ?b) axes=1) => (mul (reduce-max ?a axes=1) ?b)  for a:nn b:n1",
    "f (reduce-mean ?a axes=1) => (reduce-sum ?a axes=1)  for a:nn"};

const std::set<std::string>& false_digests() {
  static const std::set<std::string> digests = [] {
    std::set<std::string> all;
    for (const char* text : kFalse) {
      auto rule = parse_rule(text);
      CLAIM(rule, text);
      all.insert(verify::content_digest(*rule));
    }
    return all;
  }();
  return digests;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}
bool begins_entry(const std::string& line) {
  return line.starts_with("proof ") || line.starts_with("same ") || line.starts_with("rule ");
}
/// What is behind the second word.
std::string behind(const std::string& line) {
  size_t first = line.find(' '), second = line.find(' ', first + 1);
  return second == line.npos ? "" : line.substr(second + 1);
}

/// The file with the digests and numbers of lines that fit: a fuzzer could not guess them.
std::string fitted(std::string_view text) {
  std::vector<std::string> lines = lines_of(text);
  std::string all;
  for (size_t k = 0; k < lines.size(); ++k) {
    std::string line = lines[k];
    if (line.starts_with("rule ")) {
      auto rule = parse_rule(behind(line));
      if (rule && validate(*rule))
        line = "rule " + verify::content_digest(*rule) + " " + behind(line);
    } else if (line.starts_with("proof ")) {
      size_t end = k + 1;
      while (end < lines.size() && !begins_entry(lines[end])) ++end;
      line = "proof " + std::to_string(end - k - 1) + " " + behind(line);
    }
    all += line + "\n";
  }
  return all;
}

void replay(const verify::RuleDerivations& r) {
  constexpr size_t kMostSignatures = 4, kMostProofs = 8;
  if (r.rule.domain.size() > kMostSignatures) return;
  bool wrong = false_digests().count(r.digest) > 0;
  size_t proofs = 0;
  verify::for_each_proof(r.rule, [&](const verify::ProofPlace& place) {
    auto it = r.by_name.find(place.name);
    if (++proofs > kMostProofs) return false;
    if (it == r.by_name.end()) return true;
    auto instance = verify::instance_at(place.rule, place.signature, verify::Assume::LeftSide);
    if (!instance) return true;
    std::string why = verify::refusal(*instance, it->second);
    CLAIM(!(wrong && why.empty()), it->second);
    CLAIM(why.size() < 100'000, why);
    return true;
  });
}

void read(std::string_view text) {
  auto rules = verify::parse_derivations(text, "file");
  if (!rules) return fuzz::check_message(rules.error());
  std::string written = verify::to_text(*rules);
  auto again = verify::parse_derivations(written, "again");
  CLAIM(again, again ? "" : again.error().message);
  CLAIM(verify::to_text(*again) == written, written);
  for (const verify::RuleDerivations& r : *rules) replay(r);
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  std::vector<Seed> seeds;
  for (const char* text : kFalse) {
    auto rule = parse_rule(text);
    CLAIM(rule, text);
    verify::RuleDerivations r{*rule, verify::content_digest(*rule), {}, {}, 0};
    verify::for_each_proof(*rule, [&](const verify::ProofPlace& place) {
      r.by_name[place.name] = "needed\npair 0 1 0 i0 i1 i0 i1\nlaw common 0 0 0 0\nend\n";
      return true;
    });
    seeds.emplace_back("false-" + std::to_string(seeds.size()), verify::to_text({r}));
  }
  seeds.emplace_back("packed", to_gzip(seeds[0].second));
  return seeds;
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text = regraft::fuzz::text_of(data, size);
  std::string unpacked;
  if (regraft::is_gzip(text)) {
    auto bytes = regraft::from_gzip(text, size_t{1} << 20);
    if (!bytes) {
      regraft::fuzz::check_message(bytes.error());
      return 0;
    }
    unpacked = *std::move(bytes);
    text = unpacked;
  }
  regraft::read(text);
  regraft::read(regraft::fitted(text));
  return 0;
}

/// Half of the time a derivation is changed as an attacker would.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(regraft::fuzz::text_of(data, size));
  size_t at = text.find("\nproof ");
  if (random() % 4 == 0 || at == text.npos || regraft::is_gzip(text))
    return LLVMFuzzerMutate(data, size, most);
  size_t from = text.find('\n', at + 1);
  if (from == text.npos) return LLVMFuzzerMutate(data, size, most);
  auto kind = static_cast<regraft::kernel::Attack>(random() % regraft::kernel::kAttacks.size());
  std::string changed =
      text.substr(0, from + 1) +
      regraft::kernel::attacked(text.substr(from + 1), text.substr(from + 1), kind, random);
  if (changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
