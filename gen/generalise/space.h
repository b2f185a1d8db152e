#pragma once
// Integer points that satisfy conditions on sizes and attributes.
#include <optional>
#include <vector>

#include "base/rng.h"
#include "ir/algebra/formula.h"

namespace regraft::gen {

/// One value for each symbol of a space, in their order.
using Point = std::vector<int64_t>;

/// A symbol of a space. Symbols of one axis are drawn alike when extents are aligned.
struct SpaceSymbol {
  Var symbol = nullptr;
  int axis = -1;       ///< -1: a number of an attribute, not an extent
  int64_t spread = 2;  ///< how far above its least value it is drawn
};

/// How extents of different variables are drawn.
enum class Extents : uint8_t {
  Aligned,  ///< the same for the same axis
  Apart,
};

/// Extent `axis` of a tensor of that rank; the first two of many axes stay small.
SpaceSymbol extent_symbol(Var v, size_t rank, size_t axis);

/// The points that satisfy conditions. Equations that can be solved are; the rest is trial and
/// error. Immutable; draws are deterministic in the generator.
class Space {
 public:
  /// `given` defines some symbols by the others. REQUIRES: every symbol of the conditions and of
  /// `given` is in `symbols`. Throws PolyOverflow.
  Space(const std::vector<SpaceSymbol>& symbols, const Conjunction& conditions,
        const Substitution& given = {});
  std::optional<Point> draw(Rng& rng, Extents extents, int attempts) const;
  /// Which symbols a point near another one may change, besides some that do.
  enum class Others : uint8_t { Extents, All };
  /// A point near `base`, which need not satisfy the conditions: of the symbols that nothing
  /// determines those in `first` change, and `more` others.
  std::optional<Point> near(Rng& rng, const Point& base, const std::vector<int>& first, size_t more,
                            Others others) const;
  /// The point with `base`'s values where nothing determines them, except `symbol`.
  std::optional<Point> with(const Point& base, int symbol, int64_t value) const;
  /// p with what is determined, and with other values where a condition asks for them; nullopt when
  /// the conditions do not hold.
  std::optional<Point> completed(Point p) const;
  /// True when p satisfies all.
  bool contains(const Point& p) const;
  /// Symbols that nothing determines.
  const std::vector<int>& free() const { return free_; }

 private:
  /// A polynomial over positions in a point; below 0: a quotient.
  struct Flat {
    int64_t constant = 0;
    std::vector<std::pair<int64_t, std::vector<int>>> terms;
  };
  struct FlatFormula {
    Formula::Kind kind = Formula::True;
    Flat poly;
    std::vector<FlatFormula> parts;
  };
  struct Definition {
    int symbol = 0;
    Flat value;
    std::optional<Flat> divisor;  ///< the value must be a multiple
    bool bounded = true;          ///< the value must be one that the symbol may have
  };
  Conjunction solve(const Conjunction& conditions, const Substitution& given);
  void solve_by_division(const Conjunction& rest, std::vector<char>& known);
  void define(Var v, const Poly& value, bool bounded);
  Flat flat(const Poly& p);
  FlatFormula flat(const Formula& f);
  int index_of(Var v) const;
  int64_t evaluate(const Flat& p, const Point& x) const;
  bool evaluate(const FlatFormula& f, const Point& x) const;
  int64_t value_for(int symbol, Rng& rng) const;
  bool determine(Point& p) const;
  int64_t adjusted_divisor(const Definition& d, int64_t x, Point& p) const;
  std::optional<std::pair<int, int64_t>> repair(const Point& p) const;

  std::vector<SpaceSymbol> symbols_;
  std::vector<int> index_;  // by id of the symbol
  std::vector<std::pair<Flat, Flat>> quotients_;
  std::vector<Definition> definitions_;
  std::vector<FlatFormula> conditions_;
  std::vector<int> free_;
  bool empty_ = false;
};

}  // namespace regraft::gen
