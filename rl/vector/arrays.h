#pragma once
// Observations as arrays of fixed sizes, for those who batch them.
#include <cstdint>
#include <string>
#include <vector>

#include "rl/environment/environment.h"

namespace regraft::rl {

/// How much of a state fits into the arrays. What does not fit is left out, and counted.
struct Capacity {
  size_t nodes = 0, edges = 0;
  size_t actions = 0;           ///< to stop included
  size_t inside = 0, near = 0;  ///< nodes of a match
  size_t rules = 0;             ///< directed rules of the index
  size_t locations = 0;         ///< of a rule
  bool operator==(const Capacity&) const = default;
};

enum class Element : uint8_t { Int8, Int32, Float32, Float64 };
size_t bytes_of(Element e);
/// "int8", "int32", "float32", "float64".
std::string to_string(Element e);

enum class Part : uint8_t { Observation, Info };

/// One array: what it is called, and its shape for one environment. All of it that holds nothing
/// is `padding`.
struct ArraySpec {
  std::string name;
  Part part = Part::Observation;
  Element element = Element::Int32;
  std::vector<size_t> shape;
  int padding = 0;
  double low = 0, high = 0;  ///< of its values
  size_t size() const;       ///< elements
};

enum class Actions : uint8_t {
  Matches,    ///< 0 to stop, else a match
  Factorised  ///< a rule (0 to stop) and a location of it
};
enum class Costs : uint8_t { Shown, Hidden };  ///< may the state show what a match changes?

/// What a step left behind, beside the state.
struct StepInfo {
  StepResult result;
  double cost = 0, best = 0, original = 0;  ///< microseconds
  int32_t rule = 0;      ///< that was applied, 1 for the first of the index; 0: none
  int32_t moves = 0;     ///< rules applied since the original: the steps of a certificate
  int32_t steps = 0;     ///< of the episode
  int32_t model = 0;     ///< by its place in the list
  int32_t overflow = 0;  ///< matches that are no actions for want of room
  bool invalid = false;  ///< the action was not allowed, and nothing was done
  bool began = false;    ///< the episode begins here
};

/// The arrays of an environment, in the order in which they are handed over.
std::vector<ArraySpec> array_specs(const Capacity& c, Actions actions);

/// The matches that are actions, by their index in the environment, in the order of the actions: by
/// rule, and then by what they save, or by place where costs are hidden. Where there are more than
/// `most`, those that save most.
std::vector<int32_t> offered(const Environment& env, Costs costs, size_t most);

/// Writes states of one environment into its rows of the arrays. Not thread-safe.
class ArrayWriter {
 public:
  ArrayWriter(const Capacity& c, Actions actions, Costs costs)
      : capacity_(c), actions_(actions), costs_(costs) {}
  /// Where its arrays begin, one for each of array_specs(), filled with padding.
  void bind(std::vector<void*> arrays) {
    arrays_ = std::move(arrays);
    written_ = {};
  }
  void write(Environment& env, const std::vector<int32_t>& offered, const StepInfo& info);

 private:
  /// Rows that hold something.
  struct Rows {
    size_t nodes = 0, edges = 0, actions = 0;
  };
  template <class T>
  T* next() {
    return static_cast<T*>(arrays_[next_++]);
  }
  void write_nodes(const Observation& o);
  void write_edges(const Observation& o);
  void write_actions(const Observation& o, const std::vector<int32_t>& offered);
  void write_masks(const Observation& o, const std::vector<int32_t>& offered);
  void write_global(const Observation& o);
  void write_info(const StepInfo& info);

  Capacity capacity_;
  Actions actions_;
  Costs costs_;
  std::vector<void*> arrays_;
  size_t next_ = 0;
  Rows written_, now_;
};

}  // namespace regraft::rl
