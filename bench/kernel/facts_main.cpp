// How many of the facts about sizes that proofs use have certificates:
//   kernel_facts [--every N] [--each-proof] [--misses FILE] [--certificates FILE] RULES...
// Proves each rule (of a family some members), collects every question that the arithmetic solver
// answered "unsatisfiable", looks for a certificate, and lets the kernel check it. The same
// question of two proofs is looked at once, with --each-proof once in each.
// --certificates writes all of them as tests/verify/kernel/check_main.cpp reads them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "base/files/output_file.h"
#include "ir/rule/family.h"
#include "substitutions/rule_db.h"
#include "verify/certificates/certify.h"
#include "verify/kernel/certificate.h"
#include "verify/kernel/translation.h"
#include "verify/prove/prover.h"
#include "verify/replay/instance.h"

namespace regraft {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Question {
  std::vector<std::string> facts;  ///< texts
  std::string rule;                ///< of the first proof that asked
  size_t asked = 0;
};

struct Totals {
  bool each_proof = false;
  size_t distinct = 0, proofs = 0, asked = 0, certified = 0, refused = 0;
  size_t rules = 0, incomplete = 0;
  std::set<std::string> open_rules;
  double proving = 0, finding = 0, checking = 0;
  std::map<std::string, Question> missing;
  std::map<std::string, bool> seen;  ///< by text: has a certificate
  std::map<std::string, size_t> steps;
  std::vector<size_t> bytes;
  std::vector<double> slowest;  ///< seconds of each search for a certificate
  std::vector<std::string> wrong;
  std::string certificates;
};

/// The facts and the least values of their symbols.
std::string key_of(const kernel::Symbols& symbols, const std::vector<kernel::Fact>& facts) {
  std::string key;
  for (kernel::Symbol s = 0; s < symbols.size(); ++s)
    if (symbols[s].least) key += fmt::format("{}>={} ", symbols[s].name, *symbols[s].least);
  for (const kernel::Fact& f : facts) key += "\n" + kernel::text(symbols, f);
  return key;
}

/// A case for kernel_check.
std::string text_of(const kernel::Symbols& symbols, const std::vector<kernel::Fact>& facts,
                    const std::string& certificate) {
  std::string text;
  for (kernel::Symbol s = 0; s < symbols.size(); ++s) {
    if (symbols[s].kind >= kernel::Kind::Quotient) continue;
    if (symbols[s].least)
      text += fmt::format("size {} {}\n", symbols[s].name, *symbols[s].least);
    else
      text += fmt::format("index {}\n", symbols[s].name);
  }
  for (size_t t = 0; t < symbols.tables(); ++t) {
    text += "table";
    for (const kernel::Poly& e : symbols.entries(t)) text += " " + symbols.text(e);
    text += "\n";
  }
  for (const kernel::Fact& f : facts) text += fmt::format("fact {}\n", kernel::text(symbols, f));
  return text + fmt::format("certificate {}\n\n", certificate);
}

void count_steps(const std::string& certificate, Totals& totals) {
  for (size_t at = 0; at < certificate.size();) {
    size_t end = std::min(certificate.find(';', at), certificate.size());
    ++totals.steps[certificate.substr(at, certificate.find(' ', at) - at)];
    at = end + 1;
  }
}

/// Has a certificate.
bool ask(const Conjunction& facts, const std::string& rule, Totals& totals) {
  ++totals.asked;
  kernel::Symbols symbols;
  std::vector<kernel::Fact> said = kernel::Translation(symbols).of(facts);
  std::string key = key_of(symbols, said);
  auto [it, fresh] = totals.seen.try_emplace(key, false);
  totals.distinct += fresh ? 1 : 0;
  if (!fresh) {
    if (!it->second) ++totals.missing[key].asked;
    return it->second;
  }
  auto start = Clock::now();
  auto certificate = verify::find_certificate(symbols, said);
  totals.slowest.push_back(seconds_since(start));
  totals.finding += totals.slowest.back();
  if (!certificate) {
    totals.missing.try_emplace(key, Question{{}, rule, 0}).first->second.asked += 1;
    return false;
  }
  start = Clock::now();
  try {
    kernel::check_unsatisfiable(symbols, said, *certificate);
    it->second = true;
    ++totals.certified;
    totals.certificates += text_of(symbols, said, *certificate);
    totals.bytes.push_back(certificate->size());
    count_steps(*certificate, totals);
  } catch (const kernel::Refused& r) {
    ++totals.refused;
    totals.wrong.push_back(fmt::format("{}\n{}\n{}\n", key, *certificate, r.why));
  }
  totals.checking += seconds_since(start);
  return it->second;
}

void prove(const Rule& rule, const Signature& signature, Totals& totals) {
  auto instance = verify::instance_at(rule, signature, verify::Assume::LeftSide);
  if (!instance) return;
  std::vector<Conjunction> shown;
  verify::SymbolicProver prover;
  prover.on_refuted = [&](const Conjunction& facts) { shown.push_back(facts); };
  auto start = Clock::now();
  Verdict verdict = prover.prove(*instance);
  totals.proving += seconds_since(start);
  if (!is_for_all_sizes(verdict.kind)) return;
  ++totals.proofs;
  if (totals.each_proof) totals.seen.clear();
  bool complete = true;
  for (const Conjunction& facts : shown) complete = ask(facts, rule.name, totals) && complete;
  if (complete) return;
  ++totals.incomplete;
  totals.open_rules.insert(rule.name);
}

void prove(const Rule& rule, Totals& totals) {
  constexpr size_t kMembers = 3;
  auto given = example_of(rule);
  bool family = given && given->domain.size() == 1 && is_family(rule);
  std::vector<Rule> rules{rule};
  if (family) {
    rules.clear();
    for (Member& m : some_members(rule, kMembers)) rules.push_back(std::move(m.rule));
  }
  for (const Rule& one : rules)
    for (const Rule& directed : directions(one))
      for (const Signature& s : one.domain) prove(directed, s, totals);
}

void print(Totals& t) {
  size_t all = t.distinct;
  std::sort(t.bytes.begin(), t.bytes.end());
  fmt::print("{} proofs, {} questions answered, {} distinct\n", t.proofs, t.asked, all);
  fmt::print("{} proofs of {} of {} rules have questions without a certificate\n", t.incomplete,
             t.open_rules.size(), t.rules);
  fmt::print(
      "{} certified ({:.3f} %), {} not found, {} refused by the kernel\n", t.certified,
      100.0 * static_cast<double>(t.certified) / static_cast<double>(std::max<size_t>(all, 1)),
      t.missing.size(), t.refused);
  if (!t.bytes.empty())
    fmt::print("bytes: median {}, 99 % {}, largest {}, all {}\n", t.bytes[t.bytes.size() / 2],
               t.bytes[t.bytes.size() * 99 / 100], t.bytes.back(),
               std::accumulate(t.bytes.begin(), t.bytes.end(), size_t{0}));
  fmt::print("seconds: proving {:.1f}, finding {:.1f}, checking {:.1f}\n", t.proving, t.finding,
             t.checking);
  std::sort(t.slowest.begin(), t.slowest.end());
  if (!t.slowest.empty()) {
    auto cut = t.slowest.end() - static_cast<std::ptrdiff_t>(t.slowest.size() / 100);
    fmt::print("finding: median {:.3f} ms, slowest {:.0f} ms, the slowest 1 % of them {:.1f} s\n",
               1e3 * t.slowest[t.slowest.size() / 2], 1e3 * t.slowest.back(),
               std::accumulate(cut, t.slowest.end(), 0.0));
  }
  for (const auto& [name, count] : t.steps) fmt::print("  {} {}\n", name, count);
}

int run(int argc, char** argv) {
  std::vector<std::string> files;
  std::string misses, certificates;
  size_t every = 1, number = 0;
  Totals totals;
  for (int k = 1; k < argc; ++k) {
    std::string word = argv[k];
    if (word == "--every" && k + 1 < argc)
      every = std::max<size_t>(1, std::strtoull(argv[++k], nullptr, 10));
    else if (word == "--misses" && k + 1 < argc)
      misses = argv[++k];
    else if (word == "--certificates" && k + 1 < argc)
      certificates = argv[++k];
    else if (word == "--each-proof")
      totals.each_proof = true;
    else
      files.push_back(word);
  }
  for (const std::string& file : files) {
    auto rules = substitutions::read_rules(file, substitutions::Admit::AllSizes);
    if (!rules) {
      fmt::print(stderr, "{}\n", rules.error().message);
      return 3;
    }
    for (const Rule& rule : rules->rules)
      if (number++ % every == 0) {
        ++totals.rules;
        prove(rule, totals);
      }
  }
  print(totals);
  std::string text;
  for (const std::string& w : totals.wrong) text += "REFUSED " + w + "\n";
  for (const auto& [key, q] : totals.missing)
    text += fmt::format("MISSING {} asked {}\n{}\n\n", q.rule, q.asked, key);
  for (const auto& [path, content] :
       {std::pair{misses, text}, {certificates, totals.certificates}}) {
    if (path.empty()) continue;
    auto out = OutputFile::open(path);
    if (!out || !out->write(content) || !out->commit()) return 3;
  }
  return totals.refused == 0 ? 0 : 1;
}

}  // namespace
}  // namespace regraft

int main(int argc, char** argv) { return regraft::run(argc, argv); }
