#include "cli/pages/atlas/rule_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/pages/page.h"
#include "cli/pages/proof.h"
#include "cli/pages/rule_view.h"
#include "cli/pages/text.h"
#include "cli/pages/told_proof.h"
#include "ir/rule/text.h"

namespace regraft::cli {
namespace {

std::string heading(const char* text, const char* id) {
  return fmt::format(R"(<h2 id="{}">{}</h2>)", id, text);
}

std::string badges(const Rule& rule) {
  std::string s = verdict_badge(rule.verdict) + numerics_badge(rule.numerics.kind);
  if (rule.both) {
    s += badge("from right to left: " + to_string(rule.numerics_back.kind),
               rule.numerics_back.kind == Numerics::Unsafe ? "bad" : "plain");
    s += badge("holds in both directions", "plain");
  }
  return "<p>" + s + badge("origin: " + rule.origin, "plain") + "</p>";
}

std::string operator_links(const Rule& rule) {
  std::string s;
  for (const std::string& name : operators_of(rule))
    s += (s.empty() ? "" : ", ") + link_to("../../index.html?op=" + name, name);
  return "<p>Operators: " + s + ". <a href=\"../../reading.html\">How to read this page</a></p>";
}

std::string signatures(const Rule& rule) {
  constexpr size_t kShown = 12;
  std::string s = heading("Where it holds", "where");
  if (!conditions_of(rule).empty())
    s += "<p>Condition: <code>" + escape_html(conditions_of(rule)) + "</code></p>";
  std::string first, others;
  for (size_t k = 0; k < rule.domain.size(); ++k)
    (k < kShown ? first : others) +=
        "<li>" + escape_html(signature_text(rule, rule.domain[k])) + "</li>";
  s += "<ul class=\"chips f\">" + first + "</ul>";
  if (!others.empty())
    s += fmt::format(
        R"(<details><summary>{} more signatures</summary><ul class="chips f">{}</ul></details>)",
        rule.domain.size() - kShown, others);
  return s;
}

std::string numerics_of_one(const char* direction, const NumericVerdict& n) {
  std::string s = fmt::format("<p>{}{}", direction, numerics_badge(n.kind));
  s += "</p>";
  if (!n.witness.empty()) s += "<pre>" + escape_html(n.witness) + "</pre>";
  return s;
}

std::string numerics(const Rule& rule) {
  std::string s = heading("In floating point", "numerics");
  s += numerics_of_one(rule.both ? "From left to right: " : "", rule.numerics);
  if (rule.both) s += numerics_of_one("From right to left: ", rule.numerics_back);
  return s;
}

std::string microseconds(double x) { return fmt::format("{:.3g}", x); }

std::string constants(const Rule& rule, const Payoff& p) {
  std::string all;
  for (const std::string& v : rule.variables)
    if (!p.computed.empty() && v != p.computed) all += (all.empty() ? "" : ", ") + v;
  return all.empty() ? "none" : all;
}

std::vector<std::string> payoff_row(const Rule& rule, const Payoff& p, const char* direction) {
  const PricedSize& x = *p.first;
  return {direction,
          escape_html(constants(rule, p)),
          fmt::format("{}", x.size),
          "<code>" + escape_html(x.shapes) + "</code>",
          microseconds(x.left),
          microseconds(x.right),
          fmt::format("{:.0f} %", 100 * x.estimated)};
}

std::string where_it_pays(const RulePage& page) {
  std::string s = heading("Where it pays", "pays");
  if (page.profile.empty()) return s + "<p>There was no profile to price it with.</p>";
  if (page.payoffs.empty()) return s + "<p>It could not be priced at its first signature.</p>";
  std::vector<std::vector<std::string>> rows = {
      {"Direction", "Constants", "From size", "Shapes", "Before, µs", "After, µs", "Estimated"}};
  std::string never;
  for (const auto& [direction, all] :
       {std::pair("left to right", &page.payoffs), std::pair("right to left", &page.back)}) {
    if (all->empty()) continue;
    for (const Payoff& p : *all)
      if (p.first) rows.push_back(payoff_row(page.rule, p, direction));
    bool somewhere = std::ranges::any_of(*all, [](const Payoff& p) { return p.first.has_value(); });
    if (!somewhere)
      never += fmt::format("<p>From {}: never up to size {}, whatever is constant.</p>", direction,
                           all->front().largest);
    else if (!all->front().first)
      never += fmt::format("<p>From {}, where nothing is constant: never up to size {}.</p>",
                           direction, all->front().largest);
  }
  s += "<p class=\"soft\">Prices of " + escape_html(page.profile) + "</p>";
  return s + (rows.size() > 1 ? html_table(rows, "") : "") + never;
}

std::string tools(const Rule& rule, const Court& court) {
  std::vector<std::vector<std::string>> rows = {{"Tool", "Version", "Direction", "What it does"}};
  for (const char* back : {"", "~"})
    if (auto it = court.find(rule.name + back); it != court.end())
      for (const Applies& a : it->second)
        rows.push_back({escape_html(a.tool), escape_html(a.version),
                        *back ? "right to left" : "left to right", escape_html(a.result)});
  if (rows.size() == 1) return {};
  return heading("Tools that apply it", "tools") + html_table(rows, "");
}

/// As its file has it, but for what stands above.
std::string source(const Rule& rule) {
  Rule bare = rule;
  bare.domain.clear();
  bare.verdict = {};
  bare.numerics = bare.numerics_back = {};
  return heading("As its file has it", "text") + "<pre>" + escape_html(to_string(bare)) + "</pre>";
}

/// The steps that the kernel checked, of the rule's first proof.
std::string derivation(const RulePage& page) {
  constexpr size_t kLines = 14;
  if (!is_for_all_sizes(page.rule.verdict.kind)) return {};
  auto proof = tell_proof(page.rule, page.derivations, {}, kLines);
  std::string told =
      proof ? to_html(*proof, true) : "<p>" + escape_html(proof.error().message) + ".</p>";
  return "<details><summary>What the kernel checks, step by step</summary>" + told + "</details>";
}

std::string neighbours(const RulePage& page) {
  std::string s;
  if (!page.before.empty()) s += "<li>" + link_to(page.before, "Previous rule") + "</li>";
  if (!page.after.empty()) s += "<li>" + link_to(page.after, "Next rule") + "</li>";
  return s.empty() ? s : "<nav aria-label=\"Rules of this family\"><ol>" + s + "</ol></nav>";
}

}  // namespace

bool pays(const RulePage& page) {
  auto somewhere = [](const std::vector<Payoff>& all) {
    return std::ranges::any_of(all, [](const Payoff& p) { return p.first.has_value(); });
  };
  return somewhere(page.payoffs) || somewhere(page.back);
}

std::string rule_page(const RulePage& page, const Court& court) {
  const Rule& rule = page.rule;
  Page p;
  p.title = rule.name;
  p.style = "../../style.css";
  p.trail = {{"Atlas of rules", "../../index.html"},
             {page.family, "../../index.html?family=" + page.family}};
  p.body = badges(rule) + formula_box(rule) + draw_rule(rule, "g") + operator_links(rule) +
           signatures(rule) + numerics(rule) + heading("Its proof", "proof") + proof_of(rule) +
           derivation(page) + where_it_pays(page) + tools(rule, court) + source(rule) +
           neighbours(page);
  return to_html(p);
}

}  // namespace regraft::cli
