#include "verify/replay/step_words.h"

#include <algorithm>
#include <map>
#include <vector>

namespace regraft::verify {
namespace {

/// {0}, {1} .. are words behind the name; {2-} those from there on; {fact} and {1:fact} a fact from
/// the first word, or from word 1, on.
const std::map<std::string_view, std::string_view> kSentences{
    {"needed", "What has to hold of sizes follows from what is given."},
    {"nowhere", "The maximum is evaluated nowhere: its conditions cannot hold together."},
    {"reached", "The maximum is of something: its indices may be {0-}."},
    {"as", "The maximum is of something where maximum {0} of the claim is: at {1-}."},
    {"indices", "The indices of the two maxima are in bijection by {0-}."},
    {"values", "The difference of the two maxima is 0:"},
    {"pin", "In term {0}, index {1} is {2}."},
    {"drop", "Term {0} is empty: its conditions cannot hold together."},
    {"refuted", "What is assumed here cannot be, so there is nothing to show."},
    {"divide", "Term {0} is divided by whether {1:fact}."},
    {"omit", "Condition {1} of term {0} follows from its others, and is left out."},
    {"alias", "In term {0}, index {1} is called {2}."},
    {"value", "In term {0}, the whole number that factor {1} is is multiplied out."},
    {"count", "Nothing in term {0} depends on index {1}: the values that it may have are counted."},
    {"size", "{0} is {1} everywhere."},
    {"inside", "Within the argument of factor {1} of term {0}:"},
    {"body", "Within term {0}, its indices {1} and what is about no others set aside:"},
    {"multiply", "All terms are multiplied by the number at {0}, which is not 0."},
    {"pair", "Terms {0} and {1} are alike along the maps {2-}, and become one."},
    {"under", "Along the range of term {0} it adds up to 0 with the terms and maps {1-}:"},
    {"cases", "First where {fact}; then where that is not so:"},
    {"by-sign", "First where the number at {0} is {1} 0; then where it is not:"},
    {"cancel", "The quotient that factor {1} of term {0} is is cancelled against {3-}:"},
    {"defined", "Partial function {0} of the claim is defined, its indices being {1-}."},
    {"whole", "The whole number {0} is {1} 0."},
    {"factor", "What is known by number {0} is not 0; so its common factor is not, nor the rest."},
    {"bounds", "The number at {0} lies within the bounds of its function."},
    {"infer", "The sign of the number at {0} follows from {1-} and the rest:"},
    {"absurd", "A contradiction follows from {0-} and the rest:"},
    {"order", "The function increases, so the numbers at {0} and {1} are ordered as {2-} say:"},
    {"total", "The sum at {0} is {1} 0, since each of its summands is:"},
    {"attain", "The maximum at {0} is its value at {1-}: it is of something."},
    {"above", "The maximum at {0} is at least its value at {1-}."},
};

const std::map<std::string_view, std::string_view> kLaws{
    {"positive", "relu(x) = x for x >= 0, step(x) = 1 for x > 0"},
    {"negative", "relu(x) = 0 and step(x) = 0 for x <= 0"},
    {"number", "its value at a number"},
    {"again", "f(x) = x for what has that form already"},
    {"part", "floor(x + n) = floor(x) + n for whole n"},
    {"times", "f(c x) by f(x) for a number c"},
    {"by-exp", "sigmoid(x) = 1/(1 + exp(-x)), tanh(x) = 1 - 2/(1 + exp(2x))"},
    {"exponents", "exp(x + y) = exp(x) exp(y)"},
    {"equal-parts", "exp(x) = exp(x/n)^n"},
    {"both", "exp(x) exp(y) = exp(x + y), sqrt(x) sqrt(x) = x for x >= 0"},
    {"undo", "log(exp(x)) = x, exp(log(x)) = x for x > 0, sqrt(x x) = x for x >= 0"},
    {"factors",
     "log(x y) = log(x) + log(y) for x, y > 0, sqrt(x y) = sqrt(x) sqrt(y) for x, y >= 0"},
    {"inverse", "1/(x y) = 1/x 1/y"},
    {"over", "sqrt(1/x) = sqrt(x) 1/x for x >= 0, log(1/x) = -log(x) for x > 0"},
    {"only", "a maximum over one place is its argument there"},
    {"increasing", "max(g(x)) = g(max(x)) for increasing g"},
    {"common", "a common factor leaves the function"},
    {"fact", "what is known to be 0 is 0"},
};

const std::map<std::string_view, int> kBlocks{
    {"inside", 1}, {"body", 1},   {"under", 1}, {"cases", 2}, {"by-sign", 2}, {"cancel", 1},
    {"infer", 1},  {"absurd", 1}, {"order", 1}, {"total", 1}, {"indices", 1}, {"values", 1}};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> all;
  for (kernel::Words words(line.substr(0, line.find('|'))); !words.empty();)
    all.emplace_back(words.next());
  return all;
}

std::string from(const std::vector<std::string>& words, size_t k) {
  std::string s;
  for (; k < words.size(); ++k) s += (s.empty() ? "" : " ") + words[k];
  return s.empty() ? "none" : s;
}

/// What a place of a sentence, the text between braces, stands for.
std::string filled(const std::string& place, const std::vector<std::string>& words,
                   const KernelNotation& notation) {
  if (place == "fact") return notation.fact(from(words, 1));
  size_t k = static_cast<size_t>(place[0] - '0') + 1;
  if (place.ends_with(":fact")) return notation.fact(from(words, k));
  if (place.ends_with("-")) return from(words, k);
  return k < words.size() ? words[k] : "-";
}

}  // namespace

std::string sentence(std::string_view line, const KernelNotation& notation) {
  std::vector<std::string> words = words_of(line);
  if (words.empty()) return "";
  if (words[0] == "law" && words.size() > 3 && kLaws.count(words[1]))
    return "In term " + words[2] + ", factor " + words[3] + ": " + std::string(kLaws.at(words[1])) +
           "." + (words.size() > 4 ? " Here: " + from(words, 4) + "." : "");
  auto it = kSentences.find(words[0]);
  if (it == kSentences.end()) return from(words, 0);
  std::string s;
  for (std::string_view rest = it->second; !rest.empty();) {
    size_t open = std::min(rest.find('{'), rest.size());
    s += rest.substr(0, open);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    size_t close = rest.find('}');
    s += filled(std::string(rest.substr(1, close - 1)), words, notation);
    rest.remove_prefix(close + 1);
  }
  return s;
}

int blocks_of(std::string_view line) {
  std::vector<std::string> words = words_of(line);
  auto it = words.empty() ? kBlocks.end() : kBlocks.find(words[0]);
  return it == kBlocks.end() ? 0 : it->second;
}

std::string certificates_of(std::string_view line) {
  std::string s;
  for (size_t bar = line.find('|'); bar != line.npos;) {
    line.remove_prefix(bar + 1);
    bar = line.find('|');
    s += (s.empty() ? "" : "; then ") + std::string(line.substr(0, bar));
  }
  return s;
}

}  // namespace regraft::verify
