#include "cli/optimization/page/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/optimization/page/picture.h"
#include "cli/optimization/page/view.h"
#include "cli/pages/page.h"
#include "cli/pages/rule_view.h"
#include "cli/pages/text.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

constexpr size_t kMostRules = 60;    // that are drawn
constexpr size_t kMostSteps = 2000;  // that are listed

/// Each rule that was applied, in the main graph and in bodies that changed, most often first.
std::vector<std::pair<std::string, int64_t>> applied_rules(const json& report) {
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

/// Where in the order of applied_rules each of them is.
std::map<std::string, size_t> places_of_rules(const json& report) {
  std::map<std::string, size_t> places;
  for (const auto& [name, n] : applied_rules(report)) places.emplace(name, places.size());
  return places;
}

std::string rule_id(size_t place) { return fmt::format("rule-{}", place + 1); }

/// "−4.0 µs"
std::string gain_text(double gain) {
  if (std::abs(gain) < 0.05) return "±0 µs";
  return fmt::format("{}{:.1f} µs", gain > 0 ? "−" : "+", std::abs(gain));
}
std::string gain_badge(double gain) {
  return badge(gain_text(gain), gain >= 0.05 ? "good" : gain <= -0.05 ? "fair" : "plain");
}

std::string step_item(const TracedStep& s, size_t number,
                      const std::map<std::string, size_t>& places) {
  auto at = places.find(s.rule.name);
  bool drawn = at != places.end() && at->second < kMostRules;
  auto count = [](size_t n) { return fmt::format("{} node{}", n, n == 1 ? "" : "s"); };
  return fmt::format("<li value=\"{}\">", number + 1) +
         (drawn ? link_to("#" + rule_id(at->second), s.rule.name) : escape_html(s.rule.name)) +
         " " + gain_badge(s.before - s.after) + verdict_badge(s.rule.verdict) +
         numerics_badge(s.rule.numerics.kind) + "<span class=\"soft\">" + count(s.removed.size()) +
         " to " + count(s.added.size()) + "</span></li>";
}

/// "gelu-parts, 2 × mul-mul"
std::string rules_in(const Trace& trace, const std::vector<size_t>& steps) {
  std::vector<std::pair<std::string, size_t>> counts;
  for (size_t k : steps) {
    const std::string& name = trace.steps[k].rule.name;
    auto it = std::ranges::find(counts, name, &std::pair<std::string, size_t>::first);
    if (it == counts.end())
      counts.emplace_back(name, 1);
    else
      ++it->second;
  }
  constexpr size_t kNamed = 3;
  std::string s;
  for (size_t k = 0; k < std::min(counts.size(), kNamed); ++k)
    s += (k == 0 ? "" : ", ") +
         (counts[k].second > 1 ? fmt::format("{} × ", counts[k].second) : std::string()) +
         counts[k].first;
  return counts.size() > kNamed ? s + fmt::format(" and {} more", counts.size() - kNamed) : s;
}

}  // namespace

std::string change_list(const Trace& trace, const json& report) {
  if (trace.steps.empty()) return {};
  const auto places = places_of_rules(report);
  const auto gains = gains_of(trace);
  std::vector<std::vector<size_t>> steps(trace.regions);
  for (size_t k = 0; k < trace.steps.size(); ++k) steps[trace.steps[k].region].push_back(k);
  std::string s =
      "<div class=\"changes\" id=\"changes\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"List of changes\">";
  size_t listed = 0, left_out = 0;
  for (size_t r = 0; r < trace.regions; ++r) {
    if (listed > 0 && listed + steps[r].size() > kMostSteps) {
      ++left_out;
      continue;
    }
    s += fmt::format(R"(<details id="region-{0}" data-r="{1}" data-gain="{2:.3f}"><summary>)"
                     R"(<span class="tag c{3}">{0}</span> )",
                     r + 1, r, gains[r], r % kRegionColours) +
         escape_html(rules_in(trace, steps[r])) + " " + gain_badge(gains[r]) + "</summary><ol>";
    for (size_t k : steps[r])
      if (listed++ < kMostSteps) s += step_item(trace.steps[k], k, places);
    s += "</ol></details>";
  }
  s += "</div>";
  if (left_out > 0 || listed > kMostSteps)
    s += fmt::format("<p class=\"soft\">{} steps in {} places; the first {} steps are listed.</p>",
                     trace.steps.size(), trace.regions, std::min(listed, kMostSteps));
  return s;
}

std::string rule_sections(const json& report, const Trace& trace, const rewrite::RuleIndex& rules) {
  const auto all = applied_rules(report);
  std::string s = "<h2 id=\"rules\">Rules applied</h2>", sections;
  if (all.empty()) return s + "<p>None.</p>";
  std::map<std::string, double> gains;
  for (const TracedStep& step : trace.steps) gains[step.rule.name] += step.before - step.after;
  std::vector<std::vector<std::string>> rows = {{"Rule", "Times", "Predicted", "Formula"}};
  for (size_t k = 0; k < all.size(); ++k) {
    const auto& [name, n] = all[k];
    const Rule* rule = find_rule(rules, name);
    std::string times = fmt::format("<span class=\"n\">{}</span>", n);
    std::string won = gains.count(name) ? "<span class=\"n\">" + gain_text(gains[name]) + "</span>"
                                        : std::string();
    std::string id = rule_id(k);
    if (!rule || k >= kMostRules) {  // a rewrite of the program's own has no rule to draw
      rows.push_back({k < kMostRules ? "<span id=\"" + id + "\">" + escape_html(name) + "</span>"
                                     : escape_html(name),
                      times, won, ""});
      continue;
    }
    rows.push_back({link_to("#" + id, name), times, won,
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

std::string change_style() {
  return R"(
.changes{max-height:24rem;overflow-y:auto;border:1px solid var(--rule);border-radius:6px}
.changes details{border-bottom:1px solid var(--rule);padding:.35rem .8rem}
.changes details.hot{background:var(--back);box-shadow:inset 4px 0 0 var(--mark)}
.changes summary{overflow-wrap:anywhere}
.changes ol{margin:.3rem 0;padding-left:2.6rem}
.changes li{margin:.3rem 0;overflow-wrap:anywhere}
.tag{display:inline-block;min-width:1.7rem;padding:0 .35rem;text-align:center;border-radius:4px;
font-size:.85rem;font-weight:600;color:var(--edge);background:var(--tint);
border:1px solid var(--edge)}
)";
}

}  // namespace regraft::cli
