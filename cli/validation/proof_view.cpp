#include "cli/validation/proof_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/pages/graph_view.h"
#include "cli/pages/page.h"
#include "cli/pages/rule_view.h"
#include "cli/pages/text.h"

namespace regraft::cli {
namespace {

using certify::Equivalence;
using certify::Validation;

constexpr size_t kDrawnForms = 24, kOtherSizes = 20;
constexpr size_t kLongestRule = 240;  // letters, in a table

class ProofView {
 public:
  explicit ProofView(const ValidationReport& report)
      : report_(report), v_(report.validation), draws_(v_.verdict() >= Equivalence::UpToConstants) {
    std::map<std::string, Form> forms;
    for (const auto& [key, w] : v_.sweep.windows) {
      if (w.count == 0) continue;
      Form& form = forms[formula(w.window)];
      form.windows.push_back(&w);
      form.merges += w.count;
      merges_ += w.count;
      ++windows_;
      if (!report.numerics) continue;
      const NumericVerdict& n = report.numerics->at(key);
      std::string& witness = form.numerics[n.kind];
      if (witness.empty()) witness = n.witness;
    }
    for (auto& [text, form] : forms) forms_.emplace_back(text, std::move(form));
    std::ranges::stable_sort(forms_, std::greater<>(),
                             [](const auto& f) { return f.second.merges; });
  }

  std::string section() const {
    std::string s = heading("proof", draws_ ? "How it was proved" : "What was proved");
    s += paragraph(sentence());
    if (forms_.empty()) return s;
    Rows rows = {{"Rule", "Windows", "Merges", "Verdict"}};
    if (report_.numerics) rows[0].push_back("In floating point");
    rows[0].push_back("As a formula");
    std::string sections;
    size_t drawn = 0;
    for (size_t k = 0; k < std::min(forms_.size(), kListed); ++k) {
      bool draw = draws_ && k < kDrawnForms && sections.size() < kMostDrawings;
      if (draw) sections += drawing(k), ++drawn;
      rows.push_back(row(k, draw));
    }
    s += html_table(
             rows, "Windows that are alike are proved once; a merge is a place that rests on one") +
         left_out(forms_.size(), kListed, "rules");
    if (draws_ && drawn < forms_.size())
      s += paragraph(fmt::format("Of {}, the {} that serve most merges are drawn.",
                                 count_of(forms_.size(), "rule"), drawn));
    return s + sections;
  }

 private:
  /// Windows that differ in sizes alone.
  struct Form {
    std::vector<const verify::Judged*> windows;
    int64_t merges = 0;
    std::map<Numerics, std::string> numerics;  ///< verdicts, worst first, each with a witness
  };

  static std::string formula(const verify::Window& w) {
    Rule rule = shown_rule(w.instance);
    return side_formula(rule, rule.lhs, Marking::Plain) + " ⇒ " +
           side_formula(rule, rule.rhs, Marking::Plain);
  }
  std::string sentence() const {
    auto structural =
        static_cast<size_t>(std::ranges::count(v_.sweep.outputs, verify::SweepReport::Structure));
    std::string s;
    if (structural > 0)
      s += fmt::format(
          "{} {} equal by structure alone: the same operators with the same attributes "
          "over the same values and constants. ",
          count_of(structural, "output"), structural == 1 ? "is" : "are");
    if (merges_ == 0)
      return s + (structural > 0 ? "No window had to be proved." : "No window was proved.");
    return s + fmt::format(
                   "{} of the second model {} shown to equal values of the first by {}, "
                   "which {} {} at one or more sizes. Everything else that is equal is equal "
                   "calls of equal values.",
                   count_of(static_cast<size_t>(merges_), "value"), merges_ == 1 ? "was" : "were",
                   count_of(windows_, "distinct window"), windows_ == 1 ? "is" : "are",
                   count_of(forms_.size(), "rule"));
  }
  static std::string numerics(const Form& form) {
    std::string s;
    for (const auto& [kind, witness] : form.numerics) s += numerics_badge(kind);
    return s;
  }
  std::vector<std::string> row(size_t k, bool drawn) const {
    const auto& [text, form] = forms_[k];
    std::string name = fmt::format("{}", k + 1);
    std::vector<std::string> cells = {drawn ? link_to("#rule-" + name, name) : name,
                                      right(fmt::format("{}", form.windows.size())),
                                      right(fmt::format("{}", form.merges)),
                                      verdict_badge(form.windows.front()->verdict)};
    if (report_.numerics) cells.push_back(numerics(form));
    cells.push_back("<span class=\"f\">" + escape_html(cut(text, kLongestRule)) + "</span>");
    return cells;
  }
  std::string drawing(size_t k) const {
    const Form& form = forms_[k].second;
    const verify::Judged& first = *form.windows.front();
    Rule rule = shown_rule(first.window.instance);
    std::string id = fmt::format("rule-{}", k + 1);
    std::string s =
        fmt::format(R"(<section aria-labelledby="{0}"><h3 id="{0}">Rule {1}</h3><p>)", id, k + 1);
    s += verdict_badge(first.verdict) + numerics(form);
    s += badge(fmt::format("serves {}", count_of(static_cast<size_t>(form.merges), "merge")),
               "plain");
    s += "</p>" + formula_box(rule) + draw_rule(rule, fmt::format("w{}", k + 1)) +
         inputs(first.window) + other_sizes(form);
    for (const auto& [kind, witness] : form.numerics)
      if (!witness.empty())
        s += "<details><summary>In floating point: a witness</summary><pre>" +
             escape_html(witness) + "</pre></details>";
    return s + places(first) + "<p><a href=\"#proof\">All rules</a></p></section>";
  }
  static std::string inputs(const verify::Window& w) {
    std::string s = "<ul class=\"chips f\" aria-label=\"Inputs of the window\">";
    for (const std::string& input : inputs_of(w.instance))
      s += "<li>" + escape_html(input) + "</li>";
    return s + "</ul>";
  }
  static std::string other_sizes(const Form& form) {
    if (form.windows.size() == 1) return {};
    std::string s = fmt::format("<details><summary>At {}</summary>",
                                count_of(form.windows.size() - 1, "other choice") + " of sizes");
    size_t shown = std::min(form.windows.size(), kOtherSizes + 1);
    for (size_t k = 1; k < shown; ++k) s += inputs(form.windows[k]->window);
    return s + left_out(form.windows.size(), shown, "choices of sizes") + "</details>";
  }
  /// The nodes of one of the windows that it stands for.
  std::string places(const verify::Judged& w) const {
    const Graph& g = v_.pair.graph;
    auto list = [&](const std::vector<int32_t>& ids) {
      std::string s;
      for (int32_t id : ids)
        if (g.contains(id)) s += (s.empty() ? "" : ", ") + value_name(g, {id, 0});
      return escape_html(s.empty() ? "nothing" : s);
    };
    return "<details><summary>Where it occurs, for instance</summary><dl><dt>First model</dt><dd "
           "class=\"f\">" +
           list(w.window.left) + "</dd><dt>Second model</dt><dd class=\"f\">" +
           list(w.window.right) + "</dd></dl></details>";
  }

  const ValidationReport& report_;
  const Validation& v_;
  bool draws_;
  int64_t merges_ = 0;
  size_t windows_ = 0;
  std::vector<std::pair<std::string, Form>> forms_;  ///< by formula, most merges first
};

}  // namespace

std::string heading(const char* id, const std::string& text) {
  return fmt::format(R"(<h2 id="{}">{}</h2>)", id, escape_html(text));
}
std::string paragraph(const std::string& text) { return "<p>" + escape_html(text) + "</p>"; }
std::string code(const std::string& text) { return "<code>" + escape_html(text) + "</code>"; }
std::string right(const std::string& cell) { return "<span class=\"n\">" + cell + "</span>"; }
std::string count_of(size_t n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}
std::string left_out(size_t all, size_t shown, const std::string& what) {
  if (all <= shown) return {};
  return paragraph(
      fmt::format("{} further {} are left out here; the JSON report has more.", all - shown, what));
}

std::string proof_section(const ValidationReport& report) { return ProofView(report).section(); }

}  // namespace regraft::cli
