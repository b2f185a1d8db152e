#include "ir/algebra/scan.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace regraft::text {
namespace {

constexpr int kMaxDepth = 200;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class PolyReader {
 public:
  PolyReader(Scanner& in, SymbolPool& pool, const SymbolMaker& symbol)
      : in_(in), pool_(pool), symbol_(symbol) {}

  Result<Poly> sum(int depth) {
    if (depth > kMaxDepth) return in_.error_here("nested too deep");
    Poly total;
    for (bool first = true;; first = false) {
      size_t start = in_.position();
      bool negative = in_.eat("-");
      if (!negative && !in_.eat("+") && !first) return total;
      if (negative && is_digit(in_.peek())) {  // so that the least integer can be read
        in_.rewind(start);
        negative = false;
      }
      ASSIGN_OR_RETURN(Poly term, product(depth));
      total = negative ? total - term : total + term;
    }
  }

 private:
  Result<Poly> product(int depth) {
    ASSIGN_OR_RETURN(Poly r, factor(depth));
    while (in_.eat("*")) {
      ASSIGN_OR_RETURN(Poly next, factor(depth));
      r = r * next;
    }
    return r;
  }

  Result<Poly> factor(int depth) {
    size_t start = in_.position();
    if (is_digit(in_.peek()) || in_.peek() == '-') {
      ASSIGN_OR_RETURN(int64_t n, in_.integer());
      return Poly(n);
    }
    if (in_.eat("floor(")) return quotient(depth);
    ASSIGN_OR_RETURN(std::string name, symbol_name());
    ASSIGN_OR_RETURN(Var v, symbol_(name, start));
    return Poly::symbol(v);
  }

  Result<Poly> quotient(int depth) {
    ASSIGN_OR_RETURN(Poly n, sum(depth + 1));
    if (!in_.eat("/")) return in_.error_here("expected '/'");
    size_t start = in_.position();
    ASSIGN_OR_RETURN(Poly d, sum(depth + 1));
    if (d.is_constant() && d.constant() < 1)
      return Scanner::error_at(start, "the divisor must be positive");
    if (!in_.eat(")")) return in_.error_here("expected ')'");
    return pool_.floordiv(n, d);
  }

  Result<std::string> symbol_name() {
    if (in_.peek() == '"') return in_.quoted_text();
    size_t start = in_.position();
    std::string name = in_.eat("?") ? "?" : "";
    name += in_.identifier();
    if (name.empty() || name == "?")
      return Scanner::error_at(start, "expected a number or a variable");
    if (name[0] == '?' || !in_.eat(".")) return name;
    if (in_.eat("?")) return name + ".?" + std::string(in_.identifier());
    name += in_.eat("-") ? ".-" : ".";
    std::string_view digits = in_.word();
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit))
      return Scanner::error_at(start, "expected an axis after '.'");
    return name + std::string(digits);
  }

  Scanner& in_;
  SymbolPool& pool_;
  const SymbolMaker& symbol_;
};

}  // namespace

void Scanner::skip_space() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

bool Scanner::at_end() {
  skip_space();
  return at_ == line_.size();
}

bool Scanner::eat(std::string_view token) {
  if (!line_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}

std::string_view Scanner::word(std::string_view extra) {
  size_t start = at_;
  while (is_letter(peek()) || is_digit(peek()) ||
         (peek() != '\0' && extra.find(peek()) != std::string_view::npos))
    ++at_;
  return line_.substr(start, at_ - start);
}

std::string_view Scanner::identifier() { return is_letter(peek()) ? word() : std::string_view{}; }

Result<int64_t> Scanner::integer() {
  int64_t n = 0;
  const char *first = line_.data() + at_, *last = line_.data() + line_.size();
  auto [end, failure] = std::from_chars(first, last, n);
  if (failure == std::errc::result_out_of_range) return error_here("the number is too large");
  if (failure != std::errc{}) return error_here("expected a number");
  at_ += static_cast<size_t>(end - first);
  return n;
}

Result<double> Scanner::real() {
  double x = 0;
  const char *first = line_.data() + at_, *last = line_.data() + line_.size();
  auto [end, failure] = std::from_chars(first, last, x);
  if (failure == std::errc::result_out_of_range) return error_here("the number is out of range");
  if (failure != std::errc{}) return error_here("expected a real number");
  at_ += static_cast<size_t>(end - first);
  return x;
}

Result<std::string> Scanner::quoted_text() {
  if (!eat("\"")) return error_here("expected '\"'");
  std::string s;
  for (; at_ < line_.size() && line_[at_] != '"'; ++at_) {
    if (line_[at_] != '\\') {
      s += line_[at_];
      continue;
    }
    if (++at_ == line_.size()) break;
    char c = line_[at_];
    s += c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  if (!eat("\"")) return error_here("the text is not closed by '\"'");
  return s;
}

Error Scanner::error_at(size_t position, std::string_view message) {
  return error("column " + std::to_string(position + 1) + ": " + std::string(message));
}

std::string quoted(std::string_view s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    if (c == '\n')
      r += "\\n";
    else if (c == '\r')
      r += "\\r";
    else
      r += c;
  }
  return r + '"';
}

std::string print(double x) {
  std::array<char, 40> buffer;
  auto [end, failure] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x);
  CHECK(failure == std::errc{});
  return std::string(buffer.data(), end);
}

std::string symbol_text(Var v) {
  Scanner in(v->name);
  in.eat("?");
  bool plain = !in.identifier().empty();
  if (plain && v->name[0] != '?' && in.eat(".")) {
    in.eat("-");
    plain = is_digit(in.peek()) && in.integer();
  }
  return plain && in.at_end() ? v->name : quoted(v->name);
}

std::string print(const Poly& p, const SymbolName& name) {
  std::vector<std::pair<std::vector<std::string>, int64_t>> terms;
  for (const auto& [monomial, coefficient] : p.terms()) {
    std::vector<std::string> factors;
    for (Var v : monomial) {
      if (v->numerator)
        factors.push_back((v->kind == SymbolKind::Lookup ? "table(" : "floor(") +
                          print(*v->numerator, name) + "/" + print(*v->denominator, name) + ")");
      else
        factors.push_back(name(v));
    }
    std::sort(factors.begin(), factors.end());
    terms.push_back({std::move(factors), coefficient});
  }
  std::sort(terms.begin(), terms.end());
  std::string s;
  for (const auto& [factors, coefficient] : terms) {
    if (coefficient >= 0 && !s.empty()) s += '+';
    std::string scale = coefficient == 1    ? ""
                        : coefficient == -1 ? "-"
                                            : std::to_string(coefficient) + "*";
    s += scale;
    for (size_t k = 0; k < factors.size(); ++k) s += (k ? "*" : "") + factors[k];
  }
  if (p.constant() >= 0 && !s.empty() && p.constant() != 0) s += '+';
  if (p.constant() != 0 || s.empty()) s += std::to_string(p.constant());
  return s;
}

std::string print(const std::vector<Poly>& list, const SymbolName& name) {
  std::string s;
  for (size_t k = 0; k < list.size(); ++k) s += (k ? "," : "") + print(list[k], name);
  return s;
}

Result<Poly> read_poly(Scanner& in, SymbolPool& pool, const SymbolMaker& symbol) {
  size_t start = in.position();
  try {
    return PolyReader(in, pool, symbol).sum(0);
  } catch (const PolyOverflow&) {
    return Scanner::error_at(start, "the numbers are too large");
  }
}

Result<std::vector<Poly>> read_polys(Scanner& in, SymbolPool& pool, const SymbolMaker& symbol) {
  std::vector<Poly> list;
  do {
    ASSIGN_OR_RETURN(Poly p, read_poly(in, pool, symbol));
    list.push_back(std::move(p));
  } while (in.eat(","));
  return list;
}

}  // namespace regraft::text
