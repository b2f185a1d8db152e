#include "cli/optimization/explanation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/terminal.h"

namespace regraft::cli {
namespace {

constexpr double kNothing = 0.005;  // microseconds
constexpr size_t kShownHere = 4, kShownRegions = 10;
constexpr size_t kIndent = 11;  // of what continues an entry

std::string shown(const std::vector<std::string>& nodes) {
  std::string text;
  for (size_t k = 0; k < nodes.size() && k < kShownHere; ++k)
    text += (k ? ", " : "") + printable(nodes[k]);
  if (nodes.size() > kShownHere) text += fmt::format(" and {} more", nodes.size() - kShownHere);
  return text.empty() ? "nothing" : text;
}

/// "won 1.23 us".
std::string gain(double microseconds) {
  if (microseconds > -kNothing && microseconds < kNothing) return "no change of the predicted time";
  return microseconds > 0 ? fmt::format("{:.2f} us won", microseconds)
                          : fmt::format("{:.2f} us lost", -microseconds);
}

std::string text_of(const WonRegion& r) {
  std::string rules;
  for (const auto& [rule, n] : r.rules)
    rules += (rules.empty() ? "" : ", ") + printable(rule) + (n > 1 ? fmt::format(" {}x", n) : "");
  return fmt::format("  {}\n    rules: {}\n    gone:  {}\n    new:   {}\n", gain(r.microseconds),
                     rules, shown(r.gone), shown(r.made));
}

std::string text_of(const Missed& m) {
  std::string text =
      fmt::format("  {:.2f} us ({:.1f} %): {}", m.microseconds, 100 * m.share, shown(m.nodes));
  if (m.alike > 1) text += fmt::format(", with {} more of the kind", m.alike - 1);
  text += "\n";
  for (const Reason& r : m.reasons)
    text += fmt::format("    {}: {}\n", to_string(r.why), printable(r.text));
  return text;
}

std::string won(const Explanation& e) {
  if (e.kept) return "No rule is in the result: " + printable(e.because) + ".\n";
  if (e.regions.empty()) return "No rule was applied.\n";
  std::string text =
      "What the rules did, region by region, with the predicted time that each won:\n";
  for (size_t k = 0; k < e.regions.size() && k < kShownRegions; ++k) text += text_of(e.regions[k]);
  if (e.regions.size() > kShownRegions) {
    double rest = 0;
    for (size_t k = kShownRegions; k < e.regions.size(); ++k) rest += e.regions[k].microseconds;
    text += fmt::format("  {} more regions: {} (--json has them all)\n",
                        e.regions.size() - kShownRegions, gain(rest));
  }
  if (std::ranges::any_of(e.regions, [](const auto& r) { return r.microseconds < -kNothing; }))
    text +=
        "  (The clean-up takes what is simpler where prices differ by less than they can tell.)\n";
  if (e.priced_every > 1)
    text += fmt::format(
        "  (every {} steps were priced together, so that a neighbour may have the "
        "gain of a region)\n",
        e.priced_every);
  return text;
}

}  // namespace

std::string to_text(const Explanation& e, size_t width) {
  std::string text = won(e);
  if (e.folded > 0) text += fmt::format("{} calls became constants.\n", e.folded);
  if (e.missed.empty())
    text += "Rules touched all that takes a noteworthy part of the predicted time.\n";
  else
    text += "The dearest parts of the result that no rule touched, and why:\n";
  for (const Missed& m : e.missed) text += text_of(m);
  if (!e.complete) text += "(There was no time to find all reasons.)\n";
  return wrapped(text, width, kIndent);
}

nlohmann::json to_json(const Explanation& e) {
  nlohmann::json j = {{"regions", nlohmann::json::array()},
                      {"missed", nlohmann::json::array()},
                      {"kept", e.kept},
                      {"folded", e.folded},
                      {"priced_every", e.priced_every},
                      {"complete", e.complete}};
  if (e.kept) j["because"] = e.because;
  for (const WonRegion& r : e.regions)
    j["regions"].push_back({{"rules", r.rules},
                            {"removed", r.gone},
                            {"added", r.made},
                            {"microseconds", r.microseconds}});
  for (const Missed& m : e.missed) {
    nlohmann::json reasons = nlohmann::json::array();
    for (const Reason& r : m.reasons) {
      nlohmann::json reason = {{"reason", to_string(r.why)}, {"text", r.text}};
      if (!r.rule.empty()) reason["rule"] = r.rule;
      if (r.change) reason["change"] = *r.change;
      reasons.push_back(std::move(reason));
    }
    j["missed"].push_back({{"nodes", m.nodes},
                           {"microseconds", m.microseconds},
                           {"share", m.share},
                           {"alike", m.alike},
                           {"reasons", std::move(reasons)}});
  }
  j["text"] = to_text(e, 80);
  return j;
}

}  // namespace regraft::cli
