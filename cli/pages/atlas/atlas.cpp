#include "cli/pages/atlas/atlas.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/files/output_file.h"
#include "base/parallel.h"
#include "cli/measure/kernels.h"
#include "cli/pages/atlas/atlas_text.h"
#include "cli/pages/page.h"
#include "cli/pages/rule_view.h"
#include "cli/pages/text.h"
#include "cli/support/json_file.h"

namespace regraft::cli {
namespace {

constexpr const char* kPageEnd = ".html";
constexpr const char *kIndex = "index.html", *kStyle = "style.css", *kScript = "search.js",
                     *kReading = "reading.html";

/// One rule of the site.
struct Place {
  const Family* family;
  const Rule* rule;
  std::string slug;  ///< its page is rules/FAMILY/SLUG.html
};

/// Letters that are the same in file names everywhere and in addresses.
std::string slug_of(const std::string& name, std::set<std::string>& taken) {
  constexpr size_t kLongest = 100;
  std::string s;
  for (char c : name.substr(0, kLongest)) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    s += plain || c == '.' || c == '-' || c == '=' ? c : '-';
  }
  if (s.empty() || s[0] == '.') s = "rule" + s;
  auto lower = [](std::string t) {
    std::ranges::transform(t, t.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return t;
  };
  std::string free = s;
  for (int k = 2; !taken.insert(lower(free)).second; ++k) free = fmt::format("{}-{}", s, k);
  return free;
}

std::vector<Place> places_of(const Atlas& atlas) {
  std::vector<Place> all;
  for (const Family& f : atlas.families) {
    std::set<std::string> taken;
    for (const Rule& rule : f.file.rules) all.push_back({&f, &rule, slug_of(rule.name, taken)});
  }
  return all;
}

/// A row of the index.
std::string row_of(const RulePage& page, const std::string& slug, const Court& court) {
  const Rule& rule = page.rule;
  std::string ops, marks;
  for (const std::string& name : operators_of(rule)) ops += (ops.empty() ? "" : " ") + name;
  if (pays(page)) marks += " data-p=\"1\"";
  if (court.count(rule.name) || court.count(rule.name + "~")) marks += " data-t=\"1\"";
  std::string formula = side_formula(rule, rule.lhs, Marking::Plain) + (rule.both ? " ⇔ " : " ⇒ ") +
                        side_formula(rule, rule.rhs, Marking::Plain);
  std::string numerics = to_string(rule.numerics.kind);
  return fmt::format(
      R"(<tr data-o="{}" data-n="{}"{}><td>{}</td><td class="f">{}</td><td>{}</td></tr>)"
      "\n",
      escape_html(ops), numerics, marks,
      link_to("rules/" + page.family + "/" + slug + kPageEnd, rule.name), escape_html(formula),
      numerics);
}

/// Of the page of place k: its row in the index.
Result<std::string> write_rule(const Atlas& atlas, const std::vector<Place>& places, size_t k,
                               const std::string& folder) {
  const Place& p = places[k];
  RulePage page{*p.rule,
                p.family->name,
                {},
                {},
                atlas.prices ? atlas.profile : "",
                p.family->derivations.get(),
                "",
                ""};
  if (atlas.prices) {
    auto series = priced(*p.rule, *atlas.prices);
    page.payoffs = payoffs(series, false);
    if (p.rule->both) page.back = payoffs(series, true);
  }
  auto neighbour = [&](size_t j) {
    bool there = j < places.size() && places[j].family == p.family;
    return there ? places[j].slug + kPageEnd : std::string();
  };
  page.before = neighbour(k - 1);
  page.after = neighbour(k + 1);
  std::string path = fmt::format("{}/rules/{}/{}{}", folder, page.family, p.slug, kPageEnd);
  RETURN_IF_ERROR(write_file(path, rule_page(page, atlas.court)));
  return row_of(page, p.slug, atlas.court);
}

std::string choice(const char* name, const char* label,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  std::string s = fmt::format(R"(<div><label for="{0}">{1}</label><select id="{0}" name="{0}">)"
                              R"(<option value="">any</option>)",
                              name, label);
  for (const auto& [value, text] : values)
    s += fmt::format(R"(<option value="{}">{}</option>)", escape_html(value), escape_html(text));
  return s + "</select></div>";
}

std::vector<std::pair<std::string, std::string>> counted(const std::map<std::string, int>& counts) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, n] : counts) all.emplace_back(name, fmt::format("{} ({})", name, n));
  return all;
}

std::string search_form(const Atlas& atlas) {
  std::map<std::string, int> operators, families, numerics;
  for (const Family& f : atlas.families)
    for (const Rule& rule : f.file.rules) {
      ++families[f.name];
      ++numerics[to_string(rule.numerics.kind)];
      for (const std::string& name : operators_of(rule)) ++operators[name];
    }
  std::string s = R"(<form class="search" id="search" hidden="hidden" role="search">)"
                  R"(<div class="whole"><label for="q">Words in the name or the formula</label>)"
                  R"(<input id="q" name="q" type="search" autocomplete="off"/></div>)";
  s += choice("op", "Operator", counted(operators)) +
       choice("family", "Family", counted(families)) +
       choice("numerics", "Numerics", counted(numerics));
  if (atlas.prices) s += choice("pays", "Pays", {{"yes", "somewhere"}, {"no", "nowhere"}});
  if (!atlas.court.empty())
    s += choice("tools", "Tools", {{"yes", "probed"}, {"no", "not probed"}});
  return s +
         R"(<div><label for="all">All rules</label><button id="all" type="reset">Clear</button>)"
         "</div></form>";
}

std::string index_page(const Atlas& atlas, const std::vector<Place>& places,
                       const std::vector<std::string>& rows) {
  Page page;
  page.title = "Atlas of rules";
  page.style = kStyle;
  page.script = kScript;
  size_t both = 0;
  for (const Place& p : places) both += p.rule->both;
  page.body = fmt::format(
      "<p>{} substitutions of tensor operators, {} of them in both directions, in {} families. "
      "Each "
      "is proved; each has a page. <a href=\"reading.html\">How to read them</a>.</p>",
      places.size(), both, atlas.families.size());
  page.body += search_form(atlas);
  page.body += fmt::format("<p id=\"found\" role=\"status\">{} rules</p>", places.size());
  page.body +=
      "<table class=\"list\"><thead><tr><th scope=\"col\">Rule</th><th scope=\"col\">Formula</th>"
      "<th scope=\"col\">Numerics</th></tr></thead>";
  size_t k = 0;
  for (const Family& f : atlas.families) {
    page.body += fmt::format(
        R"(<tbody id="{0}" data-f="{0}"><tr><th scope="rowgroup" colspan="3">{0}: {1} rules)"
        "</th></tr>"
        "\n",
        escape_html(f.name), f.file.rules.size());
    for (; k < places.size() && places[k].family == &f; ++k) page.body += rows[k];
    page.body += "</tbody>";
  }
  page.body += "</table>";
  return to_html(page);
}

/// Where the families come from.
std::string families(const Atlas& atlas) {
  std::vector<std::vector<std::string>> rows = {
      {"Family", "Rules", "Candidates from", "Proved by"}};
  for (const Family& f : atlas.families) {
    std::string made = f.file.generator.empty()
                           ? "written by hand"
                           : "<code>" + escape_html(f.file.generator) + "</code>";
    rows.push_back({escape_html(f.name), fmt::format("{}", f.file.rules.size()), made,
                    escape_html(f.file.prover)});
  }
  return "<h2 id=\"families\">Families</h2>" + html_table(rows, "");
}

std::string reading_page(const Atlas& atlas) {
  Page page;
  page.title = "How to read the atlas";
  page.style = kStyle;
  page.trail = {{"Atlas of rules", kIndex}};
  page.body = reading_body() + families(atlas);
  return to_html(page);
}

}  // namespace

Result<Court> read_court(const std::string& path) {
  return read_json_file(path, "a list of what tools apply", [](const nlohmann::json& j) {
    if (!j.is_object()) throw std::invalid_argument("no object");
    Court court;
    for (const auto& [rule, all] : j.items())
      for (const auto& a : all)
        court[rule].push_back({a.at("tool").get<std::string>(), a.at("version").get<std::string>(),
                               a.at("result").get<std::string>()});
    return Result<Court>(std::move(court));
  });
}

Status write_atlas(const Atlas& atlas, const std::string& folder, int threads,
                   Verbosity verbosity) {
  for (const Family& f : atlas.families) RETURN_IF_ERROR(make_folder(folder + "/rules/" + f.name));
  ASSIGN_OR_RETURN(auto index, OutputFile::open(folder + "/" + kIndex));
  std::vector<Place> places = places_of(atlas);
  std::vector<Result<std::string>> made(places.size(), std::string());
  Progress progress("atlas", "rules", places.size(), verbosity);
  parallel_for(places.size(), threads, [&](size_t k) {
    if (!Stop::interrupted()) made[k] = write_rule(atlas, places, k, folder);
    progress.add();
  });
  if (Stop::interrupted()) return {};
  std::vector<std::string> rows;
  for (const auto& row : made) {
    if (!row) return row.error();
    rows.push_back(*row);
  }
  RETURN_IF_ERROR(write_file(folder + "/" + kStyle, style_sheet()));
  RETURN_IF_ERROR(write_file(folder + "/" + kScript, search_script()));
  RETURN_IF_ERROR(write_file(folder + "/" + kReading, reading_page(atlas)));
  RETURN_IF_ERROR(index.write(index_page(atlas, places, rows)));
  return index.commit();
}

std::vector<std::string> fixed_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const char* name : {kIndex, kStyle, kScript, kReading}) files.push_back(folder + "/" + name);
  return files;
}

}  // namespace regraft::cli
