#pragma once
// Fourier-Motzkin elimination over sparse rows, with what integers allow besides.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace regraft::verify {

enum class Decision : uint8_t {
  Refuted,      ///< no integers satisfy the facts
  Satisfiable,  ///< some do, where each product of symbols is an integer of its own
  Open,         ///< too many inequalities or cases, or numbers that elimination rounds
};

/// The sum of the unknowns of the columns times numbers, plus k, is not negative or, if strict,
/// positive.
struct Inequality {
  struct Term {
    uint32_t column;
    int64_t times;
  };
  std::vector<Term> c;  ///< in any order; what is said of one column adds up
  int64_t k = 0;
  bool strict = false;
  size_t origin = 0;  ///< its place in a Trail, where one is kept
};

/// How inequalities over integers follow from others: (ca a + cb b) / divisor, rounded down.
class Trail {
 public:
  struct Step {
    size_t a, b;         ///< their places; the same one for an inequality that was given
    int64_t ca, cb = 0;  ///< not negative
    int64_t divisor = 1;
    bool rounded = false;  ///< the division cut something off
    bool given = false;
  };
  size_t given() {
    steps_.push_back({steps_.size(), steps_.size(), 1, 0, 1, false, true});
    return steps_.size() - 1;
  }
  size_t add(Step s) {
    steps_.push_back(s);
    return steps_.size() - 1;
  }
  const Step& operator[](size_t k) const { return steps_[k]; }

 private:
  std::vector<Step> steps_;
};

/// Inequalities, from which unknowns are eliminated one after the other. Questions are many, and
/// their rows have few unknowns each: the coefficients that are not zero lie in one block. The work
/// is bounded. For one question; not thread-safe.
class Elimination {
 public:
  enum class Numbers : uint8_t { Integers, Reals };

  /// `trail`: where to write down how each row follows from those before; nullptr: nowhere.
  explicit Elimination(Numbers numbers = Numbers::Integers, Trail* trail = nullptr)
      : numbers_(numbers), trail_(trail) {}

  /// One more row. Numbers that are too large make the answer Open.
  void add(const Inequality& row);
  /// To be called once.
  Decision run();
  /// Where the trail has the row that ended a run with Refuted.
  size_t contradiction() const { return contradiction_; }

 private:
  struct Cell {
    uint32_t column;
    int32_t times;  // not 0
  };
  struct Row {
    size_t at, size;  // its cells, by column
    int64_t k;
    size_t origin;
    bool strict;
    bool tight = false;  // divided and rounded already
  };
  struct Uses {
    size_t below = 0, above = 0;  // rows with a positive and with a negative coefficient
    bool below_unit = true, above_unit = true;
    bool one_sided() const { return below == 0 || above == 0; }
    bool rounds() const { return !one_sided() && !below_unit && !above_unit; }
  };

  std::span<const Cell> cells(const Row& r) const { return {cells_.data() + r.at, r.size}; }
  int32_t coefficient(const Row& r, uint32_t column) const;
  int compare(const Row& a, const Row& b, int sign = 1) const;
  void tighten(Row& r);
  bool tidy();
  const Row* opposite(const Row& r) const;
  bool use_equality();
  void replace(uint32_t column, Row r, size_t opposite);
  Row combined(const Row& a, int64_t ca, const Row& b, int64_t cb);
  void count_uses();
  void drop_one_sided();
  void eliminate_cheapest();
  void eliminate(uint32_t column);
  void keep_without(uint32_t column);

  Numbers numbers_;
  Trail* trail_;
  size_t contradiction_ = 0;
  std::vector<Row> rows_, spare_;
  size_t sorted_ = 0;  // rows that tidy() left in order
  std::vector<Cell> cells_;
  std::vector<Uses> uses_;  // by column
  bool exact_ = true, failed_ = false;
};

/// Elimination over the integers: the place in the trail of an inequality that says that a negative
/// number is not negative; nullopt: none was found. REQUIRES: each fact has a place of its own in
/// the trail.
std::optional<size_t> contradiction(const std::vector<Inequality>& facts, Trail& trail);

/// No real numbers satisfy all of them. The work is bounded; false says nothing.
bool no_reals(const std::vector<Inequality>& facts);

}  // namespace regraft::verify
