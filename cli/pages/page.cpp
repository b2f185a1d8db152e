#include "cli/pages/page.h"

#include <fmt/format.h>

#include "cli/pages/drawing.h"
#include "cli/pages/text.h"

namespace regraft::cli {

std::string to_html(const Page& page) {
  std::string head =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<meta name=\"color-scheme\" content=\"light dark\"/><title>" +
      escape_html(page.title) + "</title>";
  head += page.style.empty()
              ? "<style>" + style_sheet() + page.own_style + "</style>"
              : fmt::format(R"(<link rel="stylesheet" href="{}"/>)", escape_html(page.style));
  if (!page.script.empty())
    head += fmt::format(R"(<script src="{}" defer="defer"></script>)", escape_html(page.script));
  if (!page.own_script.empty())  // whatever else the page says, nothing is fetched
    head +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>";
  std::string navigation;
  for (const auto& [text, address] : page.trail)
    navigation += "<li>" + link_to(address, text) + "</li>";
  if (!navigation.empty())
    navigation = "<nav aria-label=\"Pages above\"><ol>" + navigation + "</ol></nav>";
  return head + "</head><body><a class=\"skip\" href=\"#main\">Skip to the content</a>" +
         navigation + "<main id=\"main\"><h1>" + escape_html(page.title) + "</h1>" + page.body +
         "</main>" + (page.own_script.empty() ? "" : "<script>" + page.own_script + "</script>") +
         "</body></html>\n";
}

std::string badge(const std::string& text, const std::string& kind) {
  return fmt::format(R"(<span class="badge {}">{}</span>)", escape_html(kind), escape_html(text));
}

std::string link_to(const std::string& address, const std::string& text) {
  return fmt::format(R"(<a href="{}">{}</a>)", escape_html(address), escape_html(text));
}

std::string figure(const std::string& content, const std::string& caption,
                   const std::string& below) {
  return "<figure><div class=\"wide\">" + content + "</div><figcaption>" + escape_html(caption) +
         below + "</figcaption></figure>";
}

std::string html_table(const std::vector<std::vector<std::string>>& rows,
                       const std::string& caption) {
  std::string s = "<div class=\"wide\"><table>";
  if (!caption.empty()) s += "<caption>" + escape_html(caption) + "</caption>";
  for (size_t k = 0; k < rows.size(); ++k) {
    s += k == 0 ? "<thead><tr>" : "<tr>";
    for (const std::string& cell : rows[k])
      s += k == 0 ? "<th scope=\"col\">" + escape_html(cell) + "</th>" : "<td>" + cell + "</td>";
    s += k == 0 ? "</tr></thead><tbody>" : "</tr>";
  }
  return s + (rows.empty() ? "" : "</tbody>") + "</table></div>";
}

std::string style_sheet() {
  static const char* const kStyle = R"(
:root{color-scheme:light dark;--paper:#fff;--back:#f6f7f9;--ink:#1b1f24;--soft:#57606a;
--line:#8b949e;--rule:#d8dee4;--link:#0550ae;--op:#ddf0ff;--op-line:#0969da;--const:#fff4d6;
--const-line:#9a6700;--mark:#bc4c00;--good:#116329;--good-b:#dafbe1;--fair:#7a4d00;
--fair-b:#fff3cf;--bad:#a40e26;--bad-b:#ffe3e0}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--back:#161b22;--ink:#e6edf3;
--soft:#9da7b1;--line:#6e7681;--rule:#30363d;--link:#79b8ff;--op:#10243e;--op-line:#58a6ff;
--const:#2e2408;--const-line:#d29922;--mark:#ffa657;--good:#7ee787;--good-b:#0f2d18;
--fair:#f2cc60;--fair-b:#332701;--bad:#ffa198;--bad-b:#3d1214}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
main,nav{max-width:72rem;margin:0 auto;padding:0 1.25rem}
main{padding-bottom:4rem}
main nav{padding:1.5rem 0 0}
nav ol{list-style:none;display:flex;flex-wrap:wrap;gap:.5rem;margin:0;padding:1rem 0 0;
font-size:.9rem}
nav li+li::before{content:"/";color:var(--soft);margin-right:.5rem}
h1{font-size:1.6rem;line-height:1.25;margin:1rem 0 .75rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.25rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--rule)}
h3{font-size:1.02rem;margin:1.6rem 0 .4rem;overflow-wrap:anywhere}
p,ul,dl{margin:.5rem 0;max-width:48rem}
a{color:var(--link)}
a:focus-visible,input:focus-visible,select:focus-visible,summary:focus-visible,
.wide:focus-visible,button:focus-visible{outline:3px solid var(--op-line);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.3rem .6rem;z-index:2}
code,pre,.f{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.88em}
ol.steps p{margin:.5rem 0 .2rem}
pre{margin:.2rem 0 .6rem;background:var(--back);border:1px solid var(--rule);border-radius:6px;
padding:.7rem .9rem;white-space:pre-wrap;overflow-wrap:anywhere}
.f{overflow-wrap:anywhere}
.f b{font-weight:600;color:var(--ink)}
.f i{font-style:normal;color:var(--soft)}
.formula{background:var(--back);border:1px solid var(--rule);border-radius:6px;margin:.9rem 0;
padding:.8rem 1rem;display:grid;grid-template-columns:auto 1fr;gap:.3rem .8rem;max-width:none}
.formula span:nth-child(odd){color:var(--soft)}
.badge{display:inline-block;font-size:.82rem;line-height:1.3;padding:.15rem .55rem;
border-radius:1rem;border:1px solid currentColor;margin:0 .35rem .3rem 0;white-space:nowrap}
.good{color:var(--good);background:var(--good-b)}
.fair{color:var(--fair);background:var(--fair-b)}
.bad{color:var(--bad);background:var(--bad-b)}
.plain{color:var(--soft);background:var(--back)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr));gap:1rem}
figure{margin:0;border:1px solid var(--rule);border-radius:6px;min-width:0;display:flex;
flex-direction:column}
figure .wide{flex:1;display:flex;align-items:safe center;justify-content:safe center;padding:.8rem}
figcaption{border-top:1px solid var(--rule);background:var(--back);padding:.35rem .8rem;
font-size:.88rem;color:var(--soft);border-radius:0 0 6px 6px}
figcaption ol{margin:.3rem 0;padding-left:2rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.92rem;margin:.5rem 0}
caption{text-align:left;color:var(--soft);padding-bottom:.3rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;
border-bottom:1px solid var(--rule)}
th{font-weight:600}
.bars{display:grid;grid-template-columns:auto 1fr auto;gap:.35rem .8rem;max-width:40rem}
.bar{background:var(--op-line);height:1.1rem;border-radius:3px;min-width:2px}
.n{display:block;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
dt{font-weight:600;margin-top:.5rem}
dd{margin:0}
.soft{color:var(--soft)}
.chips{display:flex;flex-wrap:wrap;gap:.35rem;list-style:none;padding:0;max-width:none}
.chips li{background:var(--back);border:1px solid var(--rule);border-radius:4px;padding:.1rem .5rem}
ol.steps{max-width:none;padding-left:1.3rem}
ol.steps>li{margin:.9rem 0}
summary{cursor:pointer}
form.search{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.8rem;
margin:1rem 0;padding:1rem;background:var(--back);border:1px solid var(--rule);border-radius:6px}
form.search label{font-size:.88rem;font-weight:600;display:block}
form.search .whole{grid-column:1/-1}
input,select,button{font:inherit;width:100%;padding:.4rem .5rem;margin-top:.2rem;color:var(--ink);
background:var(--paper);border:1px solid var(--line);border-radius:4px}
.list{width:100%;table-layout:fixed}
.list th:nth-child(1){width:26%}
.list th:nth-child(3){width:9rem}
.list td{overflow-wrap:anywhere}
.list tbody th{padding-top:1.4rem;font-size:1rem}
@media (max-width:40rem){.list th:nth-child(3),.list td:nth-child(3){display:none}
.list th:nth-child(1){width:40%}}
@media print{nav,form.search,.skip{display:none}}
[hidden]{display:none!important}
)";
  return kStyle + drawing_style();
}

}  // namespace regraft::cli
