#pragma once
// The cost model that knows what was measured.
#include <memory>

#include "cost/model/cost_model.h"
#include "cost/model/kernel.h"
#include "cost/profile/profile.h"

namespace regraft::cost {

/// What a graph takes, kernel by kernel.
struct Prediction {
  double microseconds = 0;
  double estimated_microseconds = 0;  ///< the part that no measurement backs
  size_t kernels = 0;
  size_t estimated = 0;              ///< kernels that were not measured
  std::vector<std::string> missing;  ///< their signatures, each once, in order of first use; none
                                     ///< of a plan without signatures
};

/// What one kernel of a plan takes, without what every kernel of a graph costs beside.
struct KernelPrice {
  double microseconds = 0;
  bool measured = false;  ///< as it was timed; else estimated
};

/// Looks kernels up in a profile; what is missing is estimated with the profile's roofline, and
/// counted. Remembers what it computed; thread-safe.
class Profiled final : public CostModel {
 public:
  explicit Profiled(Profile profile);
  ~Profiled() override;

  /// The call as a kernel of its own, in the layout that the runtime would choose for it.
  Cost cost(const Node& node, std::span<const TensorType> operands) const override;
  std::string description() const override;

  /// Of the whole graph, as the runtime fuses it and lays it out.
  Prediction predict(const Graph& g) const { return predict(g, plan(g)); }
  /// The same for a plan that was made before.
  Prediction predict(const Graph& g, const KernelPlan& plan) const;
  KernelPlan plan(const Graph& g, bool signatures = true) const;
  KernelPrice price(const KernelCall& call) const;
  /// Of a node that no kernel runs.
  KernelPrice price_of_opaque(const Graph& g, int32_t id) const;
  const Profile& profile() const { return profile_; }
  const Runtime& runtime() const { return runtime_; }

 private:
  struct Memo;
  KernelPrice price(const Kernel& kernel, std::string_view signature) const;
  KernelPrice remembered(const Kernel& kernel) const;
  Cost single(const Node& node, std::span<const TensorType> operands) const;
  Profile profile_;
  Runtime runtime_;
  std::unique_ptr<Memo> memo_;
};

/// The kernels of a plan that the profile lacks, each once.
std::map<std::string, Kernel> missing_kernels(const KernelPlan& plan, const Profile& profile);

}  // namespace regraft::cost
