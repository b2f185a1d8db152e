#pragma once
// Types and operator forms as small numbers, and what is known of calls of them.
#include <memory>
#include <set>
#include <span>
#include <unordered_map>

#include "cost/model/cost_model.h"
#include "ir/graph/graph.h"

namespace regraft::rewrite {

using FormId = int32_t;  ///< an operator with its attributes, axes counted from the front
using TypeId = int32_t;

/// What new calls must satisfy.
struct PlanOptions {
  Opset opset = {};  ///< new calls must have an ONNX form at this opset; 0: not asked
  /// Element types that the model computes with where onnxruntime's CPU provider cannot: it runs
  /// elsewhere, so new calls on these types need not run there.
  std::set<DType> elsewhere = {};
};
/// `options` with what `g` has elsewhere.
PlanOptions for_model(PlanOptions options, const Graph& g);

struct Form {
  const OpDef* op = nullptr;
  Attrs<Poly> attrs;
  /// The integer attributes; what is no number is kNoNumber.
  std::vector<std::vector<int64_t>> numbers;
  uint64_t hash = 0;
};
constexpr int64_t kNoNumber = INT64_MIN;

/// A call of a form on operands of given types.
struct CallFacts {
  std::vector<TypeId> types;
  double cost = 0;        ///< microseconds at run time
  bool foldable = false;  ///< its value can be computed when its operands are constants
  bool writable = false;  ///< it has an ONNX form that runs where the model does
};

struct IdsHash {
  size_t operator()(const std::vector<int32_t>& ids) const;
};

/// Remembers all it was asked. Numbers are given in the order of asking. Not thread-safe.
class Interner {
 public:
  Interner(std::shared_ptr<SymbolPool> pool, const cost::CostModel& model, PlanOptions options);
  SymbolPool& pool() const { return *pool_; }
  const std::shared_ptr<SymbolPool>& shared_pool() const { return pool_; }
  const cost::CostModel& model() const { return *model_; }
  /// What calls cost from now on, known ones too. Models are told apart by address: all that were
  /// used outlive this.
  void use(const cost::CostModel& model);
  const PlanOptions& options() const { return options_; }

  FormId form(const OpDef& op, const Attrs<Poly>& attrs, int rank_of_operand0);
  const Form& form(FormId id) const { return forms_[static_cast<size_t>(id)]; }
  TypeId type(const TensorType& t);
  const TensorType& type(TypeId id) const { return types_[static_cast<size_t>(id)]; }
  /// Rank of a type; -1 when it is unknown.
  int rank(TypeId id) const;
  /// A number for the data of a constant. Equal data has one number where it is small; large data
  /// is only itself, so that nothing needs to be read.
  int32_t data(const std::shared_ptr<const Constant>& c);
  const Constant& constant(int32_t number) const { return *data_[static_cast<size_t>(number)]; }
  /// The data that a call makes of data, rounded to its type; -1: it has more than a few elements,
  /// or cannot be computed.
  int32_t computed(FormId form, std::span<const int32_t> operands, TypeId type);
  /// A hash of the data with that number; of small data the same in every interner.
  uint64_t data_hash(int32_t number) const;
  /// nullptr when there is no such call. Without operands its element type is `dtype`.
  const CallFacts* call(FormId form, std::span<const TypeId> operands, DType dtype);

 private:
  std::optional<CallFacts> facts(const Form& form, std::span<const TypeId> operands, DType dtype);
  double cost(const Form& form, const std::vector<TensorType>& operands,
              std::vector<TensorType> results) const;
  bool writable(const Form& form, const std::vector<TensorType>& operands) const;
  std::shared_ptr<const Constant> compute(const Form& form, std::span<const int32_t> operands,
                                          const TensorType& type) const;

  std::shared_ptr<SymbolPool> pool_;
  const cost::CostModel* model_;
  PlanOptions options_;
  std::vector<Form> forms_;
  std::unordered_multimap<uint64_t, FormId> form_ids_;
  std::vector<TensorType> types_;
  std::unordered_multimap<uint64_t, TypeId> type_ids_;
  std::vector<std::shared_ptr<const Constant>> data_;
  std::unordered_multimap<uint64_t, int32_t> data_ids_;
  std::unordered_map<std::vector<int32_t>, std::optional<CallFacts>, IdsHash> calls_;
  std::unordered_map<std::vector<int32_t>, int32_t, IdsHash> computed_;
  std::vector<int32_t> key_;
};

}  // namespace regraft::rewrite
