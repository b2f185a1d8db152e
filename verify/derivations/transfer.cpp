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

/// What certificates of one claim say, with the names and the numbers that facts have in another.
class Certificate {
 public:
  using Texts = std::vector<std::string>;
  /// Of the same facts as texts.
  Certificate(const Renaming& names, const Texts& theirs, const std::vector<Fact>& ours,
              const Texts& our_texts, kernel::Symbols& symbols)
      : names_(names) {
    given_.push_back(0);
    kernel::List<Fact> parts;
    for (const std::string& their : theirs) {
      const std::string text = renamed(their, names);
      auto n = static_cast<size_t>(std::ranges::find(our_texts, text) - our_texts.begin());
      if (n == our_texts.size()) {  // its terms may stand in another order
        if (parts.empty())
          for (const Fact& f : ours) append(parts, f);
        n = place_of(text, parts, symbols);
      }
      given_.push_back(n < our_texts.size() ? n + 1 : 0);
    }
    shift_ = static_cast<int64_t>(our_texts.size()) - static_cast<int64_t>(theirs.size());
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
  static size_t place_of(const std::string& text, const std::vector<Fact>& ours,
                         kernel::Symbols& symbols) {
    kernel::Words words(text);
    try {
      const Fact wanted = kernel::read_fact(symbols, words);
      return static_cast<size_t>(std::ranges::find(ours, wanted) - ours.begin());
    } catch (const kernel::Refused&) {  // it mentions what is not there
      return ours.size();
    }
  }
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

bool fits(kernel::Symbols& symbols, std::string_view certificate, const std::vector<Fact>& facts) {
  try {
    kernel::check_unsatisfiable(symbols, facts, certificate);
    return true;
  } catch (const kernel::Refused&) {
    return false;
  }
}

/// A derivation's own certificates where they fit, and else others; writes down which.
class Refitted : public kernel::Certificates {
 public:
  explicit Refitted(Questions& questions) : questions_(questions) {}

  std::string find(const char* line, std::optional<std::string_view> own,
                   const std::vector<Fact>& facts) override {
    std::string one;
    if (own && fits(questions_.symbols(), *own, facts)) {
      one = *own;
    } else {
      auto found = questions_.readily_refuted(facts);
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

/// The lines of a derivation about one output.
struct Section {
  std::string_view needed;  ///< empty: there is no such line
  std::vector<std::string_view> sizes, body;
};
struct Sections {
  std::string_view needed;
  std::vector<Section> outputs;
};
/// What is needed of sizes begins an output's lines, and then which sizes are equal.
Sections sections_of(std::string_view derivation, const kernel::Claim& claim) {
  Sections all;
  kernel::Lines lines(derivation);
  if (!claim.needed.empty() && !lines.empty()) all.needed = lines.next();
  while (!lines.empty()) {
    std::string_view line = lines.next();
    std::string_view name = kernel::Line(line).word();
    const bool begins = name == "needed" || name == "size";
    if (all.outputs.empty() || (begins && !all.outputs.back().body.empty()))
      all.outputs.emplace_back();
    Section& s = all.outputs.back();
    if (name == "needed")
      s.needed = line;
    else
      (name == "size" ? s.sizes : s.body).push_back(line);
  }
  return all;
}

/// The line that says what is needed of sizes: certificates by the facts that they show; what has
/// none is shown anew.
class NeededLine {
 public:
  NeededLine(const Renaming& names, const kernel::Symbols& from, const Certificate& certificate)
      : names_(names), from_(from), certificate_(certificate) {}

  /// Each fact that is needed there has a certificate here.
  bool covers(const std::vector<Fact>& given, const std::vector<Fact>& needed,
              const std::vector<Fact>& to_given, const std::vector<Fact>& to_needed,
              const kernel::Symbols& to) const {
    const std::vector<std::string> shown = certified(given, needed);
    return std::ranges::all_of(to_needed, [&](const Fact& f) {
      return kernel::plain(to_given, f) ||
             std::ranges::find(shown, kernel::text(to, f)) != shown.end();
    });
  }
  std::string of(const std::vector<Fact>& given, const std::vector<Fact>& needed,
                 std::string_view line, const std::vector<Fact>& to_given,
                 const std::vector<Fact>& to_needed, Questions& questions) const {
    std::map<std::string, std::string> shown;
    for (const std::string& fact : certified(given, needed)) {
      line.remove_prefix(std::min(line.find('|'), line.size()));
      if (line.empty()) break;
      line.remove_prefix(1);
      shown.emplace(fact, certificate_.of(line.substr(0, line.find('|'))));
    }
    std::string text = "needed";
    for (const Fact& f : to_needed) {
      if (kernel::plain(to_given, f)) continue;
      auto it = shown.find(kernel::text(questions.symbols(), f));
      std::vector<Fact> all = to_given;
      all.push_back(negated(f));
      text += "|" + (it == shown.end() ? questions.readily_refuted(all).value_or("") : it->second);
    }
    return text + "\n";
  }

 private:
  /// The facts that have a certificate in the line, in its order, in the other claim's words.
  std::vector<std::string> certified(const std::vector<Fact>& given,
                                     const std::vector<Fact>& needed) const {
    std::vector<std::string> all;
    for (const Fact& f : needed)
      if (!kernel::plain(given, f)) all.push_back(renamed(kernel::text(from_, f), names_));
    return all;
  }
  const Renaming& names_;
  const kernel::Symbols& from_;
  const Certificate& certificate_;
};

/// The lines that say which sizes of one output are equal.
class SizeLines {
 public:
  SizeLines(const kernel::List<Fact>& given, Questions& questions)
      : given_(given), questions_(questions) {}

  /// The same as this line in other words, if it holds.
  void add(std::string_view line, const Renaming& names, const Certificate& certificate) {
    const size_t bar = std::min(line.find('|'), line.size());
    const std::string words = renamed(line.substr(0, bar), names);
    std::string own;
    if (bar < line.size()) own = certificate.of(line.substr(bar + 1));
    try {
      kernel::Line said(words);
      said.word();
      const kernel::Poly symbol = questions_.symbols().read(said.word());
      add(symbol, questions_.symbols().read(said.word()), own);
    } catch (const kernel::Refused&) {  // it mentions what is not there
    }
  }
  /// Positions that the facts say to be 0.
  void add_positions() {
    for (const Fact& f : given_)
      for (const auto& [m, c] : f.poly.terms())
        if (m.size() == 1 && c == 1 && questions_.symbols()[m[0]].kind == kernel::Kind::Attribute)
          if (const kernel::Poly s = kernel::Poly::symbol(m[0]);
              questions_.as_said(given_, kernel::zero(s)))
            add(s, kernel::Poly(0), "");
  }
  const std::string& text() const { return text_; }

 private:
  void add(const kernel::Poly& symbol, const kernel::Poly& value, const std::string& own) {
    if (!symbol_of(symbol) || symbol == value) return;
    const Fact equal = kernel::zero(symbol - value);
    std::optional<std::string> certificate = "";
    kernel::Symbols& symbols = questions_.symbols();
    if (!kernel::plain(given_, equal)) {
      certificate = questions_.as_said(given_, equal);
      kernel::List<Fact> all = given_;
      all.push_back(negated(equal));
      if (!certificate)
        certificate = fits(symbols, own, all) ? own : questions_.readily_refuted(all);
    }
    if (!certificate) return;
    text_ += "size " + symbols.text(symbol) + " " + symbols.text(value) +
             (certificate->empty() ? "" : "|" + *certificate) + "\n";
  }

  const kernel::List<Fact>& given_;
  Questions& questions_;
  std::string text_;
};

}  // namespace

struct Rewording::Parts {
  Parts(const Shown& shown, const kernel::Claim& claim, const ClaimTexts& texts,
        kernel::Symbols& symbols)
      : names(names_of(*shown.symbols, *shown.claim, symbols, claim)),
        sections(sections_of(shown.derivation, *shown.claim)),
        needed(names, shown.texts->given[0], claim.given, texts.given[0], symbols) {
    for (size_t k = 0; k < std::min(sections.outputs.size(), claim.outputs.size()); ++k)
      outputs.emplace_back(names, shown.texts->given[k + 1], claim.outputs[k].given,
                           texts.given[k + 1], symbols);
  }
  const Renaming names;
  const Sections sections;
  const Certificate needed;
  std::vector<Certificate> outputs;
};

Rewording::Rewording(const Shown& shown, const kernel::Claim& claim, const ClaimTexts& texts,
                     Questions& questions)
    : shown_(shown),
      claim_(claim),
      texts_(texts),
      questions_(questions),
      parts_(std::make_unique<Parts>(shown, claim, texts, questions.symbols())) {}
Rewording::~Rewording() = default;

bool Rewording::covers() const {
  auto covered = [&](const auto& from, const auto& to) {
    return to.needed.empty() ||
           NeededLine(parts_->names, *shown_.symbols, parts_->needed)
               .covers(from.given, from.needed, to.given, to.needed, questions_.symbols());
  };
  const auto &theirs = shown_.claim->outputs, &ours = claim_.outputs;
  if (theirs.size() != ours.size() || !covered(*shown_.claim, claim_)) return false;
  for (size_t k = 0; k < ours.size(); ++k)
    if (!covered(theirs[k], ours[k])) return false;
  return true;
}

size_t Rewording::strangers() const {
  const std::vector<std::string>& ours = texts_.pieces;
  return static_cast<size_t>(std::ranges::count_if(shown_.texts->pieces, [&](const auto& piece) {
    return std::ranges::find(ours, renamed(piece, parts_->names)) == ours.end();
  }));
}

const std::vector<std::string>& Rewording::sizes() {
  if (sizes_) return *sizes_;
  sizes_.emplace();
  for (size_t k = 0; k < parts_->outputs.size(); ++k) {
    SizeLines lines(claim_.outputs[k].given, questions_);
    for (std::string_view line : parts_->sections.outputs[k].sizes)
      lines.add(line, parts_->names, parts_->outputs[k]);
    lines.add_positions();
    sizes_->push_back(lines.text());
  }
  sizes_->resize(claim_.outputs.size());
  return *sizes_;
}

/// Empty: it has other parts.
std::string Rewording::text() {
  const Sections& all = parts_->sections;
  if (all.outputs.size() != claim_.outputs.size()) return {};
  std::string text;
  auto needed = [&](const auto& from, const auto& to, std::string_view line, const Certificate& c) {
    if (!to.needed.empty())
      text += NeededLine(parts_->names, *shown_.symbols, c)
                  .of(from.given, from.needed, line, to.given, to.needed, questions_);
  };
  needed(*shown_.claim, claim_, all.needed, parts_->needed);
  for (size_t k = 0; k < all.outputs.size(); ++k) {
    needed(shown_.claim->outputs[k], claim_.outputs[k], all.outputs[k].needed, parts_->outputs[k]);
    text += sizes()[k];
    for (std::string_view line : all.outputs[k].body)
      text += transferred_line(line, parts_->names, parts_->outputs[k]);
  }
  return text;
}

std::optional<std::string> Rewording::translated() {
  try {
    std::string all = text();
    return all.empty() ? std::nullopt : std::optional(std::move(all));
  } catch (const kernel::Refused&) {
    return std::nullopt;
  }
}

std::optional<std::string> Rewording::transferred() {
  Refitted certificates(questions_);
  try {
    const std::string all = text();
    check(questions_.symbols(), claim_, all, &certificates);
    return certificates.written(all);
  } catch (const kernel::Refused&) {
    return std::nullopt;
  }
}

}  // namespace regraft::verify
