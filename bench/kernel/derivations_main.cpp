// How many of the shipped rules' proofs the kernel accepts:
//   kernel_derivations [--every N] [--misses FILE] [--rule NAME] RULES...
// Of each proved rule (of a family some members) and each signature a derivation is looked for, and
// the kernel checks it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

#include "base/files/output_file.h"
#include "ir/rule/family.h"
#include "substitutions/rule_db.h"
#include "verify/derivations/elaborate.h"
#include "verify/instance.h"
#include "verify/prove/prover.h"

namespace regraft {
namespace {

struct Totals {
  size_t instances = 0, accepted = 0, rules = 0, whole = 0;
  std::map<std::string, size_t> missing;  ///< by the first words of the reason
  std::vector<size_t> bytes;
  std::string log;
  double seconds = 0;
};

/// The reason without what differs from rule to rule.
std::string kind_of(const std::string& missing) {
  std::string kind;
  bool inside = false;
  for (char c : missing.substr(0, missing.find('\n'))) {
    if (c == '[' && !inside) kind += "[]";
    inside = c == '[' || (inside && c != ']');
    if (!inside && c != ']') kind += c;
  }
  return kind.substr(0, 60);
}

bool derive(const Rule& rule, const Signature& signature, bool shown, Totals& totals) {
  auto instance = verify::instance_at(rule, signature, verify::Assume::LeftSide);
  if (!instance) return true;
  if (verify::SymbolicProver().prove(*instance).kind != VerdictKind::ProvedAllSizes) return true;
  ++totals.instances;
  auto start = std::chrono::steady_clock::now();
  verify::Elaboration e = verify::elaborate(*instance);
  double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  totals.seconds += took;
  if (e.derivation) {
    ++totals.accepted;
    totals.bytes.push_back(e.derivation->size());
    if (shown) fmt::print("{}\n", *e.derivation);
    return true;
  }
  ++totals.missing[kind_of(e.missing)];
  std::string words;
  for (const std::string& word : signature) words += " " + word;
  totals.log += fmt::format("{}{} ({:.2f} s)\n  {}\n", rule.name, words, took, e.missing);
  if (shown) fmt::print("{}\n", e.missing);
  return false;
}

void derive(const Rule& rule, bool shown, Totals& totals) {
  constexpr size_t kMembers = 3;
  auto given = example_of(rule);
  std::vector<Rule> rules{rule};
  if (given && given->domain.size() == 1 && is_family(rule)) {
    rules.clear();
    for (Member& m : some_members(rule, kMembers)) rules.push_back(std::move(m.rule));
  }
  bool whole = true;
  for (const Rule& one : rules)
    for (const Rule& directed : directions(one))
      for (const Signature& s : one.domain) whole = derive(directed, s, shown, totals) && whole;
  ++totals.rules;
  totals.whole += whole ? 1 : 0;
}

double percent(size_t part, size_t all) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<size_t>(all, 1));
}

void print(Totals& t) {
  fmt::print("{} proofs, {} accepted by the kernel ({:.1f} %); {} rules, {} whole ({:.1f} %)\n",
             t.instances, t.accepted, percent(t.accepted, t.instances), t.rules, t.whole,
             percent(t.whole, t.rules));
  std::sort(t.bytes.begin(), t.bytes.end());
  if (!t.bytes.empty())
    fmt::print("bytes: median {}, 99 % {}, largest {}\n", t.bytes[t.bytes.size() / 2],
               t.bytes[t.bytes.size() * 99 / 100], t.bytes.back());
  fmt::print("seconds: {:.1f}\n", t.seconds);
  std::vector<std::pair<size_t, std::string>> reasons;
  for (const auto& [kind, count] : t.missing) reasons.emplace_back(count, kind);
  std::sort(reasons.rbegin(), reasons.rend());
  for (size_t k = 0; k < std::min<size_t>(reasons.size(), 40); ++k)
    fmt::print("  {:6} {}\n", reasons[k].first, reasons[k].second);
}

int run(int argc, char** argv) {
  std::vector<std::string> files;
  std::string misses, only;
  size_t every = 1, number = 0;
  for (int k = 1; k < argc; ++k) {
    std::string word = argv[k];
    if (word == "--every" && k + 1 < argc)
      every = std::max<size_t>(1, std::strtoull(argv[++k], nullptr, 10));
    else if (word == "--misses" && k + 1 < argc)
      misses = argv[++k];
    else if (word == "--rule" && k + 1 < argc)
      only = argv[++k];
    else
      files.push_back(word);
  }
  Totals totals;
  for (const std::string& file : files) {
    auto rules = substitutions::read_rules(file, substitutions::Admit::AllSizes);
    if (!rules) {
      fmt::print(stderr, "{}\n", rules.error().message);
      return 3;
    }
    for (const Rule& rule : rules->rules)
      if (only.empty() ? number++ % every == 0 : rule.name == only)
        derive(rule, !only.empty(), totals);
  }
  print(totals);
  if (!misses.empty()) {
    auto out = OutputFile::open(misses);
    if (!out || !out->write(totals.log) || !out->commit()) return 3;
  }
  return 0;
}

}  // namespace
}  // namespace regraft

int main(int argc, char** argv) { return regraft::run(argc, argv); }
