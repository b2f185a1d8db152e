#include "cli/pages/told_proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/pages/text.h"
#include "ir/rule/text.h"
#include "verify/derivations/elaborate.h"
#include "verify/replay/proofs.h"

namespace regraft::cli {
namespace {

constexpr size_t kLongest = 600, kShort = 160;  // letters of a formula

Result<std::string> derivation_of(const Rule& rule, const verify::DerivationBook* book,
                                  const std::string& name, const RuleInstance& instance) {
  const verify::RuleDerivations* found = book ? book->find(verify::content_digest(rule)) : nullptr;
  if (found) {
    if (auto it = found->by_name.find(name); it != found->by_name.end()) return it->second;
    if (found->none.count(name))
      return error("proof " + name + " rests on the provers alone; no derivation was found");
  }
  Stop stop;  // signals
  verify::Elaboration e = verify::elaborate(instance, &stop);
  if (e.derivation) return *std::move(e.derivation);
  return error("proof " + name + " rests on the provers alone; what is missing: " + e.missing);
}

/// Names of the rule's proofs, and the one that is asked for.
struct Chosen {
  size_t proofs = 0;
  std::string name;
  Rule rule;  ///< directed
  std::optional<RuleInstance> instance;
};
Chosen choose(const Rule& rule, const verify::DerivationBook* book, const std::string& name) {
  Chosen c;
  const verify::RuleDerivations* known =
      book ? book->find(verify::content_digest(rule)) : nullptr;  // which has counted them
  verify::for_each_proof(rule, [&](const verify::ProofPlace& place) {
    if (known && c.instance) return false;
    ++c.proofs;
    if (c.instance || (!name.empty() && name != place.name)) return true;
    auto instance = verify::instance_at(place.rule, place.signature, verify::Assume::LeftSide);
    if (!instance) return true;
    c.name = place.name;
    c.rule = place.rule;
    c.rule.domain = {place.signature};
    c.rule.verdict = {};
    c.rule.numerics = c.rule.numerics_back = {};
    c.instance = *std::move(instance);
    return true;
  });
  if (known) c.proofs = known->by_name.size() + known->none.size();
  return c;
}

}  // namespace

Result<ToldProof> tell_proof(const Rule& rule, const verify::DerivationBook* book,
                             const std::string& name, size_t most) {
  if (!is_for_all_sizes(rule.verdict.kind) || rule.domain.empty())
    return error("rule " + rule.name +
                 " is not proved for all sizes: " + to_string(rule.verdict.kind));
  Chosen c = choose(rule, book, name);
  if (!c.instance)
    return error("rule " + rule.name + " has no proof " + name + "; the first is named \"" +
                 choose(rule, book, "").name + "\"");
  ASSIGN_OR_RETURN(std::string derivation, derivation_of(rule, book, c.name, *c.instance));
  auto fresh = verify::instance_at(c.rule, c.rule.domain[0], verify::Assume::LeftSide);
  if (!fresh) return fresh.error();
  auto lines = verify::narrate(*fresh, c.rule.variables, derivation, most);
  if (!lines) return error("proof " + c.name + ": the kernel refuses: " + lines.error().message);
  return ToldProof{c.name, to_string(c.rule), c.proofs, *std::move(lines)};
}

std::string to_text(const ToldProof& proof) {
  std::string s =
      fmt::format("{}\nproof \"{}\", one of {}\n\n", proof.claim, proof.name, proof.proofs);
  int step = 0;
  for (const verify::ProofLine& line : proof.lines) {
    std::string in(static_cast<size_t>(2 * line.depth), ' ');
    std::string number = line.depth == 1 ? fmt::format("{}. ", ++step) : "";
    s += in + number + line.text + "\n";
    for (const std::string& f : line.formulas) s += in + "      " + cut(f, kLongest) + "\n";
    if (!line.reason.empty()) s += in + "      sizes: " + cut(line.reason, kLongest) + "\n";
  }
  return s;
}

std::string to_html(const ToldProof& proof, bool shortened) {
  std::string s =
      fmt::format("<p>{}, one of {} proofs. Terms and what is known (#) are numbered.</p>",
                  escape_html("Proof " + proof.name), proof.proofs);
  const size_t longest = shortened ? kShort : kLongest;
  s += "<ul class=\"steps\">";
  for (const verify::ProofLine& line : proof.lines) {
    s += fmt::format("<li style=\"margin-left:{}em\">{}", 2 * line.depth, escape_html(line.text));
    std::string formulas;
    for (const std::string& f : line.formulas)
      formulas += (formulas.empty() ? "" : "\n") + cut(f, longest);
    if (!formulas.empty()) s += "<pre>" + escape_html(formulas) + "</pre>";
    if (!line.reason.empty())
      s += " <span class=\"soft\">Sizes: <code>" + escape_html(cut(line.reason, longest)) +
           "</code></span>";
    s += "</li>";
  }
  s += "</ul>";
  if (shortened)
    s += "<p class=\"soft\"><code>regraft rules proof</code> prints all lines, whole.</p>";
  return s;
}

}  // namespace regraft::cli
