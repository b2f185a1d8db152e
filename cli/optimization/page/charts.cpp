#include "cli/optimization/page/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/pages/page.h"
#include "cli/pages/text.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

constexpr size_t kMostKernels = 25;  // kinds that have bars

std::string bar(const char* kind, double part) {
  if (part <= 0) return "<div></div>";
  return fmt::format(R"(<div><div class="bar {}" style="width:{:.1f}%"></div></div>)", kind,
                     100 * part);
}

/// Two bars, one below the other, of lengths in proportion.
std::string pair_of_bars(double before, double after, double most, const std::string& shown_before,
                         const std::string& shown_after) {
  auto row = [&](const char* name, double value, const std::string& shown) {
    return fmt::format("<span>{}</span>", name) + bar(name, value / std::max(most, 1e-9)) +
           "<span class=\"n\">" + escape_html(shown) + "</span>";
  };
  return "<div class=\"duo\">" + row("before", before, shown_before) +
         row("after", after, shown_after) + "</div>";
}

std::string card(const std::string& title, double before, double after, const std::string& shown_b,
                 const std::string& shown_a) {
  std::string change = percent(before, after);
  return "<div class=\"card\"><h3>" + escape_html(title) +
         (change.empty() ? badge("same", "plain")
                         : badge(change, after < before ? "good" : "fair")) +
         "</h3>" + pair_of_bars(before, after, std::max(before, after), shown_b, shown_a) +
         "</div>";
}

/// Kernels of one kind.
struct KernelKind {
  double microseconds[2] = {0, 0};
  size_t count[2] = {0, 0}, measured[2] = {0, 0};
  double dearest() const { return std::max(microseconds[0], microseconds[1]); }
};

std::string count_and_time(const KernelKind& k, size_t side) {
  if (k.count[side] == 0) return "none";
  return fmt::format("{} × {}", k.count[side],
                     duration(k.microseconds[side] / static_cast<double>(k.count[side])));
}

std::string told_of(const KernelKind& k) {
  size_t all = k.count[0] + k.count[1], timed = k.measured[0] + k.measured[1];
  return timed == all ? "timed" : timed == 0 ? "estimated" : "partly timed";
}

/// A curve's place in its drawing.
struct Frame {
  double left = 64, top = 12, width = 440, height = 190, bottom = 34, right = 12;
  double seconds = 1, low = 0, high = 1;
  double x(double t) const { return left + (width - left - right) * t / seconds; }
  double y(double cost) const {
    return top + (height - top - bottom) * (high - cost) / std::max(high - low, 1e-9);
  }
};

std::string axes(const Frame& f) {
  std::string s = fmt::format(R"(<path class="ax" d="M{0:.0f} {1:.0f}V{2:.0f}H{3:.0f}"/>)", f.left,
                              f.top, f.height - f.bottom, f.width - f.right);
  for (double cost : {f.high, f.low})
    s += fmt::format(R"(<text x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)", f.left - 6,
                     f.y(cost) + 4, duration(cost));
  s += fmt::format(R"(<text x="{:.0f}" y="{:.0f}">0 s</text>)", f.left, f.height - f.bottom + 16);
  return s + fmt::format(R"(<text x="{:.0f}" y="{:.0f}" text-anchor="end">{:.3g} s</text>)",
                         f.width - f.right, f.height - f.bottom + 16, f.seconds);
}

}  // namespace

std::string percent(double before, double after) {
  if (before == 0 || std::abs(after / before - 1) < 0.0005) return "";
  return fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

std::string duration(double microseconds) {
  if (microseconds < 1e4) return fmt::format("{:.1f} µs", microseconds);
  return microseconds < 1e6 ? fmt::format("{:.2f} ms", microseconds / 1e3)
                            : fmt::format("{:.2f} s", microseconds / 1e6);
}

std::optional<double> measured_time(const json& side) {
  if (!side.contains("measured")) return std::nullopt;
  return side.at("measured").at("microseconds").get<double>();
}

int64_t operators_in(const json& side) {
  int64_t n = 0;
  for (const auto& [type, count] : side.at("operators").items()) n += count.get<int64_t>();
  return n;
}

std::string quantity_cards(const json& before, const json& after) {
  std::string s = "<div class=\"cards\">";
  auto add = [&](const char* title, double b, double a, auto&& shown) {
    s += card(title, b, a, shown(b), shown(a));
  };
  auto whole = [](double n) { return fmt::format("{:.0f}", n); };
  add("Predicted time", before.at("cost").get<double>(), after.at("cost").get<double>(), duration);
  if (auto b = measured_time(before), a = measured_time(after); a && b)
    add("Measured time", *b, *a, duration);
  add("Operators", static_cast<double>(operators_in(before)),
      static_cast<double>(operators_in(after)), whole);
  for (const auto& [title, key] :
       {std::pair("Parameters", "parameters"), std::pair("Multiplications and additions", "flops")})
    add(title, before.at(key).get<double>(), after.at(key).get<double>(), human_count);
  for (const auto& [title, key] :
       {std::pair("Activations at once", "activation_bytes"), std::pair("File size", "bytes")})
    add(title, before.at(key).get<double>(), after.at(key).get<double>(), human_bytes);
  return s + "</div>";
}

std::string kernel_bars(const std::vector<PlannedKernel>& before,
                        const std::vector<PlannedKernel>& after) {
  std::map<std::string, KernelKind> kinds;
  for (size_t side : {size_t{0}, size_t{1}})
    for (const PlannedKernel& k : side == 0 ? before : after) {
      KernelKind& kind = kinds[k.what];
      kind.microseconds[side] += k.microseconds;
      ++kind.count[side];
      kind.measured[side] += k.measured;
    }
  std::vector<std::pair<std::string, KernelKind>> all(kinds.begin(), kinds.end());
  std::ranges::stable_sort(
      all, [](const auto& a, const auto& b) { return a.second.dearest() > b.second.dearest(); });
  if (all.size() > kMostKernels) {
    KernelKind rest;
    for (size_t k = kMostKernels; k < all.size(); ++k)
      for (size_t side : {size_t{0}, size_t{1}}) {
        rest.microseconds[side] += all[k].second.microseconds[side];
        rest.count[side] += all[k].second.count[side];
        rest.measured[side] += all[k].second.measured[side];
      }
    std::string name = fmt::format("{} other kinds", all.size() - kMostKernels);
    all.resize(kMostKernels);
    all.emplace_back(name, rest);
  }
  double most = 0;
  for (const auto& [name, kind] : all) most = std::max(most, kind.dearest());
  std::vector<std::vector<std::string>> rows = {
      {"Kernel", "Time, all together", "Before", "After", "Price"}};
  for (const auto& [name, k] : all)
    rows.push_back({escape_html(name),
                    pair_of_bars(k.microseconds[0], k.microseconds[1], most,
                                 duration(k.microseconds[0]), duration(k.microseconds[1])),
                    "<span class=\"n\">" + count_and_time(k, 0) + "</span>",
                    "<span class=\"n\">" + count_and_time(k, 1) + "</span>", told_of(k)});
  return "<div class=\"kernels\">" + html_table(rows, "") + "</div>";
}

std::string search_curve(const json& search, double start) {
  const json& found = search.at("improvements");
  if (found.empty()) return {};
  Frame f;
  f.high = f.low = start;
  f.seconds =
      std::max(search.at("seconds").get<double>(), found.back().at("seconds").get<double>());
  f.seconds = std::max(f.seconds, 1e-6);
  for (const json& i : found) {
    f.high = std::max(f.high, i.at("cost").get<double>());
    f.low = std::min(f.low, i.at("cost").get<double>());
  }
  std::string path = fmt::format("M{:.1f} {:.1f}", f.x(0), f.y(start)), points;
  for (const json& i : found) {
    double x = f.x(i.at("seconds").get<double>()), y = f.y(i.at("cost").get<double>());
    path += fmt::format("H{:.1f}V{:.1f}", x, y);
    points +=
        fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5"><title>{}</title></circle>)", x, y,
                    escape_html(fmt::format(
                        "{} after {:.3f} s and {} candidates, by {}",
                        duration(i.at("cost").get<double>()), i.at("seconds").get<double>(),
                        i.at("candidate").get<uint64_t>(), i.at("rule").get<std::string>())));
  }
  path += fmt::format("H{:.1f}", f.x(f.seconds));
  return fmt::format(
             R"(<figure class="plot"><div class="wide"><svg class="curve" role="img" )"
             R"(aria-labelledby="curve-t" viewBox="0 0 {:.0f} {:.0f}"><title id="curve-t">Best )"
             R"(cost over time</title><desc>From {} to {} in {} improvements.</desc>)",
             f.width, f.height, duration(start), duration(f.low), found.size()) +
         axes(f) + "<path class=\"cv\" d=\"" + path + "\"/>" + points + "</svg></div><figcaption>" +
         fmt::format(
             "The cost of the best graph found so far, by the sum of its calls, which is "
             "what the search compares; {} candidates in all",
             search.at("candidates").get<uint64_t>()) +
         "</figcaption></figure>";
}

std::string chart_style() {
  return R"(
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.8rem}
.card{border:1px solid var(--rule);border-radius:6px;padding:.5rem .8rem .7rem}
.card h3{margin:0 0 .3rem;font-size:.95rem;display:flex;justify-content:space-between;gap:.5rem;
align-items:center}
.card .badge{margin:0}
.duo{display:grid;grid-template-columns:auto minmax(3rem,1fr) auto;gap:.15rem .5rem;
align-items:center;font-size:.85rem}
.duo span{color:var(--soft)}
.duo .bar{height:.7rem}
.bar.before{background:var(--line)}
.kernels .duo{min-width:11rem}
.kernels table{width:100%}
.kernels td{vertical-align:middle}
.kernels td:nth-child(2){width:45%}
.plot{max-width:40rem}
svg.curve{width:100%;max-width:38rem;height:auto;display:block}
.curve text{font:13px system-ui,"DejaVu Sans",sans-serif;fill:var(--soft)}
.curve .ax{fill:none;stroke:var(--line)}
.curve .cv{fill:none;stroke:var(--op-line);stroke-width:2}
.curve circle{fill:var(--op-line)}
)";
}

}  // namespace regraft::cli
