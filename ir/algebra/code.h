#pragma once
// The formula of an operator as C text: one element of the output at a position.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/algebra/algebra.h"

namespace regraft {

/// A condition on indices; known when the ranges of the indices decide it.
struct CodeBool {
  std::string text;
  std::optional<bool> known;
  uint64_t on = 0;  ///< loops and axes that it depends on
  friend CodeBool operator&&(const CodeBool& a, const CodeBool& b);
};

/// An index: a number plus multiples of variables whose ranges are known.
class CodeIndex {
 public:
  struct Variable {
    std::string text;  ///< an operand of C's `*`
    int64_t low = 0, high = 0;
    uint64_t on = 0;
    /// Of a quotient and of a remainder: of what and by what; of a remainder: its quotient.
    std::shared_ptr<const CodeIndex> dividend = nullptr;
    int64_t divisor = 0;
    std::string quotient = {};
  };
  CodeIndex(int64_t n = 0) : number_(n) {}  // NOLINT: implicit by design
  CodeIndex(Variable v);                    // NOLINT: implicit by design

  bool is_number() const { return terms_.empty(); }
  int64_t number() const { return number_; }
  int64_t low() const { return bound(false); }
  int64_t high() const { return bound(true); }
  uint64_t on() const;
  std::string text() const;

  friend CodeIndex operator+(const CodeIndex& a, const CodeIndex& b);
  friend CodeIndex operator-(const CodeIndex& a, const CodeIndex& b);
  friend CodeIndex operator*(const CodeIndex& a, const CodeIndex& b);
  friend CodeBool operator<(const CodeIndex& a, const CodeIndex& b);
  friend CodeBool operator<=(const CodeIndex& a, const CodeIndex& b);
  friend CodeBool operator==(const CodeIndex& a, const CodeIndex& b);
  /// a = d * quotient + rest with as few terms in the rest as possible.
  std::pair<CodeIndex, CodeIndex> divided(int64_t d) const;

 private:
  using Term = std::pair<std::shared_ptr<const Variable>, int64_t>;
  int64_t bound(bool upper) const;
  static CodeIndex combine(const CodeIndex& a, const CodeIndex& b, int64_t factor);
  static CodeIndex simplified(CodeIndex x);
  static std::optional<CodeIndex> split(const CodeIndex& x, const Term& quotient);
  static std::optional<CodeIndex> joined(const CodeIndex& x, const Term& remainder);
  int64_t number_;
  std::vector<Term> terms_;  ///< sorted by text, factors are not 0
};
inline bool is_one(const CodeIndex& n) { return n.is_number() && n.number() == 1; }
inline int64_t fixed(const CodeIndex& n) {
  CHECK(n.is_number());
  return n.number();
}

class Code;

/// A loop that is not written yet, so that perfect nests become one loop.
struct CodeLoop {
  int64_t rounds() const;
  struct Counter {
    std::string name;
    int64_t count;
  };
  std::string total;  ///< the variable that gathers
  bool maximum = false;
  std::vector<Counter> counters;  ///< outermost first
  std::string body;               ///< ends with the update of `total`
  uint64_t on = 0;                ///< without its own counters
  int id = 0;                     ///< grows
};

/// A scalar: a number, the name of a variable of the text, or a loop to be written when used.
struct CodeScalar {
  Code* code = nullptr;
  std::optional<double> number;
  std::string name;
  std::shared_ptr<const CodeLoop> loop;
  uint64_t on = 0;
  friend CodeScalar operator+(const CodeScalar& a, const CodeScalar& b);
  friend CodeScalar operator*(const CodeScalar& a, const CodeScalar& b);
};

/// An operand of known shape.
struct CodeTensor {
  std::vector<int64_t> dims;
  std::function<CodeScalar(std::span<const CodeIndex>)> element;
  CodeIndex dim(int k) const { return dims[static_cast<size_t>(k)]; }
  int rank() const { return static_cast<int>(dims.size()); }
};

/// Writes statements in C. The text uses: `index` and `real`, the types of positions and numbers;
/// `LOWEST` and `INFINITE` of type real; floor_div; place_of(x, n), the position in 0 .. n-1 that x
/// or x + n is, else -1; real_exp, _log, _tanh, _sqrt, _erf, _sin, _cos, _floor, _trunc, _round
/// (half to even), _half, _brain and _single (rounded to such a float); block_sum and block_max,
/// reductions over the threads of a block; THREAD and THREADS.
///
/// Statements at the outermost level that depend on no axis of `element_axes` go into rows(), the
/// others into elements(). Loops in rows() are shared by the threads of a block.
class Code {
 public:
  using Index = CodeIndex;
  using Bool = CodeBool;
  using Scalar = CodeScalar;
  using Tensor = CodeTensor;

  explicit Code(uint64_t element_axes);  ///< bits of axes

  bool ok = true;  ///< false: the formula cannot be written (a requirement fails)
  std::string rows() const { return blocks_[0].text; }
  std::string elements() const { return blocks_[1].text; }
  /// Definitions of `static TABLE index name[]`, to stand before the function.
  const std::string& tables() const { return tables_; }
  /// Of the loops at the outermost level so far: what they depend on, and their rounds.
  const std::vector<std::pair<uint64_t, int64_t>>& outer_loops() const { return outer_loops_; }

  /// A variable with this value, the same one for equal texts in scope.
  CodeScalar bind(const std::string& expression, uint64_t on);
  std::string name_of(const CodeScalar& x);
  /// Looks up and stores what was computed in scope under a key.
  const CodeScalar* known(const std::string& key) const;
  void remember(const std::string& key, CodeScalar x) {
    blocks_.back().scalars[key] = std::move(x);
  }

  // The algebra.
  void require(const CodeBool& b) { ok = ok && b.known.value_or(true); }
  CodeIndex floordiv(const CodeIndex& a, const CodeIndex& b);
  CodeIndex lookup(const std::vector<CodeIndex>& table, const CodeIndex& i, const CodeIndex& bound);
  CodeScalar constant(int64_t n, int64_t d = 1);
  CodeScalar real(Real r) { return number(r.value); }
  CodeScalar recip(const CodeIndex& n);
  CodeScalar to_scalar(const CodeIndex& n);
  CodeScalar apply(Fn f, const CodeScalar& x);
  CodeScalar clip(const CodeScalar& x, Real low, Real high);
  CodeScalar larger(const CodeScalar& a, const CodeScalar& b);
  template <class T, class E>
  CodeScalar choose(const CodeScalar& c, T&& then, E&& otherwise) {
    CodeScalar a = then(), b = otherwise();
    return choice(c, a, b);
  }
  CodeScalar read(const Tensor& t, std::span<const CodeIndex> i) { return t.element(i); }
  template <class T, class E>
  CodeScalar select(const CodeBool& c, T&& then, E&& otherwise) {
    if (c.known) return *c.known ? then() : otherwise();
    std::string result = fresh("v");
    open();
    uint64_t on = c.on | assign(result, then());
    std::string yes = close();
    open();
    on |= assign(result, otherwise());
    write_branches(result, c.text, yes, close());
    return {this, std::nullopt, result, nullptr, on};
  }
  template <class F>
  CodeScalar sum(const CodeIndex& n, F&& f) {
    if (is_one(n)) return f(CodeIndex(0));
    CodeLoop loop{fresh("s"), false, {}, {}, 0, next_};
    CodeIndex k = open_loop(loop, n);
    open();
    return close_sum(std::move(loop), f(k));
  }
  template <class P, class F>
  CodeScalar max_over(std::span<const CodeIndex> extents, P&& valid, F&& body) {
    CodeLoop loop{fresh("m"), true, {}, {}, 0, next_};
    Indices<CodeIndex> k;
    for (const CodeIndex& e : extents) k.push_back(open_loop(loop, e));
    open();
    CodeBool guard = valid(std::span<const CodeIndex>(k));
    open();
    CodeScalar x = body(std::span<const CodeIndex>(k));
    return close_max(std::move(loop), guard, x);
  }

 private:
  struct Block {
    std::string text;
    std::map<std::string, std::string> names;  ///< of expressions
    std::map<std::string, CodeScalar> scalars;
  };
  CodeScalar number(double value);
  CodeScalar choice(const CodeScalar& c, const CodeScalar& a, const CodeScalar& b);
  std::string fresh(const char* prefix) { return prefix + std::to_string(next_++); }
  void open() { blocks_.emplace_back(); }
  std::string close();
  uint64_t assign(const std::string& result, const CodeScalar& x);
  void write_branches(const std::string& result, const std::string& condition,
                      const std::string& yes, const std::string& no);
  CodeIndex open_loop(CodeLoop& loop, const CodeIndex& n);
  CodeScalar close_sum(CodeLoop loop, const CodeScalar& x);
  CodeScalar close_max(CodeLoop loop, const CodeBool& guard, const CodeScalar& x);
  CodeScalar loop_result(CodeLoop loop);
  const std::string* find(const std::string& expression) const;
  CodeIndex quotient(const CodeIndex& a, int64_t d);
  Block& place(uint64_t on);  ///< where a statement belongs
  void write_loop(const CodeLoop& loop);
  void write_shared(const CodeLoop& loop);

  uint64_t element_axes_;
  int next_ = 0;
  int counters_ = 0;  ///< loops that are open
  std::vector<Block> blocks_;
  std::string tables_;
  std::vector<std::pair<uint64_t, int64_t>> outer_loops_;
};

static_assert(Algebra<Code>);

}  // namespace regraft
