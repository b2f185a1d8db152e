#include "tests/verify/kernel/changes.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace regraft::kernel {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}
std::string joined(const std::vector<std::string>& parts, char with) {
  std::string s;
  for (size_t k = 0; k < parts.size(); ++k) s += (k ? std::string(1, with) : "") + parts[k];
  return s;
}

class Attacker {
 public:
  Attacker(const std::string& derivation, const std::string& other, std::mt19937& random)
      : lines_(split(derivation, '\n')), donors_(split(other, '\n')), random_(random) {
    std::erase(lines_, "");
    std::erase(donors_, "");
  }
  std::string run(Attack kind) {
    if (lines_.empty() || donors_.empty()) return joined(donors_, '\n') + "\n";
    change(kind);
    return joined(lines_, '\n') + "\n";
  }

 private:
  size_t below(size_t n) { return random_() % std::max<size_t>(n, 1); }
  bool coin() { return below(2) == 0; }

  void change(Attack kind) {
    switch (kind) {
      case Attack::Step:
        return step();
      case Attack::Index:
        return number(Words);
      case Attack::Bijection:
        return bijection();
      case Attack::Condition:
        return condition();
      case Attack::Case:
        return block();
      case Attack::Coefficient:
        return number(Certificates);
      case Attack::Law:
        return law();
      case Attack::Foreign:
        return foreign();
    }
  }

  void step() {
    size_t k = below(lines_.size()), m = below(lines_.size());
    auto at = lines_.begin() + static_cast<std::ptrdiff_t>(k);
    size_t way = below(3);
    if (way == 0)
      lines_.erase(at);
    else if (way == 1)
      lines_.insert(at, std::string(lines_[m]));
    else
      std::swap(lines_[k], lines_[m]);
  }

  /// A line for which `fits`, by its number; none: the number of lines.
  template <class F>
  size_t line_with(F fits) {
    std::vector<size_t> all;
    for (size_t k = 0; k < lines_.size(); ++k)
      if (fits(lines_[k])) all.push_back(k);
    return all.empty() ? lines_.size() : all[below(all.size())];
  }

  enum Where : uint8_t { Words, Certificates };
  /// A digit before or behind the first bar of a line is another one, or a sign turns.
  void number(Where where) {
    auto digits = [&](const std::string& line) {
      size_t bar = std::min(line.find('|'), line.size());
      std::vector<size_t> places;
      for (size_t i = where == Words ? 0 : bar; i < (where == Words ? bar : line.size()); ++i)
        if (std::isdigit(static_cast<unsigned char>(line[i]))) places.push_back(i);
      return places;
    };
    size_t k = line_with([&](const std::string& line) { return !digits(line).empty(); });
    if (k == lines_.size()) return;
    std::vector<size_t> places = digits(lines_[k]);
    size_t at = places[below(places.size())];
    if (below(4) == 0)
      lines_[k].insert(at, "-");
    else
      lines_[k][at] = static_cast<char>('0' + (lines_[k][at] - '0' + 1 + below(8)) % 10);
  }

  void exchange(std::string& line, char at, size_t first) {
    std::vector<std::string> parts = split(line, at);
    if (parts.size() < first + 2) return;
    size_t a = first + below(parts.size() - first), b = first + below(parts.size() - first);
    std::swap(parts[a], parts[b]);
    line = joined(parts, at);
  }
  void bijection() {
    size_t k = line_with([](const std::string& line) {
      return line.starts_with("pair ") || line.starts_with("under ") ||
             line.starts_with("indices ") || line.starts_with("reached ");
    });
    if (k == lines_.size()) return step();
    size_t bar = std::min(lines_[k].find('|'), lines_[k].size());
    std::string words = lines_[k].substr(0, bar), rest = lines_[k].substr(bar);
    exchange(words, ' ', 1);
    lines_[k] = words + rest;
  }

  void condition() {
    if (coin()) return sign();
    size_t k = line_with([](const std::string& line) { return line.find('|') != line.npos; });
    if (k == lines_.size()) return sign();
    if (coin()) return exchange(lines_[k], '|', 1);
    lines_[k] = lines_[k].substr(0, lines_[k].rfind('|'));
  }
  /// "ge" for "eq", ">" for ">=", and so on.
  void sign() {
    static const std::vector<std::string> kSigns{"<", "<=", "=", ">=", ">", "<>"};
    static const std::vector<std::string> kForms{"ge", "eq", "all", "any"};
    auto changeable = [&](const std::string& w) {
      return std::count(kSigns.begin(), kSigns.end(), w) +
             std::count(kForms.begin(), kForms.end(), w);
    };
    size_t k = line_with([&](const std::string& line) {
      std::vector<std::string> words = split(line, ' ');
      return std::any_of(words.begin(), words.end(), changeable);
    });
    if (k == lines_.size()) return number(Words);
    std::vector<std::string> words = split(lines_[k], ' ');
    for (std::string& w : words)
      if (changeable(w)) {
        bool is_sign = std::count(kSigns.begin(), kSigns.end(), w) > 0;
        w = is_sign ? kSigns[below(kSigns.size())] : kForms[below(2)];
        break;
      }
    lines_[k] = joined(words, ' ');
  }

  /// The lines from one on up to the next `end`, with or without it.
  void block() {
    size_t from = below(lines_.size()), to = from;
    while (to < lines_.size() && lines_[to] != "end") ++to;
    to += coin() && to < lines_.size() ? 1 : 0;
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(from),
                 lines_.begin() + static_cast<std::ptrdiff_t>(to));
  }

  void law() {
    static const std::vector<std::string> kLaws{
        "positive",    "negative", "number", "again",   "part",    "times",  "by-exp", "exponents",
        "equal-parts", "both",     "undo",   "factors", "inverse", "common", "over",   "only"};
    static const std::vector<std::string> kSteps{
        "pin",   "drop", "refuted",  "divide", "imply", "omit",   "inside", "body",
        "under", "pair", "multiply", "cases",  "infer", "absurd", "total",  "above"};
    size_t k = line_with([](const std::string& line) { return line.starts_with("law "); });
    bool is_law = k < lines_.size() && coin();
    if (!is_law) k = below(lines_.size());
    std::vector<std::string> words = split(lines_[k], ' ');
    words[is_law ? 1 : 0] = is_law ? kLaws[below(kLaws.size())] : kSteps[below(kSteps.size())];
    lines_[k] = joined(words, ' ');
  }

  void foreign() {
    size_t way = below(3);
    if (way == 0) {
      lines_ = donors_;
      return;
    }
    const std::string& line = donors_[below(donors_.size())];
    if (way == 1)
      lines_[below(lines_.size())] = line;
    else
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(below(lines_.size())), line);
  }

  std::vector<std::string> lines_, donors_;
  std::mt19937& random_;
};

}  // namespace

std::string attacked(const std::string& derivation, const std::string& other, Attack kind,
                     std::mt19937& random) {
  return Attacker(derivation, other, random).run(kind);
}

}  // namespace regraft::kernel
