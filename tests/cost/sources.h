#pragma once
// Graphs whose generated kernels are tested, on the host and with the device compiler.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "cost/runtime/cuda/source.h"
#include "ir/rule/text.h"

namespace regraft::cost::cuda {

struct Case {
  std::string name;
  Graph graph;
  std::vector<char> weights = {};  ///< of the inputs
};

inline Graph graph_of(const OpDef& op, const Sample& s, DType type) {
  Graph g;
  std::vector<Value> operands;
  for (const auto& dims : s.shapes) {
    bool truth = (op.truths >> operands.size() & 1) != 0;
    operands.push_back(g.add_input({truth ? DType::Bool : type, Shape(dims.begin(), dims.end())}));
  }
  auto id = g.add_call(op, operands, symbolic(s.attrs));
  EXPECT_TRUE(id) << op.name;
  std::vector<Value> outputs;
  for (size_t k = 0; k < g.node(*id).types.size(); ++k)
    outputs.push_back({*id, static_cast<int32_t>(k)});
  g.set_outputs(outputs);
  return g;
}

/// An element of an operand: positive, or an integer that a table of a few rows may be read at.
inline double random_element(DType type, Rng& rng) {
  if (type == DType::Bool) return rng.unit() < 0.5 ? 0 : 1;
  return is_integer(type) ? std::floor(4 * rng.unit()) - 2 : rng.unit() + 0.1;
}

/// The element types that the host runs.
inline bool runs_on_host(DType t) {
  return t == DType::F32 || t == DType::F64 || t == DType::I64 || t == DType::I32 ||
         t == DType::Bool;
}

inline Graph parsed(std::string_view text) {
  auto g = parse_graph(text);
  EXPECT_TRUE(g) << (g ? "" : g.error().message) << "\n" << text;
  return g ? *std::move(g) : Graph();
}

/// Each operator's samples and fused graphs.
inline std::vector<Case> source_cases() {
  std::vector<Case> cases;
  for (const OpDef* op : all_ops()) {
    if (op->name == "scatter-elements")
      continue;  // a guard does not narrow what a table is read at
    size_t k = 0;
    for (const Sample& s : op->samples()) {
      Graph g = graph_of(*op, s, DType::F32);
      if (!runs_on_host(g.type(g.outputs()[0]).dtype)) continue;
      cases.push_back({std::string(op->name) + std::to_string(k++), std::move(g)});
    }
  }
  auto add = [&](const char* name, const char* text) { cases.push_back({name, parsed(text)}); };
  add("conv-bias-add-relu",
      "%0 = input : float32[2,4,7,6]\n%1 = input : float32[6,4,3,3]\n%2 = input : float32[6]\n"
      "%3 = input : float32[2,6,4,3]\n%4 = conv %0 %1 %2 strides=2,2 pads=1,1,1,1\n"
      "%5 = add %4 %3\n%6 = relu %5\noutputs %6\n");
  add("gelu",
      "%0 = input : float32[3,20]\n%1 = input : float32[20]\n%2 = add %0 %1\n"
      "%3 = full shape=1 value=0.70710678\n%4 = mul %2 %3\n%5 = erf %4\n"
      "%6 = full shape=1 value=1\n%7 = add %5 %6\n%8 = mul %2 %7\n%9 = full shape=1 value=0.5\n"
      "%10 = mul %8 %9\noutputs %10\n");
  add("normalisation",
      "%0 = input : float32[3,5,24]\n%1 = input : float32[24]\n%2 = reduce-mean %0 axes=-1\n"
      "%3 = sub %0 %2\n%4 = mul %3 %3\n%5 = reduce-mean %4 axes=-1\n"
      "%6 = full shape=1 value=0.01\n%7 = add %5 %6\n%8 = sqrt %7\n%9 = div %3 %8\n"
      "%10 = mul %9 %1\noutputs %10\n");
  add("softmax-middle", "%0 = input : float32[2,19,3]\n%1 = softmax %0 axis=1\noutputs %1\n");
  add("softmax-scaled",
      "%0 = input : float32[2,3,40]\n%1 = input : float32[1,1,40]\n%2 = full shape=1 value=0.25\n"
      "%3 = mul %0 %2\n%4 = add %3 %1\n%5 = softmax %4 axis=-1\noutputs %5\n");
  add("pooled",
      "%0 = input : float32[2,5,9,9]\n%1 = global-avgpool %0\n%2 = sigmoid %1\noutputs %2\n");
  add("heads",
      "%0 = input : float32[2,6,12]\n%1 = reshape %0 shape=2,6,3,4\n"
      "%2 = transpose %1 perm=0,2,1,3\n%3 = reshape %2 shape=6,24\noutputs %3\n");
  add("joined",
      "%0 = input : float32[2,3,4]\n%1 = input : float32[2,5,4]\n%2 = input : float32[2,1,4]\n"
      "%3 = concat %0 %1 %2 axis=1\n%4 = relu %3\noutputs %4\n");
  add("several-results",
      "%0 = input : float32[2,9]\n%1 = split %0 axis=1 sizes=4,5\n%3 = exp %1\n"
      "%4 = reduce-max %1#1 axes=1\noutputs %3 %1#1 %4 %1\n");
  add("whole-sum",
      "%0 = input : float32[30,40]\n%1 = reduce-sum %0 axes=0,1 keepdims=0\noutputs %1\n");
  add("whole-sum-spread",
      "%0 = input : float32[10,4]\n%1 = reduce-sum %0 axes=0,1\n%2 = div %0 %1\noutputs %2\n");
  add("sums-nested",
      "%0 = input : float32[6,9]\n%1 = input : float32[9,4]\n%2 = matmul %0 %1\n"
      "%3 = reduce-max %2 axes=0\n%4 = sub %2 %3\noutputs %4\n");
  add("depthwise",
      "%0 = input : float32[1,8,9,9]\n%1 = input : float32[8,1,3,3]\n"
      "%2 = conv %0 %1 pads=2,2,2,2 dilations=2,2 group=8\n%3 = clip %2 min=0 max=1\noutputs %3\n");
  add("pool-shifted",
      "%0 = input : float32[1,2,9,8]\n%1 = maxpool %0 kernel=3,2 strides=2,2 pads=1,0,0,1\n"
      "%2 = neg %1\noutputs %2\n");
  add("embedding",
      "%0 = input : float32[5,6]\n%1 = input : int64[2,3]\n%2 = input : float32[6]\n"
      "%3 = gather-at %0 %1 axis=0\n%4 = add %3 %2\noutputs %4\n");
  add("positions-of-positions",
      "%0 = input : int64[2,7]\n%1 = input : int32[4]\n%2 = gather-at %0 %1 axis=1\n"
      "%3 = input : float32[3,2,2]\n%4 = gather-at %3 %2 axis=2\noutputs %4 %2\n");
  add("masked",
      "%0 = input : int64[2,1,5]\n%1 = input : int64[1,5,1]\n%2 = input : bool[2,1,1]\n"
      "%3 = less-or-equal %0 %1\n%4 = logical-and %3 %2\n%5 = input : float32[2,5,5]\n"
      "%6 = full shape=1 value=-1000\n%7 = where %4 %5 %6\noutputs %7 %4\n");
  add("large-integers",
      "%0 = input : int64[6]\n%1 = full shape=1 value=16777217\n%2 = cast %1 to=7\n"
      "%3 = add %0 %2\noutputs %3\n");
  add("integers-moved",
      "%0 = input : int64[2,3]\n%1 = input : int64[2,1]\n%2 = concat %0 %1 axis=1\n"
      "%3 = transpose %2 perm=1,0\n%4 = cast %3 to=1\noutputs %3 %4\n");
  add("doubles", "%0 = input : float64[3,12]\n%1 = softmax %0 axis=-1\noutputs %1\n");
  add("conv-uneven",
      "%0 = input : float32[1,4,7,6]\n%1 = input : float32[6,2,3,2]\n"
      "%2 = conv %0 %1 strides=2,1 pads=0,1,2,0 dilations=1,2 group=2\n%3 = relu %2\noutputs %3\n");
  add("conv-channels",
      "%0 = input : float32[2,3,4,5]\n%1 = input : float32[4,3,1,1]\n%2 = input : float32[4,1,1]\n"
      "%3 = conv %0 %1\n%4 = mul %3 %2\n%5 = add %4 %2\n%6 = relu %5\noutputs %6\n");
  add("conv-line",
      "%0 = input : float32[2,3,9]\n%1 = input : float32[4,3,3]\n%2 = input : float32[4]\n"
      "%3 = conv %0 %1 %2 pads=1,1\n%4 = tanh %3\noutputs %4\n");
  add("conv-volume",
      "%0 = input : float32[1,2,4,3,5]\n%1 = input : float32[3,2,2,2,3]\n"
      "%2 = conv %0 %1 pads=0,0,1,0,0,1\noutputs %2\n");
  add("conv-sum",
      "%0 = input : float32[2,4,5,5]\n%1 = input : float32[4,4,3,3]\n%2 = conv %0 %1 pads=1,1,1,1\n"
      "%3 = add %0 %2\noutputs %3\n");
  auto norm = [&](const char* name, const char* bias, const char* outputs) {
    std::string conv =
        bias[0] ? "%7 = conv %0 %1 %6 pads=0,1,1,1\n" : "%7 = conv %0 %1 pads=0,1,1,1\n";
    std::string text =
        "%0 = input : float32[2,4,5,5]\n%1 = input : float32[6,4,3,3]\n%2 = input : float32[6]\n"
        "%3 = input : float32[6]\n%4 = input : float32[6]\n%5 = input : float32[6]\n"
        "%6 = input : float32[6]\n" +
        conv + "%8 = batchnorm %7 %2 %3 %4 %5 epsilon=0.01\n%9 = relu %8\noutputs " + outputs +
        "\n";
    cases.push_back({name, parsed(text), {0, 1, 1, 1, 1, 1, 1}});
  };
  norm("conv-norm", "", "%9");
  norm("conv-bias-norm", "%6", "%9");
  norm("conv-norm-both", "", "%9 %7");
  add("gemm-all",
      "%0 = input : float32[8,5]\n%1 = input : float32[6,8]\n%2 = input : float32[5,1]\n"
      "%3 = gemm %0 %1 %2 transA=1 transB=1 alpha=0.5 beta=2\n%4 = relu %3\noutputs %4\n");
  add("dense",
      "%0 = input : float32[3,5,8]\n%1 = input : float32[8,6]\n%2 = input : float32[6]\n"
      "%3 = input : float32[3,5,6]\n%4 = matmul %0 %1\n%5 = add %2 %4\n%6 = add %5 %3\n"
      "outputs %6\n");
  add("attention-scores",
      "%0 = input : float32[2,3,4,5]\n%1 = input : float32[2,3,5,4]\n%2 = matmul %0 %1\n"
      "%3 = full shape=1 value=0.125\n%4 = mul %2 %3\noutputs %4\n");
  add("shared-left",
      "%0 = input : float32[4,5]\n%1 = input : float32[2,3,5,4]\n%2 = matmul %0 %1\noutputs %2\n");
  add("mixed-batches",
      "%0 = input : float32[2,1,4,5]\n%1 = input : float32[3,5,4]\n%2 = matmul %0 %1\noutputs "
      "%2\n");
  add("product-of-chain",
      "%0 = input : float32[4,5]\n%1 = input : float32[5,4]\n%2 = exp %0\n%3 = matmul %2 %1\n"
      "%4 = softmax %3 axis=0\n%5 = neg %4\noutputs %5 %3\n");
  return cases;
}

}  // namespace regraft::cost::cuda
