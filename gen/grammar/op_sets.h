#pragma once
// What is enumerated: an op set is a list of grammars, tables of leaves (variables with their
// witness shapes) and operator instances.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/ops/op.h"

namespace regraft::gen {

/// Kernel: its axes from 2 on may well be 1x1. Truths: its elements are truth values, 0 and 1.
/// Places: they are the positions 0 and 1. Positive: they are above 0, so that roots are undone.
enum class Role : uint8_t { Data, Kernel, Truths, Places, Positive };

/// Variables of one kind. Witness shapes of different kinds have different extents where they can,
/// so that what is equal is equal for a reason.
struct LeafKind {
  std::string_view name;
  std::vector<int64_t> shape;
  int count = 1;
  Role role = Role::Data;
};

/// What an instance is applied to.
enum class Scope : uint8_t {
  Values,  ///< everything
  Leaves,  ///< variables
  Once,    ///< what is not known as a result of the same operator: no chains of it
  Free,    ///< nothing: the constant that it makes costs no call and stands beside the variables
  Given,   ///< the first of the kinds that its operands name: a part of larger terms, such as the
           ///< mean of a row, that costs no call and stands beside the variables as well
};

/// An operator with attributes. In the attributes "a=1,2" is a given number, which generalisation
/// may replace by a variable; "a~1,2" is a number that stems from the witness shapes, which it
/// replaces by an expression in sizes. A real number may be a fraction, "a=1/6", which stays. What
/// is left out is at its fallback. An operand is described by a letter for each axis: a digit is
/// that extent, '.' any extent, equal letters are equal extents; "-" is a scalar. "ab@k" is a
/// variable of kind k and nothing else, "ab@" a variable, a free constant or what is given:
/// operands that bring nothing when they are computed too.
struct Instance {
  std::string_view op;
  std::string_view attrs;
  std::vector<std::string_view> operands;
  Scope scope = Scope::Values;
  std::string_view then = {};  ///< an operator without attributes applied to the result in the call
  std::string_view name = {};  ///< the kind of what is given, or of a free constant
};

/// How values are told apart: as residues, exactly; or as doubles, but for rounding errors, where
/// functions and numbers occur of which residues know too little: logarithms, real powers,
/// roundings to other formats, fractions such as 1/6.
enum class Compare : uint8_t { Residues, Doubles };

/// What is enumerated together. Terms of different grammars never meet.
struct Grammar {
  std::string_view name;
  std::vector<LeafKind> leaves;
  std::vector<Instance> instances;
  /// Calls on each side beyond the run's size, for tables that stay small, or fewer, for large
  /// ones.
  int more = 0;
  /// Operators of two operands are applied to the same operand twice as well, as in x - x.
  bool twice = false;
  /// Elements of a value; larger ones are not made.
  int64_t most_elements = 256;
  Compare compare = Compare::Residues;
  /// Calls on each side at most, for tables with operators of many operands, which grow fastest.
  int most = std::numeric_limits<int>::max();
};

/// Grammars are enumerated one after the other: what one gives, a later one need not give again.
struct OpSet {
  std::string_view name;
  std::vector<Grammar> grammars;
};

/// All op sets; static lifetime.
std::span<const OpSet> op_sets();
/// Their names: "core", ...
std::span<const std::string_view> op_set_names();
/// The op set of that name; "core/rows" is the grammar "rows" of "core" alone.
std::optional<OpSet> find_op_set(std::string_view name);

/// An operator with numbers for attributes; `sized[k]` marks integer attribute k as written with
/// '~'.
struct Label {
  const OpDef* op = nullptr;
  Attrs<int64_t> attrs;
  std::vector<char> sized;
  int outputs = 1;
  /// Real attributes that are given as fractions: "=1/6"; or empty.
  std::vector<std::string> fractions = {};
};
/// The attributes of an instance read from its text. An Error names the instance and the attribute.
Result<Label> label_of(const Instance& instance);
/// The axes of an operand's description: without "@k".
std::string_view axes_of(std::string_view operand);
/// What stands behind "@"; nullopt when anything may be the operand.
std::optional<std::string_view> kind_of(std::string_view operand);
/// True when shapes fit the descriptions of the first shapes.size() operands.
bool fits(const Instance& instance, std::span<const std::vector<int64_t>* const> shapes);

}  // namespace regraft::gen
