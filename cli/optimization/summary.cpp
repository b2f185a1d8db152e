#include "cli/optimization/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/host.h"
#include "base/printable.h"
#include "base/resources.h"
#include "cli/support/commands.h"
#include "cli/support/float_check.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"

namespace regraft::cli {

int64_t changed_bodies(const Outcome& o) {
  return std::ranges::count_if(o.bodies.outcomes, &BodyOutcome::changed);
}

namespace {

std::string change(double before, double after) {
  return before == 0 ? std::string() : fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

std::string table_of(const Outcome& o) {
  Table table{{{"", "before", "after", "change"}}, true};
  std::set<std::string> types;
  for (const auto& [type, n] : o.before.operators) types.insert(type);
  for (const auto& [type, n] : o.after.operators) types.insert(type);
  int total[2] = {0, 0};
  for (const auto& type : types) {
    auto count = [&](const io::Summary& s) {
      return s.operators.count(type) ? s.operators.at(type) : 0;
    };
    int b = count(o.before), a = count(o.after);
    total[0] += b;
    total[1] += a;
    table.rows.push_back({type, fmt::format("{}", b), fmt::format("{}", a),
                          a == b ? "" : fmt::format("{:+}", a - b)});
  }
  table.rows.emplace_back();
  auto add = [&](const char* name, double b, double a, const std::string& shown_b,
                 const std::string& shown_a) {
    table.rows.push_back({name, shown_b, shown_a, b == a ? "" : change(b, a)});
  };
  auto pb = static_cast<double>(o.before.parameters), pa = static_cast<double>(o.after.parameters);
  auto sb = static_cast<double>(o.before.bytes), sa = static_cast<double>(o.after.bytes);
  const auto &cb = o.choice.sums[0].total, &ca = o.choice.sums[1].total;
  const auto &wb = o.choice.before.predicted, &wa = o.choice.after.predicted;
  auto mb = static_cast<double>(wb.peak_bytes), ma = static_cast<double>(wa.peak_bytes);
  add("operators", total[0], total[1], fmt::format("{}", total[0]), fmt::format("{}", total[1]));
  add("parameters", pb, pa, human_count(pb), human_count(pa));
  add("FLOPs", cb.flops, ca.flops, human_count(cb.flops), human_count(ca.flops));
  add("predicted cost", wb.microseconds, wa.microseconds, fmt::format("{:.1f} us", wb.microseconds),
      fmt::format("{:.1f} us", wa.microseconds));
  if (const auto& tb = o.choice.before.measured, &ta = o.choice.after.measured; tb && ta)
    add("measured", tb->microseconds, ta->microseconds, fmt::format("{:.1f} us", tb->microseconds),
        fmt::format("{:.1f} us", ta->microseconds));
  add("activations at once", mb, ma, human_bytes(mb), human_bytes(ma));
  add("file size", sb, sa, human_bytes(sb), human_bytes(sa));
  return to_string(table);
}

void print_measured(const Choice& c) {
  if (c.measured_with.empty()) return;
  fmt::print(results(),
             "measured with {}: noise {:.1f} % before, {:.1f} % after; {} other candidates",
             c.measured_with, 100 * c.before.measured->noise, 100 * c.after.measured->noise,
             c.others.size());
  if (c.spread) fmt::print(results(), "; the original against itself {:.1f} %", 100 * *c.spread);
  for (size_t k = 0; k < c.others.size(); ++k)
    fmt::print(results(), "{} {:.1f} us", k ? "," : ":", c.others[k].measured->microseconds);
  fmt::print(results(), "\n");
}

void print_bodies(const Outcome& o) {
  if (o.bodies.outcomes.empty()) return;
  int64_t nodes[2] = {0, 0}, rules = 0;
  for (const BodyOutcome& b : o.bodies.outcomes) {
    nodes[0] += b.nodes_before;
    nodes[1] += b.changed ? b.nodes_after : b.nodes_before;
    for (const auto& [rule, n] : b.applied) rules += b.changed ? n : 0;
  }
  fmt::print(results(),
             "bodies of If, Loop and Scan: {} of {} changed, {} operators before, {} after; {} "
             "rules applied\n",
             changed_bodies(o), o.bodies.outcomes.size(), nodes[0], nodes[1], rules);
}

}  // namespace

void print(const Outcome& o) {
  const Choice& c = o.choice;
  const auto& s = c.search;
  fmt::print(results(), "{}", table_of(o));
  if (!o.dynamic.empty()) fmt::print(results(), "sizes left open: {}\n", dynamic_text(o.dynamic));
  for (const auto& [rule, n] : s.applied)
    fmt::print(results(), "applied {}x {}\n", n, printable(rule));
  print_bodies(o);
  if (o.proposed)
    fmt::print(results(), "macros: {} were kept, {} of {} proposed parts are new rules\n",
               o.proposed->kept, o.proposed->proved, o.proposed->parts);
  if (c.kept)
    fmt::print(results(), "the original {}stays: {}\n", changed_bodies(o) > 0 ? "main graph " : "",
               o.discarded.empty() ? "nothing better was found" : printable(o.discarded));
  if (s.left_out > 0)
    fmt::print(results(),
               "values have so many readers that {} searches for combinations were cut short\n",
               s.left_out);
  fmt::print(results(),
             "{} rules, {} graphs expanded, {} candidates, stopped: {}; {:.1f} s, peak {}\n",
             o.rules, s.expanded, s.candidates, rewrite::to_string(s.stop), o.seconds,
             human_bytes(static_cast<double>(peak_bytes())));
  fmt::print(results(), "cost model: {}\n", c.model);
  fmt::print(results(), "profile: {}\n", printable(to_string(c.profile)));
  for (const auto& line : c.passed_over) fmt::print(results(), "{}\n", printable(line));
  if (const cost::Worth& w = c.after.predicted; w.kernels > 0)
    fmt::print(results(), "of the {} kernels that it runs, {} were not measured but estimated\n",
               w.kernels, w.estimated);
  print_measured(c);
  if (c.elsewhere)
    fmt::print(results(),
               "{} {} takes {:.2f} times as long for this model (noise {:.1f} %): --target {}\n",
               c.elsewhere->runtime, c.elsewhere->version, c.elsewhere->ratio,
               100 * c.elsewhere->noise, c.elsewhere->runtime);
  if (!c.note.empty()) fmt::print(results(), "{}\n", printable(c.note));
  if (o.check && o.discarded.empty())
    fmt::print(results(), "check: {}\n", printable(describe(*o.check)));
}

}  // namespace regraft::cli
