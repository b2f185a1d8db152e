#pragma once
// The sizes and numbers that moves need, as weak as these moves allow.
#include <set>

#include "rewrite/engine/engine.h"

namespace regraft::rewrite {

/// A move and what it made.
struct TracedMove {
  Move move;
  const Fit* fit = nullptr;  ///< of the engine's sizes
  /// The node of each call of the right side, made by it or there already; -1: none computes it.
  std::vector<int32_t> made;
};
/// Applies a match. REQUIRES: it applies now.
TracedMove traced(Engine& engine, int32_t match);
/// The moves of the engine, which are taken back and made again for this; fewer where one cannot
/// be, as the engine was told to stop.
std::vector<TracedMove> traced(Engine& engine);

/// A size, or a number of an attribute, that moves leave open.
struct OpenSymbol {
  Value value;  ///< of a size
  int axis = 0;
  bool is_size = false;
  const IntAttr* attr = nullptr;  ///< of a number
  Poly there;                     ///< what it is at the place
};

/// What moves need, over symbols of a pool of its own.
struct Opened {
  std::shared_ptr<SymbolPool> pool = std::make_shared<SymbolPool>();
  std::map<Var, OpenSymbol, SymbolLess> symbols;
  /// The integer attributes of the calls that were matched, and of those that were made.
  std::map<int32_t, std::vector<std::vector<Poly>>> ints;
  std::vector<Condition> where;  ///< beside the shapes of what is matched
};

/// Makes the moves once more on the calls `matched` of `before`, with a symbol in place of each of
/// their numbers and of each size, other than 1, of what they read. What a rule asks of these is
/// solved for one of the symbols, or becomes a condition: the weakest precondition of the moves
/// along their way, as in explanation-based generalisation (Mitchell, Keller, Kedar-Cabelli 1986).
/// Axes and real numbers stay what they are. An Error: a call has no form with open sizes, or what
/// is asked does not hold. REQUIRES: `moves` are of an engine that began with `before`.
Result<Opened> open_numbers(const Graph& before, const std::set<int32_t>& matched,
                            std::span<const TracedMove> moves);

}  // namespace regraft::rewrite
