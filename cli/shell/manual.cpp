#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shell/commands.h"

namespace regraft::cli {
namespace {

/// As troff has text: a dash is a minus sign, and no line begins with a dot or a quote.
std::string escaped(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else if (c == '\n')
      safe += " ";
    else
      safe += c;
  }
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

std::string synopsis(const CommandText& c) {
  std::string text = ".B regraft " + escaped(c.path) + "\n";
  for (const OptionText& o : c.options)
    if (o.names.empty())
      text += fmt::format(".RI {} {} {}\n", o.required ? "\"\"" : "[", escaped(o.label),
                          o.required  ? (o.several ? "..." : "\"\"")
                          : o.several ? "...]"
                                      : "]");
  return text + ".RI [ options ]\n";
}

std::string entry(const OptionText& o) {
  std::string text = ".TP\n";
  std::vector<std::string> names;
  for (const std::string& name : o.names) names.push_back("\\fB" + escaped(name) + "\\fR");
  text += o.names.empty() ? "\\fI" + escaped(o.label) + "\\fR"
                          : fmt::format("{}", fmt::join(names, ", "));
  if (!o.names.empty() && !o.choices.empty())
    text += " " + escaped(fmt::format("{}", fmt::join(o.choices, "|")));
  else if (!o.names.empty() && !o.value.empty())
    text += " \\fI" + escaped(o.value) + "\\fR";
  return text + "\n" + escaped(o.help) + (o.help.empty() ? "" : ".\n");
}

}  // namespace

std::string manual(const std::vector<CommandText>& commands) {
  std::string text =
      ".TH REGRAFT 1 \"\" \"regraft " REGRAFT_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nregraft \\- optimises ONNX models, and proves that they compute the same\n"
      ".SH SYNOPSIS\n.B regraft\n.I command\n.RI [ options ]\n"
      ".SH COMMANDS\n";
  for (const CommandText& c : commands) {
    if (c.path.empty() || !c.commands.empty()) continue;
    text += ".SS " + escaped(c.path) + "\n" + synopsis(c) + ".PP\n" + escaped(c.help) + ".\n";
    for (const OptionText& o : c.options)
      if (o.names.empty() || o.names.front() != "--help") text += entry(o);
  }
  return text +
         ".SH EXIT STATUS\n"
         ".TP\n0\nDone, proved, or equal.\n"
         ".TP\n1\nA check or a proof failed, or models differ.\n"
         ".TP\n2\nWrong use of the command line.\n"
         ".TP\n3\nBad input; one line on standard error names the place.\n"
         ".TP\n4\nA bug.\n"
         ".TP\n5\nUndecided, of validate.\n"
         ".TP\n130\nInterrupted; what was found until then is written.\n"
         ".SH ENVIRONMENT\n"
         ".TP\nREGRAFT_PYTHON\nThe Python that has onnxruntime, to measure with.\n"
         ".TP\nREGRAFT_RULES\nThe folder of the rule files.\n"
         ".TP\nREGRAFT_PROFILES\nFolders of profiles, separated by colons.\n";
}

}  // namespace regraft::cli
