#pragma once
// Two graphs as one program that is evaluated to compare them.
#include "rewrite/compare/format.h"
#include "rewrite/compare/joint.h"
#include "rewrite/compare/sizes.h"

namespace regraft::rewrite {

/// Which graphs' side of the questions is evaluated.
enum class Side : uint8_t { Both, First, Second };

/// Two values, in joint numbers, that should be equal and are not the same computation.
struct Question {
  Value first, second;
  std::string place;
  DType type;
  double level;    ///< what each element may lose for each unit of its magnitude, see below
  int32_t output;  ///< of the graphs; -1: an operand of an opaque node of both
  size_t when;     ///< the joint number of that node; of an output the number of nodes
};

/// Relative error of an element that double precision explains.
constexpr double kEvaluationLevel = 0x1p-44;

/// The joint graph, what is asked of it, and an order of evaluation. The level of a value is the
/// largest unit roundoff of the constants below it that only one graph has, since those may have
/// been computed and rounded to their type; at least kEvaluationLevel.
struct JointProgram {
  const Graph* graphs[2];
  Joint joint;
  std::vector<Question> questions;
  std::vector<std::vector<size_t>>
      due;  ///< by joint number: answered before it runs; last: at the end
  std::vector<size_t>
      order;           ///< operands first, both graphs side by side, few values alive at once
  int64_t opaque = 0;  ///< nodes whose results are drawn at random

  size_t graph_of(const JointNode& n) const { return n.graph == graphs[0] ? 0 : 1; }
};
/// An Error as for join. The graphs must outlive it.
Result<JointProgram> make_program(const Graph& a, const Graph& b);

/// "relu_3", or `otherwise`.
std::string name_of(const JointNode& n, std::string otherwise);

/// How often each joint node's values are used to answer the questions, in joint order; 0: the node
/// need not run.
std::vector<int64_t> uses_of(const JointProgram& program, Side side);

/// What one evaluation takes at these sizes.
struct Effort {
  double operations = 0;
  double peak_bytes = 0;  ///< of values alive at once, as doubles
};
Effort effort_of(const JointProgram& program, const SizeAssignment& sizes);

}  // namespace regraft::rewrite
