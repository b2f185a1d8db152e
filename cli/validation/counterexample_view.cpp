#include "cli/validation/counterexample_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "cli/pages/page.h"
#include "cli/pages/text.h"

namespace regraft::cli {
namespace {

constexpr size_t kWhole = 64;    // elements of a tensor that is shown whole
constexpr size_t kUnusual = 12;  // elements of others that are shown
constexpr size_t kInputs = 40;   // shown

std::string number(double x) { return fmt::format("{:.9g}", x); }

std::string position_text(const std::vector<int64_t>& position) {
  return fmt::format("[{}]", fmt::join(position, ", "));
}

std::vector<int64_t> position_of(size_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> position(shape.size());
  auto rest = static_cast<int64_t>(flat);
  for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) position[d] = rest % shape[d];
  return position;
}

/// "[[1, 2], [3, 4]]".
std::string nested(const Array<double>& x) {
  size_t at = 0;
  std::function<std::string(size_t)> level = [&](size_t axis) {
    if (axis == x.shape.size()) return number(x.data[at++]);
    std::string s;
    for (int64_t k = 0; k < x.shape[axis]; ++k) s += (k > 0 ? ", " : "") + level(axis + 1);
    return "[" + s + "]";
  };
  return level(0);
}

/// What was found, where the runtime's own numbers are at hand those.
struct Shown {
  const rewrite::ModelCounterexample& c;
  bool replayed;
  size_t output;
  std::vector<int64_t> position;
  double first, second;
};
Shown shown(const ValidationReport& report) {
  const Refutation& r = *report.refutation;
  const auto& c = *r.counterexample;
  if (r.replay && r.replay->differs)
    return {c, true, r.replay->output, r.replay->position, r.replay->first, r.replay->second};
  return {c, false, c.output, c.position, c.first, c.second};
}

std::string inputs_table(const ValidationReport& report, const Shown& x) {
  const Graph& g = report.validation.given.graph;
  std::vector<std::vector<std::string>> rows = {{"Input", "Type", "Values"}};
  for (size_t k = 0; k < std::min(x.c.inputs.size(), kInputs); ++k) {
    const Array<double>& data = x.c.inputs[k];
    Value in = g.inputs()[k];
    rows.push_back(
        {"<code>" + escape_html(value_name(g, in)) + "</code>",
         "<code>" + fmt::format("{}[{}]", to_string(g.type(in).dtype), fmt::join(data.shape, ",")) +
             "</code>",
         "<span class=\"f\">" + escape_html(tensor_text(data)) + "</span>"});
  }
  std::string s = html_table(rows, "Inputs, chosen as: " + x.c.inputs_are);
  if (x.c.inputs.size() > kInputs)
    s += fmt::format("<p>{} further inputs are in the JSON report.</p>",
                     x.c.inputs.size() - kInputs);
  return s;
}

std::string where_run(const Refutation& r) {
  if (r.replay && r.replay->differs)
    return "<p>" + badge("replayed", "good") + "Both models were run in " +
           escape_html(r.replay->runtime) +
           " with all optimisations off, and differ there as well. The values are the runtime's."
           "</p>";
  std::string why = r.replay ? r.replay->why_not : "no runtime is at hand";
  return "<p>" + badge("not replayed", "fair") + escape_html(why) +
         ". The values are those of regraft's own evaluation in double precision.</p>";
}

}  // namespace

std::string tensor_text(const Array<double>& x) {
  if (x.data.empty()) return "no elements";
  if (x.data.size() <= kWhole) return nested(x);
  std::map<double, size_t> counts;
  for (double d : x.data) ++counts[std::isnan(d) ? 0 : d];
  auto usual = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
  std::string s = fmt::format("{} elements: ", x.data.size());
  if (2 * usual->second < x.data.size()) {
    for (size_t k = 0; k < kUnusual; ++k) s += number(x.data[k]) + ", ";
    return s + "…";
  }
  s += number(usual->first);
  size_t others = x.data.size() - usual->second, listed = 0;
  if (others == 0) return s + " everywhere";
  for (size_t k = 0; k < x.data.size() && listed < kUnusual; ++k)
    if (x.data[k] != usual->first)
      s += fmt::format("{}{} = {}", listed++ == 0 ? ", except " : ", ",
                       position_text(position_of(k, x.shape)), number(x.data[k]));
  return listed < others ? s + fmt::format(" and {} more", others - listed) : s;
}

std::string difference_text(const ValidationReport& report) {
  Shown x = shown(report);
  const verify::Pair& pair = report.validation.given;
  std::string what =
      x.c.needs_replay && !x.replayed
          ? x.c.place
          : "output '" + value_name(pair.graph, pair.a[report.compared[x.output]]) + "'";
  if (!x.c.failure.empty())
    return fmt::format("the second model fails where the first one runs: {}", x.c.failure);
  if (x.position.empty() && x.c.first_shape != x.c.second_shape)
    return fmt::format("{} has shape {} in the first model and {} in the second", what,
                       position_text(x.c.first_shape), position_text(x.c.second_shape));
  return fmt::format("{} at {} is {} in the first model and {} in the second", what,
                     position_text(x.position), number(x.first), number(x.second));
}

GraphNames shared_with_first(const verify::Pair& pair, GraphNames names) {
  names.shared = [&pair](Value v) { return !pair.is_b(v); };
  return names;
}

std::string counterexample_section(const ValidationReport& report, const GraphNames& names) {
  Shown x = shown(report);
  const Graph& g = report.validation.given.graph;
  std::string s = "<h2 id=\"counterexample\">Counterexample</h2><p><strong>" +
                  escape_html("At the inputs below " + difference_text(report)) + ".</strong>";
  bool element = x.c.failure.empty() && (x.replayed || x.c.first_shape == x.c.second_shape);
  if (element) s += " It is the first element that differs.";
  if (element && x.c.allowed > 0)
    s += fmt::format(" Rounding would explain a difference of {:.2g} there.", x.c.allowed);
  s += "</p>" + where_run(*report.refutation);
  if (!x.c.sizes.empty()) {
    std::vector<std::vector<std::string>> rows = {{"Open size", "Value"}};
    for (const auto& [name, size] : x.c.sizes)
      rows.push_back({"<code>" + escape_html(name) + "</code>", fmt::format("{}", size)});
    s += html_table(rows, "Sizes");
  }
  s += inputs_table(report, x);
  const auto& start = x.c.start;
  if (start.a.empty() && start.b.empty())
    return s + "<h3 id=\"start\">Where it starts</h3><p>It was not traced further.</p>";
  s += "<h3 id=\"start\">Where it starts</h3><p>";
  s +=
      start.confirmed
          ? "The smallest part found that makes equal values differ: with the first model's result "
            "of this part in place of its own, the second model agrees."
          : "Here the second model's values first equal none of the first model's.";
  return s + "</p><div class=\"pair\">" + part_figure(g, start.a, names, "First model", "start-a") +
         part_figure(g, start.b, shared_with_first(report.validation.given, names), "Second model",
                     "start-b") +
         "</div>";
}

}  // namespace regraft::cli
