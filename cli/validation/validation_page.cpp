#include "cli/validation/validation_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/pages/graph_view.h"
#include "cli/pages/page.h"
#include "cli/pages/text.h"
#include "cli/validation/counterexample_view.h"
#include "cli/validation/proof_view.h"
#include "io/coverage/coverage.h"

namespace regraft::cli {
namespace {

using certify::Equivalence;
using certify::Validation;

constexpr size_t kOutputs = 200, kDifferences = 100;  // rows of a table
constexpr size_t kDrawnOpen = 6, kApart = 30;

std::string equivalence_badge(Equivalence e) {
  static const char* const kKinds[] = {"bad", "plain", "fair", "good"};
  std::string text = to_string(e);
  std::ranges::replace(text, '-', ' ');
  return badge(text, kKinds[static_cast<size_t>(e)]);
}

bool has_counterexample(const ValidationReport& report) {
  return report.refutation && report.refutation->counterexample &&
         report.validation.verdict() == Equivalence::Refuted && report.refutation->refuted();
}

/// Names of what the first model's inputs leave open.
std::set<std::string> open_sizes(const Graph& g) {
  std::set<std::string> names;
  for (Value v : g.inputs())
    for (const Poly& p : g.type(v).shape.value_or(Shape{}))
      for (const auto& term : p.terms())
        for (Var symbol : term.monomial) names.insert(symbol->name);
  return names;
}

std::string for_all(const ValidationReport& report) {
  std::string s = "over the real numbers, for all inputs";
  auto open = open_sizes(report.a.graph);
  if (!open.empty())
    s += fmt::format(" and all values of the open sizes {}", fmt::join(open, ", "));
  return s;
}

double largest_deviation(const Validation& v) {
  double worst = 0;
  for (const verify::Merge& m : v.sweep.merges)
    if (m.kind == verify::Merge::Constant) worst = std::max(worst, m.deviation.deviation);
  return worst;
}

std::string verdict_text(const ValidationReport& report) {
  const Validation& v = report.validation;
  auto with = [&](Equivalence e) {
    return static_cast<size_t>(
        std::ranges::count_if(v.outputs, [&](const auto& o) { return o.verdict == e; }));
  };
  size_t shown = with(Equivalence::Proved) + with(Equivalence::UpToConstants);
  std::string proved = fmt::format("{} of {} outputs", shown, v.outputs.size());
  switch (v.verdict()) {
    case Equivalence::Proved:
      return fmt::format("The second model computes the same as the first: {} proved equal {}.",
                         v.outputs.size() == 1 ? "its output is" : "all its outputs are",
                         for_all(report));
    case Equivalence::UpToConstants:
      return fmt::format(
          "The second model computes the same as the first {}, but for constants that differ by "
          "what rounding explains; by {:.2g} of their largest element at most.",
          for_all(report), largest_deviation(v));
    case Equivalence::Refuted:
      if (has_counterexample(report))
        return "The second model does not compute the same: " + difference_text(report) + ".";
      return "The second model cannot stand for the first: its interface is another.";
    case Equivalence::Unknown:
      break;
  }
  std::string s = "Not decided. Proved: " + proved + ".";
  if (report.refutation)
    s += fmt::format(" No counterexample was found in {}.",
                     count_of(static_cast<size_t>(report.refutation->search.runs), "run"));
  return s;
}

std::string outputs_table(const Validation& v) {
  std::vector<const certify::ValidatedOutput*> all;
  for (const auto& o : v.outputs) all.push_back(&o);
  if (all.size() > kOutputs)
    std::ranges::stable_sort(all, {}, [](const auto* o) { return o->verdict; });
  Rows rows = {{"Output", "Verdict", "Reason"}};
  for (const auto* o : all) {
    if (rows.size() > kOutputs) break;
    std::string name = code(o->a);
    if (o->b != o->a) name += o->b.empty() ? " (not in the second)" : " and " + code(o->b);
    rows.push_back({name, equivalence_badge(o->verdict), escape_html(o->reason)});
  }
  return html_table(rows, "Outputs") + left_out(all.size(), kOutputs, "outputs");
}

std::string compared(const ValidationReport& report) {
  const Validation& v = report.validation;
  auto row = [](const char* name, const std::string& file, const Graph& g) {
    return std::vector<std::string>{name, code(file), right(fmt::format("{}", g.node_count())),
                                    right(fmt::format("{}", g.inputs().size())),
                                    right(fmt::format("{}", g.outputs().size()))};
  };
  std::string s = heading("compared", "What was compared") +
                  html_table({{"Model", "File", "Nodes", "Inputs", "Outputs"},
                              row("first", report.file_a, report.a.graph),
                              row("second", report.file_b, report.b.graph)},
                             "Nodes count constants and inputs");
  std::string list;
  auto item = [&](const std::string& text) { list += "<li>" + escape_html(text) + "</li>"; };
  auto open = open_sizes(report.a.graph);
  item(open.empty() ? "No size is open." : fmt::format("Open sizes: {}.", fmt::join(open, ", ")));
  for (const std::string& f : report.fixed) item("Size fixed, as the second model has it: " + f);
  if (v.bodies > 0)
    item(count_of(static_cast<size_t>(v.bodies), "body pair") +
         " of If, Loop and Scan differ in form and were compared by themselves.");
  if (!v.proof.a.empty() || !v.proof.b.empty())
    item(fmt::format("First tidied up by proved rules: {} in the first model, {} in the second.",
                     count_of(v.proof.a.size(), "step"), count_of(v.proof.b.size(), "step")));
  item(fmt::format("It took {:.1f} s, by regraft {}.", report.seconds, REGRAFT_VERSION));
  return s + "<ul>" + list + "</ul>";
}

std::string interface_section(const Validation& v) {
  if (v.interface.empty()) return {};
  std::string s = heading("interface", "Differences of the interfaces") + "<ul>";
  for (size_t k = 0; k < std::min(v.interface.size(), kDifferences); ++k)
    s += "<li>" + escape_html(v.interface[k]) + "</li>";
  return s + "</ul>" + left_out(v.interface.size(), kDifferences, "differences");
}

/// Windows that were not decided.
class OpenView {
 public:
  OpenView(const Validation& v, const GraphNames& names) : v_(v), names_(names) {}

  std::string section() const {
    auto all = open_windows(v_);
    std::string s = heading("open", "What was not decided");
    if (all.empty() && v_.sweep.apart.empty())
      return s + paragraph("No part of the models was found that could be compared by itself.");
    if (!all.empty())
      s += paragraph(fmt::format("{} of the second model {} close to the first model's on random "
                                 "inputs, yet no window "
                                 "around {} was proved. The smallest ones:",
                                 count_of(all.size(), "value"), all.size() == 1 ? "is" : "are",
                                 all.size() == 1 ? "it" : "them")) +
           "<p class=\"soft\">A window's inputs are taken as any values: that it differs on a "
           "sample "
           "says that it is false of some of these, not that the models differ.</p>";
    size_t drawn = 0;
    for (; drawn < std::min(all.size(), kDrawnOpen) && s.size() < kMostDrawings; ++drawn)
      s += window(*all[drawn], drawn + 1);
    return s + reasons(all, drawn) + apart();
  }

 private:
  std::string window(const verify::Open& o, size_t number) const {
    const Graph& g = v_.pair.graph;
    std::string id = fmt::format("open-{}", number);
    std::string s =
        fmt::format(R"(<section aria-labelledby="{0}"><h3 id="{0}">{1}</h3>)", id,
                    escape_html(names_.value(o.a) + (names_.value(o.a) == names_.value(o.b)
                                                         ? std::string()
                                                         : " and " + names_.value(o.b))));
    s += "<p>" + badge("not decided", "plain") +
         escape_html("Reason: " + (o.reason.empty() ? "none was given" : o.reason)) + "</p>" +
         "<div class=\"pair\">" + part_figure(g, o.left, names_, "First model", id + "-a") +
         part_figure(g, o.right, shared_with_first(v_.pair, names_), "Second model", id + "-b") +
         "</div>";
    return s + "<details><summary>As a rule</summary><pre>" + escape_html(o.text) +
           "</pre></details></section>";
  }
  /// Of those that are not drawn.
  static std::string reasons(const std::vector<const verify::Open*>& all, size_t drawn) {
    if (all.size() <= drawn) return {};
    std::map<std::string, size_t> counts;
    for (size_t k = drawn; k < all.size(); ++k) ++counts[all[k]->reason];
    Rows rows = {{"Reason", "Windows"}};
    for (const auto& [reason, n] : counts) {
      if (rows.size() > kListed) break;
      rows.push_back({escape_html(reason), right(fmt::format("{}", n))});
    }
    return paragraph(
               fmt::format("{} more that {} not drawn:", count_of(all.size() - drawn, "window"),
                           all.size() - drawn == 1 ? "is" : "are")) +
           html_table(rows, "");
  }
  std::string apart() const {
    const auto& ids = v_.sweep.apart;
    if (ids.empty()) return {};
    const Graph& g = v_.pair.graph;
    Rows rows = {{"Value of the second model", "Operator", "Type"}};
    for (int32_t id : ids) {
      if (rows.size() > kApart) break;
      const Node& n = g.node(id);
      std::string op = n.op                           ? std::string(n.op->name)
                       : n.kind == NodeKind::Constant ? "constant"
                       : n.kind == NodeKind::Input    ? "input"
                                                      : names_.opaque(id);
      rows.push_back({code(names_.value({id, 0})), escape_html(op),
                      code(n.types.empty() ? "" : to_string(n.types[0]))});
    }
    return "<h3 id=\"apart\">Where the second model goes its own way</h3>" +
           paragraph(
               "All that these read is known to be equal, what they make is equal to nothing "
               "of the first model that was found.") +
           html_table(rows, "") + left_out(ids.size(), kApart, "values");
  }

  const Validation& v_;
  const GraphNames& names_;
};

std::string constants_section(const Validation& v) {
  const Graph& g = v.pair.graph;
  struct Row {
    double deviation;
    std::vector<std::string> cells;
  };
  std::vector<Row> all;
  auto shown = [](double x) { return right(x == 0 ? "0" : fmt::format("{:.2e}", x)); };
  std::set<std::pair<double, std::string>> numbers;
  for (const verify::Merge& m : v.sweep.merges) {
    if (m.kind == verify::Merge::Constant) {
      const verify::Deviation& d = m.deviation;
      std::string bound = d.ratio > 0 ? shown(d.deviation / d.ratio) : right("");
      all.push_back(
          {d.deviation,
           {code(value_name(g, m.b)), code(value_name(g, m.a)), shown(d.deviation), bound}});
      continue;
    }
    for (const verify::ExplainedNumber& e : v.sweep.windows.at(m.key).window.explained) {
      if (!numbers.emplace(e.number, e.expression).second) continue;
      double off = std::abs(e.number - e.exact) / std::max(std::abs(e.exact), 1e-300);
      all.push_back(
          {off,
           {code(fmt::format("{:.9g}", e.number)), code(e.expression), shown(off), right("")}});
    }
  }
  if (all.empty()) return {};
  std::ranges::stable_sort(all, std::greater<>(), [](const Row& r) { return r.deviation; });
  Rows rows = {{"In the second model", "Of the first model", "Deviation", "Bound"}};
  for (size_t k = 0; k < std::min(all.size(), kListed); ++k) rows.push_back(all[k].cells);
  return heading("constants", "Constants that were computed anew") +
         paragraph(
             "The deviation is the largest one, relative to the largest element; the bound is "
             "what rounding on the way explains there. A deviation of 0 is a constant that was "
             "computed exactly.") +
         html_table(rows, "") + left_out(all.size(), kListed, "constants");
}

std::string reading() {
  return heading("reading", "What the verdicts promise") +
         "<dl><dt>proved</dt><dd>Both models compute the same real numbers, for all inputs and all "
         "values of open sizes. What floating point makes of it may differ by rounding.</dd>"
         "<dt>proved up to constants</dt><dd>The same, once constants of the second model are "
         "taken "
         "for the expressions over the first model's that they are but for rounding.</dd>"
         "<dt>refuted</dt><dd>There are inputs at which the models differ by more than rounding "
         "explains, or their interfaces differ.</dd>"
         "<dt>unknown</dt><dd>Neither was found. The models may be equal or not.</dd></dl>";
}

/// Types of nodes that are only carried, by where they come from.
class OpaqueTypes {
 public:
  explicit OpaqueTypes(const ValidationReport& report)
      : a_(io::coverage(report.a)), b_(io::coverage(report.b)) {}
  std::string of(const verify::Pair& pair, int32_t id) const {
    const auto& from = pair.is_b({id, 0}) ? b_ : a_;
    auto origin = static_cast<size_t>(pair.graph.node(id).origin);
    return origin < from.size() ? from[origin].type : std::string("carried");
  }

 private:
  std::vector<io::NodeCoverage> a_, b_;
};

GraphNames names_in(const verify::Pair& pair, const OpaqueTypes& types) {
  return {[&pair](Value v) { return value_name(pair.graph, v); },
          [&pair, &types](int32_t id) { return types.of(pair, id); }};
}

}  // namespace

std::string validation_page(const ValidationReport& report) {
  const Validation& v = report.validation;
  OpaqueTypes types(report);
  Page page;
  page.title = fmt::format("Does {} compute the same as {}?", report.file_b, report.file_a);
  page.body = "<p>" + equivalence_badge(v.verdict()) + "<strong>" +
              escape_html(verdict_text(report)) + "</strong></p>" + outputs_table(v) +
              interface_section(v);
  if (has_counterexample(report))
    page.body += counterexample_section(report, names_in(v.given, types));
  bool open = std::ranges::any_of(v.outputs,
                                  [](const auto& o) { return o.verdict == Equivalence::Unknown; });
  if (open && !has_counterexample(report))
    page.body += OpenView(v, names_in(v.pair, types)).section();
  page.body += proof_section(report) + constants_section(v) + compared(report) + reading();
  return to_html(page);
}

}  // namespace regraft::cli
