#pragma once
// Inside io/ only: the computation of sizes as ONNX nodes.
#include <functional>
#include <map>

#include "ir/graph/graph.h"

namespace regraft::io {

/// An axis of a graph input.
struct InputAxis {
  size_t input = 0;
  size_t axis = 0;
};
/// Where each size of the inputs is found first.
std::map<Var, InputAxis, SymbolLess> input_axes(const Graph& g);

/// Names the tensor by what it computes from the inputs of g, whatever their symbols are called.
Digest digest_of(const SizeTensor& t, const Graph& g);

/// Computes sizes in as few nodes as it can: each size, sum, product and quotient once for the
/// whole model. Not thread-safe.
class SizeWriter {
 public:
  struct Node {
    std::string type;
    std::vector<std::string> inputs;
    std::map<std::string, OnnxAttr> attrs;
  };
  /// What the model is told: both return the name of the new tensor.
  struct Target {
    std::function<std::string(const Node& node)> add;
    std::function<std::string(const std::shared_ptr<const Constant>& data)> constant;
    std::function<std::string(size_t input)> input;  ///< the name of a graph input
  };
  SizeWriter(const Graph& g, int opset, Target target)
      : axes_(input_axes(g)), opset_(opset), target_(std::move(target)) {}

  /// The name of a tensor of these sizes. REQUIRES: all are computable.
  std::string write(const SizeTensor& t);
  std::string write(const std::vector<Poly>& sizes);  ///< 1-D, int64

 private:
  struct Less {
    bool operator()(const Poly& a, const Poly& b) const { return compare(a, b) < 0; }
  };
  std::string number(int64_t n);
  std::string shape(size_t input);
  std::string size(Var v);
  std::string symbol(Var v);
  std::string power_product(const Monomial& m);
  std::string scalar(const Poly& p);
  std::string computed(const Poly& p);
  /// A run of axes of one input that begins at sizes[k]; its length, 0: there is none.
  size_t run(const std::vector<Poly>& sizes, size_t k) const;
  std::string part(const std::vector<Poly>& sizes, size_t first, size_t count);

  std::map<Var, InputAxis, SymbolLess> axes_;
  int opset_;
  Target target_;
  std::map<size_t, std::string> shapes_;
  std::map<Poly, std::string, Less> scalars_;
  std::map<std::string, std::string> lists_;
};

}  // namespace regraft::io
