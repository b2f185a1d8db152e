#pragma once
// Whether two graphs differ at given inputs by more than rounding explains. Inside rewrite/ only.
#include "rewrite/compare/comparison.h"
#include "rewrite/compare/run.h"

namespace regraft::rewrite {

/// What the graphs are evaluated at.
struct Trial {
  SizeAssignment sizes;
  std::vector<Array<double>> inputs;  ///< by graph input
  uint64_t seed = 1;                  ///< of what opaque nodes make
};

/// How many samples of rounding are taken at least of what seems to differ.
enum class Care : uint8_t { Quick, Thorough };

/// Two values that differ.
struct Difference {
  size_t question = 0;
  std::string failure;                        ///< the second cannot be evaluated; then nothing else
  size_t failed_at = 0;                       ///< the joint number of the node that cannot
  std::vector<int64_t> shapes[2];             ///< of the two values
  std::vector<int64_t> position;              ///< of the first element; where shapes are equal
  double first = 0, second = 0, allowed = 0;  ///< that element, and what rounding explains
};
struct Verdict {
  RunEnd end = RunEnd::Done;
  std::string reason;  ///< why it is not
  std::optional<Difference> difference;
  std::vector<char> compared;  ///< by question: both sides were evaluated
};

/// Stricter than the check in what it calls a difference: one that stays when every value loses as
/// much as rounding to its own type does, so a runtime that evaluates in these types shows it, and
/// that is there over the reals as well as within the types' ranges. A second value that is not
/// finite counts only where inputs are moderate: large ones may have overflowed even here.
class Judge {
 public:
  /// `program` outlives it.
  explicit Judge(const JointProgram& program);

  /// Of several values that differ the first output that depends on no opaque node is named, else
  /// the first output, else an operand of an opaque node. `only`: no other question counts.
  /// `sampling` ends the samples: what is far off after the first few stays a difference then. An
  /// Error when a constant cannot be read.
  Result<Verdict> judge(const Trial& trial, Care care, std::optional<size_t> only, const Stop& stop,
                        const Stop& sampling) const;
  /// An opaque node decides over the question's values, or it asks for operands of one.
  bool opaque(size_t question) const { return opaque_[question] != 0; }
  bool behind_opaque(size_t joint_node) const { return behind_[joint_node] != 0; }
  const JointProgram& program() const { return p_; }

 private:
  struct Comparisons;
  Status sample(const Trial& trial, Care care, Comparisons& found, Verdict& verdict,
                const Stop& stop) const;
  void name(const Comparisons& found, Verdict& verdict) const;

  const JointProgram& p_;
  std::vector<char> behind_;   // by joint number
  std::vector<char> opaque_;   // by question
  std::vector<size_t> order_;  // of questions, the best to name first
};

/// What both runs of a trial have in common.
RunOptions run_options(const Trial& trial);

}  // namespace regraft::rewrite
