#pragma once
// The frame that all pages share: a document without anything from elsewhere, its style, its
// navigation.
#include <string>
#include <utility>
#include <vector>

namespace regraft::cli {

struct Page {
  std::string title;  ///< plain text
  std::string body;   ///< HTML, well-formed XML: below the heading
  /// Pages above this one: text and address. Empty: no navigation.
  std::vector<std::pair<std::string, std::string>> trail;
  /// Address of a file with style_sheet(); empty: the page holds the style itself.
  std::string style;
  std::string script;  ///< address of a file; empty: none
  /// A page that holds all itself: rules of CSS and a script of its own, without '<' and '&'.
  std::string own_style, own_script;
};

/// The document: HTML, and well-formed XML. Its one <h1> is the title.
std::string to_html(const Page& page);
/// The common style, light and dark, with that of drawings.
std::string style_sheet();

/// <span class="badge KIND">text</span>; kinds: good, fair, bad, plain.
std::string badge(const std::string& text, const std::string& kind);
/// <a href="address">text</a> of plain texts.
std::string link_to(const std::string& address, const std::string& text);
/// <figure> with a drawing (SVG text) or other HTML, a caption of plain text, and HTML below that.
std::string figure(const std::string& content, const std::string& caption,
                   const std::string& below = {});
/// A table of HTML cells; rows[0] is the header, with plain texts.
std::string html_table(const std::vector<std::vector<std::string>>& rows,
                       const std::string& caption);

}  // namespace regraft::cli
