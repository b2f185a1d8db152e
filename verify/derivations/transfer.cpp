#include "verify/derivations/transfer.h"

#include <algorithm>
#include <utility>

#include "verify/kernel/certificate.h"
#include "verify/kernel/derivation.h"

namespace regraft::verify {
namespace {

using kernel::Fact;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// The same text with other names.
std::string renamed(std::string_view text, const Renaming& names) {
  std::string s;
  while (!text.empty()) {
    size_t n = 0;
    while (n < text.size() && in_name(text[n])) ++n;
    auto it = names.find(text.substr(0, n));
    s += it == names.end() ? std::string(text.substr(0, n)) : it->second;
    for (text.remove_prefix(n); !text.empty() && !in_name(text[0]); text.remove_prefix(1))
      s += text[0];
  }
  return s;
}

/// The facts of a claim about an output as certificates number them, from 1 on.
std::vector<Fact> numbered(const std::vector<Fact>& given) {
  std::vector<Fact> all;
  for (const Fact& f : given) append(all, f);
  return all;
}

/// What certificates of one claim say, with the names and the numbers that facts have in another.
class Certificate {
 public:
  Certificate(const Renaming& names, const kernel::Symbols& from, const std::vector<Fact>& a,
              kernel::Symbols& to, const std::vector<Fact>& b)
      : names_(names) {
    const std::vector<Fact> theirs = numbered(a), ours = numbered(b);
    given_.push_back(0);
    for (const Fact& f : theirs) {
      const std::string text = renamed(kernel::text(from, f), names);
      kernel::Words words(text);
      size_t n = 0;
      try {
        const Fact wanted = kernel::read_fact(to, words);
        n = static_cast<size_t>(std::find(ours.begin(), ours.end(), wanted) - ours.begin()) + 1;
      } catch (const kernel::Refused&) {  // it mentions what is not there
      }
      given_.push_back(n > ours.size() ? 0 : n);
    }
    shift_ = static_cast<int64_t>(ours.size()) - static_cast<int64_t>(theirs.size());
  }

  std::string of(std::string_view certificate) const {
    std::string s;
    while (!certificate.empty()) {
      size_t end = std::min(certificate.find(';'), certificate.size());
      s += step(certificate.substr(0, end));
      if (end < certificate.size()) s += ";";
      certificate.remove_prefix(std::min(end + 1, certificate.size()));
    }
    return s;
  }

 private:
  /// What the words of a step are: n a fact, p a polynomial, l a number, s a summand.
  static std::string_view kinds_of(std::string_view step) {
    static const std::map<std::string_view, std::string_view> kKinds{
        {"lin", "s"},     {"times", "np"},    {"both", "nn"},   {"least", "p"},  {"quotient", "pn"},
        {"lookup", "pn"}, {"entry", "plnnn"}, {"same", "ppnn"}, {"either", "p"}, {"cases", "n"}};
    auto it = kKinds.find(step);
    return it == kKinds.end() ? "l" : it->second;
  }
  std::string step(std::string_view text) const {
    kernel::Words words(text);
    if (words.empty()) return {};
    std::string s(words.next());
    const std::string_view kinds = kinds_of(s);
    for (size_t k = 0; !words.empty(); ++k) {
      std::string_view word = words.next();
      s += " ";
      switch (kinds[std::min(k, kinds.size() - 1)]) {
        case 'n':
          s += fact(word);
          break;
        case 'p':
          s += renamed(word, names_);
          break;
        case 's':
          s += summand(word);
          break;
        default:
          s += word;
      }
    }
    return s;
  }
  /// "/K", "I", "C:I*J".
  std::string summand(std::string_view word) const {
    if (word.starts_with('/')) return std::string(word);
    size_t colon = word.find(':');
    std::string s;
    if (colon != word.npos) s = word.substr(0, colon + 1);
    word.remove_prefix(colon == word.npos ? 0 : colon + 1);
    while (!word.empty()) {
      size_t end = std::min(word.find('*'), word.size());
      s += fact(word.substr(0, end));
      if (end < word.size()) s += "*";
      word.remove_prefix(std::min(end + 1, word.size()));
    }
    return s;
  }
  std::string fact(std::string_view word) const {
    int64_t n = kernel::read_integer(word);
    if (n >= 0 && n < static_cast<int64_t>(given_.size()))
      return std::to_string(given_[static_cast<size_t>(n)]);
    return std::to_string(n + shift_);
  }

  const Renaming& names_;
  std::vector<size_t> given_;  ///< numbers of what is given; 0: it is not there
  int64_t shift_ = 0;          ///< of the others
};

/// A derivation's own certificates where they fit, and else others; writes down which.
class Refitted : public kernel::Certificates {
 public:
  explicit Refitted(Questions& questions) : questions_(questions) {}

  std::string find(const char* line, std::optional<std::string_view> own,
                   const std::vector<Fact>& facts) override {
    std::string one;
    if (own && fits(*own, facts)) {
      one = *own;
    } else {
      auto found = questions_.refuted(facts);
      if (!found) throw kernel::Refused{"no certificate was found"};
      one = *std::move(found);
    }
    taken_[line].push_back(one);
    return one;
  }
  /// The text with what was taken.
  std::string written(std::string_view text) const {
    std::string s;
    for (kernel::Lines lines(text); !lines.empty();) {
      std::string_view line = lines.next();
      s += line.substr(0, line.find('|'));
      if (auto it = taken_.find(line.data()); it != taken_.end())
        for (const std::string& c : it->second) s += "|" + c;
      s += "\n";
    }
    return s;
  }

 private:
  bool fits(std::string_view certificate, const std::vector<Fact>& facts) {
    try {
      kernel::check_unsatisfiable(questions_.symbols(), facts, certificate);
      return true;
    } catch (const kernel::Refused&) {
      return false;
    }
  }
  Questions& questions_;
  std::map<const char*, std::vector<std::string>> taken_;
};

std::string transferred_line(std::string_view line, const Renaming& names,
                             const Certificate& certificate) {
  size_t bar = std::min(line.find('|'), line.size());
  std::string s = renamed(line.substr(0, bar), names);
  while (bar < line.size()) {
    line.remove_prefix(bar + 1);
    bar = std::min(line.find('|'), line.size());
    s += "|" + certificate.of(line.substr(0, bar));
  }
  return s + "\n";
}

/// The lines about each output, without those that say what is needed of sizes.
std::vector<std::vector<std::string_view>> bodies_of(std::string_view derivation) {
  std::vector<std::vector<std::string_view>> bodies(1);
  bool between = false;
  for (kernel::Lines lines(derivation); !lines.empty();) {
    std::string_view line = lines.next();
    std::string_view name = kernel::Line(line).word();
    if (name == "needed" || name == "size") {
      between = !bodies.back().empty();
      continue;
    }
    if (std::exchange(between, false)) bodies.emplace_back();
    bodies.back().push_back(line);
  }
  return bodies;
}

/// The derivation in the words of the other claim.
std::string translated(const Shown& shown, const kernel::Claim& claim,
                       const std::vector<std::string>& sizes, kernel::Symbols& symbols) {
  const Renaming names = names_of(*shown.symbols, *shown.claim, symbols, claim);
  const auto bodies = bodies_of(shown.derivation);
  if (bodies.size() != claim.outputs.size()) return {};
  std::string text = claim.needed.empty() ? "" : "needed\n";
  for (size_t k = 0; k < bodies.size(); ++k) {
    const kernel::OutputClaim &from = shown.claim->outputs[k], &to = claim.outputs[k];
    const Certificate certificate(names, *shown.symbols, from.given, symbols, to.given);
    text += (to.needed.empty() ? "" : "needed\n") + sizes[k];
    for (std::string_view line : bodies[k]) text += transferred_line(line, names, certificate);
  }
  return text;
}

}  // namespace

std::vector<std::string> pieces_of(const kernel::Symbols& symbols, const kernel::Claim& claim) {
  std::vector<std::string> all;
  for (const kernel::OutputClaim& o : claim.outputs) {
    for (const Fact& f : o.given) all.push_back(kernel::text(symbols, f));
    for (const auto* side : {&o.left, &o.right})
      for (const kernel::Product& p : side->sum.products) all.push_back(kernel::text(symbols, p));
  }
  return all;
}

size_t strangers(const Shown& shown, const kernel::Symbols& symbols, const kernel::Claim& claim,
                 const std::vector<std::string>& pieces) {
  const Renaming names = names_of(*shown.symbols, *shown.claim, symbols, claim);
  return static_cast<size_t>(std::ranges::count_if(shown.pieces, [&](const std::string& piece) {
    return std::ranges::find(pieces, renamed(piece, names)) == pieces.end();
  }));
}

std::optional<std::string> transferred(const Shown& shown, const kernel::Claim& claim,
                                       const std::vector<std::string>& sizes,
                                       Questions& questions) {
  Refitted certificates(questions);
  try {
    const std::string text = translated(shown, claim, sizes, questions.symbols());
    check(questions.symbols(), claim, text, &certificates);
    return certificates.written(text);
  } catch (const kernel::Refused&) {
    return std::nullopt;
  }
}

}  // namespace regraft::verify
