#pragma once
// From a kernel's graph to steps: the state that the operators' lowerings share. Internal to
// cost/cpu.
#include <array>
#include <map>
#include <optional>

#include "cost/runtime/cpu/chain.h"
#include "cost/runtime/cpu/compiled.h"
#include "cost/runtime/cpu/program.h"

namespace regraft::cost::cpu {

class Lowering {
 public:
  Lowering(const Graph& graph, std::span<const Layout> operand_layouts,
           std::span<const Layout> result_layouts, const CompileOptions& options);

  const Graph& graph;
  const CompileOptions& options;
  Program program;

  /// The node whose call is being lowered; its numeric attributes.
  struct Call {
    int32_t id;
    const Node& node;
    Attrs<int64_t> at;
  };

  Dims dims(Value v) const { return *numeric(graph.shape(v)); }
  /// Row-major data of a constant; nullptr for others.
  std::shared_ptr<const std::vector<float>> constant(Value v) const;

  /// A slot to read v from in that layout; moves it there when it is not yet.
  int read(Value v, Layout layout);
  /// A slot to write v to, and to read it from later.
  int write(Value v, Layout layout);
  /// Says that v lies in `slot`.
  void define(Value v, Layout layout, int slot);
  bool has(Value v, Layout layout) const;
  /// The layout in which v is there already, or would be made.
  Layout layout_of(Value v) const;
  /// The layout that fits what is around a call of one operand: blocked when its operand or its
  /// result is.
  Layout natural(const Call& call) const;

  int scratch(const Desc& desc);
  int view(int slot, const Desc& desc);
  /// A constant that lies like `source` (row-major data of its dims if plain) brought to `desc`.
  int packed(std::shared_ptr<const std::vector<float>> data, const Desc& source, const Desc& desc);
  const Desc& desc(int slot) const { return program.slots[static_cast<size_t>(slot)].desc; }

  void add(dnnl::primitive primitive, std::vector<std::pair<int, int>> args);
  void add_loop(std::vector<int> slots, std::function<void(Pointers)> loop);
  /// Copies between descriptions of the same dims.
  void reorder(int from, int to);
  Step reorder_step(int from, int to) const;

  /// What a trial changes.
  struct Mark {
    size_t slots, steps;
    int accumulator;
    std::map<Value, std::array<int, 2>> places;
    std::map<Value, std::pair<int, Layout>> results;
  };
  Mark mark() const;
  void rewind(const Mark& to);

  /// Brings v to its place among the results, if it is one and only elsewhere so far.
  void settle(Value v);
  /// Results whose value is there but not in the place asked for.
  void finish();

 private:
  std::map<Value, std::array<int, 2>> places_;       ///< slots by layout; -1: none
  std::map<Value, std::pair<int, Layout>> results_;  ///< not yet written
  std::vector<Layout> result_layouts_;
};

Status lower_contraction(Lowering& to, const Unit& unit);
Status lower_elementwise(Lowering& to, const std::vector<int32_t>& nodes);

/// The lowering of a single call: an Error that names the operator where oneDNN refuses and there
/// is no loop.
using Lower = Status(Lowering& to, const Lowering::Call& call);
Lower lower_max_pool, lower_average_pool, lower_global_average_pool;
Lower lower_batch_norm, lower_layer_norm, lower_softmax;
Lower lower_resize_nearest, lower_resize_linear;
Lower lower_reduce_sum, lower_reduce_mean, lower_reduce_max;
Lower lower_formula;  // of any operator
Lower lower_transpose, lower_reshape, lower_concat, lower_split, lower_slice, lower_gather,
    lower_pad;

/// True for the library's slow reference implementations.
bool is_reference(std::string_view implementation);

}  // namespace regraft::cost::cpu
