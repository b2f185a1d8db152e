#include "verify/replay/derivation_file.h"

#include <algorithm>
#include <charconv>

#include "base/files/gzip.h"
#include "base/files/input_file.h"
#include "ir/rule/text.h"
#include "verify/replay/proofs.h"

namespace regraft::verify {
namespace {

constexpr std::string_view kHeader = "# regraft derivations, format 1";
constexpr std::string_view kNone = "none ";

/// Lines with their numbers.
class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}
  bool at_end() const { return rest_.empty(); }
  size_t number() const { return number_; }
  std::string_view line() {
    std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
    ++number_;
    return line;
  }
  /// So many lines, each with its end; nullopt: there are fewer.
  std::optional<std::string> lines(size_t count) {
    const char* from = rest_.data();
    for (; count > 0; --count) {
      if (rest_.empty()) return std::nullopt;
      line();
    }
    std::string lines(from, rest_.data());
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    return lines;
  }
  /// At the line that was read last.
  Error at(const std::string& why) const {
    return error(name_ + ":" + std::to_string(number_) + ": " + why);
  }

 private:
  std::string_view rest_;
  const std::string& name_;
  size_t number_ = 0;
};

/// "KEYWORD WORD REST": what is behind the keyword.
struct Entry {
  std::string_view word, rest;
};
std::optional<Entry> entry(std::string_view line, std::string_view keyword) {
  if (!line.starts_with(keyword)) return std::nullopt;
  line.remove_prefix(keyword.size());
  size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  return Entry{line.substr(0, space), line.substr(space + 1)};
}

std::optional<size_t> count_in(std::string_view word) {
  size_t n = 0;
  auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (failed != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return n;
}

Result<RuleDerivations> read_rule(const Entry& e, Reader& reader) {
  auto rule = parse_rule(e.rest);
  if (!rule) return reader.at(rule.error().message);
  if (Status valid = validate(*rule); !valid) return reader.at(valid.error().message);
  RuleDerivations r{*std::move(rule), {}, {}, {}, reader.number()};
  r.digest = content_digest(r.rule);
  if (r.digest != e.word)
    return reader.at("rule " + r.rule.name + ": its digest is " + r.digest +
                     ", not this: that of another rule, or of operators that mean another thing; "
                     "`regraft verify --derivations` makes the file anew");
  return r;
}

/// "proof N NAME", and then N lines.
Status read_proof(const Entry& e, Reader& reader, RuleDerivations& rule) {
  std::string name(e.rest);
  auto count = count_in(e.word);
  if (!count) return reader.at("a number of lines was expected");
  auto text = reader.lines(*count);
  if (!text) return reader.at("the file ends within a derivation");
  if (rule.none.count(name) > 0 || !rule.by_name.emplace(name, *std::move(text)).second)
    return reader.at("a second line of proof " + name);
  return {};
}

/// "same N NAME": as the proof of that number.
Status read_same(const Entry& e, const Reader& reader, const std::vector<std::string>& texts,
                 RuleDerivations& rule) {
  auto k = count_in(e.word);
  if (!k || *k >= texts.size()) return reader.at("there is no such derivation before");
  std::string name(e.rest);
  if (rule.none.count(name) > 0 || !rule.by_name.emplace(name, texts[*k]).second)
    return reader.at("a second line of proof " + name);
  return {};
}

}  // namespace

std::string to_text(const std::vector<RuleDerivations>& rules) {
  std::string text = std::string(kHeader) + "\n";
  for (const RuleDerivations& r : rules) {
    text += "rule " + r.digest + " " + to_string(r.rule) + "\n";
    std::map<std::string_view, size_t> written;
    for (const auto& [name, derivation] : r.by_name) {
      auto [it, fresh] = written.try_emplace(derivation, written.size());
      auto lines = std::count(derivation.begin(), derivation.end(), '\n');
      text += (fresh ? "proof " + std::to_string(lines) : "same " + std::to_string(it->second)) +
              " " + name + "\n";
      if (fresh) text += derivation;
    }
    for (const std::string& name : r.none) text += std::string(kNone) + name + "\n";
  }
  return text;
}

Result<std::vector<RuleDerivations>> parse_derivations(std::string_view text,
                                                       const std::string& name) {
  Reader reader(text, name);
  std::vector<RuleDerivations> rules;
  std::map<std::string, size_t> seen;
  std::vector<std::string> texts;  // of this rule, each once
  if (reader.line() != kHeader)
    return reader.at("no file of derivations of this version; the first line has to be \"" +
                     std::string(kHeader) + "\"");
  while (!reader.at_end()) {
    std::string_view line = reader.line();
    if (auto e = entry(line, "rule ")) {
      ASSIGN_OR_RETURN(RuleDerivations r, read_rule(*e, reader));
      if (auto [it, fresh] = seen.emplace(r.digest, r.line); !fresh)
        return reader.at("the rule stands in line " + std::to_string(it->second) + " as well");
      rules.push_back(std::move(r));
      texts.clear();
    } else if (rules.empty()) {
      return reader.at("a rule was expected");
    } else if (auto proof = entry(line, "proof ")) {
      RETURN_IF_ERROR(read_proof(*proof, reader, rules.back()));
      texts.push_back(rules.back().by_name.at(std::string(proof->rest)));
    } else if (auto same = entry(line, "same ")) {
      RETURN_IF_ERROR(read_same(*same, reader, texts, rules.back()));
    } else if (line.starts_with(kNone)) {
      std::string searched(line.substr(kNone.size()));
      if (rules.back().by_name.count(searched) > 0 || !rules.back().none.insert(searched).second)
        return reader.at("a second line of proof " + searched);
    } else {
      return reader.at("a rule or a proof was expected");
    }
  }
  return rules;
}

Result<std::vector<RuleDerivations>> read_derivations(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  ASSIGN_OR_RETURN(std::string text, read_file(path, kMostBytes));
  if (is_gzip(text)) {
    auto unpacked = from_gzip(text, kMostBytes);
    if (!unpacked) return error(path + ": " + unpacked.error().message);
    text = *std::move(unpacked);
  }
  return parse_derivations(text, path);
}

}  // namespace regraft::verify
