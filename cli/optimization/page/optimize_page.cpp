#include "cli/optimization/page/optimize_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/optimization/page/changes.h"
#include "cli/optimization/page/charts.h"
#include "cli/optimization/page/picture.h"
#include "cli/optimization/page/script.h"
#include "cli/optimization/page/view.h"
#include "cli/pages/page.h"
#include "cli/pages/text.h"
#include "cli/support/report.h"
#include "io/coverage/coverage.h"

namespace regraft::cli {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

std::string right(const std::string& cell) { return "<span class=\"n\">" + cell + "</span>"; }

/// Without folders, which are nobody else's business.
std::string file_name(const json& path) {
  return std::filesystem::path(path.get<std::string>()).filename().string();
}

std::string plural(size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// "1.38 times as fast"; small differences say nothing.
std::string speed(double before, double after) {
  double ratio = after > 0 ? before / after : 1;
  if (std::abs(ratio - 1) < 0.015) return "About as fast as before";
  return fmt::format("{:.2f} times as fast", ratio);
}

std::string large(const std::string& text, const std::string& beside) {
  return "<p class=\"head\"><strong>" + escape_html(text) + "</strong> <span>" +
         escape_html(beside) + "</span></p>";
}

std::string headline(const json& report) {
  if (report.at("kept").get<bool>()) {
    std::string why = report.at("discarded").get<std::string>();
    return large("The original stays:", (why.empty() ? "nothing better was found" : why) + ".");
  }
  const json &before = report.at("before"), &after = report.at("after");
  auto a = measured_time(before), b = measured_time(after);
  bool timed = a && b;
  double from = timed ? *a : before.at("cost").get<double>();
  double to = timed ? *b : after.at("cost").get<double>();
  std::string how = timed ? "measured in " + report.at("measured_with").get<std::string>()
                          : std::string("predicted");
  return large(speed(from, to), fmt::format("{} to {}, {}", duration(from), duration(to), how));
}

std::string summary(const json& report, const Outcome& o) {
  const json &before = report.at("before"), &after = report.at("after");
  std::string s =
      headline(report) + "<p>" +
      badge(fmt::format("operators: {} to {}", operators_in(before), operators_in(after)), "plain");
  std::string change = percent(before.at("cost").get<double>(), after.at("cost").get<double>());
  if (!change.empty()) s += badge("predicted time: " + change, "plain");
  auto a = measured_time(before), b = measured_time(after);
  if (a && b && *a != *b) s += badge("measured time: " + percent(*a, *b), "plain");
  if (o.trace && !o.trace->steps.empty()) {
    const auto& steps = o.trace->steps;
    auto proved = std::ranges::count_if(steps, [](const TracedStep& step) {
      return is_for_all_sizes(step.rule.verdict.kind);
    });
    s += badge(static_cast<size_t>(proved) == steps.size()
                   ? fmt::format("all {} proved for all sizes", plural(steps.size(), "step"))
                   : fmt::format("{} of {} steps proved for all sizes", proved, steps.size()),
               static_cast<size_t>(proved) == steps.size() ? "good" : "fair");
  }
  if (report.contains("check"))
    s += report.at("check").at("passed").get<bool>() ? badge("checked: agrees", "good")
                                                     : badge("checked: differs", "bad");
  return s + "</p>";
}

/// Types of nodes that are only carried, by where they come from.
class CarriedTypes {
 public:
  explicit CarriedTypes(const io::Imported& model) : nodes_(io::coverage(model)) {}
  std::string of(const Graph& g, int32_t id) const {
    auto origin = static_cast<size_t>(g.node(id).origin);
    return origin < nodes_.size() ? nodes_[origin].type : std::string("carried");
  }

 private:
  std::vector<io::NodeCoverage> nodes_;
};

/// Both models, as they are priced and drawn.
struct Compared {
  std::vector<PlannedKernel> before, after;
  Views views;
};
Compared compared(const Outcome& o) {
  CarriedTypes types(o.bodies.base);
  auto type_in = [&types](const Graph& g) {
    return [&types, &g](int32_t id) { return types.of(g, id); };
  };
  const Graph &first = o.bodies.base.graph, &second = o.choice.graph;
  Compared c;
  if (o.choice.cost) {
    c.before = kernels_of(first, *o.choice.cost, type_in(first));
    c.after = kernels_of(second, *o.choice.cost, type_in(second));
  }
  c.views =
      views_of({first, c.before, type_in(first)}, {second, c.after, type_in(second)}, *o.trace);
  return c;
}

/// `in_file`: operators of the file, some of which the import has made part of shapes.
std::string pane(const View& view, const std::string& name, const std::string& id,
                 int64_t in_file) {
  std::string caption = fmt::format("{}: {}", name, plural(view.nodes, "node"));
  if (in_file != static_cast<int64_t>(view.nodes))
    caption += fmt::format(" ({} operators in the file)", in_file);
  Picture p = picture_of(view, caption, id);
  return "<figure class=\"pane\"><div class=\"frame\"><div class=\"strip\" aria-hidden=\"true\">" +
         p.marks + "</div><div class=\"view\" tabindex=\"0\" role=\"region\" aria-label=\"" +
         escape_html(name + " as a graph") + "\">" + p.svg + "</div></div><figcaption>" +
         escape_html(caption) + "</figcaption></figure>";
}

std::string legend(const View& before, const View& after, bool changed) {
  auto any = [&](auto&& is) {
    return std::ranges::any_of(before.boxes, is) || std::ranges::any_of(after.boxes, is);
  };
  std::string s = "<p class=\"soft\">";
  if (changed)
    s += "What changed is coloured; one number is one place, before and after. Point at it to find "
         "its twin, click to go there and to its steps below. ";
  if (any([](const ViewBox& b) { return b.changed && !b.region && b.kind != ViewBox::Stretch; }))
    s += "Yellow: computed once and stored, or not needed any more. ";
  if (any([](const ViewBox& b) { return b.kind == ViewBox::Carried; }))
    s += "Dashed: carried as it is. ";
  s += "The bar at the foot of a box is its kernel's part of the predicted time. Weights are not "
       "drawn, and what only computes shapes has become part of the shapes.";
  if (any([](const ViewBox& b) { return b.kind == ViewBox::Stretch; }))
    s += fmt::format(" Of a model with more than {} nodes, stretches are drawn as one box.",
                     kMostBoxes);
  return s + "</p>";
}

std::string graphs(const Compared& c, const Outcome& o, const json& report) {
  const bool changed =
      !o.trace->steps.empty() ||
      std::ranges::any_of(c.views.before.boxes, [](const ViewBox& b) { return b.changed; });
  std::string s = "<h2 id=\"graphs\">Before and after</h2>" +
                  legend(c.views.before, c.views.after, changed) +
                  "<p class=\"zoom\" hidden=\"hidden\"><label for=\"zoom\">Size of the drawings"
                  "</label> <input id=\"zoom\" type=\"range\" min=\"15\" max=\"160\" "
                  "value=\"100\"/></p>";
  const int64_t first = operators_in(report.at("before")),
                second = operators_in(report.at("after"));
  if (!changed) return s + pane(c.views.before, "The model, which stays", "before", first);
  s += "<div class=\"compare\">" + pane(c.views.before, "Before", "before", first) +
       pane(c.views.after, "After", "after", second) + "</div>";
  if (o.trace->steps.empty()) return s;
  return s +
         fmt::format("<h3 id=\"steps\">{} in {}</h3>", plural(o.trace->steps.size(), "step"),
                     plural(o.trace->regions, "place")) +
         change_list(*o.trace, report);
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
  std::string s = "<h2 id=\"operators\">Operators of the files</h2>";
  s += changed.size() > 1 ? html_table(changed, "") : "<p>No counts changed.</p>";
  if (others.size() > 1)
    s += fmt::format("<details><summary>{} whose count stays</summary>{}</details>",
                     plural(others.size() - 1, "type"), html_table(others, ""));
  return s;
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
  add("Model", file_name(report.at("input")));
  add("Result", file_name(report.at("output")));
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

std::string own_style() {
  return R"(
.head{font-size:1.1rem;margin:.2rem 0 .6rem}
.head strong{font-size:1.7rem;line-height:1.2;margin-right:.5rem}
.head span{color:var(--soft)}
main{max-width:90rem}
.compare{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem}
.frame{display:flex;height:min(70vh,44rem);min-height:20rem}
.strip{position:relative;flex:none;width:14px;border-right:1px solid var(--rule);
background:var(--back);border-radius:6px 0 0 0}
.strip i{position:absolute;left:1px;right:1px;min-height:4px;background:var(--edge);
border-radius:2px;cursor:pointer}
.strip i.hot{outline:2px solid var(--mark)}
.view{flex:1;overflow:auto;min-width:0}
.view:focus-visible,.changes:focus-visible{outline:3px solid var(--op-line);outline-offset:-3px}
.view svg{margin:0 auto}
.zoom{display:flex;gap:.6rem;align-items:center;font-size:.9rem}
.zoom input{width:12rem;padding:0;margin:0}
@media (max-width:40rem){.frame{height:55vh}}
)" + picture_style() +
         chart_style() + change_style();
}

}  // namespace

std::string optimize_page(const json& report, const Outcome& o, const rewrite::RuleIndex& rules) {
  const json &before = report.at("before"), &after = report.at("after");
  Page page;
  page.title = "What regraft did to " + file_name(report.at("input"));
  page.own_style = own_style();
  page.own_script = page_script();
  page.body = summary(report, o);
  const std::string cards = "<h2 id=\"figures\">In figures</h2>" + quantity_cards(before, after);
  const Trace none;
  if (o.trace) {
    Compared c = compared(o);
    page.body += graphs(c, o, report) + cards;
    if (!c.before.empty() || !c.after.empty())
      page.body += "<h2 id=\"kernels\">Where the time goes</h2>" + kernel_bars(c.before, c.after);
  } else {
    page.body += cards;
  }
  std::string curve = search_curve(report.at("search"), o.choice.search.cost_before);
  if (!curve.empty()) page.body += "<h2 id=\"search\">How the search went</h2>" + curve;
  page.body += operators(before, after) + rule_sections(report, o.trace ? *o.trace : none, rules) +
               bodies(report) + check(report) + how(report);
  return to_html(page);
}

}  // namespace regraft::cli
