#include "cli/pages/optimize_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/pages/page.h"
#include "cli/pages/rule_view.h"
#include "cli/pages/text.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

std::string percent(double before, double after) {
  if (before == 0 || before == after) return "";
  return fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

std::string right(const std::string& cell) { return "<span class=\"n\">" + cell + "</span>"; }

int64_t operators_in(const json& side) {
  int64_t n = 0;
  for (const auto& [type, count] : side.at("operators").items()) n += count.get<int64_t>();
  return n;
}

std::optional<double> measured(const json& side) {
  if (!side.contains("measured")) return std::nullopt;
  return side.at("measured").at("microseconds").get<double>();
}

/// Two bars, one below the other, of lengths in proportion.
std::string bars(const std::string& title, double before, double after) {
  double most = std::max({before, after, 1e-9});
  std::string s = "<h3>" + escape_html(title) + "</h3><div class=\"bars\">";
  for (const auto& [name, value] : {std::pair("before", before), std::pair("after", after)})
    s += fmt::format(R"(<span>{}</span><div><div class="bar" style="width:{:.1f}%"></div></div>)"
                     "<span>{:.1f} µs</span>",
                     name, 100 * value / most, value);
  return s + "</div>";
}

std::string times(const json& before, const json& after) {
  std::string s =
      "<h2 id=\"times\">Time and size</h2>" +
      bars("Predicted time", before.at("cost").get<double>(), after.at("cost").get<double>());
  auto a = measured(before), b = measured(after);
  return a && b ? s + bars("Measured time", *a, *b) : s;
}

std::string quantities(const json& before, const json& after) {
  Rows rows = {{"", "Before", "After", "Change"}};
  auto add = [&](const char* name, double b, double a, const std::string& shown_b,
                 const std::string& shown_a) {
    rows.push_back({name, right(shown_b), right(shown_a), right(percent(b, a))});
  };
  auto counted = [&](const char* name, double b, double a) {
    add(name, b, a, human_count(b), human_count(a));
  };
  auto sized = [&](const char* name, const char* key) {
    auto b = before.at(key).get<double>(), a = after.at(key).get<double>();
    add(name, b, a, human_bytes(b), human_bytes(a));
  };
  counted("Operators", static_cast<double>(operators_in(before)),
          static_cast<double>(operators_in(after)));
  counted("Parameters", before.at("parameters").get<double>(),
          after.at("parameters").get<double>());
  counted("FLOPs", before.at("flops").get<double>(), after.at("flops").get<double>());
  sized("Activations at once", "activation_bytes");
  sized("File size", "bytes");
  return html_table(rows, "");
}

std::string operators(const json& before, const json& after) {
  std::map<std::string, std::pair<int64_t, int64_t>> counts;
  for (const auto& [type, n] : before.at("operators").items()) counts[type].first = n;
  for (const auto& [type, n] : after.at("operators").items()) counts[type].second = n;
  Rows changed = {{"Operator", "Before", "After", "Change"}}, others = {{"Operator", "Count"}};
  for (const auto& [type, n] : counts) {
    if (n.first == n.second)
      others.push_back({escape_html(type), right(fmt::format("{}", n.first))});
    else
      changed.push_back({escape_html(type), right(fmt::format("{}", n.first)),
                         right(fmt::format("{}", n.second)),
                         right(fmt::format("{:+}", n.second - n.first))});
  }
  std::string s = "<h2 id=\"operators\">Operators</h2>";
  s += changed.size() > 1 ? html_table(changed, "") : "<p>No counts changed.</p>";
  if (others.size() > 1)
    s += fmt::format("<details><summary>{} types whose count stays</summary>{}</details>",
                     others.size() - 1, html_table(others, ""));
  return s;
}

/// Each rule that was applied, in the main graph and in bodies that changed, most often first.
std::vector<std::pair<std::string, int64_t>> applied(const json& report) {
  std::map<std::string, int64_t> counts;
  auto add = [&](const json& all) {
    for (const auto& [name, n] : all.items()) counts[name] += n.get<int64_t>();
  };
  add(report.at("applied"));
  for (const json& body : report.at("bodies"))
    if (body.at("changed").get<bool>()) add(body.at("applied"));
  std::vector<std::pair<std::string, int64_t>> all(counts.begin(), counts.end());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
  return all;
}

const Rule* find_rule(const rewrite::RuleIndex& rules, const std::string& name) {
  for (const auto& compiled : rules.rules())
    if (compiled.rule.name == name) return &compiled.rule;
  return rules.selection() ? find_rule(*rules.selection(), name) : nullptr;
}

std::string rule_sections(const json& report, const rewrite::RuleIndex& rules) {
  auto all = applied(report);
  std::string s = "<h2 id=\"rules\">Rules applied</h2>", sections;
  if (all.empty()) return s + "<p>None.</p>";
  Rows rows = {{"Rule", "Times", "Formula"}};
  for (size_t k = 0; k < all.size(); ++k) {
    const auto& [name, n] = all[k];
    const Rule* rule = find_rule(rules, name);
    std::string times = right(fmt::format("{}", n));
    if (!rule) {  // a rewrite of the program's own: it has no rule to draw
      rows.push_back({escape_html(name), times, ""});
      continue;
    }
    std::string id = fmt::format("rule-{}", k + 1);
    rows.push_back({link_to("#" + id, name), times,
                    "<span class=\"f\">" +
                        escape_html(side_formula(*rule, rule->lhs, Marking::Plain) + " ⇒ " +
                                    side_formula(*rule, rule->rhs, Marking::Plain)) +
                        "</span>"});
    sections += fmt::format("<section aria-labelledby=\"{0}\"><h3 id=\"{0}\">{1}</h3>", id,
                            escape_html(name));
    sections += "<p>" + verdict_badge(rule->verdict) + numerics_badge(rule->numerics.kind) +
                badge(fmt::format("applied {} time{}", n, n == 1 ? "" : "s"), "plain") + "</p>" +
                formula_box(*rule) + draw_rule(*rule, "g" + std::to_string(k + 1)) +
                "<p><a href=\"#rules\">All rules applied</a></p></section>";
  }
  return s + html_table(rows, "") + sections;
}

std::string bodies(const json& report) {
  Rows rows = {{"Body", "Operators before", "after", "Outcome"}};
  for (const json& b : report.at("bodies"))
    rows.push_back({escape_html(b.at("where").get<std::string>()),
                    right(fmt::format("{}", b.at("before").at("operators").get<int64_t>())),
                    right(fmt::format("{}", b.at("after").at("operators").get<int64_t>())),
                    b.at("changed").get<bool>()
                        ? "changed"
                        : "kept: " + escape_html(b.at("kept_because").get<std::string>())});
  if (rows.size() == 1) return {};
  return "<h2 id=\"bodies\">Bodies of If, Loop and Scan</h2>" + html_table(rows, "");
}

std::string check(const json& report) {
  std::string s = "<h2 id=\"check\">Check</h2>";
  if (!report.contains("check")) return s + "<p>The result was not compared with the original.</p>";
  const json& c = report.at("check");
  s += fmt::format(
      "<p>Both models were run on {} random inputs: {}. Largest difference {:.3g}, "
      "relative {:.3g}.</p>",
      c.at("runs").get<int64_t>(), c.at("passed").get<bool>() ? "they agree" : "they differ",
      c.at("max_absolute").get<double>(), c.at("max_relative").get<double>());
  std::string incomplete = c.at("incomplete_because").get<std::string>();
  if (!incomplete.empty()) s += "<p>Incomplete: " + escape_html(incomplete) + ".</p>";
  return s;
}

std::string how(const json& report) {
  const json& search = report.at("search");
  std::string s = "<h2 id=\"how\">How</h2><dl>";
  auto add = [&](const char* name, const std::string& value) {
    s += fmt::format("<dt>{}</dt><dd>{}</dd>", name, escape_html(value));
  };
  add("Model", report.at("input").get<std::string>());
  add("Result", report.at("output").get<std::string>());
  add("Target", report.at("target").get<std::string>());
  add("Prices", report.at("cost_model").get<std::string>());
  add("Rules at hand", fmt::format("{} directions, numerics {}", report.at("rules").get<size_t>(),
                                   report.at("numerics").get<std::string>()));
  add("Search",
      fmt::format("{}: {} candidates in {:.1f} s, ended by {}",
                  search.at("searcher").get<std::string>(), search.at("candidates").get<uint64_t>(),
                  search.at("seconds").get<double>(), search.at("stop_reason").get<std::string>()));
  add("All together", fmt::format("{:.1f} s", report.at("seconds").get<double>()));
  add("regraft", report.at("version").get<std::string>());
  return s + "</dl>";
}

std::string summary(const json& report) {
  const json &before = report.at("before"), &after = report.at("after");
  std::string s = "<p>";
  s +=
      badge(fmt::format("operators: {} to {}", operators_in(before), operators_in(after)), "plain");
  std::string predicted = percent(before.at("cost").get<double>(), after.at("cost").get<double>());
  if (!predicted.empty()) s += badge("predicted time: " + predicted, "plain");
  auto a = measured(before), b = measured(after);
  if (a && b && *a != *b) s += badge("measured time: " + percent(*a, *b), "plain");
  if (report.contains("check"))
    s += report.at("check").at("passed").get<bool>() ? badge("checked: agrees", "good")
                                                     : badge("checked: differs", "bad");
  s += "</p>";
  if (!report.at("kept").get<bool>()) return s;
  std::string why = report.at("discarded").get<std::string>();
  return s +
         "<p>The original stays: " + escape_html(why.empty() ? "nothing better was found" : why) +
         ".</p>";
}

}  // namespace

std::string optimize_page(const json& report, const rewrite::RuleIndex& rules) {
  const json &before = report.at("before"), &after = report.at("after");
  Page page;
  page.title = "What regraft did to " + report.at("input").get<std::string>();
  page.body = summary(report) + times(before, after) + quantities(before, after) +
              operators(before, after) + rule_sections(report, rules) + bodies(report) +
              check(report) + how(report);
  return to_html(page);
}

}  // namespace regraft::cli
