// How many of the shipped rules' proofs the kernel accepts:
//   kernel_derivations [--every N] [--misses FILE] [--rule NAME] [--candidates] RULES...
// Of each proved rule (of a family some members) and each signature a derivation is looked for, and
// the kernel checks it. Candidates need no seal. Seconds are of this process's CPU time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>

#include "base/files/output_file.h"
#include "ir/rule/family.h"
#include "substitutions/rule_db.h"
#include "verify/derivations/elaborate.h"
#include "verify/prove/prover.h"
#include "verify/replay/instance.h"
#include "verify/replay/proofs.h"

namespace regraft {
namespace {

struct Totals {
  size_t instances = 0, accepted = 0, rules = 0, whole = 0;
  std::map<std::string, size_t> missing;  ///< by the first words of the reason
  std::vector<size_t> bytes;
  std::vector<double> replays;  ///< seconds
  std::string log;
  double proving = 0, deriving = 0;
};

template <class F>
double seconds_of(F f) {
  const std::clock_t start = std::clock();
  f();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

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

constexpr double kSlow = 0.2;  // seconds that are worth a line

bool derive(const Rule& rule, const Signature& signature, bool shown, verify::OtherProofs& others,
            Totals& totals) {
  auto instance = verify::instance_at(rule, signature, verify::Assume::LeftSide);
  if (!instance) return true;
  VerdictKind kind = VerdictKind::Unknown;
  totals.proving += seconds_of([&] { kind = verify::SymbolicProver().prove(*instance).kind; });
  if (!is_for_all_sizes(kind)) return true;
  ++totals.instances;
  verify::Elaboration e;
  const double took = seconds_of([&] { e = verify::elaborate(*instance, others); });
  totals.deriving += took;
  if (e.derivation) {
    ++totals.accepted;
    totals.bytes.push_back(e.derivation->size());
    if (took > kSlow) totals.log += fmt::format("slow: {} ({:.2f} s)\n", rule.name, took);
    totals.replays.push_back(seconds_of([&] { verify::refusal(*instance, *e.derivation); }));
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
  verify::OtherProofs others;
  for (const Rule& one : rules)
    for (const Rule& directed : directions(one))
      for (const Signature& s : one.domain)
        whole = derive(directed, s, shown, others, totals) && whole;
  ++totals.rules;
  totals.whole += whole ? 1 : 0;
}

double percent(size_t part, size_t all) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<size_t>(all, 1));
}

void print_spread(const char* what, const char* format, auto values) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  auto at = [&](size_t k) { return fmt::format(fmt::runtime(format), values[k]); };
  fmt::print("{}: median {}, 99 % {}, largest {}\n", what, at(values.size() / 2),
             at(values.size() * 99 / 100), at(values.size() - 1));
}

/// One line.
void print_accepted(const std::string& of, const Totals& t) {
  fmt::print(
      "{}: {} proofs, {} accepted by the kernel ({:.1f} %); {} rules, {} whole ({:.1f} %); "
      "{:.1f} s\n",
      of, t.instances, t.accepted, percent(t.accepted, t.instances), t.rules, t.whole,
      percent(t.whole, t.rules), t.deriving);
}

void add(Totals& to, const Totals& from) {
  to.instances += from.instances;
  to.accepted += from.accepted;
  to.rules += from.rules;
  to.whole += from.whole;
  to.proving += from.proving;
  to.deriving += from.deriving;
  to.log += from.log;
  for (const auto& [kind, count] : from.missing) to.missing[kind] += count;
  to.bytes.insert(to.bytes.end(), from.bytes.begin(), from.bytes.end());
  to.replays.insert(to.replays.end(), from.replays.begin(), from.replays.end());
}

void print(const Totals& t) {
  print_accepted("all", t);
  double replaying = 0;
  for (double s : t.replays) replaying += s;
  fmt::print("seconds: proving {:.1f}, deriving {:.1f}, replaying {:.1f}\n", t.proving, t.deriving,
             replaying);
  print_spread("bytes", "{}", t.bytes);
  print_spread("seconds of a replay", "{:.5f}", t.replays);
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
  bool candidates = false;
  for (int k = 1; k < argc; ++k) {
    std::string word = argv[k];
    if (word == "--every" && k + 1 < argc)
      every = std::max<size_t>(1, std::strtoull(argv[++k], nullptr, 10));
    else if (word == "--misses" && k + 1 < argc)
      misses = argv[++k];
    else if (word == "--candidates")
      candidates = true;
    else if (word == "--rule" && k + 1 < argc)
      only = argv[++k];
    else
      files.push_back(word);
  }
  Totals totals;
  for (const std::string& file : files) {
    auto rules = candidates ? substitutions::read_candidates(file)
                            : substitutions::read_rules(file, substitutions::Admit::AllSizes);
    if (!rules) {
      fmt::print(stderr, "{}\n", rules.error().message);
      return 3;
    }
    Totals here;
    for (const Rule& rule : rules->rules)
      if (only.empty() ? number++ % every == 0 : rule.name == only)
        derive(rule, !only.empty(), here);
    print_accepted(std::filesystem::path(file).stem().string(), here);
    add(totals, here);
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
