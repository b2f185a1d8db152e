#include "substitutions/rule_db.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "base/hash.h"
#include "ir/op.h"
#include "ir/text.h"

namespace regraft::substitutions {
namespace {

constexpr std::string_view kMagic = "#regraft-rules ";
constexpr std::string_view kSeal = "seal=";
constexpr uintmax_t kMaxBytes = uintmax_t{1} << 30;

std::string hex(uint64_t n) {
  std::string s(16, '0');
  for (size_t i = 16; i-- > 0; n >>= 4) s[i] = "0123456789abcdef"[n & 15];
  return s;
}
std::optional<uint64_t> unhex(std::string_view s) {
  uint64_t n = 0;
  auto [end, problem] = std::from_chars(s.data(), s.data() + s.size(), n, 16);
  if (s.size() != 16 || problem != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return n;
}

bool proved(const Rule& r) {
  return r.verdict.kind == VerdictKind::ProvedAllSizes ||
         r.verdict.kind == VerdictKind::ProvedBounded;
}

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

Status read_header(std::string_view line, const std::string& name, RuleFile& file) {
  std::string_view version = line.substr(kMagic.size());
  if (version.substr(0, version.find(' ')) != "1")
    return at(name, 1, kMagic.size() + 1, "this version of the format is not known; expected 1");
  auto ops = unhex(field(line, "ops"));
  if (!ops) return at(name, 1, 1, "the header has no ops=<16 hexadecimal digits>");
  file.ops_hash = *ops;
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

uint64_t seal_of(std::string_view canonical, uint64_t ops_hash) {
  return combine(hash_text(canonical), ops_hash);
}

/// Error unless the claim of a proof is one that the verifier sealed for this operator set. The
/// text of the rule need not be canonical.
Status check_claim(const Rule& rule, std::string_view text, std::string_view seal,
                   uint64_t file_ops) {
  if (!proved(rule)) return {};
  if (file_ops == 0) return error("claims a proof, but the file has no header");
  if (file_ops != op_set_hash())
    return error("was proved for another operator set (ops=" + hex(file_ops) +
                 ", this program has " + hex(op_set_hash()) + "); verify the file again");
  if (seal.empty()) return error("claims a proof without a seal; verify the file again");
  auto sealed = unhex(seal);
  if (sealed != seal_of(text, file_ops) && sealed != substitutions::seal_of(rule, file_ops))
    return error(
        "the seal does not fit the rule, it was edited after the proof; verify the file again");
  if (rule.domain.empty()) return error("claims a proof without saying for which shapes");
  return {};
}

bool admitted(const Rule& rule, Admit admit) {
  switch (admit) {
    case Admit::Candidates:
      return true;
    case Admit::Bounded:
      return proved(rule);
    case Admit::AllSizes:
      return rule.verdict.kind == VerdictKind::ProvedAllSizes;
  }
  return false;
}

}  // namespace

uint64_t seal_of(const Rule& rule, uint64_t ops_hash) { return seal_of(to_string(rule), ops_hash); }

Result<RuleFile> parse_rules(std::string_view text, const std::string& name, Admit admit) {
  RuleFile file;
  std::map<std::string, size_t> lines;  // of names
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    size_t end = text.find('\n');
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (number == 1 && line.starts_with(kMagic)) RETURN_IF_ERROR(read_header(line, name, file));
    size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos || line[indent] == '#') continue;
    auto [rule_text, seal] = without_seal(line.substr(indent));
    auto rule = parse_rule(rule_text);
    if (!rule) return located(name, number, indent, rule.error().message);
    if (auto [it, fresh] = lines.emplace(rule->name, number); !fresh)
      return at(name, number, indent + 1,
                "the name " + rule->name + " is taken by line " + std::to_string(it->second));
    if (admit != Admit::Candidates)
      if (Status s = check_claim(*rule, rule_text, seal, file.ops_hash); !s)
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
  if (!std::filesystem::is_regular_file(path, problem)) return error(path + ": no such rule file");
  if (std::filesystem::file_size(path, problem) > kMaxBytes)
    return error(path + ": larger than a rule file may be (1 GiB)");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return error(path + ": cannot be read");
  return parse_rules(text.view(), path, admit);
}

Result<RuleFile> read_candidates(const std::string& path) {
  return read_rules(path, Admit::Candidates);
}

std::string to_text(const RuleFile& file) {
  uint64_t ops = op_set_hash();
  std::string text = std::string(kMagic) + "1  ops=" + hex(ops) + "  generator=\"" +
                     file.generator + "\"  prover=\"" + file.prover + "\"\n";
  std::vector<const Rule*> sorted;
  for (const Rule& r : file.rules) sorted.push_back(&r);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->name < b->name; });
  for (const Rule* r : sorted) {
    text += to_string(*r);
    if (proved(*r)) text += "  " + std::string(kSeal) + hex(seal_of(*r, ops));
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
