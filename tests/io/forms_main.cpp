// io_forms FOLDER: for each operator, element type, opset and sample a model of that one call.
// Prints "OPERATOR TYPE OPSET VERDICT REST", separated by tabs. VERDICT is "runs" or "specified"
// (it has an ONNX form, and onnxruntime runs it on this type or not; REST is the file), or
// "refused" (REST is the reason).
#include <cstdio>
#include <fstream>

#include "io/model.h"

namespace {

using namespace regraft;

constexpr int kFirst = 7, kLast = 26;

struct Use {
  const OpDef* op;
  Sample sample;
};

Attrs<int64_t> ints(std::vector<std::vector<int64_t>> lists) { return {std::move(lists), {}}; }

template <class Add>
void add_movements(const Add& add) {
  add("expand", {{}}, ints({{}}));
  add("expand", {{1, 2, 1, 2, 1}}, ints({{2, 2, 2, 1, 2, 2, 2}}));
  add("tile", {{1, 2, 1, 2, 1, 2}}, ints({{2, 1, 2, 1, 2, 1}}));
  add("tile", {{}}, ints({{}}));
  add("trilu", {{2, 2, 3, 2}}, ints({{0}, {-9}}));
  for (int64_t mode : {0, 1, 2}) {
    add("pad-inside", {{2, 1, 3, 1, 2}}, ints({{0, 0, 2, 0, 1, 1, 0, 1, 0, 0}, {mode}}));
    add("pad-inside", {{}}, ints({{}, {mode}}));
    if (mode > 0) add("pad-inside", {{2, 2}}, ints({{5, 0, 0, 3}, {mode}}));
  }
  add("cumsum", {{1, 2, 1, 2, 1, 2}}, ints({{3}, {1}, {1}}));
  add("gather-elements", {{2, 2, 2}}, ints({{1}, {1, 1}, {2, 1, 1}}));
  add("gather-nd", {{2, 2, 2}}, ints({{0}, {1, 0, 1}, {3}}));
}

template <class Add>
void add_layers(const Add& add) {
  for (const char* name : {"reduce-min", "reduce-l1", "reduce-l2", "reduce-log-sum",
                           "reduce-log-sum-exp", "reduce-sum-square"})
    add(name, {{2, 1, 2, 1, 2}}, ints({{-1, 0, 2}, {0}}));
  add("log-softmax", {{2, 3, 4, 2}}, ints({{0}, {1}}));
  add("lp-norm", {{2, 1, 2, 1, 2}}, ints({{0}, {1}}));
  add("lrn", {{2, 3, 4}}, {{{3}}, {{0.5, nullptr}, {0.5, nullptr}, {1, nullptr}}});
  add("lrn", {{2, 3, 4, 4}}, {{{4}}, {{0.5, nullptr}, {0.5, nullptr}, {1, nullptr}}});
  add("global-maxpool", {{1, 2, 2, 2, 2, 2}}, {});
  add("global-maxpool", {{1, 2, 2, 2, 2}}, {});
  add("instancenorm", {{1, 2, 1, 2, 1, 2}, {2}, {2}}, {{}, {{0.5, nullptr}}});
  add("groupnorm", {{1, 4, 1, 2, 1, 2}, {4}, {4}}, {{{2}, {0}}, {{0.5, nullptr}}});
  for (std::vector<int64_t> scale : {std::vector<int64_t>{}, {1}, {4}, {3, 1}, {2, 3, 4}})
    add("rmsnorm", {{2, 3, 4}, scale}, {{{1}}, {{0.5, nullptr}}});
  add("mean-variance-norm", {{2, 3, 2, 2, 2}}, ints({{1, -1}}));
  for (int64_t more : {0, 1, 2})
    add("conv-transpose", {{1, 2, 3, 3}, {2, 1, 3, 3}},
        ints({{2, 1}, {1, 0, 4, 0}, {1, 2}, {1}, {more, 0}}));
  add("conv-transpose", {{1, 1, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1}},
      ints({{1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1}, {1}, {0, 0, 0, 0}}));
  add("lp-pool", {{1, 2, 3, 3, 3, 3}},
      ints({{2, 2, 2, 2}, {1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1}, {1}}));
  add("lp-pool", {{1, 2, 5}}, ints({{2}, {1}, {0, 2}, {2}, {2}}));
  add("einsum", {{2, 2}, {2}}, ints({{0, 0}, {0}, {}}));
  add("einsum", {{2, 3, 2, 2}, {2, 3}}, ints({{0, 1, 2, 3}, {3, 1}, {2, 0, 1}}));
  add("attention", {{1, 2, 2, 2}, {1, 2, 2, 2}, {1, 2, 2, 2}, {1, 1, 2, 2}},
      {{{0}, {0}, {1}}, {{0.25, nullptr}, {1, nullptr}}});
  add("rotary-embedding", {{1, 2, 2, 6}, {1, 2, 2}, {1, 2, 2}}, ints({{0}, {1}, {4}}));
}

/// Uses at the limits of what runtimes take.
std::vector<Use> hard_uses() {
  std::vector<Use> uses;
  auto add = [&](const char* op, std::vector<std::vector<int64_t>> shapes, Attrs<int64_t> attrs) {
    uses.push_back({find_op(op), {std::move(shapes), std::move(attrs)}});
  };
  for (const char* pool : {"maxpool", "avgpool"}) {
    auto attrs = [&](std::vector<int64_t> pads, std::vector<int64_t> dilations) {
      auto at = ints({{2, 2}, {1, 1}, std::move(pads), std::move(dilations)});
      if (std::string_view(pool) == "avgpool") at.ints.push_back({1});
      return at;
    };
    add(pool, {{1, 2, 5, 5}}, attrs({0, 0, 2, 0}, {1, 1}));
    add(pool, {{1, 2, 5, 5}}, attrs({1, 1, 1, 1}, {1, 1}));
    add(pool, {{1, 2, 5, 5}}, attrs({1, 1, 1, 1}, {3, 2}));
    add(pool, {{1, 2, 5, 5}}, attrs({3, 0, 0, 0}, {3, 3}));
    Attrs<int64_t> four =
        ints({{2, 2, 2, 2}, {1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1}});
    if (std::string_view(pool) == "avgpool") four.ints.push_back({0});
    add(pool, {{1, 2, 3, 3, 3, 3}}, four);
  }
  add("global-avgpool", {{1, 2, 2, 2, 2, 2}}, {});
  add("global-avgpool", {{1, 2, 2, 2, 2}}, {});
  add("resize-linear", {{1, 2, 2, 2, 2, 2}}, ints({{2, 2, 2, 2}, {1}}));
  add("resize-nearest", {{1, 2, 2, 2, 2, 2}}, ints({{2, 2, 2, 2}}));
  add("conv", {{1, 2, 3, 3}, {4, 1, 2, 2}}, ints({{1, 1}, {3, 3, 3, 3}, {1, 1}, {2}}));
  add("conv", {{1, 1, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1}},
      ints({{1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1}, {1}}));
  for (std::vector<int64_t> c : {std::vector<int64_t>{}, {1}, {4}, {2, 1}, {1, 4}})
    add("gemm", {{2, 3}, {3, 4}, c}, {{{0}, {0}}, {{1, nullptr}, {0.5, nullptr}}});
  add("gemm", {{2, 3}, {3, 4}}, {{{0}, {0}}, {{1.0 / 3, nullptr}, {1, nullptr}}});  // no float32
  for (std::vector<int64_t> scale : {std::vector<int64_t>{}, {1}, {4}, {3, 1}, {2, 3, 4}})
    add("layernorm", {{2, 3, 4}, scale}, {{{1}}, {{0.5, nullptr}}});
  add("batchnorm", {{2, 3, 1, 2, 1, 2}, {3}, {3}, {3}, {3}}, {{}, {{0.5, nullptr}}});
  add("softmax", {{2, 3, 4}}, ints({{0}}));
  add("concat", {{2, 3}}, ints({{-1}}));
  add("split", {{2, 3}}, ints({{-1}, {3}}));
  add("reduce-sum", {{2, 3}}, ints({{}, {1}}));
  add("reduce-max", {{2, 3}}, ints({{-1, 0}, {0}}));
  add("slice", {{2, 3}}, ints({{0, 0}, {2, 3}, {1, 1}}));
  add("pad", {{}}, {{{}}, {{0, nullptr}}});
  add("pad", {{2, 1, 2, 1, 2}}, {{{0, 1, 0, 1, 0, 0, 0, 0, 0, 2}}, {{0.1, nullptr}}});
  add("clip", {{3}}, {{}, {{-0.1, nullptr}, {1e300, nullptr}}});
  add("transpose", {{1, 2, 1, 2, 1, 2, 1, 2}}, ints({{7, 6, 5, 4, 3, 2, 1, 0}}));
  add("transpose", {{}}, ints({{}}));
  add_movements(add);
  add_layers(add);
  return uses;
}

Result<std::string> one_call(const Use& use, DType type, Opset opset) {
  Graph g;
  unsigned operand = 1;
  for (const auto& shape : use.sample.shapes) {
    bool truths = (use.op->truths & operand) != 0;
    g.add_input({truths ? DType::Bool : type, Shape(shape.begin(), shape.end())});
    operand <<= 1;
  }
  ASSIGN_OR_RETURN(int32_t id, g.add_call(*use.op, g.inputs(), symbolic(use.sample.attrs)));
  std::vector<Value> outputs;
  for (size_t k = 0; k < g.node(id).types.size(); ++k)
    outputs.push_back({id, static_cast<int32_t>(k)});
  g.set_outputs(std::move(outputs));
  ASSIGN_OR_RETURN(io::Imported model, io::model_of(std::move(g), opset));
  return io::serialise(model, model.graph);
}

void write(const Use& use, DType type, Opset opset, const std::string& folder) {
  static int number = 0;
  bool of_truths = (use.op->truths >> use.op->type_operand & 1) != 0;
  if (of_truths && type != DType::Bool) return;
  std::string head = std::string(use.op->name) + "\t" + to_string(type) + "\t" +
                     std::to_string(opset.version) + "\t";
  auto bytes = one_call(use, type, opset);
  if (!bytes) {
    std::printf("%srefused\t%s\n", head.c_str(), bytes.error().message.c_str());
    return;
  }
  std::string file = folder + "/" + std::to_string(number++) + ".onnx";
  std::ofstream(file, std::ios::binary) << *bytes;
  std::printf("%s%s\t%s\n", head.c_str(), use.op->runs_on(type, opset) ? "runs" : "specified",
              file.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<Use> uses = hard_uses();
  for (const OpDef* op : all_ops())
    if (!op->onnx.empty())
      for (const Sample& sample : op->samples()) uses.push_back({op, sample});
  for (const Use& use : uses)
    for (DType type :
         {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64, DType::I32, DType::Bool})
      for (int opset = kFirst; opset <= kLast; ++opset) write(use, type, opset, argv[1]);
  for (const Use& use : uses)
    for (DType type : use.op->microsoft)
      for (int version : {kFirst, 17, kLast}) write(use, type, Opset(version, true), argv[1]);
}
