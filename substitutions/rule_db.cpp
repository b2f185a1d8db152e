#include "substitutions/rule_db.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "base/files/gzip.h"
#include "base/nearest.h"
#include "ir/rule/text.h"

namespace regraft::substitutions {
namespace {

constexpr std::string_view kMagic = "#regraft-rules ";
constexpr std::string_view kSeal = "seal=";
constexpr size_t kSealDigits = 32;
constexpr std::string_view kVerifyAgain = "run `regraft verify FILE -o FILE`";
constexpr uintmax_t kMaxFileBytes = uintmax_t{1} << 30;

bool proved(const Rule& r) { return r.verdict.kind >= VerdictKind::ProvedBounded; }

Error at(const std::string& file, size_t line, size_t column, const std::string& what) {
  return error(file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + what);
}

/// "column 7: expected ..." of the rule parser as file:line:7.
Error located(const std::string& file, size_t line, size_t indent, const std::string& message) {
  constexpr std::string_view prefix = "column ";
  if (!message.starts_with(prefix)) return at(file, line, indent + 1, message);
  size_t column = 0;
  const char* begin = message.data() + prefix.size();
  auto [end, problem] = std::from_chars(begin, message.data() + message.size(), column);
  size_t skip = static_cast<size_t>(end - message.data());
  if (problem != std::errc{} || message.compare(skip, 2, ": ") != 0)
    return at(file, line, indent + 1, message);
  return at(file, line, indent + column, message.substr(skip + 2));
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

/// The value of name="..." or name=word in a header.
std::string field(std::string_view header, std::string_view name) {
  std::string key = " " + std::string(name) + "=";
  size_t start = header.find(key);
  if (start == std::string_view::npos) return {};
  start += key.size();
  bool quoted = start < header.size() && header[start] == '"';
  if (quoted) ++start;
  size_t end = header.find(quoted ? '"' : ' ', start);
  return std::string(header.substr(start, end == std::string_view::npos ? end : end - start));
}

Status read_header(std::string_view line, const std::string& name, Admit admit, RuleFile& file) {
  std::string_view version = line.substr(kMagic.size());
  version = version.substr(0, version.find(' '));
  if (version == "1" && admit != Admit::Candidates)
    return at(name, 1, 1, "sealed by an earlier version; " + std::string(kVerifyAgain));
  for (int known : {1, kBeforeKernel, kFormat})
    if (version == std::to_string(known)) file.format = known;
  if (file.format == 0)
    return at(name, 1, kMagic.size() + 1, "this version of the format is not known; expected 3");
  file.generator = field(line, "generator");
  file.prover = field(line, "prover");
  return {};
}

/// A line without its seal, and the seal.
struct SealedLine {
  std::string_view rule;
  std::string_view seal;
};
SealedLine without_seal(std::string_view line) {
  size_t start = line.rfind(' ');
  if (start == std::string_view::npos || !line.substr(start + 1).starts_with(kSeal))
    return {line, {}};
  return {trimmed(line.substr(0, start)), line.substr(start + 1 + kSeal.size())};
}

/// The operators of both sides, by name.
std::map<std::string_view, const OpDef*> operators_of(const Rule& rule) {
  std::map<std::string_view, const OpDef*> used;
  for (const Pattern* side : {&rule.lhs, &rule.rhs})
    for (const PatternNode& n : side->nodes) used.emplace(n.op->name, n.op);
  return used;
}

/// Of the rule, written as `text`.
std::string seal_of(const Rule& rule, std::string_view text, const Meaning& meaning, int format) {
  Sha256 sha;
  sha.text(kMagic).number(format).text(text);
  for (const auto& [name, op] : operators_of(rule)) sha.digest(meaning(*op));
  return hex(sha.finish()).substr(0, kSealDigits);
}

/// The text of the rule need not be canonical.
bool fits(std::string_view seal, const Rule& rule, std::string_view text, int format) {
  return seal == seal_of(rule, text, known_meaning, format) ||
         seal == seal_of(rule, to_string(rule), known_meaning, format);
}

/// Error unless the claim of a proof is one that the verifier sealed, for the operators as they
/// are. A claim that was sealed before there was a kernel becomes one of the provers alone.
Status check_claim(Rule& rule, std::string_view text, std::string_view seal, int format) {
  if (!proved(rule)) return {};
  std::string again = "; " + std::string(kVerifyAgain);
  if (format == 0) return error("claims a proof, but the file has no header" + again);
  if (seal.empty()) return error("claims a proof without a seal" + again);
  bool now = fits(seal, rule, text, kFormat);
  if (!now && !fits(seal, rule, text, kBeforeKernel))
    return error(
        "the seal does not fit: the rule or the meaning of one of its operators was changed after "
        "the proof" +
        again);
  if (!now && rule.verdict.kind == VerdictKind::ProvedAllSizes)
    rule.verdict.kind = VerdictKind::ProvedSolver;
  if (rule.domain.empty()) return error("claims a proof without saying for which shapes" + again);
  return {};
}

bool admitted(const Rule& rule, Admit admit) {
  switch (admit) {
    case Admit::Candidates:
      return true;
    case Admit::Bounded:
      return proved(rule);
    case Admit::Kernel:
      return rule.verdict.kind == VerdictKind::ProvedAllSizes;
    case Admit::AllSizes:
      return is_for_all_sizes(rule.verdict.kind);
  }
  return false;
}

}  // namespace

std::string seal_of(const Rule& rule, const Meaning& meaning, int format) {
  return seal_of(rule, to_string(rule), meaning, format);
}

Result<RuleFile> parse_rules(std::string_view text, const std::string& name, Admit admit) {
  RuleFile file;
  std::map<std::string, size_t> lines;  // of names
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (number == 1 && line.starts_with(kMagic))
      RETURN_IF_ERROR(read_header(line, name, admit, file));
    size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos || line[indent] == '#') continue;
    auto [rule_text, seal] = without_seal(line.substr(indent));
    auto rule = parse_rule(rule_text);
    if (!rule) return located(name, number, indent, rule.error().message);
    if (auto [it, fresh] = lines.emplace(rule->name, number); !fresh)
      return at(name, number, indent + 1,
                "the name " + rule->name + " is taken by line " + std::to_string(it->second));
    if (admit != Admit::Candidates)
      if (Status s = check_claim(*rule, rule_text, seal, file.format); !s)
        return at(name, number, indent + 1, rule->name + " " + s.error().message);
    if (admitted(*rule, admit))
      file.rules.push_back(*std::move(rule));
    else
      ++file.left_out;
  }
  return file;
}

Result<RuleFile> read_rules(const std::string& path, Admit admit) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem))
    return error(path + ": no such rule file" + suggested_file(path));
  if (std::filesystem::file_size(path, problem) > kMaxFileBytes)
    return error(path + ": larger than a rule file may be (1 GiB)");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return error(path + ": cannot be read");
  if (!is_gzip(text.view())) return parse_rules(text.view(), path, admit);
  auto unpacked = from_gzip(text.view(), kMaxFileBytes);
  if (!unpacked) return error(path + ": " + unpacked.error().message);
  return parse_rules(*unpacked, path, admit);
}

Result<RuleFile> read_candidates(const std::string& path) {
  return read_rules(path, Admit::Candidates);
}

std::string to_text(const RuleFile& file) {
  std::string text = std::string(kMagic) + std::to_string(kFormat) + "  generator=\"" +
                     file.generator + "\"  prover=\"" + file.prover + "\"\n";
  std::vector<const Rule*> sorted;
  for (const Rule& r : file.rules) sorted.push_back(&r);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->name < b->name; });
  for (const Rule* r : sorted) {
    text += to_string(*r);
    if (proved(*r)) text += "  " + std::string(kSeal) + seal_of(*r);
    text += '\n';
  }
  return text;
}

static Status require_distinct_names(const RuleFile& file) {
  std::map<std::string, int> names;
  for (const Rule& r : file.rules)
    if (++names[r.name] > 1) return error("two rules have the name " + r.name);
  return {};
}

Status write_rules(OutputFile& out, const RuleFile& file) {
  if (auto s = require_distinct_names(file); !s)
    return error(out.path() + ": " + s.error().message);
  return out.write(to_text(file));
}

Status write_rules(const std::string& path, const RuleFile& file) {
  ASSIGN_OR_RETURN(OutputFile out, OutputFile::open(path));
  RETURN_IF_ERROR(write_rules(out, file));
  return out.commit();
}

}  // namespace regraft::substitutions
